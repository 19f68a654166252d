"""Functions of Values and numbers that log-densities are composed of, stable in the tails."""

from __future__ import annotations

import math as plain
from typing import Any

from gradwalk import math
from gradwalk.functions.rows import divide
from gradwalk.value.value import Value

HALF_LOG_2PI = 0.5 * plain.log(2.0 * plain.pi)
_SERIES_FROM = 10.0
# B(2k) / (2k (2k - 1)), the coefficients of Stirling's series (DLMF 5.11.1).
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)


def choose(condition: Any, x: Any, y: Any) -> Any:
    """Return x where a condition holds, else y.

    The condition is a Value in recorded functions, and a plain number otherwise. The chosen number is then returned
    without an operation, unless a plain number would then replace a Value.
    """
    if isinstance(condition, Value):
        return math.where(condition, x, y)
    chosen, other = (x, y) if condition else (y, x)
    return math.where(condition, x, y) if isinstance(other, Value) and not isinstance(chosen, Value) else chosen


def is_fractional(x: Any) -> Any:
    """Return whether x is not an integer: a bool, or 1 or 0. nan counts as an integer."""
    return math.floor(x) < x


def xlogy(x: Any, y: Any) -> Any:
    """Return x log(y), and 0 with derivatives 0 at x = y = 0."""
    return x * math.log(choose(_are(x, 0.0, y, 0.0), 1.0, y))


def xlog1py(x: Any, y: Any) -> Any:
    """Return x log(1 + y), and 0 with derivatives 0 at x = 0, y = -1."""
    return x * math.log1p(choose(_are(x, 0.0, y, -1.0), 0.0, y))


def betaln(a: Any, b: Any) -> Any:
    """Return the logarithm of the beta function for a, b > 0.

    With Stirling's formula for each gamma function, the large terms cancel symbolically, so that no accuracy is lost if
    a or b is large.
    """
    corrections = _stirling_correction(a) + _stirling_correction(b) - _stirling_correction(a + b)
    powers = (a - 0.5) * math.log1p(divide(b, a)) + (b - 0.5) * math.log1p(divide(a, b)) + 0.5 * math.log(a + b)
    return HALF_LOG_2PI + corrections - powers


def log_ndtr(x: Any) -> Any:
    """Return the logarithm of the normal distribution function."""
    scaled = x * plain.sqrt(0.5)
    lower = math.log(0.5 * math.erfcx(-scaled)) - scaled * scaled
    return choose(x < -1.0, lower, math.log1p(-0.5 * math.erfc(scaled)))


def _stirling_correction(x: Any) -> Any:
    """Return lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2 for x > 0."""
    inverse = divide(1.0, x)
    square = inverse * inverse
    series: Any = 0.0
    for coefficient in reversed(_STIRLING):
        series = series * square + coefficient
    small = math.lgamma(x) - (x - 0.5) * math.log(x) + x - HALF_LOG_2PI
    return choose(x < _SERIES_FROM, small, series * inverse)


def _are(x: Any, first: float, y: Any, second: float) -> Any:
    """Return whether x and y have these values: a bool, or 1 or 0."""
    is_first = x == first
    if not isinstance(is_first, Value):
        return is_first and y == second
    return is_first * (y == second)
