"""Functions related to the gamma function: `betaln`, `polygamma`, `zeta`."""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import Any, TypeVar

from gradwalk.functions import rows
from gradwalk.functions.special.composition import (
    BERNOULLI,
    HALF_LOG_2_PI,
    apply_pointwise,
    choose,
    is_between,
    polynomial,
    select,
)
from gradwalk.value.value import Value

Scalar = TypeVar("Scalar", float, Value)

_STIRLING = [b / (2 * j * (2 * j - 1)) for j, b in enumerate(BERNOULLI[:9], 1)]
_EULER_MACLAURIN = [b / math.factorial(2 * j) for j, b in enumerate(BERNOULLI, 1)]
_FAR = 1e-150  # ratio of the operands of betaln below which gamma(b) / gamma(a + b) is b^-a
_TERMS = 10  # of the zeta function, before the rest is given by the Euler-Maclaurin formula


def stirling_error(x: Any) -> Any:
    """Compute lgamma(x) - (x - 1/2) · log(x) + x - log(2 · π) / 2 for x > 0.

    Sources: DLMF 5.11.1 for x >= 8; C. Loader, "Fast and accurate computation of binomial probabilities", 2000.
    """
    return select(x >= 8.0, lambda: _stirling_series(x), lambda: _small_stirling_error(x))


def _stirling_series(x: Any) -> Any:
    inverse = rows.divide(1.0, x)
    return polynomial(inverse * inverse, _STIRLING[::-1]) * inverse


def _small_stirling_error(x: Any) -> Any:
    return rows.lgamma(x) - ((x - 0.5) * rows.log(x) - x + HALF_LOG_2_PI)


def betaln(a: Scalar | float, b: Scalar | float) -> Scalar:
    """Compute the logarithm of the absolute value of the beta function, like `scipy.special.betaln`.

    d/da = digamma(a) - digamma(a + b)
    d/db = digamma(b) - digamma(a + b)

    Args:
        a: A `Value` or a real number, or an array of these.
        b: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if no operand is a `Value`: lgamma(a) + lgamma(b) - lgamma(a + b), without the
        cancellation of this sum for large operands.

    Example:
        >>> round(betaln(1e20, 2.0), 6)
        -92.103404
    """
    result: Scalar = apply_pointwise("betaln", _betaln, (a, b))
    return result


def _betaln(a: Any, b: Any) -> Any:
    less, more = rows.minimum(a, b), rows.maximum(a, b)
    is_usual = is_between(0.0, less, math.inf) * is_between(0.0, more, math.inf) * (less >= _FAR * more)
    return select(
        is_usual,
        lambda: log_beta(choose(is_usual, a, 1.0), choose(is_usual, b, 1.0)),
        lambda: _betaln_elsewhere(less, more),
    )


def _betaln_elsewhere(less: Any, more: Any) -> Any:
    """Compute betaln of infinite and of negative operands, and of positive operands whose ratio may overflow."""
    is_far = (less > 0.0) * (more < math.inf)
    is_infinite = (less > 0.0) * (more == math.inf)
    near_0, huge = choose(is_far, less, 1.0), choose(is_far, more, 1.0)
    return select(
        is_far,
        lambda: rows.lgamma(near_0) - near_0 * rows.log(huge),
        lambda: choose(is_infinite, -math.inf, rows.lgamma(less) + rows.lgamma(more) - rows.lgamma(less + more)),
    )


def log_beta(a: Any, b: Any) -> Any:
    """Compute the logarithm of the beta function of positive numbers, whose ratio must be between 1e-300 and 1e300.

    With Stirling's formula for each gamma function, the large terms cancel symbolically.
    """
    corrections = stirling_error(a) + stirling_error(b) - stirling_error(a + b)
    powers = (a - 0.5) * rows.log1p(rows.divide(b, a)) + (b - 0.5) * rows.log1p(rows.divide(a, b))
    return HALF_LOG_2_PI + corrections - powers - 0.5 * rows.log(a + b)


def polygamma(n: int, x: Scalar) -> Scalar:
    """Compute the n-th derivative of the digamma function, like `scipy.special.polygamma`.

    d/dx = polygamma(n + 1, x)

    Args:
        n: The order, an integer >= 0. The order 0 is `digamma`.
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number. Sources: DLMF 5.15.1 for x > 0, and 5.15.6 for x < 0.

    Raises:
        TypeError: If `n` is not an integer.
        ValueError: If `n` is negative.

    Example:
        >>> round(polygamma(2, 1.0), 6)
        -2.404114
    """
    try:
        order = operator.index(n)
    except TypeError:
        raise TypeError(f"the order n of polygamma() must be an int, got {type(n).__name__}") from None
    if order < 0:
        raise ValueError(f"the order n of polygamma() must be at least 0, got {order}")
    named = (rows.digamma, rows.trigamma)
    result: Scalar = apply_pointwise("polygamma", named[order] if order < 2 else partial(_polygamma, order), (x,))
    return result


