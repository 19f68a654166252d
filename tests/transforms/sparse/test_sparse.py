"""Tests of sparse Jacobians and Hessians against dense ones, and their errors."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy
import pytest
import scipy.optimize
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from programs import EVERY, OPCODES, ORDINARY, TAME, Program, programs

import gradwalk.math as gm
from gradwalk import (
    RecordingError,
    Value,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    sparse_hessian,
    sparse_jacobian,
)
from gradwalk.transforms.sparse import sparse
from gradwalk.value.apply import apply


def results(program: Program, x: Any) -> list[Any]:
    """Return every value that a program computes from the numbers of x."""
    numbers = iter(x)
    computed: list[Any] = []

    def step(name: str, *operands: Any) -> Any:
        computed.append(apply(OPCODES[name], *operands))
        return computed[-1]

    program.run(lambda _: next(numbers), step)
    return computed


def agrees(sparse, *dense) -> None:
    """Check that each entry equals a dense matrix's to the last bit, except where sweeps give nan for 0 * inf."""
    found = sparse.toarray()
    finite = numpy.all([numpy.isfinite(matrix) for matrix in (found, *dense)], axis=0)
    assert numpy.any([found == matrix for matrix in dense], axis=0)[finite].all()
    in_pattern = numpy.zeros(found.shape, dtype=bool)
    in_pattern[numpy.repeat(numpy.arange(len(found)), numpy.diff(sparse.indptr)), sparse.indices] = True
    assert in_pattern[finite & (dense[0] != 0.0)].all()


@given(programs(ORDINARY, EVERY, longest=25), st.booleans())
def test_jacobians_agree_with_dense_ones(program, at_once):
    def f(x):
        return numpy.array(results(program, x)[-5:])

    x = numpy.array(program.leaves)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "_LARGEST", sparse._LARGEST if at_once else 0)
        agrees(sparse_jacobian(f)(x), jacfwd(f)(x), jacrev(f)(x))


@given(programs(ORDINARY, TAME, longest=15), st.booleans())
def test_hessians_agree_with_dense_ones(program, at_once):
    def f(x):
        return sum(results(program, x)[-3:])

    x = numpy.array(program.leaves)
    dense = hessian(f)(x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "_LARGEST", sparse._LARGEST if at_once else 0)
        found = sparse_hessian(f)(x)
    agrees(found, dense, dense.T)
    assert_array_equal(found.toarray(), found.toarray().T)


def rosenbrock(x):
    return sum(100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2 for i in range(len(x) - 1))


def arrow(x):
    return gm.exp(x[0]) * sum(v * v for v in x)


@pytest.mark.parametrize("largest", [sparse._LARGEST, 0], ids=["at once", "one sweep per color"])
@pytest.mark.parametrize(
    ("f", "nonzeros", "colors"),
    [
        (rosenbrock, 28, 3),
        (arrow, 28, 2),
        (lambda x: sum(gm.sin(v) for v in x), 10, 1),
        (lambda x: gm.sin(sum(x)), 100, 10),
        (sum, 0, 0),
        (lambda x: 1.0, 0, 0),
    ],
    ids=["tridiagonal", "arrow", "diagonal", "dense", "linear", "constant"],
)
def test_hessians_of_known_structure(f, nonzeros, colors, largest, monkeypatch):
    monkeypatch.setattr(sparse, "_LARGEST", largest)
    x = numpy.linspace(-1.0, 2.0, 10)
    found = sparse_hessian(f)
    agrees(found(x), hessian(f)(x), hessian(f)(x).T)
    assert found.statistics[:2] == (nonzeros, colors)


@pytest.mark.parametrize(
    ("f", "nonzeros", "colors"),
    [
        (lambda x: [x[i] * x[i + 1] for i in range(9)], 18, 2),
        (lambda x: [gm.sin(v) for v in x], 10, 1),
        (lambda x: gm.sin(sum(x)), 10, 1),
        (lambda x: [x[0] * k for k in range(7)], 7, 1),
        (lambda x: [sum(x), *x], 20, 2),
        (lambda x: [x[0], x[0], 2.0, x[9]], 3, 1),
        (lambda x: [], 0, 0),
        (lambda x: [1.0, 2.0], 0, 0),
    ],
    ids=["two diagonals", "diagonal", "one row", "one column", "a dense row", "identities", "no results", "constants"],
)
def test_jacobians_of_known_structure(f, nonzeros, colors):
    x = numpy.linspace(-1.0, 2.0, 10)
    found = sparse_jacobian(f)
    matrix = found(x)
    assert_array_equal(matrix.toarray(), numpy.array(jacobian(lambda x: numpy.array(f(x)))(x)).reshape(-1, 10))
    assert found.statistics[:2] == (nonzeros, colors)


def test_scalar_functions():
    assert sparse_jacobian(lambda x: x * x)(3.0).toarray().tolist() == [[6.0]]
    assert sparse_hessian(lambda x: x**3)(2.0).toarray().tolist() == [[12.0]]
    assert sparse_jacobian(lambda x: x)(3).toarray().tolist() == [[1.0]]


