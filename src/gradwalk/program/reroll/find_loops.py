"""Finds the loops in a flat program: `fold(code)`.

A function with a loop of Python's is recorded as instructions that repeat themselves. They are found in rounds. In each
round, stretches whose operands move evenly are looked for at all periods at once. Those that save most become loops,
each of which is one item from then on, so that later rounds find the loops around them. What is in a loop is searched
in the same way, with items alike only if they move alike from one repetition of the loops around to the next.

Candidates for periods come from hashes of windows, of 1, 2, 4, ... items: where a window is equal to the one p items
before, p may be a period. In a stretch that repeats itself three times or more, a window of at least one period and
less than two has its latest equal one just a period before it, unless the opcodes alone have a shorter period, small
multiples of which are tried. So n items are searched in time proportional to n log n.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, TAKE
from gradwalk.program.reroll.repeats import Repeat
from gradwalk.program.reroll.sequence_ids import Shapes

if not TYPE_CHECKING and cython.compiled:
    import cython

_call = cython.declare(cython.int, CALL)
_take = cython.declare(cython.int, TAKE)

_fewest = cython.declare(cython.int, 3)  # repetitions of a loop: any two stretches with the same opcodes move evenly
_multiples = cython.declare(cython.int, 8)  # of a period of opcodes, which are tried as the period of operands
_patience = cython.declare(cython.int, 100)  # comparisons an item and round, after which a search ends

# What descriptions of shapes begin with, besides opcodes.
_loop_mark = cython.declare(cython.int, -1)
_within_mark = cython.declare(cython.int, -2)
_single_mark = cython.declare(cython.int, -3)


def fold(code: Code) -> tuple[Repeat, ...]:
    """Find the loops in a program.

    Args:
        code: The program.

    Returns:
        The loops, in order.
    """
    return _Search(code).loops()


@cython.final
@cython.cclass
class _Items:
    """Instructions and loops, one after the other.

    Attributes:
        at: Of each item, the number of its first instruction.
        shape: Its shape.
        weight: How many instructions it is written with.
        loop: Its number among the loops that were found, or -1.
    """

    count: cython.int
    at: cython.p_int
    shape: cython.p_int
    weight: cython.p_int
    loop: cython.p_int
    columns: list  # what these point into

    def __init__(self, columns: list) -> None:
        self.columns = columns
        self.count = len(columns[0])
        self.at, self.shape = c_compat.integers(columns[0]), c_compat.integers(columns[1])
        self.weight, self.loop = c_compat.integers(columns[2]), c_compat.integers(columns[3])


class _Found:
    """A loop that was found: what of `Repeat` is known, the items of a repetition, and the periods of loops around."""

    __slots__ = ("around", "begin", "count", "end", "inner", "items", "period", "start")

    def __init__(self, start: int, period: int, count: int, items: Any, begin: int, end: int) -> None:
        self.start, self.period, self.count = start, period, count
        self.items, self.begin, self.end = items, begin, end
        self.around: tuple[int, ...] = ()
        self.inner: list[int] = []


@cython.final
@cython.cclass
class _Search:
    """The search for loops in one program."""

    _code: cython.p_int
    _instructions: Any  # what `_code` points into
    _shapes: Shapes
    _found: list
    _top: _Items
    _comparisons: cython.longlong  # that may still be made in this round

    def __init__(self, code: Code) -> None:
        self._instructions = numpy.array(code.instructions, numpy.int32)
        self._code = c_compat.integers(self._instructions)
        self._shapes = Shapes()
        self._found = []
        self._top = self._single_instructions(len(code), code.inputs, code.first)

    def loops(self) -> tuple[Repeat, ...]:
        """Find them all, each as deep as it goes."""
        top = self._folded(self._top)
        waiting = list(top)
        outer_first: list = []
        while waiting:
            number = waiting.pop()
            outer_first.append(number)
            waiting += self._search_within(self._found[number])
        made: dict = {}
        for number in reversed(outer_first):
            found = self._found[number]
            inner = tuple([made[within] for within in found.inner])
            made[number] = Repeat(found.start, found.period, found.count, inner)
        return tuple([made[number] for number in top])

    def _search_within(self, found: _Found) -> list[int]:
        """Find the loops in a repetition of a loop, and return their numbers."""
        items: _Items = found.items
        around = (*found.around, found.period)
        if found.end - found.begin > 1 or items.loop[found.begin] >= 0:
            found.inner = self._folded(self._within(items, found.begin, found.end, around))
        for inner in found.inner:
            self._found[inner].around = around
        return found.inner

    @cython.cfunc
    def _single_instructions(self, count: cython.int, inputs: cython.int, first: cython.int) -> _Items:
        """Return the instructions as items.

        Calls are like nothing else, takes like those from the same table, and all else like what has the same opcode
        and operands of the same kinds: inputs, constants or results. So no operand of a loop goes from one kind to
        another.
        """
        columns = [numpy.arange(count, dtype=numpy.int32), numpy.empty(count, numpy.int32)]
        columns += [numpy.ones(count, numpy.int32), numpy.full(count, -1, numpy.int32)]
        items: _Items = _Items(columns)
        i: cython.int
        column: cython.int
        opcode: cython.int
        kinds: cython.int
        for i in range(count):
            opcode = self._code[4 * i]
            kinds = 0
            if opcode == _call:
                self._shapes.words.append(_single_mark)
                self._shapes.words.append(i)
            else:
                self._shapes.words.append(opcode)
                for column in range(1, 4):
                    kinds = 3 * kinds + _kind(self._code[4 * i + column], inputs, first)
                self._shapes.words.append(kinds)
                if opcode == _take:
                    self._shapes.words.append(self._code[4 * i + 2])
            self._shapes.places.append(0)
            items.shape[i] = self._shapes.finish()
        return items

    @cython.cfunc
    def _within(self, items: _Items, begin: cython.int, end: cython.int, periods: tuple) -> _Items:
        """Return the items from `begin` to `end`, alike only if they move alike in the loops of these periods."""
        inside: _Items = _Items([numpy.array(column[begin:end]) for column in items.columns])
        i: cython.int
        k: cython.int
        shape: cython.int
        period: cython.int
        for i in range(inside.count):
            shape = inside.shape[i]
            self._shapes.words.append(_within_mark)
            self._shapes.words.append(shape)
            for k in range(self._shapes.first_place.data[shape], self._shapes.first_place.data[shape + 1]):
                self._shapes.places.append(self._shapes.places.data[k])
                for period in periods:
                    self._append_strides(inside.at[i] + self._shapes.places.data[k], period)
            inside.shape[i] = self._shapes.finish()
        return inside

    @cython.cfunc
    def _append_strides(self, at: cython.int, period: cython.int) -> object:
        """Append to a description how the operands of an instruction move within a period."""
        column: cython.int
        for column in range(1, 4):
            self._shapes.words.append(self._code[4 * (at + period) + column] - self._code[4 * at + column])
        return None

    def _folded(self, items: _Items) -> list[int]:
        """Make loops of items, round after round, until there are none left; return the loops among the items."""
        while items.count >= _fewest:
            rows = self._stretches(items)
            if not rows:
                break
            items = self._with_loops(items, _chosen(items, rows))
        return [loop for loop in items.columns[3].tolist() if loop >= 0]

    def _stretches(self, items: _Items) -> list:
        """Find stretches that repeat themselves: for each where it begins, its period and its length, in items."""
        count: cython.int = items.count
        self._comparisons = _patience * count
        rows: list = []
        windows = numpy.array(items.columns[1])  # of each item, the hash of the window that begins with it
        cells = 1 << (2 * int(count)).bit_length()
        latest = numpy.empty(cells, numpy.int32)
        reached = numpy.zeros(count + 1, numpy.int32)  # of each period, up to where it has been tried
        good = numpy.zeros(count + 1, numpy.int32)  # and whether that is in a stretch
        window: cython.int = 1
        while window < count and self._comparisons > 0:
            latest.fill(-1)
            reached.fill(0)
            repeated = self._try_windows(
                items,
                window,
                c_compat.integers(windows),
                c_compat.integers(latest),
                cells - 1,
                c_compat.integers(reached),
                c_compat.integers(good),
                rows,
            )
            if not repeated:
                break
            _double(c_compat.integers(windows), count - window, window)
            window *= 2
        return rows

    @cython.cfunc
    def _try_windows(
        self,
        items: _Items,
        window: cython.int,
        hashes: cython.p_int,
        latest: cython.p_int,
        mask: cython.int,
        reached: cython.p_int,
        good: cython.p_int,
        rows: list,
    ) -> cython.bint:
        """Try as periods how far windows are from the latest equal ones; return whether any two are equal."""
        repeated: cython.bint = False
        i: cython.int
        cell: cython.int
        before: cython.int
        for i in range(items.count - window + 1):
            cell = (hashes[i] ^ (hashes[i] >> 15)) & mask
            before = latest[cell]
            latest[cell] = i
            if before < 0 or hashes[before] != hashes[i]:
                continue
            repeated = True
            if i - before <= window and 2 * (i - before) > window:
                self._try_period(items, i, i - before, reached, good, rows)
        return repeated

    @cython.cfunc
    def _try_period(
        self,
        items: _Items,
        i: cython.int,
        shortest: cython.int,
        reached: cython.p_int,
        good: cython.p_int,
        rows: list,
    ) -> object:
        """Look for a stretch before item i whose period is a multiple of that of its shapes; append it to the rows."""
        multiple: cython.int
        period: cython.int
        begin: cython.int
        end: cython.int
        for multiple in range(1, _multiples + 1):
            period = multiple * shortest
            begin = end = i - period
            if begin < 0 or 3 * period > items.count:
                return None
            if reached[period] > begin:
                if good[period]:
                    return None
                continue
            while self._moves_evenly(items, end, period):
                end += 1
            if end == begin:
                continue
            while begin > reached[period] and self._moves_evenly(items, begin - 1, period):
                begin -= 1
            reached[period] = end
            good[period] = end - begin >= period
            if good[period]:
                rows.append((begin, period, end - begin + 2 * period))
                return None
        return None

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _moves_evenly(self, items: _Items, i: cython.int, period: cython.int) -> cython.bint:
        """Return whether an item and those one and two periods later are alike, with operands at equal distances."""
        if i + 2 * period >= items.count:
            return False
        shape: cython.int = items.shape[i]
        if items.shape[i + period] != shape or items.shape[i + 2 * period] != shape:
            return False
        k: cython.int
        column: cython.int
        x: cython.int
        y: cython.int
        z: cython.int
        self._comparisons -= 1
        for k in range(self._shapes.first_place.data[shape], self._shapes.first_place.data[shape + 1]):
            x = 4 * (items.at[i] + self._shapes.places.data[k])
            y = 4 * (items.at[i + period] + self._shapes.places.data[k])
            z = 4 * (items.at[i + 2 * period] + self._shapes.places.data[k])
            for column in range(1, 4):
                if self._code[z + column] - self._code[y + column] != self._code[y + column] - self._code[x + column]:
                    return False
        return True

    @cython.cfunc
    def _with_loops(self, items: _Items, chosen: list) -> _Items:
        """Return the items with each of the chosen stretches, which are in order, as one."""
        saved = sum([length - 1 for _, _, length in chosen])
        shorter: _Items = _Items([numpy.empty(items.count - saved, numpy.int32) for _ in items.columns])
        begin: cython.int
        period: cython.int
        length: cython.int
        i: cython.int = 0
        k: cython.int = 0
        for begin, period, length in [*chosen, (items.count, 0, 0)]:
            while i < begin:
                shorter.at[k], shorter.shape[k] = items.at[i], items.shape[i]
                shorter.weight[k], shorter.loop[k] = items.weight[i], items.loop[i]
                i += 1
                k += 1
            if period:
                shorter.at[k], shorter.loop[k] = items.at[begin], len(self._found)
                shorter.shape[k] = self._append_loop(items, begin, period, length // period)
                shorter.weight[k] = sum(items.columns[2][begin : begin + period].tolist())
                i += length
                k += 1
        return shorter

    @cython.cfunc
    @cython.exceptval(-1)
    def _append_loop(self, items: _Items, begin: cython.int, period: cython.int, times: cython.int) -> cython.int:
        """Append a loop to those that were found, and return its shape."""
        start: cython.int = items.at[begin]
        flat: cython.int = items.at[begin + period] - start
        i: cython.int
        k: cython.int
        self._shapes.words.append(_loop_mark)
        self._shapes.words.append(times)
        for i in range(begin, begin + period):
            self._shapes.words.append(items.shape[i])
            for k in range(
                self._shapes.first_place.data[items.shape[i]], self._shapes.first_place.data[items.shape[i] + 1]
            ):
                self._shapes.places.append(items.at[i] - start + self._shapes.places.data[k])
                self._append_strides(items.at[i] + self._shapes.places.data[k], flat)
        self._found.append(_Found(start, flat, times, items, begin, begin + period))
        return self._shapes.finish()


def _chosen(items: _Items, rows: list) -> list:
    """Return those of the stretches that save most, or what the others leave of them, in order."""
    weights = numpy.concatenate([[0], numpy.cumsum(items.columns[2], dtype=numpy.int64)]).tolist()
    taken = numpy.zeros(items.count, numpy.int32)
    chosen: list = []
    best = [_rated(weights, *row) for row in rows]
    heapq.heapify(best)
    while best:
        _, period, begin, length = heapq.heappop(best)
        free = _free(c_compat.integers(taken), begin, begin + length)
        if free == [(begin, begin + length)]:
            begin, length = begin + length % period, length - length % period
            taken[begin : begin + length] = 1
            chosen.append((begin, period, length))
            continue
        for first, last in free:
            if last - first >= _fewest * period:
                heapq.heappush(best, _rated(weights, first, period, last - first))
    return sorted(chosen)


def _rated(weights: list, begin: int, period: int, length: int) -> tuple[int, int, int, int]:
    """Return a stretch behind how much it saves, negated."""
    return (1 - length // period) * (weights[begin + period] - weights[begin]), period, begin, length


@cython.cfunc
def _free(taken: cython.p_int, begin: cython.int, end: cython.int) -> list:
    """Return where the stretches within a stretch begin and end that are not taken."""
    found: list = []
    i: cython.int
    for i in range(begin, end):
        if taken[i]:
            if begin < i:
                found.append((begin, i))
            begin = i + 1
    if begin < end:
        found.append((begin, end))
    return found


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _kind(index: cython.int, inputs: cython.int, first: cython.int) -> cython.int:
    """Return 0 for an input, 1 for a constant and 2 for the result of an instruction."""
    return 0 if index < inputs else 1 if index < first else 2


@cython.cfunc
def _double(hashes: cython.p_int, count: cython.int, window: cython.int) -> object:
    """Make hashes of windows into those of windows of twice that size."""
    i: cython.int
    hashed: cython.ulonglong
    for i in range(count):
        hashed = hashes[i]
        hashed = (hashed * 1000003 + hashes[i + window]) * 0x5BD1E995
        # These bits are the same whether `hashed` has 64 bits or, in plain Python, any number of them.
        hashes[i] = (hashed >> 20) & 0x7FFFFFFF
    return None
