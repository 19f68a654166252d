"""Sparsity patterns: which entries of a program's Jacobian can differ from 0.

A pattern is given as in SciPy's compressed rows: the columns of row i are indices[indptr[i]:indptr[i + 1]], in order,
and both arrays are int32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.program.code import opcodes
from gradwalk.program.program import Program

if not TYPE_CHECKING and cython.compiled:
    import cython

CALL = cython.declare(cython.int, opcodes.CALL)
TAKE = cython.declare(cython.int, opcodes.TAKE)
NONE = cython.declare(cython.int, -1)  # in place of a column or a set
_LARGEST = 2**31 - 1  # what int32 can count


def pattern(program: Program, columns: list[int] | None = None) -> tuple[Any, Any]:
    """Find which inputs each output of a program depends on: the sparsity pattern of its Jacobian.

    An operand that an operation passes no derivative to, such as the condition of `where`, does not count. This takes
    time linear in the number of instructions and in the sizes of the sets of inputs that outputs, and values needed
    more than once, depend on.

    Args:
        program: The program.
        columns: The inputs that the columns stand for, each once. By default, all inputs in order.

    Returns:
        The arrays indptr and indices. Row i holds the columns of the inputs that output i depends on.

    Raises:
        MemoryError: If there are more than 2**31 - 1 entries.

    Example:
        >>> from gradwalk.program.tape import Tape
        >>> tape = Tape()
        >>> x, y = tape.input(), tape.input()
        >>> indptr, indices = pattern(tape.program([tape.append("mul", x, y), y]))
        >>> indptr.tolist(), indices.tolist()
        ([0, 2, 3], [0, 1, 1])
    """
    if columns is None:
        columns = list(range(program.inputs))
    dependencies = Dependencies(program, columns)
    rows = [dependencies.of(output) for output in program.outputs]
    lengths = numpy.array([len(row) for row in rows], numpy.int64)
    if lengths.sum() > _LARGEST:
        raise MemoryError(f"the pattern has {lengths.sum()} entries; there may be {_LARGEST}")
    indptr = numpy.zeros(len(rows) + 1, numpy.int32)
    numpy.cumsum(lengths, out=indptr[1:])
    indices = numpy.concatenate([numpy.zeros(0, numpy.int32), *rows])
    return transposed(*transposed(indptr, indices, len(columns)), len(rows))  # which sorts each row


@cython.cclass
class Dependencies:
    """The columns that the values of a program depend on, as sets.

    Only outputs, and values that are needed more than once, have sets of their own. A value that is needed once is
    replaced by its operands where it is needed. A set that equals an operand's set is shared with it, and one that is
    no longer needed is dropped, so that its memory is used again.
    """

    _first: cython.int  # the index of the first instruction
    _code: cython.p_int
    _calls: list[Any]
    _tables: list[Any]
    _uses: cython.p_int  # by value: how often it is still needed; outputs once more
    _column: cython.p_int  # by input or constant: its column, or NONE
    _set: cython.p_int  # by value: its set, or NONE
    _operand: cython.p_int  # the operands of an instruction
    _stack: cython.p_int  # instructions whose operands are yet to be visited
    _height: cython.int
    _found: cython.p_int  # the columns that a value depends on, while they are collected
    _count: cython.int
    _seen: cython.p_int  # by column: the latest value that it has been found for
    _widest: cython.int  # the largest of the sets that are being united, or NONE
    _begin: cython.p_int  # by set: where its columns begin in the pool
    _size: cython.p_int
    _owners: cython.p_int  # by set: how many values have it that are still needed
    _sets: cython.int  # how many sets have been made
    _pool: cython.p_int  # the columns of all sets
    _end: cython.Py_ssize_t  # of the part of the pool that is in use
    _columns: Any  # the pool's array
    _arrays: Any  # what the other pointers point to

    def __init__(self, program: Any, columns: list[int]) -> None:
        first, steps = program.inputs + len(program.constants), len(program)
        lengths = [len(operands) for _, operands in program.calls] + [len(table) for table in program.tables]
        most = max(3, max(lengths, default=0))
        uses, found, operand, stack, begin, size, owners = [
            numpy.zeros(length, numpy.int32)
            for length in (first + steps, len(columns), most, steps, steps, steps, steps)
        ]
        column, sets, seen = [numpy.full(length, -1, numpy.int32) for length in (first, first + steps, len(columns))]
        column[columns] = numpy.arange(len(columns))
        self._arrays = [program, uses, found, operand, stack, begin, size, owners, column, sets, seen]
        self._first, self._code = first, c_compat.integers(program.instructions)
        self._calls, self._tables = list(program.calls), list(program.tables)
        self._uses, self._column = c_compat.integers(uses), c_compat.integers(column)
        self._set, self._operand = c_compat.integers(sets), c_compat.integers(operand)
        self._stack, self._found = c_compat.integers(stack), c_compat.integers(found)
        self._seen, self._begin = c_compat.integers(seen), c_compat.integers(begin)
        self._size, self._owners = c_compat.integers(size), c_compat.integers(owners)
        self._columns = numpy.zeros(steps, numpy.int32)
        self._pool = c_compat.integers(self._columns)
        self._height = self._count = self._sets = 0
        self._end = 0
        self._count_uses(list(program.outputs), first + steps)
        self._collect_all(first + steps)

    def of(self, output: cython.int) -> Any:
        """Return the columns that an output depends on, in no order.

        Args:
            output: The index of the output.

        Returns:
            An array of columns.
        """
        if output >= self._first:
            which: cython.int = self._set[output]
            return self._columns[self._begin[which] : self._begin[which] + self._size[which]]
        column = self._column[output]
        return numpy.array([column] if column != NONE else [], numpy.int32)

    @cython.cfunc
    def _count_uses(self, outputs: list[int], end: cython.int) -> object:
        """Count how often each value is needed, and mark the values that are to have sets."""
        value: cython.int
        i: cython.int
        for value in outputs:
            self._uses[value] += 1
        for value in range(end - 1, self._first - 1, -1):
            if self._uses[value] > 0:
                for i in range(self._operands(value)):
                    self._uses[self._operand[i]] += 1
            if self._uses[value] > 1:
                self._set[value] = 0
        for value in outputs:
            self._set[value] = 0
        return None

    @cython.cfunc
    @cython.inline
    def _operands(self, value: cython.int) -> cython.int:
        """Write the operands that an instruction passes derivatives to, and return how many there are."""
        k: cython.int = 4 * (value - self._first)
        opcode: cython.int = self._code[k]
        count: cython.int = 0
        i: cython.int
        if opcode == CALL:
            for operand in self._calls[self._code[k + 1]][1]:
                self._operand[count] = operand
                count += 1
            return count
        if opcode == TAKE:
            for operand in self._tables[self._code[k + 2]]:
                self._operand[count] = operand
                count += 1
            return count
        skipped: cython.int = evaluate.non_differentiable(opcode)
        for i in range(evaluate.arity(opcode)):
            if not skipped >> i & 1:
                self._operand[count] = self._code[k + 1 + i]
                count += 1
        return count

    @cython.cfunc
    def _collect_all(self, end: cython.int) -> object:
        """Make the sets of all values that are to have one."""
        value: cython.int
        for value in range(self._first, end):
            if self._set[value] == NONE:
                continue
            self._count = 0
            self._widest = NONE
            self._visit_operands(value, value)
            while self._height > 0:
                self._height -= 1
                self._visit_operands(self._stack[self._height], value)
            self._keep(value)
        return None

    @cython.cfunc
    def _visit_operands(self, instruction: cython.int, value: cython.int) -> object:
        """Add to what is found for a value what the operands of an instruction depend on."""
        i: cython.int
        operand: cython.int
        for i in range(self._operands(instruction)):
            operand = self._operand[i]
            if operand < self._first:
                if self._column[operand] != NONE:
                    self._find(self._column[operand], value)
            elif self._set[operand] == NONE:
                self._stack[self._height] = operand
                self._height += 1
            else:
                self._unite(operand, value)
        return None

    @cython.cfunc
    def _unite(self, operand: cython.int, value: cython.int) -> object:
        """Add to what is found for a value all of an operand's set."""
        which: cython.int = self._set[operand]
        k: cython.int
        for k in range(self._begin[which], self._begin[which] + self._size[which]):
            self._find(self._pool[k], value)
        if self._widest == NONE or self._size[which] > self._size[self._widest]:
            self._widest = which
        self._uses[operand] -= 1
        if self._uses[operand] == 0:
            self._owners[which] -= 1
        return None

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _find(self, column: cython.int, value: cython.int) -> cython.bint:
        """Add a column to those found for a value, and return whether it was among them already."""
        if self._seen[column] == value:
            return True
        self._seen[column] = value
        self._found[self._count] = column
        self._count += 1
        return False

    @cython.cfunc
    def _keep(self, value: cython.int) -> object:
        """Give a value the set of what has been found for it."""
        which: cython.int = self._widest
        k: cython.int
        if which == NONE or self._size[which] != self._count:
            if self._end + self._count > len(self._columns):
                self._make_room()
            which = self._sets
            self._sets += 1
            self._begin[which] = self._end
            self._size[which] = self._count
            for k in range(self._count):
                self._pool[self._end + k] = self._found[k]
            self._end += self._count
        self._set[value] = which
        self._owners[which] += 1
        return None

    @cython.cfunc
    def _make_room(self) -> object:
        """Drop the sets that are no longer needed, and enlarge the pool if it is still more than half full."""
        which: cython.int
        k: cython.int
        begin: cython.int
        end: cython.int = 0
        for which in range(self._sets):
            if self._owners[which] == 0:
                self._size[which] = 0
            begin = self._begin[which]
            self._begin[which] = end
            for k in range(self._size[which]):
                self._pool[end] = self._pool[begin + k]
                end += 1
        self._end = end
        if 2 * (self._end + self._count) > len(self._columns):
            self._enlarge(2 * (self._end + self._count))
        return None

    def _enlarge(self, capacity: int) -> None:
        if capacity > 2 * _LARGEST:
            raise MemoryError(f"the sets of inputs that values depend on have more than {_LARGEST} members together")
        columns = numpy.zeros(min(capacity, _LARGEST), numpy.int32)
        columns[: self._end] = self._columns[: self._end]
        self._columns, self._pool = columns, c_compat.integers(columns)


