"""`EffectLoop`: a loop whose steps make calls for their side effects, such as `debug.print`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.program.calls.call import Call, append_call
from gradwalk.program.calls.loop import Loop, Sizes
from gradwalk.program.calls.program_derivatives import to_tape, without_effects
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape


class EffectLoop(Call):
    """A loop with side effects. It has the results of a `Loop`, and the sum of the tokens of all steps.

    Its derivatives are the derivatives of the loop without side effects.

    Args:
        body: The program of a step. Its last outputs are the tokens of the step.
        sizes: See `Loop`.
        first: See `Loop`.
        steps: See `Loop`.
        condition: See `Loop`.
        memory: See `Loop`.
    """

    name = "loop"
    has_effects = True
    remedy = "Remove debug.print and debug.callback from the loop"

    def __init__(
        self,
        body: Program,
        sizes: Sizes,
        first: int,
        steps: int | None,
        condition: Program | None,
        memory: str | int | None,
    ) -> None:
        self._carry = sizes.carry
        size = sizes.carry + sizes.out
        others = first, steps
        quiet = without_effects(_with_outputs(body, size))
        of_condition = None if condition is None else without_effects(condition)
        self._quiet = Loop(quiet, sizes, *others, of_condition, memory)
        inserted = _with_token(body, 1 + sizes.carry, sizes.carry, size)
        own = None if condition is None else with_unused_input(condition, sizes.carry)
        self._loud = Loop(inserted, sizes._replace(carry=sizes.carry + 1), *others, own, memory)
        self.inputs = self._quiet.inputs
        self.outputs = self._quiet.outputs + 1
        self.parts = self._loud.parts

    def __repr__(self) -> str:
        return repr(self._loud)

    def numbers(self, operands: Floats) -> Floats:
        """Run the loop with its side effects: see `Call.numbers`."""
        results = self._loud.numbers(numpy.insert(operands, self._carry, -0.0))
        return numpy.append(numpy.delete(results, self._carry), results[self._carry])

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Return the partials of one result: see `Call.partials`."""
        if position == self._quiet.outputs:
            return [0.0] * len(operands)
        return self._quiet.partials(operands, position, result)

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the reverse pass of the loop without side effects: see `Call.vjp_needed`."""
        return self._quiet.vjp_needed(tape, operands, base, adjoints[:-1], wanted)

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangents of the loop without side effects: see `Call.jvp`."""
        return [*self._quiet.jvp(tape, operands, base, tangents), NO_INDEX]

    def effectless(self, operands: int) -> Program:
        """Return a program that calls the loop without side effects: see `Call.effectless`."""
        tape = Tape()
        results = append_call(self._quiet, tape, [tape.input() for _ in range(operands)])
        return tape.program([*results, tape.constant(-0.0)])


def _with_outputs(program: Program, count: int) -> Program:
    """Return a program with the first outputs of another program."""
    tape, _, outputs = to_tape(program)
    return tape.program(outputs[:count])


def _with_token(body: Program, place: int, carry: int, size: int) -> Program:
    """Return the program of a step that also carries the sum of the tokens, at the position `place` of the inputs."""
    tape = Tape()
    before = [tape.input() for _ in range(place)]
    total = tape.input()
    outputs = tape.inline(body, [*before, *[tape.input() for _ in range(body.inputs - place)]])
    for token in outputs[size:]:
        total = tape.append("add", total, token)
    return tape.program([*outputs[:carry], total, *outputs[carry:size]])


def with_unused_input(program: Program, place: int) -> Program:
    """Return the program with another input, which it does not use, at the position `place`."""
    tape = Tape()
    inputs = [tape.input() for _ in range(program.inputs + 1)]
    return tape.program(tape.inline(program, inputs[:place] + inputs[place + 1 :]))
