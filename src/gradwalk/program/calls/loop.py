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

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gradwalk.base.cached import cached_property
from gradwalk.graph.graph import Floats
from gradwalk.program.calls.call import Call, append_call, instantiate_zeros
from gradwalk.program.calls.program_derivatives import inline_calls, vjp_program, weight
from gradwalk.program.calls.stored_steps import StoredStep, split
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import ProgramError
from gradwalk.program.native.machine_code import prefix_keys
from gradwalk.program.program import Program, trusted
from gradwalk.program.routine.lower_calls import why_not_lowerable
from gradwalk.program.run.interpreter import Interpreter
from gradwalk.program.run.loop_runner import LoopRunner
from gradwalk.program.tape import Tape
from gradwalk.program.tracing.trace import Indices

_LARGEST = 2**31 - 1  # indices are int32
_MOST_STORED = 256e6  # maximum size in bytes of the intermediates that a loop stores for its reverse pass
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
    """

    name = "loop"
    kind = "loop"
    inputs: int

    def __init__(
        self,
        body: Program,
        sizes: Sizes,
        first: int,
        steps: int | None,
        condition: Program | None = None,
        memory: str | int | None = None,
    ) -> None:
        self.body, self.sizes, self.first, self.steps = _named(body, sizes.input_names), sizes, first, steps
        self.condition = condition and _named(condition, sizes.input_names[1 : 1 + sizes.carry + sizes.fixed])
        self.memory = memory
        self._backs: dict[tuple[bool, ...], LoopVjp] = {}
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
        return Loop, (self.body, self.sizes, self.first, self.steps, self.condition, self.memory)

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
        results: Floats = self.runner.forward(operands)
        return results

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the reverse pass of the loop; return the indices of the operands' cotangents."""
        return append_call(self.back(self.step_inputs(wanted)), tape, [*operands, *instantiate_zeros(tape, adjoints)])

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
        results = append_call(self.dual, tape, self.paired(operands, instantiate_zeros(tape, tangents)))
        return self.parted(results)[1]

    def back(self, wanted: tuple[bool, ...]) -> LoopVjp:
        """Return the reverse pass for `wanted`, a result of `step_inputs`. The reverse pass is cached."""
        return self._backs.setdefault(wanted, LoopVjp(self, wanted))

    @cached_property
    def dual(self) -> Loop:
        """The loop over primals and tangents. In each group of operands the primals come before the tangents."""
        carry, fixed, row, out = self.sizes
        tape = Tape()
        count = tape.input()
        numbers, tangents = [], []
        for size in (carry, fixed, row):
            numbers += [tape.input() for _ in range(size)]
            tangents += [tape.input() for _ in range(size)]
        outputs = tape.inline(self.body, [count, *numbers])
        pushed = tape.forward(list(zip(numbers, tangents, strict=True)), outputs)
        body = tape.program([*outputs[:carry], *pushed[:carry], *outputs[carry:], *pushed[carry:]])
        sizes = Sizes(2 * carry, 2 * fixed, 2 * row, 2 * out)
        return Loop(body, sizes, self.first, self.steps, self._condition_of_dual(), self.memory)

    def _condition_of_dual(self) -> Program | None:
        """Return the condition as a program that takes primals and tangents and ignores the tangents."""
        if self.condition is None:
            return None
        tape = Tape()
        numbers: Indices = []
        for size in (self.sizes.carry, self.sizes.fixed):
            numbers += [tape.input() for _ in range(size)]
            for _ in range(size):
                tape.input()
        return tape.program(tape.inline(self.condition, numbers))

    @cached_property
    def weight(self) -> float:
        """Number of instructions of the unrolled loop; infinite if the number of steps has no maximum."""
        if self.steps is None:
            return math.inf
        chosen = 2 * self.sizes.carry if self.condition else 0
        step = weight(self.body) + chosen + (weight(self.condition) if self.condition else 0.0)
        return self.steps * max(step, 1.0)  # count at least one instruction per step

    @cached_property
    def refusal(self) -> str:
        """The reason why the loop cannot be lowered, or "" if it can: see `Call.refusal`."""
        if self.condition is not None and (self.sizes.row or self.sizes.out):
            return "it has a loop with a condition and xs or ys"
        return next(filter(None, [why_not_lowerable(part.code) for part in self.parts]), "")

    def flat(self) -> Program:
        """Unroll the loop to its maximum number of steps. Steps after the condition fails do not change the carry."""
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
        if self.condition:  # if the condition still holds, multiply by nan, so that derivatives become nan, too
            goes_on = self._goes_on(tape, goes_on, carry, fixed)
            [factor] = _chosen(tape, goes_on, [tape.constant(math.nan)], [tape.constant(1.0)])
            carry = [tape.append("mul", number, factor) for number in carry]
        return tape.program([*carry, *out])

    def _goes_on(self, tape: Tape, goes_on: int, carry: Indices, fixed: Indices) -> int:
        """Append a number that is 0 if the loop has ended. `goes_on` is this number for the previous step."""
        if self.condition is None:
            return goes_on
        [holds] = tape.inline(self.condition, [*carry, *fixed])
        return tape.append("where", goes_on, holds, tape.constant(0.0))

    def paired(self, numbers: Sequence[int], tangents: Sequence[int]) -> Indices:
        """Combine the loop's operands and their tangents into the operands of `dual`."""
        carry, fixed, row, _ = self.sizes
        return _interleaved(numbers, tangents, [carry, fixed], row)

    def paired_results(self, numbers: Sequence[int], tangents: Sequence[int]) -> Indices:
        """Combine the loop's results and their tangents into one list, in the order of the results of `dual`."""
        return _interleaved(numbers, tangents, [self.sizes.carry], self.sizes.out)

    def parted(self, results: Sequence[int]) -> tuple[Indices, Indices]:
        """Split the results of `dual` into primals and tangents."""
        return _parted(results, [self.sizes.carry], self.sizes.out)

    def parted_operands(self, adjoints: Sequence[int]) -> tuple[Indices, Indices]:
        """Split a sequence with an entry per operand of `dual` into the entries of primals and of tangents."""
        carry, fixed, row, _ = self.sizes
        return _parted(adjoints, [carry, fixed], row)


