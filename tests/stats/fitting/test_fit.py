"""Estimates, covariances and tests of `fit` agree with closed forms, with JAX and with statsmodels."""

from __future__ import annotations

import dataclasses
import functools
import pickle
import warnings

import numpy
import pytest

from gradwalk import loops, math, stats

pytest.importorskip("scipy")

DRAW = numpy.random.default_rng(0)
N = 40
X = numpy.column_stack([numpy.ones(N), DRAW.normal(size=N)])
Y = X @ [1.0, 2.0] + DRAW.normal(size=N) * (1.0 + X[:, 1] ** 2)
COUNTS = DRAW.poisson(numpy.exp(X @ [0.5, 0.3])).astype(float)
WAITS = DRAW.exponential(3.0, N)


def normal(params, y, x):
    return stats.norm.logpdf(y, x @ params["beta"], params["sigma"])


def poisson(beta, y, x):
    return stats.poisson.logpmf(y, math.exp(x @ beta))


def expon(scale, x):
    return stats.expon.logpdf(x, scale=scale)


def test_linear_regression_agrees_with_least_squares():
    result = stats.fit(normal, {"beta": numpy.zeros(2), "sigma": 1.0}, (Y, X))
    beta, *_ = numpy.linalg.lstsq(X, Y)
    errors = Y - X @ beta
    inverse = numpy.linalg.inv(X.T @ X)
    variance = numpy.mean(errors**2)
    assert result.names == ["beta[0]", "beta[1]", "sigma"]
    numpy.testing.assert_allclose(result.params["beta"], beta, rtol=1e-10)
    assert result.params["sigma"] == pytest.approx(numpy.sqrt(variance))
    numpy.testing.assert_allclose(result.covariance[:2, :2], variance * inverse, rtol=1e-9)
    robust = inverse @ (X.T @ (X * errors[:, None] ** 2)) @ inverse  # White's covariance, HC0
    numpy.testing.assert_allclose(result.robust_covariance[:2, :2], robust, rtol=1e-9)
    assert result.standard_errors["sigma"] == pytest.approx(numpy.sqrt(variance / (2 * N)))
    loglik = -0.5 * N * (numpy.log(2 * numpy.pi * variance) + 1)
    assert result.loglik == pytest.approx(loglik)
    assert (result.aic, result.bic) == (pytest.approx(6 - 2 * loglik), pytest.approx(3 * numpy.log(N) - 2 * loglik))
    assert result.converged
    assert result.observations == N


def test_poisson_regression_agrees_with_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    result = stats.fit(poisson, numpy.zeros(2), (COUNTS, X))

    def loglik(beta, y, x):
        return jax.scipy.stats.poisson.logpmf(y, jax.numpy.exp(x @ beta))

    over = functools.partial(jax.vmap, in_axes=(None, 0, 0))
    scores = over(jax.grad(loglik))(result.params, COUNTS, X)
    inverse = -numpy.linalg.inv(over(jax.hessian(loglik))(result.params, COUNTS, X).sum(axis=0))
    numpy.testing.assert_allclose(scores.sum(axis=0), 0.0, atol=1e-9)
    numpy.testing.assert_allclose(result.covariance, inverse, rtol=1e-9)
    numpy.testing.assert_allclose(result.robust_covariance, inverse @ (scores.T @ scores) @ inverse, rtol=1e-9)


# The data set "spector" of statsmodels (Spector and Mazzeo, 1980): grade point average, score, new method, improved.
SPECTOR = numpy.array(
    [
        *[(2.66, 20, 0, 0), (2.89, 22, 0, 0), (3.28, 24, 0, 0), (2.92, 12, 0, 0), (4.00, 21, 0, 1), (2.86, 17, 0, 0)],
        *[(2.76, 17, 0, 0), (2.87, 21, 0, 0), (3.03, 25, 0, 0), (3.92, 29, 0, 1), (2.63, 20, 0, 0), (3.32, 23, 0, 0)],
        *[(3.57, 23, 0, 0), (3.26, 25, 0, 1), (3.53, 26, 0, 0), (2.74, 19, 0, 0), (2.75, 25, 0, 0), (2.83, 19, 0, 0)],
        *[(3.12, 23, 1, 0), (3.16, 25, 1, 1), (2.06, 22, 1, 0), (3.62, 28, 1, 1), (2.89, 14, 1, 0), (3.51, 26, 1, 0)],
        *[(3.54, 24, 1, 1), (2.83, 27, 1, 1), (3.39, 17, 1, 1), (2.67, 24, 1, 0), (3.65, 21, 1, 1), (4.00, 23, 1, 1)],
        *[(3.10, 21, 1, 0), (2.39, 19, 1, 1)],
    ]
)


