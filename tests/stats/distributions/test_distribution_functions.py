"""Distribution functions that are incomplete gamma and beta functions agree with mpmath to second order."""

from __future__ import annotations

import math

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given
from hypothesis import strategies as st
from probabilities import CONTINUOUS, DISCRETE, POINTS

import gradwalk.math as gm
from gradwalk import Value, debug_nans, grad, hessian, jit, stats, value_and_grad, vmap

mpmath = pytest.importorskip("mpmath")

scipy_stats = pytest.importorskip("scipy.stats")

INF = math.inf
CASES = [(name, point) for name, (points, _) in POINTS.items() for point in (points if IS_COMPILED else points[:1])]


def at_point(f, point, argnums):
    """Return f as a function of the array of some of its arguments, and their numbers at a point."""

    def of_array(xs):
        arguments = list(point)
        for argnum, x in zip(argnums, xs, strict=True):
            arguments[argnum] = x
        return f(*arguments)

    return of_array, numpy.array([point[argnum] for argnum in argnums])


def true_derivatives(f, at):
    """Return the value, the gradient and the Hessian of a function of mpmath."""
    numbers = [mpmath.mpf(x) for x in at]
    units = numpy.eye(len(at), dtype=int)

    def diff(order):
        return mpmath.diff(lambda *xs: f(xs), numbers, tuple(order.tolist()))

    gradient = numpy.array([diff(unit) for unit in units], object)
    second = numpy.zeros((len(at), len(at)), object)
    for row in range(len(at)):
        for column in range(row + 1):
            second[row, column] = second[column, row] = diff(units[row] + units[column])
    return f(numbers), gradient, second


def as_logarithm(value, gradient, second):
    """Return the derivatives of the logarithm of a function."""
    slopes = gradient / value
    return mpmath.log(value), slopes, second / value - numpy.outer(slopes, slopes)


def complement(value, gradient, second):
    """Return the derivatives of 1 minus a function."""
    return 1 - value, -gradient, -second


