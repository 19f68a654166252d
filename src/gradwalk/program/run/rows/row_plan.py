"""`RowPlan`: a program reordered so that instructions with the same opcode are contiguous and run as vector loops.

An interpreter spends several nanoseconds per instruction, mostly on dispatch. In a large program most instructions are
independent of one another, such as the products in a matrix-vector product.

Instructions are sorted by level, which is their depth in the dependency graph, and by opcode. Instructions with the
same level and opcode form a row. The results of a row are in contiguous slots. The instructions of a row are in program
order or sorted by operands, so that the operands have a constant stride where possible. row_chains.py then joins
segments of rows. The order does not change the rounding of any instruction, so the results are bitwise equal.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.base.yield_gil import pause
from gradwalk.ops.compiled.opcodes import OPCODES as OPCODE_OF
from gradwalk.ops.rows import is_arithmetic
from gradwalk.ops.table import ROWS
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import INSTRUCTIONS, TAKE
from gradwalk.program.run.rows import row_loops
from gradwalk.program.run.rows.row_chains import joined

if not TYPE_CHECKING and cython.compiled:
    import cython

# Minimum number of instructions in a row. Shorter rows are interpreted, like operations that are not vectorized.
_fewest = cython.declare(cython.int, 4)
_interpreted = cython.declare(cython.int, -1)  # the operation of a segment that is interpreted
# Number of rows after which other threads may run: a plan is made in a background thread.
_between_pauses = cython.declare(cython.int, 128)
_take = cython.declare(cython.int, TAKE)
_low32 = cython.declare(cython.ulonglong, 0xFFFFFFFF)

_ARITIES = numpy.zeros(128, numpy.int32)
_ARITIES[TAKE] = 1
for _opcode, _instruction in INSTRUCTIONS.items():
    _ARITIES[_opcode] = _instruction.arity
_IN_ROWS = numpy.zeros(128, numpy.int32)  # for each opcode, whether row_loops.h has a loop for it
_IN_ROWS[[OPCODE_OF[row.name] for row in ROWS if is_arithmetic(row)]] = 1


class RowPlan(NamedTuple):
    """A program in rows.

    Attributes:
        instructions: All instructions in the new order, int32. Their operands are given as slots.
        segments: Parts of rows and ranges of interpreted instructions, in the format of row_loops.h, int32.
        links: The links of all chains, int32.
        copies: Slots of inputs and constants that a row reads with a stride other than 0 or 1, such as a matrix column.
            Before the first segment runs, the numbers in these slots are copied to new slots after all other slots. The
            stride in the new slots is 1.
        tables: Slots of the entries of all tables, concatenated, int32.
        outputs: Slots of the outputs, int32.
    """

    instructions: NDArray[numpy.int32]
    segments: NDArray[numpy.int32]
    links: NDArray[numpy.int32]
    copies: NDArray[numpy.int32]
    tables: NDArray[numpy.int32]
    outputs: NDArray[numpy.int32]

    @property
    def length(self) -> int:
        """The number of segments."""
        return len(self.segments) // row_loops.ROW_WIDTH


def row_plan(code: Code) -> RowPlan:
    """Reorder a program without calls into rows.

    A slot is the index of a number in the new order. Inputs and constants keep their indices.
    """
    rows = numpy.array(code.instructions, numpy.int32).reshape(-1, 4)
    levels, kinds = _levels_and_kinds(code, rows)
    keys = levels * len(_ARITIES) + rows[:, 0]
    order = numpy.lexsort((kinds, keys)).astype(numpy.int32)
    keys, kinds = keys[order], kinds[order]
    is_end = keys[1:] != keys[:-1]
    slot = numpy.arange(code.count, dtype=numpy.int32)
    _set_slots(rows, order, _ends(is_end | (kinds[1:] != kinds[:-1])), slot, code.first)
    moved = rows[order]
    arities = _ARITIES[moved[:, 0]]
    for position in (1, 2, 3):
        has_operand = arities >= position
        moved[has_operand, position] = slot[moved[has_operand, position]]
    instructions = moved.ravel()
    entries = [index for table in code.tables for index in table]
    tables = slot[entries] if entries else numpy.zeros(1, numpy.int32)
    outputs = slot[list(code.outputs)]
    segments, copies = _segments(instructions, _ends(is_end), code)
    operands = [moved[arities >= position, position] for position in (1, 2, 3)]
    uses = numpy.bincount(numpy.concatenate([*operands, tables, outputs]), minlength=code.count + len(copies))
    segments, links = joined(segments, uses.astype(numpy.int32))
    return RowPlan(instructions, segments, links, copies, tables, outputs)


def _ends(is_end: NDArray[numpy.bool_]) -> NDArray[numpy.int32]:
    """Return the ends of ranges of instructions. `is_end` marks the last instruction of each range but the last."""
    return numpy.append(numpy.flatnonzero(is_end) + 1, len(is_end) + 1).astype(numpy.int32)


def _levels_and_kinds(code: Code, rows: NDArray[numpy.int32]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32]]:
    """Return the level and the kind of each instruction.

    The level is the depth in the dependency graph. Two instructions have the same kind if they have the same opcode and
    their operands have the same kinds. All inputs have the same kind, and all constants have another kind. Instructions
    of the same kind are neighbors within a row. For example, the two partials of products alternate in the program, but
    have different kinds.
    """
    levels, kinds = numpy.zeros((2, code.count), numpy.int32)
    kinds[code.inputs : code.first] = 1
    level: cython.p_int = c_compat.integers(levels)
    kind: cython.p_int = c_compat.integers(kinds)
    instruction: cython.p_int = c_compat.integers(rows.reshape(-1))
    arity: cython.p_int = c_compat.integers(_ARITIES)
    entries = numpy.array([index for table in code.tables for index in table] or [0], numpy.int32)
    starts = numpy.cumsum([0, *map(len, code.tables)], dtype=numpy.int32)
    entry: cython.p_int = c_compat.integers(entries)
    start: cython.p_int = c_compat.integers(starts)
    first: cython.int = code.first
    count: cython.int = len(rows)
    i: cython.int
    k: cython.int
    highest: cython.int
    hashed: cython.ulonglong
    with cython.nogil:  # so that other threads can run
        for i in range(count):
            highest = 0
            hashed = instruction[4 * i]
            for k in range(4 * i + 1, 4 * i + 1 + arity[instruction[4 * i]]):
                highest = max(highest, level[instruction[k]])
                hashed = (hashed * 0x5BD1E995 + kind[instruction[k]]) & _low32
            if instruction[4 * i] == _take:
                for k in range(start[instruction[4 * i + 2]], start[instruction[4 * i + 2] + 1]):
                    highest = max(highest, level[entry[k]])
            level[first + i] = highest + 1
            kind[first + i] = 2 + ((hashed ^ (hashed >> 15)) & 0x3FFFFFFF)
    return levels[code.first :].astype(numpy.int64), kinds[code.first :]


def _set_slots(rows: Any, order: Any, ends: Any, slots: Any, first: cython.int) -> None:
    """Sort the instructions of each kind in a row so that operands have constant strides; assign result slots."""
    instruction: cython.p_int = c_compat.integers(rows.reshape(-1))
    arity: cython.p_int = c_compat.integers(_ARITIES)
    at: cython.p_int = c_compat.integers(order)
    end_of: cython.p_int = c_compat.integers(ends)
    slot: cython.p_int = c_compat.integers(slots)
    begin: cython.int = 0
    i: cython.int
    row: cython.int
    for row in range(len(ends)):
        if row % _between_pauses == 0:
            pause()
        if not _turned_round(instruction, arity, slot, at, begin, end_of[row]) and end_of[row] - begin >= _fewest:
            order[begin : end_of[row]] = _evenest(rows, order[begin : end_of[row]], slots)
        for i in range(begin, end_of[row]):
            slot[first + at[i]] = first + i
        begin = end_of[row]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _turned_round(
    instruction: cython.p_int,
    arity: cython.p_int,
    slot: cython.p_int,
    at: cython.p_int,
    begin: cython.int,
    end: cython.int,
) -> cython.bint:
    """Reverse a row if its operand indices descend, as in backward passes; return whether all strides are constant."""
    rising: cython.int = 0
    is_even: cython.bint = True
    i: cython.int
    k: cython.int
    step: cython.int
    for k in range(1, 1 + arity[instruction[4 * at[begin]]]):
        for i in range(begin + 1, end):
            step = slot[instruction[4 * at[i] + k]] - slot[instruction[4 * at[i - 1] + k]]
            if step == 1 or step == -1:
                rising += step
            if step != slot[instruction[4 * at[begin + 1] + k]] - slot[instruction[4 * at[begin] + k]]:
                is_even = False
    if rising < 0:
        for i in range((end - begin) // 2):
            k = at[begin + i]
            at[begin + i] = at[end - 1 - i]
            at[end - 1 - i] = k
    return is_even


def _evenest(rows: Any, order: Any, slots: Any) -> Any:
    """Return a row in the given order or sorted by operands, whichever order has fewer stride changes."""
    arity = _ARITIES[rows[order[0], 0]]
    operands = slots[rows[order, 1 : 1 + arity]].T
    best, fewest = order, _breaks(operands)
    for keys in permutations(range(arity)):
        by_operands = numpy.lexsort(operands[list(keys)])
        breaks = _breaks(operands[:, by_operands])
        if breaks < fewest:
            best, fewest = order[by_operands], breaks
    return best


def _breaks(operands: Any) -> int:
    """Return how often the strides of the operands change. `operands` has the shape (operands, instructions)."""
    return int((numpy.diff(operands, n=2) != 0).any(axis=0).sum())


def _segments(instructions: Any, ends: Any, code: Code) -> Any:
    """Cut rows into segments, with constant strides where possible; return the segments and the slots to copy."""
    writer: _Writer = _Writer(instructions, code)
    end_of: cython.p_int = c_compat.integers(ends)
    begin: cython.int = 0
    i: cython.int
    for i in range(len(ends)):
        if i % _between_pauses == 0:
            pause()
        writer.write_row(begin, end_of[i])
        begin = end_of[i]
    return writer.written(begin)


@cython.final
@cython.cclass
class _Writer:
    """Segments that are being written."""

    _code: cython.p_int
    _arity: cython.p_int
    _in_rows: cython.p_int
    _segment: cython.p_int
    _count: cython.int
    _first: cython.int  # the slot of the first result
    _done: cython.int  # number of instructions that the segments written so far cover
    _end: cython.int  # the slot after the last result
    _copied: dict  # (start, stride, length) of inputs or constants -> first slot of their copy
    _copies: list
    _arrays: list  # the arrays behind the pointers above

    def __init__(self, instructions: Any, code: Code) -> None:
        segments = numpy.zeros(row_loops.ROW_WIDTH * (len(instructions) // 4 + 1), numpy.int32)
        self._arrays = [instructions, segments, _ARITIES, _IN_ROWS]
        self._code = c_compat.integers(instructions)
        self._segment = c_compat.integers(segments)
        self._arity = c_compat.integers(_ARITIES)
        self._in_rows = c_compat.integers(_IN_ROWS)
        self._first = code.first
        self._end = code.count
        self._copied = {}
        self._copies = []
        self._count = 0
        self._done = 0

    @cython.cfunc
    def write_row(self, begin: cython.int, end: cython.int) -> object:
        """Write the segments of a row."""
        if end - begin < _fewest or not self._in_rows[self._code[4 * begin]]:
            return None  # this row is interpreted together with its neighbors
        self._interpret_up_to(begin)
        i: cython.int = begin
        length: cython.int
        irregular: cython.int = begin  # first instruction that is not yet in a segment
        while i < end:
            length = self._even(i, end)
            if length >= _fewest:
                self._write_picked(irregular, i)
                self._write_even(i, length)
                i += length
                irregular = i
            else:  # the last of these instructions may be the first of a longer range
                i += max(1, length - 1)
        self._write_picked(irregular, end)
        self._done = end
        return None

    def written(self, end: cython.int) -> Any:
        """Return the segments of all instructions before `end`, and the slots to copy."""
        self._interpret_up_to(end)
        return self._arrays[1][: row_loops.ROW_WIDTH * self._count].copy(), numpy.array(self._copies, numpy.int32)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _even(self, i: cython.int, end: cython.int) -> cython.int:
        """Return how many instructions from `i` on have operands with constant strides."""
        code: cython.p_int = self._code
        arity: cython.int = self._arity[code[4 * i]]
        j: cython.int = i + 1
        k: cython.int
        is_even: cython.bint = True
        while j < end and is_even:
            for k in range(1, 1 + arity):
                if code[4 * j + k] - code[4 * j - 4 + k] != code[4 * i + 4 + k] - code[4 * i + k]:
                    is_even = False
            if is_even:
                j += 1
        return j - i

    @cython.cfunc
    def _write_even(self, i: cython.int, length: cython.int) -> object:
        """Write a segment whose operands have constant strides."""
        code: cython.p_int = self._code
        arity: cython.int = self._arity[code[4 * i]]
        form: cython.int = 0
        start: cython.int
        stride: cython.int
        k: cython.int
        at: cython.int = self._append(code[4 * i] * row_loops.ROW_FORMS, length, i)
        for k in range(arity):
            start = code[4 * i + 1 + k]
            stride = code[4 * i + 5 + k] - start
            if start < self._first and stride != 0 and stride != 1:
                start = self._copy(start, stride, length)
                stride = 1
            self._segment[at + 3 + k] = start
            self._segment[at + 6 + k] = stride
            if stride == 0 and form < row_loops.STRIDED:
                form += 1 << k
            elif stride != 1:
                form = row_loops.STRIDED
        if form == (1 << arity) - 1:  # row_loops.h has no loop for operands that all have stride 0
            form = row_loops.STRIDED
        self._segment[at] += form
        return None

    @cython.cfunc
    @cython.exceptval(-1)
    def _copy(self, start: cython.int, stride: cython.int, length: cython.int) -> cython.int:
        """Return the first slot of the copy of some inputs or constants; add the copy if it is new."""
        key = (start, stride, length)
        if key not in self._copied:
            self._copied[key] = self._end + len(self._copies)
            self._copies += range(start, start + stride * length, stride)
        found: cython.int = self._copied[key]
        return found

    @cython.cfunc
    def _write_picked(self, begin: cython.int, end: cython.int) -> object:
        """Write a segment of form INDEXED, whose operands are arbitrary."""
        if begin < end:
            at: cython.int = self._append(
                self._code[4 * begin] * row_loops.ROW_FORMS + row_loops.INDEXED, end - begin, begin
            )
            self._segment[at + 3] = begin
        return None

    @cython.cfunc
    def _interpret_up_to(self, end: cython.int) -> object:
        """Write an interpreted segment of all instructions before `end` that are not yet in a segment."""
        if self._done < end:
            at: cython.int = self._append(_interpreted, end - self._done, self._done)
            self._segment[at + 3] = self._done
            self._done = end
        return None

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _append(self, operation: cython.int, length: cython.int, begin: cython.int) -> cython.int:
        """Append a segment and return its position."""
        at: cython.int = row_loops.ROW_WIDTH * self._count
        self._segment[at] = operation
        self._segment[at + 1] = length
        self._segment[at + 2] = self._first + begin
        self._segment[at + 9] = 1
        self._count += 1
        return at
