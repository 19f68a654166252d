"""What the functions of this package have in common: arrays of Values, and whether their numbers are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk import math
from gradwalk.value.modes import is_staging
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value

Axis = int | tuple[int, ...] | None


def holds_values(*arrays: Any) -> bool:
    """Return whether one of some arrays is an object array, as arrays of Values are.

    Args:
        *arrays: Arrays.

    Returns:
        True or False.
    """
    return any(array.dtype == object for array in arrays)


def are_known(*arrays: Any) -> bool:
    """Return whether the numbers in arrays may decide: not while `jit` or `vmap` records, as that is for all numbers.

    Args:
        *arrays: Arrays.

    Returns:
        True or False.
    """
    return not (is_staging() and holds_values(*arrays))


def numbers(array: Any) -> Any:
    """Return the numbers of an array of Values as an array of float64; any other array as it is.

    Args:
        array: An array.

    Returns:
        An array of the same shape.
    """
    if array.dtype != object:
        return array
    flat = [primal_of(x) if isinstance(x, Value) else x for x in array.ravel()]
    return numpy.array(flat, numpy.float64).reshape(array.shape)


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


def reduced(function: Callable[[list[Any]], Any], array: Any, axis: Axis, keepdims: bool = False) -> Any:
    """Apply a function to the elements along some axes.

    Args:
        function: A function of a list of elements that returns one.
        array: The array.
        axis: An axis, or several, or None for all of them.
        keepdims: Whether the axes stay, with length 1.

    Returns:
        An object array of the results.
    """
    axes = range(array.ndim) if axis is None else numpy.atleast_1d(axis).tolist()
    moved = numpy.moveaxis(array, axes, range(-len(axes), 0))
    kept, gone = moved.shape[: array.ndim - len(axes)], moved.shape[array.ndim - len(axes) :]
    rows = moved.reshape(*kept, int(numpy.prod(gone)))
    results = of_objects([function(rows[at].tolist()) for at in numpy.ndindex(kept)], kept)
    return numpy.expand_dims(numpy.asarray(results), tuple(axes))[()] if keepdims else results


def exchanged(exchange: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return two elements, exchanged where a recorded condition holds.

    Args:
        exchange: The condition.
        x: The first.
        y: The second.

    Returns:
        Both.
    """
    return math.where(exchange, y, x), math.where(exchange, x, y)
