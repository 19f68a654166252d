"""Maximum likelihood on data sets of statsmodels: `gradwalk.stats.fit` beside the models of statsmodels.

    pip install statsmodels
    python benchmarks/maximum_likelihood.py

For each model: the largest relative difference of the estimates, of the standard errors, and of the robust standard
errors ("HC0" in statsmodels); the lines of code of both models; and the time of a fit with its covariance.
statsmodels searches with a strict tolerance, so that the differences are not caused by an early end of its search.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import statsmodels.api as sm
from statsmodels.base.model import GenericLikelihoodModel
from timing import best_of, markdown_row, quantity

from gradwalk import math, stats

HEADER = (
    *("data", "model", "observations", "parameters", "estimates", "standard errors", "robust"),
    *("lines", "statsmodels", "time", "statsmodels"),
)


class Case(NamedTuple):
    """A model of a data set.

    Attributes:
        data: The name of the data set.
        model: The name of the model.
        ours: The log-likelihood of an observation.
        start: The parameters to start from.
        theirs: A function that fits the model of statsmodels, given the data and `cov_type`.
        definition: The code whose lines count for statsmodels.
    """

    data: str
    model: str
    ours: Callable[..., Any]
    start: Any
    theirs: Callable[..., Any]
    definition: Any


def probit(beta: Any, y: Any, x: Any) -> Any:  # noqa: D103  the lines of the models are counted
    return stats.norm.logcdf((2.0 * y - 1.0) * (x @ beta))


def poisson(beta: Any, y: Any, x: Any) -> Any:  # noqa: D103
    return stats.poisson.logpmf(y, math.exp(x @ beta))


def negative_binomial(params: Any, y: Any, x: Any) -> Any:  # noqa: D103
    mean, size = math.exp(x @ params["beta"]), 1.0 / params["dispersion"]
    return stats.nbinom.logpmf(y, size, size / (size + mean))


def normal(params: Any, y: Any, x: Any) -> Any:  # noqa: D103
    return stats.norm.logpdf(y, x @ params["beta"], params["sigma"])


def weibull(params: Any, y: Any, x: Any) -> Any:  # noqa: D103
    at = y[0], params["shape"], 0.0, math.exp(x @ params["beta"])
    return math.where(y[1], stats.weibull_min.logpdf(*at), stats.weibull_min.logsf(*at))


def by_probit(y: Any, x: Any, **options: Any) -> Any:  # noqa: D103
    return sm.Probit(y, x).fit(disp=0, tol=1e-14, **options)


def by_poisson(y: Any, x: Any, **options: Any) -> Any:  # noqa: D103
    return sm.Poisson(y, x).fit(disp=0, maxiter=1000, tol=1e-14, **options)


def by_negative_binomial(y: Any, x: Any, **options: Any) -> Any:  # noqa: D103
    return sm.NegativeBinomial(y, x).fit(disp=0, method="newton", maxiter=1000, tol=1e-12, **options)


def by_least_squares(y: Any, x: Any, **options: Any) -> Any:  # noqa: D103
    return sm.OLS(y, x).fit(**options)


class Weibull(GenericLikelihoodModel):  # type: ignore[misc]  # noqa: D101  statsmodels is not typed
    def nloglikeobs(self, params: Any) -> Any:  # noqa: D102
        (time, is_death), shape = self.endog.T, params[-1]
        scale = numpy.exp(self.exog @ params[:-1])
        hazard = (time / scale) ** shape
        density = numpy.log(shape / scale) + (shape - 1.0) * numpy.log(time / scale) - hazard
        return -numpy.where(is_death, density, -hazard)


def by_generic_model(y: Any, x: Any, **options: Any) -> Any:  # noqa: D103
    start = numpy.array([*[0.0] * (x.shape[1] - 1), 5.0, 1.0])
    return Weibull(y, x).fit(start, disp=0, method="bfgs", maxiter=1000, gtol=1e-7, **options)


CASES = [
    Case("spector", "probit", probit, numpy.zeros(4), by_probit, by_probit),
    Case("cpunish", "Poisson", poisson, numpy.zeros(7), by_poisson, by_poisson),
    Case(
        "randhie",
        "negative binomial",
        negative_binomial,
        {"beta": numpy.zeros(10), "dispersion": 1.0},
        by_negative_binomial,
        by_negative_binomial,
    ),
    Case(
        "longley",
        "normal regression",
        normal,
        {"beta": numpy.zeros(7), "sigma": 1000.0},
        by_least_squares,
        by_least_squares,
    ),
    Case(
        "heart",
        "Weibull, censored",
        weibull,
        {"beta": numpy.array([0.0, 5.0]), "shape": 1.0},
        by_generic_model,
        Weibull,
    ),
]


def load(name: str) -> tuple[Any, Any]:
    """Return the response and the regressors, with a constant."""
    data = getattr(sm.datasets, name).load()
    y, x = numpy.asarray(data.endog, float), numpy.asarray(data.exog, float)
    if name == "heart":
        y = numpy.column_stack([y, data.censors])
    return y, sm.add_constant(x.reshape(len(y), -1), prepend=False)


def lines_of(definition: Any) -> int:
    """Return the number of lines of code."""
    return sum(bool(line.strip()) for line in inspect.getsource(definition).splitlines())


def difference(ours: Any, theirs: Any) -> str:
    """Return the largest relative difference; statsmodels may have fewer parameters, without the scale."""
    return f"{max(abs(ours[: len(theirs)] / theirs - 1.0)):.0e}"


def measured(case: Case) -> list[str]:
    """Return the row of a model."""
    y, x = load(case.data)

    def fit() -> Any:
        return stats.fit(case.ours, case.start, (y, x))

    ours, theirs, robust = fit(), case.theirs(y, x), case.theirs(y, x, cov_type="HC0")
    errors = numpy.asarray(theirs.bse)
    if case.theirs is by_least_squares:  # divides by n - k; the maximum-likelihood estimate of the variance by n
        errors = errors * numpy.sqrt(theirs.df_resid / theirs.nobs)
    times = best_of(2, {"ours": fit, "theirs": lambda: case.theirs(y, x)})
    return [
        *(case.data, case.model, f"{len(y):,}", str(len(ours.names))),
        difference(ours.estimates, numpy.asarray(theirs.params)),
        difference(numpy.sqrt(numpy.diag(ours.covariance)), errors),
        difference(numpy.sqrt(numpy.diag(ours.robust_covariance)), numpy.asarray(robust.bse)),
        *(str(lines_of(case.ours)), str(lines_of(case.definition))),
        *(quantity(1e3 * times[name], "ms") for name in ("ours", "theirs")),
    ]


def main() -> None:
    """Measure, and print the table."""
    warnings.simplefilter("ignore")
    print(markdown_row(HEADER), markdown_row(["---"] * len(HEADER)), sep="\n")
    for case in CASES:
        print(markdown_row(measured(case)), flush=True)


if __name__ == "__main__":
    main()
