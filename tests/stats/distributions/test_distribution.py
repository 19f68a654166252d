"""Densities and distribution functions agree with SciPy, and their derivatives with mpmath."""

from __future__ import annotations

import copy
import math
import pickle

import numpy
import pytest
from densities import CONTINUOUS, DISCRETE, POINTS
from hypothesis import given
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value, grad, hessian, jit, stats, value_and_grad, vmap

mpmath = pytest.importorskip("mpmath")

scipy_stats = pytest.importorskip("scipy.stats")

INF, NAN = math.inf, math.nan
FUNCTIONS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "logpmf", "pmf")
ARGUMENTS = (-INF, -1.0, 0.0, 0.3, 1.0, 2.0, 3.0, NAN)  # inf is tested below: SciPy's density of gamma is nan there
# Shape parameters in the domain, at its bounds and outside.
SHAPES = {
    "norm": [()],
    "logistic": [()],
    "laplace": [()],
    "cauchy": [()],
    "expon": [()],
    "uniform": [()],
    "t": [(2.5,), (INF,), (0.0,), (-1.0,)],
    "gamma": [(0.5,), (1.0,), (2.0,), (0.0,), (-1.0,)],
    "chi2": [(1.0,), (2.0,), (5.0,), (0.0,)],
    "f": [(3.0, 5.0), (2.0, 1.5), (0.5, 20.0), (1.0, 0.0), (-1.0, 1.0)],
    "beta": [(1.0, 1.0), (0.5, 2.0), (2.0, 0.5), (0.0, 1.0), (1.0, -1.0)],
    "lognorm": [(0.8,), (0.0,), (-1.0,)],
    "weibull_min": [(0.5,), (1.0,), (1.6,), (0.0,)],
    "bernoulli": [(0.3,), (0.0,), (1.0,), (-0.1,), (1.1,)],
    "binom": [(3, 0.3), (0, 0.3), (3, 0.0), (3, 1.0), (2.5, 0.3), (-1, 0.3), (3, 1.1)],
    "geom": [(0.3,), (1.0,), (0.0,)],
    "nbinom": [(2.5, 0.3), (0.0, 0.3), (2.0, 1.0), (2.0, 0.0)],
    "poisson": [(2.5,), (0.0,), (-1.0,)],
}
SCALES = ((0.0, 1.0), (0.5, 2.0), (0.0, 0.0), (0.0, -1.0), (NAN, 1.0), (0.0, NAN))


def density(name):
    """Return the logarithm of the density or the probability."""
    distribution = getattr(stats, name)
    return distribution.logpdf if name in CONTINUOUS else distribution.logpmf


def parameters(name):
    """Return parameters in the domain, at its bounds and outside."""
    further = SCALES if name in CONTINUOUS else ((0.0,), (1.0,))
    return [(*shapes, *rest) for shapes in SHAPES[name] for rest in further]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.filterwarnings("ignore")
def test_functions_agree_with_scipy(name):
    ours, theirs = getattr(stats, name), getattr(scipy_stats, name)
    for function in FUNCTIONS:
        if hasattr(ours, function):
            for params in parameters(name):
                expected = getattr(theirs, function)(ARGUMENTS, *params)
                if math.isnan(theirs.cdf(1.0, *params)):
                    expected = [NAN] * len(ARGUMENTS)  # SciPy's logcdf of discrete distributions may be 0
                found = [getattr(ours, function)(x, *params) for x in ARGUMENTS]
                assert all(type(x) is float for x in found)
                numpy.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=f"{function}{params}")


@pytest.mark.parametrize("name", [name for name in CONTINUOUS if hasattr(getattr(stats, name), "ppf")])
@pytest.mark.filterwarnings("ignore")
def test_quantiles_agree_with_scipy_and_invert_the_distribution_function(name):
    ours, theirs = getattr(stats, name), getattr(scipy_stats, name)
    probabilities = (-0.1, 0.0, 1e-300, 1e-9, 0.2, 0.5, 0.51, 0.9, 1.0 - 1e-9, 1.0, 1.1, NAN)
    for params in parameters(name):
        expected = theirs.ppf(probabilities, *params)
        found = [ours.ppf(q, *params) for q in probabilities]
        numpy.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-15, err_msg=str(params))
    shapes = SHAPES[name][0]
    back, slope = value_and_grad(lambda q: ours.cdf(ours.ppf(q, *shapes, 0.5, 2.0), *shapes, 0.5, 2.0))(0.3)
    assert (back, slope) == (pytest.approx(0.3), pytest.approx(1.0))


@pytest.mark.parametrize("name", CONTINUOUS)
def test_density_at_infinity_is_0(name):
    shapes = SHAPES[name][0]
    for x in (-INF, INF):
        assert (getattr(stats, name).logpdf(x, *shapes), getattr(stats, name).pdf(x, *shapes)) == (-INF, 0.0)


