"""Tests of linear algebra, compared with JAX and NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest
from beside_jax import as_values, check, numbers
from hypothesis import given
from hypothesis import strategies as st
from wasm import IS_WASM

import gradwalk.numpy as gnp
from gradwalk import Value, checkpoint, grad, hessian, jacfwd, jit, jvp, refresh, topological_order, vjp, vmap
from gradwalk.numpy.linalg.elimination import factorised

RANDOM = numpy.random.default_rng(7)
VECTOR = numpy.array([1.0, -2.0, 0.5])
SIDES = numpy.array([[1.0, 0.25], [-2.0, 0.5], [0.5, 1.5]])
PIVOTED = numpy.array([[0.0, 0.5, 1.5], [0.25, 2.0, -1.0], [1.0, 0.5, 0.25]])  # needs row exchanges


def random_matrix(size: int) -> Any:
    return RANDOM.normal(size=(size, size)) + 0.5 * numpy.eye(size)


def definite(x: Any) -> Any:
    return x @ x.T + numpy.eye(len(x))


CASES = {
    "solve": (lambda np, a: np.linalg.solve(a, VECTOR), PIVOTED),
    "solve, both arguments": (lambda np, a: np.linalg.solve(a, a @ VECTOR * a[0]), PIVOTED),
    "solve, matrix right-hand side": (lambda np, a: np.linalg.solve(a, SIDES), PIVOTED),
    "solve a known matrix": (lambda np, b: np.linalg.solve(PIVOTED, b), VECTOR),
    "solve transposed": (lambda np, a: np.linalg.solve(a.T, VECTOR), PIVOTED),
    "solve of a solution": (lambda np, a: np.linalg.solve(a, np.linalg.solve(a.T, VECTOR)), PIVOTED),
    "inv": (lambda np, a: np.linalg.inv(a), PIVOTED),
    "inv of a 1x1 matrix": (lambda np, a: np.linalg.inv(a), numpy.array([[-2.0]])),
    **{f"det of {n}": (lambda np, a: np.linalg.det(a), random_matrix(n)) for n in (1, 2, 3, 4, 5)},
    **{f"slogdet of {n}": (lambda np, a: np.linalg.slogdet(a)[1], random_matrix(n)) for n in (1, 3, 4)},
    "sign of slogdet": (lambda np, a: np.linalg.slogdet(a)[0] * a, PIVOTED),
    "cholesky": (lambda np, x: np.linalg.cholesky(definite(x)), PIVOTED),
    "a Gaussian's density": (
        lambda np, x: np.linalg.slogdet(definite(x))[1] + VECTOR @ np.linalg.solve(definite(x), VECTOR),
        PIVOTED,
    ),
    **{f"norm {p}": (lambda np, x, p=p: np.linalg.norm(x, p), VECTOR) for p in (None, 1, 2, 3, numpy.inf, -numpy.inf)},
    **{
        f"norm {p} of a matrix": (lambda np, x, p=p: np.linalg.norm(x, p), PIVOTED + 0.125)
        for p in (None, "fro", 1, -1, numpy.inf, -numpy.inf)
    },
    "norm along 0": (lambda np, x: np.linalg.norm(x, 3, axis=0), PIVOTED + 0.125),
    "norm along a NumPy integer": (lambda np, x: np.linalg.norm(x, 1, axis=numpy.int64(1)), PIVOTED + 0.125),
    "3-norm along a NumPy integer": (lambda np, x: np.linalg.norm(x, 3, axis=numpy.int64(0)), PIVOTED + 0.125),
    "norm with keepdims": (lambda np, x: np.linalg.norm(x, numpy.inf, axis=1, keepdims=True), PIVOTED + 0.125),
    "norm along both axes": (lambda np, x: np.linalg.norm(x, 1, axis=(1, 0), keepdims=True), PIVOTED + 0.125),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_agree_with_jax(name):
    f, x = CASES[name]
    check(f, x)


@st.composite
def systems(draw: st.DrawFn) -> tuple[Any, ...]:
    """Draw a well-conditioned matrix with permuted rows, a right-hand side, and directions for both."""
    size = draw(st.integers(1, 5))
    shape = draw(st.sampled_from([(size,), (size, 1), (size, 3)]))
    random = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    a = random.uniform(-1.0, 1.0, (size, size)) + size * numpy.eye(size)
    a = a[random.permutation(size)]
    return a, random.normal(size=shape), random.normal(size=(size, size)), random.normal(size=shape)


def near(found: Any, expected: Any) -> None:
    numpy.testing.assert_allclose(numpy.asarray(found, dtype=float), expected, rtol=1e-10, atol=1e-10)


@given(systems())
def test_solve_derivatives_match_the_formulas(system):
    a, b, da, db = system
    x, inverse = numpy.linalg.solve(a, b), numpy.linalg.inv(a)
    tangent = inverse @ (db - da @ x)
    for transform in (lambda f: f, jit):
        value, found = transform(lambda *xs: jvp(gnp.linalg.solve, xs[:2], xs[2:]))(a, b, da, db)
        near(value, x)
        near(found, tangent)
    for adjoints in (
        vjp(gnp.linalg.solve, a, b)[1](db),
        jit(lambda a, b, s: vjp(gnp.linalg.solve, a, b)[1](s))(a, b, db),
    ):
        near(adjoints[1], inverse.T @ db)
        near(adjoints[0], -numpy.multiply.outer(inverse.T @ db, x) if b.ndim == 1 else -(inverse.T @ db) @ x.T)
    values, sides = as_values(a), as_values(b)
    (gnp.linalg.solve(values, sides) * db).sum().backward()
    near([v.grad for v in sides.ravel()], (inverse.T @ db).ravel())
    near(vmap(gnp.linalg.solve)(numpy.stack([a, a]), numpy.stack([b, 2.0 * b]))[1], 2.0 * x)


@given(systems())
def test_matrix_function_differentials_match_the_formulas(system):
    a, _, da, _ = system
    inverse = numpy.linalg.inv(a)
    determinant, logarithm = numpy.linalg.det(a), numpy.linalg.slogdet(a)[1]
    trace = numpy.trace(inverse @ da)
    for f, value, differential in (
        (gnp.linalg.inv, inverse, -inverse @ da @ inverse),
        (gnp.linalg.det, determinant, determinant * trace),
        (lambda a: gnp.linalg.slogdet(a)[1], logarithm, trace),
    ):
        near(numbers(f(as_values(a))), value)
        scale = max(1.0, abs(determinant))
        for transform in (lambda g: g, jit):
            found = transform(lambda a, da, f=f: jvp(f, (a,), (da,)))(a, da)
            near(found[0], value)
            near(numpy.asarray(found[1]) / scale, differential / scale)


@given(systems())
def test_cholesky_in_every_way_of_running(system):
    a = definite(system[0])
    expected = numpy.linalg.cholesky(a)
    near(numbers(gnp.linalg.cholesky(as_values(a))), expected)
    near(jit(gnp.linalg.cholesky)(a), expected)
    near(vmap(gnp.linalg.cholesky)(numpy.stack([a, a]))[1], expected)
    only_lower = numpy.tril(a)
    near(numbers(gnp.linalg.cholesky(as_values(only_lower))), expected)


def leibniz(a: Any) -> Any:
    """Compute the determinant as a sum over permutations, without division."""
    total = 0.0
    for order in itertools.permutations(range(len(a))):
        inversions = sum(i > j for i, j in itertools.combinations(order, 2))
        term = (-1.0) ** inversions
        for row, column in enumerate(order):
            term = term * a[row, column]
        total = total + term
    return total


def singular(a: Any, kind: str) -> Any:
    """Change a matrix so that its determinant is 0."""
    at = {"row": 0, "column": (slice(None), 0), "two rows": slice(-2, None), "two columns": (slice(None), slice(2))}
    if kind == "product":  # no zeros, and exact because the elements are small integers
        return numpy.outer(numpy.arange(1.0, 1.0 + len(a)), numpy.arange(2.0, 2.0 + len(a)))
    a = a.copy()
    a[at.get(kind, slice(1 if kind == "all but one" else 0, None))] = 0.0
    return a


@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["row", "column", "two rows", "two columns", "all but one", "product", "all"])
def test_determinants_of_singular_matrices_have_derivatives(size, kind):
    a = singular(random_matrix(size), kind)
    det = gnp.linalg.det
    values = as_values(a)
    det(values).backward()
    first = grad(leibniz)(a)
    near([v.grad for v in values.ravel()], first.ravel())
    near(grad(det)(a), first)
    near(jit(grad(det))(a), first)
    near(vmap(grad(det))(numpy.stack([a, a]))[1], first)
    assert det(values).data == pytest.approx(0.0, abs=1e-12)
    near(hessian(det)(a), hessian(leibniz)(a))
    near(jit(hessian(det))(a), hessian(leibniz)(a))


def test_determinant_of_values_is_one_node():
    values = as_values(random_matrix(6))
    assert len(gnp.linalg.det(values).operands) == 36
    assert len(topological_order(gnp.linalg.slogdet(values)[1])) == 37


@pytest.mark.skipif(IS_WASM, reason="NumPy detects singular matrices by floating-point flags, which WebAssembly lacks")
@pytest.mark.parametrize(
    "f",
    [lambda a: gnp.linalg.solve(a, VECTOR), gnp.linalg.inv, lambda a: gnp.linalg.cholesky(a - 1.0)],
    ids=["solve", "inv", "cholesky"],
)
def test_singular_matrices_are_refused_if_known(f):
    a = numpy.ones((3, 3))
    for run in (lambda: f(as_values(a)), lambda: grad(lambda a: f(a).sum())(a), lambda: f(a)):
        with pytest.raises(gnp.linalg.LinAlgError):
            run()
    assert not numpy.isfinite(jit(f)(a)).all()
    assert not numpy.isfinite(vmap(f)(numpy.stack([a, a]))).all()
    regular = 3.0 * numpy.eye(3) + 1.0
    assert numpy.isfinite(jit(f)(regular)).all()


def test_slogdet_of_singular_matrices():
    a = numpy.ones((4, 4))
    for sign, logarithm in (gnp.linalg.slogdet(a), jit(gnp.linalg.slogdet)(a)):
        assert (sign, logarithm) == (0.0, -numpy.inf)
    for regular in (random_matrix(4), random_matrix(4)):
        for at in (0, -1):
            singular_matrix = regular.copy()
            singular_matrix[:, at] = 0.0
            derivative = grad(lambda a: gnp.linalg.slogdet(a)[1])
            for found in (derivative(singular_matrix), jit(derivative)(singular_matrix)):
                assert numpy.isnan(found).all()
    sign, logarithm = gnp.linalg.slogdet(as_values(a))
    assert (sign, logarithm.data) == (0.0, -numpy.inf)


@pytest.mark.parametrize(
    "a", [numpy.zeros((1, 1)), numpy.zeros((2, 2)), [[1.0, 2.0], [2.0, 4.0]], numpy.diag([0.0, 1, 2])]
)
def test_slogdet_of_singular_matrices_has_nan_derivatives(a):
    a = numpy.asarray(a)

    def f(a):
        return gnp.linalg.slogdet(a)[1]

    values = as_values(a)
    f(values).backward()
    assert all(numpy.isnan(x.grad) for x in values.flat)
    for transform in (grad, jacfwd, hessian):
        derivative = transform(f)
        for found in (derivative(a), jit(derivative)(a), vmap(derivative)(numpy.stack([a, a]))):
            assert numpy.isnan(numpy.asarray(found, float)).all()


def test_pivots_are_chosen_for_each_sample():
    a = numpy.array([[1e-20, 1.0], [1.0, 1.0]])
    recorded = jit(gnp.linalg.solve)
    assert recorded(numpy.eye(2), VECTOR[:2]).tolist() == VECTOR[:2].tolist()
    assert recorded(a, numpy.array([1.0, 2.0])).tolist() == [1.0, 1.0]
    assert recorded(a[::-1], numpy.array([2.0, 1.0])).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("size", [3, 10, 30])
def test_derivatives_reuse_the_factorization(size):
    a, b = random_matrix(size) + size * numpy.eye(size), RANDOM.normal(size=size)

    def instructions(solve: Any, transform: Any) -> int:
        f = jit(transform(lambda a, b: (solve(a, b) ** 2).sum()))
        f(a, b)
        return f.statistics.instructions

    def by_steps(a: Any, b: Any) -> Any:
        return numpy.array(factorised(a.tolist()).solve(b.tolist()), dtype=object)

    def by_both(f: Any) -> Any:
        return grad(f, argnums=(0, 1))

    forward = instructions(gnp.linalg.solve, lambda f: f)
    assert forward == instructions(by_steps, lambda f: f)
    assert instructions(gnp.linalg.solve, by_both) <= forward + 5 * size * size
    assert instructions(gnp.linalg.solve, by_both) < instructions(by_steps, by_both) * (0.6 if size == 3 else 0.4)
    # Each of the n rows of the Hessian needs two solves with the factors, each with less than 3 n² instructions.
    assert instructions(gnp.linalg.solve, lambda f: hessian(f, argnums=1)) <= forward + 6 * size**3


def test_solve_of_values_has_few_operands():
    size = 10
    a, b = as_values(random_matrix(size)), as_values(RANDOM.normal(size=size))
    x = gnp.linalg.solve(a, b)
    order = topological_order(x.sum())
    assert sum(len(node.operands) for node in order) <= 2 * size * size + 5 * size
    with pytest.raises(ValueError, match=r"'residual'.*local derivatives"):
        refresh(x.sum())


def test_gradients_reach_captured_values():
    a, b = as_values(PIVOTED), as_values(VECTOR)

    def f(a: Any, b: Any) -> Any:
        return (gnp.linalg.solve(a, b) ** 2).sum()

    for transform in (lambda g: g, jit):
        gradient = transform(grad(f, argnums=1))(a, b)
        for v in (*a.ravel(), *b):
            v.grad = 0.0
        sum(gradient).backward()
        near([v.grad for v in b], hessian(f, argnums=1)(PIVOTED, VECTOR).sum(axis=0))
        mixed = grad(lambda a: sum(grad(f, argnums=1)(a, VECTOR)))(PIVOTED)
        near([v.grad for v in a.ravel()], mixed.ravel())


def test_solve_in_a_recorded_function_is_differentiated():
    def f(a: Any) -> Any:
        return (gnp.linalg.solve(a, VECTOR) ** 2).sum()

    near(grad(jit(f))(PIVOTED), grad(f)(PIVOTED))
    numpy.testing.assert_allclose(hessian(jit(f))(PIVOTED), hessian(f)(PIVOTED), rtol=1e-9)
    near(grad(checkpoint(f))(PIVOTED), grad(f)(PIVOTED))


def test_invalid_shapes_are_refused():
    values = as_values(PIVOTED)
    with pytest.raises(gnp.linalg.LinAlgError, match="must be square"):
        gnp.linalg.det(values[:2])
    with pytest.raises(gnp.linalg.LinAlgError, match="at least two-dimensional"):
        gnp.linalg.inv(values[0])
    with pytest.raises(ValueError, match=r"b must have the shape \(3,\) or \(3, K\) for this matrix, got \(2,\)"):
        gnp.linalg.solve(values, VECTOR[:2])


def test_empty_matrices():
    empty = numpy.empty((0, 0), dtype=object)
    assert gnp.linalg.solve(empty, numpy.empty(0)).shape == (0,)
    assert gnp.linalg.solve(as_values(PIVOTED), numpy.empty((3, 0))).shape == (3, 0)
    assert gnp.linalg.inv(empty).shape == (0, 0)
    assert gnp.linalg.cholesky(empty).shape == (0, 0)
    assert gnp.linalg.det(empty) == 1.0
    assert gnp.linalg.slogdet(empty) == (1.0, 0.0) or gnp.linalg.slogdet(empty)[1].data == 0.0


def test_matrices_of_values_and_numbers():
    x = Value(3.0)
    a = numpy.array([[x, 1.0], [0.0, 2.0]], dtype=object)
    solution = gnp.linalg.solve(a, [6.0, 2.0])
    assert numbers(solution) == pytest.approx([5.0 / 3.0, 1.0])
    solution[0].backward()
    assert x.grad == pytest.approx(-5.0 / 9.0)


@pytest.mark.parametrize("order", [None, 2, 3])
def test_norm_derivatives_at_zero_agree_with_jax(order):
    check(lambda np, x: np.linalg.norm(x, order), numpy.zeros(3))


def test_exponents_are_integers():
    for a in (PIVOTED, as_values(PIVOTED)):
        with pytest.raises(TypeError, match="exponent must be an integer"):
            gnp.linalg.matrix_power(a, 1.5)


def test_unknown_triangles_are_refused():
    for a in (PIVOTED, as_values(PIVOTED)):
        with pytest.raises(ValueError, match="UPLO argument must be 'L' or 'U'"):
            gnp.linalg.eigh(a, "Q")


def test_exponentials_of_complex_matrices_and_stacks():
    found = gnp.linalg.expm(numpy.array([1j * numpy.eye(2), numpy.zeros((2, 2))]))
    numpy.testing.assert_allclose(found, [numpy.exp(1j) * numpy.eye(2), numpy.eye(2)], atol=1e-15)
