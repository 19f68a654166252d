"""Functions of NumPy and of gradwalk.math on whole arrays: reductions, products and selections."""

from __future__ import annotations

import math as plain_math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy

from gradwalk import math
from gradwalk.arrays import rows
from gradwalk.arrays.handles import apply_here, apply_layout, constant
from gradwalk.arrays.kinds import ArrayKind
from gradwalk.arrays.layout_calls import Pack, Reshape, Roll
from gradwalk.arrays.traced_array import (
    FUNCTIONS,
    NOT_HANDLED,
    TracedArray,
    as_objects,
    elements_of,
    mapped,
    of_handle,
    of_ordered,
    row_of_operand,
)
from gradwalk.arrays.whole_calls import ArgsortRows, Product, ReorderRows
from gradwalk.batching.argmax import extreme, from_shares, share
from gradwalk.batching.axes import spread
from gradwalk.batching.vmap import vmap
from gradwalk.functions import sequences
from gradwalk.functions.extended import maximum, minimum
from gradwalk.program.tracing.effects import Effects
from gradwalk.trees.tree import flatten
from gradwalk.value.arrays import Axis, WholeArray, as_array, counted_axes, of_objects, reduced
from gradwalk.value.convert import is_number
from gradwalk.value.modes import RecordingError, is_staging, refusals_here
from gradwalk.value.node import with_number_type
from gradwalk.value.value import Value

untyped: Any = numpy  # NumPy without its types, which do not include the arrays of this package

_MOST_MULTIPLICATIONS = 64  # for one row, in a product of matrices that is computed row by row
_LEAST_WHOLE = 1000  # numbers in a product that stays whole

F = TypeVar("F", bound=Callable[..., Any])


def _implements(*functions: Any) -> Callable[[F], F]:
    """Make a function the implementation of other functions for whole arrays."""

    def registered(function: F) -> F:
        FUNCTIONS.update(dict.fromkeys(functions, function))
        return function

    return registered


def _is_whole(x: Any) -> bool:
    return isinstance(x, TracedArray) and x.is_whole


# Reductions


