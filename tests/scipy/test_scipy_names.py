"""gradwalk.scipy: each name is a name of jax.scipy, and has its value and its derivative."""

from __future__ import annotations

import importlib

import numpy
import pytest
from references import jax

from gradwalk import grad, scipy

# Arguments of functions that do not accept (0.3), and of densities.
ARGUMENTS = {
    "betainc": (1.5, 2.5, 0.3),
    "betaln": (1.5, 2.5),
    "gammainc": (1.5, 0.3),
    "gammaincc": (1.5, 0.3),
    "kl_div": (0.3, 0.7),
    "owens_t": (0.3, 0.7),
    "polygamma": (1, 0.3),
    "rel_entr": (0.3, 0.7),
    "xlog1py": (0.3, 0.7),
    "xlogy": (0.3, 0.7),
    "zeta": (2.5, 0.7),
    "bernoulli": (1.0, 0.3),
    "beta": (0.3, 1.5, 2.5),
    "binom": (2.0, 5.0, 0.3),
    "gamma": (0.3,),
    "geom": (2.0, 0.3),
    "nbinom": (2.0, 5.0, 0.3),
    "poisson": (2.0, 0.7),
    "t": (0.3, 2.5),
}
MANY = {"log_softmax", "logsumexp", "softmax"}  # functions of arrays
VECTORS = {"dirichlet", "multinomial", "multivariate_normal"}  # distributions of arrays: see tests/stats


@pytest.mark.parametrize("module", ["linalg", "special", "stats"])
def test_names_are_those_of_jax(module):
    theirs = importlib.import_module(f"jax.scipy.{module}") if jax.Array else None
    assert [name for name in getattr(scipy, module).__all__ if not hasattr(theirs, name)] == []


@pytest.mark.parametrize("name", sorted({*scipy.special.__all__} - MANY))
def test_special_functions_have_the_values_and_derivatives_of_jax(name):
    ours, theirs = getattr(scipy.special, name), getattr(jax.scipy.special, name)
    args = ARGUMENTS.get(name, (0.3,))
    last = len(args) - 1
    assert float(ours(*args)) == pytest.approx(float(theirs(*args)), rel=1e-12)
    assert grad(ours, argnums=last)(*args) == pytest.approx(float(jax.grad(theirs, argnums=last)(*args)), rel=1e-9)


@pytest.mark.parametrize("name", sorted({*scipy.stats.__all__} - VECTORS))
def test_densities_have_the_values_of_jax(name):
    pytest.importorskip("jax")
    ours, theirs = getattr(scipy.stats, name), importlib.import_module(f"jax.scipy.stats.{name}")
    density = "logpdf" if hasattr(theirs, "logpdf") else "logpmf"
    args = (0.3, 1.5) if name == "gamma" else ARGUMENTS.get(name, (0.3,))
    assert float(getattr(ours, density)(*args)) == pytest.approx(float(getattr(theirs, density)(*args)), rel=1e-12)


@pytest.mark.parametrize("name", sorted(MANY))
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_functions_of_arrays_have_the_axes_of_jax(name, axis):
    x = numpy.random.default_rng(5).normal(size=(2, 3))
    expected = getattr(jax.scipy.special, name)(x, axis=axis)
    numpy.testing.assert_allclose(getattr(scipy.special, name)(x, axis=axis), expected, rtol=1e-13)
    if axis is None:
        numpy.testing.assert_allclose(getattr(scipy.special, name)(x), expected, rtol=1e-13)
