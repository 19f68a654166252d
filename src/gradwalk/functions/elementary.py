"""Functions composed of the table's operations: clipping, activations, smooth approximations, angle conversions."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from gradwalk.functions import rows
from gradwalk.functions.sequences import logarithm_of_sum
from gradwalk.value.value import Value

Scalar = TypeVar("Scalar", float, Value)


def fabs(x: Scalar) -> Scalar:
    """Return the absolute value of x, like Python's `math.fabs`.

    d/dx = sign(x)

    Args:
        x: A `Value` or a real number.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> fabs(-0.5)
        0.5
    """
    result: Scalar = rows.absolute(x)
    return result


def modf(x: Scalar) -> tuple[Scalar, Scalar]:
    """Split x into its fractional part and its integer part, both with the sign of x.

    d/dx = 1 for the fractional part, 0 for the integer part

    Args:
        x: A `Value` or a real number.

    Returns:
        Two new `Value`s, or two floats if `x` is a number.

    Example:
        >>> modf(-2.5)
        (-0.5, -2.0)
    """
    is_infinite = rows.equal(rows.absolute(x), math.inf)
    fraction = rows.where(is_infinite, rows.copysign(0.0, x), rows.fmod(x, 1.0))
    whole = rows.copysign(rows.floor_divide(rows.absolute(x), 1.0), x)
    return fraction, rows.where(is_infinite, x, whole)


def degrees(x: Scalar) -> Scalar:
    """Convert an angle from radians to degrees.

    d/dx = 180 / π

    Args:
        x: A `Value` or a real number.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> degrees(math.pi / 2)
        90.0
    """
    result: Scalar = rows.multiply(x, 180.0 / math.pi)
    return result


def radians(x: Scalar) -> Scalar:
    """Convert an angle from degrees to radians.

    d/dx = π / 180

    Args:
        x: A `Value` or a real number.

    Returns:
        A new `Value`, or a float if `x` is a number.

    Example:
        >>> round(radians(90.0), 6)
        1.570796
    """
    result: Scalar = rows.multiply(x, math.pi / 180.0)
    return result


def elu(x: Scalar | float, alpha: Scalar | float = 1.0) -> Scalar:
    """Compute the exponential linear unit: x if x > 0, else alpha · (exp(x) - 1).

    d/dx = 1 if x > 0, else alpha · exp(x)

    Args:
        x: A `Value` or a real number.
        alpha: Scale of the result for x <= 0. The result approaches -alpha as x approaches -inf.

    Returns:
        A new `Value`, or a float if no operand is a `Value`. Source: Clevert, Unterthiner and Hochreiter, "Fast and
        accurate deep network learning by exponential linear units", ICLR 2016.

    Example:
        >>> round(elu(-1.0), 6)
        -0.632121
    """
    is_positive = rows.less(0.0, x)
    result: Scalar = rows.where(is_positive, x, rows.multiply(alpha, rows.expm1(_not_positive(is_positive, x))))
    return result


def leaky_relu(x: Scalar | float, negative_slope: Scalar | float = 0.01) -> Scalar:
    """Return x if x > 0, else negative_slope · x.

    d/dx = 1 if x > 0, else negative_slope

    Args:
        x: A `Value` or a real number.
        negative_slope: The derivative for x <= 0.

    Returns:
        A new `Value`, or a float if no operand is a `Value`.

    Example:
        >>> leaky_relu(-2.0)
        -0.02
    """
    is_positive = rows.less(0.0, x)
    result: Scalar = rows.where(is_positive, x, rows.multiply(negative_slope, _not_positive(is_positive, x)))
    return result


def _not_positive(is_positive: Any, x: Any) -> Any:
    """Return x if x <= 0, else 0. Programs compute both branches of a `where`, so both must be finite."""
    return rows.where(is_positive, 0.0, x)


def clip(x: Scalar | float, min: Scalar | float | None = None, max: Scalar | float | None = None) -> Scalar:
    """Limit x to the range from `min` to `max`; return `max` if `max` < `min`.

    d/dx = 1 between the bounds, 0 outside, 0.5 at a bound (the bound gets the other half)

    Args:
        x: A `Value` or a real number.
        min: The lower bound, or None for no lower bound.
        max: The upper bound, or None for no upper bound.

    Returns:
        A new `Value`, or a float if no operand is a `Value`.

    Example:
        >>> clip(3.0, 0.0, 1.0)
        1.0
    """
    above = rows.add(x, -0.0) if min is None else rows.maximum(x, min)
    result: Scalar = above if max is None else rows.minimum(above, max)
    return result


def smooth_abs(x: Scalar | float, width: Scalar | float = 1e-3) -> Scalar:
    """Compute sqrt(x² + width²), a smooth approximation of the absolute value that is too large by at most `width`.

    d/dx = x / out

    Args:
        x: A `Value` or a real number.
        width: The result at x = 0. Must be positive.

    Returns:
        A new `Value`, or a float if no operand is a `Value`. Source: Charbonnier, Blanc-Féraud, Aubert and Barlaud,
        "Two deterministic half-quadratic regularization algorithms for computed imaging", ICIP 1994.

    Example:
        >>> smooth_abs(3.0, 4.0)
        5.0
    """
    result: Scalar = rows.hypot(x, width)
    return result


def smooth_max(*operands: Scalar | float, temperature: Scalar | float = 1.0) -> Scalar:
    """Compute temperature · log(sum of exp(x / temperature)), a smooth approximation of the largest operand.

    d/dx = exp((x - out) / temperature)

    Args:
        *operands: One or more `Value`s or real numbers.
        temperature: Degree of smoothing. Must be positive. The result exceeds the largest of n operands by at most
            temperature · log(n).

    Returns:
        A new `Value`, or a float if no operand is a `Value`. Source: Boyd and Vandenberghe, Convex Optimization, 2004,
        section 3.1.5.

    Raises:
        TypeError: If no operand is given.

    Example:
        >>> round(smooth_max(1.0, 2.0, temperature=0.1), 6)
        2.000005
    """
    scaled = [rows.divide(operand, temperature) for operand in operands]
    if len(scaled) == 2:  # logaddexp is a single operation, whose derivatives are exact
        result: Scalar = rows.multiply(temperature, rows.logaddexp(*scaled))
        return result
    if not scaled:
        raise TypeError("smooth_max() and smooth_min() need at least one operand")
    return rows.multiply(temperature, logarithm_of_sum(scaled))  # type: ignore[no-any-return]


def smooth_min(*operands: Scalar | float, temperature: Scalar | float = 1.0) -> Scalar:
    """Compute -temperature · log(sum of exp(-x / temperature)), a smooth approximation of the smallest operand.

    d/dx = exp((out - x) / temperature)

    Args:
        *operands: One or more `Value`s or real numbers.
        temperature: Degree of smoothing. Must be positive. The result is less than the smallest of n operands by at
            most temperature · log(n).

    Returns:
        A new `Value`, or a float if no operand is a `Value`. Source: see `smooth_max`.

    Raises:
        TypeError: If no operand is given.

    Example:
        >>> round(smooth_min(1.0, 2.0, temperature=0.1), 6)
        0.999995
    """
    result: Scalar = rows.multiply(
        -1.0, smooth_max(*[rows.multiply(-1.0, operand) for operand in operands], temperature=temperature)
    )
    return result
