"""Keys of arrays: which elements a subscript selects, and in which cases this is known while a function is recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import numpy
from numpy.typing import NDArray

from gradwalk.arrays.layout_calls import RowIndices

MOST_WIDTH = 2048  # numbers in a row
_MOST_KEPT = 1_000_000  # elements of a range that is kept
_INDICES = (list, numpy.ndarray)  # the types of arrays of indices in a key


def full_key(key: Any, ndim: int) -> tuple[Any, ...] | None:
    """Return a key with one part for each axis, and None for each new axis; or None if a part is something else."""
    parts = key if isinstance(key, tuple) else (key,)
    if not all(part is None or part is Ellipsis or isinstance(part, slice) or is_int(part) for part in parts):
        return None
    missing = ndim - sum(part is not None and part is not Ellipsis for part in parts)
    if missing < 0 or sum(part is Ellipsis for part in parts) > 1:
        return None  # NumPy raises the error
    if not any(part is Ellipsis for part in parts):
        parts = (*parts, Ellipsis)
    [at] = [i for i, part in enumerate(parts) if part is Ellipsis]
    return (*parts[:at], *[slice(None)] * missing, *parts[at + 1 :])


def is_int(part: Any) -> bool:
    """Return whether a part of a key is an integer."""
    return isinstance(part, (int, numpy.integer)) and not isinstance(part, bool)


def is_array(part: Any) -> bool:
    """Return whether a part of a key is an array of indices or bools."""
    return type(part) in _INDICES


def is_mask(key: Any) -> bool:
    """Return whether a key is an array of bools."""
    return is_array(key) and numpy.asarray(key).dtype == bool


def has_arrays(key: Any) -> bool:
    """Return whether a key has arrays of indices or bools."""
    return any(map(is_array, key if isinstance(key, tuple) else (key,)))


def rows_at(given: Any, count: int) -> NDArray[numpy.intp] | None:
    """Return integers from 0 to `count` - 1 that select the same entries, or None if NumPy must decide."""
    indices = numpy.asarray(given)
    if indices.dtype == bool and indices.shape == (count,):
        indices = numpy.flatnonzero(indices)
    if indices.dtype.kind not in "iu" or indices.size == 0 or indices.ndim == 0:
        return None
    if indices.min() < -count or indices.max() >= count:
        return None  # NumPy raises the error
    found = indices.astype(numpy.intp)  # before the addition, which may overflow in a small type
    return numpy.where(found < 0, found + count, found)


def places_in(shape: Sequence[int]) -> NDArray[numpy.intp]:
    """Return a read-only array of a shape whose elements are their own places in C order."""
    size = math.prod(shape)
    return (_kept_range(size) if size <= _MOST_KEPT else _new_range(size)).reshape(shape)


def _new_range(size: int) -> NDArray[numpy.intp]:
    found = numpy.arange(size, dtype=numpy.intp)
    found.flags.writeable = False
    _ranges[id(found)] = found
    return found


_ranges: WeakValueDictionary[int, Any] = WeakValueDictionary()  # those that are in use, by their ids
_kept_range = lru_cache(maxsize=2)(_new_range)  # for the latest assignments


def places_of(key: Any, shape: Sequence[int]) -> NDArray[numpy.intp] | None:
    """Return the places in C order of the elements that a key selects, or None if the key has other parts.

    Raises:
        IndexError: An index is out of bounds, or the key has too many parts.
    """
    parts = key if isinstance(key, tuple) else (key,)
    if not all(_is_known(part) for part in parts):
        return None
    return numpy.asarray(places_in(shape)[key])


def _is_known(part: Any) -> bool:
    if is_array(part):
        return numpy.asarray(part).dtype.kind in "iub"
    return part is None or part is Ellipsis or isinstance(part, slice) or is_int(part)


def can_be_whole(places: NDArray[numpy.intp]) -> bool:
    """Return whether the elements at some places can be an array with rows."""
    return places.size > 0 and places.ndim > 0 and places.size // max(places.shape) <= MOST_WIDTH


def as_row_indices(indices: NDArray[numpy.intp]) -> RowIndices:
    """Return indices as a slice if they have the same distance, else as they are."""
    start, step = int(indices[0]), int(indices[1] - indices[0]) if len(indices) > 1 else 1
    end = start + step * len(indices)
    if step == 0:
        return indices
    if not (_is_view_of_range(indices) or numpy.array_equal(indices, numpy.arange(start, end, step))):
        return indices
    return slice(start, end if end >= 0 else None, step)


def _is_view_of_range(places: NDArray[numpy.intp]) -> bool:
    """Return whether places are a part of an array of `places_in`. Then they have the same distance."""
    return places.base is not None and _ranges.get(id(places.base)) is places.base


def are_same(first: NDArray[numpy.intp], second: NDArray[numpy.intp]) -> bool:
    """Return whether places are the same. Equal views of a range are compared in no time."""
    views = [(places.ctypes.data, places.shape, places.strides) for places in (first, second)]
    return views[0] == views[1] or numpy.array_equal(first, second)


def last_writes(places: NDArray[numpy.intp]) -> NDArray[numpy.intp]:
    """Return the indices of the assignments that remain if several ones write to the same place."""
    _, from_end = numpy.unique(places[::-1], return_index=True)
    return numpy.sort(len(places) - 1 - from_end)
