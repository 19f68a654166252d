"""Functions of NumPy that sort, select, reshape and join whole arrays."""

from __future__ import annotations

import math as plain_math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy

from gradwalk import math
from gradwalk.arrays.functions.elementwise import mapped, row_of_operand
from gradwalk.arrays.functions.subscripts import column_of
from gradwalk.arrays.handles import apply_here, apply_layout
from gradwalk.arrays.keys import MOST_WIDTH, places_in
from gradwalk.arrays.layout_calls import Accumulate, Join, Roll
from gradwalk.arrays.traced_array import (
    FUNCTIONS,
    NOT_HANDLED,
    TracedArray,
    as_objects,
    elements_of,
    implements,
    is_whole,
    of_handle,
)
from gradwalk.arrays.whole_calls import ArgsortRows, ReorderRows
from gradwalk.functions.extended import maximum, minimum
from gradwalk.trees.tree import type_of
from gradwalk.value.arrays import Axis, as_array, as_ints, counted_axes
from gradwalk.value.convert import is_number
from gradwalk.value.modes import is_staging
from gradwalk.value.value import Value

# Sorts


@implements(numpy.argsort)
def _argsort(a: Any, axis: int | None = -1, kind: Any = None) -> Any:
    """Return the indices that sort a vector. The sort is stable."""
    if not is_whole(a) or a.rows.ndim or counted_axes(axis, 1) != (0,):
        return NOT_HANDLED
    if not is_staging():
        return numpy.argsort(a.numbers(), kind="stable")  # the numbers are known
    return _sorting_indices(a)


def _sorting_indices(a: TracedArray) -> TracedArray:
    handle = a.stored()
    [indices] = apply_here(ArgsortRows(handle.kind), [handle])
    return of_handle(indices, (), 0, int)


@implements(numpy.sort)
def _sort(a: Any, axis: int | None = -1, kind: Any = None) -> Any:
    """Sort a vector."""
    if not is_whole(a) or a.rows.ndim or counted_axes(axis, 1) != (0,):
        return NOT_HANDLED
    [elements] = apply_here(ReorderRows(a.stored().kind), [_sorting_indices(a).stored(), a.stored()])
    return of_handle(elements, (), 0)


# Selections and shapes


@implements(numpy.where)
def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    return NOT_HANDLED if x is None or y is None else _elementwise(math.where, condition, x, y)


@implements(numpy.clip)
def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None) -> Any:
    if out is not None:
        return NOT_HANDLED
    raised = numpy.copy(a) if a_min is None else _elementwise(maximum, a, a_min)
    return raised if a_max is None or raised is NOT_HANDLED else _elementwise(minimum, raised, a_max)


def _elementwise(function: Callable[..., Any], *operands: Any) -> Any:
    return mapped(numpy.frompyfunc(function, len(operands), 1), operands)


@implements(numpy.diff)
def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    if not is_whole(a) or n < 0:
        return NOT_HANDLED
    [position] = counted_axes(axis, a.ndim)
    before = (slice(None),) * position
    if n and (prepend is not None or append is not None):
        ends = [None if end is None else _end(end, a.shape, position) for end in (prepend, append)]
        a = numpy.concatenate([part for part in (ends[0], a, ends[1]) if part is not None], position)
    difference = numpy.logical_xor if a.number_type is bool else numpy.subtract
    for _ in range(n):
        a = difference(a[(*before, slice(1, None))], a[(*before, slice(None, -1))])
    return a


def _end(end: Any, shape: Sequence[int], axis: int) -> Any:
    """Return what `numpy.diff` puts before or after an array of a shape: a number becomes an array of length 1."""
    array = as_array(end)
    return array if array.ndim else numpy.broadcast_to(array, (*shape[:axis], 1, *shape[axis + 1 :]))


@implements(numpy.select)
def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    if len(condlist) != len(choicelist) or not condlist:
        return NOT_HANDLED  # NumPy raises the error
    found = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        found = math.where(condition, choice, found)
    return found


@implements(numpy.tril)
def _tril(m: Any, k: int = 0) -> Any:
    return math.where(_lower(m, k), m, 0) if is_whole(m) and m.ndim > 1 else NOT_HANDLED


@implements(numpy.triu)
def _triu(m: Any, k: int = 0) -> Any:
    return math.where(_lower(m, k - 1), 0, m) if is_whole(m) and m.ndim > 1 else NOT_HANDLED


def _lower(m: TracedArray, k: int) -> Any:
    """Return where the elements of matrices are on or below a diagonal."""
    return numpy.tri(m.shape[-2], m.shape[-1], k, dtype=numpy.bool_)


