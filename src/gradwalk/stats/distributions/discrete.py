"""Discrete distributions.

The formulas are in Johnson, Kemp and Kotz, "Univariate Discrete Distributions", 2005; names and parameters are in the
documentation of `scipy.stats`.
"""

from __future__ import annotations

from typing import Any

from gradwalk import math
from gradwalk.functions.special.gamma_family import log_beta
from gradwalk.functions.special.logarithmic import times_log, times_log1p
from gradwalk.stats.distributions.distribution import Discrete, is_fractional


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
    is_outside=lambda k, p: (k < 0.0) + (k > 1.0),
    is_invalid=_is_no_probability,
)

binom = Discrete(
    "binom",
    ["n", "p"],
    lambda k, n, p: (
        times_log(k, p) + times_log1p(n - k, -p) - math.log(n + 1.0) - log_beta(n - k + 1.0, k + 1.0)
    ),  # the binomial coefficient is 1 / ((n + 1) B(n - k + 1, k + 1))
    is_outside=lambda k, n, p: (k < 0.0) + (n < k),
    is_invalid=lambda n, p: (n < 0.0) + is_fractional(n) + _is_no_probability(p),
)

geom = Discrete(
    "geom",
    ["p"],
    lambda k, p: times_log1p(k - 1.0, -p) + math.log(p),
    is_outside=lambda k, p: k < 1.0,
    is_invalid=_is_no_positive_probability,
)

nbinom = Discrete(
    "nbinom",
    ["n", "p"],
    lambda k, n, p: times_log(n, p) + times_log1p(k, -p) - math.log(k + n) - log_beta(n, k + 1.0),
    is_outside=_is_negative,
    is_invalid=lambda n, p: (n <= 0.0) + _is_no_positive_probability(p),
)

poisson = Discrete(
    "poisson",
    ["mu"],
    lambda k, mu: times_log(k, mu) - mu - math.lgamma(k + 1.0),
    is_outside=_is_negative,
    is_invalid=lambda mu: mu < 0.0,
)
