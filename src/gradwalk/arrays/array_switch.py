"""`ArraySwitch`: a choice of one of several branches, whose operands and results may be whole arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.arrays.kinds import (
    Allocate,
    Kinds,
    Operand,
    WholeCall,
    chosen,
    flat,
    grouped,
    new_array,
    new_inputs,
    with_zeros,
)
from gradwalk.arrays.run.array_program import ArrayProgram, separate
from gradwalk.base.cached import cached_property
from gradwalk.program.calls.call import append_call
from gradwalk.program.calls.switch import Switch
from gradwalk.program.native.policy import prefix_keys
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.program.tracing.array_handle import TracedPart

Flags = tuple[bool, ...]


class ArraySwitch(WholeCall):
    """A call that runs one of several branches, as `Switch` does. The operands and results may be arrays.

    Args:
        branches: The branches. All have inputs of the same kinds, and outputs of the same kinds.
    """

    name = "switch"
    always_ends = False
    makes_arrays = False  # a program of a branch makes them

    def __init__(self, branches: Sequence[TracedPart]) -> None:
        self.branches = tuple(branches)
        tape, outputs = self.branches[0]
        self._taken: Kinds = [tape.arrays.get(index) for index in tape.input_indices]
        self.inputs = 1 + len(self._taken)
        super().__init__([tape.arrays.get(index) for index in outputs])
        self._derivatives: dict[tuple[Flags, Flags | None], ArraySwitch] = {}

    def __repr__(self) -> str:
        return f"<switch with arrays over {len(self.branches)} branches>"

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return the backends of each branch: see `Call.backends`."""
        found: dict[str, str] = {}
        for i, program in enumerate(self._programs):
            found |= prefix_keys(f"branch {i}", program.backends)
        return found

    @cached_property
    def _programs(self) -> list[ArrayProgram]:
        return [ArrayProgram(*branch) for branch in self.branches]

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Run the branch that the first operand selects."""
        index, *given = operands
        if index != index:
            return [math.nan if kind is None else numpy.full(kind, math.nan) for kind in self.kinds]
        program = self._programs[int(min(max(float(index), 0.0), len(self.branches) - 1.0))]
        return separate(program.evaluate(given), operands)

    # Derivatives

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append a switch over the VJPs of the branches; return the indices of the operands' cotangents."""
        asked, seeded = tuple(wanted[1:]), tuple([index != NO_INDEX for index in adjoints])
        if not any(asked) or not any(seeded):
            return [NO_INDEX] * self.inputs
        back = self._derived((seeded, asked), lambda branch: self._vjp_of(branch, seeded, asked))
        found = iter(append_call(back, tape, [*operands, *chosen(adjoints, seeded)]))
        return [NO_INDEX, *[next(found) if is_asked else NO_INDEX for is_asked in asked]]

    def _vjp_of(self, branch: TracedPart, seeded: Flags, asked: Flags) -> TracedPart:
        """Return a branch that maps (operands, cotangents of the `seeded` results) to cotangents of operands."""
        tape = Tape()
        inputs = new_inputs(tape, self._taken)
        adjoints = new_inputs(tape, chosen(self.kinds, seeded))
        outputs = chosen(tape.copy(*branch, inputs), seeded)
        found = tape.reverse(list(zip(outputs, adjoints, strict=True)), chosen(inputs, asked))
        return TracedPart(tape, with_zeros(tape, chosen(self._taken, asked), found))

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append a switch over the JVPs of the branches; return the indices of the results' tangents."""
        moved = tuple([index != NO_INDEX for index in tangents[1:]])
        if not any(moved):
            return [NO_INDEX] * self.outputs
        forward = self._derived((moved, None), lambda branch: self._jvp_of(branch, moved))
        return append_call(forward, tape, [*operands, *chosen(tangents[1:], moved)])

    def _jvp_of(self, branch: TracedPart, moved: Flags) -> TracedPart:
        """Return a branch that maps (operands, tangents of the `moved` operands) to tangents of results."""
        tape = Tape()
        inputs = new_inputs(tape, self._taken)
        tangents = new_inputs(tape, chosen(self._taken, moved))
        outputs = tape.copy(*branch, inputs)
        found = tape.forward(list(zip(chosen(inputs, moved), tangents, strict=True)), outputs)
        return TracedPart(tape, with_zeros(tape, self.kinds, found))

    def _derived(self, key: tuple[Flags, Flags | None], derivative: Callable[[TracedPart], TracedPart]) -> ArraySwitch:
        """Return the switch over the derivatives of the branches, which is cached."""
        if key not in self._derivatives:
            self._derivatives[key] = ArraySwitch([derivative(branch) for branch in self.branches])
        return self._derivatives[key]

    # The same switch with numbers

    @cached_property
    def of_numbers(self) -> Switch:
        """The switch with an operand for each number of an array."""
        return Switch([branch.tape.program(branch.outputs) for branch in self.branches])

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the switch with numbers: see `Call.expanded`."""
        return grouped(append_call(self.of_numbers, tape, flat(operands)), self.kinds)
