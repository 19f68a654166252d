"""Continuous distributions.

The formulas are in Johnson, Kotz and Balakrishnan, "Continuous Univariate Distributions", 1994; names and parameters
are in the documentation of `scipy.stats`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwalk import math
from gradwalk.functions.rows import divide
from gradwalk.functions.special.composition import HALF_LOG_2_PI, choose
from gradwalk.functions.special.gamma_family import log_beta
from gradwalk.functions.special.incomplete_beta import betainc_of_pair, log_betainc_of_pair
from gradwalk.functions.special.incomplete_gamma import log_gammainc, log_gammaincc
from gradwalk.functions.special.logarithmic import times_log, times_log1p
from gradwalk.functions.special.normal import log_norm_cdf
from gradwalk.stats.distributions import student
from gradwalk.stats.distributions.distribution import Continuous, Standard, WithQuantiles


def _is_not_positive(*parameters: Any) -> Any:
    """Return whether any parameter is <= 0: a number other than 0, or 0."""
    return sum(parameter <= 0.0 for parameter in parameters)


def _is_outside_half_line(z: Any, *_: Any) -> Any:
    """Return whether z is not in [0, inf)."""
    return (z < 0.0) + (math.inf <= z)


def _is_outside_unit_interval(z: Any, *_: Any) -> Any:
    return (z < 0.0) + (z > 1.0)


def _at_least_0(z: Any) -> Any:
    """Return z, or 0 with derivative 0 for numbers below the support."""
    return choose(z < 0.0, 0.0, z)


def _unless_impossible(is_impossible: Any, log_probability: Callable[[Any], Any], z: Any) -> Any:
    """Return -inf with derivatives 0 if a probability is 0, else its logarithm."""
    return choose(is_impossible, -math.inf, log_probability(choose(is_impossible, 0.5, z)))


norm = WithQuantiles(
    "norm",
    [],
    lambda z: -0.5 * (z * z) - HALF_LOG_2_PI,
    Standard(
        cdf=math.norm_cdf,
        sf=lambda z: math.norm_cdf(-z),
        logcdf=log_norm_cdf,
        logsf=lambda z: log_norm_cdf(-z),
    ),
    math.norm_ppf,
)

logistic = WithQuantiles(
    "logistic",
    [],
    lambda z: -math.softplus(z) - math.softplus(-z),
    Standard(
        cdf=math.sigmoid,
        sf=lambda z: math.sigmoid(-z),
        logcdf=lambda z: -math.softplus(-z),
        logsf=lambda z: -math.softplus(z),
    ),
    lambda q: math.log(q) - math.log1p(-q),
)


def _laplace_cdf(z: Any) -> Any:
    tail = 0.5 * math.exp(-math.abs(z))
    return choose(z < 0.0, tail, 1.0 - tail)


def _laplace_logcdf(z: Any) -> Any:
    return choose(z < 0.0, z - _LOG_2, math.log1p(-0.5 * math.exp(-math.abs(z))))


def _laplace_ppf(q: Any) -> Any:
    return choose(q < 0.5, math.log(2.0 * q), -math.log(2.0 * (1.0 - q)))


_LOG_2 = math.log(2.0)
laplace = WithQuantiles(
    "laplace",
    [],
    lambda z: -math.abs(z) - _LOG_2,
    Standard(
        cdf=_laplace_cdf,
        sf=lambda z: _laplace_cdf(-z),
        logcdf=_laplace_logcdf,
        logsf=lambda z: _laplace_logcdf(-z),
    ),
    _laplace_ppf,
)


def _cauchy_cdf(z: Any) -> Any:
    return math.atan2(1.0, -z) * (1.0 / math.pi)


def _cauchy_logcdf(z: Any) -> Any:
    """Return the logarithm of the distribution function. For z > 0 it is computed from the small upper tail."""
    is_right = z > 0.0
    tail = _cauchy_cdf(choose(is_right, -z, z))
    return choose(is_right, math.log1p(-tail), math.log(tail))


def _cauchy_logpdf(z: Any) -> Any:
    """Return the logarithm of the density; hypot does not overflow where z * z does."""
    return -2.0 * math.log(math.hypot(1.0, z)) - _LOG_PI


def _cauchy_ppf(q: Any) -> Any:
    """Return the quantile. In the tails, the angle is measured from the nearer end, where q is exact."""
    is_central = math.abs(q - 0.5) < 0.25
    tail = choose(q < 0.5, q, -(1.0 - q))
    angle = math.pi * choose(is_central, q - 0.5, tail)
    return choose(is_central, math.tan(angle), divide(-1.0, math.tan(angle)))


_LOG_PI = math.log(math.pi)
cauchy = WithQuantiles(
    "cauchy",
    [],
    _cauchy_logpdf,
    Standard(
        cdf=_cauchy_cdf,
        sf=lambda z: _cauchy_cdf(-z),
        logcdf=_cauchy_logcdf,
        logsf=lambda z: _cauchy_logcdf(-z),
    ),
    _cauchy_ppf,
)


t = Continuous(
    "t",
    ["df"],
    student.logpdf,
    student.STANDARD,
    is_invalid=_is_not_positive,
)


def _gamma_logpdf(z: Any, a: Any) -> Any:
    return times_log(a - 1.0, z) - z - math.lgamma(a)


_GAMMA = Standard(
    cdf=lambda z, a: math.gammainc(a, _at_least_0(z)),
    sf=lambda z, a: math.gammaincc(a, _at_least_0(z)),
    logcdf=lambda z, a: _unless_impossible(z <= 0.0, lambda z: log_gammainc(a, z), z),
    logsf=lambda z, a: _unless_impossible(z == math.inf, lambda z: log_gammaincc(a, _at_least_0(z)), z),
)
gamma = Continuous(
    "gamma",
    ["a"],
    _gamma_logpdf,
    _GAMMA,
    is_outside=_is_outside_half_line,
    is_invalid=_is_not_positive,
)


def _chi2_function(of_gamma: Callable[..., Any]) -> Callable[..., Any]:
    return lambda z, df: of_gamma(0.5 * z, 0.5 * df)


chi2 = Continuous(
    "chi2",
    ["df"],
    lambda z, df: _gamma_logpdf(0.5 * z, 0.5 * df) - _LOG_2,
    Standard(*map(_chi2_function, _GAMMA)),
    is_outside=_is_outside_half_line,
    is_invalid=_is_not_positive,
)


def _in_unit_interval(z: Any) -> Any:
    """Return z, or the nearer of 0 and 1 with derivative 0 for numbers outside of the support."""
    return choose(z > 1.0, 1.0, _at_least_0(z))


def _beta_cdf(z: Any, a: Any, b: Any) -> Any:
    z = _in_unit_interval(z)
    return betainc_of_pair(a, b, z, 1.0 - z)


def _beta_sf(z: Any, a: Any, b: Any) -> Any:
    z = _in_unit_interval(z)
    return betainc_of_pair(b, a, 1.0 - z, z)


def _beta_logcdf(z: Any, a: Any, b: Any) -> Any:
    z = _in_unit_interval(z)
    return _unless_impossible(z <= 0.0, lambda z: log_betainc_of_pair(a, b, z, 1.0 - z), z)


def _beta_logsf(z: Any, a: Any, b: Any) -> Any:
    z = _in_unit_interval(z)
    return _unless_impossible(z >= 1.0, lambda z: log_betainc_of_pair(b, a, 1.0 - z, z), z)


beta = Continuous(
    "beta",
    ["a", "b"],
    lambda z, a, b: times_log(a - 1.0, z) + times_log1p(b - 1.0, -z) - log_beta(a, b),
    Standard(cdf=_beta_cdf, sf=_beta_sf, logcdf=_beta_logcdf, logsf=_beta_logsf),
    is_outside=_is_outside_unit_interval,
    is_invalid=_is_not_positive,
)


def _f_logpdf(z: Any, dfn: Any, dfd: Any) -> Any:
    a, b, ratio = 0.5 * dfn, 0.5 * dfd, divide(dfn, dfd)
    return times_log(a - 1.0, z) + a * math.log(ratio) - (a + b) * math.log1p(ratio * z) - log_beta(a, b)


def _beta_of_f(z: Any, dfn: Any, dfd: Any) -> tuple[Any, Any, Any, Any]:
    """Return the arguments a, b, x and y = 1 - x of the incomplete beta function of the distribution function."""
    is_infinite = z == math.inf
    odds = divide(dfn, dfd) * choose(is_infinite, 1.0, _at_least_0(z))
    y = choose(is_infinite, 0.0, divide(1.0, 1.0 + odds))
    x = choose(y < 0.5, 1.0 - y, divide(odds, 1.0 + odds))
    return 0.5 * dfn, 0.5 * dfd, x, y


def _f_cdf(z: Any, dfn: Any, dfd: Any) -> Any:
    return betainc_of_pair(*_beta_of_f(z, dfn, dfd))


def _f_sf(z: Any, dfn: Any, dfd: Any) -> Any:
    a, b, x, y = _beta_of_f(z, dfn, dfd)
    return betainc_of_pair(b, a, y, x)


def _f_logcdf(z: Any, dfn: Any, dfd: Any) -> Any:
    return _unless_impossible(z <= 0.0, lambda z: log_betainc_of_pair(*_beta_of_f(z, dfn, dfd)), z)


def _f_logsf(z: Any, dfn: Any, dfd: Any) -> Any:
    def inside(z: Any) -> Any:
        a, b, x, y = _beta_of_f(z, dfn, dfd)
        return log_betainc_of_pair(b, a, y, x)

    return _unless_impossible(z == math.inf, inside, z)


f = Continuous(
    "f",
    ["dfn", "dfd"],
    _f_logpdf,
    Standard(cdf=_f_cdf, sf=_f_sf, logcdf=_f_logcdf, logsf=_f_logsf),
    is_outside=_is_outside_half_line,
    is_invalid=_is_not_positive,
)

expon = WithQuantiles(
    "expon",
    [],
    lambda z: -z,
    Standard(
        cdf=lambda z: -math.expm1(-_at_least_0(z)),
        sf=lambda z: math.exp(-_at_least_0(z)),
        logcdf=lambda z: math.log1mexp(-_at_least_0(z)),
        logsf=lambda z: -_at_least_0(z),
    ),
    lambda q: -math.log1p(-q),
    is_outside=_is_outside_half_line,
)


def _weibull_hazard(z: Any, c: Any) -> Any:
    """Return the cumulative hazard: the negative logarithm of the survival function."""
    return math.pow(_at_least_0(z), c)


weibull_min = WithQuantiles(
    "weibull_min",
    ["c"],
    lambda z, c: math.log(c) + times_log(c - 1.0, z) - math.pow(z, c),
    Standard(
        cdf=lambda z, c: -math.expm1(-_weibull_hazard(z, c)),
        sf=lambda z, c: math.exp(-_weibull_hazard(z, c)),
        logcdf=lambda z, c: math.log1mexp(-_weibull_hazard(z, c)),
        logsf=lambda z, c: -_weibull_hazard(z, c),
    ),
    lambda q, c: math.pow(-math.log1p(-q), divide(1.0, c)),
    is_outside=_is_outside_half_line,
    is_invalid=_is_not_positive,
)


def _lognorm_score(z: Any, s: Any) -> Any:
    """Return the standard normal number of z: log(z) / s."""
    return divide(math.log(_at_least_0(z)), s)


def _lognorm_logpdf(z: Any, s: Any) -> Any:
    logarithm = math.log(z)
    score = divide(logarithm, s)
    return -0.5 * (score * score) - logarithm - math.log(s) - HALF_LOG_2_PI


lognorm = WithQuantiles(
    "lognorm",
    ["s"],
    _lognorm_logpdf,
    Standard(
        cdf=lambda z, s: math.norm_cdf(_lognorm_score(z, s)),
        sf=lambda z, s: math.norm_cdf(-_lognorm_score(z, s)),
        logcdf=lambda z, s: log_norm_cdf(_lognorm_score(z, s)),
        logsf=lambda z, s: log_norm_cdf(-_lognorm_score(z, s)),
    ),
    lambda q, s: math.exp(s * math.norm_ppf(q)),
    is_outside=lambda z, s: z <= 0.0,
    is_invalid=_is_not_positive,
)


uniform = WithQuantiles(
    "uniform",
    [],
    lambda z: 0.0 * z,
    Standard(
        cdf=_in_unit_interval,
        sf=lambda z: _in_unit_interval(1.0 - z),
        logcdf=lambda z: math.log(_in_unit_interval(z)),
        logsf=lambda z: math.log(_in_unit_interval(1.0 - z)),
    ),
    lambda q: q,
    is_outside=_is_outside_unit_interval,
)
