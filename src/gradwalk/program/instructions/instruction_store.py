"""`InstructionStore`: a list of instructions in which equal instructions are stored once (hash-consing).

An instruction is an opcode and up to three operands, the indices of earlier instructions. Before an instruction is
appended, the store looks for an equal instruction, so common subexpressions are computed once.

The last operand of an instruction is the operand with the largest index. Equal instructions have the same last operand.
Few other instructions share that operand, and it has often just been appended. So for each operand the store keeps a
linked list of the instructions that have it as their last operand. A hash table is used only for constants, and for
instructions whose list is long: many instructions may have the same input as last operand. In a large program most
cells of a hash table are not in the CPU cache, so lookups would dominate the run time. The linked lists are in memory
that was used recently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.program.code import opcodes

if not TYPE_CHECKING and cython.compiled:
    import cython

INPUT = 0  # opcode of an input; the first operand is the position among the inputs
CONSTANT = -1  # opcode of a constant; the first two operands are the 32-bit halves of the float64
NO_INDEX = -2  # there is no instruction; as the index of a cotangent or tangent it means exactly zero

_input = cython.declare(cython.int, INPUT)
_constant = cython.declare(cython.int, CONSTANT)
_call = cython.declare(cython.int, opcodes.CALL)
_take = cython.declare(cython.int, opcodes.TAKE)
_none = cython.declare(cython.int, NO_INDEX)
_add = cython.declare(cython.int, NAMES.index("add"))
_mul = cython.declare(cython.int, NAMES.index("mul"))

_longest_list = cython.declare(cython.int, 6)
_smallest_table = cython.declare(cython.int, 1024)


@cython.cclass
class InstructionStore:
    """A list of instructions in topological order: the operands of an instruction precede it.

    Attributes:
        inputs: The number of inputs.
        calls: For each call, its `Call`, the indices of its operands, and the index of its first result.
        tables: For each table that `take` indexes, a tuple of the indices of its entries.
        arrays: For each index that stands for a whole array, the kind of the array: see `Call.kinds`.

    Compiled code reads the arrays `opcode`, `x`, `y` and `z`, which have `length` entries, directly.
    """

    calls: list
    tables: list
    arrays: dict
    _table_numbers: dict  # table -> its position in `tables`
    _pure_calls: dict  # id of a pure call and its operands -> the index of its first result
    inputs: cython.int
    length: cython.int
    opcode: cython.p_int
    x: cython.p_int
    y: cython.p_int
    z: cython.p_int
    _capacity: cython.int
    _first: cython.p_int  # per instruction: the latest instruction that has it as last operand, or NO_INDEX
    _next: cython.p_int  # per instruction: the previous instruction with the same last operand, or NO_INDEX
    _columns: list  # the arrays behind the six pointers
    _table: cython.p_int  # two numbers per cell: a hash, and the index of an instruction or NO_INDEX
    _mask: cython.int  # number of cells (a power of two) minus 1
    _filled: cython.int  # number of cells in use
    _cells: Any  # the array behind `_table`

    def __init__(self, capacity: cython.int = 256) -> None:
        self.calls = []
        self.tables = []
        self.arrays = {}
        self._table_numbers = {}
        self._pure_calls = {}
        self.inputs = 0
        self.length = 0
        self._capacity = 0
        self._columns = []
        self.reserve(max(capacity, 256))
        self._filled = 0
        self._set_table(_smallest_table)

    def __len__(self) -> int:
        return self.length

    def input(self) -> int:
        """Append an input; return its index."""
        self.inputs += 1
        return _append(self, INPUT, self.inputs - 1, 0, 0)

    def constant(self, number: cython.double) -> int:
        """Return the index of a constant; append the constant if it is new."""
        return self.intern_constant(number)

    def call(self, function: Any, operands: list) -> int:
        """Append a call; return the index of its first result. The indices of its other results follow.

        A pure call is appended only once with the same operands: see `Call.is_pure`.
        """
        position: cython.int
        base: cython.int = self.length
        if function.is_pure:
            base = self._pure_calls.setdefault((id(function), *operands), base)
            if base != self.length:
                return base
        self.calls.append((function, operands, base))
        for position in range(function.outputs):
            _append(self, _call, len(self.calls) - 1, position, 0)
        for position, kind in enumerate(function.kinds):
            if kind is not None:
                self.arrays[base + position] = kind
        return base

    def array_input(self, kind: Any) -> int:
        """Append an input that is a whole array; return its index."""
        index = self.input()
        self.arrays[index] = kind
        return index

    @cython.cfunc
    @cython.exceptval(-1)
    def intern_take(self, index: cython.int, table: tuple) -> cython.int:
        """Return the index of a `take`; append the `take` if it is new."""
        if table not in self._table_numbers:
            self._table_numbers[table] = len(self.tables)
            self.tables.append(table)
        return self.intern(_take, index, self._table_numbers[table], 0)

    @cython.cfunc
    @cython.exceptval(-1)
    def intern_constant(self, number: cython.double) -> cython.int:
        """Return the index of a constant; append the constant if it is new."""
        return self.intern(_constant, c_compat.low_bits(number), c_compat.high_bits(number), 0)

    @cython.cfunc
    @cython.exceptval(check=False)
    def number(self, index: cython.int) -> cython.double:
        """Return the value of the constant with this index."""
        return c_compat.from_bits(self.x[index], self.y[index])

    @cython.cfunc
    @cython.exceptval(-1)
    def intern(self, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
        """Return the index of an instruction; append the instruction if it is new."""
        if opcode == _constant:
            return self._intern_by_hash(opcode, x, y, z)
        last: cython.int = max(x, y, z)
        found: cython.int = self._first[last]
        length: cython.int = 0
        while found != _none:
            if _is_equal(self, found, opcode, x, y, z):
                return found
            length += 1
            if length == _longest_list:
                return self._intern_by_hash(opcode, x, y, z)
            found = self._next[found]
        found = _append(self, opcode, x, y, z)
        self._next[found] = self._first[last]
        self._first[last] = found
        return found

    @cython.cfunc
    @cython.exceptval(-1)
    def _intern_by_hash(self, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
        """Look up an instruction in the hash table, and append it if it is new; return its index."""
        if 2 * self._filled > self._mask:
            self._grow_table()
        hashed: cython.int = _hash(opcode, x, y, z)
        cell: cython.int = 2 * (hashed & self._mask)
        while self._table[cell + 1] != _none:
            if self._table[cell] == hashed and _is_equal(self, self._table[cell + 1], opcode, x, y, z):
                return self._table[cell + 1]
            cell = (cell + 2) & (2 * self._mask + 1)
        self._table[cell] = hashed
        self._table[cell + 1] = _append(self, opcode, x, y, z)
        self._filled += 1
        return self._table[cell + 1]

    @cython.cfunc
    def reserve(self, capacity: cython.int) -> object:
        """Reserve memory for at least `capacity` instructions."""
        if capacity <= self._capacity:
            return None
        columns = [numpy.empty(capacity, numpy.int32) for _ in range(6)]
        for column, earlier in zip(columns, self._columns, strict=False):
            column[: self.length] = earlier[: self.length]
        self._columns = columns
        self._capacity = capacity
        self.opcode, self.x = c_compat.integers(columns[0]), c_compat.integers(columns[1])
        self.y, self.z = c_compat.integers(columns[2]), c_compat.integers(columns[3])
        self._first, self._next = c_compat.integers(columns[4]), c_compat.integers(columns[5])
        return None

    @cython.cfunc
    def _set_table(self, cells: cython.int) -> object:
        """Replace the hash table by an empty one with `cells` cells."""
        self._cells = numpy.full(2 * cells, NO_INDEX, numpy.int32)
        self._table = c_compat.integers(self._cells)
        self._mask = cells - 1
        return None

    @cython.cfunc
    def _grow_table(self) -> object:
        """Double the size of the hash table."""
        earlier: Any = self._cells
        before: cython.p_int = self._table
        size: cython.int = 2 * (self._mask + 1)
        self._set_table(size)
        i: cython.int
        cell: cython.int
        for i in range(0, size, 2):
            if before[i + 1] == _none:
                continue
            cell = 2 * (before[i] & self._mask)
            while self._table[cell + 1] != _none:
                cell = (cell + 2) & (2 * self._mask + 1)
            self._table[cell] = before[i]
            self._table[cell + 1] = before[i + 1]
        del earlier  # `earlier` owns the memory behind `before`
        return None


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _append(store: InstructionStore, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
    """Append an instruction without looking for an equal one; return its index."""
    index: cython.int = store.length
    if index == store._capacity:
        store.reserve(2 * store._capacity)
    store.opcode[index] = opcode
    store.x[index] = x
    store.y[index] = y
    store.z[index] = z
    store._first[index] = _none
    store.length = index + 1
    return index


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _hash(opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
    """Return the hash of an instruction. The low bits of the hash are the first cell to try in the hash table."""
    if opcode in (_add, _mul) and x > y:  # a + b and b + a have the same hash
        x, y = y, x
    hashed: cython.ulonglong = x
    hashed = (hashed * 1000003 + y) * 1000003 + z
    hashed = (hashed * 1000003 + opcode) * 0x5BD1E995
    # These bits are the same whether `hashed` has 64 bits or is an unbounded int of Python.
    return (hashed >> 32) & 0x3FFFFFFF


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_equal(
    store: InstructionStore, index: cython.int, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int
) -> cython.bint:
    """Return whether the instruction at an index is equal to this one. Operands of sums and products may be swapped."""
    if store.opcode[index] != opcode or store.z[index] != z:
        return False
    if store.x[index] == x and store.y[index] == y:
        return True
    return opcode in (_add, _mul) and store.x[index] == y and store.y[index] == x
