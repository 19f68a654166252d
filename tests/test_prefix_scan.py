"""Tests of associative_scan and of the arguments `unroll` and `batch_size` of loops, compared with jax.lax."""

from __future__ import annotations

import operator

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references import jax, jnp

import gradwalk.math as gm
from gradwalk import Value, grad, hessian, jit, lax, loops, vmap


def affine(a, b):
    """Compose maps x -> s x + t, the associative function of a linear recurrence."""
    return a[0] * b[0], b[0] * a[1] + b[1]


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 17), st.integers(0, 2), st.booleans(), st.integers(0, 10**6))
def test_values_are_as_in_jax(length, axis, reverse, seed):
    shape = [2, 3, 2]
    shape[axis] = length
    slopes, shifts = numpy.random.default_rng(seed).standard_normal((2, *shape))
    ours = loops.associative_scan(affine, (slopes, shifts), reverse, axis)
    theirs = jax.lax.associative_scan(affine, (slopes, shifts), reverse=reverse, axis=axis)
    for found, expected in zip(ours, theirs, strict=True):
        numpy.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_derivatives_are_as_in_jax(length):
    xs = numpy.random.default_rng(0).standard_normal((2, length))

    def loss(library, math, total):
        def of(xs):
            slopes, shifts = library.associative_scan(affine, (math.sin(xs[0]), xs[1]))
            return total(slopes * shifts)

        return of

    ours, theirs = loss(loops, gm, numpy.sum), loss(jax.lax, jnp, jnp.sum)
    first, second = jax.jit(lambda xs: (jax.grad(theirs)(xs), jax.hessian(theirs)(xs)))(xs)
    numpy.testing.assert_allclose(grad(ours)(xs), first, rtol=1e-12, atol=1e-14)
    numpy.testing.assert_allclose(jit(hessian(ours))(xs), second, rtol=1e-12, atol=1e-14)
    assert vmap(ours)(xs[None]) == pytest.approx([ours(xs)])
    values = numpy.array([[Value(x) for x in row] for row in xs], dtype=object)
    ours(values).backward()
    numpy.testing.assert_allclose([[x.grad for x in row] for row in values], first, rtol=1e-12, atol=1e-14)


def test_matrices():
    xs = numpy.random.default_rng(0).standard_normal((6, 2, 2))
    expected = jax.lax.associative_scan(jnp.matmul, xs)
    numpy.testing.assert_allclose(lax.associative_scan(operator.matmul, xs), expected, rtol=1e-12)
    numpy.testing.assert_allclose(jit(lambda xs: loops.associative_scan(operator.matmul, xs))(xs), expected, rtol=1e-12)


def test_wrong_elements():
    with pytest.raises(TypeError, match=r"elems must be arrays with an axis 0, got 1.0"):
        loops.associative_scan(operator.add, 1.0)
    with pytest.raises(ValueError, match=r"must have one length along axis 0, got \[2, 3\]"):
        loops.associative_scan(operator.add, (numpy.ones(2), numpy.ones(3)))
    with pytest.raises(TypeError, match="fn must return the structure and the shapes of its arguments"):
        loops.associative_scan(lambda a, b: a.sum(), numpy.ones(4))


def test_unrolled_loops():
    xs = numpy.array([1.0, 2.0, 3.0])

    def step(carry, x):
        return gm.sin(carry) * x, carry

    for unroll, is_loop in ((1, True), (2, True), (False, True), (3, False), (100, False), (True, False)):
        scanned = jit(lambda c, unroll=unroll: loops.scan(step, c, xs, unroll=unroll)[0])
        counted = jit(lambda c, unroll=unroll: loops.fori_loop(0, 3, lambda i, c: gm.sin(c) * i, c, unroll=unroll))
        expected = float(jax.lax.scan(lambda c, x: (jnp.sin(c) * x, c), 0.5, xs)[0])
        assert scanned(0.5) == pytest.approx(expected, rel=1e-14)
        assert grad(scanned)(0.5) == pytest.approx(grad(lambda c: loops.scan(step, c, xs)[0])(0.5), rel=1e-14)
        counted(0.5)
        assert [bool(f.program.calls) for f in (scanned, counted)] == [is_loop] * 2
    for unroll in (0, 1.5, "all"):
        with pytest.raises(ValueError, match="unroll must be a bool or a whole number >= 1"):
            jit(lambda c, unroll=unroll: loops.scan(step, c, xs, unroll=unroll)[0])(0.5)
    assert loops.map(lambda x: x * x, xs, batch_size=2).tolist() == [1.0, 4.0, 9.0]


UNARY = ["abs", "neg", "square", "reciprocal", "rsqrt", "sign", "logistic", "is_finite", "digamma", "lgamma", "erf"]
UNARY += ["erfc", "exp2", "cbrt", "log1p", "expm1", "floor", "ceil"]
BINARY = ["add", "sub", "mul", "div", "pow", "max", "min", "rem", "atan2", "eq", "ne", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_elementwise_names_of_lax(name):
    ours, theirs = getattr(lax, name), getattr(jax.lax, name)
    for args in ((1.3, 0.4), (0.7, 2.0), (2.0, 2.0)):
        given = args if name in BINARY else args[:1]
        assert float(ours(*given)) == pytest.approx(float(theirs(*given)), rel=1e-14)
        assert jit(ours)(*given) == pytest.approx(float(theirs(*given)), rel=1e-14)


def test_other_names_of_lax():
    assert lax.clamp(0.0, 1.5, 1.0) == float(jax.lax.clamp(0.0, 1.5, 1.0))
    assert lax.integer_pow(-2.0, 3) == float(jax.lax.integer_pow(-2.0, 3))
    assert lax.select(False, 1.0, 2.0) == 2.0
    for name in lax.__all__:
        assert hasattr(jax.lax, name)
    with pytest.raises(AttributeError, match=r"module 'gradwalk.lax' has no attribute 'psum': a sample cannot use"):
        lax.psum  # noqa: B018
