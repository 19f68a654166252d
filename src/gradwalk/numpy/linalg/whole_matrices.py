"""Solutions, determinants and Cholesky factors of large matrices, which a recorded function treats as single operands.

The functions return None if no matrix is one operand, or if an element is not a real number. LAPACK computes the
numbers. The derivatives are solutions of systems with the same matrix, as in `implicit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy

from gradwalk.arrays.functions.products import array_of, matrix_handle
from gradwalk.arrays.handles import apply_here, is_real
from gradwalk.arrays.kinds import Allocate, ArrayKind, Constant, Operand, WholeCall, new_array
from gradwalk.arrays.layout_calls import LayoutCall, MoveRows, Reshape
from gradwalk.arrays.map_call import MapCall, Sizes
from gradwalk.arrays.traced_array import is_whole
from gradwalk.arrays.whole_calls import Product
from gradwalk.numpy.linalg.elimination import log_determinant, lower_factor, substituted
from gradwalk.numpy.linalg.implicit import solver
from gradwalk.program.calls.call import append_call
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.program.tracing.record_program import record_program
from gradwalk.value.modes import is_staging

_BLOCK = 32  # rows of a triangular matrix


def whole_solution(a: Any, b: Any) -> Any:
    """Solve a x = b, where `a` has the shape (N, N), and `b` the shape (N,) or (N, K)."""
    if not _are_whole(a, b):
        return None
    matrix, right = matrix_handle(a), matrix_handle(_columns(b))
    [x] = apply_here(Solution(len(a), right.kind.width), [matrix, right])
    is_known = x.numbers is not None and not is_staging()
    if is_known and numpy.isnan(x.numbers).all() and numpy.isfinite(matrix.numbers).all():
        numpy.linalg.inv(matrix.numbers)  # raises an exception if the matrix is singular
    return array_of(x, right.kind).reshape(b.shape)


def whole_lower_solution(a: Any, b: Any, *, is_transposed: bool) -> Any:
    """Solve a x = b or aᵀ x = b for a lower triangular `a`: see `whole_solution`."""
    if not _are_whole(a, b):
        return None
    right = matrix_handle(_columns(b))
    [x] = apply_here(LowerSolution(len(a), right.kind.width, is_transposed), [matrix_handle(a), right])
    return array_of(x, right.kind).reshape(b.shape)


def _are_whole(a: Any, b: Any) -> bool:
    return (is_whole(a) or is_whole(b)) and all(is_whole(x) or is_real(x) for x in (a, b))


def _columns(b: Any) -> Any:
    return b if b.ndim == 2 else b[:, numpy.newaxis]


def whole_slogdet(a: Any) -> tuple[Any, Any] | None:
    """Return the sign and the logarithm of the determinant of a square matrix."""
    if not is_whole(a):
        return None
    sign, logarithm = apply_here(LogDeterminant(len(a)), [matrix_handle(a)])
    return sign, logarithm


def whole_cholesky(a: Any) -> Any:
    """Return the lower triangular factor of a square matrix."""
    if not is_whole(a):
        return None
    [factor] = apply_here(Cholesky(len(a)), [matrix_handle(a)])
    return array_of(factor, a.shape)


class Solution(WholeCall):
    """A call that solves A X = B, or Aᵀ X = B. The operands are A and B.

    Args:
        size: Number of rows of A.
        columns: Number of columns of B.
        is_transposed: Whether to solve with Aᵀ.
    """

    name = "solve"
    inputs = 2

    def __init__(self, size: int, columns: int, is_transposed: bool = False) -> None:
        self._square, self._kind = ArrayKind(size, size), ArrayKind(size, columns)
        self._is_transposed = is_transposed
        self.numbers_cost = _elimination_cost(size)
        super().__init__([self._kind])

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the solution, which is nan if the matrix is singular."""
        matrix, right = map(numpy.asarray, operands)
        found = empty(self._kind)
        try:
            with numpy.errstate(all="ignore"):  # inf and nan are valid results
                found[...] = self._solved(matrix, right)
        except numpy.linalg.LinAlgError:
            found.fill(numpy.nan)
        return [found]

    def _solved(self, matrix: Any, right: Any) -> Any:
        """Return the solution, or raise `LinAlgError`."""
        return numpy.linalg.solve(matrix.T if self._is_transposed else matrix, right)

    def _read(self, tape: Tape, matrix: int) -> int:
        """Append the part of a matrix that the call reads, with zeros elsewhere; return its index."""
        del tape
        return matrix

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the solution Y of Aᵀ Y = X̄, which is the cotangent of B, and the cotangent -Y Xᵀ of A."""
        y = tape.call(type(self)(*self._kind, not self._is_transposed), [operands[0], *adjoints])
        factors = [base, y] if self._is_transposed else [y, base]
        of_matrix = NO_INDEX
        if wanted[0]:
            product = tape.call(Product(self._kind, self._kind, (False, True)), factors)
            of_matrix = _elementwise(tape, "neg", self._square, [self._read(tape, product)])
        return [of_matrix, y]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the solution dX of A dX = dB - dA X, and return its index."""
        of_matrix, right = tangents
        if of_matrix != NO_INDEX:
            factors = [self._read(tape, of_matrix), base]
            product = tape.call(Product(self._square, self._kind, (self._is_transposed, False)), factors)
            terms = [product] if right == NO_INDEX else [right, product]
            right = _elementwise(tape, "neg" if right == NO_INDEX else "sub", self._kind, terms)
        return [NO_INDEX if right == NO_INDEX else tape.call(self, [operands[0], right])]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append a solution of the numbers for each column: see `Call.expanded`."""
        matrix, right = operands
        width = self._kind.width
        call = solver(self._kind.rows, self._is_transposed, is_recorded=True)
        columns = [append_call(call, tape, [*matrix, *right[j::width]]) for j in range(width)]
        return [[x for row in zip(*columns, strict=True) for x in row]]


class LowerSolution(Solution):
    """A call that solves such a system if A is lower triangular. The elements above the diagonal are not read."""

    name = "solve_triangular"

    def _solved(self, matrix: Any, right: Any) -> Any:
        """Solve for a block of rows at a time, by products of matrices: see `Solution`."""
        found, starts = numpy.empty_like(right), range(0, len(matrix), _BLOCK)
        for start in reversed(starts) if self._is_transposed else starts:
            block = slice(start, start + _BLOCK)
            known = slice(start + _BLOCK, None) if self._is_transposed else slice(0, start)
            diagonal, rest = numpy.tril(matrix[block, block]), matrix[block, known]
            if self._is_transposed:
                diagonal, rest = diagonal.T, matrix[known, block].T
            try:
                found[block] = numpy.linalg.solve(diagonal, right[block] - rest @ found[known])
            except numpy.linalg.LinAlgError:
                found[block] = numpy.nan
        return found

    def _read(self, tape: Tape, matrix: int) -> int:
        """Append the lower triangle: see `Solution`."""
        return tape.call(LowerTriangle(self._kind.rows), [matrix])

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the substitution of the numbers for each column: see `Call.expanded`."""
        matrix, right = operands
        width, program = self._kind.width, _substitution(self._kind.rows, self._is_transposed)
        columns = [tape.inline(program, [*matrix, *right[j::width]]) for j in range(width)]
        return [[x for row in zip(*columns, strict=True) for x in row]]


