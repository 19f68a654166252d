"""Functions of Values and numbers, applied to each element of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.value.node import ValueNode


def are_there(operands: tuple[Any, ...]) -> bool:
    """Return whether an operand is an array or a list.

    Args:
        operands: Any objects.

    Returns:
        Whether NumPy makes an array with dimensions of one of them. Sequences of different lengths are none.
    """
    return any(isinstance(x, (list, tuple)) or getattr(x, "ndim", 0) for x in operands)


def elementwise(function: Callable[..., Any], operands: tuple[Any, ...], dtype: type = float) -> Any:
    """Apply a function to each element of arrays, which are broadcast as NumPy does.

    Args:
        function: A function of Values and numbers.
        operands: Arrays, lists, Values and numbers.
        dtype: The type of the result where there are no Values in it.

    Returns:
        An array of the results: of Values and numbers as objects, else of numbers.

    Raises:
        ValueError: If the shapes of the operands do not fit, or a list has rows of different lengths.
    """
    with numpy.errstate(all="ignore"):  # 1/0 is inf without a word, as it is of numbers
        found: Any = numpy.frompyfunc(function, len(operands), 1)(*map(as_array, operands))
    return _of_numbers_or_values(found, dtype)


def along(function: Callable[[list[Any]], Sequence[Any]], operand: Any, axis: int) -> Any:
    """Apply a function of a list, which returns as many elements as it is given, along an axis of an array.

    Args:
        function: A function of a list of Values and numbers.
        operand: An array, or a list that NumPy makes one of.
        axis: The axis.

    Returns:
        An array of the same shape: of Values and numbers as objects, else of floats.

    Raises:
        AxisError: If the array has no such axis.
    """
    moved = numpy.moveaxis(as_array(operand), axis, -1)
    rows = [function(moved[at].tolist()) for at in numpy.ndindex(moved.shape[:-1])]
    flat = numpy.empty(moved.size, dtype=object)
    flat[:] = [x for row in rows for x in row]
    return numpy.moveaxis(_of_numbers_or_values(flat, float).reshape(moved.shape), -1, axis)


def without_dimensions(operand: Any) -> Any:
    """Return what is in an array without dimensions, and anything else as it is.

    Args:
        operand: Any object.

    Returns:
        A Value, a number, or the object.
    """
    return operand[()] if isinstance(operand, numpy.ndarray) and not operand.ndim else operand


def as_array(operand: Any) -> Any:
    """Return an array of an operand; NumPy would ask a Value itself what to do with it.

    Args:
        operand: An array, a list, a Value or a number.

    Returns:
        The array.
    """
    array = numpy.empty((), dtype=object)
    array[()] = operand
    return array if isinstance(operand, ValueNode) else numpy.asarray(operand)


def _of_numbers_or_values(objects: Any, dtype: type) -> Any:
    return objects if any(isinstance(x, ValueNode) for x in objects.flat) else objects.astype(dtype)
