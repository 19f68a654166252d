"""`Repeat`: instructions of a program that repeat earlier ones, written as a loop.

A repetition has the instructions of the one before, with operands that are the same or further on by a constant stride.
So a loop says no more than where the instructions of its first repetition are, and how many repetitions there are: all
else is read off the program, and running the loop is running the instructions in their order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from gradwalk.program.code.code import Code


class Repeat(NamedTuple):
    """A loop.

    Attributes:
        start: The number of its first instruction among all instructions.
        period: How many instructions a repetition has.
        times: How many repetitions there are, the first one included.
        inner: The loops in the first repetition, and thereby in all of them, in order.
    """

    start: int
    period: int
    times: int
    inner: tuple[Repeat, ...]

    @property
    def stop(self) -> int:
        """The number of the first instruction after it."""
        return self.start + self.period * self.times


class Moving(NamedTuple):
    """A number that moves with the loops around it.

    Attributes:
        start: What it is in their first repetitions.
        strides: For each loop, the outermost first, how far it moves from one repetition to the next.
    """

    start: int
    strides: tuple[int, ...]

    def reaches(self, loops: Sequence[Repeat]) -> tuple[int, int]:
        """Return the least and the greatest number that it is in these loops."""
        ends = [stride * (loop.times - 1) for stride, loop in zip(self.strides, loops, strict=True)]
        return self.start + sum(min(end, 0) for end in ends), self.start + sum(max(end, 0) for end in ends)

    def text(self, counters: Sequence[str]) -> str:
        """Write it as a formula of the counters of the loops, from 0 on; there may be more counters than loops.

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
    """Return the index of an operand, in the loops around the instruction.

    Args:
        code: The program.
        i: The number of the instruction in the first repetitions.
        column: The number of the operand, from 1 on.
        loops: The loops, the outermost first.

    Returns:
        The index.
    """
    fields = code.instructions
    at = 4 * i + column
    return Moving(int(fields[at]), tuple([int(fields[at + 4 * loop.period] - fields[at]) for loop in loops]))


def result(code: Code, i: int, loops: Sequence[Repeat]) -> Moving:
    """Return the index of an instruction's result, in the loops around it."""
    return Moving(code.first + i, tuple([loop.period for loop in loops]))


def traversed(
    instructions: range, repeats: Sequence[Repeat]
) -> Iterator[tuple[Repeat | range | None, tuple[Repeat, ...]]]:
    """Go through a stretch of a program with its loops, as it is written.

    Args:
        instructions: The numbers of the instructions.
        repeats: The loops there.

    Yields:
        Ranges of numbers of instructions, loops as they begin, and None where a loop ends; each with the loops around.

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
    """Split a stretch into loops and what is between them."""
    found: list[range | Repeat] = []
    start = instructions.start
    for repeat in repeats:
        if repeat.start > start:
            found.append(range(start, repeat.start))
        found.append(repeat)
        start = repeat.stop
    return found if start == instructions.stop else [*found, range(start, instructions.stop)]


def written(length: int, repeats: Sequence[Repeat]) -> int:
    """Count the instructions of a program where each is written once that loops repeat.

    Args:
        length: The number of instructions.
        repeats: The loops.

    Returns:
        The number of instructions outside of loops, and in the first repetitions of loops.

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
    """Split a sequence into runs with the same step from each item to the next, and single items.

    Args:
        steps: The step from each item but the last to the next, or None.
        fewest: How many items a run has at least.

    Returns:
        For each run, and each single item, where it begins and how long it is.

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
