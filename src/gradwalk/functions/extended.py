"""`log`, `maximum`, `minimum` and `hypot`, which accept more operands than the operations of these names in the table.

The module is compiled because Python functions with a variable number of parameters are slow to call.
"""

from __future__ import annotations

from typing import Any, TypeVar

from gradwalk.functions import rows
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.value.apply import apply
from gradwalk.value.value import Value

Scalar = TypeVar("Scalar", float, Value)

_LOG, _HYPOT = NAMES.index("log"), NAMES.index("hypot")
_MAXIMUM, _MINIMUM = NAMES.index("maximum"), NAMES.index("minimum")


def log(x: Scalar | float, base: Scalar | float | None = None) -> Scalar:
    """Return the natural logarithm of x, or the logarithm of x to a given base.

    d/dx = 1 / x

    Args:
        x: A `Value` or a real number.
        base: A `Value` or a real number. If it is given, the result is log(x) / log(base).

    Returns:
        A new `Value`, or a float if no operand is a `Value`.

    Example:
        >>> log(8.0, 2.0)
        3.0
    """
    result: Scalar = apply(_LOG, x) if base is None else rows.divide(apply(_LOG, x), apply(_LOG, base))
    return result


def maximum(*operands: Scalar | float) -> Scalar:
    """Return the largest of one or more operands; nan if any operand is nan.

    d/dx = 0.5 if x = y, else 0 if x < y, else 1

    More than two operands are compared from left to right, as in `maximum(maximum(x, y), z)`. If two operands share the
    largest value, each gets half of the gradient. If three do, the last gets half and the other two get a quarter each.

    Args:
        *operands: `Value`s or real numbers.

    Returns:
        A new `Value`, or a float if no operand is a `Value`. A single operand is returned unchanged.

    Raises:
        TypeError: If no operand is given.

    Example:
        >>> maximum(0.5, 2.0, 1.0)
        2.0
    """
    result: Scalar = _folded(_MAXIMUM, operands) if len(operands) != 2 else apply(_MAXIMUM, operands[0], operands[1])
    return result


def minimum(*operands: Scalar | float) -> Scalar:
    """Return the smallest of one or more operands; nan if any operand is nan.

    d/dx = 0.5 if x = y, else 0 if y < x, else 1

    More than two operands are compared from left to right, and equal operands share the gradient as in `maximum`.

    Args:
        *operands: `Value`s or real numbers.

    Returns:
        A new `Value`, or a float if no operand is a `Value`. A single operand is returned unchanged.

    Raises:
        TypeError: If no operand is given.

    Example:
        >>> minimum(0.5, 2.0, 1.0)
        0.5
    """
    result: Scalar = _folded(_MINIMUM, operands) if len(operands) != 2 else apply(_MINIMUM, operands[0], operands[1])
    return result


def _folded(opcode: int, operands: tuple[Any, ...]) -> Any:
    """Apply a binary operation from left to right to any number of operands other than two."""
    if not operands:
        raise TypeError(f"{NAMES[opcode]}() needs at least one operand")
    first, *others = operands
    if not others:
        return first if isinstance(first, Value) else apply(opcode, first, first)
    for operand in others:
        first = apply(opcode, first, operand)
    return first


def hypot(*coordinates: Scalar | float) -> Scalar:
    """Return the Euclidean length of a vector: the square root of the sum of the squares of its coordinates.

    d/dx = x / out

    Args:
        *coordinates: `Value`s or real numbers.

    Returns:
        A new `Value`, or a float if no coordinate is a `Value`. The length of a single coordinate is its absolute
        value. Without coordinates, the length is 0.

    Example:
        >>> hypot(2.0, 3.0, 6.0)
        7.0
    """
    result: Scalar = _length(coordinates) if len(coordinates) != 2 else apply(_HYPOT, coordinates[0], coordinates[1])
    return result


def _length(coordinates: tuple[Any, ...]) -> Any:
    """Return the length of a vector. Dividing the coordinates by the largest one keeps the squares from overflowing.

    `hypot(hypot(x, y), z)` is not used because it is not differentiable at x = y = 0. The length does not depend on the
    divisor, so no gradient flows through the divisor.
    """
    if len(coordinates) < 2:
        return rows.absolute(coordinates[0]) if coordinates else 0.0
    largest: Any = 0.0
    for coordinate in coordinates:
        largest = rows.fmax(largest, rows.stop_gradient(rows.absolute(coordinate)))
    is_infinite = rows.equal(largest, float("inf"))
    scale = rows.where(rows.equal(largest, 0.0) + is_infinite, 1.0, largest)
    shares = [rows.divide(coordinate, scale) for coordinate in coordinates]
    squares: Any = 0.0
    for share in shares:
        squares = squares + share * share
    # A vector with an infinite coordinate has infinite length, even if another coordinate is nan.
    length = scale * rows.sqrt(squares)
    return rows.where(rows.less(rows.equal(length, length), is_infinite), largest, length)
