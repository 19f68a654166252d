"""Functions of arrays of complex Values agree with NumPy, or are refused."""

from __future__ import annotations

import operator

import numpy
import pytest
from references import jax, jnp

from gradwalk import Complex, Value, grad, jit, vmap
from gradwalk import numpy as gnp

Z = numpy.array([1 + 2j, -0.5 + 0.3j, 0.7 - 1j])


NAMES = [
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "arcsin",
    "arccos",
    "arctan",
    "arcsinh",
    "arccosh",
    "arctanh",
    "abs",
    "absolute",
    "real",
    "imag",
    "conj",
    "conjugate",
    "angle",
    "square",
    "reciprocal",
    "negative",
    "sum",
    "prod",
    "mean",
    "cumsum",
    "var",
    "std",
    "cov",
    "isnan",
    "isinf",
    "isfinite",
    "iscomplex",
    "isreal",
    "iscomplexobj",
    "isrealobj",
    "diff",
]


@pytest.mark.parametrize("name", NAMES)
def test_functions_agree_with_numpy(name):
    f = getattr(gnp, name)
    expected = getattr(numpy, name)(Z)
    for found in (jit(f)(Z), vmap(f)(numpy.array([Z, Z]))[1]):
        assert numpy.asarray(found).dtype == numpy.asarray(expected).dtype
        numpy.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)
    numpy.testing.assert_array_equal(f(Z), expected)


@pytest.mark.parametrize(
    "f",
    [
        lambda z, np: (z.imag**2 * z.real).sum(),
        lambda z, np: (np.imag(z * z) * np.real(z)).sum(),
        lambda z, np: np.linalg.norm(z),
        lambda z, np: np.linalg.norm(np.outer(z, z)),
        lambda z, np: np.var(z) + np.std(z),
        lambda z, np: np.sum(np.angle(z) ** 2),
        lambda z, np: np.abs(np.sum(np.correlate(z, z[:2]))),
        lambda z, np: np.abs(np.cov(z)),
        lambda z, np: np.sum(np.abs(np.exp(z) / np.sqrt(z))),
    ],
)
def test_gradients_agree_with_jax(f):
    expected = jax.grad(lambda z: f(z, jnp))(Z)
    for found in (grad(lambda z: f(z, gnp))(Z), jit(grad(lambda z: f(z, gnp)))(Z)):
        numpy.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ["var", "std", "angle", "isreal", "iscomplex", "cov", "corrcoef", "linalg.norm"])
def test_functions_of_numpy_that_need_real_numbers_are_replaced(name):
    function = operator.attrgetter(name)(numpy)
    numpy.testing.assert_allclose(jit(function)(Z), function(Z), rtol=1e-12)


def test_methods_of_arrays_that_need_real_numbers_are_replaced():
    assert jit(lambda z: z.var() + z.std())(Z) == pytest.approx(Z.var() + Z.std(), rel=1e-12)


def test_parts_of_arrays_that_users_create():
    z = numpy.array([Complex(Value(1.0), 2.0), 3.0, Value(4.0)], dtype=object)
    assert [x if isinstance(x, float) else x.data for x in gnp.real(z)] == [1.0, 3.0, 4.0]
    assert gnp.imag(z).tolist() == [2.0, 0.0, 0.0]
    assert gnp.iscomplexobj(z)
    assert gnp.isrealobj(z[1:])
