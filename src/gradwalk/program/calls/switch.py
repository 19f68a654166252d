"""`Switch`: a single instruction that selects and runs one of several programs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.program.calls.call import Call, append_call, instantiate_zeros
from gradwalk.program.calls.program_derivatives import (
    calling,
    has_effects,
    jvp_program,
    vjp_program,
    weight,
    without_effects,
)
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import ProgramError
from gradwalk.program.native.policy import prefix_keys
from gradwalk.program.program import Program, trusted
from gradwalk.program.routine.limits import why_not_lowerable
from gradwalk.program.tape import NO_INDEX, Indices, Tape


class Switch(Call):
    """Call that runs one of several programs, the branches.

    The first operand is the index of the branch to run, and the other operands are the inputs of this branch. An index
    below 0 selects the first branch, an index past the end selects the last branch, and a nan index gives nan results.
    All branches have the same number of inputs and the same number of outputs.
    """

    name = "switch"
    kind = "switch"

    def __init__(self, branches: Sequence[Program]) -> None:
        self.branches = self.parts = tuple(branches)
        self.described = f"one of {len(self.branches)} programs, selected by the first operand"
        self.shown_parts = [(f"branch {i}", branch) for i, branch in enumerate(self.branches)]
        self.has_effects = any(map(has_effects, self.branches))
        self.is_pure = all(call.is_pure for branch in self.branches for call, _ in branch.calls)
        self.inputs = 1 + self.branches[0].inputs
        self.outputs = len(self.branches[0].outputs)

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return the backend of each program: see `Call.backends`."""
        found: dict[str, str] = {}
        for part, branch in self.shown_parts:
            found |= prefix_keys(part, branch.interpreter.backends_beside(known))
        return found

    def __repr__(self) -> str:
        return f"<switch over {len(self.branches)} programs>"

    def numbers(self, operands: Floats) -> Floats:
        """Run the selected program on numbers; return its results."""
        index = float(operands[0])
        if math.isnan(index):
            return numpy.full(self.outputs, math.nan)
        program = self.branches[int(min(max(index, 0), len(self.branches) - 1))]
        results: Floats = program.run(operands[1:])
        return results

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append a switch over the VJPs of the branches; return the indices of the operands' cotangents."""
        return [NO_INDEX, *append_call(self._back, tape, [*operands, *instantiate_zeros(tape, adjoints)])]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append a switch over the JVPs of the branches; return the indices of the results' tangents."""
        return append_call(self._forward, tape, [*operands, *instantiate_zeros(tape, tangents[1:])])

    @cached_property
    def _back(self) -> Switch:
        return Switch([vjp_program(without_effects(branch)) for branch in self.branches])

    @cached_property
    def _forward(self) -> Switch:
        return Switch([jvp_program(without_effects(branch)) for branch in self.branches])

    @cached_property
    def weight(self) -> float:
        """Number of instructions that replace the switch when it is inlined."""
        return sum(map(weight, self.branches)) + self.outputs

    @cached_property
    def refusal(self) -> str:
        """The reason why the switch cannot be lowered, or "" if it can: see `Call.refusal`."""
        return next(filter(None, [why_not_lowerable(branch.code) for branch in self.branches]), "")

    def effectless(self, operands: int) -> Program | None:
        """Return a program that calls the switch without side effects: see `Call.effectless`."""
        if not self.has_effects:
            return None
        return calling(Switch([without_effects(branch) for branch in self.branches]), operands)

    def flat(self) -> Program:
        """Return an equivalent program that computes all branches and then selects the results."""
        tape = Tape()
        index = tape.input()
        inputs = [tape.input() for _ in range(self.branches[0].inputs)]
        results = [tape.inline(branch, inputs) for branch in self.branches]
        if len(results) == 2:
            is_second = tape.append("less_equal", tape.constant(1.0), index)
            is_number, nan = tape.append("equal", index, index), tape.constant(math.nan)
            chosen = [tape.append("where", is_second, y, x) for x, y in zip(*results, strict=True)]
            return tape.program([tape.append("where", is_number, number, nan) for number in chosen])
        last = tape.constant(len(results) - 1.0)
        within = tape.append("minimum", tape.append("maximum", index, tape.constant(0.0)), last)
        within = tape.append("floor", within)
        return tape.program([tape.take(within, list(numbers)) for numbers in zip(*results, strict=True)])


def switch_from_file(parts: Sequence[Code], settings: Mapping[str, Any]) -> Switch:
    """Create a switch from the programs and settings in a program file; see `call_registry`."""
    if settings:
        raise ProgramError(f"a switch must have no settings, got {min(settings)!r:.60}")
    if not parts:
        raise ProgramError("a switch must have at least one program, got none")
    if len({(part.inputs, len(part.outputs)) for part in parts}) > 1:
        raise ProgramError("the programs of a switch must have the same numbers of inputs and outputs")
    return Switch([trusted(part) for part in parts])
