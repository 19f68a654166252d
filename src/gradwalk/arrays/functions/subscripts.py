"""`x[key]` and `x[key] = value` for whole arrays.

Parts that integers and slices select are views, as in NumPy: an assignment to one array changes all arrays that share
its elements. Each of them gets the new elements. No call computes new elements that are not used.
"""

from __future__ import annotations

import math as plain_math
import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk import math
from gradwalk.arrays.functions.elementwise import mapped
from gradwalk.arrays.handles import Handle, apply_layout, constant, handle_of, is_real
from gradwalk.arrays.keys import (
    MOST_WIDTH,
    full_key,
    has_arrays,
    is_array,
    is_int,
    is_mask,
    places_in,
    places_of,
    rows_at,
)
from gradwalk.arrays.kinds import ArrayKind
from gradwalk.arrays.layout_calls import Gather, Scatter
from gradwalk.arrays.traced_array import (
    FUNCTIONS,
    MOST_TAKEN,
    NOT_HANDLED,
    TracedArray,
    as_objects,
    elements_of,
    implements,
    is_whole,
)
from gradwalk.trees.tree import type_of
from gradwalk.value.arrays import as_array, of_objects

# Rows that are taken out of an array before it becomes an array of Values. Rows are arrays, because the function may
# change them, and calls on many short arrays are slower than instructions on their elements.
_MOST_ROWS = 8
_MOST_PARTS = 2  # small slices of an array whose elements can be computed one by one


@implements(operator.getitem)
def _getitem(a: TracedArray, key: Any) -> Any:
    found, known = None, _as_index(key)
    if a.is_whole:
        found = _gathered(a, known) if has_arrays(known) else _selected(a, known)
    return a.elements[known] if found is None else found


def _selected(a: TracedArray, key: Any) -> Any:
    """Return the part of an array that integers, slices and new axes select, or None for another key."""
    parts = full_key(key, a.ndim)
    if parts is None:
        return None
    place = [i for i, part in enumerate(parts) if part is not None][a.axis]
    others = (*parts[:place], *parts[place + 1 :])
    selected = parts[place]
    if not isinstance(selected, slice):
        return _of_row(a, operator.index(selected), others, key)
    is_all = selected == slice(None)
    most = MOST_TAKEN if a.source is None else _MOST_PARTS
    if not is_all and not a.takes(len(range(a.count)[selected]) * a.rows.size, most):
        return None
    axis = sum(part is None or isinstance(part, slice) for part in parts[:place])
    array = a.copy() if is_all else a.sliced(selected)
    if any(part != slice(None) for part in others):
        array = TracedArray(as_array(array.rows[others]), array.count, axis, array.steps)
    return a.as_view(array, lambda elements: elements[key])


def _of_row(a: TracedArray, index: int, others: tuple[Any, ...], key: Any) -> Any:
    """Return the part of a row that the other parts of a key select, or None if too much was taken."""
    is_element = all(map(is_int, others))
    if not (a.takes(1) if is_element else a.takes(1, _MOST_ROWS)):
        return None
    if not -a.count <= index < a.count:
        raise IndexError(f"index {index} is out of bounds for axis {a.axis} with size {a.count}")
    if is_element and a.source is not None:
        return a.source.values[key]
    start = index % a.count
    array = a.sliced(slice(start, start + 1))
    if not is_element:
        row = array.ordered(array.stored(), a.rows.shape)
        return a.as_view(row[others], lambda elements: elements[key])
    values = of_objects(array.unpacked(), a.rows.shape)
    return a.noted(as_objects(values), start)[others]