STATSMODELS = {
    "params": [1.62581003945, 0.0517289455076, 1.42633234201, -7.45231964822],
    "bse": [0.693882488441, 0.0838902614265, 0.59503790235, 2.54247232148],
    "HC0": [0.651510486433, 0.0691327081118, 0.532765406733, 2.54427136231],
    "tvalues": [2.34306250199, 0.616626347659, 2.3970445183, -2.93113108263],
    "pvalues": [0.0191261787461, 0.537481211721, 0.0165279154886, 0.00337730239842],
    "conf_int": [
        [0.484474911661, 2.76714516724],
        [-0.0862582552657, 0.189716146281],
        [0.447582090153, 2.40508259386],
        [-11.6343144676, -3.27032482881],
    ],
    "llf": -12.8188040689,
}


def test_probit_agrees_with_statsmodels():
    # The numbers are from Probit(improved, X).fit() and .fit(cov_type="HC0") of statsmodels 0.15.
    def probit(beta, y, x):
        return stats.norm.logcdf((2.0 * y - 1.0) * (x @ beta))

    data = SPECTOR[:, 3], numpy.column_stack([SPECTOR[:, :3], numpy.ones(32)])
    result = stats.fit(probit, [0.0] * 4, data)
    numpy.testing.assert_allclose(result.params, STATSMODELS["params"], rtol=1e-8)
    numpy.testing.assert_allclose(result.standard_errors, STATSMODELS["bse"], rtol=1e-8)
    numpy.testing.assert_allclose(result.robust_standard_errors, STATSMODELS["HC0"], rtol=1e-8)
    numpy.testing.assert_allclose(result.z_values, STATSMODELS["tvalues"], rtol=1e-8)
    numpy.testing.assert_allclose(result.p_values, STATSMODELS["pvalues"], rtol=1e-7)
    numpy.testing.assert_allclose(numpy.array(result.confint(0.9)).T, STATSMODELS["conf_int"], rtol=1e-7)
    assert result.loglik == pytest.approx(STATSMODELS["llf"], rel=1e-10)


@dataclasses.dataclass
class Params:
    mean: float
    scale: float


def test_parameters_are_trees():
    def of_dataclass(params, x):
        return stats.norm.logpdf(x, params.mean, params.scale)

    result = stats.fit(of_dataclass, Params(0.0, 1.0), WAITS)
    assert result.names == ["mean", "scale"]
    assert result.params == Params(pytest.approx(WAITS.mean()), pytest.approx(WAITS.std()))
    assert isinstance(result.standard_errors, Params)
    result = stats.fit(lambda p, x: stats.norm.logpdf(x, p[0], p[1]), [0, 1], WAITS.tolist())
    assert (result.names, result.params) == (["p[0]", "p[1]"], pytest.approx([WAITS.mean(), WAITS.std()]))
    nested = stats.fit(lambda p, x: stats.norm.logpdf(x, p["a"]["mean"][0], 1.0), {"a": {"mean": [0.0]}}, WAITS)
    assert nested.names == ["a['mean'][0]"]
    low, high = stats.fit(expon, 1.0, WAITS).confint(0.9)
    assert (low, high) == pytest.approx([WAITS.mean() * (1 + k / numpy.sqrt(N)) for k in (-1.6448536, 1.6448536)])


def test_data_may_be_a_tree_and_parameters_may_be_fixed():
    def of_row(params, row, *, scale):
        return stats.norm.logpdf(row["y"], params + row["x"][1], scale)

    result = stats.fit(functools.partial(of_row, scale=2.0), 0.0, {"y": Y, "x": X})
    assert result.params == pytest.approx(numpy.mean(Y - X[:, 1]))
    assert result.standard_errors == pytest.approx(2.0 / numpy.sqrt(N))


def test_total_log_likelihood():
    # A moving average, whose observations depend on each other.
    def loglik(params):
        def step(error, y):
            error = y - params["mean"] - params["theta"] * error
            return error, stats.norm.logpdf(error, 0.0, 1.0)

        return sum(loops.scan(step, 0.0, Y)[1])

    result = stats.fit(loglik, {"mean": 0.0, "theta": 0.1})
    assert result.converged
    assert result.loglik > loglik({"mean": 0.0, "theta": 0.1})
    assert "Observations:" in repr(result)
    for name in ("robust_covariance", "robust_standard_errors", "bic"):
        with pytest.raises(ValueError, match="fit"):
            getattr(result, name)


def test_search_steps_back_where_the_log_likelihood_is_nan():
    # From this start, Newton's method would step to a negative scale.
    result = stats.fit(lambda p, x: stats.norm.logpdf(x, p[0], p[1]), [500.0, 0.5], WAITS)
    assert result.params == pytest.approx([WAITS.mean(), WAITS.std()])


