"""Choose the order of numbers in an array, so that consecutive iterations of a loop access neighbors.

The indices of an operand in consecutive iterations are usually a period apart. Iterations that run at once would gather
such numbers one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.program.reroll.repeats import Moving, Repeat

Loops = tuple[Repeat, ...]


class Access(NamedTuple):
    """The numbers that an instruction accesses: an affine index and the loops around the instruction."""

    place: Moving
    loops: Loops

    def moved(self, by: int) -> Access:
        """Return the access to the numbers whose indices are larger by `by`."""
        return self._replace(place=self.place._replace(start=self.place.start + by))

    @property
    def indices(self) -> NDArray[numpy.int64]:
        """The index in all iterations of the loops, in order."""
        return indices(self.place, self.loops)

    @property
    def length(self) -> int:
        """The number of evenly spaced indices: the iterations of the innermost loop, and of loops that continue it."""
        pairs = [(stride, loop.times) for stride, loop in zip(self.place.strides, self.loops, strict=True) if stride]
        step, length = pairs[-1]
        for stride, times in reversed(pairs[:-1]):
            if stride != step * length:
                break
            length *= times
        return length

    def is_affine(self, cell_of: NDArray[numpy.int64]) -> bool:
        """Return whether the cell in an array is an affine index, too, if number i is in cell `cell_of[i]`."""
        return numpy.array_equal(cell_of[self.indices], indices(in_cells(cell_of, self.place), self.loops))


class Span(NamedTuple):
    """A range of numbers, from `least` to `greatest`, and all accesses to them that are indexed with a counter."""

    least: int
    greatest: int
    accesses: tuple[Access, ...]

    @classmethod
    def of(cls, access: Access) -> Span:
        """Return the range of an access."""
        return cls(*access.place.reaches(access.loops), (access,))

    def moved(self, by: int) -> Span:
        """Return the range whose indices are larger by `by`."""
        return Span(self.least + by, self.greatest + by, tuple([access.moved(by) for access in self.accesses]))


def table_access(table: Sequence[int]) -> Access:
    """Return the access of a `take` to its table. Numbers that are not evenly spaced keep their order."""
    steps = set(numpy.diff(table).tolist())
    if len(steps) == 1:
        return Access(Moving(table[0], tuple(steps)), (Repeat(0, 0, len(table), ()),))
    count = max(table) + 1 - min(table)
    return Access(Moving(min(table), (1,) if count > 1 else ()), (Repeat(0, 0, count, ()),)[: count - 1])


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, with overlapping spans joined."""
    groups: list[list[Span]] = []
    reached = -1
    for span in sorted(spans, key=lambda span: span[:2]):
        if groups and span.least <= reached:
            groups[-1].append(span)
        else:
            groups.append([span])
        reached = max(reached, span.greatest)
    return [
        Span(
            group[0].least, max(x.greatest for x in group), tuple(dict.fromkeys([a for x in group for a in x.accesses]))
        )
        for group in groups
    ]


def order(count: int, accesses: Iterable[Access]) -> NDArray[numpy.int64]:
    """Return a cell for each number from 0 to `count - 1`, so that the cells of all accesses are affine indices.

    Numbers that consecutive iterations of an innermost loop access are in consecutive cells where possible.
    """
    cell_of = numpy.arange(count)
    for least, greatest, inside in merged([Span.of(access) for access in accesses if any(access.place.strides)]):
        moved = [access.moved(-least) for access in inside]
        chained = _chained(greatest + 1 - least, moved)
        if all(access.is_affine(chained) for access in moved):
            cell_of[least : greatest + 1] = least + chained
    return cell_of


def _chained(count: int, accesses: Iterable[Access]) -> NDArray[numpy.int64]:
    """Return a cell for each number. A chain of numbers that consecutive iterations access has consecutive cells."""
    before, after = numpy.arange(count), numpy.arange(count)  # the neighbor in the chain, or the number itself
    for access in accesses:
        found = numpy.sort(access.indices.reshape(-1, access.length))
        one, other = found[:, :-1].ravel(), found[:, 1:].ravel()
        is_free = (after[one] == one) & (before[other] == other)
        after[one[is_free]], before[other[is_free]] = other[is_free], one[is_free]
    while not numpy.array_equal(before, before[before]):  # find the first number of each chain
        before = before[before]
    cell_of = numpy.empty(count, numpy.int64)
    cell_of[numpy.lexsort((numpy.arange(count), before))] = numpy.arange(count)
    return cell_of


def indices(place: Moving, around: Iterable[Repeat]) -> NDArray[numpy.int64]:
    """Return the values of an affine index in all iterations of the loops, in order."""
    found = numpy.array([place.start])
    for loop, stride in zip(around, place.strides, strict=True):
        if stride:
            found = numpy.add.outer(found, stride * numpy.arange(loop.times)).ravel()
    return found


def in_cells(cell_of: NDArray[numpy.int64], place: Moving) -> Moving:
    """Convert an affine index of numbers to the affine index of their cells."""
    start = int(cell_of[place.start])
    return Moving(start, tuple([int(cell_of[place.start + stride]) - start for stride in place.strides]))
