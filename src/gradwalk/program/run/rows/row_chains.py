"""Join segments: segments that add to the same totals become a chain, and similar segments become repetitions.

A segment runs a row or a part of one. In a matrix-vector product, each column is scaled and added to the totals. If
there were a segment per column, each segment would load and store all totals and have a fixed overhead. For rows of
sixteen numbers this overhead would dominate. A chain keeps the totals in registers and stores only the final totals,
because the intermediate totals are not used elsewhere. In an outer product, the rows differ only in their slots, so
they become one segment with repetitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled.opcodes import OPCODES as OPCODE_OF
from gradwalk.program.run.rows import row_loops

if not TYPE_CHECKING and cython.compiled:
    import cython

_add = cython.declare(cython.int, row_loops.ROW_FORMS * OPCODE_OF["add"])
_mul = cython.declare(cython.int, row_loops.ROW_FORMS * OPCODE_OF["mul"])
_muladd = cython.declare(cython.int, row_loops.ROW_FORMS * OPCODE_OF["muladd"])


def joined(segments: NDArray[numpy.int32], uses: NDArray[numpy.int32]) -> tuple[Any, Any]:
    """Join segments into chains and repetitions.

    Args:
        segments: Segments in the format of row_loops.h, without chains and repetitions.
        uses: The number of times that each slot is an operand or an output.

    Returns:
        The joined segments and the links of their chains, both int32.
    """
    joiner: _Joiner = _Joiner(segments, uses)
    joiner.find_chains()
    return joiner.written()


@cython.final
@cython.cclass
class _Joiner:
    """Segments that are being joined."""

    _length: cython.int
    _given: cython.p_int
    _uses: cython.p_int
    _writer: cython.p_int  # for each slot, the segment whose first result is in the slot, or -1
    _previous: cython.p_int  # for each segment, the segment whose results it adds to, or -1
    _following: cython.p_int  # for each segment, the segment that adds to its results, or -1
    _segment: cython.p_int
    _count: cython.int
    _link: cython.p_int
    _links: cython.int
    _arrays: list  # the arrays behind the pointers above

    def __init__(self, segments: Any, uses: Any) -> None:
        self._length = len(segments) // row_loops.ROW_WIDTH
        writers = numpy.full(len(uses), -1, numpy.int32)
        previous, following = numpy.full((2, self._length + 1), -1, numpy.int32)
        joined_segments = numpy.zeros_like(segments)
        links = numpy.zeros(row_loops.LINK_WIDTH * 2 * (self._length + 1), numpy.int32)
        self._arrays = [segments, uses, writers, previous, following, joined_segments, links]
        self._given = c_compat.integers(segments)
        self._uses = c_compat.integers(uses)
        self._writer = c_compat.integers(writers)
        self._previous = c_compat.integers(previous)
        self._following = c_compat.integers(following)
        self._segment = c_compat.integers(joined_segments)
        self._link = c_compat.integers(links)
        self._count = 0
        self._links = 0

    @cython.cfunc
    def find_chains(self) -> object:
        """Link each segment to the segment whose results it adds to."""
        at: cython.int
        i: cython.int
        found: cython.int
        with cython.nogil:
            for i in range(self._length):
                at = row_loops.ROW_WIDTH * i
                if self._given[at] < 0:  # interpreted
                    continue
                found = -1
                if _muladd <= self._given[at] <= _muladd + 2:
                    found = self._total(at, 2)
                elif self._given[at] == _add:
                    found = self._total(at, 0)
                    if found < 0:
                        found = self._total(at, 1)
                if found >= 0:
                    self._previous[i] = found
                    self._following[found] = i
                self._writer[self._given[at + 2]] = i
        return None

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _total(self, at: cython.int, k: cython.int) -> cython.int:
        """Return the segment whose results are operand `k` of the segment at `at` and are used only there, or -1."""
        first: cython.int = self._given[at + 3 + k]
        found: cython.int = self._writer[first]
        slot: cython.int
        if found < 0 or self._given[row_loops.ROW_WIDTH * found + 1] != self._given[at + 1]:
            return -1
        for slot in range(first, first + self._given[at + 1]):
            if self._uses[slot] != 1:
                return -1
        return found

    @cython.cfunc
    def written(self) -> tuple:
        """Return the joined segments and the links."""
        i: cython.int
        with cython.nogil:
            for i in range(self._length):
                if self._following[i] >= 0 and self._is_in_chain(i):
                    continue
                if self._previous[i] >= 0:
                    self._write_chain(i)
                else:
                    self._write(row_loops.ROW_WIDTH * i)
        return (
            self._arrays[5][: row_loops.ROW_WIDTH * self._count].copy(),
            self._arrays[6][: row_loops.LINK_WIDTH * self._links].copy(),
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _is_in_chain(self, i: cython.int) -> cython.bint:
        """Return whether a segment joins the chain of its successor. If not, the chain starts from its results."""
        operation: cython.int = self._given[row_loops.ROW_WIDTH * i]
        return (
            self._previous[i] >= 0
            or operation == _add
            or _mul < operation <= _mul + 2
            or (_muladd <= operation <= _muladd + 6 and operation != _muladd + 3)
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _write(self, at: cython.int) -> cython.void:
        """Write a segment, or add a repetition to the segment written last."""
        cells: cython.p_int = self._segment
        new: cython.int = row_loops.ROW_WIDTH * self._count
        last: cython.int = new - row_loops.ROW_WIDTH
        k: cython.int
        for k in range(row_loops.ROW_WIDTH):
            cells[new + k] = self._given[at + k]
        goes_on: cython.bint = self._goes_on(new) and _is_even(cells, last + 3, new + 3, 7, 3, cells[last + 9])
        for k in range(6, 9):
            goes_on = goes_on and cells[new + k] == cells[last + k]
        if goes_on:
            _set_leaps(cells, last + 3, new + 3, 7, 3, cells[last + 9])
            cells[last + 9] += 1
        else:
            self._count += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _write_chain(self, end: cython.int) -> cython.void:
        """Write the chain that ends with this segment, or add a repetition to the chain written last."""
        cells: cython.p_int = self._segment
        new: cython.int = row_loops.ROW_WIDTH * self._count
        last: cython.int = new - row_loops.ROW_WIDTH
        begin: cython.int = self._links
        self._write_links(end)
        count: cython.int = self._links - begin
        k: cython.int
        for k in range(row_loops.ROW_WIDTH):
            cells[new + k] = 0
        cells[new] = row_loops.ROW_FORMS * row_loops.CHAIN
        cells[new + 1] = self._given[row_loops.ROW_WIDTH * end + 1]
        cells[new + 2] = self._given[row_loops.ROW_WIDTH * end + 2]
        cells[new + 3] = begin
        cells[new + 4] = count
        cells[new + 9] = 1
        goes_on: cython.bint = self._goes_on(new) and count == cells[last + 4]
        old: cython.int = cells[last + 3] if goes_on else 0
        for k in range(count):
            goes_on = goes_on and self._link_goes_on(old + k, begin + k, cells[last + 9])
        if goes_on:
            for k in range(count):
                _set_leaps(self._link, _link_at(old + k) + 1, _link_at(begin + k) + 1, 2, 2, cells[last + 9])
            cells[last + 9] += 1
            self._links = begin
        else:
            self._count += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _goes_on(self, new: cython.int) -> cython.bint:
        """Return whether a new segment may be a repetition of the segment written last.

        This requires the same operation and length, and results that directly follow the results of the last segment.
        """
        cells: cython.p_int = self._segment
        last: cython.int = new - row_loops.ROW_WIDTH
        return (
            last >= 0
            and cells[new] >= 0
            and cells[new] % row_loops.ROW_FORMS != row_loops.INDEXED
            and cells[new] == cells[last]
            and cells[new + 1] == cells[last + 1]
            and cells[new + 2] == cells[last + 2] + cells[last + 9] * cells[last + 1]
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _link_goes_on(self, old: cython.int, new: cython.int, repetitions: cython.int) -> cython.bint:
        """Return whether a new link can be a repetition of the link `old`."""
        k: cython.int
        old = _link_at(old)
        new = _link_at(new)
        for k in range(5, row_loops.LINK_WIDTH):
            if self._link[old + k] != self._link[new + k]:
                return False
        return self._link[old] == self._link[new] and _is_even(self._link, old + 1, new + 1, 2, 2, repetitions)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _write_links(self, end: cython.int) -> cython.void:
        """Write the links of the chain that ends with this segment."""
        i: cython.int = end
        while self._previous[i] >= 0:
            i = self._previous[i]
        at: cython.int = row_loops.ROW_WIDTH * i
        form: cython.int = self._given[at] % row_loops.ROW_FORMS
        operation: cython.int = self._given[at] - form
        if not self._is_in_chain(i):
            self._append(row_loops.IS_ROW, 0, self._given[at + 2])
        elif operation == _mul:
            self._append(row_loops.IS_SCALED, self._given[at + 2 + form], self._given[at + 5 - form])
        elif operation == _add:
            self._append(row_loops.IS_ROW, 0, self._given[at + 3])
            self._append(row_loops.ADD_ROW, 0, self._given[at + 4])
        elif form < 4:
            self._append(row_loops.IS_ROW, 0, self._given[at + 5])
            self._append_product(at, form)
        else:
            self._append(row_loops.IS_NUMBER, self._given[at + 5], 0)
            self._append_product(at, form - 4)
        while i != end:
            i = self._following[i]
            at = row_loops.ROW_WIDTH * i
            if self._given[at] != _add:
                self._append_product(at, self._given[at] - _muladd)
            elif self._given[at + 3] == self._given[row_loops.ROW_WIDTH * self._previous[i] + 2]:
                self._append(row_loops.ADD_ROW, 0, self._given[at + 4])
            else:
                self._append(row_loops.ADD_ROW, 0, self._given[at + 3])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _append_product(self, at: cython.int, form: cython.int) -> cython.void:
        """Append a link that adds the product of two rows, or the product of a scalar and a row."""
        first: cython.int = self._given[at + 3]
        second: cython.int = self._given[at + 4]
        if form == 0:
            self._append(row_loops.ADD_PRODUCTS, first, second)
        elif form == 1:
            self._append(row_loops.ADD_SCALED, first, second)
        else:
            self._append(row_loops.ADD_SCALED, second, first)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _append(self, kind: cython.int, first: cython.int, second: cython.int) -> cython.void:
        """Append a link, or increase the number of times that the last link is applied."""
        at: cython.int = _link_at(self._links)
        last: cython.int = at - row_loops.LINK_WIDTH
        self._link[at] = kind
        self._link[at + 1] = first
        self._link[at + 2] = second
        self._link[at + 3] = 0
        self._link[at + 4] = 0
        self._link[at + 5] = 1
        self._link[at + 6] = 0
        self._link[at + 7] = 0
        # The first link of a chain is of a kind below ADD_SCALED, so two consecutive ADD links belong to the same
        # chain.
        if kind < row_loops.ADD_SCALED or self._link[last] != kind:
            self._links += 1
        elif _is_even(self._link, last + 1, at + 1, 5, 2, self._link[last + 5]):
            _set_leaps(self._link, last + 1, at + 1, 5, 2, self._link[last + 5])
            self._link[last + 5] += 1
        else:
            self._links += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _link_at(number: cython.int) -> cython.int:
    """Return the position of a link in the array of links."""
    return row_loops.LINK_WIDTH * number


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_even(
    cells: cython.p_int, last: cython.int, new: cython.int, leap: cython.int, count: cython.int, repetitions: cython.int
) -> cython.bint:
    """Return whether the new operands continue the earlier repetitions with the same strides.

    Args:
        cells: Segments or links.
        last: Position of the first operand of the earlier repetitions.
        new: Position of the first new operand.
        leap: Offset from an operand to its stride.
        count: Number of operands.
        repetitions: Number of earlier repetitions. If it is 1, any stride is possible.
    """
    k: cython.int
    for k in range(count):
        if repetitions > 1 and cells[new + k] - cells[last + k] != repetitions * cells[last + leap + k]:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _set_leaps(
    cells: cython.p_int, last: cython.int, new: cython.int, leap: cython.int, count: cython.int, repetitions: cython.int
) -> cython.void:
    """Set the strides between repetitions if the second repetition is being added."""
    k: cython.int
    for k in range(count):
        if repetitions == 1:
            cells[last + leap + k] = cells[new + k] - cells[last + k]
