"""Programs written for NumPy, not for gradwalk, beside the same programs in JAX."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from references import jax, jnp

from gradwalk import grad, hessian, jacobian, jit, vmap

rng = numpy.random.default_rng(0)
points = rng.normal(size=(12, 3))
answers = (rng.uniform(size=12) < 0.5) * 1.0
covariance = numpy.cov(rng.normal(size=(4, 40))) + numpy.eye(4)


def process(np: Any, t: Any) -> Any:
    """Return the negative log-likelihood of a Gaussian process."""
    distances = ((points[:, None] - points) ** 2).sum(-1)
    kernel = t[0] * np.exp(-distances / t[1]) + t[2] * np.eye(12)
    factor = np.linalg.cholesky(kernel)
    return 0.5 * answers @ np.linalg.solve(kernel, answers) + np.log(np.diag(factor)).sum()


def normal(np: Any, m: Any) -> Any:
    """Return the log density of a normal distribution."""
    away = m - 1.0
    return 0.5 * away @ np.linalg.inv(covariance) @ away + 0.5 * np.linalg.slogdet(covariance * m[0])[1]


def ridge(np: Any, penalty: Any) -> Any:
    """Return the squared errors of a ridge regression."""
    weights = np.linalg.solve(points.T @ points + penalty * np.eye(3), points.T @ answers)
    return ((points @ weights - answers) ** 2).sum()


def spectrum(np: Any, x: Any) -> Any:
    """Return the power of some frequencies."""
    return (np.abs(np.fft.rfft(x)) ** 2)[1:4].sum()


def boundary(np: Any, u: Any) -> Any:
    """Add up slopes of a function with fixed ends."""
    if np is numpy:
        u = u.copy()
        u[0], u[-1] = 0.0, 1.0
    else:
        u = u.at[0].set(0.0).at[-1].set(1.0)
    return np.tanh(np.gradient(u)).sum()


def decomposed(np: Any, m: Any) -> Any:
    """Add up eigenvalues, singular values, norms and a determinant."""
    singular = np.linalg.svd(m, full_matrices=False)[1]
    norms = np.linalg.norm(m, "nuc") + np.linalg.norm(m) + np.linalg.det(m)
    return np.linalg.eigvalsh(m + m.T)[-1] + singular.sum() + norms + np.abs(np.diag(np.linalg.qr(m)[1])).sum()


def statistics(np: Any, x: Any) -> Any:
    """Add up interpolated numbers, quantiles, and functions of pairs."""
    table = np.interp(x, np.array([0.0, 0.5, 1.0]), np.array([1.0, 3.0, 2.0])).sum()
    pairs = np.logaddexp(x[0], x[1]) + np.heaviside(x[2], 0.5) + np.copysign(x[0], x[1])
    return table + pairs + np.median(x**2) + np.quantile(x, 0.3) + np.var(x)


PROGRAMS: dict[str, tuple[Any, Any]] = {
    "process": (process, numpy.array([1.0, 2.0, 0.5])),
    "normal": (normal, numpy.array([1.5, 0.3, 0.2, 0.1])),
    "ridge": (ridge, 0.7),
    "spectrum": (spectrum, numpy.array([0.3, 0.1, 0.7, 0.2, 0.5, 0.9])),
    "boundary": (boundary, numpy.array([0.3, 0.9, 0.5, 0.7, 0.1])),
    "decomposed": (decomposed, covariance * 1.3 + numpy.arange(16.0).reshape(4, 4) / 9.0),
    "statistics": (statistics, numpy.array([0.3, 0.9, 0.55, 0.7, 0.1])),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_are_as_in_jax(name):
    program, x = PROGRAMS[name]
    f, reference = (lambda x: program(numpy, x)), (lambda x: program(jnp, x))
    first, second = jax.grad(reference)(x), jax.hessian(reference)(x)
    for found in (grad(f)(x), jit(grad(f))(x), jacobian(f)(x), vmap(grad(f))(numpy.stack([x, x]))[0]):
        numpy.testing.assert_allclose(found, first, rtol=1e-6, atol=1e-9)
    for found in (hessian(f)(x), jit(hessian(f))(x), vmap(hessian(f))(numpy.stack([x, x]))[0]):
        numpy.testing.assert_allclose(found, second, rtol=1e-6, atol=1e-8)


x = numpy.array([0.7, 2.0, 0.3, 2.0])
SELECTIONS: dict[str, Any] = {
    "methods": lambda np, x: x.max() ** 2 + x.min() ** 2 + (x.clip(0.5, 1.0) ** 2).sum(),
    "indices": lambda np, x: x[x.argmax()] * x[x.argmin()] + x[np.argmax(x)],
    "where": lambda np, x: np.where(x.any(), x.sum(), 0.0) + np.where(x - x[0], x**2, 5.0).sum(),
    "order": lambda np, x: (x[np.argsort(x)] * np.array([1.0, 2.0, 3.0, 4.0])).sum(),
    "order of other arrays": lambda np, x: (np.array([1.0, 2.0, 3.0, 4.0])[np.argsort(x)] * x).sum(),
    "indices along an axis": lambda np, x: x.reshape(2, 2)[np.arange(2), np.argmax(x.reshape(2, 2), axis=1)].sum(),
    "bins": lambda np, x: (np.array([1.0, 2.0, 4.0])[np.digitize(x, np.array([0.5, 1.0]))] * x).sum(),
    "members": lambda np, x: (np.array([1.0, 2.0])[np.isin(x, np.array([2.0])).astype(int)] * x).sum(),
    "single number": lambda np, x: (np.maximum(x[0], np.array([0.7, 0.1])) ** 2).sum(),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_selected_elements_get_the_gradients_of_jax(name):
    f = SELECTIONS[name]
    expected = jax.grad(lambda x: f(jnp, x))(x)
    slope = grad(lambda x: f(numpy, x))
    recorded = jit(slope)
    recorded(x[::-1].copy())
    for found in (slope(x), recorded(x), vmap(slope)(numpy.stack([x, x[::-1]]))[0]):
        numpy.testing.assert_allclose(found, expected, rtol=1e-12)


def masked(np: Any, x: Any) -> Any:
    """Set positive elements to 0, apply a function, and assign an element."""
    a = x.copy()
    a[a > 0.0] = 0.0
    a = np.tanh(a)
    a[0] = x[0] ** 2
    return a.sum() + a[-1]


def replaced_elements(np: Any, x: Any) -> Any:
    a = np.exp(np.where(x > 0.0, 0.0, x))
    a[1:] *= x[1:] ** 2
    return a.sum()


def started(np: Any, x: Any) -> Any:
    a = np.cumsum(np.cos(np.zeros_like(x)))
    a[0] = x[0] ** 2
    return np.maximum(a, x).sum()


@pytest.mark.parametrize("program", [masked, replaced_elements, started])
@pytest.mark.parametrize("x", [[1.5, 2.5], [-1.5, 2.5], [1.5, -2.5], [-1.5, -2.5]], ids=str)
def test_values_can_be_assigned_to_arrays_that_contain_no_values_yet(program, x):
    """The functions used to return arrays of floats if the mask selected all elements."""
    x = numpy.array(x)
    h = 1e-4
    shifts = h * numpy.eye(2)
    slopes = [(program(numpy, x + e) - program(numpy, x - e)) / (2 * h) for e in shifts]
    f = lambda x: program(numpy, x)  # noqa: E731
    curvatures = [(grad(f)(x + e) - grad(f)(x - e)) / (2 * h) for e in shifts]
    for found in (grad(f)(x), jit(grad(f))(x), vmap(grad(f))(numpy.stack([x, -x]))[0]):
        numpy.testing.assert_allclose(found, slopes, atol=1e-6)
    for found in (hessian(f)(x), jit(hessian(f))(x), vmap(hessian(f))(numpy.stack([x, -x]))[0]):
        numpy.testing.assert_allclose(found, curvatures, atol=1e-6)


REDUCTIONS = {
    "sum": lambda np, x: np.sum(x**2, where=x > 0.5),
    "method": lambda np, x: (x**2).sum(where=x > 0.5),
    "mean": lambda np, x: np.mean(x**2, where=np.array([True, False, True, True])),
    "prod": lambda np, x: (x**2).prod(where=x > 0.5),
    "std": lambda np, x: np.std(x**2, where=x < 1.0) + (x**2).var(where=x < 1.0),
    "axis": lambda np, x: np.sum(x.reshape(2, 2) ** 3, axis=1, where=x.reshape(2, 2) > 0.5) @ np.array([1.0, 2.0]),
    "without where": lambda np, x: x.sum() + x.mean() ** 2 + x.prod() + x.std() + x.var(ddof=1),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_accept_conditions(name):
    f, reference = (lambda x: REDUCTIONS[name](numpy, x)), (lambda x: REDUCTIONS[name](jnp, x))
    first, second = jax.grad(reference)(x), jax.hessian(reference)(x)
    for found in (grad(f)(x), jit(grad(f))(x), vmap(grad(f))(numpy.stack([x, x]))[0]):
        numpy.testing.assert_allclose(found, first, rtol=1e-9, atol=1e-12)
    for found in (hessian(f)(x), jit(hessian(f))(x), vmap(hessian(f))(numpy.stack([x, x]))[0]):
        numpy.testing.assert_allclose(found, second, rtol=1e-9, atol=1e-9)


def test_arrays_are_sorted_in_place():
    def f(x: Any) -> Any:
        x = x.copy()
        x.sort()
        return x @ [1.0, 10.0, 100.0, 1000.0]

    numpy.testing.assert_array_equal(jit(grad(f))(numpy.array([0.7, numpy.nan, 0.3, 2.0])), [10.0, 1000.0, 1.0, 100.0])


def test_functions_with_parameters_that_gradwalk_lacks_are_numpys():
    assert jit(lambda x: numpy.sort(x, kind="stable"))(x).tolist() == [0.3, 0.7, 2.0, 2.0]
    with pytest.raises(TypeError) as caught:
        jit(lambda m: numpy.linalg.pinv(m, rcond=0.1))(numpy.eye(2))
    assert "gradwalk.numpy has a pinv" in caught.value.__notes__[0]


def test_functions_that_compare_elements_do_not_branch():
    f = jit(lambda x: numpy.maximum(x, 1.0).sum() + x.max() + numpy.sort(x)[0] + numpy.median(x), branches="refuse")
    for given in (x, -x):
        assert f(given) == numpy.maximum(given, 1.0).sum() + given.max() + given.min() + numpy.median(given)


y = numpy.array([0.5, -1.3, 2.1, 0.9, -0.2, 1.7])
CALLS: dict[str, Any] = {
    "parameters by position": lambda x: numpy.max(x.reshape(2, 3), 0, None, True) + x.reshape(2, 3).max(0, None, True),
    "initial by position": lambda x: numpy.max(x, None, None, False, 5.0) * x,
    "density by position": lambda x: numpy.histogram(x, 3, (-2.0, 3.0), True)[0] * x[:3],
    "compress": lambda x: x.compress(x > 0),
    "piecewise": lambda x: numpy.piecewise(x, [x > 0], [lambda t: t - t.mean(), 0.0]),
    "masked array": lambda x: numpy.maximum(numpy.ma.masked_array(x * 0.0 + 3.0, [0, 0, 0, 1, 1, 1]), x).sum() * x,
    "parts": lambda x: (x * 1j).imag + numpy.imag(x * 1j) + (2.0 + x * 1j).real,
    "computed index": lambda x: x[[numpy.argmax(x) // 2, numpy.argmin(x)]] * float(numpy.argmax(x)),
    "index of a long array": lambda x: numpy.tile(x, 200)[numpy.argmax(numpy.tile(x, 200))] * x,
    "number and array": lambda x: numpy.hypot(3.0, x) + numpy.arctan2(numpy.array([1.0, 2.0] * 3), x[0]),
    "axes in a list": lambda x: numpy.median(x.reshape(2, 3), [0, 1]) * x,
    "complex conditions": lambda x: numpy.where(numpy.any(x * 1j), x, 0.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers_are_those_of_numpy(name):
    f = CALLS[name]
    expected = numpy.asarray(f(y))
    for found in (jit(f)(y), vmap(f)(numpy.stack([y, y[::-1]]))[0]):
        assert numpy.shape(found) == expected.shape
        numpy.testing.assert_allclose(numpy.asarray(found, float), expected, rtol=1e-12)


INDICES: dict[str, Any] = {
    "max": lambda x, i: x[i.max()] + x[numpy.min(i)],
    "sort": lambda x, i: x[numpy.sort(i)[1]],
    "clip": lambda x, i: x[numpy.clip(i, 0, 2)[1]],
    "maximum": lambda x, i: x[numpy.maximum(i, 2)[0]],
}


@pytest.mark.parametrize("name", INDICES)
def test_elements_of_integer_arguments_remain_indices(name):
    assert jit(INDICES[name])(y, numpy.array([1, 3, 2])) == INDICES[name](y, numpy.array([1, 3, 2]))
