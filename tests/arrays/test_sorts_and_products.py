"""Recorded functions sort long arrays with one instruction, which agrees with NumPy and JAX in every way of running."""

from __future__ import annotations

import pickle

import numpy
import pytest
from c_compiler import SAME_BITS, compiled
from hypothesis import given
from hypothesis import strategies as st
from references import jax, jnp

from gradwalk import Program, grad, hessian, jit, jvp, loops, take, vmap
from gradwalk import numpy as gnp
from gradwalk.arrays.sorts_and_products import argsort_call, matrix_product_call, reorder_call
from gradwalk.numpy.ordering import _FEWEST_SORTED

SIZE = _FEWEST_SORTED
RANDOM = numpy.random.default_rng(0)
X, W = RANDOM.normal(size=(2, SIZE))


def weighted(x, module=gnp):
    """Return a function of the order statistics whose second derivatives depend on the order."""
    ordered = module.sort(x)
    return (ordered * ordered * W).sum() + (ordered[1:] * ordered[:-1]).sum()


@pytest.mark.parametrize(
    ("transform", "of_jax"),
    [(lambda f: f, lambda f: f), (grad, jax.grad), (hessian, jax.hessian)],
    ids=["value", "gradient", "hessian"],
)
def test_agrees_with_jax(transform, of_jax):
    expected = numpy.asarray(of_jax(lambda x: weighted(x, jnp))(X))
    f = transform(weighted)
    for found in (f(X), jit(f)(X), vmap(f)(numpy.array([X, -X]))[0]):
        numpy.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_one_instruction_sorts_and_one_reorders():
    f = jit(gnp.sort)
    f(X)
    assert [call.name for call, _ in f.program.code.calls] == ["argsort", "reorder"]
    small = jit(gnp.sort)
    small(X[:-1])
    assert not small.program.code.calls


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0, numpy.nan, numpy.inf, -numpy.inf]), min_size=SIZE, max_size=SIZE))
def test_ties_and_nan(elements):
    x = numpy.array(elements)
    expected = numpy.argsort(x, kind="stable")
    found = jit(gnp.argsort)(x)
    assert found.dtype == numpy.int64
    assert found.tolist() == expected.tolist()
    assert jit(gnp.sort)(x).tobytes() == numpy.sort(x, kind="stable").tobytes()


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, numpy.nan, numpy.inf]), min_size=1, max_size=12))
def test_portable_programs_agree(elements):
    x = numpy.array(elements)
    size = len(x)
    order = argsort_call(size).portable.run(x)
    assert order.tolist() == numpy.argsort(x, kind="stable").tolist()
    assert reorder_call(size).portable.run(numpy.append(order, x)).tobytes() == x[order.astype(int)].tobytes()


def test_tangents_in_the_direction_of_one_element():
    value, tangent = jvp(jit(gnp.sort), (X,), (numpy.arange(SIZE) == 3.0,))
    assert value.tolist() == numpy.sort(X).tolist()
    assert tangent.tolist() == (numpy.sort(X) == X[3]).astype(float).tolist()


def test_indices_have_no_derivatives():
    f = lambda x: take(list(x), gnp.argsort(x)[2]) * gnp.argsort(x)[5]  # noqa: E731
    expected = numpy.zeros(SIZE)
    expected[numpy.argsort(X)[2]] = numpy.argsort(X)[5]
    assert jit(grad(f))(X).tolist() == expected.tolist()
    assert not jit(grad(lambda x: gnp.argsort(x)[0]))(X).any()


def test_sorts_in_loops():
    def f(x):
        return loops.fori_loop(0, 3, lambda i, c: gnp.sort(c * x), x).sum()

    def reference(x):
        carry = x
        for _ in range(3):
            carry = jnp.sort(carry * x)
        return carry.sum()

    numpy.testing.assert_allclose(jit(grad(f))(X), jax.grad(reference)(X), rtol=1e-12)


def test_files_c_and_pickles(tmp_path):
    f = jit(grad(weighted))
    expected = f(X)
    assert Program.from_json(f.program.to_json()).run(X).tobytes() == expected.tobytes()
    assert pickle.loads(pickle.dumps(f.program)).run(X).tobytes() == expected.tobytes()
    in_c = compiled(tmp_path, f.program.to_c(), *SAME_BITS)
    assert in_c(X.tolist(), SIZE) == expected.tolist()


def test_two_dimensional_arrays():
    table = RANDOM.normal(size=(SIZE, 2))
    for axis in (0, 1, None):
        assert jit(lambda x, axis=axis: gnp.sort(x, axis))(table).tolist() == numpy.sort(table, axis).tolist()


A, B = RANDOM.normal(size=(2, 48, 48))


def quadratic(a, b, module=gnp):
    """Return a sum of products of matrices, one of which is shared, with second derivatives in both arguments."""
    product = module.matmul(a, b)
    return (product * product).sum() + module.dot(product, a).sum()


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_products_of_matrices_agree_with_jax(argnums):
    expected = jax.grad(lambda a, b: quadratic(a, b, jnp), argnums)(A, B)
    f = grad(quadratic, argnums)
    for found in (f(A, B), jit(f)(A, B)):
        jax.tree.map(lambda x, y: numpy.testing.assert_allclose(x, y, rtol=1e-11), found, expected)


def test_second_derivatives_of_products_agree_with_jax():
    def slope(product, gradient, square):
        return lambda a: square(gradient(lambda a: product(a, B) / 48.0)(a))

    f = grad(slope(quadratic, grad, lambda x: (x * x).sum()))
    expected = jax.grad(slope(lambda a, b: quadratic(a, b, jnp), jax.grad, lambda x: (x * x).sum()))(A)
    numpy.testing.assert_allclose(jit(f)(A), expected, rtol=1e-9)
    value, tangent = jvp(jit(quadratic), (A, B), (B, A))
    of_jax = jax.jvp(lambda a, b: quadratic(a, b, jnp), (A, B), (B, A))
    numpy.testing.assert_allclose([value, tangent], of_jax, rtol=1e-11)


def test_one_instruction_multiplies_large_matrices():
    f = jit(gnp.matmul)
    f(A, B)
    assert [call.name for call, _ in f.program.code.calls] == ["matrix_product"]
    f(A[:2], B)
    assert not f.program.code.calls
    assert f(A, B).shape == (48, 48)
    batched = vmap(gnp.matmul, in_axes=(0, None))(numpy.array([A, -A]), B)
    numpy.testing.assert_allclose(batched[1], -(A @ B), rtol=1e-12, atol=1e-12)


def test_portable_products_agree():
    call = matrix_product_call(2, 3, 4)
    operands = RANDOM.normal(size=call.inputs)
    numpy.testing.assert_allclose(call.portable.run(operands), call.numbers(operands), rtol=1e-14)
    assert pickle.loads(pickle.dumps(call)) is call
