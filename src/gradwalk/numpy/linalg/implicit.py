"""Calls that solve linear systems, differentiated by the implicit function theorem.

A x = b implies A dx = db - dA x: the tangent dx solves a system with the same matrix. In reverse mode, let x̄ be the
cotangent of x, and let y solve Aᵀ y = x̄. Then the cotangent of b is y, and the cotangent of A is -y xᵀ (Giles,
"Collected matrix derivative results for forward and reverse mode algorithmic differentiation", 2008, section 2.3.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.numpy.linalg.elimination import Factors, factorised
from gradwalk.program.calls.call import Call, Expansion
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.program.tracing.record_program import record_program


class Solve(Call):
    """A call that solves A x = b, or Aᵀ x = b, with LAPACK. The operands are the rows of A, then b.

    Args:
        size: Number of unknowns.
        is_transposed: Whether to solve with Aᵀ.
    """

    name = "solve"
    is_pure = True
    remedy = "LAPACK solves the linear system outside of the recorded program. Smaller systems become instructions"

    def __init__(self, size: int, is_transposed: bool) -> None:
        self.outputs = size
        self._is_transposed = is_transposed

    def numbers(self, operands: Floats) -> Floats:
        """Return the solution as a float64 array; raises `LinAlgError` if the matrix is singular."""
        matrix, right = self._parted(operands)
        matrix = matrix.reshape(self.outputs, self.outputs)
        solution: Floats = numpy.linalg.solve(matrix.T if self._is_transposed else matrix, right)
        return solution

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials of one unknown with respect to each operand."""
        matrix, _ = self._parted(list(operands))
        seeds = [float(i == position) for i in range(self.outputs)]
        adjoints = self._transposed().numbers(numpy.array([*matrix, *seeds]))
        unknowns = self.numbers(numpy.array(operands))
        return [*(-self._outer(adjoints, unknowns)).ravel().tolist(), *adjoints.tolist()]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the solution y of Aᵀ y = x̄ and the products -y xᵀ; return the indices of the cotangents of A and b."""
        matrix, _ = self._parted(operands)
        solution = _appended(tape, self._transposed(), matrix, adjoints)
        return [*self._products(tape, solution, base), *solution]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the solution dx of A dx = db - dA x, and return its indices."""
        matrix, _ = self._parted(operands)
        of_matrix, right = self._parted(tangents)
        right = list(right)
        for at, tangent in enumerate(of_matrix):
            if tangent != NO_INDEX:
                row, column = divmod(at, self.outputs)[:: -1 if self._is_transposed else 1]
                product = tape.append("mul", tangent, base + column)
                right[row] = (
                    tape.append("neg", product) if right[row] == NO_INDEX else tape.append("sub", right[row], product)
                )
        return _appended(tape, self, matrix, right)

    def _transposed(self) -> Solve:
        return solver(self.outputs, not self._is_transposed, is_recorded=False)

    def _parted(self, operands: Any) -> tuple[Any, Any]:
        """Split a sequence with one item per operand into the items of A and the items of b."""
        return operands[: -self.outputs], operands[-self.outputs :]

    def _outer(self, adjoints: Any, solution: Any) -> Any:
        """Return the outer product y xᵀ in the layout of A; `adjoints` is y, and `solution` is x."""
        products = numpy.multiply.outer(adjoints, solution)
        return products.T if self._is_transposed else products

    def _products(self, tape: Tape, solution: Indices, base: int) -> Indices:
        """Append the cotangents of the elements of A, and return their indices."""
        size = range(self.outputs)
        pairs = [(k, j) if self._is_transposed else (j, k) for j in size for k in size]
        return [tape.append("neg", tape.append("mul", solution[row], base + column)) for row, column in pairs]


class RecordedSolve(Solve):
    """A `Solve` call that is replaced by instructions after differentiation.

    The matrix is factored once for all systems with this matrix: cotangents and tangents of any order reuse its
    factors.
    """

    @cached_property
    def expansion(self) -> Expansion:
        """The program that factors the matrix, and the program that solves with the factors."""
        solve = Factors.solve_transposed if self._is_transposed else Factors.solve
        factors = _elimination(self.outputs)
        count = len(factors.outputs)

        def solution(*operands: Any) -> Any:
            return tuple(solve(Factors.of(operands[:count], self.outputs), list(operands[count:])))

        return Expansion(factors, record_program(solution, [1.0] * (count + self.outputs)))

    def numbers(self, operands: Floats) -> Floats:
        """Return the solution as a float64 array. It contains inf or nan if the matrix is singular."""
        matrix, right = self._parted(operands)
        factors = self.expansion.first.run(matrix)
        solution: Floats = self.expansion.rest.run(numpy.append(factors, right))
        return solution

    def _transposed(self) -> Solve:
        return solver(self.outputs, not self._is_transposed, is_recorded=True)


@cache
def _elimination(size: int) -> Program:
    """Return the program that maps a matrix to its factors."""

    def eliminate(*operands: Any) -> Any:
        rows = [list(operands[i : i + size]) for i in range(0, len(operands), size)]
        return tuple(factorised(rows).numbers())

    return record_program(eliminate, numpy.eye(size).ravel().tolist())


@cache
def solver(size: int, is_transposed: bool, *, is_recorded: bool) -> Solve:
    """Return the cached call that solves `size` equations: a `RecordedSolve` if `is_recorded`, otherwise a `Solve`."""
    return RecordedSolve(size, is_transposed) if is_recorded else Solve(size, is_transposed)


def _appended(tape: Tape, call: Call, matrix: Indices, right: Indices) -> Indices:
    """Append a call, and return the indices of its results."""
    base = tape.call(call, [*matrix, *[tape.constant(0.0) if i == NO_INDEX else i for i in right]])
    return list(range(base, base + call.outputs))