@_implements(numpy.sum)
def _sum(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    if not _is_whole(a) or (dtype is not None and numpy.dtype(dtype) != object) or out is not None:
        return NOT_HANDLED
    axes = counted_axes(axis, a.ndim)
    is_count = a.number_type is not float
    if a.axis not in axes:
        found = a.of_inner(lambda row, inner: row.sum(axis=inner, keepdims=keepdims), axes, keepdims)
        found.rows = _as_ints(found.rows) if is_count else found.rows
        return found
    row = rows.in_rows(lambda: as_objects(a.rows.sum(axis=_inner(a, axes))))
    totals = as_objects(_total(row.ravel().tolist(), a.count))
    return _shaped(a, axes, keepdims, (_as_ints(totals) if is_count else totals).tolist())


_as_ints = numpy.frompyfunc(lambda x: with_number_type(x, int) if isinstance(x, Value) else int(x), 1, 1)


def _inner(a: TracedArray, axes: Sequence[int]) -> tuple[int, ...]:
    """Return the positions in a row of the axes of an array, without the axis of rows."""
    return tuple([i - (i > a.axis) for i in axes if i != a.axis])


def _total(numbers: Sequence[Any], count: int) -> list[Any]:
    """Return the sums of numbers of a row over all rows."""
    call, operands = rows.mapped(numbers, [], count)
    return apply_here(call, operands)


def _shaped(a: TracedArray, axes: Sequence[int], keepdims: bool, results: Sequence[Any]) -> Any:
    """Return the results of a reduction as an array, or as a number if all axes have been reduced."""
    kept = [length for i, length in enumerate(a.shape) if i not in axes]
    found = of_objects(results, kept)
    return numpy.expand_dims(as_objects(found), tuple(axes)) if keepdims else found


@_implements(numpy.mean)
def _mean(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    total = _sum(a, axis, dtype, out, keepdims)
    return total if total is NOT_HANDLED else total / _length(a, axis)


def _length(a: TracedArray, axis: Axis) -> int:
    return plain_math.prod([a.shape[i] for i in counted_axes(axis, a.ndim)])


@_implements(numpy.var)
def _var(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    mean = _mean(a, axis, dtype, out, keepdims=True)
    if mean is NOT_HANDLED:
        return NOT_HANDLED
    deviations = a - mean
    return numpy.sum(deviations * deviations, axis, keepdims=keepdims) / (_length(a, axis) - ddof)


@_implements(numpy.std)
def _std(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    variance = _var(a, axis, dtype, out, ddof, keepdims)
    return variance if variance is NOT_HANDLED else math.sqrt(variance)


def _extreme(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, largest: bool) -> Any:
    """Return the maxima or minima. Elements that tie share the derivative equally."""
    if not _is_whole(a) or out is not None:
        return NOT_HANDLED
    axes = counted_axes(axis, a.ndim)
    if a.axis not in axes:
        return a.reduced(partial(extreme, largest=largest), axis, keepdims)
    inner = _inner(a, axes)
    best = _best(a, axes, largest=largest)
    of_element = partial(share, largest=largest)

    def shares() -> list[Any]:
        """Return what each row contributes to the two sums of `from_shares`."""
        terms = numpy.frompyfunc(of_element, 2, 2)(a.rows, numpy.expand_dims(best, inner))
        return [x for each in terms for x in as_objects(as_objects(each).sum(axis=inner)).ravel().tolist()]

    totals = _total(rows.in_rows(shares), a.count)
    known = best.ravel().tolist()
    sums = zip(known, totals[: len(known)], totals[len(known) :], strict=True)
    return _shaped(a, axes, keepdims, [from_shares(*each) for each in sums])


def _best(a: TracedArray, axes: Sequence[int], *, largest: bool) -> Any:
    """Return the maxima or minima along axes that include the axis of rows, without derivatives."""
    choose = maximum if largest else minimum
    inner = _inner(a, axes)
    row = a.rows
    if inner:
        row = rows.in_rows(lambda: as_objects(reduced(lambda numbers: choose(*numbers), a.rows, inner)))
    best, _ = _extremes(row.ravel().tolist(), a.count, largest=largest)
    return as_objects(of_objects(best, row.shape))


def _extremes(row: Sequence[Any], count: int, *, largest: bool) -> tuple[list[Any], list[Any]]:
    """Return the maximum or minimum of each number of a row over all rows, without derivatives, and its first row."""
    call, operands = rows.extremes(row, count, largest=largest)
    results = apply_here(call, operands)
    return results[: len(row)], results[len(row) :]


FUNCTIONS[numpy.max] = FUNCTIONS[numpy.amax] = partial(_extreme, largest=True)
FUNCTIONS[numpy.min] = FUNCTIONS[numpy.amin] = partial(_extreme, largest=False)


def _place(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False, largest: bool) -> Any:
    """Return the index of the first maximum or minimum."""
    if not _is_whole(a) or out is not None or a.rows.ndim or counted_axes(axis, a.ndim) != (0,):
        return NOT_HANDLED
    _, places = _extremes(a.rows.ravel().tolist(), a.count, largest=largest)
    return _shaped(a, (0,), keepdims, [with_number_type(x, int) if isinstance(x, Value) else int(x) for x in places])


FUNCTIONS[numpy.argmax] = partial(_place, largest=True)
FUNCTIONS[numpy.argmin] = partial(_place, largest=False)


@_implements(sequences.logarithm_of_sum)
def _logsumexp(a: TracedArray, axes: Sequence[int], keepdims: bool) -> Any:
    largest = _largest(a, axes)
    finite = math.where(math.less(math.fabs(largest), plain_math.inf), largest, 0.0)
    total = numpy.sum(math.exp(a - finite), tuple(axes), keepdims=True)
    is_nothing = math.equal(largest, -plain_math.inf)  # see `sequences.logarithm_of_sum`
    found = as_objects(math.log(total + is_nothing) + largest)
    return found if keepdims else found.reshape([n for i, n in enumerate(a.shape) if i not in axes])[()]


def _largest(a: TracedArray, axes: Sequence[int]) -> Any:
    """Return the maxima without derivatives, with the reduced axes kept."""
    return numpy.expand_dims(_best(a, axes, largest=True), tuple(axes))


@_implements(sequences._softmax)
def _softmax(a: TracedArray, axes: Sequence[int]) -> Any:
    exponentials = math.exp(a - _largest(a, axes))
    return exponentials / numpy.sum(exponentials, tuple(axes), keepdims=True)


@_implements(sequences._log_softmax)
def _log_softmax(a: TracedArray, axes: Sequence[int]) -> Any:
    shifted = a - _largest(a, axes)
    return shifted - math.log(numpy.sum(math.exp(shifted), tuple(axes), keepdims=True))


# Batches


@_implements(vmap)
def _vmapped(f: Callable[..., Any], batch: Any, batching: Any) -> Any:
    """Apply a function to each sample of a batch; return None if it needs the numbers of the samples."""
    leaves = [
        _sample(leaf, batch.size) if varies else leaf for leaf, varies in zip(batch.leaves, batch.varies, strict=True)
    ]
    if any(leaf is NOT_HANDLED or isinstance(leaf, WholeArray) for leaf in leaves):
        return None
    rest = iter(leaves)
    args = [element.unflatten([next(rest) for _ in element.shapes]) for element in batch.elements]
    keywords = dict(zip(batch.names[batch.positional :], args[batch.positional :], strict=True))
    effects = Effects([])
    refusals: list[RecordingError] = []

    def of_sample() -> Any:
        try:
            return effects.during(lambda: f(*args[: batch.positional], **keywords))
        finally:
            refusals.extend(refusals_here())

    try:
        found, treedef = flatten(rows.in_rows(of_sample), f"the result of {batching.name}")
    except (TypeError, ValueError, LookupError):
        if refusals:  # the function asks for the number of a sample: the samples may take different paths
            return None
        raise
    if effects.tokens or treedef.pairs or batching.reduce not in _OF_BATCHES:
        return None
    stacked = [TracedArray(as_objects(leaf), batch.size, 0, 1) for leaf in found]
    if rows.call_python([x for array in stacked for x in array.rows.flat]):
        return None
    if batching.reduce is not None:
        return treedef.as_floats().unflatten([_OF_BATCHES[batching.reduce](x) for x in stacked])
    axes = spread(batching.out_axes, treedef, "out_axes")
    if None in axes:
        return None
    return treedef.unflatten([untyped.moveaxis(x, 0, axis) for x, axis in zip(stacked, axes, strict=True)])


_OF_BATCHES: dict[str | None, Callable[[Any], Any]] = {
    None: lambda x: x,
    "sum": partial(numpy.sum, axis=0),
    "mean": partial(numpy.mean, axis=0),
    "max": partial(numpy.max, axis=0),
    "min": partial(numpy.min, axis=0),
    "logsumexp": partial(sequences.logsumexp, axis=0),
}


def _sample(leaf: Any, count: int) -> Any:
    """Return a leaf for one sample of a batch; its first axis is the batch axis."""
    if isinstance(leaf, TracedArray) and not (leaf.is_whole and leaf.axis == 0):
        return NOT_HANDLED
    row = row_of_operand(leaf, leaf.ndim, count)
    return row if row is NOT_HANDLED else row.copy()[()]  # the function may change it


@_implements(numpy.moveaxis)
def _moveaxis(a: Any, source: Any, destination: Any) -> Any:
    if not _is_whole(a) or not isinstance(source, int) or not isinstance(destination, int):
        return NOT_HANDLED
    [first], [last] = counted_axes(source, a.ndim), counted_axes(destination, a.ndim)
    order = [i for i in range(a.ndim) if i != first]
    order.insert(last, first)
    return a.transpose(order)


# Products


@_implements(numpy.matmul, numpy.dot)
def _product(a: Any, b: Any, out: Any = None) -> Any:
    """Return the product of two vectors or matrices."""
    first, second = as_array(a), as_array(b)
    if out is not None or not 1 <= first.ndim <= 2 or not 1 <= second.ndim <= 2:
        return NOT_HANDLED
    if not all(_is_whole(x) if isinstance(x, TracedArray) else _is_real(x) for x in (first, second)):
        return NOT_HANDLED
    if first.shape[-1] != second.shape[0]:
        return NOT_HANDLED  # NumPy raises the error
    left, right = first[None] if first.ndim == 1 else first, second[:, None] if second.ndim == 1 else second
    found = _small_product(left, right)
    if found is None:
        found = _large_product(left, right)
    shape = (*first.shape[:-1], *second.shape[1:])
    return found.reshape(shape) if shape else as_objects(found)[0, 0]


def _is_real(x: Any) -> bool:
    """Return whether an array has real numbers and Values only."""
    if x.dtype != object:
        return x.dtype.kind in "fiub"
    return all(isinstance(item, Value) or is_number(item) for item in x.flat)


def _small_product(a: Any, b: Any) -> Any:
    """Return the product of two matrices, computed with rows, or None if a row needs many multiplications."""
    (m, inner), n = a.shape, b.shape[1]
    if _has_rows(a, 1) or _has_rows(b, 0):
        return numpy.sum(a[..., None] * b[None], axis=1) if m * n <= _MOST_MULTIPLICATIONS else None
    if _has_rows(a, 0) and not isinstance(b, TracedArray) and inner * n <= _MOST_MULTIPLICATIONS:
        return _of_row(a, lambda row: row @ as_objects(b), 0)
    if _has_rows(b, 1) and not isinstance(a, TracedArray) and m * inner <= _MOST_MULTIPLICATIONS:
        return _of_row(b, lambda row: as_objects(a) @ row, 1)
    return None


def _large_product(a: Any, b: Any) -> Any:
    """Return the product of two matrices, computed by one instruction."""
    factors = [_matrix(a), _matrix(b)]
    [product] = apply_here(Product(factors[0].kind, factors[1].kind), factors)
    shape = (a.shape[0], b.shape[1])
    if product.kind.size < _LEAST_WHOLE:
        return of_objects(product.elements(), shape)
    return of_ordered(product, shape, shape.index(max(shape)))


def _matrix(x: Any) -> Any:
    """Return the handle of a matrix."""
    kind = ArrayKind(*x.shape)
    if not isinstance(x, TracedArray):
        is_constant = x.dtype != object
        return constant(x) if is_constant else apply_layout(Pack(kind), x.ravel().tolist())[0]
    handle: Any = x.in_order()
    return handle if handle.kind == kind else apply_layout(Reshape(handle.kind, kind), [handle])[0]


def _has_rows(x: Any, axis: int) -> bool:
    return isinstance(x, TracedArray) and x.axis == axis


def _of_row(array: TracedArray, function: Callable[[Any], Any], axis: int) -> TracedArray:
    found = rows.in_rows(lambda: as_objects(function(array.rows)))
    return TracedArray(found, array.count, axis, array.steps + 1)


@_implements(numpy.vdot)
def _vdot(a: Any, b: Any) -> Any:
    return numpy.sum(a.ravel() * b.ravel()) if _is_whole(a) and _is_whole(b) else NOT_HANDLED


@_implements(numpy.inner)
def _inner_product(a: Any, b: Any) -> Any:
    return _product(a, b) if getattr(a, "ndim", 0) == 1 == getattr(b, "ndim", 0) else NOT_HANDLED


@_implements(numpy.linalg.norm)
def _norm(
    x: Any,
    ord: Any = None,  # noqa: A002  # the name of NumPy's parameter
    axis: Axis = None,
    keepdims: bool = False,
) -> Any:
    if not _is_whole(x) or ord not in (None, 2) or (ord == 2 and x.ndim != 1 and not isinstance(axis, int)):
        return NOT_HANDLED
    return math.sqrt(numpy.sum(x * x, axis, keepdims=keepdims))


# Sorts


@_implements(numpy.argsort)
def _argsort(a: Any, axis: int | None = -1, kind: Any = None) -> Any:
    """Return the indices that sort a vector. The sort is stable."""
    if not _is_whole(a) or a.rows.ndim or counted_axes(axis, 1) != (0,):
        return NOT_HANDLED
    if not is_staging():
        return numpy.argsort(a.numbers(), kind="stable")  # the numbers are known
    return _sorting_indices(a)


def _sorting_indices(a: TracedArray) -> TracedArray:
    handle = a.stored()
    [indices] = apply_here(ArgsortRows(handle.kind), [handle])
    return of_handle(indices, (), 0, int)


@_implements(numpy.sort)
def _sort(a: Any, axis: int | None = -1, kind: Any = None) -> Any:
    """Sort a vector."""
    if not _is_whole(a) or a.rows.ndim or counted_axes(axis, 1) != (0,):
        return NOT_HANDLED
    [elements] = apply_here(ReorderRows(a.stored().kind), [_sorting_indices(a).stored(), a.stored()])
    return of_handle(elements, (), 0)


# Selections and shapes


@_implements(numpy.where)
def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    return NOT_HANDLED if x is None or y is None else _elementwise(math.where, condition, x, y)


@_implements(numpy.clip)
def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None) -> Any:
    if out is not None:
        return NOT_HANDLED
    raised = numpy.copy(a) if a_min is None else _elementwise(maximum, a, a_min)
    return raised if a_max is None or raised is NOT_HANDLED else _elementwise(minimum, raised, a_max)


def _elementwise(function: Callable[..., Any], *operands: Any) -> Any:
    return mapped(numpy.frompyfunc(function, len(operands), 1), operands)


@_implements(numpy.diff)
def _diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    if not _is_whole(a) or n < 0 or a.number_type is bool:
        return NOT_HANDLED
    [position] = counted_axes(axis, a.ndim)
    before = (slice(None),) * position
    for _ in range(n):
        a = a[(*before, slice(1, None))] - a[(*before, slice(None, -1))]
    return a


@_implements(numpy.shape)
def _shape(a: Any) -> Any:
    return a.shape


@_implements(numpy.ndim)
def _ndim(a: Any) -> Any:
    return a.ndim


@_implements(numpy.size)
def _size(a: Any, axis: int | None = None) -> Any:
    return a.size if axis is None else a.shape[axis]


@_implements(numpy.reshape)
def _reshape(a: Any, /, shape: Any, order: str = "C") -> Any:
    return a.reshape(shape) if order == "C" else NOT_HANDLED


@_implements(numpy.ravel)
def _ravel(a: Any, order: str = "C") -> Any:
    return a.ravel(order)


@_implements(numpy.transpose)
def _transpose(a: Any, axes: Any = None) -> Any:
    return a.transpose() if axes is None else a.transpose(axes)


@_implements(numpy.copy)
def _copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return a.copy() if order in "KC" else NOT_HANDLED


@_implements(numpy.expand_dims)
def _expand_dims(a: Any, axis: Any) -> Any:
    if not _is_whole(a) or not isinstance(axis, int):
        return NOT_HANDLED
    [position] = counted_axes(axis, a.ndim + 1)
    return a[(*[slice(None)] * position, None)]


@_implements(numpy.squeeze)
def _squeeze(a: Any, axis: Axis = None) -> Any:
    axes = [i for i, length in enumerate(a.shape) if length == 1] if axis is None else counted_axes(axis, a.ndim)
    if not _is_whole(a) or any(i == a.axis or a.shape[i] != 1 for i in axes):
        return NOT_HANDLED
    return a[tuple([0 if i in axes else slice(None) for i in range(a.ndim)])]


@_implements(numpy.flip)
def _flip(m: Any, axis: Axis = None) -> Any:
    axes = counted_axes(axis, m.ndim)
    return m[tuple([slice(None, None, -1 if i in axes else None) for i in range(m.ndim)])]


@_implements(numpy.take)
def _take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    if not _is_whole(a) or out is not None or mode != "raise" or (axis is None and a.ndim > 1):
        return NOT_HANDLED
    given = elements_of(indices)
    if numpy.asarray(given).dtype.kind not in "iu":
        return NOT_HANDLED
    [position] = counted_axes(axis, a.ndim)
    return a[(*[slice(None)] * position, numpy.asarray(given)[()])]


@_implements(numpy.roll)
def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    if not _is_whole(a):
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


@_implements(numpy.atleast_1d)
def _atleast_1d(*arrays: Any) -> Any:
    return arrays[0] if len(arrays) == 1 else NOT_HANDLED  # every `TracedArray` has an axis


@_implements(numpy.stack)
def _stack(arrays: Sequence[Any], axis: int = 0, out: Any = None) -> Any:
    if out is not None:
        return NOT_HANDLED
    [position] = counted_axes(axis, numpy.ndim(arrays[0]) + 1)
    return _joined([_expand_dims(x, position) if _is_whole(x) else NOT_HANDLED for x in arrays], position)


@_implements(numpy.concatenate)
def _concatenate(arrays: Sequence[Any], axis: int = 0, out: Any = None) -> Any:
    if out is not None or not all(_is_whole(x) for x in arrays) or axis is None:
        return NOT_HANDLED
    return _joined(arrays, counted_axes(axis, arrays[0].ndim)[0])


def _joined(arrays: Sequence[Any], axis: int) -> Any:
    """Concatenate arrays along an axis of their rows."""
    if not all(_is_whole(x) for x in arrays) or len({(x.ndim, x.axis, x.count) for x in arrays}) != 1:
        return NOT_HANDLED
    own = arrays[0].axis
    if axis == own:
        return NOT_HANDLED
    joined = numpy.concatenate([x.rows for x in arrays], axis=axis - (axis > own))
    return TracedArray(joined, arrays[0].count, own, max(x.steps for x in arrays))


def _like(function: Callable[..., Any], a: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a new array with the shape and dtype of an array, whose elements are not needed."""
    model = numpy.empty(a.shape, a.dtype) if isinstance(a, TracedArray) else a
    return function(model, *map(elements_of, args), **{name: elements_of(x) for name, x in kwargs.items()})


for _function in (numpy.zeros_like, numpy.ones_like, numpy.empty_like, numpy.full_like):
    FUNCTIONS[_function] = partial(_like, _function)
