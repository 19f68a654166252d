"""Incomplete gamma functions and exponential integrals: `gammainc`, `gammaincc`, `exp1`, `expi`.

For x > a + 1 the upper incomplete gamma function is computed, else the lower one, and the other one is 1 minus the
result. With D = x^a · exp(-x) / gamma(a + 1),

    gammainc(a, x) = D · (1 + x · (integral of exp(-(a + 1) · s - x · (exp(-s) - 1)) for s from 0 to infinity))
    gammaincc(a, x) = D · a · (integral of exp(a · s - x · (exp(s) - 1)) for s from 0 to infinity)

Both integrands are positive and decrease, so the sums of the quadrature do not cancel.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

from gradwalk.functions import rows
from gradwalk.functions.special.composition import (
    CUT,
    apply_pointwise,
    choose,
    integrate,
    is_between,
    polynomial,
    select,
)
from gradwalk.functions.special.gamma_family import stirling_error
from gradwalk.value.value import Value

Scalar = TypeVar("Scalar", float, Value)

_EULER = 0.5772156649015329
_HUGE = 1e10  # for larger shapes, the rounding errors of the quadrature would be larger than 1e-10


def gammainc(a: Scalar | float, x: Scalar | float) -> Scalar:
    """Compute the regularized lower incomplete gamma function, like `scipy.special.gammainc`.

    d/dx = x^(a - 1) · exp(-x) / gamma(a)

    Args:
        a: The shape, a `Value` or a real number >= 0, or an array of these.
        x: The limit of the integral, a `Value` or a real number >= 0, or an array of these.

    Returns:
        A new `Value`, or a float if no operand is a `Value`: nan outside of the domain. The function is differentiable
        with respect to both arguments. The relative error is about 1e-14 for a < 100, and grows with the square root of
        a to 1e-10.

    Example:
        >>> round(gammainc(2.0, 3.0), 6)
        0.800852
    """
    result: Scalar = apply_pointwise("gammainc", _gammainc, (a, x))
    return result


def _gammainc(a: Any, x: Any) -> Any:
    is_usual = _is_inside(a, x) * (a <= _HUGE)
    shape, limit = choose(is_usual, a, 1.0), choose(is_usual, x, 1.0)
    is_upper = shape + 1.0 < limit
    return select(
        is_usual,
        lambda: _complement_if(is_upper, _smaller_part(is_upper, shape, limit)),
        lambda: _elsewhere(a, x, 1.0),
    )


def gammaincc(a: Scalar | float, x: Scalar | float) -> Scalar:
    """Compute the regularized upper incomplete gamma function, 1 - gammainc(a, x), like `scipy.special.gammaincc`.

    d/dx = -x^(a - 1) · exp(-x) / gamma(a)

    Args:
        a: The shape, a `Value` or a real number >= 0, or an array of these.
        x: The limit of the integral, a `Value` or a real number >= 0, or an array of these.

    Returns:
        A new `Value`, or a float if no operand is a `Value`: nan outside of the domain. The function is differentiable
        with respect to both arguments. It is accurate where gammainc(a, x) rounds to 1. For the error, see `gammainc`.

    Example:
        >>> round(gammaincc(2.0, 3.0), 6)
        0.199148
    """
    result: Scalar = apply_pointwise("gammaincc", _gammaincc, (a, x))
    return result


def _gammaincc(a: Any, x: Any) -> Any:
    is_usual = _is_inside(a, x) * (a <= _HUGE)
    shape, limit = choose(is_usual, a, 1.0), choose(is_usual, x, 1.0)
    is_upper = shape + 1.0 < limit
    is_small = (shape < 0.5) * (1.0 - is_upper)
    return select(
        is_usual,
        lambda: select(
            is_small,
            lambda: _upper_of_small_shape(choose(is_small, shape, 0.25), choose(is_small, limit, 1.0)),
            lambda: _complement_if(1.0 - is_upper, _smaller_part(is_upper, shape, limit)),
        ),
        lambda: _elsewhere(a, x, -1.0),
    )


def log_gammainc(a: Any, x: Any) -> Any:
    """Compute log(gammainc(a, x)) of Values and floats, which is finite where gammainc underflows, for a <= 1e10."""
    is_usual = _is_inside(a, x) * (a <= _HUGE)
    shape, limit = choose(is_usual, a, 1.0), choose(is_usual, x, 1.0)
    is_upper = shape + 1.0 < limit

    def usual() -> Any:
        part = _log_smaller_part(is_upper, shape, limit)
        return select(is_upper, lambda: rows.log1mexp(part), lambda: part)

    return select(is_usual, usual, lambda: rows.log(choose(is_usual, 1.0, _elsewhere(a, x, 1.0))))


def log_gammaincc(a: Any, x: Any) -> Any:
    """Compute log(gammaincc(a, x)) of Values and floats, which is finite where gammaincc underflows, for a <= 1e10."""
    is_usual = _is_inside(a, x) * (a <= _HUGE)
    shape, limit = choose(is_usual, a, 1.0), choose(is_usual, x, 1.0)
    is_upper = shape + 1.0 < limit
    is_small = (shape < 0.5) * (1.0 - is_upper)

    def usual() -> Any:
        part = _log_smaller_part(is_upper, shape, limit)
        return select(is_upper, lambda: part, lambda: rows.log1mexp(part))

    def small() -> Any:
        return rows.log(_upper_of_small_shape(choose(is_small, shape, 0.25), choose(is_small, limit, 1.0)))

    return select(
        is_usual,
        lambda: select(is_small, small, usual),
        lambda: rows.log(choose(is_usual, 1.0, _elsewhere(a, x, -1.0))),
    )


def _elsewhere(a: Any, x: Any, sign: float) -> Any:
    """Return gammainc if the sign is 1, or gammaincc if it is -1, for huge shapes and outside of the domain."""
    is_huge = _is_inside(a, x) * (a > _HUGE)
    edge = _at_edge(a, x)
    shape, limit = rows.where(is_huge, a, 2.0 * _HUGE), rows.where(is_huge, x, 2.0 * _HUGE)
    return rows.where(is_huge, _share_of_huge_shape(shape, limit, sign), edge if sign > 0.0 else 1.0 - edge)


def _share_of_huge_shape(a: Any, x: Any, sign: float) -> Any:
    """Compute the first terms of Temme's uniform expansion, DLMF 8.12.3, 8.12.4 and 8.12.7, for x near a."""
    change = rows.minimum(rows.maximum(rows.divide(x - a, a), -1e-3), 1e-3)  # the result is 0 or 1 outside
    eta = change * polynomial(change, [-73 / 540, 7 / 36, -1 / 3, 1.0])
    root = rows.sqrt(a)
    rest = rows.divide(rows.norm_pdf(eta * root), root) * polynomial(eta, [-2 / 135, 1 / 12, -1 / 3])
    return rows.norm_cdf(sign * eta * root) - sign * rest


