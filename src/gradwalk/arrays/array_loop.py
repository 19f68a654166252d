"""`ArrayLoop`: a loop whose carry and constants may be whole arrays, and its reverse pass.

The formulas of the derivatives are explained in program/calls/loop.py. Each step is one call of an `ArrayProgram`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gradwalk.arrays.kinds import (
    Allocate,
    ArrayKind,
    Kinds,
    Operand,
    WholeCall,
    chosen,
    flat,
    grouped,
    new_array,
    new_inputs,
    size_of,
    with_zeros,
)
from gradwalk.arrays.run.array_program import ArrayProgram, separate
from gradwalk.base.cached import cached_property
from gradwalk.program.calls.call import append_call
from gradwalk.program.calls.layout import Layout, layout
from gradwalk.program.calls.loop import Loop, Sizes
from gradwalk.program.code.checkpoint_plan import ADVANCE, SWEEP, CheckpointPlan
from gradwalk.program.native.policy import prefix_keys
from gradwalk.program.run.loop_runner import TooManyStepsError
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.program.tracing.array_handle import TracedPart

Span = tuple[int, int | None]


class ArrayLoop(WholeCall):
    """A loop, as in `Loop`: maps (carry, constants, xs) to (carry, ys). Each of these may have arrays.

    Args:
        step: The step: maps (count, carry, constants, xs slice) to (carry, ys slice).
        condition: Maps (carry, constants) to one number; None if the number of steps is fixed.
        sizes: The sizes of the groups of operands and results. An array counts as one.
        span: The count of the first step, and the number of steps: see `recorded_loop`.
        memory: Checkpoint policy of the reverse pass: see `Loop`.

    Attributes:
        taken: The kind of each input of a step except the count.
        given: The kind of each operand.
        out: The kind of each entry of a slice of ys.
    """

    name = "loop"
    always_ends = False
    makes_arrays = False  # a program of a step makes them

    def __init__(
        self, step: TracedPart, condition: TracedPart | None, sizes: Sizes, span: Span, memory: str | int | None = None
    ) -> None:
        self.step, self.condition, self.sizes, self.memory = step, condition, sizes, memory
        self.first, self.steps = span
        self.taken: Kinds = [step.tape.arrays.get(index) for index in step.tape.input_indices[1:]]
        self._rows = sizes.carry + sizes.fixed  # the position of the first row of xs among the operands
        self.given: Kinds = [*self.taken[: self._rows], *self.taken[self._rows :] * (self.steps or 0)]
        self.inputs = len(self.given)
        self.out: Kinds = [step.tape.arrays.get(index) for index in step.outputs[sizes.carry :]]
        super().__init__([*self.taken[: sizes.carry], *self.out * (self.steps or 0)])
        self._duals: dict[tuple[bool, ...], Dual] = {}
        self._backs: dict[tuple[bool, ...], ArrayLoopVjp] = {}

    def __repr__(self) -> str:
        most = "" if self.steps is None else f", at most {self.steps} steps"
        span = f"{self.steps} steps" if self.condition is None else f"while a condition holds{most}"
        return f"<loop with arrays, {span}>"

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return the backends of a step: see `Call.backends`."""
        return prefix_keys("step", self._step.backends)

    @cached_property
    def _step(self) -> ArrayProgram:
        return ArrayProgram(*self.step)

    @cached_property
    def _condition(self) -> ArrayProgram:
        assert self.condition is not None
        return ArrayProgram(*self.condition)

    # Running

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Compute the results: floats and arrays."""
        carry, out, step = list(operands[: self.sizes.carry]), [], 0
        while self.goes_on(step, carry, operands):
            before, (carry, of_step) = carry, self.after(step, carry, operands)
            self._step.reuse(before, [*carry, *of_step, *operands])
            out += of_step
            step += 1
        return separate([*carry, *out], operands)

    def goes_on(self, step: int, carry: Sequence[Operand], operands: Sequence[Operand]) -> bool:
        """Return whether the loop runs a step, given the carry before it."""
        if self.condition is None:
            return step != self.steps
        [holds] = self._condition.evaluate([*carry, *operands[self.sizes.carry : self._rows]])
        if holds != 0.0 and step == self.steps:
            raise TooManyStepsError(f"while_loop: the condition still holds after max_steps={step} steps")
        return bool(holds != 0.0)

    def after(
        self, step: int, carry: Sequence[Operand], operands: Sequence[Operand]
    ) -> tuple[list[Operand], list[Operand]]:
        """Run a step; return the next carry and a slice of ys."""
        found = self._step.evaluate(self.inputs_of(step, carry, operands))
        return found[: self.sizes.carry], found[self.sizes.carry :]

    def inputs_of(self, step: int, carry: Sequence[Operand], operands: Sequence[Operand]) -> list[Operand]:
        """Return the inputs of a step."""
        row = self._rows + step * self.sizes.row
        fixed = operands[self.sizes.carry : self._rows]
        return [float(self.first + step), *carry, *fixed, *operands[row : row + self.sizes.row]]

    # Derivatives

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the loop over primals and tangents; return the indices of the results' tangents."""
        dual = self.dual(tangents)
        if dual is None:
            return [NO_INDEX] * self.outputs
        given = dual.operands.join(operands, with_zeros(tape, self.given, tangents))
        return dual.results.split(append_call(dual.loop, tape, given))[1]

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the reverse pass; return the indices of the operands' cotangents."""
        if not any(wanted) or all(index == NO_INDEX for index in adjoints):
            return [NO_INDEX] * self.inputs
        back = self.back(self.step_inputs(wanted))
        found = iter(append_call(back, tape, [*operands, *with_zeros(tape, self.kinds, adjoints)]))
        return [next(found) if is_made else NO_INDEX for is_made in back.of_operands]

    def step_inputs(self, flags: Sequence[bool]) -> tuple[bool, ...]:
        """Convert a flag for each operand to a flag for each input of a step except the count.

        All flags of the carry are set, because each part of the carry may depend on all parts of the previous carry.
        The flag of an input from xs is set if it is set in at least one step.
        """
        rows = [any(flags[i :: self.sizes.row]) for i in range(self._rows, self._rows + self.sizes.row)]
        return (*[True] * self.sizes.carry, *flags[self.sizes.carry : self._rows], *rows)

    def back(self, wanted: tuple[bool, ...]) -> ArrayLoopVjp:
        """Return the reverse pass for `wanted`, a result of `step_inputs`. It is cached."""
        return self._backs.get(wanted) or self._backs.setdefault(wanted, ArrayLoopVjp(self, wanted))

    def dual(self, tangents: Indices) -> Dual | None:
        """Return the loop over primals and tangents, which is cached, or None if all tangents are 0."""
        flags = [index != NO_INDEX for index in tangents]
        if not any(flags):
            return None
        key = self.step_inputs(flags)
        return self._duals.get(key) or self._duals.setdefault(key, self._dual(key))

    def _dual(self, flags: Sequence[bool]) -> Dual:
        carry, fixed, _, out = self.sizes
        groups = flags[:carry], flags[carry : self._rows], flags[self._rows :]
        of_results = [True] * carry, [True] * out
        tape = Tape()
        count = tape.input()
        of_step = layout(*((1, group) for group in groups))
        primals, tangents = of_step.split(new_inputs(tape, of_step.join(self.taken, self.taken)))
        outputs = tape.copy(self.step.tape, self.step.outputs, [count, *primals])
        seeds = [(x, tangent) for x, tangent in zip(primals, tangents, strict=True) if tangent != NO_INDEX]
        kinds = [*self.taken[:carry], *self.out]
        moved = with_zeros(tape, kinds, tape.forward(seeds, outputs))
        step = TracedPart(tape, layout(*((1, group) for group in of_results)).join(outputs, moved))
        sizes = Sizes(2 * carry, fixed + sum(groups[1]), len(groups[2]) + sum(groups[2]), 2 * out)
        loop = ArrayLoop(step, self._condition_of_dual(groups), sizes, (self.first, self.steps), self.memory)
        times = self.steps or 0
        operands = layout((1, groups[0]), (1, groups[1]), (times, groups[2]))
        return Dual(loop, operands, layout((1, of_results[0]), (times, of_results[1])))

    def _condition_of_dual(self, groups: Sequence[Sequence[bool]]) -> TracedPart | None:
        """Return the condition as a part that takes primals and tangents and ignores the tangents."""
        if self.condition is None:
            return None
        tape, kinds = Tape(), self.taken[: self._rows]
        inputs = layout(*((1, group) for group in groups[:2]))
        primals, _ = inputs.split(new_inputs(tape, inputs.join(kinds, kinds)))
        return TracedPart(tape, tape.copy(self.condition.tape, self.condition.outputs, primals))

    # The same loop with numbers

    @cached_property
    def of_numbers(self) -> Loop:
        """The loop with an operand for each number of an array."""
        carry, fixed = self.taken[: self.sizes.carry], self.taken[self.sizes.carry : self._rows]
        sizes = Sizes(*(sum(map(size_of, kinds)) for kinds in (carry, fixed, self.taken[self._rows :], self.out)))
        parts = [part and part.tape.program(part.outputs) for part in (self.step, self.condition)]
        assert parts[0] is not None
        return Loop(parts[0], sizes, self.first, self.steps, parts[1], self.memory)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the loop with numbers: see `Call.expanded`."""
        return grouped(append_call(self.of_numbers, tape, flat(operands)), self.kinds)


class Dual(NamedTuple):
    """The loop over the primals and tangents of another loop.

    Attributes:
        loop: The loop.
        operands: The layout of its operands.
        results: The layout of its results.
    """

    loop: ArrayLoop
    operands: Layout
    results: Layout


class ArrayLoopVjp(WholeCall):
    """Reverse pass of a loop: maps (operands, cotangents of results) to cotangents of operands.

    Args:
        loop: The loop.
        wanted: A flag for each input of a step except the count. If it is not set, the cotangent is not computed.

    Attributes:
        of_operands: For each operand of the loop, whether its cotangent is among the results.
    """

    name = "loop'"
    always_ends = False
    makes_arrays = False  # a program of a step makes them

    def __init__(self, loop: ArrayLoop, wanted: tuple[bool, ...]) -> None:
        self._loop, self._wanted = loop, wanted
        rows = loop.sizes.carry + loop.sizes.fixed
        self.of_operands = [*wanted[:rows], *wanted[rows:] * (loop.steps or 0)]
        self.inputs = loop.inputs + loop.outputs
        super().__init__(chosen(loop.given, self.of_operands))

    def __repr__(self) -> str:
        return f"<reverse pass of {self._loop!r}>"

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return the backends of the parts: see `Call.backends`."""
        return self._loop.backends(known) | prefix_keys("step back", self._step.backends)

    @cached_property
    def _step(self) -> ArrayProgram:
        """A reverse step.

        It maps (inputs of a step, cotangent of the next carry, sums of cotangents of the constants, cotangents of a
        slice of ys) to (cotangent of the carry, sums, cotangents of a slice of xs).
        """
        (carry, fixed, _, _), taken = self._loop.sizes, self._loop.taken
        of_fixed = chosen(taken[carry : carry + fixed], self._wanted[carry : carry + fixed])
        tape = Tape()
        count = tape.input()
        inputs = new_inputs(tape, taken)
        adjoints = new_inputs(tape, taken[:carry])
        totals = new_inputs(tape, of_fixed)
        adjoints += new_inputs(tape, self._loop.out)
        outputs = tape.copy(self._loop.step.tape, self._loop.step.outputs, [count, *inputs])
        seeds = list(zip(outputs, adjoints, strict=True))
        found = with_zeros(tape, chosen(taken, self._wanted), tape.reverse(seeds, chosen(inputs, self._wanted)))
        sums = [
            tape.append("add", total, one) if kind is None else kind.add(tape, total, one)
            for kind, total, one in zip(of_fixed, totals, found[carry:], strict=False)
        ]
        return ArrayProgram(tape, [*found[:carry], *sums, *found[carry + len(sums) :]])

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Compute the cotangents: floats and arrays."""
        loop = self._loop
        carry, fixed, _, out = loop.sizes
        given, seeds = operands[: loop.inputs], operands[loop.inputs :]
        split = carry + sum(self._wanted[carry : carry + fixed])
        adjoints = [*seeds[:carry], *[_zeros(kind) for kind in self.kinds[carry:split]]]
        of_rows: dict[int, list[Operand]] = {}
        for step, state in self._states(given):
            dys = seeds[carry + step * out : carry + (step + 1) * out]
            found = self._step.evaluate([*loop.inputs_of(step, state, given), *adjoints, *dys])
            self._step.reuse(adjoints, [*found, *operands])
            adjoints, of_rows[step] = found[:split], found[split:]
        rows = [of_rows[step] for step in sorted(of_rows)]
        return separate([*adjoints, *itertools.chain.from_iterable(rows)], operands)

    def _states(self, given: Sequence[Operand]) -> Iterator[tuple[int, Sequence[Operand]]]:
        """Run the loop; yield the number of each step and the carry before it, from the last step to the first."""
        loop = self._loop
        first = given[: loop.sizes.carry]
        plan = CheckpointPlan(loop.memory, self._count(given))
        kept = {0: first}
        while plan.next():
            carry = kept[plan.slot]
            for step in range(plan.begin, plan.end):
                if plan.kind == SWEEP:
                    kept[plan.slot + step - plan.begin] = carry
                carry, _ = loop.after(step, carry, given)
            if plan.kind == ADVANCE:
                kept[plan.slot + 1] = carry
                continue
            yield plan.end, carry
            if plan.kind == SWEEP:
                for step in range(plan.end - 1, plan.begin - 1, -1):
                    yield step, kept.pop(plan.slot + step - plan.begin)

    def _count(self, given: Sequence[Operand]) -> int:
        """Return the number of steps that the loop takes."""
        loop = self._loop
        if loop.condition is None:
            assert loop.steps is not None
            return loop.steps
        carry: Sequence[Operand] = given[: loop.sizes.carry]
        step = 0
        while loop.goes_on(step, carry, given):
            carry, _ = loop.after(step, carry, given)
            step += 1
        return step

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the cotangents of the operands and of the seeds (reverse over reverse, see loop.py)."""
        loop, rest = self._loop, iter(adjoints)
        tangents = [next(rest) if is_made else NO_INDEX for is_made in self.of_operands]
        split = loop.inputs
        dual = loop.dual(tangents)
        if dual is None:
            return [NO_INDEX] * self.inputs
        of_seeds = loop.jvp(tape, operands[:split], base, tangents)
        seeds = [NO_INDEX] * loop.outputs, operands[split:]
        return [*self._vjp_of_dual(tape, operands[:split], tangents, seeds, wanted[:split]), *of_seeds]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangents of the results (forward over reverse, see loop.py)."""
        split = self._loop.inputs
        seeds = tangents[split:], operands[split:]
        found = self._vjp_of_dual(tape, operands[:split], tangents[:split], seeds, self.of_operands)
        return chosen(found, self.of_operands)

    def _vjp_of_dual(
        self,
        tape: Tape,
        operands: Indices,
        tangents: Indices,
        seeds: tuple[Indices, Indices],
        wanted: Sequence[bool],
    ) -> Indices:
        """Append the reverse pass of the loop over primals and tangents; return the primal operands' cotangents.

        `seeds` are the cotangents of the primal results and of the tangents of the results.
        """
        loop = self._loop
        dual = loop.dual(tangents)
        if dual is None:
            return loop.vjp_needed(tape, operands, 0, seeds[0], wanted)
        given = dual.operands.join(operands, with_zeros(tape, loop.given, tangents))
        is_wanted = dual.operands.join(wanted, [False] * len(wanted))
        found = dual.loop.vjp_needed(tape, given, 0, dual.results.join(*seeds), is_wanted)
        return dual.operands.split(found)[0]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the reverse pass of the loop with numbers: see `Call.expanded`."""
        loop = self._loop
        wanted = [flag for flag, kind in zip(self._wanted, loop.taken, strict=True) for _ in range(size_of(kind))]
        found = append_call(loop.of_numbers.back(tuple(wanted)), tape, flat(operands))
        return chosen(grouped(found, loop.given), self.of_operands)


def _zeros(kind: ArrayKind | None) -> Operand:
    if kind is None:
        return 0.0
    found = new_array(kind)
    found.fill(0.0)
    return found