class LogDeterminant(WholeCall):
    """A call that returns the sign of the determinant of a matrix, and the logarithm of its absolute value.

    The cotangent of the matrix is the transposed inverse times the cotangent of the logarithm (Jacobi's formula). It is
    nan if the matrix is singular. The sign is constant.

    Args:
        size: Number of rows of the matrix.
    """

    name = "slogdet"
    inputs = 1

    def __init__(self, size: int) -> None:
        self._kind = ArrayKind(size, size)
        self.numbers_cost = _elimination_cost(size)
        super().__init__([None, None])

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the sign and the logarithm."""
        with numpy.errstate(all="ignore"):  # inf and nan are valid results
            return list(map(float, numpy.linalg.slogdet(numpy.asarray(operands[0]))))

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the cotangent of the matrix, and return its index."""
        if adjoints[1] == NO_INDEX:
            return [NO_INDEX]
        return [_elementwise(tape, "mul", self._kind, [adjoints[1], self._inverse(tape, operands)], numbers=1)]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangent of the logarithm: the sum of the tangents times the transposed inverse."""
        if tangents[0] == NO_INDEX:
            return [NO_INDEX, NO_INDEX]
        arrays = [self._inverse(tape, operands), *tangents]
        return [NO_INDEX, _elementwise(tape, "mul", self._kind, arrays, is_summed=True)]

    def _inverse(self, tape: Tape, operands: Indices) -> int:
        """Append the transposed inverse; return its index."""
        identity = tape.call(Constant(self._kind, numpy.eye(self._kind.rows)), [])
        return tape.call(Solution(*self._kind, True), [*operands, identity])

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the elimination of the numbers: see `Call.expanded`."""
        return list(tape.inline(_log_determinant(self._kind.rows), operands[0]))