def _is_inside(a: Any, x: Any) -> Any:
    return (a >= 0.0) * (a < math.inf) * is_between(0.0, x, math.inf)


def _complement_if(condition: Any, share: Any) -> Any:
    return choose(condition, 1.0 - share, share)


def _at_edge(a: Any, x: Any) -> Any:
    """Return gammainc for a = inf, x = 0 or x = inf. At x = 0 it is x^a / gamma(a + 1), for the derivatives."""
    is_zero = (x == 0.0) * is_between(0.0, a, math.inf)
    shape = rows.where(is_zero, a, 1.0)
    near_zero = rows.divide(rows.power(rows.where(is_zero, x, 0.0), shape), rows.gamma(shape + 1.0))
    is_one = (x == math.inf) * (a >= 0.0) * (a < math.inf)
    is_none = (a == math.inf) * (x >= 0.0) * (x < math.inf)
    rest = rows.where(is_one, 1.0, rows.where(is_none + _is_inside(a, x), 0.0, math.nan))
    return rows.where(is_zero, near_zero, rest)


def _smaller_part(is_upper: Any, a: Any, x: Any) -> Any:
    """Return gammaincc(a, x) if `is_upper`, else gammainc(a, x)."""
    scale = _density(a, x)
    integral = tail_integral(is_upper, a, x)
    return choose(is_upper, scale * a * integral, scale * (1.0 + x * integral))


