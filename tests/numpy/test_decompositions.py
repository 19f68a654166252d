"""Tests of eigenvalues, singular values, QR, pseudoinverses and exponentials, also where derivatives do not exist."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from beside_jax import as_values, compare, loss, numbers
from hypothesis import given, settings
from hypothesis import strategies as st
from references import mpmath

import gradwalk.numpy as gnp
from gradwalk import grad, hessian, jit, vmap

RANDOM = numpy.random.default_rng(11)
SQUARE = RANDOM.normal(size=(3, 3))
TALL = RANDOM.normal(size=(3, 2))


def test_wide_qr_reconstructs_the_matrix():
    """JAX has no derivatives of the QR decomposition of a wide matrix."""
    wide = TALL.T
    q, r = gnp.linalg.qr(as_values(wide), mode="complete")
    for found, expected in zip((q, r), numpy.linalg.qr(wide), strict=True):
        compare("factor", numbers(found), expected, 1e-12)

    def product(a: Any) -> Any:
        q, r = gnp.linalg.qr(a)
        return loss(q @ r)

    compare("gradient", grad(product)(wide), grad(loss)(wide), 1e-10)
    compare("R", numbers(gnp.linalg.qr(as_values(wide), mode="r")), numpy.linalg.qr(wide, "r"), 1e-12)


@given(st.integers(1, 3), st.integers(0, 2**32), st.floats(-3.0, 2.5))
@settings(max_examples=15, deadline=None)
def test_exponential_and_two_derivatives_agree_with_mpmath(size, seed, exponent):
    random = numpy.random.default_rng(seed)
    a, e = random.normal(size=(2, size, size)) * 10.0**exponent
    a = numpy.triu(a) if exponent < 0.0 else a / 10.0

    def corner(t: Any) -> Any:
        moved = mpmath.matrix(a.tolist()) + t * mpmath.matrix(e.tolist())
        return mpmath.expm(moved)[0, size - 1]

    with mpmath.workdps(60):
        scale = mpmath.mnorm(mpmath.expm(mpmath.matrix(a.tolist())), 1)
        expected = [corner(mpmath.mpf(0)), mpmath.diff(corner, 0, 1), mpmath.diff(corner, 0, 2)]
    norm = numpy.abs(a).sum() + numpy.abs(e).sum()

    def f(t: Any) -> Any:
        return gnp.linalg.expm(a + t * e)[0, size - 1]

    found = [gnp.linalg.expm(a)[0, size - 1], grad(f)(0.0), grad(grad(f))(0.0)]
    recorded = jit(grad(grad(f)))
    recorded(1e-3)
    for order, (number, exact) in enumerate(zip(found, expected, strict=True)):
        assert abs(number - exact) <= 1e-13 * (1.0 + norm) ** (order + 1) * scale
    assert recorded(0.0) == found[2]


def test_stacks_of_matrices():
    stack = numpy.stack([SQUARE, SQUARE.T + 1.0])
    symmetric = stack @ numpy.swapaxes(stack, -1, -2)
    values, definite = as_values(stack), as_values(symmetric)
    for name in ("inv", "det", "svdvals", "pinv", "matrix_rank", "cond"):
        found = numbers(getattr(gnp.linalg, name)(values))
        compare(name, found, getattr(numpy.linalg, name)(stack), 1e-10)
    for name in ("slogdet", "qr"):
        for found, expected in zip(getattr(gnp.linalg, name)(values), getattr(numpy.linalg, name)(stack), strict=True):
            compare(name, numbers(found), expected, 1e-10)
    compare("cholesky", numbers(gnp.linalg.cholesky(definite)), numpy.linalg.cholesky(symmetric), 1e-10)
    compare("eigh", numbers(gnp.linalg.eigh(definite).eigenvalues), numpy.linalg.eigvalsh(symmetric), 1e-10)
    for side in (stack[0, :, :2], stack[:, :, :2], stack[0, 0]):
        compare("solve", numbers(gnp.linalg.solve(values, as_values(side))), numpy.linalg.solve(stack, side), 1e-10)
    power = gnp.linalg.matrix_power(values, -2)
    compare("power", numbers(power), numpy.linalg.matrix_power(stack, -2), 1e-10)
    compare("no power", numbers(gnp.linalg.matrix_power(values, 0)), numpy.stack([numpy.eye(3)] * 2), 0.0)
    upper = numbers(gnp.linalg.cholesky(as_values(symmetric[0]), upper=True))
    compare("upper", upper, numpy.linalg.cholesky(symmetric[0]).T, 1e-12)


def test_equal_eigenvalues():
    """Symmetric functions of the eigenvalues are differentiable; eigenvectors are not."""
    for transform in (lambda f: f, jit):
        compare("trace", transform(grad(lambda a: gnp.linalg.eigvalsh(a).sum()))(numpy.eye(3)), numpy.eye(3), 1e-12)
        squares = transform(grad(lambda a: (gnp.linalg.eigvalsh(a) ** 2).sum()))
        compare("squares", squares(2.0 * numpy.eye(3)), 4.0 * numpy.eye(3), 1e-12)
        vectors = transform(grad(lambda a: gnp.linalg.eigh(a).eigenvectors[0, 0]))(numpy.eye(2))
        assert not numpy.isfinite(vectors).all()
        second = transform(hessian(lambda a: gnp.linalg.eigvalsh(a)[0]))(numpy.eye(2))
        assert not numpy.isfinite(second).all()


def test_singular_values_of_singular_matrices():
    singular = numpy.outer([1.0, 2.0, 2.0], [2.0, 0.0, 0.0])
    for transform in (lambda f: f, jit):
        largest = transform(grad(lambda a: gnp.linalg.norm(a, 2)))(singular)
        compare("norm", largest, numpy.outer([1.0, 2.0, 2.0], [1.0, 0.0, 0.0]) / 3.0, 1e-12)
        assert numpy.isfinite(transform(grad(lambda a: gnp.linalg.svdvals(a)[2]))(singular)).all()
        vectors = transform(grad(lambda a: gnp.linalg.svd(a).U[0, 1]))(singular)
        assert not numpy.isfinite(vectors).all()
    assert gnp.linalg.matrix_rank(as_values(singular)) == 1
    assert jit(gnp.linalg.matrix_rank)(singular) == 1.0


def test_pseudoinverse_of_a_matrix_without_full_rank():
    """The derivative is correct in directions that keep the rank."""
    u, v, direction = RANDOM.normal(size=(3, 3))
    matrix = numpy.outer(u, v)
    step = 1e-6

    def inverse(t: float) -> Any:
        return numpy.linalg.pinv(numpy.outer(u + t * direction, v), 1e-9)

    slopes = (inverse(step) - inverse(-step)) / (2.0 * step)
    for transform in (lambda f: f, jit):
        rows = [
            transform(grad(lambda a, i=i: gnp.linalg.pinv(a, 1e-9).ravel()[i]))(matrix) * numpy.outer(direction, v)
            for i in range(9)
        ]
        compare("pinv", numpy.array([row.sum() for row in rows]), slopes.ravel(), 1e-7)
    x, residuals, rank, _ = gnp.linalg.lstsq(as_values(matrix), u)
    compare("lstsq", numbers(x), numpy.linalg.lstsq(matrix, u)[0], 1e-10)
    assert rank == 1
    assert residuals[0].data == pytest.approx(0.0, abs=1e-20)


def test_qr_of_dependent_columns_has_no_derivative():
    dependent = numpy.array([[1.0, 0.0], [0.0, 0.0]])
    q, r = gnp.linalg.qr(as_values(dependent))
    compare("product", numbers(q @ r), dependent, 1e-12)
    assert not numpy.isfinite(grad(lambda a: gnp.linalg.qr(a)[0][1, 1])(dependent)).all()


def test_nan_gives_nan():
    bad = numpy.array([[numpy.nan, 0.0], [0.0, 1.0]])
    for f in (gnp.linalg.eigvalsh, gnp.linalg.svdvals, gnp.linalg.expm, gnp.linalg.pinv):
        assert numpy.isnan(jit(f)(bad)).any()
        good = numpy.eye(2)
        lanes = vmap(f)(numpy.stack([bad, good]))
        compare("other sample", lanes[1], f(good), 1e-12)


def test_errors_say_what_to_pass():
    tall, square = as_values(TALL), as_values(SQUARE)
    with pytest.raises(TypeError, match=r"got the shape \(3, 2\): pass full_matrices=False"):
        gnp.linalg.svd(tall)
    with pytest.raises(TypeError, match=r'got the shape \(3, 2\): pass mode="reduced"'):
        gnp.linalg.qr(tall, mode="complete")
    with pytest.raises(ValueError, match=r'"reduced", "complete" or "r" for a matrix of Values, got \'raw\''):
        gnp.linalg.qr(square, mode="raw")
    with pytest.raises(gnp.linalg.LinAlgError, match="must be square"):
        gnp.linalg.eigh(tall)
    with pytest.raises(gnp.linalg.LinAlgError, match=r"b \(M,\) or \(M, K\), got \(3, 2\) and \(2,\)"):
        gnp.linalg.lstsq(tall, [1.0, 2.0])
    with pytest.raises(TypeError, match=r"eig accepts arrays of numbers, not of Values: use eigh for symmetric"):
        gnp.linalg.eig(square)


def test_programs_say_why_they_cannot_become_c():
    recorded = jit(gnp.linalg.eigvalsh)
    recorded(SQUARE)
    with pytest.raises(ValueError, match=r"calls eigh, a Python function.*NumPy computes it outside"):
        recorded.program.to_c()


def test_small_matrices():
    empty = numpy.empty((0, 0), object)
    assert gnp.linalg.expm(empty).shape == (0, 0)
    assert gnp.linalg.eigvalsh(empty).shape == (0,)
    one = as_values(numpy.array([[-2.0]]))
    assert [x.data for x in gnp.linalg.svdvals(one)] == [2.0]
    assert gnp.linalg.expm(one)[0, 0].data == pytest.approx(numpy.exp(-2.0))
