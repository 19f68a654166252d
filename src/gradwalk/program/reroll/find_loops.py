"""Find the loops in a flat program: `fold(code)`.

A traced Python loop is a sequence of instructions that repeat with a period: the operand indices change by a constant
stride from one iteration to the next. Loops are found in rounds. Each round finds repeated sequences with any period,
and replaces the sequences that save the most instructions by loops. A loop counts as one item in later rounds, which
find the loops around it. Loop bodies are searched in the same way. Two items of a loop body are equal only if their
strides in the enclosing loops are equal, too.

Candidates for periods come from hashes of windows of w = 1, 2, 4, ... items: if a window is equal to the window p items
earlier, p may be a period. A period p is found with the window length w for which p <= w < 2 * p. For this w, the
distance from a window to the latest equal window is p, or less if the opcodes alone repeat with a shorter period. So
small multiples of the distance are tried, too. Searching n items takes time proportional to n log n.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.base.yield_gil import pause
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, TAKE
from gradwalk.program.reroll.repeats import Repeat
from gradwalk.program.reroll.sequence_ids import Shapes

if not TYPE_CHECKING and cython.compiled:
    import cython

_call = cython.declare(cython.int, CALL)
_take = cython.declare(cython.int, TAKE)

_fewest = cython.declare(cython.int, 3)  # minimum number of iterations; two iterations always have constant strides
_multiples = cython.declare(cython.int, 8)  # number of multiples of a distance that are tried as periods
_patience = cython.declare(cython.int, 100)  # maximum number of comparisons per item and round

# The first words of descriptions that do not begin with an opcode.
_loop_mark = cython.declare(cython.int, -1)
_within_mark = cython.declare(cython.int, -2)
_single_mark = cython.declare(cython.int, -3)


def fold(code: Code) -> tuple[Repeat, ...]:
    """Return the loops of a program, in order."""
    return _Search(code).loops()


@cython.final
@cython.cclass
class _Items:
    """A sequence of instructions and loops.

    Attributes:
        at: The position of each item's first instruction in the program.
        shape: The id of each item's description; see `Shapes`.
        weight: The number of instructions to print for each item. The body of a loop is printed once.
        loop: The index of each item in the list of loops, or -1 if the item is not a loop.
    """

    count: cython.int
    at: cython.p_int
    shape: cython.p_int
    weight: cython.p_int
    loop: cython.p_int
    columns: list  # the arrays behind the pointers above

    def __init__(self, columns: list) -> None:
        self.columns = columns
        self.count = len(columns[0])
        self.at, self.shape = c_compat.integers(columns[0]), c_compat.integers(columns[1])
        self.weight, self.loop = c_compat.integers(columns[2]), c_compat.integers(columns[3])


class _Found:
    """A loop in the list of loops: the fields of `Repeat`, and data for the search inside the loop."""

    __slots__ = ("around", "begin", "count", "end", "inner", "items", "period", "start")

    def __init__(self, start: int, period: int, count: int, items: Any, begin: int, end: int) -> None:
        self.start, self.period, self.count = start, period, count
        self.items, self.begin, self.end = items, begin, end
        self.around: tuple[int, ...] = ()
        self.inner: list[int] = []


@cython.final
@cython.cclass
class _Search:
    """The search for loops in a program."""

    _code: cython.p_int
    _instructions: Any  # the array behind `_code`
    _shapes: Shapes
    _found: list
    _top: _Items
    _first: cython.int  # index of the result of the first instruction
    _comparisons: cython.longlong  # number of comparisons that this round may still make

    def __init__(self, code: Code) -> None:
        self._instructions = numpy.array(code.instructions, numpy.int32)
        self._code = c_compat.integers(self._instructions)
        self._shapes = Shapes()
        self._found = []
        self._first = code.first
        self._top = self._single_instructions(len(code), code.inputs, code.first)

    def loops(self) -> tuple[Repeat, ...]:
        """Return all loops, including nested ones."""
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
        """Find the loops in an iteration of a loop; return their indices in the list of loops."""
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

        Items with the same shape count as equal. Each call has its own shape. Two `take` instructions have the same
        shape if they use the same table. Other instructions have the same shape if their opcodes are equal and each
        pair of corresponding operands are both inputs, both constants or both results. So an operand of a loop is an
        input in all iterations, a constant in all iterations, or a result in all iterations.
        """
        columns = [numpy.arange(count, dtype=numpy.int32), numpy.empty(count, numpy.int32)]
        columns += [numpy.ones(count, numpy.int32), numpy.full(count, -1, numpy.int32)]
        items: _Items = _Items(columns)
        i: cython.int
        column: cython.int
        opcode: cython.int
        kinds: cython.int
        for i in range(count):
            _pause_at(i)
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
        """Return the items from `begin` to `end`. Their strides in the enclosing loops become part of their shapes."""
        inside: _Items = _Items([numpy.array(column[begin:end]) for column in items.columns])
        i: cython.int
        k: cython.int
        shape: cython.int
        period: cython.int
        for i in range(inside.count):
            _pause_at(i)
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
        """Append the strides of an instruction's operand indices, over a period, to the current description."""
        column: cython.int
        for column in range(1, 4):
            self._shapes.words.append(self._code[4 * (at + period) + column] - self._code[4 * at + column])
        return None

    def _folded(self, items: _Items) -> list[int]:
        """Replace repeated items by loops, round by round, until no items repeat; return the indices of these loops."""
        while items.count >= _fewest:
            rows = self._stretches(items)
            if not rows:
                break
            items = self._with_loops(items, self._chosen(items, rows))
        return [loop for loop in items.columns[3].tolist() if loop >= 0]

    def _stretches(self, items: _Items) -> list:
        """Find repeated sequences; return a tuple (start, period, length) for each, counted in items."""
        count: cython.int = items.count
        self._comparisons = _patience * count
        rows: list = []
        windows = numpy.array(items.columns[1])  # per item, the hash of the window that begins with it
        cells = 1 << (2 * int(count)).bit_length()
        latest = numpy.empty(cells, numpy.int32)
        reached = numpy.zeros(count + 1, numpy.int32)  # per period, the end of the range that has been tried
        good = numpy.zeros(count + 1, numpy.int32)  # per period, whether that range is in a repeated sequence
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
        """Try the distance from each window to the latest equal window before it as a period.

        Returns whether any two windows are equal.
        """
        repeated: cython.bint = False
        i: cython.int
        cell: cython.int
        before: cython.int
        for i in range(items.count - window + 1):
            _pause_at(i)
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
        """Find a repeated sequence around item i whose period is a multiple of `shortest`; append it to `rows`."""
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
        """Return whether items i, i + period and i + 2 * period are equal and their operand indices equally spaced."""
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
        """Return the items, with each of the chosen sequences replaced by a loop. `chosen` must be in order."""
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

    def _chosen(self, items: _Items, rows: list) -> list:
        """Choose disjoint sequences, preferring those that save the most instructions; return them in order."""
        weights = numpy.concatenate([[0], numpy.cumsum(items.columns[2], dtype=numpy.int64)]).tolist()
        taken = numpy.zeros(items.count, numpy.int32)
        chosen: list = []
        best = [_rated(weights, *row) for row in rows]
        heapq.heapify(best)
        while best:
            _, period, begin, length = heapq.heappop(best)
            free = _free(c_compat.integers(taken), begin, begin + length)
            if free == [(begin, begin + length)]:
                begin, length = self._rotated(items, begin, period, length), length - length % period
                taken[begin : begin + length] = 1
                chosen.append((begin, period, length))
                continue
            for first, last in free:
                if last - first >= _fewest * period:
                    heapq.heappush(best, _rated(weights, first, period, last - first))
        return sorted(chosen)

    @cython.cfunc
    @cython.exceptval(-1)
    def _rotated(self, items: _Items, begin: cython.int, period: cython.int, length: cython.int) -> cython.int:
        """Return where the iterations of a sequence begin, so that they pass the fewest results to the next iteration.

        A sequence may be longer than its iterations, so the iterations may begin at several items.
        """
        spare: cython.int = length % period
        if not spare:
            return begin
        passed: list = [0] * period  # per first item of an iteration: the results that the next iteration reads
        i: cython.int
        k: cython.int
        at: cython.int
        column: cython.int
        source: cython.int
        for i in range(begin + period, begin + 2 * period):
            for k in range(
                self._shapes.first_place.data[items.shape[i]], self._shapes.first_place.data[items.shape[i] + 1]
            ):
                at = items.at[i] + self._shapes.places.data[k]
                for column in range(1, 2 if self._code[4 * at] == _take else 4):
                    source = self._code[4 * at + column] - self._first
                    if self._code[4 * at] != _call and source >= items.at[i - period + 1]:
                        _count_rotations(passed, items, source, i, begin)
        best: cython.int = spare
        for k in range(spare, -1, -1):
            if passed[k] < passed[best]:
                best = k
        return begin + best

    @cython.cfunc
    @cython.exceptval(-1)
    def _append_loop(self, items: _Items, begin: cython.int, period: cython.int, times: cython.int) -> cython.int:
        """Append a loop to the list of loops; return the id of its description."""
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


