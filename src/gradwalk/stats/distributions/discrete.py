"""Discrete distributions.

The formulas are in Johnson, Kemp and Kotz, "Univariate Discrete Distributions", 2005; names and parameters are in the
documentation of `scipy.stats`.
"""

from __future__ import annotations

from typing import Any

from gradwalk import math
from gradwalk.functions.special.gamma_family import log_beta
from gradwalk.functions.special.incomplete_beta import betainc_of_pair, log_betainc_of_pair
from gradwalk.functions.special.incomplete_gamma import log_gammainc, log_gammaincc
from gradwalk.functions.special.logarithmic import times_log, times_log1p
from gradwalk.stats.distributions.distribution import Discrete, Standard, is_fractional


def _is_negative(k: Any, *_: Any) -> Any:
    return k < 0.0


def _is_no_probability(p: Any) -> Any:
    """Return whether p is not in [0, 1]: a number other than 0, or 0."""
    return (p < 0.0) + (p > 1.0)


def _is_no_positive_probability(p: Any) -> Any:
    """Return whether p is not in (0, 1]: a number other than 0, or 0."""
    return (p <= 0.0) + (p > 1.0)


bernoulli = Discrete(
    "bernoulli",
    ["p"],
    lambda k, p: times_log(k, p) + times_log1p(1.0 - k, -p),
    Standard(
        cdf=lambda k, p: 1.0 - p,
        sf=lambda k, p: p,
        logcdf=lambda k, p: math.log1p(-p),
        logsf=lambda k, p: math.log(p),
    ),
    is_outside=lambda k, p: (k < 0.0) + (k > 1.0),
    is_invalid=_is_no_probability,
    last=lambda p: 1.0,
)

binom = Discrete(
    "binom",
    ["n", "p"],
    lambda k, n, p: (
        times_log(k, p) + times_log1p(n - k, -p) - math.log(n + 1.0) - log_beta(n - k + 1.0, k + 1.0)
    ),  # the binomial coefficient is 1 / ((n + 1) B(n - k + 1, k + 1))
    Standard(
        cdf=lambda k, n, p: betainc_of_pair(n - k, k + 1.0, 1.0 - p, p),
        sf=lambda k, n, p: betainc_of_pair(k + 1.0, n - k, p, 1.0 - p),
        logcdf=lambda k, n, p: log_betainc_of_pair(n - k, k + 1.0, 1.0 - p, p),
        logsf=lambda k, n, p: log_betainc_of_pair(k + 1.0, n - k, p, 1.0 - p),
    ),
    is_outside=lambda k, n, p: (k < 0.0) + (n < k),
    is_invalid=lambda n, p: (n < 0.0) + is_fractional(n) + _is_no_probability(p),
    last=lambda n, p: n,
)

geom = Discrete(
    "geom",
    ["p"],
    lambda k, p: times_log1p(k - 1.0, -p) + math.log(p),
    Standard(
        cdf=lambda k, p: -math.expm1(times_log1p(k, -p)),
        sf=lambda k, p: math.exp(times_log1p(k, -p)),
        logcdf=lambda k, p: math.log1mexp(times_log1p(k, -p)),
        logsf=lambda k, p: times_log1p(k, -p),
    ),
    is_outside=lambda k, p: k < 1.0,
    is_invalid=_is_no_positive_probability,
)

nbinom = Discrete(
    "nbinom",
    ["n", "p"],
    lambda k, n, p: times_log(n, p) + times_log1p(k, -p) - math.log(k + n) - log_beta(n, k + 1.0),
    Standard(
        cdf=lambda k, n, p: betainc_of_pair(n, k + 1.0, p, 1.0 - p),
        sf=lambda k, n, p: betainc_of_pair(k + 1.0, n, 1.0 - p, p),
        logcdf=lambda k, n, p: log_betainc_of_pair(n, k + 1.0, p, 1.0 - p),
        logsf=lambda k, n, p: log_betainc_of_pair(k + 1.0, n, 1.0 - p, p),
    ),
    is_outside=_is_negative,
    is_invalid=lambda n, p: (n <= 0.0) + _is_no_positive_probability(p),
)

poisson = Discrete(
    "poisson",
    ["mu"],
    lambda k, mu: times_log(k, mu) - mu - math.lgamma(k + 1.0),
    Standard(
        cdf=lambda k, mu: math.gammaincc(k + 1.0, mu),
        sf=lambda k, mu: math.gammainc(k + 1.0, mu),
        logcdf=lambda k, mu: log_gammaincc(k + 1.0, mu),
        logsf=lambda k, mu: log_gammainc(k + 1.0, mu),
    ),
    is_outside=_is_negative,
    is_invalid=lambda mu: mu < 0.0,
)
