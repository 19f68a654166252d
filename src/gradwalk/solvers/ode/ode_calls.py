"""`Ode`: a call that solves an ordinary differential equation. Its derivatives also solve differential equations.

Let y' = f(y, t, p). The tangents s of y satisfy s' = f_y s + f_p dp. Forward mode integrates y and s together: it is an
`Ode` of twice the size. Reverse mode is `OdeBack`. It integrates the adjoint equation a' = -f_yᵀ a backward from the
last time to the first. The adjoints of p are the integral of f_pᵀ a (Pontryagin; Chen et al., "Neural ordinary
differential equations", 2018). The backward integration evaluates the stored forward solution instead of integrating y
backward, which would be unstable for stiff or damped equations.

`OdeBack` is linear in the adjoints of the results. Its own derivatives are therefore built from the JVP of the `Ode`,
as in `gradwalk.program.calls.loop`, so these two calls suffice for derivatives of any order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.program.calls.call import Call, append_call, instantiate_zeros
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.solvers.ode.ode_steps import Field, Steps

_REMEDY = (
    "odeint runs outside of the recorded program. Write steps of fixed length with gradwalk.loops, which are recorded"
)


class Ode(Call):
    """A call that maps y at the first time, the times, and p to y at all times.

    Args:
        field: The program of f. Its inputs are y, t and p.
        times: Number of times.
        steps: The integration method.
    """

    name = "odeint"
    remedy = _REMEDY

    def __init__(self, field: Program, times: int, steps: Steps) -> None:
        self.field = Field(field)
        self.size = self.field.size
        self.times = times
        self.outputs = self.size * times
        self.steps = steps
        self._backs: dict[tuple[bool, ...], OdeBack] = {}
        self._latest: tuple[bytes, Any] = (b"", None)  # the latest operands as bytes, and their Jacobian

    def __repr__(self) -> str:
        return f"<the solution of {self.size} differential equations at {self.times} times>"

    def __reduce__(self) -> Any:
        return Ode, (self.field.program, self.times, self.steps)

    def parted(self, operands: Any) -> tuple[Any, Any, Any]:
        """Split a sequence with one item per operand: items of y at the first time, items of the times, items of p."""
        end = self.size + self.times
        return operands[: self.size], operands[self.size : end], operands[end : end + self.field.params]

    def numbers(self, operands: Floats) -> Floats:
        """Return y at the first time, followed by y at the second time, and so on: see `Call.numbers`."""
        start, times, params = self.parted(operands)
        with self.steps.counter(times[0], times[-1]) as advance:
            found: Floats = self.steps.rows(self.field.forward(params), start, times, advance).ravel()
        return found

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials of one result with respect to all operands: see `Call.partials`."""
        row = numpy.array(operands, numpy.float64)
        key = row.tobytes()
        known, found = self._latest
        if known != key:
            self._latest = (key, found := self._differentiated(row))
        partials: list[float] = found[position].tolist()
        return partials

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangents of the solution and return their indices: see `Call.jvp`."""
        start, times, params = self.parted(operands)
        of_start, of_times, of_params = self.parted(tangents)
        moved = instantiate_zeros(tape, of_start)
        if of_times[0] != NO_INDEX:  # if the start moves by dt, y at the old start changes by -y' dt
            speeds = self._speeds(tape, operands, base, 0)
            behind = [tape.append("mul", speed, of_times[0]) for speed in speeds]
            moved = [tape.append("sub", x, y) for x, y in zip(moved, behind, strict=True)]
        found = append_call(self.dual, tape, [*start, *moved, *times, *params, *instantiate_zeros(tape, of_params)])
        pushed: Indices = []
        for i, of_time in enumerate(of_times):
            at = (2 * i + 1) * self.size
            moved = found[at : at + self.size]
            if of_time != NO_INDEX:
                ahead = [tape.append("mul", speed, of_time) for speed in self._speeds(tape, operands, base, i)]
                moved = [tape.append("add", x, y) for x, y in zip(moved, ahead, strict=True)]
            pushed += moved
        return pushed

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the backward pass, and return the indices of the cotangents of the operands: see `Call.vjp_needed`."""
        _, of_times, of_params = self.parted(wanted)
        seeds = instantiate_zeros(tape, adjoints)
        found = append_call(self.back(tuple(of_params)), tape, [*operands, *seeds])
        params = iter(found[self.size :])
        pulled = [next(params) if is_wanted else NO_INDEX for is_wanted in of_params]
        pulled_times = [NO_INDEX] * self.times
        for i in itertools.compress(range(self.times), of_times):
            moved = seeds[i * self.size : (i + 1) * self.size]
            if i == 0:  # if the start moves by dt, y at the old start changes by -y' dt
                moved = [tape.append("sub", x, y) for x, y in zip(moved, found[: self.size], strict=True)]
            pulled_times[i] = _product(tape, moved, self._speeds(tape, operands, base, i))
        return [*found[: self.size], *pulled_times, *pulled]

    def back(self, wanted: tuple[bool, ...]) -> OdeBack:
        """Return the backward pass that computes the adjoints of the wanted components of p; passes are cached."""
        return self._backs.setdefault(wanted, OdeBack(self, wanted))

    @cached_property
    def dual(self) -> Ode:
        """The `Ode` that integrates y together with its tangents s."""
        tape = Tape()
        y, s = _inputs(tape, self.size), _inputs(tape, self.size)
        t = tape.input()
        p, moved = _inputs(tape, self.field.params), _inputs(tape, self.field.params)
        outputs = tape.inline(self.field.program, [*y, t, *p])
        pushed = tape.forward(list(zip([*y, *p], [*s, *moved], strict=True)), outputs)
        return Ode(tape.program([*outputs, *pushed]), self.times, self.steps)

    def _speeds(self, tape: Tape, operands: Indices, base: int, i: int) -> Indices:
        """Append y' at time i, and return the indices of its components."""
        _, times, params = self.parted(operands)
        y = range(base + i * self.size, base + (i + 1) * self.size)
        return tape.inline(self.field.program, [*y, times[i], *params])

    def _differentiated(self, operands: Floats) -> Any:
        """Return the Jacobian of all results with respect to all operands."""
        start, times, params = self.parted(operands)
        size, first = self.size, self.size + self.times
        state = numpy.append(start, numpy.eye(size, size + self.field.params))
        rows = self.steps.rows(self.field.with_partials(params), state, times)
        partials = rows[:, size:].reshape(self.times, size, -1)
        change = self.field.forward(params).change
        found = numpy.zeros((self.times, size, len(operands)))
        found[:, :, :size], found[:, :, first:] = partials[:, :, :size], partials[:, :, size:]
        found[:, :, size] = -partials[:, :, :size] @ change(times[0], start)
        for i, t in enumerate(times):
            found[i, :, size + i] += change(t, rows[i, :size])
        return found.reshape(self.outputs, -1)