@implements(numpy.trace)
def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return numpy.sum(numpy.diagonal(a, offset, axis1, axis2), -1)


@implements(numpy.diag)
def _diagonal(v: Any, k: int = 0) -> Any:
    """Return a diagonal of a matrix."""
    return numpy.diagonal(v, k) if v.ndim == 2 else NOT_HANDLED


@implements(numpy.shape)
def _shape(a: Any) -> Any:
    return a.shape


@implements(numpy.ndim)
def _ndim(a: Any) -> Any:
    return a.ndim


@implements(numpy.size)
def _size(a: Any, axis: int | None = None) -> Any:
    return a.size if axis is None else a.shape[axis]


@implements(numpy.reshape)
def _reshape(a: Any, /, shape: Any, order: str = "C") -> Any:
    return a.reshape(shape) if order == "C" else NOT_HANDLED


@implements(numpy.ravel)
def _ravel(a: Any, order: str = "C") -> Any:
    return a.ravel(order)


@implements(numpy.transpose)
def _transpose(a: Any, axes: Any = None) -> Any:
    return a.transpose() if axes is None else a.transpose(axes)


@implements(numpy.copy)
def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return a.copy() if order in "KC" else NOT_HANDLED


@implements(numpy.expand_dims)
def _expand_dims(a: Any, axis: Any) -> Any:
    if not is_whole(a) or not isinstance(axis, int):
        return NOT_HANDLED
    [position] = counted_axes(axis, a.ndim + 1)
    return a[(*[slice(None)] * position, None)]


@implements(numpy.squeeze)
def _squeeze(a: Any, axis: Axis = None) -> Any:
    axes = [i for i, length in enumerate(a.shape) if length == 1] if axis is None else counted_axes(axis, a.ndim)
    if not is_whole(a) or any(i == a.axis or a.shape[i] != 1 for i in axes):
        return NOT_HANDLED
    return a[tuple([0 if i in axes else slice(None) for i in range(a.ndim)])]


@implements(numpy.flip)
def _flip(m: Any, axis: Axis = None) -> Any:
    axes = counted_axes(axis, m.ndim)
    return m[tuple([slice(None, None, -1 if i in axes else None) for i in range(m.ndim)])]


@implements(numpy.take)
def _take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    if not is_whole(a) or out is not None or mode != "raise" or (axis is None and a.ndim > 1):
        return NOT_HANDLED
    given = elements_of(indices)
    if numpy.asarray(given).dtype.kind not in "iu":
        return NOT_HANDLED
    [position] = counted_axes(axis, a.ndim)
    return a[(*[slice(None)] * position, numpy.asarray(given)[()])]


@implements(numpy.roll)
def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    if not is_whole(a):
        return NOT_HANDLED
    if axis is None:
        return numpy.roll(a.ravel(), shift, 0).reshape(a.shape)
    for by, along in zip(*map(numpy.ravel, numpy.broadcast_arrays(shift, axis)), strict=True):
        a = _shifted(a, int(by), counted_axes(along, a.ndim)[0])
    return a


def _shifted(a: TracedArray, shift: int, axis: int) -> TracedArray:
    """Shift the elements of an array along an axis."""
    if axis == a.axis:
        return a.with_rows(lambda kind: Roll(kind, shift))
    return TracedArray(numpy.roll(a.rows, shift, axis - (axis > a.axis)), a.count, a.axis, a.steps)


@implements(numpy.atleast_1d)
def _atleast_1d(*arrays: Any) -> Any:
    return arrays[0] if len(arrays) == 1 else NOT_HANDLED  # every `TracedArray` has an axis


@implements(numpy.atleast_2d)
def _atleast_2d(*arrays: Any) -> Any:
    if len(arrays) > 1 or not is_whole(arrays[0]):
        return NOT_HANDLED
    return arrays[0] if arrays[0].ndim > 1 else arrays[0][None]


# Functions that join arrays


@implements(numpy.stack)
def _stack(arrays: Sequence[Any], axis: int = 0, out: Any = None) -> Any:
    parts = list(map(as_array, arrays))
    if out is not None or len({part.shape for part in parts}) != 1:
        return NOT_HANDLED  # NumPy raises the error
    [position] = counted_axes(axis, parts[0].ndim + 1)
    return _joined([numpy.expand_dims(part, position) for part in parts], position)


