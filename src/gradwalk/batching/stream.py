"""`stream`: batches that are larger than memory, computed a chunk at a time."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy
from numpy.typing import NDArray

from gradwalk.batching.axes import Batch, Batching, shown, spread
from gradwalk.batching.progress import bar
from gradwalk.batching.vmap import Lowered, Vmap
from gradwalk.trees.tree import flattened

T = TypeVar("T")
_ENDED = object()


def stream(f: Callable[..., Any], *args: Any, rows: int | None = None, progress: bool = False) -> Any:
    """What a vmapped function makes of a batch that is larger than memory, a chunk at a time.

    `f` is `vmap(...)`, `jit(vmap(...))`, or what their `lower` returns; `args` are its arguments. Those with a batch
    axis are either arrays, such as a `numpy.memmap`, all of them, and are cut into chunks of `rows` samples without a
    copy; or iterators, all of them, which are read in step: each of their chunks is such an argument, of any number of
    samples. The others are the same for all chunks.

    Returns the sum or the mean over all samples, where `f` has `reduce`: sums keep what rounding takes away, so their
    error does not grow with the number of chunks. Elsewhere returns an iterator of the results for each chunk, each
    computed when it is asked for.

    With `progress`, a bar counts samples; it takes tqdm: pip install 'gradwalk[progress]'.

    Raises `TypeError` where `f` is not vmapped, where arrays and iterators come together, and where sums hold Values;
    `ValueError` where `rows` is missing or less than 1, where one iterator ends before another, and where a sum has
    none to know its structure by. What is wrong with a chunk is raised with its number.

    >>> from gradwalk import jit, vmap
    >>> squares = jit(vmap(lambda x: x * x, reduce="sum"))
    >>> stream(squares, numpy.arange(1_000_000.0), rows=10_000)
    3.333328333335e+17
    >>> stream(squares, (numpy.full(n, 2.0) for n in (3, 1, 2)))
    24.0
    """
    if not isinstance(f, (Vmap, Lowered)):
        raise TypeError(f"stream() takes a vmapped function, such as jit(vmap(f)), not {f!r:.60}")
    batched = f.kept() if isinstance(f, Vmap) else f
    batches, total = _batches(batched.batching, args, rows)
    counter = bar(total, "samples") if progress else nullcontext(lambda _: None)
    if batched.batching.reduce is not None:
        return _reduced(batched, batches, counter)
    return _each(lambda batch: batched.recorded(batch).results(batch, batched.batching), batches, counter)


class _Totals:
    """Sums, and what rounding has taken away from each of them: Neumaier's summation."""

    def __init__(self, count: int) -> None:
        self._sums = numpy.zeros(count)
        self._lost = numpy.zeros(count)

    def add(self, numbers: NDArray[Any]) -> None:
        """Add a number to each sum."""
        with numpy.errstate(all="ignore"):
            sums = self._sums + numbers
            is_larger = abs(self._sums) >= abs(numbers)
            larger, smaller = numpy.where(is_larger, (self._sums, numbers), (numbers, self._sums))
            self._lost += larger - sums + smaller
        self._sums = sums

    def rounded(self) -> NDArray[Any]:
        """The sums."""
        with numpy.errstate(all="ignore"):  # inf takes all else away
            return numpy.where(numpy.isfinite(self._lost), self._sums + self._lost, self._sums)


def _reduced(batched: Vmap | Lowered, batches: Iterator[Batch], counter: AbstractContextManager[Any]) -> Any:
    """The sums or means over all batches."""
    batching = batched.batching
    totals = last = None
    count = 0
    for batch, recorded, sums in _each(lambda batch: _summed(batched, batch), batches, counter):
        totals = totals or _Totals(len(sums))
        totals.add(sums)
        last = recorded, batch.kind
        count += batch.size
    if totals is None or last is None:
        raise ValueError(f"there is no chunk, so nothing says what the {batching.reduce} of {batching.name} is like")
    recorded, kind = last
    return recorded.filled(batching.of_sums(totals.rounded(), count), kind)


def _summed(batched: Vmap | Lowered, batch: Batch) -> tuple[Batch, Any, NDArray[Any]]:
    """A batch, its recording and its sums. Raises `TypeError` where these hold Values."""
    recorded = batched.recorded(batch)
    sums = recorded.sums(batch)
    if sums.dtype == object:
        raise TypeError(
            f"the {batched.batching.reduce} of {batched.batching.name} holds Values, which keep all that they were "
            "computed from: differentiate inside, as in vmap(grad(f)), or call stream() under no_grad()"
        )
    return batch, recorded, sums


def _each(compute: Callable[[Batch], T], batches: Iterator[Batch], counter: AbstractContextManager[Any]) -> Iterator[T]:
    """What is computed from each batch, when it is asked for."""
    with counter as advance:
        for batch in batches:
            yield compute(batch)
            advance(batch.size)


def _batches(batching: Batching, args: Sequence[Any], rows: int | None) -> tuple[Iterator[Batch], int | None]:
    """The chunks, and how many samples they have, where that is known beforehand."""
    iterators = [i for i, arg in enumerate(args) if isinstance(arg, Iterator)]
    if iterators:
        if rows is not None:
            raise ValueError(f"rows={rows} is how to cut arrays: chunks that come from iterators are taken as they are")
        _refuse_arrays(batching, args, iterators)
        return _read(batching, args, iterators), None
    if rows is None:
        raise ValueError(
            "say how many samples to take at a time: rows=100_000, say; or give iterators of chunks, such as iter(list)"
        )
    if operator.index(rows) < 1:
        raise ValueError(f"rows={rows}: a chunk has at least one sample")
    whole = batching.batch(args, {})
    starts = range(0, whole.size or 1, rows)  # an empty batch is one chunk: it has a structure
    return (whole.rows(start, start + rows) for start in starts), whole.size


def _refuse_arrays(batching: Batching, args: Sequence[Any], iterators: Sequence[int]) -> None:
    """Raise `TypeError` where an argument is an iterator and has no batch axis, or has one and is none."""
    names = batching.parameters.first(len(args))
    for i, (arg, name, axes) in enumerate(zip(args, names, batching.axes(len(args)), strict=True)):
        if i in iterators:
            if axes is None:
                raise TypeError(f"in_axes has None for {name}, which all samples share: give it as it is, no iterator")
        elif any(axis is not None for axis in spread(axes, flattened(arg, name)[1], f"in_axes of {name}")):
            raise TypeError(
                f"{name} has a batch axis and is no iterator, while {names[iterators[0]]} is one: give an iterator of "
                "its chunks, too"
            )


def _read(batching: Batching, args: Sequence[Any], iterators: Sequence[int]) -> Iterator[Batch]:
    """The chunks that iterators give."""
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
                raise ValueError(f"{names[ended[0]]} ended after {number} chunks, and {names[longer]} goes on")
            return
        try:
            batch = batching.batch(chunk, {})
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"chunk {number} (from 0 on): {error}") from None
        key = key or batch.key
        if batch.key != key:
            raise ValueError(
                f"chunk {number} (from 0 on) of {batching.name} has samples like {shown(batch.key)}, and those before "
                f"have samples like {shown(key)}"
            )
        yield batch