def _log_smaller_part(is_upper: Any, a: Any, x: Any) -> Any:
    """Return the logarithm of `_smaller_part`."""
    integral = tail_integral(is_upper, a, x)
    return _log_density(a, x) + rows.log(choose(is_upper, a * integral, 1.0 + x * integral))


def _log_density(a: Any, x: Any) -> Any:
    """Compute the logarithm of `_density`."""
    is_large = a >= 8.0
    large, small = choose(is_large, a, 8.0), choose(is_large, 1.0, a)
    return select(
        is_large,
        lambda: _log_scale(large, x) - 0.5 * rows.log(2.0 * math.pi * large),
        lambda: small * rows.log(x) - x - rows.lgamma(small + 1.0),
    )


def _density(a: Any, x: Any) -> Any:
    """Compute x^a · exp(-x) / gamma(a + 1). For a >= 8, exp(-x) and x^a / gamma(a + 1) could overflow or cancel."""
    is_large = a >= 8.0
    return select(
        is_large,
        lambda: _density_of_large_shape(choose(is_large, a, 8.0), choose(is_large, x, 8.0)),
        lambda: _density_of_small_shape(choose(is_large, 1.0, a), choose(is_large, 1.0, x)),
    )


def _density_of_small_shape(a: Any, x: Any) -> Any:
    limit = rows.minimum(x, 1e4)  # exp(-1e4) is 0
    half = rows.exp(-0.5 * limit)
    return half * rows.exp(a * rows.log(limit) - rows.lgamma(a + 1.0)) * half


def _density_of_large_shape(a: Any, x: Any) -> Any:
    """Compute the density by its distance from the mode: exp(a · log(x / a) - (x - a)), times a slowly varying factor.

    Source: C. Loader, "Fast and accurate computation of binomial probabilities", 2000.
    """
    return rows.divide(rows.exp(_log_scale(a, x)), rows.sqrt(2.0 * math.pi * a))


def _log_scale(a: Any, x: Any) -> Any:
    """Compute the logarithm of the density times sqrt(2 · π · a)."""
    return a * log_ratio(x, a, rows.divide(x - a, a)) - (x - a) - stirling_error(a)


def log_ratio(x: Any, y: Any, change: Any) -> Any:
    """Compute log(x / y), given (x - y) / y."""
    is_near = rows.absolute(change) < 0.5
    return select(
        is_near,
        lambda: rows.log1p(choose(is_near, change, 0.0)),
        lambda: rows.log(x) - rows.log(y),
    )


def tail_integral(is_upper: Any, a: Any, x: Any) -> Any:
    """Compute one of the integrals of the module's docstring: for gammaincc if `is_upper`, else for gammainc."""
    sign = rows.where(is_upper, 1.0, -1.0)
    power = rows.where(is_upper, a, a + 1.0)
    length = _cut(is_upper, rows.stop_gradient(power), rows.stop_gradient(x))
    return integrate(lambda s: rows.exp(power * (sign * s) - x * rows.expm1(sign * s)), length, power=2)


def _cut(is_upper: Any, a: Any, x: Any) -> Any:
    """Return an s where the logarithm of the integrand is about -38. The integral does not depend on it."""

    def upper() -> Any:
        # x · (exp(s) - 1 - s) >= x · s² / 2, and iterations of x · (exp(s) - 1) = 38 + a · s
        gap = rows.maximum(x - a, 0.0)
        s = rows.divide(2.0 * CUT, gap + rows.hypot(gap, rows.sqrt(2.0 * CUT * x)))
        for _ in range(3):
            s = rows.minimum(s, rows.log1p(rows.divide(CUT + a * s, x)))
        return s

    def lower() -> Any:
        # x · (exp(-s) - 1 + s) >= x · s² / (2 + s)
        b = 2.0 * (a - x) - CUT
        return rows.divide(4.0 * CUT, b + rows.hypot(b, rows.sqrt(8.0 * CUT * a)))

    return select(is_upper, upper, lower)