def transposed(indptr: Any, indices: Any, n: int) -> tuple[Any, Any]:
    """Return the pattern of the transpose of a matrix.

    Args:
        indptr: Where each row of the matrix begins in `indices`.
        indices: The columns of the entries; those of a row may be in any order.
        n: How many columns the matrix has.

    Returns:
        The arrays indptr and indices of the transpose, with sorted rows.

    Raises:
        ValueError: If the arrays are no pattern with n columns.

    Example:
        >>> indptr, indices = transposed([0, 2, 3], [1, 0, 1], 2)
        >>> indptr.tolist(), indices.tolist()
        ([0, 1, 3], [0, 0, 1])
    """
    indptr, indices = as_pattern(indptr, indices, n)
    ends = numpy.zeros(n + 1, numpy.int32)
    numpy.cumsum(numpy.bincount(indices, minlength=n), out=ends[1:])
    result, position = numpy.zeros(len(indices), numpy.int32), ends.copy()
    _scatter(c_compat.integers(indptr), c_compat.integers(indices), len(indptr) - 1, position, result)
    return ends, result


@cython.cfunc
def _scatter(start: cython.p_int, column: cython.p_int, m: cython.int, positions: object, results: object) -> object:
    """Write the row of each entry at its column's position, which moves on by one."""
    position: cython.p_int = c_compat.integers(positions)
    result: cython.p_int = c_compat.integers(results)
    i: cython.int
    k: cython.int
    for i in range(m):
        for k in range(start[i], start[i + 1]):
            result[position[column[k]]] = i
            position[column[k]] += 1
    return None