@implements(numpy.concatenate)
def _concatenate(arrays: Sequence[Any], axis: int | None = 0, out: Any = None) -> Any:
    parts = [as_array(part) if axis is not None else numpy.ravel(part) for part in arrays]
    if out is not None or not parts[0].ndim:
        return NOT_HANDLED
    return _joined(parts, counted_axes(axis or 0, parts[0].ndim)[0])


@implements(numpy.hstack)
def _hstack(tup: Sequence[Any]) -> Any:
    parts = [numpy.atleast_1d(as_array(part)) for part in tup]
    return _joined(parts, int(parts[0].ndim > 1))


@implements(numpy.vstack)
def _vstack(tup: Sequence[Any]) -> Any:
    return _joined([part if part.ndim > 1 else part.reshape(1, -1) for part in map(as_array, tup)], 0)


@implements(numpy.dstack)
def _dstack(tup: Sequence[Any]) -> Any:
    parts = [part.reshape(1, -1) if part.ndim < 2 else part for part in map(as_array, tup)]
    return _joined([part if part.ndim > 2 else part[:, :, None] for part in parts], 2)


@implements(numpy.column_stack)
def _column_stack(tup: Sequence[Any]) -> Any:
    return _joined([part if part.ndim > 1 else part.reshape(-1, 1) for part in map(as_array, tup)], 1)


@implements(numpy.block)
def _block(arrays: Any) -> Any:
    """Join the arrays of the innermost lists along the last axis, the results along the axis before, and so on."""
    levels: list[Any] = [[arrays]]
    while all(isinstance(part, list) and part for part in levels[-1]):
        levels.append([x for part in levels[-1] for x in part])
    leaves = levels.pop()
    if not levels:
        return arrays.copy()
    if any(isinstance(x, list) for x in leaves):
        return NOT_HANDLED  # lists of different depths: NumPy raises the error
    parts = list(map(as_array, leaves))
    ndim = max(len(levels), *(x.ndim for x in parts))
    parts = [x.reshape(*[1] * (ndim - x.ndim), *x.shape) for x in parts]
    for i, lists in enumerate(reversed(levels)):
        rest = iter(parts)
        parts = [numpy.concatenate([next(rest) for _ in part], -1 - i) for part in lists]
    return parts[0]


@implements(numpy.append)
def _append(arr: Any, values: Any, axis: int | None = None) -> Any:
    return _concatenate([arr, values], axis)


