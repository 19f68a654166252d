"""Sparsity patterns: the entries of a program's Jacobian that can be nonzero.

A pattern is in compressed sparse row format, as in SciPy: the columns of row i are indices[indptr[i]:indptr[i + 1]], in
ascending order. Both arrays are int32.
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
NONE = cython.declare(cython.int, -1)  # no column, or no set
_LARGEST = 2**31 - 1  # maximum of int32


def pattern(program: Program, columns: list[int] | None = None) -> tuple[Any, Any]:
    """Find the inputs that each output of a program depends on: the sparsity pattern of the Jacobian.

    Operands without a derivative, such as the condition of `where`, do not count. The time is linear in the number of
    instructions and in the total size of the stored sets of inputs. Such a set is stored for each output and for each
    value that is used more than once.

    Args:
        program: The program.
        columns: Distinct indices of the inputs that form the columns. Default: all inputs in order.

    Returns:
        The arrays indptr and indices. Row i holds the columns that output i depends on.

    Raises:
        MemoryError: There are more than 2**31 - 1 entries.

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
        raise MemoryError(f"the pattern has {lengths.sum()} entries, more than the maximum of {_LARGEST}")
    indptr = numpy.zeros(len(rows) + 1, numpy.int32)
    numpy.cumsum(lengths, out=indptr[1:])
    indices = numpy.concatenate([numpy.zeros(0, numpy.int32), *rows])
    return transposed(*transposed(indptr, indices, len(columns)), len(rows))  # transposing twice sorts each row


@cython.cclass
class Dependencies:
    """The sets of columns that the values of a program depend on.

    Only outputs and values that are used more than once have a set. Any other value has no set: where it is used, its
    operands are visited instead. If the set of a value equals the set of an operand, both share one set. Sets that are
    no longer needed are dropped, and their memory is reused.
    """

    _first: cython.int  # the index of the first instruction
    _code: cython.p_int
    _calls: list[Any]
    _tables: list[Any]
    _uses: cython.p_int  # number of remaining uses of each value; being an output counts as a use
    _column: cython.p_int  # column of each input or constant, or NONE
    _set: cython.p_int  # set of each value, or NONE
    _operand: cython.p_int  # the operands of the current instruction
    _stack: cython.p_int  # instructions whose operands have not been visited yet
    _height: cython.int
    _found: cython.p_int  # columns collected so far for the current value
    _count: cython.int
    _seen: cython.p_int  # the last value that was found to depend on each column
    _widest: cython.int  # the largest of the sets being united, or NONE
    _begin: cython.p_int  # start of the columns of each set in the pool
    _size: cython.p_int
    _owners: cython.p_int  # number of values that have each set and are still needed
    _sets: cython.int  # number of sets created
    _pool: cython.p_int  # the columns of all sets
    _end: cython.Py_ssize_t  # end of the used part of the pool
    _columns: Any  # the array that _pool points into
    _arrays: Any  # the objects that own the memory of the other pointers

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
        """Return the columns that an output depends on, as an unsorted array."""
        if output >= self._first:
            which: cython.int = self._set[output]
            return self._columns[self._begin[which] : self._begin[which] + self._size[which]]
        column = self._column[output]
        return numpy.array([column] if column != NONE else [], numpy.int32)

    @cython.cfunc
    def _count_uses(self, outputs: list[int], end: cython.int) -> object:
        """Count the uses of each value, and mark the values that get a set."""
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
        """Write the differentiable operands of an instruction to `_operand`, and return their number."""
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
        """Compute the sets of all values marked by `_count_uses`."""
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
        """Add the columns that the operands of an instruction depend on to the columns found for a value."""
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
        """Add the set of an operand to the columns found for a value."""
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
        """Add a column to the columns found for a value, and return whether the column was already there."""
        if self._seen[column] == value:
            return True
        self._seen[column] = value
        self._found[self._count] = column
        self._count += 1
        return False

    @cython.cfunc
    def _keep(self, value: cython.int) -> object:
        """Store the columns found for a value as its set. If the largest set of an operand is equal, share that set."""
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
        """Drop unused sets, and enlarge the pool if it is still more than half full."""
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
            raise MemoryError(f"the sets of inputs that values depend on have more than {_LARGEST} members in total")
        columns = numpy.zeros(min(capacity, _LARGEST), numpy.int32)
        columns[: self._end] = self._columns[: self._end]
        self._columns, self._pool = columns, c_compat.integers(columns)


def transposed(indptr: Any, indices: Any, n: int) -> tuple[Any, Any]:
    """Transpose the pattern of a matrix with n columns.

    The rows of the result are sorted. The rows of the given pattern need not be sorted.

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
    """Append the row of each entry to the list of its column; `positions` gives the write position of each list."""
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
    """Return the smallest symmetric pattern that contains the pattern of a square matrix. Its rows are sorted.

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
    """Convert a pattern to contiguous int32 arrays, raising `ValueError` if it is not a pattern with n columns."""
    indptr, indices = [numpy.ascontiguousarray(array, numpy.int32) for array in (indptr, indices)]
    if len(indptr) == 0 or indptr[-1] != len(indices) or (len(indices) and not 0 <= indices.min() <= indices.max() < n):
        raise ValueError(f"not a pattern with {n} columns: indptr={indptr}, indices={indices}")
    return indptr, indices
