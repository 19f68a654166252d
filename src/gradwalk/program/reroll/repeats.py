"""`Repeat`: a run of repeated instructions of a program, seen as a loop.

Each iteration has the same instructions as the previous one; each operand index changes by a constant stride. So a loop
only stores where its first iteration is and how many iterations there are. Everything else is read from the program,
and running a loop means running its instructions in order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from gradwalk.program.code.code import Code


class Repeat(NamedTuple):
    """A loop in a program.

    Attributes:
        start: The ordinal of its first instruction.
        period: The number of instructions per iteration, with nested loops unrolled.
        times: The number of iterations.
        inner: The loops nested in the first iteration, in order; later iterations have the same.
    """

    start: int
    period: int
    times: int
    inner: tuple[Repeat, ...]

    @property
    def stop(self) -> int:
        """Ordinal of the first instruction after the loop."""
        return self.start + self.period * self.times


class Moving(NamedTuple):
    """An affine index: `start + sum(stride[d] * counter[d])`, with counters from 0.

    Attributes:
        start: Its value in the first iterations.
        strides: One stride per enclosing loop, outermost first.
    """

    start: int
    strides: tuple[int, ...]

    def reaches(self, loops: Sequence[Repeat]) -> tuple[int, int]:
        """Return the smallest and the largest value of the index in these loops."""
        ends = [stride * (loop.times - 1) for stride, loop in zip(self.strides, loops, strict=True)]
        return self.start + sum(min(end, 0) for end in ends), self.start + sum(max(end, 0) for end in ends)

    def text(self, counters: Sequence[str]) -> str:
        """Format the index as a formula of loop counters; extra counters are ignored.

        Example:
            >>> Moving(7, (16, -1)).text(["i", "j"])
            '7 + 16*i - j'
        """
        text = str(self.start) if self.start or not any(self.strides) else ""
        for stride, counter in zip(self.strides, counters, strict=False):
            if stride:
                sign = "-" if stride < 0 else "+" if text else ""
                term = counter if abs(stride) == 1 else f"{abs(stride)}*{counter}"
                text = f"{text} {sign} {term}" if text else f"{sign}{term}"
        return text


def operand(code: Code, i: int, column: int, loops: Sequence[Repeat]) -> Moving:
    """Return the affine index of the operand in field `column` (1 to 3) of an instruction.

    `i` is the ordinal of the instruction in the first iterations of its enclosing loops, outermost first.
    """
    fields = code.instructions
    at = 4 * i + column
    return Moving(int(fields[at]), tuple([int(fields[at + 4 * loop.period] - fields[at]) for loop in loops]))


def result(code: Code, i: int, loops: Sequence[Repeat]) -> Moving:
    """Return the affine index of the result of an instruction in its enclosing loops."""
    return Moving(code.first + i, tuple([loop.period for loop in loops]))


def traversed(
    instructions: range, repeats: Sequence[Repeat]
) -> Iterator[tuple[Repeat | range | None, tuple[Repeat, ...]]]:
    """Traverse a range of instructions with its loops, in the order in which they are printed.

    Yields ranges of instruction ordinals, each loop where it begins, and None where a loop ends; each with the
    enclosing loops.

    Example:
        >>> for part, around in traversed(range(10), [Repeat(2, 1, 8, ())]):
        ...     print(part, len(around))
        range(0, 2) 0
        Repeat(start=2, period=1, times=8, inner=()) 0
        range(2, 3) 1
        None 0
    """
    around: tuple[Repeat, ...] = ()
    waiting = [iter(_parts(instructions, repeats))]
    while waiting:
        part = next(waiting[-1], None)
        if part is None:
            waiting.pop()
            if around:
                around = around[:-1]
                yield None, around
            continue
        yield part, around
        if isinstance(part, Repeat):
            around = (*around, part)
            waiting.append(iter(_parts(range(part.start, part.start + part.period), part.inner)))


def _parts(instructions: range, repeats: Sequence[Repeat]) -> list[range | Repeat]:
    """Split a range of instructions into loops and the ranges between them."""
    found: list[range | Repeat] = []
    start = instructions.start
    for repeat in repeats:
        if repeat.start > start:
            found.append(range(start, repeat.start))
        found.append(repeat)
        start = repeat.stop
    return found if start == instructions.stop else [*found, range(start, instructions.stop)]


def written(length: int, repeats: Sequence[Repeat]) -> int:
    """Return the number of instructions outside loops and in the first iterations of loops.

    Example:
        >>> written(10, [Repeat(2, 1, 8, ())])
        3
    """
    waiting = list(repeats)
    while waiting:
        repeat = waiting.pop()
        length -= repeat.period * (repeat.times - 1)
        waiting += repeat.inner
    return length


def even_runs(steps: Sequence[Hashable], fewest: int) -> list[tuple[int, int]]:
    """Split a sequence into runs of at least `fewest` items with a constant step, and single items.

    Args:
        steps: The step from each item to the next. None never belongs to a run.
        fewest: Minimum number of items in a run.

    Returns:
        Pairs (start, length) of runs and single items.

    Example:
        >>> even_runs([1, 1, 1, 5, None], 3)
        [(0, 4), (4, 1), (5, 1)]
    """
    runs: list[tuple[int, int]] = []
    done = 0
    for step, alike in groupby(range(len(steps)), key=steps.__getitem__):
        pairs = list(alike)
        start, stop = max(pairs[0], done), pairs[-1] + 2
        if step is not None and stop - start >= fewest:
            runs += [*((i, 1) for i in range(done, start)), (start, stop - start)]
            done = stop
    return runs + [(i, 1) for i in range(done, len(steps) + 1)]
