"""Reductions over a batch other than sums: max, min, prod, logsumexp, argmax and argmin.

In the recording of a long batch, max, min and logsumexp make two passes over the samples. First, one instruction
without derivatives (`ExtremeCall`) finds the maximum or minimum. Then sums over the batch are computed, through which
the derivatives flow: for max and min, sums over the results that tie; for logsumexp, the sum of exp(result - maximum).
The derivatives of these sums are computed as batches, too.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy

from gradwalk import math
from gradwalk.batching.argmax import extreme, from_shares, place, share
from gradwalk.batching.axes import Axes, Batch
from gradwalk.batching.batched_trace import BatchedTrace
from gradwalk.batching.files.batch_program import BatchProgram
from gradwalk.batching.out_argument import put
from gradwalk.batching.outputs import columns_of, reduce_columns
from gradwalk.batching.split_trace import SplitTrace
from gradwalk.batching.vmapped import Vmap
from gradwalk.loops import scan
from gradwalk.program.native.policy import DEFAULT, Policy
from gradwalk.trees.tree import flatten, scalars
from gradwalk.value.value import Value

P = ParamSpec("P")


class Reduction(Vmap[P]):
    """A function of batches whose results are reduced by something other than a sum or mean: see `vmap`."""

    def __init__(
        self,
        f: Callable[P, Any],
        in_axes: Axes,
        out_axes: Axes,
        reduce: str,
        keeps: bool = False,
        policy: Policy = DEFAULT,
        follows_branches: bool = True,
        axis_size: int | None = None,
    ) -> None:
        super().__init__(f, in_axes, out_axes, reduce, keeps, policy, follows_branches, axis_size)
        self._reduce = reduce
        self._sums: dict[int, Vmap[...]] = {}  # keyed by the number of positional arguments

    def _results(self, batch: Batch, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> Any:
        """Return the reduced results."""
        if not batch.size and self._reduce not in ("prod", "logsumexp"):
            raise ValueError(
                f"reduce={self._reduce!r} of {self.batching.name}: the batch is empty; give at least 1 sample"
            )
        trace = self.trace(batch)
        if trace.treedef.pairs:
            raise TypeError(
                f"reduce={self._reduce!r} of {self.batching.name} requires real results, got {trace.treedef}: only "
                "'sum' and 'mean' reduce complex numbers"
            )
        if out is None:
            return self._reduced(trace, batch, args, kwargs)
        kind = numpy.int64 if self._reduce.startswith("arg") else batch.kind
        targets = trace.targets(batch, self.batching, out, kind)
        return put(self._reduced(trace, batch, args, kwargs), targets)

    def _reduced(
        self, trace: BatchedTrace | SplitTrace, batch: Batch, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        if not isinstance(trace, BatchedTrace) or not trace.stays_whole(batch):
            return self._of_stacked(trace, batch)
        if self._reduce == "prod":
            return self._product(trace, batch)
        best, places = trace.extremes(batch, largest=self._reduce not in ("min", "argmin"))
        if self._reduce.startswith("arg"):
            return trace.treedef.filled(places)
        sums = self._sums_of(len(args))(best, *args, **kwargs)
        combine = _log_of_sum if self._reduce == "logsumexp" else from_shares
        return trace.treedef.filled([combine(number, *terms) for number, terms in zip(best, sums, strict=True)])

    def sums_over_others(self, argnums: int | Sequence[int]) -> bool:
        """Return False: the results are not sums."""
        return False

    def lower(self, *args: Any, **kwargs: Any) -> BatchProgram:
        """Raise `ValueError`: only stacked, summed or averaged results can be lowered."""
        raise ValueError(f"lower() takes functions with reduce=None, 'sum' or 'mean', not {self._reduce!r}")

    def _sums_of(self, count: int) -> Vmap[...]:
        """Return a function of the extremes and the arguments. It sums the terms of the reduction over the batch."""
        if count not in self._sums:
            terms = _shifted if self._reduce == "logsumexp" else functools.partial(share, largest=self._reduce == "max")

            def of_sample(best: Any, *args: Any, **kwargs: Any) -> list[Any]:
                results = scalars(flatten(self._f(*args, **kwargs), "the result")[0])
                return [terms(x, number) for x, number in zip(results, best, strict=True)]

            axes = (None, *self.batching.axes(count))
            options = self.keeps, self._policy, self._follows_branches, self.batching.axis_size
            self._sums[count] = Vmap(of_sample, axes, 0, "sum", *options)
        return self._sums[count]

    def _product(self, trace: BatchedTrace, batch: Batch) -> Any:
        columns = columns_of(trace.results(batch, self.batching._replace(reduce=None)), batch.size)
        rows = numpy.stack(columns, axis=1)
        first = numpy.ones(len(columns))
        product, _ = scan(lambda carry, row: (carry * row, None), first, rows)
        return trace.unflatten(product, batch.kind)

    def _of_stacked(self, trace: BatchedTrace | SplitTrace, batch: Batch) -> Any:
        columns = columns_of(trace.results(batch, self.batching._replace(reduce=None)), batch.size)
        found = [
            _OF_VALUES[self._reduce](column) if column.dtype == object else reduce_columns(self._reduce, [column])[0]
            for column in columns
        ]
        has_values = any(isinstance(x, Value) for x in found)
        if self._reduce.startswith("arg") and not has_values:
            return trace.treedef.as_floats().filled(numpy.array(found, numpy.int64))
        return trace.unflatten(numpy.array(found, object if has_values else numpy.float64), batch.kind)


def _shifted(x: Any, best: Any) -> tuple[Any]:
    """Return the term exp(x - shift) of one result in logsumexp."""
    return (math.exp(x - _shift(best)),)


def _log_of_sum(best: Any, total: Any) -> Any:
    return math.log(total) + _shift(best)


def _shift(best: Any) -> Any:
    """Return the shift of the exponents: the maximum, or 0 if the maximum is infinite."""
    return math.where(math.fabs(best) < numpy.inf, best, 0.0)


_OF_VALUES: dict[str, Callable[[Any], Any]] = {
    "max": functools.partial(extreme, largest=True),
    "min": functools.partial(extreme, largest=False),
    "prod": lambda column: functools.reduce(operator.mul, column, 1.0),
    "logsumexp": lambda column: math.logsumexp(list(column)),
    "argmax": functools.partial(place, largest=True),
    "argmin": functools.partial(place, largest=False),
}
