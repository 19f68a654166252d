"""Elementwise functions of whole arrays: `mapped`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.arrays import rows
from gradwalk.arrays.elements import Elements
from gradwalk.arrays.handles import handle_of, is_real
from gradwalk.arrays.keys import MOST_WIDTH, places_in
from gradwalk.arrays.traced_array import NOT_HANDLED, TracedArray, as_objects, implements, of_ordered
from gradwalk.trees.tree import type_of
from gradwalk.value.arrays import ValueArray, as_array
from gradwalk.value.convert import is_number
from gradwalk.value.modes import RecordingError, is_staging, is_without_gradient
from gradwalk.value.node import number_type_of
from gradwalk.value.value import Value

_MOST_STEPS = 32  # elementwise functions of a row that are applied before the result is stored


@implements(map)
def mapped(function: Callable[..., Any], operands: Sequence[Any], of_elements: Callable[..., Any] | None = None) -> Any:
    """Apply an elementwise function of arrays to rows; return `NOT_HANDLED` if it needs arrays of Values.

    `of_elements`, if given, is a function that does the same for arrays in less time.
    """
    given = [x.elements if isinstance(x, TracedArray) and not x.is_whole else x for x in operands]
    if not all(map(_is_plain, given)):
        return NOT_HANDLED  # such as a masked array
    whole = [x for x in given if isinstance(x, TracedArray)]
    rows.check_shapes([as_array(x).shape for x in given])
    moved = None if is_without_gradient() else _with_common_rows(whole)
    if not moved:
        return NOT_HANDLED
    place, count = moved[0].ndim - moved[0].axis, moved[0].count
    for x in moved:
        if x.steps > _MOST_STEPS:
            x.stored()
    in_turn = iter(moved)
    aligned = [row_of_operand(next(in_turn) if isinstance(x, TracedArray) else x, place, count) for x in given]
    if any(row is NOT_HANDLED for row in aligned):
        return NOT_HANDLED
    try:
        found = as_objects(rows.in_rows(lambda: function(*aligned)))
    except (RecordingError, TypeError, ValueError):  # of the function: with an array of Values it may succeed
        return NOT_HANDLED
    if not is_real(found):
        return NOT_HANDLED
    made = TracedArray(found, count, found.ndim + 1 - place, 1 + max(x.steps for x in moved))
    if all(x.source is not None for x in whole):
        unchanged = [x.source if isinstance(x, TracedArray) else as_array(x).copy() for x in given]
        made.source = Elements.of(of_elements or function, unchanged)
    if not is_staging() and found.size and all(is_condition(x) for x in found.flat):
        return made.numbers() != 0.0  # outside of staged functions, the numbers are known
    return made


def _with_common_rows(arrays: Sequence[TracedArray]) -> list[TracedArray]:
    """Return whole arrays whose rows are along one axis of the broadcast result: the axis of rows of the largest array.

    Returns [] if an array or the result cannot be whole then.
    """
    if len({(x.ndim - x.axis, x.count) for x in arrays}) < 2:
        return list(arrays)
    largest = max(arrays, key=lambda x: x.size)
    place, count = largest.ndim - largest.axis, largest.count
    if math.prod(numpy.broadcast_shapes(*(x.shape for x in arrays))) > MOST_WIDTH * count:
        return []
    found = [_with_rows_at(x, place, count) for x in arrays]
    return [x for x in found if x is not None] if all(x is not None for x in found) else []


def _with_rows_at(x: TracedArray, place: int, count: int) -> TracedArray | None:
    """Return an array with `count` rows along an axis, whose position `place` is counted from the end."""
    if (x.ndim - x.axis, x.count) == (place, count):
        return x
    shape = [*[1] * (place - x.ndim), *x.shape]
    axis = len(shape) - place
    if shape[axis] != count:
        shape[axis] = count
        x = x.at(numpy.broadcast_to(places_in(x.shape), shape))
    handle = None if x is None else x.in_order()
    if handle is None:
        return None
    number_type, is_input = x.note
    return of_ordered(handle, tuple(shape), axis, number_type, is_input=is_input)


def _is_plain(x: Any) -> bool:
    """Return whether an operand is a number, a list or an ordinary array. A masked array, for example, is not."""
    if isinstance(x, (TracedArray, Value, list, tuple, complex, numpy.generic)):
        return True
    return type(x) in (numpy.ndarray, ValueArray) or is_number(x)


def row_of_operand(x: Any, place: int, count: int) -> Any:
    """Return what an operand is for each row. `place` is the position of the axis of rows, counted from the end."""
    if isinstance(x, TracedArray):
        return x.rows
    if isinstance(x, Value) or not (isinstance(x, (list, tuple)) or getattr(x, "ndim", 0) > 0):
        return as_array(x)
    array = as_array(x)
    if array.ndim < place:
        return array
    axis = array.ndim - place
    if array.shape[axis] == 1:
        return array.take(0, axis=axis)
    if array.shape[axis] != count or array.size > MOST_WIDTH * count or not is_real(array):
        return NOT_HANDLED
    moved = numpy.moveaxis(array, axis, 0)
    return rows.row_of(handle_of(moved.reshape(count, array.size // count)), moved.shape[1:], type_of(array))


def is_condition(x: Any) -> bool:
    """Return whether a number of a row is a comparison."""
    return isinstance(x, (bool, numpy.bool_)) or (isinstance(x, Value) and number_type_of(x) is bool)