class Cholesky(WholeCall):
    """A call that returns the lower triangular L with L Lᵀ = A. Only the lower triangle of A is read.

    The derivatives follow from dL = L Φ(L⁻¹ dA L⁻ᵀ), where Φ takes the lower triangle and half of the diagonal (Murray,
    "Differentiation of the Cholesky decomposition", 2016).

    Args:
        size: Number of rows of the matrix.
    """

    name = "cholesky"
    inputs = 1

    def __init__(self, size: int) -> None:
        self._kind = ArrayKind(size, size)
        self.numbers_cost = _elimination_cost(size)
        super().__init__([self._kind])

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return L, whose lower triangle is nan if the matrix is not positive definite."""
        found = empty(self._kind)
        try:
            found[...] = numpy.linalg.cholesky(numpy.asarray(operands[0]))
        except numpy.linalg.LinAlgError:
            found[...] = numpy.tril(numpy.full(self._kind, numpy.nan))
        return [found]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the cotangent Φ(L⁻ᵀ M L⁻¹), where M is twice the symmetric part of Φ(Lᵀ L̄); return its index."""
        product = tape.call(Product(self._kind, self._kind, (True, False)), [base, self._lower(tape, *adjoints)])
        between = self._on_both_sides(tape, base, self._symmetric(tape, product), is_transposed=True)
        return [self._lower(tape, between, diagonal=0.5)]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangent of L, and return its index."""
        if tangents[0] == NO_INDEX:
            return [NO_INDEX]
        between = self._on_both_sides(tape, base, self._symmetric(tape, *tangents), is_transposed=False)
        factors = [base, self._lower(tape, between, diagonal=0.5)]
        return [tape.call(Product(self._kind, self._kind), factors)]

    def _on_both_sides(self, tape: Tape, factor: int, symmetric: int, *, is_transposed: bool) -> int:
        """Append L⁻¹ S L⁻ᵀ for a symmetric S, or L⁻ᵀ S L⁻¹; return its index."""
        solution = LowerSolution(*self._kind, is_transposed)
        half = tape.call(solution, [factor, symmetric])
        return tape.call(solution, [factor, self._transposed(tape, half)])

    def _symmetric(self, tape: Tape, x: int) -> int:
        """Append Φ(X) + Φ(X)ᵀ, the symmetric matrix with the lower triangle of X; return its index."""
        lower = self._lower(tape, x, diagonal=0.5)
        return self._kind.add(tape, lower, self._transposed(tape, lower))

    def _transposed(self, tape: Tape, x: int) -> int:
        return tape.call(MoveRows(self._kind, 1), [x])

    def _lower(self, tape: Tape, x: int, diagonal: float = 1.0) -> int:
        """Append the lower triangle of X, with a factor on the diagonal; return its index."""
        return tape.call(LowerTriangle(self._kind.rows, diagonal), [x])

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the steps for the numbers: see `Call.expanded`."""
        return [tape.inline(_cholesky(self._kind.rows), operands[0])]


