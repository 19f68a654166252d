"""`Repeat`: a sequence of instructions of a program that repeat, described as a loop.

Each iteration has the same instructions as the previous iteration, and each operand index changes by a constant stride.
So a `Repeat` stores only the position and length of the first iteration and the number of iterations. Everything else
is in the program, which still contains the instructions of all iterations.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from gradwalk.program.code.code import Code


class Repeat(NamedTuple):
    """A loop in a program.

    Attributes:
        start: The position of the loop's first instruction in the program.
        period: The number of instructions per iteration, including all iterations of nested loops.
        times: The number of iterations.
        inner: The loops nested in the first iteration, in order. Later iterations have the same nested loops.
    """

    start: int
    period: int
    times: int
    inner: tuple[Repeat, ...]

    @property
    def stop(self) -> int:
        """Position of the first instruction after the loop."""
        return self.start + self.period * self.times


class Moving(NamedTuple):
    """An affine index, `start + sum(strides[d] * counter[d])`, where each loop counter begins with 0.

    Attributes:
        start: The index in the first iteration of every loop.
        strides: One stride per enclosing loop, outermost first.
    """

    start: int
    strides: tuple[int, ...]

    def reaches(self, loops: Sequence[Repeat]) -> tuple[int, int]:
        """Return the smallest and the largest value of the index in these loops."""
        ends = [stride * (loop.times - 1) for stride, loop in zip(self.strides, loops, strict=True)]
        return self.start + sum(min(end, 0) for end in ends), self.start + sum(max(end, 0) for end in ends)

    def text(self, counters: Sequence[str]) -> str:
        """Format the index as a formula in loop counters. Extra counters are ignored.

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

    `loops` are the loops that enclose the instruction, outermost first. `i` is its position in the program in their
    first iterations.
    """
    fields = code.instructions
    at = 4 * i + column
    return Moving(int(fields[at]), tuple([int(fields[at + 4 * loop.period] - fields[at]) for loop in loops]))


def result(code: Code, i: int, loops: Sequence[Repeat]) -> Moving:
    """Return the affine index of the result of an instruction in the loops that enclose it."""
    return Moving(code.first + i, tuple([loop.period for loop in loops]))


def traversed(
    instructions: range, repeats: Sequence[Repeat]
) -> Iterator[tuple[Repeat | range | None, tuple[Repeat, ...]]]:
    """Traverse a range of instructions and its loops in the order in which they are printed.

    Yields pairs of a part and its enclosing loops. A part is a range of instruction positions, a loop (where this loop
    begins), or None (where a loop ends).

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
    """Return the number of instructions that are written if each loop body is written once.

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
    """Split a sequence into runs of at least `fewest` items with a constant step, and into single items.

    Args:
        steps: The step from each item to the next. A step of None never belongs to a run.
        fewest: Minimum number of items in a run.

    Returns:
        A pair (start, length) for each run and each single item.

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