def symmetric(indptr: Any, indices: Any) -> tuple[Any, Any]:
    """Return the smallest symmetric pattern that contains a square one: that of a matrix plus its transpose.

    Args:
        indptr: Where each row of the matrix begins in `indices`.
        indices: The columns of the entries.

    Returns:
        The arrays indptr and indices of the symmetric pattern, with sorted rows.

    Raises:
        ValueError: If the arrays are no pattern of a square matrix.

    Example:
        >>> indptr, indices = symmetric([0, 1, 1], [1])
        >>> indptr.tolist(), indices.tolist()
        ([0, 1, 2], [1, 0])
    """
    n = len(indptr) - 1
    indptr, indices = as_pattern(indptr, indices, n)
    rows = numpy.repeat(numpy.arange(n), numpy.diff(indptr))
    entries = numpy.unique(numpy.concatenate([rows * n + indices, indices * numpy.int64(n) + rows]))
    starts = numpy.searchsorted(entries, numpy.arange(n + 1) * n)
    return starts.astype(numpy.int32), (entries % max(n, 1)).astype(numpy.int32)


def as_pattern(indptr: Any, indices: Any, n: int) -> tuple[Any, Any]:
    """Return a pattern as arrays that compiled code can read.

    Args:
        indptr: Where each row begins in `indices`.
        indices: The columns of the entries.
        n: How many columns there are.

    Returns:
        Both as contiguous arrays of int32.

    Raises:
        ValueError: If they are no pattern with n columns.
    """
    indptr, indices = [numpy.ascontiguousarray(array, numpy.int32) for array in (indptr, indices)]
    if len(indptr) == 0 or indptr[-1] != len(indices) or (len(indices) and not 0 <= indices.min() <= indices.max() < n):
        raise ValueError(f"not a pattern with {n} columns: indptr={indptr}, indices={indices}")
    return indptr, indices