@pytest.mark.parametrize(
    ("name", "true", "start"),
    [
        ("norm", [500.0, 0.01], [0.0, 1.0]),
        ("norm", [500.0, 0.01], [499.0, 1e-3]),
        ("logistic", [1.0, 2.0], [-50.0, 0.1]),  # the second derivative by the location is 0 at the start
        ("cauchy", [1.0, 2.0], [-50.0, 0.1]),
        ("t", [4.0, 1.0, 2.0], [100.0, -5.0, 10.0]),
        ("gamma", [3.0], [0.01]),
        ("nbinom", [3.0, 0.3], [0.01, 0.99]),
    ],
)
def test_search_succeeds_far_from_the_maximum(name, true, start):
    draw = getattr(pytest.importorskip("scipy.stats"), name).rvs
    sample = draw(*true, size=200, random_state=numpy.random.default_rng(1)).astype(float)
    distribution = getattr(stats, name)
    density = distribution.logpmf if name == "nbinom" else distribution.logpdf
    result = stats.fit(lambda p, x: density(x, *p), start, sample)
    assert result.converged
    distances = (numpy.array(result.params) - true) / result.standard_errors
    assert numpy.abs(distances).max() < 3.0


def test_columns_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"constant": X[:, 0], "slope": X[:, 1], "counts": COUNTS})
    result = stats.fit(poisson, numpy.zeros(2), (frame["counts"], frame[["constant", "slope"]]))
    numpy.testing.assert_array_equal(result.params, stats.fit(poisson, numpy.zeros(2), (COUNTS, X)).params)


def test_units_of_parameters_do_not_matter():
    data = (Y, X * [1.0, 1e8])
    result = stats.fit(normal, {"beta": numpy.zeros(2), "sigma": 100.0}, data)
    expected = stats.fit(normal, {"beta": numpy.zeros(2), "sigma": 1.0}, (Y, X))
    numpy.testing.assert_allclose(result.params["beta"] * [1.0, 1e8], expected.params["beta"], rtol=1e-8)


def test_summary():
    result = stats.fit(normal, {"beta": numpy.zeros(2), "sigma": 1.0}, (Y, X))
    lines = repr(result).splitlines()
    assert lines == result.summary().splitlines()
    assert len(set(map(len, lines[1:]))) == 1
    assert lines[2].split() == ["Observations:", "40", "Log-likelihood:", f"{result.loglik:.3f}"]
    assert lines[7].split() == ["coef", "std", "err", "z", "P>|z|", "[0.025", "0.975]"]
    row = lines[9].split()
    assert row[0] == "beta[0]"
    assert float(row[1]) == pytest.approx(result.params["beta"][0], abs=1e-4)
    assert float(row[3]) == pytest.approx(result.z_values["beta"][0], abs=1e-3)
    assert "robust" in result.summary(0.9, robust=True)
    assert "[0.05" in result.summary(0.9, robust=True)


def test_results_can_be_pickled():
    result = stats.fit(expon, 1.0, WAITS)
    assert pickle.loads(pickle.dumps(result)).summary(robust=True) == result.summary(robust=True)


def test_unidentified_parameters_are_named():
    with pytest.raises(ValueError, match=r"do not identify beta\[1\], beta\[2\]: the Hessian"):
        stats.fit(poisson, numpy.zeros(3), (COUNTS, numpy.column_stack([X, 2.0 * X[:, 1]])))
    with pytest.raises(ValueError, match="do not identify unused: the Hessian"):
        stats.fit(lambda p, x: expon(p["scale"], x), {"scale": 1.0, "unused": 0.0}, WAITS)


def test_start_must_have_a_finite_log_likelihood():
    with pytest.raises(ValueError, match=r"at the start must be finite, got nan: .* for observation 0 .* 40 of 40"):
        stats.fit(expon, -1.0, WAITS)
    wrong = WAITS.copy()
    wrong[7] = numpy.nan
    with pytest.raises(
        ValueError, match=r"nan for observation 7 \(counted from 0; x=nan\), and not finite for 1 of 40"
    ):
        stats.fit(expon, 1.0, wrong)
    wrong[7] = -1.0
    with pytest.raises(ValueError, match=r"got -inf: it is -inf for observation 7 \(counted from 0; x=-1.0\)"):
        stats.fit(expon, 1.0, wrong)
    with pytest.raises(ValueError, match=r"must be finite, got nan. The start is x=-1"):
        stats.fit(math.log, -1.0)
    with pytest.raises(ValueError, match=r"finite derivatives, but they are inf or nan with respect to p"):
        stats.fit(lambda p: -math.sqrt(p), 0.0)


