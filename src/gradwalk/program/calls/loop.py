"""`Loop`: a single instruction that runs a loop. The step of the loop is a program.

The derivatives of a loop are loops. Forward mode is a loop over primals and tangents. Reverse mode is `LoopVjp`: it
runs the loop with checkpoints and then visits the steps in reverse order. `LoopVjp` is linear in the cotangents of the
results, so its own derivatives reduce to forward mode. Let y be the results, s their cotangents, and grad the gradient
with respect to the loop's operands. Then

    d/dt grad(s . y)  =  grad(s . dy + ds . y)                              (forward over reverse)
    grad(v . grad(s . y))  =  grad(s . dy); its gradient w.r.t. s is dy     (reverse over reverse)

In the first line dy and ds are the derivatives of y and s with respect to t. In the second line v is the cotangent of
the gradient, and dy is the tangent of y for the tangent v of the operands. So two kinds of instructions, `Loop` and
`LoopVjp`, suffice for derivatives of any order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.program.calls.call import Call, append_call, instantiate_zeros
from gradwalk.program.calls.flow import Flow
from gradwalk.program.calls.layout import Layout, layout
from gradwalk.program.calls.program_derivatives import inline_calls, vjp_program, weight
from gradwalk.program.calls.stored_steps import StoredStep, split
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import ProgramError
from gradwalk.program.native.policy import prefix_keys
from gradwalk.program.program import Program, trusted
from gradwalk.program.routine.limits import why_not_lowerable
from gradwalk.program.run.interpreter import Interpreter
from gradwalk.program.run.loop_runner import LoopRunner, TooManyStepsError
from gradwalk.program.tape import NO_INDEX, Indices, Tape

_LARGEST = 2**31 - 1  # indices are int32
_MOST_STEPS = 2**53  # floats represent all integers up to this one exactly


class Sizes(NamedTuple):
    """Sizes of the groups of a loop's operands and results: the number of scalars in each.

    Attributes:
        carry: Size of the carry.
        fixed: Size of the constants, which are the same in all steps.
        row: Size of each step's slice of xs.
        out: Size of each step's slice of ys.
    """

    carry: int
    fixed: int
    row: int
    out: int

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs of a step."""
        return ["i", *_names("c", self.carry), *_names("f", self.fixed), *_names("x", self.row)]


