"""Decompositions, pseudoinverses and exponentials of matrices that stay one operand."""

from __future__ import annotations

import numpy
import pytest
from whole_arrays import calls_of, compare_with_numbers

from gradwalk import grad, jit, jvp, loops, vmap
from gradwalk import numpy as gnp
from gradwalk.arrays import recorder
from gradwalk.arrays.layout_calls import Pack, Unpack
from gradwalk.numpy.linalg.whole_matrix_call import WholeMatrixCall
from gradwalk.scipy.linalg import expm

FIXED = numpy.array([[2.0, 1.0, 0.0], [-1.0, 3.0, 0.5], [0.0, 1.0, -2.0]])
WEIGHTS = numpy.cos(numpy.arange(16.0))


def square(a, x):
    return a * x[:9].reshape(3, 3) + FIXED


def tall(a, x):
    return a * x.reshape(4, 3) + numpy.eye(4, 3)


def symmetric(a, x):
    return square(a, x) + square(a, x).T


def weighted(*results):
    """Return a sum to which each element contributes with another weight."""
    return sum((numpy.ravel(each) * WEIGHTS[: each.size]).sum() for each in results)


def in_a_loop(a, x):
    def step(_, m):
        return expm(0.1 * m) @ gnp.linalg.eigh(m)[1]

    return weighted(loops.fori_loop(0, 2, step, symmetric(a, x)))


