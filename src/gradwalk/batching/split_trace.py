"""`SplitTrace`: the recordings of a function whose samples take several paths through its branches.

The samples of a batch are grouped by the path that they take, and each group is computed by the kernel of its path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.base.compensated import Totals
from gradwalk.batching.axes import Batch, Batching
from gradwalk.batching.batched_trace import BatchedTrace
from gradwalk.batching.out_argument import Target, put
from gradwalk.batching.outputs import Outputs
from gradwalk.program.tracing.paths import Outcomes, Paths
from gradwalk.trees.tree import common_types, flatten
from gradwalk.value.modes import RecordingError, is_staging

Samples = NDArray[numpy.intp]
Record = Callable[[Batch, Outcomes], BatchedTrace]

_MOST_PATHS = 1000  # per batch


class Part(NamedTuple):
    """A group of samples that take the same path: its recording, and the positions of the samples."""

    trace: BatchedTrace
    samples: Samples


class _Unassigned(NamedTuple):
    """Positions of samples whose path begins with the outcomes `begin`."""

    samples: Samples
    begin: Outcomes


def split(batch: Batch, paths: Paths[BatchedTrace], record: Record, batching: Batching) -> BatchedTrace | SplitTrace:
    """Return the recording for a batch, or the recordings if the samples take different paths.

    Args:
        batch: The batch.
        paths: The recordings that are known already. New recordings are added to it.
        record: Records the function for the first sample of a batch, with imposed outcomes: see `Recording`.
        batching: The axes and the reduction.

    Raises:
        RecordingError: The samples take more than 1,000 paths, or an enclosing recording refuses branches.
        ValueError: The results of two paths have different structures.
    """
    parts: list[Part] = []
    left = [_Unassigned(numpy.arange(batch.size), ())]
    while left:
        samples, begin = left.pop()
        group = batch if len(samples) == batch.size else batch.take(samples)
        trace = paths.find(batch.key, begin) or paths.add(batch.key, _recorded(record, group, begin))
        if not trace.outcomes or not batch.size:
            return trace
        positions, numbers = trace.departures(group)
        # Two programs may round a condition differently, for example because one of them contracts operations. Then no
        # path fits, and the samples take this one.
        takes = (positions == len(trace.outcomes)) | (positions < len(begin))
        are_all = takes.all()
        if takes.any():
            parts.append(Part(trace, samples if are_all else samples[takes]))
        if len(parts) > _MOST_PATHS:
            raise _too_many(batching)
        if not are_all:
            [leaving] = (~takes).nonzero()
            left += _unassigned(trace, samples[leaving], positions[leaving], numbers[leaving])
    parts = _merged(parts)
    paths.put_first(batch.key, parts[0].trace)
    if is_staging():
        _record_conditions(parts, batch)
    return parts[0].trace if len(parts) == 1 else SplitTrace(parts, batching)


def _recorded(record: Record, group: Batch, begin: Outcomes) -> BatchedTrace:
    """Record the function for the first sample of a group. The outcomes of the path begin with `begin`.

    Kernels decide which path a sample takes. If Python rounds a condition differently, the outcome of the kernel is
    imposed on the recording, so that equal samples take equal paths.
    """
    trace = record(group, ())
    return trace if trace.outcomes[: len(begin)] == begin else record(group, begin)


def _unassigned(
    trace: BatchedTrace, samples: Samples, positions: NDArray[Any], numbers: NDArray[Any]
) -> Iterator[_Unassigned]:
    """Divide samples that leave a path by the condition and the outcome with which they do.

    `positions` and `numbers` tell where the samples leave the path: see `BatchedTrace.departures`.
    """
    while len(samples):
        position = positions[0]
        here = positions == position
        # The number matters only if the condition is not a bool.
        is_bool = isinstance(trace.outcomes[int(position)], bool)
        for number in [0.0] if is_bool else numpy.unique(numbers[here], equal_nan=True).tolist():
            is_same = here if is_bool else here & ((numbers == number) | ((number != number) & numpy.isnan(numbers)))
            yield _Unassigned(samples[is_same], trace.left_at(int(position), number))
        others = ~here
        samples, positions, numbers = samples[others], positions[others], numbers[others]


def _merged(parts: list[Part]) -> list[Part]:
    """Return one part for each trace, in which the samples are in order. The largest part comes first."""
    of_traces: dict[int, list[Part]] = {}
    for part in parts:
        of_traces.setdefault(id(part.trace), []).append(part)
    merged = [
        same[0]
        if len(same) == 1
        else Part(same[0].trace, numpy.sort(numpy.concatenate([part.samples for part in same])))
        for same in of_traces.values()
    ]
    return sorted(merged, key=lambda part: -len(part.samples))


def _record_conditions(parts: list[Part], batch: Batch) -> None:
    """Make it a condition of the enclosing recording, if any, that each sample takes its path.

    The conditions are asked sample by sample, because their order must not depend on the recordings known already.
    """
    trace_of = {i: trace for trace, samples in parts for i in samples.tolist()}
    for i in range(batch.size):
        trace_of[i].record_conditions(batch, i)


def _too_many(batching: Batching) -> RecordingError:
    return RecordingError(
        f"the samples of a batch take more than {_MOST_PATHS:,} paths through the branches of {batching.name}, and "
        "each path needs its own recording: choose with gradwalk.math.where, or branch and repeat with "
        "gradwalk.loops.cond and while_loop, which are part of one recording"
    )


class SplitTrace:
    """The recordings for the groups of a batch. It has the methods of `BatchedTrace` that `vmap` uses.

    Args:
        parts: The groups. Each sample is in one of them.
        batching: The axes and the reduction.

    Raises:
        ValueError: The results of two paths have different structures.
    """

    def __init__(self, parts: list[Part], batching: Batching) -> None:
        first = parts[0].trace
        for other, _ in parts:
            if other.treedef != first.treedef:
                raise ValueError(
                    f"the results of {batching.name} have different structures for different samples: "
                    f"{first.treedef} and {other.treedef}. Return results of one structure from all branches"
                )
        self.parts = parts
        floats = [float] * len(first.treedef.shapes)
        self.treedef = first.treedef.typed(common_types(trace.treedef.types or floats for trace, _ in parts))
        self.unflatten = first.unflatten
        self._first = first

    def results(self, batch: Batch, batching: Batching, out: Any = None) -> Any:
        """Return the results for a batch: see `BatchedTrace.results`."""
        if batching.reduce is not None:
            targets = [] if out is None else self.targets(batch, batching, out, batch.kind)
            result = self.unflatten(batching.of_sums(self.sums(batch), batch.size), batch.kind)
            return result if out is None else put(result, targets)
        has_values = any(trace.has_values(batch) for trace, _ in self.parts)
        if out is not None:
            self.refuse_values(batch, batching)
        outputs = Outputs(self.treedef, batching.out_axes, batch.size, object if has_values else batch.kind, out)
        outputs.refuse_varying([])
        stacked = batching._replace(out_axes=0)
        # All groups are computed before the first is written, because `out` may overlap with the arguments.
        found = [trace.results(batch.take(samples), stacked) for trace, samples in self.parts]
        for (_, samples), tree in zip(self.parts, found, strict=True):
            for column, leaf in zip(outputs.columns, flatten(tree, "the results")[0], strict=True):
                column[samples] = leaf
        return outputs.tree()

    def sums(self, batch: Batch) -> NDArray[Any]:
        """Return the sums over a batch: see `BatchedTrace.sums`."""
        found = [trace.sums(batch.take(samples)) for trace, samples in self.parts]
        if any(sums.dtype == object for sums in found):
            return numpy.asarray(numpy.sum(found, axis=0))
        totals = Totals(len(found[0]))
        for sums in found:
            totals.add(sums)
        return totals.rounded()

    def stays_whole(self, batch: Batch) -> bool:
        """Return False: a group may become a `BatchCall`, but the batch does not become one."""
        del batch
        return False

    def targets(self, batch: Batch, batching: Batching, out: Any, kind: Any) -> list[Target]:
        """Return the target array of each leaf of a reduced result: see `BatchedTrace.targets`."""
        self.refuse_values(batch, batching)
        return self._first.targets(batch, batching, out, kind)

    def refuse_values(self, batch: Batch, batching: Batching) -> None:
        """Raise `TypeError` if the results for a batch are Values, which cannot be written to `out`."""
        for trace, _ in self.parts:
            trace.refuse_values(batch, batching)
