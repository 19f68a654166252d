"""The integration methods of `odeint`: RK45 runs in compiled code, and the other methods run in SciPy."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.base.optional import from_scipy
from gradwalk.batching.progress import Advance, counter
from gradwalk.program.calls.program_derivatives import to_tape
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.solvers.ode.dormand_prince import Path, Stepper

_OWN = "RK45"  # the method implemented in dormand_prince.py
_IMPLICIT = ("Radau", "BDF", "LSODA")  # methods that use a Jacobian


class Flow(NamedTuple):
    """The right-hand side of a differential equation: the derivative of the state as a function of time and state.

    Attributes:
        program: The program that computes the derivative of the state.
        row: Inputs of the program. Each evaluation overwrites the state, the time and the values of `along`.
        places: Index of the first state input, number of state inputs, and index of the time input.
        jacobian: Function `jacobian(t, state)` that returns the Jacobian of the right-hand side.
        along: A solution whose value at the current time is written to the first inputs, or None.
    """

    program: Program
    row: Floats
    places: tuple[int, int, int]
    jacobian: Callable[[float, Any], Any]
    along: Any = None

    def change(self, t: float, state: Any) -> Any:
        """Return the derivative of the state at time t."""
        begin, fed, time = self.places
        if self.along is not None:
            known = self.along(t)
            self.row[: len(known)] = known
        self.row[time] = t
        self.row[begin : begin + fed] = state[:fed]
        return self.program.run(self.row)


class Field:
    """The function f of y' = f(y, t, p), and programs derived from it.

    Args:
        program: The program of f. Its inputs are y, t and p.

    Attributes:
        size: Number of components of y.
        params: Number of components of p.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.size = len(program.outputs)
        self.params = program.inputs - self.size - 1
        self._swept: dict[tuple[bool, ...], Program] = {}

    @cached_property
    def partials(self) -> Program:
        """The program that computes the partials of f with respect to y and p, one row per component of f."""
        tape, inputs, outputs = to_tape(self.program)
        one = tape.constant(1.0)
        columns = [tape.forward([(x, one)], outputs) for i, x in enumerate(inputs) if i != self.size]
        return tape.program([partial for row in zip(*columns, strict=True) for partial in row])

    @cached_property
    def varied(self) -> Program:
        """The program that computes the time derivatives of y and of the sensitivities of y to y0 and p.

        Its inputs are y, the sensitivities, t and p. The sensitivities have one row per component of y.
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
        """Return the program that computes -f_yᵀ a, and -f_pᵀ a for the wanted components of p.

        Its inputs are y, t, p and a. `wanted` has a flag for each component of p.
        """
        if wanted in self._swept:
            return self._swept[wanted]
        tape, inputs, outputs = to_tape(self.program)
        params = itertools.compress(inputs[self.size + 1 :], wanted)
        seeds = [(output, tape.append("neg", tape.input())) for output in outputs]
        program = tape.program(tape.reverse(seeds, [*inputs[: self.size], *params]))
        return self._swept.setdefault(wanted, program)

    def forward(self, params: Floats) -> Flow:
        """Return the right-hand side of the equation for y; `params` are the values of p."""
        row = numpy.concatenate([numpy.zeros(self.size + 1), params])
        matrix = self._matrix(params)
        return Flow(self.program, row, (0, self.size, self.size), lambda t, y: matrix(t, y)[:, : self.size])

    def with_partials(self, params: Floats) -> Flow:
        """Return the right-hand side of the equation for y and the sensitivities of y; `params` are the values of p."""
        size, count = self.size, self.size + self.params
        length = size * (1 + count)
        row = numpy.concatenate([numpy.zeros(length + 1), params])
        matrix = self._matrix(params)

        def jacobian(t: float, state: Any) -> Any:  # approximate, because it omits the second derivatives of f
            inner = matrix(t, state[:size])[:, :size]
            whole = numpy.zeros((length, length))
            whole[:size, :size], whole[size:, size:] = inner, numpy.kron(inner, numpy.eye(count))
            return whole

        return Flow(self.varied, row, (0, length, length), jacobian)

    def backward(self, wanted: Sequence[bool], params: Floats, along: Any) -> Flow:
        """Return the right-hand side of the adjoint equation for y and the wanted components of p; `along` is y(t)."""
        size = self.size
        row = numpy.concatenate([numpy.zeros(size + 1), params, numpy.zeros(size)])
        matrix, columns = self._matrix(params), [*[True] * size, *wanted]

        def jacobian(t: float, adjoints: Any) -> Any:
            whole = numpy.zeros((len(adjoints), len(adjoints)))
            whole[:, :size] = -matrix(t, along(t))[:, columns].T
            return whole

        return Flow(self.swept(tuple(wanted)), row, (size + 1 + self.params, size, size), jacobian, along)

    def _matrix(self, params: Floats) -> Callable[[float, Any], Any]:
        """Return a function of t and y that computes the partials of f with respect to y and p."""
        row = numpy.concatenate([numpy.zeros(self.size + 1), params])

        def matrix(t: float, y: Any) -> Any:
            row[: self.size], row[self.size] = y, t
            return self.partials.run(row).reshape(self.size, -1)

        return matrix


@dataclasses.dataclass(frozen=True)
class Steps:
    """An integration method and its settings.

    Attributes:
        method: Name of a method of `scipy.integrate.solve_ivp`.
        rtol: Relative tolerance of the error per step.
        atol: Absolute tolerance of the error per step.
        hmax: Maximum step length.
        progress: Whether to show a progress bar.
    """

    method: str
    rtol: float
    atol: float
    hmax: float
    progress: bool

    @contextlib.contextmanager
    def counter(self, start: float, end: float, rounds: int = 1) -> Iterator[Advance | None]:
        """Show a progress bar of the time between two times, if it was asked for; yield its function or None."""
        length = rounds * abs(float(end - start))
        with counter(length if math.isfinite(length) else None, "of t", shown=self.progress) as advance:
            yield advance if self.progress else None

    def rows(self, flow: Flow, start: Floats, times: Floats, advance: Advance | None = None) -> Any:
        """Integrate from `start` at the first time; return the state at all times, an array of shape (times, size).

        `advance` is called with the length of the time that has been integrated since its last call.

        If a time is nan, the state is nan at this time and at all later ones. Adjacent times may be equal. Raises
        `ValueError` if a time is infinite, or if the times are neither ascending nor descending.
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
        found[: len(known)] = self._distinct(flow, start, known[is_new], advance)[numpy.cumsum(is_new) - 1]
        return found

    def _distinct(self, flow: Flow, start: Floats, times: Floats, advance: Advance | None) -> Any:
        """Return the state at all times; adjacent times must differ."""
        if len(times) == 1:
            return start[numpy.newaxis]
        if self.method == _OWN:
            return self._own(flow, start, times, None, advance)
        return self._by_scipy(flow, start, times, advance, t_eval=times).y.T

    def path(self, flow: Flow, start: Floats, times: Floats, advance: Advance | None = None) -> Any:
        """Return the solution between two times, which must differ: a `Path`, or SciPy's dense output."""
        if self.method == _OWN:
            path = Path(len(start))
            self._own(flow, start, times, path, advance)
            return path
        return self._by_scipy(flow, start, times, advance, dense_output=True).sol

    def back(
        self, field: Field, wanted: Sequence[bool], start: Floats, times: Floats, params: Floats, seeds: Any
    ) -> Any:
        """Integrate the adjoint equation from the last time to the first.

        Args:
            field: The field.
            wanted: Whether the adjoint of each component of p is needed.
            start: y at the first time.
            times: The times.
            params: The values of p.
            seeds: The adjoints of y at the times, an array of shape (times, size).

        Returns:
            The adjoints of y at the first time, then the adjoints of the wanted components of p.
        """
        adjoints = numpy.zeros(field.size + sum(wanted))
        scale = numpy.max(numpy.abs(seeds))
        if not scale or not numpy.isfinite(scale):
            return adjoints + scale
        if seeds[_known(times) :].any():
            return adjoints + numpy.nan
        stops = [i for i in range(len(times)) if i == 0 or seeds[i].any()]
        last = times[stops[-1]]
        with self.counter(times[0], last, rounds=2) as advance:
            if last != times[0]:
                path = self.path(field.forward(params), start, numpy.array([times[0], last]), advance)
                flow = field.backward(wanted, params, path)
            for i, before in itertools.pairwise(reversed(stops)):
                adjoints[: field.size] += seeds[i] / scale
                if times[i] != times[before]:
                    adjoints = self.rows(flow, adjoints, times[[i, before]], advance)[-1]
        adjoints[: field.size] += seeds[0] / scale
        return adjoints * scale

    def _own(self, flow: Flow, start: Floats, times: Floats, path: Path | None, advance: Advance | None) -> Any:
        tolerances = (self.rtol, self.atol, self.hmax)
        stepper = Stepper(flow.program.interpreter, flow.row, flow.places, len(start), tolerances, flow.along)
        try:
            return stepper.rows(numpy.ascontiguousarray(start), numpy.ascontiguousarray(times), path, advance)
        except ArithmeticError as error:
            raise self._stopped(error.args[0], times, "steps become too small") from None

    def _by_scipy(self, flow: Flow, start: Floats, times: Floats, advance: Advance | None, **asked: Any) -> Any:
        solve = from_scipy("scipy.integrate", "solve_ivp", f"odeint(method={self.method!r})")
        if self.method in _IMPLICIT:
            asked["jac"] = flow.jacobian
        settings = {"method": self.method, "rtol": self.rtol, "atol": self.atol, "max_step": self.hmax}
        change = flow.change if advance is None else _advancing(flow.change, times[0], advance)
        found = solve(change, (times[0], times[-1]), start, **settings, **asked)
        if not found.success:
            raise self._stopped(found.t[-1] if len(found.t) else times[0], times, found.message)
        return found

    def _stopped(self, t: float, times: Floats, why: str) -> RuntimeError:
        return RuntimeError(
            f"odeint with method {self.method!r} stopped at t = {t:.6g} of {times[-1]:.6g}: {why}. The solution may "
            'diverge or be nan there. If the equation is stiff, use method="BDF", "Radau" or "LSODA"'
        )


def _advancing(change: Callable[[float, Any], Any], start: float, advance: Advance) -> Callable[[float, Any], Any]:
    """Return a right-hand side that advances a progress bar whenever it is called for a later time than before."""
    reached = 0.0

    def evaluated(t: float, state: Any) -> Any:
        nonlocal reached
        if abs(t - start) > reached:
            advance(abs(t - start) - reached)
            reached = abs(t - start)
        return change(t, state)

    return evaluated


def _known(times: Floats) -> int:
    """Return the number of times before the first nan."""
    is_nan = numpy.isnan(times)
    return int(is_nan.argmax()) if is_nan.any() else len(times)