def true_derivatives(f, point):
    """Return the value, the gradient and the Hessian of a function of mpmath."""
    with mpmath.workdps(80):
        at = [mpmath.mpf(x) for x in point]
        units = numpy.eye(len(point), dtype=int)
        gradient = [mpmath.diff(f, at, tuple(unit)) for unit in units.tolist()]
        second = [[mpmath.diff(f, at, tuple((a + b).tolist())) for b in units] for a in units]
        return float(f(*at)), numpy.array(gradient, float), numpy.array(second, float)


@pytest.mark.parametrize("name", POINTS)
def test_derivatives_agree_with_mpmath(name):
    f = density(name)
    recorded = jit(lambda x: (f(*x), grad(lambda x: f(*x))(x), hessian(lambda x: f(*x))(x)))
    for point in POINTS[name]:
        value, gradient, second = true_derivatives((CONTINUOUS | DISCRETE)[name], point)
        units = numpy.array([abs(x) or 1.0 for x in point])  # errors are relative to the parameters
        for ours in (
            (*value_and_grad(lambda x: f(*x))(numpy.array(point)), hessian(lambda x: f(*x))(numpy.array(point))),
            recorded(numpy.array(point)),
        ):
            assert ours[0] == pytest.approx(value, rel=1e-12, abs=1e-14)
            assert numpy.abs((ours[1] - gradient) * units).max() <= 1e-12 * numpy.abs(gradient * units).max() + 1e-13
            errors = numpy.abs(ours[2] - second) * numpy.outer(units, units)
            assert errors.max() <= 1e-11 * numpy.abs(second * numpy.outer(units, units)).max() + 1e-12


@pytest.mark.parametrize("name", POINTS)
def test_every_way_of_running_agrees(name):
    f = density(name)
    [point, *_] = POINTS[name]
    leaves = [Value(x) for x in point]
    f(*leaves).backward()
    expected = [leaf.grad for leaf in leaves]
    slopes = grad(f, argnums=tuple(range(len(point))))
    assert slopes(*point) == pytest.approx(expected, rel=1e-14)
    assert jit(slopes)(*point) == pytest.approx(expected, rel=1e-14)
    batch = vmap(slopes)(*numpy.array([point, point, point]).T)
    numpy.testing.assert_allclose(numpy.array(batch)[:, 1], expected, rtol=1e-13)


@pytest.mark.parametrize("name", SHAPES)
def test_derivatives_outside_of_the_support_are_0(name):
    shapes = SHAPES[name][0]
    f = density(name)
    further = (0.5, 2.0) if name in CONTINUOUS else (1.0,)
    for x in (-3.7, -3.0, 60.5):
        point = (x, *shapes, *further)
        if f(*point) == -INF:
            everything = tuple(range(len(point)))
            assert set(grad(f, argnums=everything)(*point)) == {0.0}
            assert set(jit(grad(f, argnums=everything))(*point)) == {0.0}
            assert not numpy.any(hessian(lambda x, f=f: f(*x))(numpy.array(point)))


def test_result_of_values_is_a_value_also_outside_of_the_support():
    for x, a, number in ((-1.0, 2.0, -INF), (1.0, -2.0, NAN), (1.0, 1.0, -1.0)):
        leaves = [Value(x), Value(a)]
        result = stats.gamma.logpdf(*leaves)
        assert result.data == pytest.approx(number, nan_ok=True)
        result.backward()
        assert number == -1.0 or [leaf.grad for leaf in leaves] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "point", "slopes"),
    [
        ("gamma", (0.0, 1.0), [-1.0, -INF]),
        ("beta", (0.0, 1.0, 2.0), [-1.0, -INF, 0.5]),
        ("beta", (1.0, 2.0, 1.0), [1.0, 0.5, -INF]),
        ("weibull_min", (0.0, 1.0), [-1.0, -INF]),
    ],
)
def test_derivatives_at_the_bound_of_the_support(name, point, slopes):
    # The density jumps between 0 and inf where a shape parameter passes 1.
    assert grad(density(name), argnums=tuple(range(len(point))))(*point) == pytest.approx(slopes, rel=1e-14)
    assert jit(grad(density(name), argnums=tuple(range(len(point)))))(*point) == pytest.approx(slopes, rel=1e-14)


@pytest.mark.parametrize(("f", "at", "slope"), [("poisson", (0, 0.0), -1.0), ("bernoulli", (0, 0.0), -1.0)])
def test_derivative_by_the_parameter_at_the_bound_of_its_domain(f, at, slope):
    assert grad(density(f), argnums=1)(*at) == slope