def test_empty_arguments():
    assert sparse_jacobian(lambda x: [1.0, 2.0])(numpy.zeros(0)).shape == (2, 0)
    assert sparse_hessian(lambda x: 1.0)([]).shape == (0, 0)


def test_result_is_a_canonical_csr_array():
    matrix = sparse_hessian(rosenbrock)(numpy.ones(5))
    assert isinstance(matrix, scipy.sparse.csr_array)
    assert matrix.dtype == numpy.float64
    assert matrix.indices.dtype == matrix.indptr.dtype == numpy.int32
    assert matrix.has_canonical_format


@dataclass
class Model:
    rate: Any
    prices: Any


def test_rows_and_columns_follow_tree_order():
    def f(model, shift, scale):
        return {"b": scale["a"] * model.rate, "a": numpy.array([model.prices[0, 1] * shift, model.prices[1, 0]])}

    model = Model(2.0, numpy.array([[3.0, 4.0], [5.0, 6.0]]))
    found = sparse_jacobian(f, argnums=(2, 0))(model, 7.0, {"a": 8.0})
    assert_array_equal(found.toarray(), [[0, 0, 0, 7, 0, 0], [0, 0, 0, 0, 1, 0], [2, 8, 0, 0, 0, 0]])
    found = sparse_jacobian(f, argnums=-2)(model, 7.0, scale={"a": 8.0})
    assert found.shape == (3, 5)


def test_other_arguments_do_not_cause_a_new_trace():
    calls = []

    def f(x, y, *, scale):
        calls.append(x)
        return scale * x[0] * x[1] * y * y

    found = sparse_hessian(f)
    for y, scale in ((2.0, 3.0), (4, 5.0)):
        assert found([1.0, 2.0], y, scale=scale).toarray().tolist() == [[0.0, scale * y * y], [scale * y * y, 0.0]]
    assert len(calls) == 1
    assert found([1.0, 2.0, 3.0], 2.0, scale=1.0).shape == (3, 3)
    assert len(calls) == 2
    assert found(numpy.array([1.0, 2.0], dtype=object), 1.0, scale=2.0)[0, 1] == 2.0


def test_structure_is_fixed_and_results_are_not_shared():
    found = sparse_jacobian(lambda x: [x[0] * x[1], x[1]])
    first = found([0.0, 0.0])
    assert first.nnz == 3
    first.eliminate_zeros()
    first.data[:] = 9.0
    assert found([2.0, 3.0]).toarray().tolist() == [[3.0, 2.0], [0.0, 1.0]]


def test_operands_without_gradient_are_not_in_the_pattern():
    found = sparse_jacobian(lambda x: [gm.where(x[0] > 0.0, x[1], x[2]), gm.sign(x[0])])
    assert found([1.0, 2.0, 3.0]).toarray().tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    assert found([-1.0, 2.0, 3.0]).toarray().tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    assert found.statistics.nonzeros == 2


def test_captured_values_are_read_at_every_call():
    rate = Value(2.0)
    found = sparse_hessian(lambda x: rate * x[0] * x[1] + x[1] ** 3)
    assert found([1.0, 1.0]).toarray().tolist() == [[0.0, 2.0], [2.0, 6.0]]
    rate.data = 5.0
    assert found([1.0, 1.0]).toarray().tolist() == [[0.0, 5.0], [5.0, 6.0]]
    assert rate.grad == 0.0


def test_captured_values_come_before_the_seeds(monkeypatch):
    monkeypatch.setattr(sparse, "_LARGEST", 0)
    rate = Value(2.0)
    found = sparse_jacobian(lambda x, y: [rate * x[i] * x[i + 1] * y for i in range(2)])
    assert found([1.0, 2.0, 3.0], 10.0).toarray().tolist() == [[40.0, 20.0, 0.0], [0.0, 60.0, 40.0]]


def test_derivatives_of_derivatives():
    x = numpy.array([1.0, 2.0, 3.0])
    assert_array_equal(sparse_jacobian(grad(rosenbrock))(x).toarray(), hessian(rosenbrock)(x))
    assert_array_equal(sparse_hessian(jit(rosenbrock))(x).toarray(), hessian(rosenbrock)(x))
    third = sparse_jacobian(hessian(rosenbrock))(x).toarray()
    assert_array_equal(third, jacobian(hessian(rosenbrock))(x).reshape(9, 3))


def test_columns_with_shared_parts_take_linear_time():
    """Check that each sweep visits only the function's instructions, not the instructions of earlier sweeps."""
    n = 60

    def f(x):
        return [gm.exp(sum(gm.sin(v) for v in x)) / v for v in x]

    for transformed in (sparse_jacobian(f), jit(jacfwd(f))):
        transformed(numpy.linspace(1.0, 2.0, n))
        assert transformed.statistics.instructions < 5 * n * n