def _polygamma(n: int, x: Any) -> Any:
    is_positive = x > 0.0
    sign = 1.0 if n % 2 else -1.0
    factor = sign * rows.gamma(n + 1.0)
    return select(
        is_positive,
        lambda: factor * _hurwitz(n + 1.0, rows.where(is_positive, x, 1.0)),
        lambda: -sign * factor * _hurwitz(n + 1.0, 1.0 - rows.where(is_positive, 0.0, x)) - _cotangent_slope(n, x),
    )


def _cotangent_slope(n: int, x: Any) -> Any:
    """Compute the n-th derivative of π · cot(π · x): a polynomial in c = cot(π · x), because c' = -π · (1 + c²)."""
    coefficients = [math.pi, 0.0]  # from the highest power to the constant
    for _ in range(n):
        slopes = [-math.pi * k * c for k, c in zip(range(len(coefficients) - 1, 0, -1), coefficients, strict=False)]
        coefficients = [p + q for p, q in zip([*slopes, 0.0, 0.0], [0.0, 0.0, *slopes], strict=True)]
    angle = math.pi * (x - rows.rint(x))
    return polynomial(rows.divide(rows.cos(angle), rows.sin(angle)), coefficients)


def zeta(x: Scalar | float, q: Scalar | float | None = None) -> Scalar:
    """Compute the Riemann zeta function of x, or the Hurwitz zeta function, the sum of (q + k)^(-x) for k = 0, 1, ...

    d/dq = -x · zeta(x + 1, q)

    Args:
        x: A `Value` or a real number, or an array of these. For the Hurwitz zeta function, x > 1.
        q: A `Value` or a real number > 0, or an array of these. None for the Riemann zeta function, with any x.

    Returns:
        A new `Value`, or a float if no operand is a `Value`: inf at x = 1 and at q = 0, and nan outside of the domain.
        Arguments have the order of `scipy.special.zeta`. Sources: DLMF 25.2.9, 25.4.1 and 25.11.7.

    Example:
        >>> round(zeta(2.0), 6), round(zeta(2.0, 3.0), 6)
        (1.644934, 0.394934)
    """
    result: Scalar = (
        apply_pointwise("zeta", _riemann, (x,)) if q is None else apply_pointwise("zeta", _zeta_of_two, (x, q))
    )
    return result


def _riemann(x: Any) -> Any:
    is_negative = x < 0.0
    series = select(
        x == 1.0,
        lambda: math.inf,
        lambda: _hurwitz(rows.where(is_negative, 1.0 - x, x), 1.0),
    )
    return select(is_negative, lambda: _reflection(rows.where(is_negative, x, -0.5)) * series, lambda: series)


def _reflection(x: Any) -> Any:
    """Compute zeta(x) / zeta(1 - x) for x < 0, which is 0 at negative even numbers."""
    quarter = 0.25 * x
    turn = 2.0 * math.pi * (quarter - rows.rint(quarter))
    sine = rows.where(0.5 * x == rows.rint(0.5 * x), 2.0 * quarter - rows.rint(0.5 * x), rows.sin(turn))
    powers = rows.power(2.0 * math.pi, 0.5 * x)
    return (powers * rows.gamma(1.0 - x)) * (powers / math.pi) * sine


def _zeta_of_two(x: Any, q: Any) -> Any:
    is_inside = (x > 1.0) * is_between(0.0, q, math.inf)
    is_pole = (x == 1.0) * (q > 0.0) + (x > 1.0) * (q == 0.0)
    is_zero = (x > 1.0) * (q == math.inf)
    s, w = rows.where(is_inside, x, 2.0), rows.where(is_inside, q, 1.0)
    outside = rows.where(is_pole, math.inf, rows.where(is_zero + is_inside, 0.0, math.nan))
    return select(is_inside, lambda: _hurwitz(s, w), lambda: outside)


def _hurwitz(s: Any, q: Any) -> Any:
    """Compute the Hurwitz zeta function for q > 0 by the Euler-Maclaurin formula."""
    total: Any = 0.0
    for k in range(_TERMS):
        total = total + rows.power(q + k, -s)
    w = q + _TERMS
    last = rows.power(w, -s)
    order = rows.minimum(s, 1e6)  # `last` is 0 for larger s
    term = rows.divide(order * last, w)
    rest = last * rows.divide(w, s - 1.0) + 0.5 * last
    for j, coefficient in enumerate(_EULER_MACLAURIN):
        rest = rest + coefficient * term
        term = rows.divide(rows.divide(term * (order + (2 * j + 1)), w) * (order + (2 * j + 2)), w)
    return total + rest