class Loop(Call):
    """A loop: maps (carry, constants, xs) to (carry, ys), as `jax.lax.scan` does.

    Args:
        body: The program of a step: maps (count, carry, constants, xs slice) to (carry, ys slice).
        sizes: Sizes of the operand groups.
        first: The count of the first step.
        steps: The number of steps. If there is a condition, the maximum number of steps, or None for no maximum.
        condition: A program that maps (carry, constants) to one number. The loop ends when this number is 0. None if
            the number of steps is always `steps`.
        memory: Checkpoint policy of the reverse pass: None to keep the carries of all steps, "sqrt", "binomial", or the
            number of carries to keep; see `checkpoint_plan.slots_for`.
        in_batch: Whether the loop is a part of a kernel for batches. If it takes too many steps, the results are then
            nan; else an error is raised.
    """

    name = "loop"
    kind = "loop"
    is_pure = True
    inputs: int

    def __init__(
        self,
        body: Program,
        sizes: Sizes,
        first: int,
        steps: int | None,
        condition: Program | None = None,
        memory: str | int | None = None,
        *,
        in_batch: bool = False,
    ) -> None:
        self.body, self.sizes, self.first, self.steps = _named(body, sizes.input_names), sizes, first, steps
        self.condition = condition and _named(condition, sizes.input_names[1 : 1 + sizes.carry + sizes.fixed])
        self.memory, self.in_batch = memory, in_batch
        self._backs: dict[tuple[bool, ...], LoopVjp] = {}
        self.duals: dict[tuple[bool, bool, bool], Dual] = {}
        self.inputs = sizes.carry + sizes.fixed + sizes.row * (steps or 0)
        self.outputs = sizes.carry + sizes.out * (steps or 0)
        self.parts = (self.body,) if self.condition is None else (self.body, self.condition)
        most = "" if steps is None else f", at most {steps} steps"
        self.described = f"while a condition holds{most}" if condition else f"{steps} steps from i = {first}"
        self.shown_parts = list(zip(("step", "condition"), self.parts, strict=False))
        self.runner = LoopRunner(
            Interpreter(body.code, is_part=True),
            None if condition is None else Interpreter(condition.code, is_part=True),
            tuple(sizes),
            first,
            -1 if steps is None else steps,
        )

    def __repr__(self) -> str:
        return f"<loop of {len(self.body)} instructions, {self.described}>"

    def __reduce__(self) -> Any:
        made = partial(Loop, in_batch=self.in_batch)
        return made, (self.body, self.sizes, self.first, self.steps, self.condition, self.memory)

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return the backends of the parts: see `Call.backends`."""
        found = prefix_keys("step", self.runner.body.backends_beside(known))
        if self.runner.condition is None:
            return found
        return found | prefix_keys("condition", self.runner.condition.backends_beside(known))

    @property
    def settings(self) -> dict[str, Any]:
        """The data of the loop that a program file stores, besides its programs."""
        return {**self.sizes._asdict(), "first": self.first, "steps": self.steps, "checkpoint": self.memory}

    def numbers(self, operands: Floats) -> Floats:
        """Compute the results from the operands: see `Call.numbers`."""
        try:
            results: Floats = self.runner.forward(operands)
        except TooManyStepsError:
            if not self.in_batch:
                raise
            return numpy.full(self.outputs, numpy.nan)
        return results

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the reverse pass of the loop; return the indices of the operands' cotangents."""
        return _append_vjp(self, tape, operands, adjoints, wanted)

    def step_inputs(self, wanted: Sequence[bool]) -> tuple[bool, ...]:
        """Convert `wanted`, with a flag per operand of the loop, to a flag per input of a step except the count.

        A flag says whether the cotangent is needed. The flag of an input from xs is True if it is True in at least one
        step.
        """
        rows = self.sizes.carry + self.sizes.fixed
        return (*wanted[:rows], *(any(wanted[i :: self.sizes.row]) for i in range(rows, rows + self.sizes.row)))

    @property
    def all_inputs(self) -> tuple[bool, ...]:
        """The result of `step_inputs` if all cotangents are needed."""
        return (True,) * (len(self.body.input_names) - 1)

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the loop over primals and tangents; return the indices of the results' tangents."""
        flags = _nonzero(tape, tangents)
        if not any(flags):
            return [NO_INDEX] * self.outputs
        dual = self.dual(flags)
        results = append_call(dual.loop, tape, dual.operands.join(operands, instantiate_zeros(tape, tangents)))
        of_carry, of_row = self.moved(self.step_inputs(flags))
        has_tangent = [*of_carry, *of_row * (self.steps or 0)]
        found = dual.results.split(results)[1]
        return [index if flag else NO_INDEX for index, flag in zip(found, has_tangent, strict=True)]

    def back(self, wanted: tuple[bool, ...]) -> LoopVjp:
        """Return the reverse pass for `wanted`, a result of `step_inputs`. The reverse pass is cached."""
        return self._backs.setdefault(wanted, LoopVjp(self, wanted))

    def dual(self, flags: Sequence[bool]) -> Dual:
        """Return the loop over primals and tangents. `flags` says which operands have a tangent that may not be 0.

        If one number of the initial carry has a tangent, all of them have one. The same is true of the constants and of
        xs. So there are at most eight such loops, which are cached, and few programs to compile.
        """
        carry, fixed, _, _ = self.sizes
        key = any(flags[:carry]), any(flags[carry : carry + fixed]), any(flags[carry + fixed :])
        return self.duals.get(key) or self.duals.setdefault(key, self._dual(key))

    def _dual(self, key: tuple[bool, bool, bool]) -> Dual:
        carry, fixed, row, _ = self.sizes
        has_tangent = [flag for flag, size in zip(key, (carry, fixed, row), strict=True) for _ in range(size)]
        has_tangent[:carry], of_row = self.moved(has_tangent)
        groups = has_tangent[:carry], has_tangent[carry : carry + fixed], has_tangent[carry + fixed :]
        steps = self.steps or 0
        operands = layout((1, groups[0]), (1, groups[1]), (steps, groups[2]))
        results = layout((1, groups[0]), (steps, of_row))
        if not any(key):
            return Dual(self, operands, results)
        tape = Tape()
        count = tape.input()
        of_step = layout(*((1, group) for group in groups))
        primals, tangents = of_step.split([tape.input() for _ in range(of_step.length)])
        outputs = tape.inline(self.body, [count, *primals])
        seeds = [(x, tangent) for x, tangent in zip(primals, tangents, strict=True) if tangent != NO_INDEX]
        body = tape.program(layout((1, groups[0]), (1, of_row)).join(outputs, tape.forward(seeds, outputs)))
        sizes = Sizes(*[len(group) + sum(group) for group in (*groups, of_row)])
        loop = Loop(body, sizes, self.first, self.steps, self._condition_of_dual(groups), self.memory)
        return Dual(loop, operands, results)

    def _condition_of_dual(self, groups: Sequence[Sequence[bool]]) -> Program | None:
        """Return the condition as a program that takes primals and tangents and ignores the tangents."""
        if self.condition is None:
            return None
        tape = Tape()
        inputs = layout(*((1, group) for group in groups[:2]))
        primals, _ = inputs.split([tape.input() for _ in range(inputs.length)])
        return tape.program(tape.inline(self.condition, primals))

    def moved(self, flags: Sequence[bool]) -> tuple[list[bool], list[bool]]:
        """Return which numbers of the carry, and of a row of ys, have a derivative with respect to flagged inputs.

        `flags` has a flag for each input of a step except the count. The derivatives may be 0 nevertheless.
        """
        carry = self.sizes.carry
        if self.may_fail and any(flags):
            return [True] * carry, []
        reached = self._flow.reached([i for i, flag in enumerate(flags, 1) if flag])
        return [i in reached for i in range(1, 1 + carry)], [
            index in reached for index in self.body.code.outputs[carry:]
        ]

    @property
    def may_fail(self) -> bool:
        """Whether the loop can take too many steps. All results, and their derivatives, are then nan in a batch."""
        return self.condition is not None and self.steps is not None

    @cached_property
    def _flow(self) -> Flow:
        return Flow(self.body.code, [(i, 1 + i) for i in range(self.sizes.carry)])

    @cached_property
    def weight(self) -> float:
        """Number of instructions of the unrolled loop; infinite if the number of steps has no maximum."""
        if self.steps is None:
            return math.inf
        chosen = 2 * self.sizes.carry if self.condition else 0
        step = weight(self.body) + chosen + (weight(self.condition) if self.condition else 0.0)
        return self.steps * max(step, 1.0) if self.steps else 0.0  # count at least one instruction per step

    @cached_property
    def refusal(self) -> str:
        """The reason why the loop cannot be lowered, or "" if it can: see `Call.refusal`."""
        if self.condition is not None and (self.sizes.row or self.sizes.out):
            return "it has a loop with a condition and xs or ys"
        return next(filter(None, [why_not_lowerable(part.code) for part in self.parts]), "")

    def flat(self) -> Program:
        """Unroll the loop to its maximum number of steps. Steps after the condition fails do not change the carry."""
        tape, results, factor = self._unrolled()
        if factor is not None:
            results = [tape.append("mul", number, factor) for number in results]
        return tape.program(results)

    def _unrolled(self) -> tuple[Tape, Indices, int | None]:
        """Return a tape with all steps, its results, and a factor: nan if the condition still holds at the end, else 1.

        All results and their derivatives must be multiplied by the factor. It is None if the loop has no condition.
        """
        assert self.steps is not None
        tape = Tape()
        carry_size, fixed_size, row, _ = self.sizes
        carry = [tape.input() for _ in range(carry_size)]
        fixed = [tape.input() for _ in range(fixed_size)]
        out: Indices = []
        goes_on = tape.constant(1.0)
        for step in range(self.steps):
            goes_on = self._goes_on(tape, goes_on, carry, fixed)
            count = tape.constant(float(self.first + step))
            taken = [tape.input() for _ in range(row)]
            results = tape.inline(self.body, [count, *carry, *fixed, *taken])
            out += results[carry_size:]
            carry = _chosen(tape, goes_on, results[:carry_size], carry) if self.condition else results[:carry_size]
        if self.condition is None:
            return tape, [*carry, *out], None
        goes_on = self._goes_on(tape, goes_on, carry, fixed)
        [factor] = _chosen(tape, goes_on, [tape.constant(math.nan)], [tape.constant(1.0)])
        return tape, carry, factor

    @property
    def convergence(self) -> Program:
        """A program that computes the factor of `_unrolled` from the operands."""
        tape, _, factor = self._unrolled()
        assert factor is not None
        return tape.program([factor])

    def _goes_on(self, tape: Tape, goes_on: int, carry: Indices, fixed: Indices) -> int:
        """Append a number that is 0 if the loop has ended. `goes_on` is this number for the previous step."""
        if self.condition is None:
            return goes_on
        [holds] = tape.inline(self.condition, [*carry, *fixed])
        return tape.append("where", goes_on, holds, tape.constant(0.0))