def _joined(parts: Sequence[Any], axis: int) -> Any:
    """Concatenate arrays along an axis."""
    shapes = [part.shape for part in parts]
    if not any(map(is_whole, parts)) or len({(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}) != 1:
        return NOT_HANDLED  # arrays of different shapes: NumPy raises the error
    found = _joined_rows(parts, axis)
    if found is not NOT_HANDLED:
        return found
    columns = [column_of(part, shape) for part, shape in zip(parts, shapes, strict=True) if 0 not in shape]
    if None in columns:
        return NOT_HANDLED
    starts = numpy.cumsum([0, *[plain_math.prod(shape) for shape in shapes[:-1]]])
    places = [places_in(shape) + start for shape, start in zip(shapes, starts, strict=True)]
    return _of_columns(columns, numpy.concatenate(places, axis), _common_type(map(type_of, parts)))


def _common_type(types: Iterable[type]) -> type:
    """Return the type that numbers of several types have in one array."""
    given = set(types)
    return float if float in given else int if int in given else bool


def _joined_rows(parts: Sequence[Any], axis: int) -> Any:
    """Concatenate arrays along an axis of their rows."""
    whole = [part for part in parts if is_whole(part)]
    if len({(part.axis, part.count) for part in whole}) != 1 or axis == whole[0].axis:
        return NOT_HANDLED
    own, count = whole[0].axis, whole[0].count
    aligned = [row_of_operand(part, part.ndim - own, count) for part in parts]
    if any(row is NOT_HANDLED for row in aligned) or sum(row.size for row in aligned) > MOST_WIDTH:
        return NOT_HANDLED
    joined = numpy.concatenate([as_objects(row) for row in aligned], axis=axis - (axis > own))
    return TracedArray(joined, count, own, max(part.steps for part in whole))


def _of_columns(columns: Sequence[Any], places: Any, number_type: type) -> Any:
    """Return the elements at some places of several columns, one column after the other."""
    joined = apply_layout(Join([column.kind for column in columns]), columns)[0] if len(columns) > 1 else columns[0]
    found = of_handle(joined, (), 0, number_type).at(places)
    return NOT_HANDLED if found is None else found


@implements(numpy.pad)
def _pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    if not is_whole(array) or mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        return NOT_HANDLED
    if mode != "constant":
        return NOT_HANDLED if kwargs else _rearranged(numpy.pad, array, pad_width, mode)
    number = kwargs.pop("constant_values", 0)
    is_bool = array.number_type is bool and not isinstance(number, Value)
    number = bool(number) if is_bool else number  # as NumPy does
    column = column_of(number, (1,)) if not numpy.ndim(number) and not kwargs else None
    if column is None:
        return NOT_HANDLED
    places = numpy.pad(places_in(array.shape), pad_width, constant_values=array.size)
    number_type = bool if is_bool else _common_type([array.number_type, type_of(number)])
    return _of_columns([array.column(), column], places, number_type)


# Functions whose results are elements of an array: NumPy applies them to the places of the elements.


def _rearranged(function: Callable[..., Any], a: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a function returns for an array, whose elements it only selects, repeats and reorders."""
    given = [*args, *kwargs.values()]
    if not is_whole(a) or any(x is not None and as_array(x).dtype == object for x in given):
        return NOT_HANDLED
    own = places_in(a.shape).copy()  # can be written to, so that it shows whether the result can be
    of_elements = partial(_applied, function, args, kwargs)
    found = function(own, *args, **kwargs)
    if not isinstance(found, (list, tuple)):
        return _part(a, own, found, of_elements)
    parts = [_part(a, own, places, partial(of_elements, part=i)) for i, places in enumerate(found)]
    return NOT_HANDLED if any(part is NOT_HANDLED for part in parts) else type(found)(parts)


def _applied(function: Any, args: Any, kwargs: Any, elements: Any, part: int | None = None) -> Any:
    """Apply a function to an array of Values; return one of its results, if it has several."""
    found = function(elements, *args, **kwargs)
    return found if part is None else found[part]


def _part(a: TracedArray, own: Any, places: Any, of_elements: Callable[[Any], Any]) -> Any:
    """Return the elements at some places, as a view of the array if the places are a view of `own`."""
    found = a.at(places)
    if found is None:
        return NOT_HANDLED
    found.is_read_only = not places.flags.writeable
    return a.as_view(found, of_elements) if numpy.may_share_memory(places, own) else found


_REARRANGING: Sequence[Any] = (
    *(numpy.repeat, numpy.tile, numpy.resize, numpy.delete, numpy.take_along_axis, numpy.broadcast_to),
    *(numpy.rot90, numpy.fliplr, numpy.flipud, numpy.diagonal, numpy.swapaxes, numpy.rollaxis),
    *(numpy.split, numpy.array_split, numpy.hsplit, numpy.vsplit),
)
for _function in _REARRANGING:
    FUNCTIONS[_function] = partial(_rearranged, _function)


@implements(numpy.cumsum)
def _cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    if not is_whole(a) or dtype is not None or out is not None:
        return NOT_HANDLED
    given = a.ravel() if axis is None else a
    [position] = counted_axes(axis or 0, given.ndim)
    if not is_whole(given):
        return NOT_HANDLED
    if position != given.axis:
        found = given.of_inner(lambda row, inner: numpy.cumsum(row, *inner), (position,), keepdims=True)
        found.rows = found.rows if given.number_type is float else as_objects(as_ints(found.rows))
        return found
    handle = given.stored()
    [sums] = apply_here(Accumulate(handle.kind), [handle])
    return of_handle(sums, given.rows.shape, position, float if given.number_type is float else int)


# New arrays


def _like(function: Callable[..., Any], a: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a new array with the shape and dtype of an array, whose elements are not needed."""
    if not isinstance(a, TracedArray):
        return function(a, *map(elements_of, args), **{name: elements_of(x) for name, x in kwargs.items()})
    has_no_dtype = not kwargs and len(args) == (function is numpy.full_like) and all(numpy.ndim(x) == 0 for x in args)
    if a.is_whole and has_no_dtype and all(isinstance(x, Value) or is_number(x) for x in args):
        row = function(numpy.empty(a.rows.shape, bool if a.number_type is bool else object), *args)
        return TracedArray(as_objects(row), a.count, a.axis)
    model = numpy.empty(a.shape, a.dtype)
    return function(model, *map(elements_of, args), **{name: elements_of(x) for name, x in kwargs.items()})


for _creation in (numpy.zeros_like, numpy.ones_like, numpy.full_like):
    FUNCTIONS[_creation] = partial(_like, _creation)


@implements(numpy.empty_like)
def _empty_like(prototype: Any, dtype: Any = None) -> Any:
    """Return zeros, because the elements of a whole array must be numbers."""
    return numpy.zeros_like(prototype) if dtype is None and is_whole(prototype) else NOT_HANDLED
