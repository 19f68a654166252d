"""Products with logarithms that are 0 where a factor is 0, such as `xlogy` and `entr`; `logit` and `expit`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from gradwalk.functions import rows
from gradwalk.functions.special.composition import apply_pointwise, choose, is_between, select
from gradwalk.value.value import Value

Scalar = TypeVar("Scalar", float, Value)


def xlogy(x: Scalar | float, y: Scalar | float) -> Scalar:
    """Compute x · log(y), which is 0 if x = 0, like `scipy.special.xlogy`.

    d/dx = log(y)
    d/dy = x / y, and 0 if x = y = 0

    Args:
        x: A `Value` or a real number, or an array of these.
        y: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if no operand is a `Value`. If x = 0, the result is 0 unless y is nan.

    Example:
        >>> xlogy(0.0, 0.0)
        0.0
    """
    result: Scalar = apply_pointwise("xlogy", times_log, (x, y))
    return result


def times_log(x: Any, y: Any) -> Any:
    """Compute `xlogy` of Values and floats."""
    return _times_logarithm(x, y, rows.log, 0.0)


def xlog1py(x: Scalar | float, y: Scalar | float) -> Scalar:
    """Compute x · log(1 + y), which is 0 if x = 0, like `scipy.special.xlog1py`.

    d/dx = log(1 + y)
    d/dy = x / (1 + y), and 0 if x = 0 and y = -1

    Args:
        x: A `Value` or a real number, or an array of these.
        y: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if no operand is a `Value`. If x = 0, the result is 0 unless y is nan.

    Example:
        >>> round(xlog1py(2.0, 1e-20) * 1e20, 6)
        2.0
    """
    result: Scalar = apply_pointwise("xlog1py", times_log1p, (x, y))
    return result


def times_log1p(x: Any, y: Any) -> Any:
    """Compute `xlog1py` of Values and floats."""
    return _times_logarithm(x, y, rows.log1p, -1.0)


def _times_logarithm(x: Any, y: Any, logarithm: Callable[[Any], Any], lowest: float) -> Any:
    """Compute x times the logarithm of y, which is 0 for x = 0 even if the logarithm is infinite or nan."""
    is_nothing = (x == 0.0) * ((y <= lowest) + (y == math.inf))
    return select(
        is_nothing,
        lambda: _zero_with_infinite_slope(choose(is_nothing, x, 0.0), y),
        lambda: x * logarithm(choose(is_nothing, 1.0, y)),
    )


def _zero_with_infinite_slope(x: Any, y: Any) -> Any:
    """Return 0 for x = 0, with the derivative inf if y is inf, else -inf. The function is ±sqrt(x): 0 · inf is nan."""
    root = rows.sqrt(x)
    return choose(y == math.inf, root, 0.0 - root)


def entr(x: Scalar) -> Scalar:
    """Compute the entropy -x · log(x) of a probability, like `scipy.special.entr`.

    d/dx = -1 - log(x)

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number: 0 if x = 0, and -inf if x < 0.

    Example:
        >>> entr(0.0), round(entr(0.5), 6)
        (0.0, 0.346574)
    """
    result: Scalar = apply_pointwise("entr", _entr, (x,))
    return result


def _entr(x: Any) -> Any:
    is_negative = x < 0.0
    return rows.where(is_negative, -math.inf, 0.0 - _xlogx(rows.where(is_negative, 1.0, x)))


def _xlogx(x: Any) -> Any:
    return times_log(x, x)


def rel_entr(x: Scalar | float, y: Scalar | float) -> Scalar:
    """Compute the relative entropy x · log(x / y), like `scipy.special.rel_entr`.

    d/dx = 1 + log(x / y)
    d/dy = -x / y

    Args:
        x: A `Value` or a real number, or an array of these.
        y: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if no operand is a `Value`: 0 if x = 0 and y >= 0, and inf outside of the domain x > 0
        and y > 0.

    Example:
        >>> round(rel_entr(0.5, 0.25), 6), rel_entr(0.0, 0.0)
        (0.346574, 0.0)
    """
    result: Scalar = apply_pointwise("rel_entr", _rel_entr, (x, y))
    return result


def _rel_entr(x: Any, y: Any) -> Any:
    is_inside = (x > 0.0) * (y > 0.0)
    is_zero = (x == 0.0) * (y >= 0.0)
    is_nan = 1.0 - (x == x) * (y == y)
    a, b = rows.where(is_inside, x, 1.0), rows.where(is_inside, y, 1.0)
    outside = rows.where(is_nan, math.nan, rows.where(is_inside + is_zero, 0.0, math.inf))
    return select(
        is_inside,
        lambda: a * _logarithm_of_ratio(a, b),
        # The derivative with respect to x is -inf at x = 0.
        lambda: rows.where(is_zero, 0.0 - rows.sqrt(rows.where(is_zero, x, 1.0)), outside),
    )


def _logarithm_of_ratio(x: Any, y: Any) -> Any:
    """Compute log(x / y) for positive numbers, accurate also if they are nearly equal."""
    is_near = is_between(0.5 * x, y, 2.0 * x)
    return select(
        is_near,
        lambda: rows.log1p(rows.divide(rows.where(is_near, x, 1.0) - rows.where(is_near, y, 1.0), y)),
        lambda: rows.log(x) - rows.log(y),
    )


def kl_div(x: Scalar | float, y: Scalar | float) -> Scalar:
    """Compute the term x · log(x / y) - x + y of the Kullback-Leibler divergence, like `scipy.special.kl_div`.

    d/dx = log(x / y)
    d/dy = 1 - x / y

    Args:
        x: A `Value` or a real number, or an array of these.
        y: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if no operand is a `Value`: y if x = 0 and y >= 0, and inf outside of the domain x > 0
        and y > 0.

    Example:
        >>> kl_div(0.5, 0.5), kl_div(0.0, 2.0)
        (0.0, 2.0)
    """
    result: Scalar = apply_pointwise("kl_div", _kl_div, (x, y))
    return result


def _kl_div(x: Any, y: Any) -> Any:
    is_finite = (x >= 0.0) * (y >= 0.0) * (x < math.inf) * (y < math.inf)
    divergence = _rel_entr(x, y) + rows.where(is_finite, y - x, 0.0)
    is_infinite = (y == math.inf) * (x >= 0.0) * (x < math.inf)
    return rows.where(is_infinite, math.inf, divergence)


def logit(x: Scalar) -> Scalar:
    """Compute log(x / (1 - x)), the inverse of `expit`, like `scipy.special.logit`.

    d/dx = 1 / (x · (1 - x))

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number: -inf at 0, inf at 1, and nan outside of [0, 1].

    Example:
        >>> round(logit(0.75), 6)
        1.098612
    """
    result: Scalar = apply_pointwise("logit", _logit, (x,))
    return result


def _logit(x: Any) -> Any:
    is_central = is_between(0.25, x, 0.75)  # where 2 · x - 1 is exact for x >= 0.25, and the logarithms may cancel
    return select(
        is_central,
        lambda: 2.0 * rows.atanh(2.0 * rows.where(is_central, x, 0.5) - 1.0),
        lambda: rows.log(x) - rows.log1p(-x),
    )


def expit(x: Scalar) -> Scalar:
    """Compute 1 / (1 + exp(-x)). This is `sigmoid` under the name of `scipy.special.expit`.

    d/dx = out · (1 - out)

    Args:
        x: A `Value` or a real number, or an array of these.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> round(expit(0.5), 6)
        0.622459
    """
    result: Scalar = rows.sigmoid(x)
    return result