@pytest.mark.parametrize(("name", "point"), CASES)
def test_derivatives_agree_with_mpmath(name, point):
    distribution, argnums = getattr(stats, name), POINTS[name][1]
    is_upper = distribution.cdf(*point) > 0.5  # of the two probabilities, the smaller one has digits in mpmath
    exact, at = at_point((CONTINUOUS | DISCRETE)[name][is_upper], point, argnums)
    with mpmath.workdps(60):
        smaller = true_derivatives(exact, at)
        larger = complement(*smaller)
        lower, upper = (larger, smaller) if is_upper else (smaller, larger)
        expected = {"cdf": lower, "sf": upper, "logcdf": as_logarithm(*lower), "logsf": as_logarithm(*upper)}
    units = numpy.array([abs(x) or 1.0 for x in at])  # errors are relative to the parameters
    for function, (value, gradient, second) in expected.items():
        f = at_point(getattr(distribution, function), point, argnums)[0]
        slopes, curvatures = gradient.astype(float) * units, second.astype(float) * numpy.outer(units, units)
        recorded = jit(lambda xs, f=f: (f(xs), grad(f)(xs), hessian(f)(xs)))
        for ours in ((*value_and_grad(f)(at), hessian(f)(at)), recorded(at)):
            assert ours[0] == pytest.approx(float(value), rel=1e-12, abs=1e-300), function
            errors = numpy.abs(ours[1] * units - slopes)
            assert errors.max() <= 1e-11 * numpy.abs(slopes).max() + 1e-290, function
            errors = numpy.abs(ours[2] * numpy.outer(units, units) - curvatures)
            assert errors.max() <= 1e-10 * numpy.abs(curvatures).max() + 1e-290, function


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("function", ["cdf", "sf", "logcdf", "logsf"])
def test_every_way_of_running_agrees(name, function):
    f, point = getattr(getattr(stats, name), function), POINTS[name][0][0]
    leaves = [Value(x) for x in point]
    result = f(*leaves)
    result.backward()
    gradient = grad(f, argnums=tuple(range(len(point))))
    expected = [leaf.grad for leaf in leaves]
    assert f(*point) == jit(f)(*point) == pytest.approx(result.data, rel=1e-14)
    assert gradient(*point) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert jit(gradient)(*point) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    columns = numpy.array([point, point, point]).T
    numpy.testing.assert_allclose(vmap(f)(*columns), f(*columns), rtol=1e-13)
    numpy.testing.assert_allclose(numpy.array(vmap(gradient)(*columns))[:, 1], expected, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("name", POINTS)
def test_probabilities_outside_of_the_support_have_derivatives_0(name):
    distribution, (points, _) = getattr(stats, name), POINTS[name]
    for function, below, above in [("cdf", 0.0, 1.0), ("sf", 1.0, 0.0), ("logcdf", -INF, 0.0), ("logsf", 0.0, -INF)]:
        f = getattr(distribution, function)
        slopes = grad(f, argnums=tuple(range(len(points[0]))))
        recorded = jit(lambda *xs, f=f, slopes=slopes: (f(*xs), slopes(*xs)))
        for x, expected in ((-INF, below), (-3.0, below), (INF, above)):
            if name != "t" or math.isinf(x):
                point = (x, *points[0][1:])
                assert f(*point) == expected
                assert set(slopes(*point)) == {0.0}
                assert recorded(*point) == (expected, slopes(*point))


@pytest.mark.parametrize("df", [0.05, 1.0, 9e7, 1.1e8, 1e13, INF])
def test_t_agrees_with_scipy_for_all_degrees_of_freedom(df):
    for z in (-1e200, -30.0, -1.5, -0.1, 0.0, 1e-200, 2.0, 37.0, 1e3):
        for function in ("cdf", "sf"):
            expected = getattr(scipy_stats.t, function)(z, df)
            assert getattr(stats.t, function)(z, df) == pytest.approx(expected, rel=1e-9, abs=1e-290), (function, z)
    slope = grad(stats.t.logsf, argnums=1)(3.0, df)
    density = stats.norm.pdf(3.0) / stats.norm.sf(3.0)
    assert df < 1e7 or slope == pytest.approx(-density * 30.0 / 4.0 / df / df, rel=1e-6)


def test_derivatives_of_t_are_continuous_where_the_method_changes():
    for z in (-3.0, 0.5, 20.0):
        for function in (stats.t.logsf, grad(stats.t.logsf), grad(grad(stats.t.logsf))):
            assert function(z, 1e8 * (1.0 - 1e-12)) == pytest.approx(function(z, 1e8), rel=1e-10)


@given(st.floats(-3.0, 5.0), st.floats(-3.0, 6.0), st.floats(0.01, 0.99))
def test_probabilities_add_up_to_1(log_a, log_b, p):
    a, b, k = math.exp(log_a), math.exp(log_b), math.floor(math.exp(log_b))
    points = [("gamma", (b, a)), ("chi2", (b, a)), ("beta", (p, a, b)), ("f", (b, a, 3.0)), ("t", (log_b, a))]
    points += [("poisson", (k, a)), ("nbinom", (k, a, p)), ("geom", (k, p)), ("binom", (k, 2 * k + 1, p))]
    for name, point in points:
        d = getattr(stats, name)
        assert d.cdf(*point) + d.sf(*point) == pytest.approx(1.0, rel=1e-11), name
        assert math.exp(d.logcdf(*point)) == pytest.approx(d.cdf(*point), rel=1e-11, abs=1e-300), name
        assert math.exp(d.logsf(*point)) == pytest.approx(d.sf(*point), rel=1e-11, abs=1e-300), name
        if name in DISCRETE:
            assert d.cdf(*point) - d.cdf(k - 1, *point[1:]) == pytest.approx(d.pmf(*point), rel=1e-9, abs=1e-12), name


def test_censored_counts_are_fitted():
    # Counts of 3 or more are known to be at least 3: the log-likelihood uses the survival function.
    counts = numpy.array([0, 1, 1, 2, 3, 3, 0, 2, 3, 1])

    def loglik(params, count):
        exact = stats.poisson.logpmf(count, params["mu"])
        return gm.where(count < 3, exact, stats.poisson.logsf(2, params["mu"]))

    result = stats.fit(loglik, {"mu": 1.0}, counts)
    mu = result.params["mu"]
    true = mpmath.findroot(
        lambda m: 7 / m - 7 + 3 * m**2 / 2 * mpmath.exp(-m) / (1 - mpmath.exp(-m) * (1 + m + m * m / 2)), 1.5
    )
    assert mu == pytest.approx(float(true), rel=1e-7)


@pytest.mark.parametrize(("name", "point"), CASES)
def test_unselected_branches_have_no_nan(name, point):
    with debug_nans():
        for function in ("cdf", "sf", "logcdf", "logsf"):
            f = getattr(getattr(stats, name), function)
            jit(f)(*point)
            f(*map(Value, point)).backward()


def test_heavy_tails():
    assert stats.f.cdf(1e19, 30.0, 0.2) == pytest.approx(0.9895203940038636, rel=1e-14)
    assert stats.f.logcdf(1e20, 3.0, 4.0) == pytest.approx(-10.0 / 3.0 * 1e-40, rel=1e-13)
    assert grad(stats.f.cdf, 2)(1e19, 30.0, 0.2) == pytest.approx(0.23398225159247163, rel=1e-12)
    assert stats.cauchy.logpdf(1e155) == pytest.approx(-714.946108714, rel=1e-12)
    assert stats.cauchy.logcdf(1e17) == pytest.approx(-1e-17 / math.pi, rel=1e-14)
    assert grad(stats.cauchy.logpdf)(1e155) == pytest.approx(-2e-155, rel=1e-14)
