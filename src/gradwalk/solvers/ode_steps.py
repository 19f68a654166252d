"""Differential equations by SciPy's `solve_ivp`: forward, with all sensitivities, and back along a solution."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.backend.from_scipy import from_scipy
from gradwalk.graph.graph import Floats
from gradwalk.ops.cached import cached_property
from gradwalk.program.derived import unrolled
from gradwalk.program.program import Program

Change = Callable[[float, Any], Any]

_IMPLICIT = ("Radau", "BDF", "LSODA")  # methods that take a Jacobian


class Field:
    """f of y' = f(y, t, p).

    Args:
        program: The program of f. Its inputs are y, t and p.

    Attributes:
        size: How many numbers y has.
        params: How many p has.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.size = len(program.outputs)
        self.params = program.inputs - self.size - 1
        self._swept: dict[tuple[bool, ...], Program] = {}

    def of(self, program: Program, params: Floats) -> Callable[[float, Any], Floats]:
        """Return a program of y, t and p as a function of t and y.

        Args:
            program: The program.
            params: The numbers of p.

        Returns:
            A function for one thread.
        """
        row = numpy.empty(program.inputs)
        row[self.size + 1 :] = params

        def f(t: float, y: Any) -> Floats:
            row[: self.size], row[self.size] = y, t
            found: Floats = program.run(row)
            return found

        return f

    @cached_property
    def jacobian(self) -> Program:
        """The program of the partials by y, row by row."""
        return self._partials(range(self.size))

    @cached_property
    def partials(self) -> Program:
        """The program of the partials by y and p, row by row."""
        return self._partials([*range(self.size), *range(self.size + 1, self.program.inputs)])

    def _partials(self, positions: Sequence[int]) -> Program:
        tape, inputs, outputs = unrolled(self.program)
        one = tape.constant(1.0)
        columns = [tape.forward([(inputs[i], one)], outputs) for i in positions]
        return tape.program([partial for row in zip(*columns, strict=True) for partial in row])

    def swept(self, wanted: tuple[bool, ...]) -> Program:
        """Return the program of -f_yᵀ a, and of -f_pᵀ a for some of p: how adjoints change.

        Args:
            wanted: For each of p, whether it is one of these.

        Returns:
            The program. Its inputs are y, t, p and a.
        """
        if wanted in self._swept:
            return self._swept[wanted]
        tape, inputs, outputs = unrolled(self.program)
        params = itertools.compress(inputs[self.size + 1 :], wanted)
        seeds = [(output, tape.append("neg", tape.input())) for output in outputs]
        program = tape.program(tape.reverse(seeds, [*inputs[: self.size], *params]))
        return self._swept.setdefault(wanted, program)


