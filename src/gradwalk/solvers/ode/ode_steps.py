"""The steps of `odeint`: those of the method RK45 in compiled code, those of SciPy's other methods by SciPy."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.base.optional import from_scipy
from gradwalk.graph.graph import Floats
from gradwalk.program.calls.program_derivatives import to_tape
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.solvers.ode.dormand_prince import Path, Stepper

_OWN = "RK45"  # the method whose steps are taken here
_IMPLICIT = ("Radau", "BDF", "LSODA")  # methods that take a Jacobian


class Flow(NamedTuple):
    """How a state changes.

    Attributes:
        program: The program of it.
        row: The numbers of its inputs that do not change.
        places: At which input the state begins; how many of its numbers are inputs; and at which input the time is.
        jacobian: The partials of the change by the state, from a time and the state.
        along: A solution that the first inputs are taken from, or None.
    """

    program: Program
    row: Floats
    places: tuple[int, int, int]
    jacobian: Callable[[float, Any], Any]
    along: Any = None

    def change(self, t: float, state: Any) -> Any:
        """Return how a state changes at a time."""
        begin, fed, time = self.places
        if self.along is not None:
            known = self.along(t)
            self.row[: len(known)] = known
        self.row[time] = t
        self.row[begin : begin + fed] = state[:fed]
        return self.program.run(self.row)


class Field:
    """f of y' = f(y, t, p), and what follows from it.

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

    @cached_property
    def partials(self) -> Program:
        """The program of the partials of f by y and p, row by row."""
        tape, inputs, outputs = to_tape(self.program)
        one = tape.constant(1.0)
        columns = [tape.forward([(x, one)], outputs) for i, x in enumerate(inputs) if i != self.size]
        return tape.program([partial for row in zip(*columns, strict=True) for partial in row])

    @cached_property
    def varied(self) -> Program:
        """The program of f, and of how the partials of y by its start and by p change, row by row.

        Its inputs are y, these partials, t and p.
        """
        size, count = self.size, self.size + self.params
        tape = Tape()
        y = [tape.input() for _ in range(size)]
        moved = [[tape.input() for _ in range(count)] for _ in range(size)]
        t, *p = [tape.input() for _ in range(1 + self.params)]
        outputs = tape.inline(self.program, [*y, t, *p])
        one = tape.constant(1.0)
        columns = []
        for column in range(count):
            seeds = [(y[i], moved[i][column]) for i in range(size)]
            itself = [(p[column - size], one)] if column >= size else []
            columns.append(tape.forward([*seeds, *itself], outputs))
        return tape.program([*outputs, *[partial for row in zip(*columns, strict=True) for partial in row]])

    def swept(self, wanted: tuple[bool, ...]) -> Program:
        """Return the program of -f_yᵀ a, and of -f_pᵀ a for some of p: how adjoints change.

        Args:
            wanted: For each of p, whether it is one of these.

        Returns:
            The program. Its inputs are y, t, p and a.
        """
        if wanted in self._swept:
            return self._swept[wanted]
        tape, inputs, outputs = to_tape(self.program)
        params = itertools.compress(inputs[self.size + 1 :], wanted)
        seeds = [(output, tape.append("neg", tape.input())) for output in outputs]
        program = tape.program(tape.reverse(seeds, [*inputs[: self.size], *params]))
        return self._swept.setdefault(wanted, program)

    def forward(self, params: Floats) -> Flow:
        """Return the flow of y.

        Args:
            params: The numbers of p.
        """
        row = numpy.concatenate([numpy.zeros(self.size + 1), params])
        matrix = self._matrix(params)
        return Flow(self.program, row, (0, self.size, self.size), lambda t, y: matrix(t, y)[:, : self.size])

    def with_partials(self, params: Floats) -> Flow:
        """Return the flow of y and its partials by its start and by p.

        Args:
            params: The numbers of p.
        """
        size, count = self.size, self.size + self.params
        length = size * (1 + count)
        row = numpy.concatenate([numpy.zeros(length + 1), params])
        matrix = self._matrix(params)

        def jacobian(t: float, state: Any) -> Any:  # but for how y changes the change of its partials
            inner = matrix(t, state[:size])[:, :size]
            whole = numpy.zeros((length, length))
            whole[:size, :size], whole[size:, size:] = inner, numpy.kron(inner, numpy.eye(count))
            return whole

        return Flow(self.varied, row, (0, length, length), jacobian)

    def backward(self, wanted: Sequence[bool], params: Floats, along: Any) -> Flow:
        """Return the flow of the adjoints of y and of some of p.

        Args:
            wanted: For each of p, whether it is one of these.
            params: The numbers of p.
            along: The solution.
        """
        size = self.size
        row = numpy.concatenate([numpy.zeros(size + 1), params, numpy.zeros(size)])
        matrix, columns = self._matrix(params), [*[True] * size, *wanted]

        def jacobian(t: float, adjoints: Any) -> Any:
            whole = numpy.zeros((len(adjoints), len(adjoints)))
            whole[:, :size] = -matrix(t, along(t))[:, columns].T
            return whole

        return Flow(self.swept(tuple(wanted)), row, (size + 1 + self.params, size, size), jacobian, along)

    def _matrix(self, params: Floats) -> Callable[[float, Any], Any]:
        """The partials by y and p as a function of a time and y."""
        row = numpy.concatenate([numpy.zeros(self.size + 1), params])

        def matrix(t: float, y: Any) -> Any:
            row[: self.size], row[self.size] = y, t
            return self.partials.run(row).reshape(self.size, -1)

        return matrix