def test_long_chains():
    found = sparse_jacobian(lambda x: [step(x[0], x[1])])

    def step(x, y):
        for _ in range(20_000):
            x = gm.sin(x) + y
        return x

    assert found([1.0, 2.0]).shape == (1, 2)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-constr", "trust-krylov", "trust-ncg"])
def test_scipy_minimizers_accept_sparse_hessians(method):
    found = sparse_hessian(rosenbrock)
    hess = {"hess": found}
    if method in ("trust-krylov", "trust-ncg"):  # SciPy 1.17 calls numpy.dot(hess, p), which needs a dense matrix
        hess = {"hessp": lambda x, p: found(x) @ p}
    start = numpy.linspace(0.5, 2.0, 10)
    result = scipy.optimize.minimize(jit(rosenbrock), start, jac=jit(grad(rosenbrock)), method=method, **hess)
    assert result.success
    assert numpy.allclose(result.x, 1.0, atol=1e-3)


def test_branch_on_a_number_raises():
    with pytest.raises(RecordingError, match="where"):
        sparse_jacobian(lambda x: x[0] if x[0] > 0.0 else x[1])([1.0, 2.0])


@pytest.mark.parametrize(("transform", "dense"), [(sparse_jacobian, "jacobian"), (sparse_hessian, "hessian")])
def test_values_raise(transform, dense):
    def f(x):
        return x[0] * x[1]

    found = transform(f)
    match = f"use {dense}"
    for x in ([Value(1.0), 2.0], numpy.array([Value(1.0), 2.0])):
        with pytest.raises(TypeError, match=match):
            found(x)
    assert found([1.0, 2.0]).shape[1] == 2
    with pytest.raises(TypeError, match=match):
        found([Value(1.0), 2.0])
    for outer in (grad, jit, jacobian):
        with pytest.raises(TypeError, match=match):
            outer(lambda x: found(x)[0, 0])([1.0, 2.0])
        with pytest.raises(TypeError, match=match):
            outer(found)([1.0, 2.0])
        with pytest.raises(TypeError, match=match):
            outer(lambda x: transform(lambda y: x * y[0])([1.0, 2.0])[0, 0])(1.0)


def test_constant_arguments_inside_a_differentiated_function():
    found = sparse_hessian(lambda x: x**3)
    assert grad(lambda x: x * found(2.0)[0, 0])(1.0) == 12.0
    assert jit(lambda x: x * found(3.0)[0, 0])(1.0) == 18.0


def test_invalid_arguments_raise():
    def f(x, kind="a"):
        return x

    with pytest.raises(TypeError, match=r"sparse_jacobian\(\) takes a function"):
        sparse_jacobian(3.0)
    with pytest.raises(TypeError, match=r"kind is a set.*lambda x: f\(x, kind\)"):
        sparse_jacobian(f)(1.0, {"b"})
    with pytest.raises(TypeError, match="kind is a set"):
        sparse_jacobian(f)(1.0, kind={"b"})
    assert sparse_jacobian(f)(1.0, kind="b").toarray().tolist() == [[1.0]]
    with pytest.raises(ValueError, match=r"argnums of f\(\) must be positions .*, got 1"):
        sparse_jacobian(f, argnums=1)(1.0)
    with pytest.raises(ValueError, match="must be distinct"):
        sparse_jacobian(lambda x, y: x, argnums=(0, -2))(1.0, 2.0)
    with pytest.raises(TypeError, match="grad needs a function that returns one number"):
        sparse_hessian(lambda x: [x, x])(1.0)
    with pytest.raises(TypeError, match="returned None"):
        sparse_jacobian(lambda x: None)(1.0)


def test_statistics_describe_the_latest_trace():
    found = sparse_hessian(rosenbrock)
    assert repr(found) == "<sparse_hessian of rosenbrock()>"
    with pytest.raises(ValueError, match=r"sparse_hessian of rosenbrock\(\)> has not been called"):
        _ = found.statistics
    found(numpy.ones(4))
    assert found.statistics[:2] == (10, 3)
    found(numpy.ones(2))
    assert found.statistics[:2] == (4, 2)


def test_program_computes_the_entries(monkeypatch):
    found, point = sparse_hessian(rosenbrock), numpy.array([1.2, -0.7, 0.4, 2.0])
    with pytest.raises(ValueError, match="has not been called"):
        _ = found.program
    entries = found(point).data
    assert found.program.run(point).tolist() == entries.tolist()
    source = found.program.to_c("hessian")
    assert "void hessian(const double *inputs, double *outputs)" in source
    monkeypatch.setattr(sparse, "_LARGEST", 0)
    found = sparse_jacobian(lambda x: [x[0] * x[1], x[1] * x[2]])
    found(numpy.ones(3))
    with pytest.raises(ValueError, match="no single program: it runs a smaller one for each of its 2 colors"):
        _ = found.program


def test_missing_scipy_raises_with_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(ImportError, match=r"pip install 'gradwalk\[scipy\]'"):
        sparse_jacobian(lambda x: x)(1.0)
