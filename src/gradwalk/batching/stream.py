"""`stream`: run a vmapped function chunk by chunk on batches that are larger than memory."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from numpy.typing import NDArray

from gradwalk.base.compensated import Totals
from gradwalk.batching.axes import SUMS, Batch, Batching, shown, spread
from gradwalk.batching.files.batch_program import BatchProgram
from gradwalk.batching.progress import counter
from gradwalk.batching.vmapped import Vmap
from gradwalk.trees.tree import flatten

T = TypeVar("T")
_ENDED = object()


def stream(f: Vmap[...] | BatchProgram, *args: Any, rows: int | None = None, progress: bool = False) -> Any:
    """Run a vmapped function chunk by chunk on a batch that is larger than memory.

    The arguments with a batch axis must either all be arrays or all be iterators. Arrays, such as a `numpy.memmap`, are
    cut into chunks without copying. Iterators yield chunks and are advanced together; a chunk is an argument of `f`
    with any number of samples. Arguments without a batch axis are used for every chunk.

    Args:
        f: `vmap(...)`, `jit(vmap(...))`, or a function that the method `lower` of one of them returned.
        *args: The arguments of `f`.
        rows: Number of samples per chunk; only for arrays.
        progress: Whether to show a progress bar that counts samples. Requires tqdm: pip install 'gradwalk[progress]'.

    Returns:
        If `f` reduces by "sum" or "mean": the sum or mean over all samples. Compensated summation keeps the rounding
        error independent of the number of chunks. Otherwise: an iterator over the results of the chunks. Each result is
        computed on demand.

    Raises:
        TypeError: `f` is not vmapped, arrays and iterators are mixed, or sums contain Values.
        ValueError: `rows` is missing or less than 1, one iterator ends before another, or there is no chunk to sum. The
            message of an error in a chunk gives the number of the chunk.

    Example:
        >>> import numpy
        >>> from gradwalk import jit, vmap
        >>> squares = jit(vmap(lambda x: x * x, reduce="sum"))
        >>> stream(squares, numpy.arange(1_000_000.0), rows=10_000)
        3.333328333335e+17
        >>> stream(squares, (numpy.full(n, 2.0) for n in (3, 1, 2)))
        24.0
    """
    if not isinstance(f, (Vmap, BatchProgram)):
        raise TypeError(f"stream() takes a vmapped function, such as jit(vmap(f)), not {f!r:.60}")
    batched = f.kept() if isinstance(f, Vmap) else f
    batches, total = _batches(batched.batching, args, rows)
    samples = counter(total, "samples", shown=progress)
    if batched.batching.reduce not in (None, *SUMS):
        raise ValueError(f"stream() takes reduce=None, 'sum' or 'mean', not {batched.batching.reduce!r}")
    if batched.batching.reduce is not None:
        return _reduced(batched, batches, samples)
    return _each(lambda batch: batched.trace(batch).results(batch, batched.batching), batches, samples)


def _reduced(batched: Vmap[...] | BatchProgram, batches: Iterator[Batch], samples: AbstractContextManager[Any]) -> Any:
    """Return the sum or mean over all chunks."""
    batching = batched.batching
    totals = last = None
    count = 0
    for batch, trace, sums in _each(lambda batch: _summed(batched, batch), batches, samples):
        totals = totals or Totals(len(sums))
        totals.add(sums)
        last = trace, batch.kind
        count += batch.size
    if totals is None or last is None:
        raise ValueError(
            f"there are no chunks, so the structure of the {batching.reduce} of {batching.name} is unknown: give at "
            "least one chunk"
        )
    trace, kind = last
    return trace.unflatten(batching.of_sums(totals.rounded(), count), kind)


def _summed(batched: Vmap[...] | BatchProgram, batch: Batch) -> tuple[Batch, Any, NDArray[Any]]:
    """Return a chunk, its recording and its sums. Raises `TypeError` if the sums contain Values."""
    trace = batched.trace(batch)
    sums = trace.sums(batch)
    if sums.dtype == object:
        raise TypeError(
            f"the results of {batched.batching.name} are Values, whose graphs would keep all chunks in memory: stream "
            "a gradient, as in stream(jit(vmap(grad(f)))), or call stream() under no_grad()"
        )
    return batch, trace, sums


def _each(compute: Callable[[Batch], T], batches: Iterator[Batch], samples: AbstractContextManager[Any]) -> Iterator[T]:
    """Compute a result from each chunk, on demand."""
    with samples as advance:
        for batch in batches:
            yield compute(batch)
            advance(batch.size)


def _batches(batching: Batching, args: Sequence[Any], rows: int | None) -> tuple[Iterator[Batch], int | None]:
    """Return the chunks, and the total number of samples or None if this number is unknown."""
    iterators = [i for i, arg in enumerate(args) if isinstance(arg, Iterator)]
    if iterators:
        if rows is not None:
            raise ValueError(f"rows={rows} applies to arrays only, not to iterators of chunks: leave it out")
        _refuse_arrays(batching, args, iterators)
        return _read(batching, args, iterators), None
    if rows is None:
        raise ValueError(
            "rows is missing: give the number of samples per chunk, such as rows=100_000, or give iterators of chunks, "
            "such as iter(list)"
        )
    if operator.index(rows) < 1:
        raise ValueError(f"rows must be at least 1, got {rows}")
    whole = batching.batch(args, {})
    starts = range(0, whole.size or 1, rows)  # for an empty batch, one empty chunk gives the structure of the result
    return (whole.rows(start, start + rows) for start in starts), whole.size


def _refuse_arrays(batching: Batching, args: Sequence[Any], iterators: Sequence[int]) -> None:
    """Raise `TypeError` for iterators without a batch axis and for arrays with a batch axis."""
    names = batching.parameters.first(len(args))
    for i, (arg, name, axes) in enumerate(zip(args, names, batching.axes(len(args)), strict=True)):
        if i in iterators:
            if axes is None:
                raise TypeError(
                    f"in_axes is None for {name}, so all chunks share it: pass the argument itself, not an iterator"
                )
        elif any(axis is not None for axis in spread(axes, flatten(arg, name)[1], f"in_axes of {name}")):
            raise TypeError(
                f"{name} has a batch axis and must be an iterator of chunks, because {names[iterators[0]]} is an "
                f"iterator: got {type(arg).__name__}"
            )


def _read(batching: Batching, args: Sequence[Any], iterators: Sequence[int]) -> Iterator[Batch]:
    """Read chunks from iterators."""
    names = batching.parameters.first(len(args))
    key = None
    for number in itertools.count():
        chunk = list(args)
        for i in iterators:
            chunk[i] = next(args[i], _ENDED)
        ended = [i for i in iterators if chunk[i] is _ENDED]
        if ended:
            if len(ended) < len(iterators):
                longer = next(i for i in iterators if i not in ended)
                raise ValueError(f"{names[ended[0]]} ended after {number} chunks, but {names[longer]} has more")
            return
        try:
            batch = batching.batch(chunk, {})
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"chunk {number} (counted from 0): {error}") from None
        key = key or batch.key
        if batch.key != key:
            raise ValueError(
                f"chunk {number} (counted from 0) of {batching.name} has samples like {shown(batch.key)}, but earlier "
                f"chunks have samples like {shown(key)}"
            )
        yield batch