def test_data_is_checked():
    with pytest.raises(ValueError, match="one element per observation, but y has 40, x has 39"):
        stats.fit(poisson, numpy.zeros(2), (COUNTS, X[1:]))
    with pytest.raises(ValueError, match="x must be an array whose first axis is the observation, got the number"):
        stats.fit(expon, 1.0, 3.0)
    with pytest.raises(ValueError, match="at least one observation, got arrays of length 0"):
        stats.fit(expon, 1.0, [])
    with pytest.raises(ValueError, match="at least one array"):
        stats.fit(expon, 1.0, ())
    with pytest.raises(TypeError, match="start is a str"):
        stats.fit(expon, "1", WAITS)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        stats.fit(expon, 1.0, WAITS).confint(95)


@pytest.mark.parametrize(
    ("loglik", "start", "maxiter", "why"),
    [
        (lambda p: -math.log(math.cosh(p - 3.0)), 0.0, 0, "It stopped after maxiter=0 iterations, at p="),
        (lambda p: p * p, 0.1, 20, "It stopped after maxiter=20 iterations"),
        (lambda p: p[0] * p[0] - p[1] * p[1], [0.0, 0.0], 100, "its Hessian is not negative definite"),
        (lambda p: -math.exp(-p), 0.0, 100, "standard errors long"),
    ],
)
def test_search_that_does_not_converge_warns(loglik, start, maxiter, why):
    with pytest.warns(stats.ConvergenceWarning, match=rf"^fit\(\) did not converge\. .*{why}"):
        result = stats.fit(loglik, start, maxiter=maxiter)
    assert not result.converged
    assert why in result.message
    assert "NO" in repr(result)


def test_second_derivatives_that_are_not_finite_raise_an_error():
    with pytest.raises(ValueError, match="finite second derivatives, but one is inf or nan at p="):
        stats.fit(lambda p: -0.5 * p * p - 1e-30 * math.pow(math.abs(p), 1.5), 1.0)


def test_progress_bar_counts_iterations(capfd):
    pytest.importorskip("tqdm")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tqdm in terminals without ipywidgets
        stats.fit(expon, 1.0, WAITS, progress=True)
    assert "iterations" in capfd.readouterr().err


def test_arrays_are_in_the_order_of_start():
    y, x = numpy.random.default_rng(0).normal(size=(2, 40))

    def line(p, y, x):
        return stats.norm.logpdf(y, p["b"]["slope"] * x + p["a"], math.exp(p["b"]["log scale"]))

    result = stats.fit(line, {"b": {"slope": 0.0, "log scale": 0.0}, "a": 0.0}, (y, x))
    assert [name.split("[")[-1].strip("]'") for name in result.names] == ["slope", "log scale", "a"]
    params, errors = result.params, result.standard_errors
    assert result.estimates.tolist() == [params["b"]["slope"], params["b"]["log scale"], params["a"]]
    expected = [errors["b"]["slope"], errors["b"]["log scale"], errors["a"]]
    assert numpy.sqrt(numpy.diag(result.covariance)).tolist() == expected
    robust = result.robust_standard_errors
    expected = [robust["b"]["slope"], robust["b"]["log scale"], robust["a"]]
    assert numpy.sqrt(numpy.diag(result.robust_covariance)).tolist() == expected
    lines = [line.split()[0] for line in result.summary().splitlines()[-4:-1]]
    assert lines == [name.split()[0] for name in result.names]


def test_bounds_of_parameters_and_lists_are_explained():
    with pytest.raises(ValueError, match=r"the search failed after the parameters p=1\. .* the logarithm"):
        stats.fit(lambda p, y: stats.bernoulli.logpmf(y, p), 0.3, (numpy.ones(20),))
    with pytest.raises(TypeError, match=r"data must be a tuple .* got a list: write \(y, x\)"):
        stats.fit(lambda p, y, x: stats.norm.logpdf(y, p * x), 0.0, [numpy.ones(3), numpy.ones(3)])
    for wrong in ({"tol": 0.0}, {"tol": math.nan}, {"maxiter": -1}, {"maxiter": 2.5}):
        with pytest.raises(ValueError, match="tol must be positive, and maxiter a whole number >= 0"):
            stats.fit(expon, 1.0, WAITS, **wrong)
    with pytest.raises(ValueError, match=r"start must have at least one number, got \[\]"):
        stats.fit(lambda p, y: stats.norm.logpdf(y), [], (numpy.ones(3),))
    column = numpy.array([[1.0], [2.0], [4.0]])
    assert stats.fit(lambda p, y: stats.norm.logpdf(y, p), 0.0, (column,)).params == pytest.approx(7 / 3)