class LowerTriangle(LayoutCall):
    """A call that replaces the elements above the diagonal of a square matrix by zeros.

    Args:
        size: Number of rows of the matrix.
        diagonal: A factor of the elements on the diagonal.
    """

    name = "tril"
    inputs = 1

    def __init__(self, size: int, diagonal: float = 1.0) -> None:
        self._diagonal = diagonal
        super().__init__([ArrayKind(size, size)])

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the triangle."""
        found = numpy.tril(numpy.asarray(operands[0]))
        found.flat[:: len(found) + 1] *= self._diagonal
        return [found]

    def with_gaps(self, operands: Indices) -> Indices:
        """Return no operand: there are always gaps. See `WholeCall.with_gaps`."""
        return []

    def transposed(self) -> LowerTriangle:
        """Return the same call: it treats each element alone."""
        return self

    def zeros(self, tape: Tape, tangents: Indices) -> Indices:
        """Return the tangents, because a single one is not zero: see `LayoutCall.zeros`."""
        return tangents

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the indices of the numbers and of zeros: see `Call.expanded`."""
        [kind] = self.kinds
        zero, factor = tape.constant(0.0), tape.constant(self._diagonal)
        found = list(operands[0])
        for i in range(kind.rows):
            row = slice(i * kind.width + i, (i + 1) * kind.width)
            found[row] = [tape.append("mul", factor, found[row.start]), *[zero] * (kind.width - i - 1)]
        return [found]


def _elimination_cost(size: int) -> int:
    """Return the number of products and sums of an elimination."""
    return int(2 * size**3 // 3)


def _elementwise(
    tape: Tape, operation: str, kind: ArrayKind, operands: Indices, *, numbers: int = 0, is_summed: bool = False
) -> int:
    """Append an operation on some numbers and the elements of arrays of a kind, or the sum of its results."""
    column, row = ArrayKind(kind.size, 1), Tape()
    result = row.append(operation, *[row.input() for _ in operands])
    arrays = [tape.call(Reshape(kind, column), [array]) for array in operands[numbers:]]
    sizes = Sizes(numbers, (1,) * len(arrays), int(is_summed), () if is_summed else (1,))
    found = tape.call(MapCall(row.program([result]), kind.size, sizes), [*operands[:numbers], *arrays])
    return found if is_summed else tape.call(Reshape(column, kind), [found])


@cache
def _log_determinant(size: int) -> Program:
    """Return the program that maps a matrix to the sign and the logarithm of its determinant."""

    def of_numbers(*elements: Any) -> Any:
        return log_determinant(numpy.array(elements, dtype=object).reshape(size, size))

    return record_program(of_numbers, numpy.eye(size).ravel().tolist())


@cache
def _substitution(size: int, is_transposed: bool) -> Program:
    """Return the program that maps a lower triangular matrix and a right-hand side to the solution."""

    def of_numbers(*elements: Any) -> Any:
        matrix, right = numpy.array(elements[: size * size], dtype=object).reshape(size, size), elements[size * size :]
        return substituted(matrix, right, is_transposed=is_transposed)

    return record_program(of_numbers, [*numpy.eye(size).ravel().tolist(), *[1.0] * size])


@cache
def _cholesky(size: int) -> Program:
    """Return the program that maps a matrix to its Cholesky factor."""

    def of_numbers(*elements: Any) -> Any:
        rows = lower_factor(numpy.array(elements, dtype=object).reshape(size, size))
        return [x for row in rows for x in [*row, *[0.0] * (size - len(row))]]

    return record_program(of_numbers, numpy.eye(size).ravel().tolist())