class Dual(NamedTuple):
    """The loop over the primals and tangents of another loop.

    Attributes:
        loop: The loop.
        operands: The layout of its operands.
        results: The layout of its results.
    """

    loop: Loop
    operands: Layout
    results: Layout


class LoopVjp(Call):
    """Reverse pass of a loop: maps (operands, cotangents of results) to cotangents of operands.

    `wanted` has a flag per input of a step except the count. If the flag of an input is False, its cotangent is not
    needed and may be 0.
    """

    name = "loop'"
    kind = "loop_back"
    is_pure = True

    def __init__(self, loop: Loop, wanted: tuple[bool, ...]) -> None:
        self.loop = loop
        self.wanted = wanted
        self.inputs = loop.inputs + loop.outputs
        self.outputs = loop.inputs
        self.parts = loop.parts
        self.described = f"reverse pass of a loop, {loop.described}"

    def __repr__(self) -> str:
        return f"<reverse pass of {self.loop!r}>"

    def __reduce__(self) -> Any:
        return LoopVjp, (self.loop, self.wanted)

    @property
    def shown_parts(self) -> Sequence[tuple[str, Program]]:  # type: ignore[override]
        """The programs that listings show: the programs of the loop and the program of a reverse step."""
        return [*self.loop.shown_parts, ("step back", self.body)]

    @property
    def settings(self) -> dict[str, Any]:
        """The data of the reverse pass that a program file stores, besides the programs of the loop."""
        return {**self.loop.settings, "wanted": [i for i, is_wanted in enumerate(self.wanted) if is_wanted]}

    @cached_property
    def body(self) -> Program:
        """The program of a reverse step: see `LoopRunner.backward`."""
        carry, fixed, row, out = self.loop.sizes
        tape = Tape()
        count = tape.input()
        inputs = [tape.input() for _ in range(carry + fixed + row)]
        adjoints = [tape.input() for _ in range(carry)]
        totals = [tape.input() for _ in range(fixed)]
        adjoints += [tape.input() for _ in range(out)]
        outputs = tape.inline(self.loop.body, [count, *inputs])
        active = _active(self.loop, self.wanted)
        reached = tape.reverse(
            list(zip(outputs, adjoints, strict=True)), [i for i, is_one in zip(inputs, active, strict=True) if is_one]
        )
        of_active = iter(reached)
        found = [next(of_active) if is_one else tape.constant(0.0) for is_one in active]
        added = [tape.append("add", total, one) for total, one in zip(totals, found[carry:], strict=False)]
        names = [*self.loop.body.input_names, *_names("d", carry), *_names("total", fixed), *_names("dy", out)]
        return tape.program([*found[:carry], *added, *found[carry + fixed :]]).named(names, [])

    @cached_property
    def reads_states(self) -> bool:
        """Whether the loop must run first, because the reverse pass depends on the carry or because it may fail."""
        code = self.body.code
        depends = code.depending([0 < i <= self.loop.sizes.carry for i in range(code.inputs)])
        uses_carry = any(depends[code.first :]) or any(depends[index] for index in code.outputs)
        return uses_carry or self.loop.condition is not None or _may_fail(self.loop.body)

    @cached_property
    def stored(self) -> StoredStep | None:
        """The step, split into what the forward pass can compute and store, and the rest; None if nothing is stored."""
        return split(self.loop.body, self.body)

    @cached_property
    def weight(self) -> float:
        """Estimated number of instructions after inlining: 4 times the weight of the loop."""
        return 4 * self.loop.weight

    @cached_property
    def refusal(self) -> str:
        """The reason why the reverse pass cannot be lowered, or "" if it can: see `Call.refusal`."""
        return self.loop.refusal or why_not_lowerable(self.body.code)

    def flat(self) -> Program:
        """Unroll the loop to a program and return the VJP of that program."""
        back = vjp_program(inline_calls(self.loop.flat()))
        if not self.loop.may_fail:
            return back
        tape = Tape()
        inputs = [tape.input() for _ in range(self.loop.inputs + self.loop.outputs)]
        cotangents = tape.inline(back, inputs)
        [factor] = tape.inline(inline_calls(self.loop.convergence), inputs[: self.loop.inputs])
        return tape.program([tape.append("mul", cotangent, factor) for cotangent in cotangents])

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return the backends of the parts: see `Call.backends`."""
        return self.loop.backends(known) | prefix_keys("step back", self._interpreter.backends_beside(known))

    @cached_property
    def _interpreter(self) -> Interpreter:
        return Interpreter(self.body.code, is_part=True)

    def numbers(self, operands: Floats) -> Floats:
        """Compute the results from the operands: see `Call.numbers`."""
        split = len(operands) - self.loop.outputs
        try:
            results: Floats = self.loop.runner.backward(
                self._interpreter, operands[:split], operands[split:], self.loop.memory
            )
        except TooManyStepsError:
            if not self.loop.in_batch:
                raise
            return numpy.full(self.outputs, numpy.nan)
        return results

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the cotangents of the operands and of the seeds (reverse over reverse, see the module docstring)."""
        loop = self.loop
        split = loop.inputs
        of_seeds = loop.jvp(tape, operands[:split], base, adjoints)
        seeds = [NO_INDEX] * loop.outputs, operands[split:]
        return [*_append_vjp_of_dual(loop, tape, operands[:split], adjoints, seeds, wanted[:split]), *of_seeds]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangents of the results (forward over reverse, see the module docstring)."""
        loop = self.loop
        split, rows = loop.inputs, loop.sizes.carry + loop.sizes.fixed
        wanted = [*self.wanted[:rows], *self.wanted[rows:] * (loop.steps or 0)]
        seeds = tangents[split:], operands[split:]
        return _append_vjp_of_dual(loop, tape, operands[:split], tangents[:split], seeds, wanted)

    def reached(self, seeds: Sequence[bool]) -> list[bool]:
        """Return which operands of the loop get a cotangent that may not be 0, if the flagged results have one."""
        carry, fixed, row, out = self.loop.sizes
        if self.loop.may_fail and any(seeds):
            return [True] * (carry + fixed)
        first = 1 + carry + fixed + row
        rows = [any(seeds[i::out]) for i in range(carry, carry + out)]
        flags = [*seeds[:carry], *[False] * fixed, *rows]
        reached = self._flow.reached([first + i for i, flag in enumerate(flags) if flag])
        of_step = [first + i in reached for i in range(carry)]
        of_step += [index in reached for index in self.body.code.outputs[carry:]]
        return [*of_step[: carry + fixed], *of_step[carry + fixed :] * (self.loop.steps or 0)]

    @cached_property
    def _flow(self) -> Flow:
        first = 1 + len(self.loop.all_inputs)
        return Flow(self.body.code, [(i, first + i) for i in range(self.loop.sizes.carry)])


def _may_fail(program: Program) -> bool:
    """Return whether a loop inside a program can take too many steps."""
    waiting = [program]
    while waiting:
        for call, _ in waiting.pop().calls:
            loop = call.loop if isinstance(call, LoopVjp) else call
            if isinstance(loop, Loop) and loop.may_fail:
                return True
            waiting += call.parts
    return False


def _append_vjp(loop: Loop, tape: Tape, operands: Indices, seeds: Indices, wanted: Sequence[bool]) -> Indices:
    """Append the reverse pass of a loop; return the indices of the operands' cotangents, `NO_INDEX` for 0.

    `seeds` are the cotangents of the results, and `wanted` says which cotangents are needed.
    """
    back = loop.back(loop.step_inputs(wanted))
    reached = back.reached(_nonzero(tape, seeds))
    if not any(flag and is_wanted for flag, is_wanted in zip(reached, wanted, strict=True)):
        return [NO_INDEX] * len(operands)
    found = append_call(back, tape, [*operands, *instantiate_zeros(tape, seeds)])
    return [index if flag else NO_INDEX for index, flag in zip(found, reached, strict=True)]


def _append_vjp_of_dual(
    loop: Loop,
    tape: Tape,
    operands: Indices,
    tangents: Indices,
    seeds: tuple[Indices, Indices],
    wanted: Sequence[bool],
) -> Indices:
    """Append the reverse pass of the loop over primals and tangents; return the cotangents of the primal operands.

    `seeds` are the cotangents of the primal results and of the tangents of the results.
    """
    dual = loop.dual(_nonzero(tape, tangents))
    given = dual.operands.join(operands, instantiate_zeros(tape, tangents))
    is_wanted = dual.operands.join(wanted, [False] * len(wanted))
    found = _append_vjp(dual.loop, tape, given, dual.results.join(*seeds), is_wanted)
    return dual.operands.split(found)[0]


def _nonzero(tape: Tape, derivatives: Indices) -> list[bool]:
    """Return which derivatives are neither `NO_INDEX` nor the constant 0."""
    zeros = NO_INDEX, tape.constant(0.0)
    return [index not in zeros for index in derivatives]


def _active(loop: Loop, wanted: Sequence[bool]) -> list[bool]:
    """Return a flag per input of a step except the count.

    The flag is True if the input is wanted, or if it is part of the carry and depends on a wanted input.
    """
    return [*loop.moved(wanted)[0], *wanted[loop.sizes.carry :]]


def loop_from_file(parts: Sequence[Code], settings: Mapping[str, Any]) -> Loop:
    """Create a loop from the programs and settings in a program file; see `call_registry`."""
    known = [*Sizes._fields, "first", "steps", "checkpoint"]
    if sorted(settings) != sorted(known):
        raise ProgramError(
            f"the settings of a loop must be {', '.join(known)}, got {', '.join(map(repr, settings))!s:.60}"
        )
    sizes = Sizes(*[_whole(settings, name) for name in Sizes._fields])
    first, memory = _whole(settings, "first", -_MOST_STEPS, _MOST_STEPS), settings["checkpoint"]
    steps = None if settings["steps"] is None else _whole(settings, "steps", 0, _MOST_STEPS)
    if memory not in (None, "sqrt", "binomial"):
        _whole(settings, "checkpoint", 1, _MOST_STEPS)
    if not 1 <= len(parts) <= 2 or (steps is None and (len(parts) == 1 or sizes.row or sizes.out)):
        raise ProgramError(
            "a loop must have a step program; it must also have a number of steps unless it has a condition, no xs and "
            "no ys"
        )
    body, *condition = parts
    numbers, said = (body.inputs, len(body.outputs)), (1 + sum(sizes) - sizes.out, sizes.carry + sizes.out)
    if numbers != said:
        raise ProgramError(f"the step of a loop must have {said} inputs and outputs, as its sizes say, got {numbers}")
    if condition and (condition[0].inputs, len(condition[0].outputs)) != (sizes.carry + sizes.fixed, 1):
        raise ProgramError("the condition of a loop must take the carry and the constants, and return one number")
    if (sizes.row + sizes.out + 1) * (steps or 0) > _LARGEST and (sizes.row or sizes.out):
        raise ProgramError(f"(row + out + 1) * steps of a loop must be at most {_LARGEST}")
    return Loop(trusted(body), sizes, first, steps, trusted(condition[0]) if condition else None, memory)


def loop_vjp_from_file(parts: Sequence[Code], settings: Mapping[str, Any]) -> LoopVjp:
    """Create the reverse pass of a loop from the programs and settings in a program file; see `call_registry`."""
    wanted = settings.get("wanted")
    loop = loop_from_file(parts, {name: setting for name, setting in settings.items() if name != "wanted"})
    count = len(loop.all_inputs)
    if not isinstance(wanted, list) or not all(type(i) is int and 0 <= i < count for i in wanted):
        raise ProgramError(
            f'"wanted" of loop_back must be a list of indices of step inputs below {count}, got {wanted!r:.60}'
        )
    return loop.back(tuple([i in wanted for i in range(count)]))


def _whole(settings: Mapping[str, Any], name: str, least: int = 0, most: int = _LARGEST) -> int:
    number = settings[name]
    if type(number) is not int or not least <= number <= most:
        raise ProgramError(f"{name} of a loop must be an integer from {least} to {most}, got {number!r:.60}")
    return number


def _named(program: Program, names: list[str]) -> Program:
    """Return a program with these input names: `program` itself if it has these names already."""
    return program if list(program.input_names) == names else program.named(names, [])


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{i}" for i in range(count)]


def _chosen(tape: Tape, condition: int, numbers: Indices, others: Indices) -> Indices:
    """Append `where(condition, x, y)` for each pair (x, y)."""
    return [tape.append("where", condition, x, y) for x, y in zip(numbers, others, strict=True)]