FUNCTIONS = {
    "eigenvalues": lambda a, x: weighted(gnp.linalg.eigvalsh(symmetric(a, x))),
    "eigenvectors": lambda a, x: weighted(*gnp.linalg.eigh(square(a, x))),
    "one eigenvector": lambda a, x: weighted(gnp.linalg.eigh(symmetric(a, x))[1][:, 1] ** 2),
    "singular values": lambda a, x: weighted(gnp.linalg.svd(square(a, x), compute_uv=False)),
    "singular vectors": lambda a, x: weighted(*gnp.linalg.svd(square(a, x))),
    "singular vectors, tall": lambda a, x: weighted(*gnp.linalg.svd(tall(a, x), full_matrices=False)),
    "singular vectors, wide": lambda a, x: weighted(*gnp.linalg.svd(tall(a, x).T, full_matrices=False)),
    "qr": lambda a, x: weighted(*gnp.linalg.qr(square(a, x))),
    "qr, tall": lambda a, x: weighted(*gnp.linalg.qr(tall(a, x))),
    "qr, wide": lambda a, x: weighted(*gnp.linalg.qr(tall(a, x).T)),
    "r": lambda a, x: weighted(gnp.linalg.qr(tall(a, x), mode="r")),
    "pseudoinverse, tall": lambda a, x: weighted(gnp.linalg.pinv(tall(a, x))),
    "pseudoinverse, wide": lambda a, x: weighted(gnp.linalg.pinv(tall(a, x).T)),
    "pseudoinverse, low rank": lambda a, x: weighted(
        gnp.linalg.pinv(numpy.outer(x[:3], a * x[3:6]) + numpy.outer(x[6:9], x[9:]), rtol=1e-6)
    ),
    "exponential": lambda a, x: weighted(expm(square(a, x))),
    "least squares": lambda a, x: weighted(gnp.linalg.lstsq(tall(a, x), WEIGHTS[:4])[0]),
    "norms": lambda a, x: gnp.linalg.norm(square(a, x), 2) + gnp.linalg.norm(tall(a, x), "nuc"),
    "condition": lambda a, x: gnp.linalg.cond(square(a, x)),
    "rank": lambda a, x: gnp.linalg.matrix_rank(square(a, x)) * a * x.sum(),
    "vector": lambda a, x: weighted(*gnp.linalg.svd(a * x.reshape(12, 1), full_matrices=False)),
    "blocks": lambda a, x: weighted(numpy.block([[square(a, x), x[:3, None]], [x[9:], a]])[1:, 1:]),
    "powers": lambda a, x: weighted(
        gnp.linalg.matrix_power(square(a, x), 3), gnp.linalg.matrix_power(square(a, x), -1)
    ),
    "other norms": lambda a, x: gnp.linalg.matrix_norm(square(a, x)) + gnp.linalg.norm(tall(a, x), "fro", (1, 0)),
    "dot products": lambda a, x: weighted(gnp.linalg.vecdot(tall(a, x), x[:3])),
    "stack": lambda a, x: weighted(expm(x[:8].reshape(2, 2, 2) * a)),
    "loop": in_a_loop,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_agree_with_the_numbers(name, monkeypatch):
    """The reference computes the derivatives number by number."""
    compare_with_numbers(FUNCTIONS[name], monkeypatch)


LARGE = {
    "eigh": lambda m: sum((each**3).sum() for each in gnp.linalg.eigh(m + m.T)),
    "svd": lambda m: sum((each**3).sum() for each in gnp.linalg.svd(m[:, :40], full_matrices=False)),
    "qr": lambda m: sum((each**3).sum() for each in gnp.linalg.qr(m[:, :40])),
    "pinv": lambda m: (gnp.linalg.pinv(m[:, :40]) ** 2).sum(),
    "expm": lambda m: (expm(0.1 * m) ** 2).sum(),
}


@pytest.mark.parametrize("name", LARGE)
def test_derivatives_of_large_matrices_are_whole(name):
    generator = numpy.random.default_rng(1)
    m, direction = generator.normal(size=(2, 64, 64))
    f, step = LARGE[name], 1e-5
    gradient = jit(grad(f))
    second = jit(lambda m: jvp(grad(f), (m,), (direction,))[1])
    found, curvature = gradient(m), second(m)
    for recorded in (gradient, second):
        assert WholeMatrixCall in calls_of(recorded, WholeMatrixCall)
        assert not calls_of(recorded, Pack, Unpack)
    ahead, behind = m + step * direction, m - step * direction
    assert (found * direction).sum() == pytest.approx((f(ahead) - f(behind)) / (2.0 * step), rel=1e-4)
    difference = (gradient(ahead) - gradient(behind)) / (2.0 * step)
    numpy.testing.assert_allclose(curvature, difference, rtol=1e-3, atol=1e-3 * abs(difference).max())


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("function", [gnp.linalg.eigh, gnp.linalg.svd, gnp.linalg.pinv, expm])
def test_matrices_with_nan_have_nan_results(function):
    found = jit(function)(FIXED * numpy.nan)
    for each in found if isinstance(found, tuple) else (found,):
        assert numpy.isnan(each).all()


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("function", [gnp.linalg.eigh, expm])
def test_matrices_must_be_square(function):
    with pytest.raises(numpy.linalg.LinAlgError, match="must be square"):
        jit(function)(FIXED[:2])


def test_batches_of_matrices(monkeypatch):
    matrices = numpy.random.default_rng(5).normal(size=(4, 3, 3))
    f = lambda m: (gnp.linalg.eigh(m)[0], expm(m), gnp.linalg.pinv(m).sum())  # noqa: E731
    expected = vmap(f)(matrices)
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    for found in (jit(vmap(f))(matrices), vmap(jit(f))(matrices)):
        for one, other in zip(found, expected, strict=True):
            numpy.testing.assert_allclose(one, other)


@pytest.mark.usefixtures("whole")
def test_matrix_rank_has_the_derivative_0_where_singular_values_are_equal():
    def f(m):
        return gnp.linalg.matrix_rank(m) * m[0, 0]

    assert jit(grad(lambda m: grad(f)(m).sum()))(numpy.eye(3)).tolist() == numpy.zeros((3, 3)).tolist()
    assert jit(grad(f))(numpy.eye(3))[0].tolist() == [3.0, 0.0, 0.0]


@pytest.mark.parametrize("shape", [(3000, 3), (3, 3000), (4100, 1)])
def test_derivatives_of_long_matrices_need_no_large_matrices(shape):
    a, direction = numpy.random.default_rng(2).normal(size=(2, *shape))
    f = lambda a: (gnp.linalg.pinv(a) ** 2).sum()  # noqa: E731
    difference = (f(a + 1e-6 * direction) - f(a - 1e-6 * direction)) / 2e-6
    gradient = jit(grad(f))
    assert (gradient(a) * direction).sum() == pytest.approx(difference, rel=1e-4)
    assert gradient.statistics.instructions < 1000


@pytest.mark.parametrize("rows", [3, 80])
def test_dot_products_of_complex_vectors_and_of_different_lengths(rows):
    m = numpy.random.default_rng(3).normal(size=(rows, rows))
    fixed = m + 1j * m.T
    found = jit(lambda m: gnp.linalg.vecdot(fixed, m))(m)
    numpy.testing.assert_allclose(found, (fixed.conj() * m).sum(axis=1))
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        jit(lambda m: gnp.linalg.vecdot(m, m[:, :1]))(m)


@pytest.mark.parametrize("size", [3, 5000])
@pytest.mark.parametrize("name", ["pinv", "svd", "svdvals", "qr", "cond"])
def test_one_dimensional_arrays_are_refused(name, size):
    with pytest.raises(numpy.linalg.LinAlgError, match="1-dimensional array given"):
        jit(getattr(gnp.linalg, name))(numpy.ones(size))


@pytest.mark.parametrize("size", [3, 80])
def test_norms_keep_axes(size):
    m = numpy.random.default_rng(4).normal(size=(size, size))
    for options in ({}, {"ord": "fro"}, {"ord": "fro", "axis": (1, 0)}, {"axis": 0}):
        found = jit(lambda m, options=options: gnp.linalg.norm(m, keepdims=True, **options))(m)
        numpy.testing.assert_allclose(found, numpy.linalg.norm(m, keepdims=True, **options))