@given(st.floats(-37.0, 8.0))
def test_logarithm_of_the_normal_distribution_function_has_exact_derivatives(z):
    with mpmath.workdps(60):
        hazard = mpmath.npdf(z) / mpmath.ncdf(z)
        expected = [float(mpmath.log(mpmath.ncdf(z))), float(hazard), float(-hazard * (hazard + z))]
    found = [stats.norm.logcdf(z), grad(stats.norm.logcdf)(z), grad(grad(stats.norm.logcdf))(z)]
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("name", [name for name in CONTINUOUS if hasattr(getattr(stats, name), "cdf")])
def test_distribution_functions_are_integrals_of_the_density(name):
    # Also far in the tails: the derivative of log F is f / F, and the derivative of log(1 - F) is -f / (1 - F).
    d, shapes = getattr(stats, name), SHAPES[name][0]
    for z in (0.05, 0.4, 0.97) if name in ("uniform", "beta") else (0.05, 0.8, 9.0, 30.0):
        assert grad(d.cdf)(z, *shapes) == pytest.approx(d.pdf(z, *shapes), rel=1e-12)
        assert grad(d.sf)(z, *shapes) == pytest.approx(-d.pdf(z, *shapes), rel=1e-12)
        assert grad(d.logcdf)(z, *shapes) == pytest.approx(math.exp(d.logpdf(z, *shapes) - d.logcdf(z, *shapes)))
        assert grad(d.logsf)(z, *shapes) == pytest.approx(-math.exp(d.logpdf(z, *shapes) - d.logsf(z, *shapes)))


def test_arrays_and_lists_broadcast():
    x, loc = numpy.linspace(-1.0, 1.0, 3), [[0.0], [0.5]]
    expected = scipy_stats.norm.logpdf(x, loc, 2.0)
    numpy.testing.assert_allclose(stats.norm.logpdf(x, loc, 2.0), expected, rtol=1e-14)
    numpy.testing.assert_allclose(stats.norm.logpdf(x.tolist(), loc, scale=2.0), expected, rtol=1e-14)
    values = stats.norm.logpdf(x, Value(0.5), [Value(2.0)] * 3)
    assert [v.data for v in values] == pytest.approx(expected[1])
    slope = grad(lambda loc: stats.norm.logpdf(x, loc, 2.0).sum())(0.5)
    assert slope == pytest.approx(sum((x - 0.5) / 4.0))
    assert jit(grad(lambda x: stats.gamma.logpdf(x, 2.0).sum()))(numpy.array([1.0, 2.0])).tolist() == [0.0, -0.5]
    with pytest.raises(ValueError, match=r"do not broadcast together: x over \(3,\), loc over \(2,\)"):
        stats.norm.logpdf(x, [0.0, 1.0])


def test_parameters_by_name_and_defaults():
    assert stats.gamma.logpdf(1.0, scale=2.0, a=3.0) == stats.gamma.logpdf(1.0, 3.0, 0.0, 2.0)
    assert stats.poisson.pmf(2, mu=3.0) == stats.poisson.pmf(2, 3.0, 0)
    assert stats.norm.logpdf(numpy.float64(1.0), numpy.array(0.5)) == stats.norm.logpdf(1.0, 0.5)
    with pytest.raises(TypeError, match="missing a required argument: 'a'"):
        stats.gamma.logpdf(1.0, scale=2.0)
    with pytest.raises(TypeError, match="too many positional arguments"):
        stats.norm.logpdf(1.0, 0.0, 1.0, 2.0)
    with pytest.raises(AttributeError, match="ppf"):
        stats.gamma.ppf(0.5, 2.0)
    with pytest.raises(TypeError, match="takes Values and real numbers"):
        stats.norm.logpdf("x", 0.0, None)


def test_distributions_are_shown_copied_and_pickled_by_name():
    assert repr(stats.gamma) == "<distribution gamma(a, loc=0.0, scale=1.0)>"
    assert pickle.loads(pickle.dumps(stats.poisson)) is stats.poisson
    assert copy.deepcopy(stats.norm) is stats.norm


def test_plain_parameters_add_no_instructions():
    recorded = jit(lambda x: stats.norm.logpdf(x, 0.0, 1.0))
    recorded(0.5)
    by_hand = jit(lambda x: -0.5 * (x * x) - 0.5 * math.log(2.0 * math.pi))
    by_hand(0.5)
    assert len(recorded.program) == len(by_hand.program)
    recorded, by_hand = jit(stats.norm.logpdf), jit(_by_hand)
    recorded(0.5, 0.1, 2.0)
    by_hand(0.5, 0.1, 2.0)
    assert len(recorded.program) == len(by_hand.program)


def _by_hand(x, loc, scale):
    z = (x - loc) / scale
    return -0.5 * (z * z) - 0.5 * math.log(2.0 * math.pi) - gradwalk.math.log(scale)