@cython.cfunc
def _count_rotations(passed: list, items: _Items, source: cython.int, reader: cython.int, begin: cython.int) -> object:
    """Count an operand of item `reader` in all rotations in which another iteration computes it."""
    period: cython.int = len(passed)
    i: cython.int = reader
    while items.at[i] > source:
        passed[(i - begin) % period] += 1
        i -= 1
    return None


def _rated(weights: list, begin: int, period: int, length: int) -> tuple[int, int, int, int]:
    """Return the tuple (-number of instructions saved, period, begin, length) for a sequence."""
    return (1 - length // period) * (weights[begin + period] - weights[begin]), period, begin, length


@cython.cfunc
def _free(taken: cython.p_int, begin: cython.int, end: cython.int) -> list:
    """Return a pair (begin, end) for each range between `begin` and `end` that is not taken."""
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
def _pause_at(i: cython.int) -> object:
    """Let other threads run from time to time: the compiler thread searches for loops while calls continue."""
    if i & 1023 == 1023:
        pause()
    return None


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _kind(index: cython.int, inputs: cython.int, first: cython.int) -> cython.int:
    """Return 0 for an input, 1 for a constant and 2 for the result of an instruction."""
    return 0 if index < inputs else 1 if index < first else 2


@cython.cfunc
def _double(hashes: cython.p_int, count: cython.int, window: cython.int) -> object:
    """Replace the hash of each window by the hash of the window twice as long."""
    i: cython.int
    hashed: cython.ulonglong
    for i in range(count):
        hashed = hashes[i]
        hashed = (hashed * 1000003 + hashes[i + window]) * 0x5BD1E995
        # These bits are the same whether `hashed` has 64 bits or is an unbounded int of Python.
        hashes[i] = (hashed >> 20) & 0x7FFFFFFF
    return None
