"""Tools to write special functions as compositions of operations: for floats, Values and arrays.

A composition has derivatives of any order, because it consists of operations. Its series, quadratures and iterations
therefore have a fixed number of terms, which is large enough for the values and for their derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy

from gradwalk.functions import rows
from gradwalk.value import arrays
from gradwalk.value.convert import as_float, is_number
from gradwalk.value.value import Value

BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
    854513 / 138,
    -236364091 / 2730,
)  # the Bernoulli numbers B2, B4, ..., B24
HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)
CUT = 38.0  # integrals of exp(f) are cut off where f has decreased by this number: exp(-38) = 3e-17
_POINTS = 36
_SCALARS = frozenset([float, Value])  # types of operands that need no conversion


def apply_pointwise(name: str, function: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    """Apply a function of floats and Values to numbers and Values, or to each element of arrays.

    Raises `TypeError` if an operand has another type.
    """
    if _SCALARS.issuperset(map(type, operands)):
        return _apply_to_scalars(function, operands)
    if arrays.are_there(operands):
        return arrays.elementwise(partial(_apply_to_elements, name, function), operands)
    return _apply_to_elements(name, function, *map(arrays.without_dimensions, operands))


def _apply_to_elements(name: str, function: Callable[..., Any], *operands: Any) -> Any:
    return _apply_to_scalars(function, _as_scalars(name, operands))


def _apply_to_scalars(function: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    """Apply a function to Values and floats. The result is a Value if an operand is one."""
    result = function(*operands)
    if isinstance(result, Value) or Value not in map(type, operands):
        return result
    return rows.where(1.0, result, next(operand for operand in operands if isinstance(operand, Value)))


def _as_scalars(name: str, operands: tuple[Any, ...]) -> tuple[Value | float, ...]:
    if not all(isinstance(operand, Value) or is_number(operand) for operand in operands):
        given = ", ".join([type(operand).__name__ for operand in operands])
        raise TypeError(f"{name}() takes Values and real numbers, not ({given})")
    return tuple([operand if isinstance(operand, Value) else as_float(operand) for operand in operands])


def choose(condition: Any, x: Any, y: Any) -> Any:
    """Return x where a condition holds, else y.

    The condition is a comparison: a Value in recorded functions, and a plain number otherwise. The chosen number is
    then returned without an operation, unless a plain number would replace a Value.
    """
    if isinstance(condition, Value):
        return rows.where(condition, x, y)
    chosen, other = (x, y) if condition else (y, x)
    return rows.where(condition, x, y) if isinstance(other, Value) and not isinstance(chosen, Value) else chosen


def select(condition: Any, chosen: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """Return `chosen()` if the condition holds, else `otherwise()`.

    The condition is a comparison: a Value in recorded functions, where both results are computed.
    """
    if isinstance(condition, Value):
        return rows.where(condition, chosen(), otherwise())
    return chosen() if condition else otherwise()


def is_between(low: Any, x: Any, high: Any) -> Any:
    """Return the condition low < x < high."""
    return (low < x) * (x < high)


def polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Compute a polynomial by Horner's rule, given its coefficients from the highest power to the constant."""
    result: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


def integrate(f: Callable[[Any], Any], length: Any, power: int = 1) -> Any:
    """Integrate f from 0 to `length` by Gauss-Legendre quadrature with 36 points.

    Args:
        f: A function of floats or Values.
        length: The length of the interval.
        power: The variable of the quadrature is (x / length)^(1 / power). With a power of 2, there are more points near
            0.
    """
    total: Any = 0.0
    for point, weight in _quadrature(power):
        total = total + weight * f(length * point)
    return length * total


@cache
def _quadrature(power: int) -> list[tuple[float, float]]:
    points, weights = numpy.polynomial.legendre.leggauss(_POINTS)
    at = (points + 1.0) / 2.0
    return list(zip((at**power).tolist(), (0.5 * power * weights * at ** (power - 1)).tolist(), strict=True))