def _gathered(a: TracedArray, key: Any) -> Any:
    """Return a copy of the elements that arrays of integers or bools select, or None for another key."""
    parts = list(key) if isinstance(key, tuple) else [key]
    at = next(i for i, part in enumerate(parts) if is_array(part))
    given, parts[at] = parts[at], slice(None)
    full = full_key(tuple(parts), a.ndim)
    if full is None or any(map(is_int, full)):
        return _at_key(a, key)
    axis = next(i for i, part in enumerate(part for part in full if part is not None) if part is parts[at])
    indices = rows_at(given, a.shape[axis])
    if indices is None or (indices.ndim > 1 and None in full):
        return _at_key(a, key)
    if not a.takes(indices.size * (a.size // a.shape[axis])):
        return None
    taken = _along(a, axis, indices.ravel())
    if taken is not None and indices.ndim > 1:
        taken = taken.reshape(*a.shape[:axis], *indices.shape, *a.shape[axis + 1 :])
        full = (*full[:axis], *[slice(None)] * indices.ndim, *full[axis + 1 :])
    return taken if taken is None or all(part == slice(None) for part in full) else taken[full]


def _along(a: TracedArray, axis: int, indices: Any) -> TracedArray | None:
    """Return the entries at a vector of indices along an axis, or None if the rows would be too long."""
    if axis == a.axis:
        return a.with_rows(lambda kind: Gather(kind, indices))
    row = numpy.take(a.rows, indices, axis - (axis > a.axis))
    return TracedArray(row, a.count, a.axis, a.steps) if row.size <= MOST_WIDTH else None


def _at_key(a: TracedArray, key: Any) -> Any:
    """Return a copy of the elements that any key selects, or None if the key has other parts."""
    places = places_of(key, a.shape)
    return None if places is None or not a.takes(places.size) else a.at(places)


@implements(operator.setitem)
def _setitem(a: TracedArray, key: Any, value: Any) -> None:
    if isinstance(key, TracedArray) and a.is_whole and _chosen(a, key, value):
        return
    known = _as_index(key)
    if not (a.is_whole and _assigned(a, known, value)):
        a.elements[known] = elements_of(value)


def _assigned(a: TracedArray, key: Any, value: Any) -> bool:
    """Assign to a part of an array and return True, if the array can stay whole."""
    places = places_of(key, a.shape)
    if places is None:
        return False
    if not places.size:
        numpy.broadcast_to(numpy.empty(numpy.shape(value)), places.shape)  # raises NumPy's error if it cannot be
        return True
    if numpy.ndim(value) > (1 if is_mask(key) else plain_math.inf if places.ndim else 0):
        return False  # NumPy raises an error
    if isinstance(value, TracedArray) and value.is_part(a, places):
        return True  # the last step of `a[key] += y`
    part = column_of(value, places.shape) if a.takes(places.size) else None
    return part is not None and a.write(places, part, type_of(as_array(value)))


def _chosen(a: TracedArray, condition: TracedArray, value: Any) -> bool:
    """Assign a number where a condition holds and return True, if the array can stay whole."""
    if condition.number_type is not bool or condition.shape != a.shape or numpy.ndim(value):
        return False
    found = mapped(numpy.frompyfunc(math.where, 3, 1), (condition, value, a))
    return found is not NOT_HANDLED and a.become(found).is_whole


def column_of(x: Any, shape: Sequence[int]) -> Handle | None:
    """Return the handle of a column with the elements of an array or number, broadcast to a shape in C order.

    Return None if they cannot be broadcast, so that NumPy raises the error, or if they are not real numbers.
    """
    array = x if isinstance(x, TracedArray) and x.is_whole else as_array(elements_of(x))
    extra = array.shape[: max(array.ndim - len(shape), 0)]
    own = places_in(array.shape)
    if set(extra) - {1}:
        return None
    try:
        places = numpy.broadcast_to(own.reshape(array.shape[len(extra) :]), shape).ravel()
    except ValueError:
        return None
    if isinstance(array, TracedArray):
        return _reordered(array.column(), places)
    if not is_real(array):
        return None
    if array.dtype != object:
        return constant(array.ravel()[places, None])
    if array.size == 1:
        return TracedArray(array.reshape(()), len(places), 0).stored()
    return _reordered(handle_of(array.reshape(-1, 1)), places)


def _reordered(column: Handle, places: NDArray[numpy.intp]) -> Handle:
    """Return the elements of a column at some places."""
    if numpy.array_equal(places, numpy.arange(column.kind.rows)):
        return column
    [found] = apply_layout(Gather(column.kind, places), [column])
    assert isinstance(found, Handle)
    return found


def _as_index(key: Any) -> Any:
    """Return a key for an array of Values. A recorded condition on an array is a branch on each element."""
    if isinstance(key, tuple):
        return tuple(map(_as_index, key))
    if not isinstance(key, TracedArray):
        return key
    return key.truths() if key.number_type is bool else key.elements


def _added_at(ufunc: Any, a: TracedArray, key: Any, values: Any) -> Any:
    """Add to or subtract from the elements that a key selects, as often as it selects them: see `numpy.ufunc.at`."""
    places = places_of(_as_index(key), a.shape) if is_whole(a) else None
    part = None if places is None or not places.size else column_of(values, places.shape)
    if places is None or part is None:
        return NOT_HANDLED
    [sums] = apply_layout(Scatter(ArrayKind(a.size, 1), places.ravel()), [part])
    a.become(ufunc(a, a.ordered(sums, a.shape)))
    return None


for _ufunc in (numpy.add, numpy.subtract):
    FUNCTIONS[_ufunc.at] = partial(_added_at, _ufunc)
