"""Linear systems as calls, which are differentiated by the equation that they solve.

From A x = b follows A dx = db - dA x: the derivative of a solution is a solution for the same matrix. Backward, y is
the solution of Aᵀ y = x̄ for the adjoint x̄ of x, the adjoint of b is y, and that of A is -y xᵀ (Giles, "Collected
matrix derivative results for forward and reverse mode algorithmic differentiation", 2008, section 2.3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.graph.graph import Floats
from gradwalk.numpy.elimination import Factors, factorised
from gradwalk.program.calls.call import Call, Expansion
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Tape
from gradwalk.program.tracing.trace import Indices, Recording


class Solve(Call):
    """x of A x = b, or of Aᵀ x = b, by LAPACK. The operands are the rows of A, then b.

    Args:
        size: The number of unknowns.
        is_transposed: Whether it is that of Aᵀ.
    """

    name = "solve"
    remedy = "LAPACK solves the linear system outside of the program. Smaller systems become instructions"

    def __init__(self, size: int, is_transposed: bool) -> None:
        self.outputs = size
        self._is_transposed = is_transposed

    def numbers(self, operands: Floats) -> Floats:
        """Return the solution.

        Args:
            operands: The numbers of A and b; a row of float64.

        Returns:
            The unknowns, a row of float64.

        Raises:
            numpy.linalg.LinAlgError: The matrix is singular.
        """
        matrix, right = self._parted(operands)
        matrix = matrix.reshape(self.outputs, self.outputs)
        solution: Floats = numpy.linalg.solve(matrix.T if self._is_transposed else matrix, right)
        return solution

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials of one unknown.

        Args:
            operands: The numbers of A and b.
            position: The index of the unknown.
            result: Its number.

        Returns:
            A float for each operand.
        """
        matrix, _ = self._parted(list(operands))
        seeds = [float(i == position) for i in range(self.outputs)]
        adjoints = self._transposed().numbers(numpy.array([*matrix, *seeds]))
        unknowns = self.numbers(numpy.array(operands))
        return [*(-self._outer(adjoints, unknowns)).ravel().tolist(), *adjoints.tolist()]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the solution for the transposed matrix, and its products with this one.

        Args:
            tape: The tape.
            operands: The indices of A and b.
            base: The index of the first unknown.
            adjoints: The indices of the adjoints of the unknowns.

        Returns:
            The indices of the adjoints of A and b.
        """
        matrix, _ = self._parted(operands)
        solution = _appended(tape, self._transposed(), matrix, adjoints)
        return [*self._products(tape, solution, base), *solution]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the solution for the right-hand side db - dA x.

        Args:
            tape: The tape.
            operands: The indices of A and b.
            base: The index of the first unknown.
            tangents: The indices of the tangents of A and b.

        Returns:
            The indices of the tangents of the unknowns.
        """
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
        """What belongs to A, and what belongs to b."""
        return operands[: -self.outputs], operands[-self.outputs :]

    def _outer(self, adjoints: Any, solution: Any) -> Any:
        """The products of two solutions, for the elements of A."""
        products = numpy.multiply.outer(adjoints, solution)
        return products.T if self._is_transposed else products

    def _products(self, tape: Tape, solution: Indices, base: int) -> Indices:
        """The indices of the adjoints of the elements of A."""
        size = range(self.outputs)
        pairs = [(k, j) if self._is_transposed else (j, k) for j in size for k in size]
        return [tape.append("neg", tape.append("mul", solution[row], base + column)) for row, column in pairs]


class RecordedSolve(Solve):
    """The same as instructions, once it has been differentiated.

    The matrix is eliminated once, whatever is solved with it: adjoints and tangents of any order reuse its factors.
    """

    @cached_property
    def expansion(self) -> Expansion:
        """The elimination, and the solution by its factors."""
        solve = Factors.solve_transposed if self._is_transposed else Factors.solve
        factors = _elimination(self.outputs)
        count = len(factors.outputs)

        def solution(*operands: Any) -> Any:
            return tuple(solve(Factors.of(operands[:count], self.outputs), list(operands[count:])))

        return Expansion(factors, _recorded(solution, [1.0] * (count + self.outputs)))

    def numbers(self, operands: Floats) -> Floats:
        """Return the solution, with inf and nan where the matrix is singular.

        Args:
            operands: The numbers of A and b; a row of float64.

        Returns:
            The unknowns, a row of float64.
        """
        matrix, right = self._parted(operands)
        factors = self.expansion.first.run(matrix)
        solution: Floats = self.expansion.rest.run(numpy.append(factors, right))
        return solution

    def _transposed(self) -> Solve:
        return solver(self.outputs, not self._is_transposed, is_recorded=True)


@cache
def _elimination(size: int) -> Program:
    """The program of a matrix that returns its factors."""

    def eliminate(*operands: Any) -> Any:
        rows = [list(operands[i : i + size]) for i in range(0, len(operands), size)]
        return tuple(factorised(rows).numbers())

    return _recorded(eliminate, numpy.eye(size).ravel().tolist())


def _recorded(f: Callable[..., Any], numbers: list[float]) -> Program:
    """The program of a function of numbers, recorded at these."""
    recording = Recording(staged=True)
    given = [recording.add_inputs(number, "operand") for number in numbers]
    indices, _ = recording.run(f, given, {})
    return recording.tape.program(indices)


@cache
def solver(size: int, is_transposed: bool, *, is_recorded: bool) -> Solve:
    """Return the call that solves systems of some size.

    Args:
        size: The number of unknowns.
        is_transposed: Whether it solves for the transposed matrix.
        is_recorded: Whether it is to become instructions.

    Returns:
        The call, the same one for the same arguments.
    """
    return RecordedSolve(size, is_transposed) if is_recorded else Solve(size, is_transposed)


def _appended(tape: Tape, call: Call, matrix: Indices, right: Indices) -> Indices:
    """Append a call, and return the indices of its results."""
    base = tape.call(call, [*matrix, *[tape.constant(0.0) if i == NO_INDEX else i for i in right]])
    return list(range(base, base + call.outputs))