class LoopVjp(Call):
    """Reverse pass of a loop: maps (operands, cotangents of results) to cotangents of operands.

    `wanted` has a flag per input of a step except the count. If the flag of an input is False, its cotangent is not
    needed and may be 0.
    """

    name = "loop'"
    kind = "loop_back"

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
    def stored(self) -> StoredStep | None:
        """The step, split into what the forward pass can compute and store, and the rest; None if nothing is stored."""
        found = split(self.loop.body, self.body)
        return found if found and 8.0 * found.width * (self.loop.steps or 0) <= _MOST_STORED else None

    @cached_property
    def weight(self) -> float:
        """Estimated number of instructions after inlining: 4 times the weight of the loop."""
        return 4 * self.loop.weight

    @cached_property
    def refusal(self) -> str:
        """The reason why the reverse pass cannot be lowered, or "" if it can: see `Call.refusal`."""
        if self.loop.memory is not None and self.loop.condition is not None:
            return "it has a while_loop with checkpoints: only checkpoint=None is compiled"
        if self.loop.memory not in (None, "sqrt"):
            return f'it has a loop with checkpoint={self.loop.memory!r}: only None and "sqrt" are compiled'
        return self.loop.refusal or why_not_lowerable(self.body.code)

    def flat(self) -> Program:
        """Unroll the loop to a program and return the VJP of that program."""
        return vjp_program(inline_calls(self.loop.flat()))

    def backends(self, known: set[int]) -> dict[str, str]:
        """Return the backends of the parts: see `Call.backends`."""
        return self.loop.backends(known) | prefix_keys("step back", self._interpreter.backends_beside(known))

    @cached_property
    def _interpreter(self) -> Interpreter:
        return Interpreter(self.body.code, is_part=True)

    def numbers(self, operands: Floats) -> Floats:
        """Compute the results from the operands: see `Call.numbers`."""
        split = len(operands) - self.loop.outputs
        results: Floats = self.loop.runner.backward(
            self._interpreter, operands[:split], operands[split:], self.loop.memory
        )
        return results

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Append the cotangents of the operands and of the seeds (reverse over reverse, see the module docstring)."""
        loop = self.loop
        split = len(operands) - loop.outputs
        numbers, seeds = operands[:split], operands[split:]
        paired = loop.paired(numbers, instantiate_zeros(tape, adjoints))
        _, of_seeds = loop.parted(append_call(loop.dual, tape, paired))
        none = [tape.constant(0.0)] * loop.outputs
        back = self._of_dual(loop.step_inputs(wanted[:split]))
        of_numbers, _ = loop.parted_operands(append_call(back, tape, [*paired, *loop.paired_results(none, seeds)]))
        return [*of_numbers, *of_seeds]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the tangents of the results (forward over reverse, see the module docstring)."""
        loop = self.loop
        split = len(operands) - loop.outputs
        pushed = instantiate_zeros(tape, tangents)
        paired = loop.paired(operands[:split], pushed[:split])
        seeds = loop.paired_results(pushed[split:], operands[split:])
        of_numbers, _ = loop.parted_operands(append_call(self._of_dual(self.wanted), tape, [*paired, *seeds]))
        return of_numbers

    def _of_dual(self, wanted: tuple[bool, ...]) -> LoopVjp:
        """Return the reverse pass of `dual` that computes only the cotangents of the wanted primals."""
        carry, fixed, _, _ = self.loop.sizes
        parts = wanted[:carry], wanted[carry : carry + fixed], wanted[carry + fixed :]
        return self.loop.dual.back(tuple([flag for part in parts for flag in (*part, *(False,) * len(part))]))


def _active(loop: Loop, wanted: Sequence[bool]) -> list[bool]:
    """Return a flag per input of a step except the count.

    The flag is True if the input is wanted, or if it is part of the carry and depends on a wanted input.
    """
    carry = loop.sizes.carry
    active = list(wanted)
    code = loop.body.code
    while True:
        depends = code.depending([False, *active])
        reached = [active[i] or depends[code.outputs[i]] for i in range(carry)]
        if reached == active[:carry]:
            return active
        active[:carry] = reached


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


def _interleaved(first: Sequence[int], second: Sequence[int], groups: list[int], row: int) -> Indices:
    """Interleave two sequences: after each group and each row of `first` comes the same part of `second`."""
    found: Indices = []
    for part in _parts(len(first), groups, row):
        found += [*first[part], *second[part]]
    return found


def _parted(both: Sequence[int], groups: list[int], row: int) -> tuple[Indices, Indices]:
    """Undo `_interleaved`."""
    first: Indices = []
    second: Indices = []
    for part in _parts(len(both) // 2, groups, row):
        middle = part.start + part.stop
        first += both[2 * part.start : middle]
        second += both[middle : 2 * part.stop]
    return first, second


def _parts(length: int, groups: list[int], row: int) -> list[slice]:
    """Return the slices that split a sequence of this length into groups, followed by rows of equal length."""
    bounds = [0]
    for group in groups:
        bounds.append(bounds[-1] + group)
    if row:
        bounds += range(bounds[-1] + row, length + 1, row)
    return [slice(begin, end) for begin, end in itertools.pairwise(bounds)]
