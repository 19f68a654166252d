"""Distributions of vectors agree with SciPy, and their derivatives with JAX."""

from __future__ import annotations

import math

import numpy
import pytest

from gradwalk import grad, hessian, jit, stats, vmap

jax = pytest.importorskip("jax")
scipy_stats = pytest.importorskip("scipy.stats")
jax.config.update("jax_enable_x64", True)

DRAW = numpy.random.default_rng(0)
MEAN, ROOT = DRAW.normal(size=3), DRAW.normal(size=(3, 3))
COV = ROOT @ ROOT.T + numpy.eye(3)
X = DRAW.normal(size=(2, 4, 3))
ALPHA = numpy.array([1.0, 2.5, 0.7])
SHARES = DRAW.dirichlet(ALPHA, 4).T
P = numpy.array([0.2, 0.3, 0.5])
COUNTS = DRAW.multinomial(6, P, size=4)


def close(found, expected):
    numpy.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_values_agree_with_scipy():
    normal, dirichlet, multinomial = stats.multivariate_normal, stats.dirichlet, stats.multinomial
    close(normal.logpdf(X, MEAN, COV), scipy_stats.multivariate_normal.logpdf(X, MEAN, COV))
    close(normal.pdf(X[0, 0]), scipy_stats.multivariate_normal.pdf(X[0, 0], numpy.zeros(3)))
    close(normal.logpdf(X[0], MEAN, P), scipy_stats.multivariate_normal.logpdf(X[0], MEAN, P))
    close(dirichlet.logpdf(SHARES, ALPHA), scipy_stats.dirichlet.logpdf(SHARES, ALPHA))
    close(dirichlet.pdf(SHARES[:2, 0], ALPHA), scipy_stats.dirichlet.pdf(SHARES[:2, 0], ALPHA))
    close(multinomial.logpmf(COUNTS, 6, P), scipy_stats.multinomial.logpmf(COUNTS, 6, P))
    close(multinomial.pmf(COUNTS[0], 6, P), scipy_stats.multinomial.pmf(COUNTS[0], 6, P))


def symmetric(f):
    """Return a density as a function of a matrix of which only the symmetric part counts."""
    return lambda x, mean, cov: f(x, mean, 0.5 * (cov + cov.T))


CASES = [
    (
        symmetric(stats.multivariate_normal.logpdf),
        symmetric(jax.scipy.stats.multivariate_normal.logpdf),
        (X[0, 0], MEAN, COV),
    ),
    (stats.dirichlet.logpdf, jax.scipy.stats.dirichlet.logpdf, (SHARES[:, 0], ALPHA)),
    (
        lambda p: stats.multinomial.logpmf(COUNTS[0], 6, p),
        lambda p: jax.scipy.stats.multinomial.logpmf(COUNTS[0], 6, p),
        (P,),
    ),
]


@pytest.mark.parametrize(("ours", "theirs", "point"), CASES)
def test_derivatives_agree_with_jax(ours, theirs, point):
    for i in range(len(point)):
        expected = jax.jit(jax.grad(theirs, argnums=i))(*point)
        close(grad(ours, argnums=i)(*point), expected)
        close(jit(grad(ours, argnums=i))(*point), expected)
        close(hessian(ours, argnums=i)(*point), jax.jit(jax.hessian(theirs, argnums=i))(*point))


def test_batch():
    logpdf = vmap(stats.multivariate_normal.logpdf, in_axes=(0, None, None))
    close(logpdf(X[0], MEAN, COV), scipy_stats.multivariate_normal.logpdf(X[0], MEAN, COV))


def test_outside_of_the_support_and_of_the_domain():
    assert stats.dirichlet.logpdf([0.2, 0.3, 0.6], ALPHA) == -math.inf
    assert stats.dirichlet.logpdf([-0.1, 0.5, 0.6], ALPHA) == -math.inf
    assert math.isnan(stats.dirichlet.logpdf([0.2, 0.3, 0.5], [1.0, 0.0, 1.0]))
    assert stats.multinomial.logpmf([1, 2, 2], 6, P) == -math.inf
    assert stats.multinomial.logpmf([1.5, 2.5, 2], 6, P) == -math.inf
    assert math.isnan(stats.multinomial.logpmf([1, 2, 3], 6, [0.5, 0.7, -0.2]))
    assert grad(lambda p: stats.multinomial.logpmf([1, 2, 2], 6, p))(P).tolist() == [0.0] * 3
    with pytest.raises(numpy.linalg.LinAlgError):
        stats.multivariate_normal.logpdf([1.0, 2.0], None, [[1.0, 2.0], [2.0, 1.0]])


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"cov must have shape \(3, 3\) for vectors of length 3, got shape \(2, 2\)"):
        stats.multivariate_normal.logpdf(X, MEAN, numpy.eye(2))
    with pytest.raises(ValueError, match=r"alpha has 3 numbers, so .* got shape \(5,\)"):
        stats.dirichlet.logpdf(numpy.ones(5) / 5.0, ALPHA)
    with pytest.raises(ValueError, match=r"p has 3 numbers, so .* got shape \(2,\)"):
        stats.multinomial.logpmf([1, 2], 3, P)


def test_numbers_are_normal():
    assert stats.multivariate_normal.logpdf(1.5, 0.3, 2.0) == pytest.approx(scipy_stats.norm.logpdf(1.5, 0.3, 2.0**0.5))
    found = stats.multivariate_normal.logpdf(numpy.array([1.0, 2.0, 3.0]), 0.3, 2.0)
    expected = jax.scipy.stats.multivariate_normal.logpdf(numpy.array([1.0, 2.0, 3.0]), 0.3, 2.0)
    numpy.testing.assert_allclose(found, expected, rtol=1e-6)
    assert grad(stats.multivariate_normal.logpdf)(1.5, 0.3, 2.0) == pytest.approx(-0.6)
