"""Functions of Values and numbers, applied to each element of arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.exceptions import AxisError

from gradwalk.value.node import ValueNode

COMPARISONS: dict[Any, Callable[[Any, Any], Any]] = {
    numpy.less: operator.lt,
    numpy.less_equal: operator.le,
    numpy.greater: operator.gt,
    numpy.greater_equal: operator.ge,
    numpy.equal: operator.eq,
    numpy.not_equal: operator.ne,
}

Axis = int | tuple[int, ...] | None


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


def along(function: Callable[[list[Any]], Sequence[Any]], operand: Any, axis: Axis) -> Any:
    """Apply a function of a list, which returns as many elements as it is given, along some axes of an array.

    Args:
        function: A function of a list of Values and numbers.
        operand: An array, or a list that NumPy makes one of.
        axis: An axis, or several, or None for all of them.

    Returns:
        An array of the same shape: of Values and numbers as objects, else of floats.

    Raises:
        AxisError: If the array has no such axis.
        TypeError: If an axis is no integer.
        ValueError: If an axis is named twice.
    """
    array = as_array(operand)
    axes = counted_axes(axis, array.ndim)
    last = range(-len(axes), 0)
    moved = numpy.moveaxis(array, axes, last)
    flat = of_objects([x for row in _rows(moved, len(axes)) for x in function(row)], (moved.size,))
    return numpy.moveaxis(_of_numbers_or_values(flat, float).reshape(moved.shape), last, axes)


def reduced(function: Callable[[list[Any]], Any], array: Any, axis: Axis, keepdims: bool = False) -> Any:
    """Apply a function to the elements along some axes.

    Args:
        function: A function of a list of elements that returns one.
        array: The array.
        axis: An axis, or several, or None for all of them.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        An array of the results: of Values and numbers as objects, else of floats. Without dimensions, the result.

    Raises:
        AxisError: If the array has no such axis.
        TypeError: If an axis is no integer.
        ValueError: If an axis is named twice.
    """
    axes = counted_axes(axis, array.ndim)
    moved = numpy.moveaxis(array, axes, range(-len(axes), 0))
    results = [function(row) for row in _rows(moved, len(axes))]
    if len(axes) == array.ndim and not keepdims:
        return results[0]
    found = _of_numbers_or_values(of_objects(results, (len(results),)), float)
    kept = found.reshape(moved.shape[: array.ndim - len(axes)])
    return numpy.expand_dims(kept, axes) if keepdims else kept


def counted_axes(axis: Axis, dimensions: int) -> tuple[int, ...]:
    """Return axes as numbers from 0 on.

    Args:
        axis: An axis, or several, or None for all of them; from the end where they are negative.
        dimensions: How many axes there are.

    Returns:
        The axes.

    Raises:
        AxisError: If there is no such axis.
        TypeError: If an axis is no integer.
        ValueError: If an axis is named twice.
    """
    if axis is None:
        return tuple(range(dimensions))
    try:
        given = [operator.index(each) for each in (axis if isinstance(axis, tuple) else (axis,))]
    except TypeError:
        raise TypeError(f"axis is an integer, a tuple of integers, or None for all axes, not {axis!r}") from None
    for each in given:
        if not -dimensions <= each < dimensions:
            raise AxisError(each, dimensions)
    axes = tuple([each % dimensions for each in given])
    if len(set(axes)) < len(axes):
        raise ValueError(f"axis={axis!r} names an axis of an array of dimension {dimensions} twice")
    return axes


def of_objects(elements: Sequence[Any], shape: Sequence[int]) -> Any:
    """Return an object array of some shape; the element itself where the shape is ().

    Args:
        elements: The elements in order.
        shape: The shape.

    Returns:
        The array.
    """
    array = numpy.empty(len(elements), dtype=object)
    array[:] = elements
    return array.reshape(tuple(shape))[()]


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


def _rows(array: Any, gone: int) -> list[list[Any]]:
    """The elements along the last axes of an array, for each place along the others."""
    kept = array.shape[: array.ndim - gone]
    rows = array.reshape(*kept, math.prod(array.shape[array.ndim - gone :]))
    return [rows[at].tolist() for at in numpy.ndindex(kept)]


def _of_numbers_or_values(objects: Any, dtype: type) -> Any:
    return objects if any(isinstance(x, ValueNode) for x in objects.flat) else objects.astype(dtype)


def of_object(x: Any) -> Any:
    """Return a Value as an object array without dimensions, and anything else as it is.

    Args:
        x: Any object.

    Returns:
        An array, or x.
    """
    if not isinstance(x, ValueNode):
        return x
    array = numpy.empty((), dtype=object)
    array[()] = x
    return array
