"""Reductions of whole arrays, and `vmap` of functions of their rows."""

from __future__ import annotations

import math as plain_math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy

from gradwalk import math
from gradwalk.arrays import rows
from gradwalk.arrays.functions.elementwise import row_of_operand
from gradwalk.arrays.handles import apply_here
from gradwalk.arrays.traced_array import (
    FUNCTIONS,
    NOT_HANDLED,
    TracedArray,
    as_objects,
    implements,
    is_whole,
)
from gradwalk.batching.argmax import extreme, from_shares, share
from gradwalk.batching.axes import spread
from gradwalk.batching.vmap import vmap
from gradwalk.functions import sequences
from gradwalk.functions.extended import maximum, minimum
from gradwalk.program.tracing.effects import Effects
from gradwalk.trees.tree import flatten
from gradwalk.value.arrays import Axis, WholeArray, as_bools, as_ints, counted_axes, of_objects, reduced
from gradwalk.value.modes import RecordingError, refusals_here

untyped: Any = numpy  # NumPy without its types, which do not include the arrays of this package


# Reductions


@implements(numpy.sum)
def _sum(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    if not is_whole(a) or (dtype is not None and numpy.dtype(dtype) != object) or out is not None:
        return NOT_HANDLED
    axes = counted_axes(axis, a.ndim)
    is_count = a.number_type is not float
    if a.axis not in axes:
        found = a.of_inner(lambda row, inner: row.sum(axis=inner, keepdims=keepdims), axes, keepdims)
        found.rows = as_objects(as_ints(found.rows)) if is_count else found.rows
        return found
    row = rows.in_rows(lambda: as_objects(a.rows.sum(axis=_inner(a, axes))))
    totals = as_objects(_total(row.ravel().tolist(), a.count))
    return _shaped(a, axes, keepdims, (as_ints(totals) if is_count else totals).tolist())


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


@implements(numpy.mean)
def _mean(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    total = _sum(a, axis, dtype, out, keepdims)
    return total if total is NOT_HANDLED else total / _length(a, axis)


@implements(numpy.any)
def _any(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return whether some elements are not 0. While a function is recorded, this is one condition."""
    if not is_whole(a) or out is not None:
        return NOT_HANDLED
    return _condition(math.less(0.0, _sum(_truths(a), axis, keepdims=keepdims)))


@implements(numpy.all)
def _all(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return whether no element is 0: see `_any`."""
    if not is_whole(a) or out is not None:
        return NOT_HANDLED
    return _condition(math.equal(_sum(_truths(a), axis, keepdims=keepdims), _length(a, axis)))


def _condition(found: Any) -> Any:
    """Note that numbers are conditions. A short array becomes an array of bools, which can be an index."""
    noted = as_bools(found)
    return noted if isinstance(noted, TracedArray) or not numpy.ndim(noted) else noted.astype(bool)


def _truths(a: Any) -> Any:
    """Return an array that is 1 where an element is not 0, else 0."""
    return a if a.number_type is bool else 1.0 - math.equal(a, 0.0)


def _length(a: TracedArray, axis: Axis) -> int:
    return plain_math.prod([a.shape[i] for i in counted_axes(axis, a.ndim)])


@implements(numpy.var)
def _var(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    mean = _mean(a, axis, dtype, out, keepdims=True)
    if mean is NOT_HANDLED:
        return NOT_HANDLED
    deviations = a - mean
    return numpy.sum(deviations * deviations, axis, keepdims=keepdims) / max(_length(a, axis) - ddof, 0)


@implements(numpy.std)
def _std(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    variance = _var(a, axis, dtype, out, ddof, keepdims)
    return variance if variance is NOT_HANDLED else math.sqrt(variance)


def _extreme(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, *, largest: bool) -> Any:
    """Return the maxima or minima. Elements that tie share the derivative equally."""
    if not is_whole(a) or out is not None:
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
    if not is_whole(a) or out is not None or a.rows.ndim or counted_axes(axis, a.ndim) != (0,):
        return NOT_HANDLED
    _, places = _extremes(a.rows.ravel().tolist(), a.count, largest=largest)
    return _shaped(a, (0,), keepdims, as_ints(places).tolist())


FUNCTIONS[numpy.argmax] = partial(_place, largest=True)
FUNCTIONS[numpy.argmin] = partial(_place, largest=False)


@implements(sequences.logarithm_of_sum)
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


@implements(sequences._softmax)
def _softmax(a: TracedArray, axes: Sequence[int]) -> Any:
    exponentials = math.exp(a - _largest(a, axes))
    return exponentials / numpy.sum(exponentials, tuple(axes), keepdims=True)


@implements(sequences._log_softmax)
def _log_softmax(a: TracedArray, axes: Sequence[int]) -> Any:
    shifted = a - _largest(a, axes)
    return shifted - math.log(numpy.sum(math.exp(shifted), tuple(axes), keepdims=True))


# Batches


@implements(vmap)
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
    effects = Effects()
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


@implements(numpy.moveaxis)
def _moveaxis(a: Any, source: Any, destination: Any) -> Any:
    if not is_whole(a):
        return NOT_HANDLED
    first, last = (counted_axes(tuple(numpy.ravel(axes).tolist()), a.ndim) for axes in (source, destination))
    if len(first) != len(last):
        return NOT_HANDLED  # NumPy raises the error
    order = [i for i in range(a.ndim) if i not in first]
    for to, axis in sorted(zip(last, first, strict=True)):
        order.insert(to, axis)
    return a.transpose(order)