@dataclasses.dataclass(frozen=True)
class Steps:
    """`scipy.integrate.solve_ivp`.

    Attributes:
        method: Its method.
        rtol: The error of a step relative to y.
        atol: The error of a step besides.
        hmax: How long a step may be.
    """

    method: str
    rtol: float
    atol: float
    hmax: float

    def at(self, field: Field, start: Floats, times: Floats, params: Floats) -> Floats:
        """Return y at some times, a row for each.

        Args:
            field: The field.
            start: y at the first of the times.
            times: The times.
            params: The numbers of p.

        Returns:
            The rows.
        """
        return self._rows(*_forward(field, params), start, times)

    def sensitivities(self, field: Field, start: Floats, times: Floats, params: Floats) -> Any:
        """Return the partials of y at some times by y at the first time and by p, all found at once.

        Args:
            field: The field.
            start: y at the first of the times.
            times: The times.
            params: The numbers of p.

        Returns:
            The partials, by the time, the number of y, and what it is differentiated by.
        """
        size, count = field.size, field.size + field.params
        speed, partials = field.of(field.program, params), field.of(field.partials, params)

        def change(t: float, state: Any) -> Floats:
            y, moved = state[:size], state[size:].reshape(size, count)
            matrix = partials(t, y).reshape(size, count)
            by_all = matrix[:, :size] @ moved
            by_all[:, size:] += matrix[:, size:]
            return numpy.append(speed(t, y), by_all)

        square = field.of(field.jacobian, params)

        def jacobian(t: float, state: Any) -> Any:  # but for how y changes the change of its partials
            inner = square(t, state[:size]).reshape(size, size)
            whole = numpy.zeros((len(state), len(state)))
            whole[:size, :size], whole[size:, size:] = inner, numpy.kron(inner, numpy.eye(count))
            return whole

        first = numpy.append(start, numpy.eye(size, count))
        rows = self._rows(change, jacobian, first, times)
        return rows[:, size:].reshape(len(times), size, count)

    def back(self, field: Field, wanted: Sequence[bool], start: Floats, times: Floats, params: Floats, seeds: Any) -> Any:
        """Return the adjoints of y at the first time and of some of p.

        Args:
            field: The field.
            wanted: For each of p, whether it is one of these.
            start: y at the first of the times.
            times: The times.
            params: The numbers of p.
            seeds: The adjoints of y at the times, a row for each.

        Returns:
            The adjoints.
        """
        adjoints = numpy.zeros(field.size + sum(wanted))
        scale = numpy.max(numpy.abs(seeds))
        if not scale or not numpy.isfinite(scale):
            return adjoints + scale
        stops = [i for i in range(len(times)) if i == 0 or seeds[i].any()]
        if stops[-1]:
            span = times[[0, stops[-1]]]
            path = self._solved(*_forward(field, params), start, span, dense_output=True).sol
            backward = _backward(field, wanted, params, path)
            for i, before in itertools.pairwise(reversed(stops)):
                adjoints[: field.size] += seeds[i] / scale
                adjoints = self._rows(*backward, adjoints, times[[i, before]])[-1]
        adjoints[: field.size] += seeds[0] / scale
        return adjoints * scale

    def _rows(self, change: Change, jacobian: Change, start: Floats, times: Floats) -> Any:
        """The solution at some times, a row for each."""
        if len(times) == 1:
            return start[numpy.newaxis]
        return self._solved(change, jacobian, start, times, t_eval=times).y.T

    def _solved(self, change: Change, jacobian: Change, start: Floats, times: Floats, **asked: Any) -> Any:
        """What SciPy returns from the first to the last of some times."""
        solve = from_scipy("scipy.integrate", "solve_ivp", "odeint()")
        if self.method in _IMPLICIT:
            asked["jac"] = jacobian
        settings = {"method": self.method, "rtol": self.rtol, "atol": self.atol, "max_step": self.hmax}
        found = solve(change, (times[0], times[-1]), start, **settings, **asked)
        if not found.success:
            raise RuntimeError(
                f"odeint stops at t = {found.t[-1] if len(found.t) else times[0]:.6g} of {times[-1]:.6g} by "
                f"{self.method}: {found.message} The solution may grow without bound there; where it is stiff, "
                'method="BDF" or "Radau" goes on'
            )
        return found


def _forward(field: Field, params: Floats) -> tuple[Change, Change]:
    """How y changes, and the Jacobian of that."""
    jacobian = field.of(field.jacobian, params)
    return field.of(field.program, params), lambda t, y: jacobian(t, y).reshape(field.size, field.size)


def _backward(field: Field, wanted: Sequence[bool], params: Floats, path: Any) -> tuple[Change, Change]:
    """How adjoints change along a path, and the Jacobian of that."""
    size = field.size
    swept, partials = field.swept(tuple(wanted)), field.of(field.partials, params)
    columns = [*[True] * size, *wanted]
    row = numpy.empty(swept.inputs)
    row[size + 1 : -size] = params

    def change(t: float, adjoints: Any) -> Any:
        row[:size], row[size], row[-size:] = path(t), t, adjoints[:size]
        return swept.run(row)

    def jacobian(t: float, adjoints: Any) -> Any:
        whole = numpy.zeros((len(adjoints), len(adjoints)))
        whole[:, :size] = -partials(t, path(t)).reshape(size, -1)[:, columns].T
        return whole

    return change, jacobian