class OdeBack(Call):
    """The backward pass of an `Ode`: maps the operands and the adjoints of the results to the adjoints of y0 and p.

    Args:
        ode: The `Ode`.
        wanted: Whether the adjoint of each component of p is needed.
    """

    name = "odeint'"
    remedy = _REMEDY

    def __init__(self, ode: Ode, wanted: tuple[bool, ...]) -> None:
        self.ode = ode
        self.wanted = wanted
        self.outputs = ode.size + sum(wanted)
        self._pulled: dict[tuple[bool, ...], Program] = {}

    def __repr__(self) -> str:
        return f"<the backward pass of {self.ode!r}>"

    def __reduce__(self) -> Any:
        return OdeBack, (self.ode, self.wanted)

    def numbers(self, operands: Floats) -> Floats:
        """Return the adjoints of y0, then the adjoints of the wanted components of p: see `Call.numbers`."""
        ode = self.ode
        seeds = operands[-ode.outputs :].reshape(ode.times, ode.size)
        found: Floats = ode.steps.back(ode.field, self.wanted, *ode.parted(operands), seeds)
        return found

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the cotangents of the operands and of the seeds (adjoints of the `Ode`): see `Call.vjp_needed`."""
        program = self._pulled.get(tuple(wanted)) or self._pulled.setdefault(tuple(wanted), self._reverse(wanted))
        found = iter(tape.inline(program, [*operands, *instantiate_zeros(tape, adjoints)]))
        return [next(found) if is_wanted else NO_INDEX for is_wanted in wanted]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangents of the results, and return their indices: see `Call.jvp`."""
        _, of_times, _ = self.ode.parted(tangents)
        program = self._still if all(i == NO_INDEX for i in of_times) else self._moving
        return tape.inline(program, [*operands, *instantiate_zeros(tape, tangents)])

    @cached_property
    def _still(self) -> Program:
        """The JVP program that is used if the tangents of all times are 0."""
        return self._forward(moves=False)

    @cached_property
    def _moving(self) -> Program:
        """The JVP program that is used if the times have tangents."""
        return self._forward(moves=True)

    def _forward(self, *, moves: bool) -> Program:
        """Build the JVP program: the gradient of seeds · dy + d(seeds) · y with respect to y0 and the wanted p."""
        ode = self.ode
        tape = Tape()
        operands, seeds = self._opened(tape)
        tangents, of_seeds = self._opened(tape)
        start, times, params = ode.parted(operands)
        of_start, of_times, of_params = ode.parted(tangents)
        base = tape.call(ode, operands)
        moved = ode.jvp(tape, operands, base, [*of_start, *(of_times if moves else _none(times)), *of_params])
        pairs = [*zip(moved, seeds, strict=True), *zip(range(base, base + ode.outputs), of_seeds, strict=True)]
        return tape.program(tape.reverse(pairs, [*start, *itertools.compress(params, self.wanted)]))

    def _reverse(self, wanted: Sequence[bool]) -> Program:
        """Build the VJP program from s, the JVP of the `Ode` along the given adjoints.

        The cotangents of the operands are the gradient of seeds · s, and the cotangents of the seeds are s.
        """
        ode = self.ode
        tape = Tape()
        operands, seeds = self._opened(tape)
        adjoints = _inputs(tape, self.outputs)
        _, times, _ = ode.parted(operands)
        params = iter(adjoints[ode.size :])
        of_params = [next(params) if is_wanted else NO_INDEX for is_wanted in self.wanted]
        moved = ode.jvp(tape, operands, tape.call(ode, operands), [*adjoints[: ode.size], *_none(times), *of_params])
        kept = list(itertools.compress(operands, wanted))
        pulled = tape.reverse(list(zip(moved, seeds, strict=True)), kept)
        return tape.program([*pulled, *itertools.compress(moved, wanted[len(operands) :])])

    def _opened(self, tape: Tape) -> tuple[Indices, Indices]:
        """Append inputs to the tape: for the operands of the `Ode`, and for the adjoints of the results."""
        ode = self.ode
        return _inputs(tape, ode.size + ode.times + ode.field.params), _inputs(tape, ode.outputs)


def _inputs(tape: Tape, count: int) -> Indices:
    return [tape.input() for _ in range(count)]


def _none(indices: Indices) -> Indices:
    return [NO_INDEX] * len(indices)


def _product(tape: Tape, x: Iterable[int], y: Iterable[int]) -> int:
    """Append the dot product of two sequences, and return the index of the product."""
    total = tape.constant(0.0)
    for one, other in zip(x, y, strict=True):
        total = tape.append("add", total, tape.append("mul", one, other))
    return total