def _upper_of_small_shape(a: Any, x: Any) -> Any:
    """Compute gammaincc for a < 1/2 and x < 3/2 by a series, where gammainc may round to 1.

    Source: W. Gautschi, "A computational procedure for incomplete gamma functions", ACM Trans. Math. Softw. 5 (1979).
    """
    total: Any = 0.0
    term: Any = -1.0
    for k in range(1, 24):
        term = term * x * (-1.0 / k)
        total = total + rows.divide(term, a + k)
    logarithm, exponent = rows.lgamma(a + 1.0), a * rows.log(x)
    gamma_less_1, power_less_1 = rows.expm1(logarithm), rows.expm1(exponent)
    return rows.divide(gamma_less_1 - power_less_1 + a * (1.0 + power_less_1) * total, 1.0 + gamma_less_1)


def exp1(x: Scalar) -> Scalar:
    """Compute the exponential integral E1, the integral of exp(-t) / t from x to infinity, like `scipy.special.exp1`.

    d/dx = -exp(-x) / x

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number: inf at 0, and nan for x < 0. Sources: DLMF 6.6.2 for x < 1, and a
        quadrature of 6.2.2.

    Example:
        >>> round(exp1(1.0), 6)
        0.219384
    """
    result: Scalar = apply_pointwise("exp1", _exp1, (x,))
    return result


def _exp1(x: Any) -> Any:
    is_large = x > 1.0
    near, far = rows.where(is_large, 1.0, x), rows.minimum(rows.where(is_large, x, 2.0), 1e4)
    return select(
        is_large,
        lambda: rows.exp(-far) * tail_integral(1.0, 0.0, far),
        lambda: near * _entire_series(near) - _EULER - rows.log(near),
    )


def _entire_series(x: Any) -> Any:
    """Compute the sum of (-1)^(k + 1) · x^(k - 1) / (k · k!) for k = 1, 2, ..., for 0 < x <= 1."""
    return polynomial(x, [(-1.0) ** (k + 1) / (k * math.factorial(k)) for k in range(18, 0, -1)])


def expi(x: Scalar) -> Scalar:
    """Compute the exponential integral Ei, the principal value of the integral of exp(t) / t from -infinity to x.

    d/dx = exp(x) / x

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number: -inf at 0. `scipy.special.expi` has the same name. Sources:
        DLMF 6.2.5 for 0 < x < 50, 6.12.2 for larger x, and -exp1(-x) for negative x.

    Example:
        >>> round(expi(1.0), 6)
        1.895118
    """
    result: Scalar = apply_pointwise("expi", _expi, (x,))
    return result


def _expi(x: Any) -> Any:
    is_negative = x < 0.0
    is_large = x > 50.0
    near = rows.where(is_negative + is_large, 1.0, x)
    far = rows.where(is_large * (x < math.inf), x, 100.0)

    def positive() -> Any:
        return select(
            is_large,
            lambda: rows.where(x == math.inf, math.inf, _expi_of_large(far)),
            lambda: _EULER + rows.log(near) + _entire_part(near),
        )

    return select(is_negative, lambda: -_exp1(rows.where(is_negative, -x, 1.0)), positive)


def _entire_part(x: Any) -> Any:
    """Integrate (exp(x · t) - 1) / t from 0 to 1."""
    return integrate(lambda t: rows.expm1(x * t) * (1.0 / t), 1.0)


def _expi_of_large(x: Any) -> Any:
    inverse, half = rows.divide(1.0, x), rows.exp(0.5 * x)
    return half * inverse * polynomial(inverse, [float(math.factorial(k)) for k in range(30, -1, -1)]) * half
