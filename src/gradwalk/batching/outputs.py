"""Arrays for the results of a batch: newly allocated, or given as `out=`."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.backend.columns import overlap
from gradwalk.batching.axes import Axes, plain, spread
from gradwalk.batching.out_argument import targets_of
from gradwalk.trees.tree import TreeDef, flatten
from gradwalk.value.arrays import of_recording


class Outputs:
    """Arrays for the results of a batch.

    Args:
        treedef: The treedef of the result for one sample.
        out_axes: The batch axes of the results: see `vmap`.
        count: Number of samples.
        kind: The dtype of the results.
        out: Arrays to write the results to: see `vmap`.

    Attributes:
        columns: A view of each array in which the batch axis comes first. This axis has length 1 for a result without a
            batch axis.

    Raises:
        TypeError: `out` contains something other than arrays of this dtype.
        ValueError: An axis does not exist, or the arrays of `out` do not fit: see `targets_of`.
    """

    def __init__(self, treedef: TreeDef, out_axes: Axes, count: int, kind: Any, out: Any = None) -> None:
        self._treedef = treedef if out is None else treedef.as_floats()  # `out` is returned as it is
        self._axes = spread(out_axes, treedef, "out_axes")
        shapes = treedef.array_shapes
        wholes = [_whole(shape, axis, count) for shape, axis in zip(shapes, self._axes, strict=True)]
        self._targets = targets_of(out, treedef.with_shapes(wholes), kind)
        arrays = [
            numpy.empty(whole, kind) if target is None else numpy.asarray(target)
            for whole, target in zip(wholes, self._targets, strict=True)
        ]
        self.columns = [
            array[None] if axis is None else numpy.moveaxis(array, axis, 0)
            for array, axis in zip(arrays, self._axes, strict=True)
        ]
        self._ends = list(itertools.accumulate(math.prod(shape) for shape in shapes))
        self._copied: list[tuple[NDArray[Any], NDArray[Any]]] = []  # (target, column): column is copied to target

    def keep_apart(self, inputs: Sequence[NDArray[Any]]) -> None:
        """Replace the arrays in `out` that overlap with these inputs by temporary arrays; `tree` copies them back."""
        for i, (target, column) in enumerate(zip(self._targets, self.columns, strict=True)):
            if target is not None and any(overlap(target, array) for array in inputs):
                self.columns[i] = numpy.empty(column.shape, column.dtype)
                self._copied.append((column, self.columns[i]))

    def fill(self, position: int, numbers: Any) -> None:
        """Set one number of the result for all samples.

        `position` is the position of this number, counted over all leaves. `numbers` is an array with one number per
        sample, or a number for all samples.
        """
        leaf = bisect.bisect_right(self._ends, position)
        column = self.columns[leaf]
        start = self._ends[leaf] - math.prod(column.shape[1:])
        at: Any = numpy.unravel_index(position - start, column.shape[1:])
        with numpy.errstate(over="ignore"):  # numbers too large for float32 become inf
            column[:, *at] = numbers

    def refuse_varying(self, fixed: Sequence[int]) -> None:
        """Raise `ValueError` if a result without a batch axis differs between samples.

        `fixed` lists the positions of the numbers that are the same for all samples.
        """
        start = 0
        for end, axis, name in zip(self._ends, self._axes, self._treedef.paths("the result"), strict=True):
            if axis is None and not set(range(start, end)) <= set(fixed):
                raise ValueError(
                    f"out_axes can only be None for results that are the same for all samples, but {name} varies: "
                    "give the axis to stack the samples along, such as 0"
                )
            start = end

    def tree(self) -> Any:
        """Return the tree of results."""
        for target, column in self._copied:
            target[...] = column
        leaves = [
            target if target is not None else plain(column[0]) if axis is None else numpy.moveaxis(column, 0, axis)
            for target, column, axis in zip(self._targets, self.columns, self._axes, strict=True)
        ]
        return self._treedef.unflatten([of_recording(leaf) for leaf in leaves])


def _whole(shape: tuple[int, ...], axis: int | None, count: int) -> tuple[int, ...]:
    """Return the shape of a result for all samples, in which the batch axis is at `axis`."""
    if axis is None:
        return shape
    if not -len(shape) - 1 <= axis <= len(shape):
        raise ValueError(
            f"out_axes has {axis} for {'a number' if shape == () else f'an array of shape {shape}'}: the batch axis "
            f"must be from {-len(shape) - 1} to {len(shape)}"
        )
    place = axis % (len(shape) + 1)
    return *shape[:place], count, *shape[place:]


def columns_of(results: Any, count: int) -> list[Any]:
    """Return a list of columns: one column per number of the result, with one entry per sample."""
    leaves, _ = flatten(results, "the results")
    arrays = [numpy.asarray(leaf) for leaf in leaves]
    arrays = [array if array.dtype.kind in "Of" else array.astype(numpy.float64) for array in arrays]
    return [column for array in arrays for column in array.reshape(count, math.prod(array.shape[1:])).T]


def reduce_columns(reduce: str, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the reduction of each column of numbers: float64, or int64 for "argmax" and "argmin"."""
    kind = numpy.int64 if reduce.startswith("arg") else numpy.float64
    with numpy.errstate(all="ignore"):  # inf and nan are valid results
        return numpy.array([_REDUCTIONS[reduce](column) for column in columns], kind)


def _logsumexp(column: Any) -> Any:
    most = column.max(initial=-numpy.inf)
    shift = most if numpy.isfinite(most) else 0.0
    return numpy.log(numpy.exp(column - shift).sum()) + shift


_REDUCTIONS: dict[str, Callable[[Any], Any]] = {
    "max": numpy.max,
    "min": numpy.min,
    "prod": numpy.prod,
    "logsumexp": _logsumexp,
    "argmax": numpy.argmax,
    "argmin": numpy.argmin,
}
