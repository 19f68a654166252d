"""The distribution function of Student's t distribution.

With u = z² / df, x = 1 / (1 + u), y = u / (1 + u) and F(a, b, x, y) = `left_factor`, the upper tail is

    |z| · pdf(z) / df · F(df / 2, 1/2, x, y)    for large z > 0
    1/2 - z · pdf(z) · F(1/2, df / 2, y, x)     for small |z|, where it is smooth also at 0

because it is half of an incomplete beta function (DLMF 8.17).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwalk import math
from gradwalk.functions.rows import divide, stop_gradient
from gradwalk.functions.special.composition import choose, polynomial, select
from gradwalk.functions.special.gamma_family import log_beta
from gradwalk.functions.special.incomplete_beta import left_factor
from gradwalk.functions.special.normal import log_norm_cdf
from gradwalk.stats.distributions.distribution import Standard

_NORMAL_DENSITY_FROM = 1e200  # degrees of freedom, also infinitely many, from which the density is a normal density
_NORMAL_FROM = 1e8  # degrees of freedom from which a function of z has a normal distribution
_LARGEST = 1e300
_LOG1P_SERIES = [(-1.0) ** k / (k + 1) for k in range(17, -1, -1)]


def logpdf(z: Any, df: Any) -> Any:
    """Return the logarithm of the density."""
    df = choose(df > _NORMAL_DENSITY_FROM, _NORMAL_DENSITY_FROM, df)
    return -0.5 * (df + 1.0) * math.log1p(divide(z * z, df)) - log_beta(0.5 * df, 0.5) - 0.5 * math.log(df)


def _sf(z: Any, df: Any) -> Any:
    """Return the probability of numbers above z."""
    return _select_by_size(z, df, lambda score: math.norm_cdf(-score), _finite_sf)


def _logsf(z: Any, df: Any) -> Any:
    """Return the logarithm of the probability of numbers above z."""
    return _select_by_size(z, df, lambda score: log_norm_cdf(-score), _finite_logsf)


def _select_by_size(z: Any, df: Any, normal: Callable[..., Any], finite: Callable[..., Any]) -> Any:
    """Return a function of the normal distribution for huge df and for infinite z, else a function of z and df."""
    is_infinite = math.abs(z) == math.inf
    is_normal = (df >= _NORMAL_FROM) + is_infinite
    finite_z = choose(is_infinite, 0.0, z)

    def of_normal() -> Any:
        score = _normal_score(finite_z, choose(is_normal, df, _NORMAL_FROM))
        return normal(choose(is_infinite, stop_gradient(z), score))

    return select(is_normal, of_normal, lambda: finite(finite_z, choose(is_normal, 1.0, df)))


def _finite_sf(z: Any, df: Any) -> Any:
    is_tail, factor = _tail_factor(z, df)
    part = math.exp(logpdf(z, df)) * factor * choose(is_tail, divide(math.abs(z), df), z)
    return choose(is_tail, choose(z < 0.0, 1.0 - part, part), 0.5 - part)


def _finite_logsf(z: Any, df: Any) -> Any:
    is_tail, factor = _tail_factor(z, df)
    is_upper = is_tail * (z > 0.0)
    log_density = logpdf(z, df)

    def upper() -> Any:
        size = choose(is_upper, z, 1.0)
        return log_density + math.log(divide(size, df)) + math.log(factor)

    def other() -> Any:
        part = math.exp(log_density) * factor * choose(is_tail, divide(math.abs(z), df), z)
        return choose(is_tail, math.log1p(-part), math.log(choose(is_tail, 0.5, 0.5 - part)))

    return select(is_upper, upper, other)


def _tail_factor(z: Any, df: Any) -> tuple[Any, Any]:
    """Return whether z is far from 0, and the factor F of the module's docstring."""
    u = _ratio_of_squares(z, df)
    x, y = divide(1.0, 1.0 + u), divide(u, 1.0 + u)
    half = 0.5 * df
    is_tail = x * (half + 2.5) <= half + 1.0
    operands = [(half, 0.5), (0.5, half), (x, y), (y, x)]
    return is_tail, left_factor(*[choose(is_tail, in_tail, near_0) for in_tail, near_0 in operands])


def _normal_score(z: Any, df: Any) -> Any:
    """Return a number whose normal probability is the probability of z, with a relative error of z² / (48 · df²).

    Source: G. W. Hill, "Student's t-distribution", Comm. ACM 13 (1970), the first term.
    """
    u = _ratio_of_squares(z, df)
    is_near = u < 0.1
    far = choose(is_near, 1.0, u)
    share = choose(is_near, polynomial(choose(is_near, u, 0.0), _LOG1P_SERIES), divide(math.log1p(far), far))
    return z * math.sqrt((1.0 - divide(0.5, df)) * share)


def _ratio_of_squares(z: Any, df: Any) -> Any:
    ratio = divide(z, df) * z
    return choose(ratio > _LARGEST, _LARGEST, ratio)


STANDARD = Standard(
    cdf=lambda z, df: _sf(-z, df),
    sf=_sf,
    logcdf=lambda z, df: _logsf(-z, df),
    logsf=_logsf,
)