@dataclasses.dataclass(frozen=True)
class Steps:
    """What takes steps.

    Attributes:
        method: The name of the method, as SciPy's `solve_ivp` has it.
        rtol: The error of a step relative to the state.
        atol: The error of a step besides.
        hmax: How long a step may be.
    """

    method: str
    rtol: float
    atol: float
    hmax: float

    def rows(self, flow: Flow, start: Floats, times: Floats) -> Any:
        """Return the state at some times.

        Args:
            flow: The derivative of the state.
            start: The state at the first of the times.
            times: The times. Steps are taken between times that differ; equal times have equal states.

        Returns:
            A row for each time, of nan from the first time on that is nan.

        Raises:
            ValueError: A time is infinite, or the times turn back.
        """
        if numpy.isinf(times).any():
            raise ValueError(f"t of odeint must be finite, got {times.tolist()!s:.100}")
        found = numpy.full((len(times), len(start)), numpy.nan)
        known = times[: _known(times)]
        if not len(known):
            return found
        steps = numpy.diff(known)
        if not ((steps >= 0.0).all() or (steps <= 0.0).all()):
            raise ValueError(f"t of odeint must be in ascending or descending order, got {times.tolist()!s:.100}")
        is_new = numpy.append(True, steps != 0.0)
        found[: len(known)] = self._distinct(flow, start, known[is_new])[numpy.cumsum(is_new) - 1]
        return found

    def _distinct(self, flow: Flow, start: Floats, times: Floats) -> Any:
        """Return the state at times of which no two are equal."""
        if len(times) == 1:
            return start[numpy.newaxis]
        if self.method == _OWN:
            return self._own(flow, start, times, None)
        return self._by_scipy(flow, start, times, t_eval=times).y.T

    def path(self, flow: Flow, start: Floats, times: Floats) -> Any:
        """Return the state between two times: a `Path`, or a function of the time.

        Args:
            flow: How it changes.
            start: The state at the first time.
            times: The two times, which differ.
        """
        if self.method == _OWN:
            path = Path(len(start))
            self._own(flow, start, times, path)
            return path
        return self._by_scipy(flow, start, times, dense_output=True).sol

    def back(
        self, field: Field, wanted: Sequence[bool], start: Floats, times: Floats, params: Floats, seeds: Any
    ) -> Any:
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
        if seeds[_known(times) :].any():
            return adjoints + numpy.nan
        stops = [i for i in range(len(times)) if i == 0 or seeds[i].any()]
        last = times[stops[-1]]
        if last != times[0]:
            path = self.path(field.forward(params), start, numpy.array([times[0], last]))
            flow = field.backward(wanted, params, path)
        for i, before in itertools.pairwise(reversed(stops)):
            adjoints[: field.size] += seeds[i] / scale
            if times[i] != times[before]:
                adjoints = self.rows(flow, adjoints, times[[i, before]])[-1]
        adjoints[: field.size] += seeds[0] / scale
        return adjoints * scale

    def _own(self, flow: Flow, start: Floats, times: Floats, path: Path | None) -> Any:
        tolerances = (self.rtol, self.atol, self.hmax)
        stepper = Stepper(flow.program.interpreter, flow.row, flow.places, len(start), tolerances, flow.along)
        try:
            return stepper.rows(numpy.ascontiguousarray(start), numpy.ascontiguousarray(times), path)
        except ArithmeticError as error:
            raise self._stopped(error.args[0], times, "steps become too small") from None

    def _by_scipy(self, flow: Flow, start: Floats, times: Floats, **asked: Any) -> Any:
        solve = from_scipy("scipy.integrate", "solve_ivp", f"odeint(method={self.method!r})")
        if self.method in _IMPLICIT:
            asked["jac"] = flow.jacobian
        settings = {"method": self.method, "rtol": self.rtol, "atol": self.atol, "max_step": self.hmax}
        found = solve(flow.change, (times[0], times[-1]), start, **settings, **asked)
        if not found.success:
            raise self._stopped(found.t[-1] if len(found.t) else times[0], times, found.message)
        return found

    def _stopped(self, t: float, times: Floats, why: str) -> RuntimeError:
        return RuntimeError(
            f"odeint stops at t = {t:.6g} of {times[-1]:.6g} by {self.method}: {why}. y may grow without bound there, "
            'or be nan; where the equation is stiff, method="BDF", "Radau" or "LSODA" goes on'
        )


def _known(times: Floats) -> int:
    """Return how many times there are before the first one that is nan."""
    is_nan = numpy.isnan(times)
    return int(is_nan.argmax()) if is_nan.any() else len(times)
