"""`Implicit`: a call that solves an equation and is differentiated by the implicit function theorem.

F(x, p) = 0 implies J dx = -F_p dp, where J is the Jacobian of F with respect to the unknowns x. The tangent dx
therefore solves a linear system and does not depend on the solver. In reverse mode, the cotangent of p is -F_pᵀ y,
where y solves Jᵀ y = x̄ and x̄ is the cotangent of x. J and these products are programs of x and p, which can be
differentiated again, to any order (Blondel et al., "Efficient and modular implicit differentiation", 2022, section 2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.numpy.linalg.implicit import Solve, solver
from gradwalk.program.calls.call import Call, Expansion, append_call, instantiate_zeros
from gradwalk.program.calls.program_derivatives import jvp_program, to_tape, vjp_program
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape

_LARGEST_ELIMINATED = 8  # maximum number of unknowns for which linear systems are solved by recorded elimination


class Equation:
    """A system of equations F(x, p) = 0 for `size` unknowns x. The program `residual` computes F from x and p."""

    def __init__(self, residual: Program) -> None:
        self.residual = residual
        self.size = len(residual.outputs)

    @cached_property
    def jacobian(self) -> Program:
        """The program that computes J, the partials of F with respect to x, row by row."""
        tape, inputs, outputs = to_tape(self.residual)
        one = tape.constant(1.0)
        columns = [tape.forward([(x, one)], outputs) for x in inputs[: self.size]]
        return tape.program([partial for row in zip(*columns, strict=True) for partial in row])

    @cached_property
    def pulled(self) -> Program:
        """The program that maps x, p and the cotangent of F to the cotangents of x and p."""
        return vjp_program(self.residual)

    @cached_property
    def pushed(self) -> Program:
        """The program that maps x, p and their tangents to the tangent of F."""
        return jvp_program(self.residual)


Search = Callable[[Equation, Floats, Floats], Floats]


class Implicit(Call):
    """A call that maps starting values and p to the solution x of F(x, p) = 0.

    Args:
        name: Name to display.
        equation: The equation.
        starts: Number of starting values. The derivatives of the solution with respect to them are 0.
        search: The solver: a function of the equation, the starting values, and p.
    """

    remedy = (
        "The equation is solved outside of the recorded program. In a function that jit records, root_scalar with "
        'method="newton" or "brentq" becomes part of the program; other methods can be written with gradwalk.loops'
    )

    def __init__(self, name: str, equation: Equation, starts: int, search: Search) -> None:
        self.name = name
        self.outputs = equation.size
        self.equation = equation
        self.starts = starts
        self.search = search
        self._latest: tuple[bytes, Any] = (b"", None)  # the latest operands as bytes, and their x and J⁻¹

    def __repr__(self) -> str:
        return f"<the solution of {self.outputs} equations by {self.name}>"

    def __reduce__(self) -> Any:
        return Implicit, (self.name, self.equation, self.starts, self.search)

    def numbers(self, operands: Floats) -> Floats:
        """Return the solution: see `Call.numbers`."""
        found = self.search(self.equation, operands[: self.starts], operands[self.starts :])
        return numpy.asarray(found, numpy.float64)

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials of one unknown with respect to all operands: see `Call.partials`."""
        row = numpy.array(operands, numpy.float64)
        key = row.tobytes()
        known, at = self._latest
        if known != key:
            self._latest = (key, at := self._differentiated(row))
        x, inverse = at
        params = row[self.starts :]
        adjoints = self.equation.pulled.run(numpy.concatenate([x, params, -inverse[position]]))
        partials: list[float] = adjoints[self.outputs :].tolist()
        return [*[0.0] * self.starts, *partials]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the solution y of Jᵀ y = x̄ and the cotangents -F_pᵀ y of p: see `Call.vjp`."""
        point = self._point(operands, base)
        found = self._solved(tape, point, instantiate_zeros(tape, adjoints), is_transposed=True)
        seeds = [tape.append("neg", y) for y in found]
        of_params = tape.inline(self.equation.pulled, [*point, *seeds])[self.outputs :]
        return [*[NO_INDEX] * self.starts, *of_params]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the solution dx of J dx = -F_p dp: see `Call.jvp`."""
        point = self._point(operands, base)
        still = [tape.constant(0.0)] * self.outputs
        moved = tape.inline(self.equation.pushed, [*point, *still, *instantiate_zeros(tape, tangents[self.starts :])])
        return self._solved(tape, point, [tape.append("neg", x) for x in moved], is_transposed=False)

    def _point(self, operands: Indices, base: int) -> Indices:
        """Return the indices of x and p."""
        return [*range(base, base + self.outputs), *operands[self.starts :]]

    def _solved(self, tape: Tape, point: Indices, right: Indices, *, is_transposed: bool) -> Indices:
        """Append the solution of a linear system whose matrix is the Jacobian at `point` or the transposed Jacobian."""
        matrix = tape.inline(self.equation.jacobian, point)
        if self.outputs == 1:
            return [tape.append("div", right[0], matrix[0])]
        return append_call(_linear(self.outputs, is_transposed), tape, [*matrix, *right])

    def _differentiated(self, operands: Floats) -> tuple[Floats, Any]:
        """Return the solution, and the inverse of the Jacobian at the solution."""
        x = self.numbers(operands)
        point = numpy.concatenate([x, operands[self.starts :]])
        return x, _inverse(self.equation.jacobian.run(point).reshape(self.outputs, self.outputs))


class SearchedInPlace(Implicit):
    """An `Implicit` call whose solver is a program. After differentiation, the call is replaced by this program.

    Args:
        implicit: The call.
        search: The program of the solver. Its inputs are the operands of the call, and its outputs are the results.
    """

    def __init__(self, implicit: Implicit, search: Program) -> None:
        super().__init__(implicit.name, implicit.equation, implicit.starts, implicit.search)
        self._implicit = implicit
        self._program = search

    def __reduce__(self) -> Any:
        return SearchedInPlace, (self._implicit, self._program)

    @cached_property
    def expansion(self) -> Expansion:
        """The program of the solver, followed by a program that returns its inputs: the results of the call."""
        tape = Tape()
        return Expansion(self._program, tape.program([tape.input() for _ in range(self.outputs)]))


class _Linear(Solve):
    """A call that solves a linear system with LAPACK. The solution is nan if the matrix is singular."""

    def numbers(self, operands: Floats) -> Floats:
        """Return the solution as a float64 array."""
        try:
            return super().numbers(operands)
        except numpy.linalg.LinAlgError:
            return numpy.full(self.outputs, numpy.nan)

    def _transposed(self) -> Solve:
        return _linear(self.outputs, not self._is_transposed)


@cache
def _linear(size: int, is_transposed: bool) -> Solve:
    """Return the call that solves `size` linear equations: by recorded elimination, or with LAPACK if `size` is large.

    Batch kernels can run recorded elimination, but they cannot call LAPACK.
    """
    if size <= _LARGEST_ELIMINATED:
        return solver(size, is_transposed, is_recorded=True)
    return _Linear(size, is_transposed)


def _inverse(matrix: Any) -> Any:
    if len(matrix) == 1:
        with numpy.errstate(divide="ignore"):
            return 1.0 / matrix
    try:
        return numpy.linalg.inv(matrix)
    except numpy.linalg.LinAlgError:
        return numpy.full(matrix.shape, numpy.nan)
