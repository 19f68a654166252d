"""Slot allocation for a schedule: a slot is reused after the last use of its row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.backend.schedule.analysis import Analysis
from gradwalk.backend.schedule.encoding import COLUMN, FORMS, IN_SLOT, KINDS, SCALAR, WIDTH
from gradwalk.backend.schedule.prologue import Prologue
from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.program.code.opcodes import LOAD, TAKE

if not TYPE_CHECKING and cython.compiled:
    import cython

_LOAD = cython.declare(cython.int, LOAD)
_TAKE = cython.declare(cython.int, TAKE)
_KINDS = cython.declare(cython.int, KINDS)
_IN_SLOT = cython.declare(cython.int, IN_SLOT)
_SCALAR = cython.declare(cython.int, SCALAR)
_COLUMN = cython.declare(cython.int, COLUMN)
_FORMS = cython.declare(cython.int, FORMS)
_WIDTH = cython.declare(cython.int, WIDTH)
_NO_SLOT = cython.declare(cython.int, -1)
_NEVER = cython.declare(cython.int, -1)


class Allocation(NamedTuple):
    """The instructions of a schedule in one order.

    Attributes:
        code: The encoded instructions; int32, in the format of `encoding`.
        tables: The tables that `take` reads; int32, in the format of `encoding`.
        slots: Number of slots.
    """

    code: NDArray[numpy.int32]
    tables: NDArray[numpy.int32]
    slots: int


def allocate(analysis: Analysis, prologue: Prologue, order: Any) -> Allocation:
    """Assign slots to the rows of a schedule, and encode the instructions in the given order (see `orders`)."""
    events: cython.p_int = c_compat.integers(order)
    start: cython.p_int = c_compat.integers(analysis.starts)
    instruction: cython.p_int = c_compat.integers(analysis.program.instructions)
    root: cython.p_int = c_compat.integers(analysis.roots.reshape(-1))
    first: cython.int = analysis.first
    writer: _Writer = _Writer(analysis, prologue, order)
    time: cython.int
    i: cython.int
    for time in range(len(order)):
        i = 4 * events[time]
        if i >= 0 and instruction[i] == _TAKE:
            writer.write_take(events[time], instruction[i + 2], time)
        elif i >= 0:
            writer.write(
                instruction[i],
                first + events[time],
                start[events[time] + 1] - start[events[time]],
                instruction[i + 1],
                instruction[i + 2],
                instruction[i + 3],
                time,
            )
        else:
            i = 4 * ~events[time]
            writer.write(root[i], root[i + 1], 2 if root[i + 3] >= 0 else 1, root[i + 2], root[i + 3], 0, time)
    return writer.written()


def _last_uses(analysis: Analysis, order: Any) -> Any:
    """Return the position in the order at which each index is last used, or `_NEVER` if it is not used."""
    uses = numpy.full(len(analysis.varying), _NEVER, numpy.int32)
    last: cython.p_int = c_compat.integers(uses)
    events: cython.p_int = c_compat.integers(order)
    start: cython.p_int = c_compat.integers(analysis.starts)
    operand: cython.p_int = c_compat.integers(analysis.operands)
    root: cython.p_int = c_compat.integers(analysis.roots.reshape(-1))
    time: cython.int
    event: cython.int
    j: cython.int
    for time in range(len(order)):
        event = events[time]
        if event < 0:
            last[root[4 * ~event + 2]] = time
            if root[4 * ~event + 3] >= 0:
                last[root[4 * ~event + 3]] = time
        else:
            for j in range(start[event], start[event + 1]):
                last[operand[j]] = time
    return uses


@cython.final
@cython.cclass
class _Writer:
    """Writer of a schedule: the code written so far, and the slots in use."""

    _first: cython.int  # index of the first instruction
    _start: cython.p_int  # instruction -> position of its first operand in _operand
    _operand: cython.p_int  # indices of all operands
    _varying: cython.p_int  # index -> whether it varies over the batch, and so is stored in a row
    _scalar: cython.p_int  # index -> number of the scalar
    _column: cython.p_int  # index of an input -> number of the column
    _last: cython.p_int  # index -> time of its last use
    _slot: cython.p_int  # index -> its slot, or _NO_SLOT
    _code: cython.p_int
    _length: cython.int  # length of _code so far
    _entry: cython.p_int  # the tables that `take` reads
    _entries: cython.int  # length of _entry so far
    _offset: cython.p_int  # table of the program -> its position in _entry, or -1
    # Stacks: the slot that was freed last is reused first, because it is in the cache.
    _free: cython.p_int
    _free_count: cython.int
    # Free slots that held inputs. The row of such a slot may be memory of the caller, so only other inputs reuse it.
    _input_free: cython.p_int
    _input_free_count: cython.int
    _slots: cython.int
    _arrays: list  # keeps the arrays alive that the pointers point into

    def __init__(self, analysis: Analysis, prologue: Prologue, order: Any) -> None:
        count = len(analysis.varying)
        code = numpy.zeros(WIDTH * (len(order) + analysis.program.inputs), numpy.int32)
        last = _last_uses(analysis, order)
        slot, free, input_free = numpy.full((3, count), _NO_SLOT, numpy.int32)
        tables = analysis.program.tables
        entries = numpy.zeros(1 + sum(1 + len(table) for table in tables), numpy.int32)
        offsets = numpy.full(1 + len(tables), -1, numpy.int32)
        self._arrays = [code, entries, analysis, prologue, last, slot, free, input_free, offsets]
        self._first = analysis.first
        self._code = c_compat.integers(code)
        self._start = c_compat.integers(analysis.starts)
        self._operand = c_compat.integers(analysis.operands)
        self._entry = c_compat.integers(entries)
        self._offset = c_compat.integers(offsets)
        self._varying = c_compat.integers(analysis.varying)
        self._scalar = c_compat.integers(prologue.scalars)
        self._column = c_compat.integers(analysis.columns)
        self._last = c_compat.integers(last)
        self._slot = c_compat.integers(slot)
        self._free = c_compat.integers(free)
        self._input_free = c_compat.integers(input_free)
        self._length = 0
        self._entries = 0
        self._free_count = 0
        self._input_free_count = 0
        self._slots = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def write(
        self,
        opcode: cython.int,
        out: cython.int,
        arity: cython.int,
        x: cython.int,
        y: cython.int,
        z: cython.int,
        time: cython.int,
    ) -> cython.void:
        """Write an instruction. `out` is the index of the result or, for opcodes such as `STORE`, the destination."""
        form: cython.int = 0
        a: cython.int = self._placed(x)
        b: cython.int = self._placed(y) if arity > 1 else 0
        c: cython.int = self._placed(z) if arity > 2 else 0
        if not self._varying[x]:
            form += 1
        if arity > 1 and not self._varying[y]:
            form += 2
        if arity > 2 and not self._varying[z]:
            form += 4
        self._release(x, time)
        if arity > 1:
            self._release(y, time)
        if arity > 2:
            self._release(z, time)
        if evaluate.arity(opcode) > 0:
            self._slot[out] = self._result_slot()
            out = self._slot[out]
        self._append(_FORMS * opcode + form, out, a, b, c)

    @cython.cfunc
    @cython.exceptval(check=False)
    def write_take(self, i: cython.int, table: cython.int, time: cython.int) -> cython.void:
        """Write instruction `i`, which is a `take` from table number `table` of the program."""
        start: cython.int = self._start[i]
        end: cython.int = self._start[i + 1]
        index: cython.int = self._operand[start]
        place: cython.int = self._placed(index)
        form: cython.int = 2 if self._varying[index] else 3
        j: cython.int
        if self._offset[table] < 0:
            self._write_table(table, start + 1, end)
        self._release(index, time)
        for j in range(start + 1, end):
            if self._varying[self._operand[j]]:
                form &= 1
            self._release(self._operand[j], time)
        self._slot[self._first + i] = self._result_slot()
        self._append(_FORMS * _TAKE + form, self._slot[self._first + i], place, self._offset[table], 0)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _write_table(self, table: cython.int, start: cython.int, end: cython.int) -> cython.void:
        """Write the entries of a table: the operands from `start` to `end`.

        A row in the table keeps its slot until the last `take` from the table. Inputs in the table are not loaded; they
        are read from their columns, because `take` reads only one entry per lane.
        """
        index: cython.int
        j: cython.int
        self._offset[table] = self._entries
        self._entry[self._entries] = end - start
        self._entries += 1
        for j in range(start, end):
            index = self._operand[j]
            if not self._varying[index]:
                self._entry[self._entries] = _KINDS * self._scalar[index] + _SCALAR
            elif index < self._first:
                self._entry[self._entries] = _KINDS * self._column[index] + _COLUMN
            else:
                self._entry[self._entries] = _KINDS * self._slot[index] + _IN_SLOT
            self._entries += 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _placed(self, index: cython.int) -> cython.int:
        """Return the slot of an operand, or the number of the scalar if it is one. Load an input at its first use."""
        if not self._varying[index]:
            return self._scalar[index]
        if self._slot[index] == _NO_SLOT:
            if self._input_free_count > 0:
                self._input_free_count -= 1
                self._slot[index] = self._input_free[self._input_free_count]
            else:
                self._slot[index] = self._slots
                self._slots += 1
            self._append(_FORMS * _LOAD, self._slot[index], self._column[index], 0, 0)
        return self._slot[index]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _release(self, index: cython.int, time: cython.int) -> cython.void:
        """Free the slot of an operand, if it has one, at the last use of the operand."""
        if self._last[index] != time or not self._varying[index] or self._slot[index] == _NO_SLOT:
            return
        self._last[index] = _NEVER  # the same index may be another operand of this instruction
        if index < self._first:
            self._input_free[self._input_free_count] = self._slot[index]
            self._input_free_count += 1
        else:
            self._free[self._free_count] = self._slot[index]
            self._free_count += 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _result_slot(self) -> cython.int:
        """Return a slot for a result: a freed one or a new one."""
        if self._free_count > 0:
            self._free_count -= 1
            return self._free[self._free_count]
        self._slots += 1
        return self._slots - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _append(
        self, operation: cython.int, out: cython.int, x: cython.int, y: cython.int, z: cython.int
    ) -> cython.void:
        code: cython.p_int = self._code
        k: cython.int = self._length
        code[k] = operation
        code[k + 1] = out
        code[k + 2] = x
        code[k + 3] = y
        code[k + 4] = z
        self._length = k + _WIDTH

    def written(self) -> Allocation:
        """Return the code and the tables without their unused ends, and the number of slots."""
        code, entries, *_ = self._arrays
        return Allocation(code[: self._length].copy(), entries[: 1 + self._entries].copy(), self._slots)
