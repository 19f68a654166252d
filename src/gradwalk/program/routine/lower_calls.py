"""Lower the calls of a program: loops, their reverse passes, and switches.

The steps run in the same order as in `LoopRunner` and `BackwardPass`, so the results are bitwise equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL
from gradwalk.program.routine.lower_program import Changing, Lowering, Trails, lowered, merged, stride_of
from gradwalk.program.routine.statements import Cell, Choose, Count, For, Grow, Operand, Routine, Statement, While

# The largest number of instructions, apart from results of calls, and table entries of each program. It limits the time
# of the search for loops.
MOST_SEARCHED = 30_000
# The largest number of statements of a routine, which counts the body of a loop once. Compiling takes about 50 microseconds per statement.
MOST = 6000


# For each number of a step's row: its cell in the first step, and the distance to its cell in the next step.
Columns = list[tuple[Cell, int]]


class Trail(NamedTuple):
    """What the reverse pass of a loop needs from the forward pass.

    Attributes:
        states: The array with the carry before each step.
        steps: The number of steps, or the counter that holds it.
        consts: The constants of the loop.
        xs: The rows of all steps.
        results: The results of the loop.
    """

    states: str
    steps: int | str
    consts: list[Operand]
    xs: Columns
    results: list[Operand]


def routine(code: Code) -> Routine:
    """Lower a program. Raises `TooLargeError` if there would be more than `MOST` statements."""
    return lowered(code, _lower_call, MOST)


def why_not_lowerable(code: Code) -> str:
    """Return the reason why a program cannot be lowered, or "" if it can be lowered unless `TooLargeError` is raised."""
    size = int((code.instructions[::4] != CALL).sum()) + sum(map(len, code.tables))
    if size > MOST_SEARCHED:
        return f"{size:,} instructions and table entries are too many: at most {MOST_SEARCHED:,}"
    return next((call.refusal for call, _ in code.calls if call.refusal), "")


def _lower_call(lowering: Lowering, call: Any, operands: list[Operand], trails: Trails) -> list[Operand]:
    return _LOWER[call.kind](lowering, call, operands, trails)


def _switch(lowering: Lowering, call: Any, operands: list[Operand], trails: Trails) -> list[Operand]:
    results = Changing(lowering, call.outputs, is_array=False)
    branches: list[Sequence[Statement]] = []
    for branch in call.branches:
        with lowering.nested() as body:
            results.set(lowering.program(branch.code, operands[1:]))
        branches.append(body)
    with lowering.nested() as otherwise:
        results.set([math.nan] * call.outputs)
    lowering.add(Choose(operands[0], branches, otherwise))
    return results.current()


def _loop(lowering: Lowering, call: Any, operands: list[Operand], trails: Trails) -> list[Operand]:
    known = next(filter(None, trails.values()), None)
    trail: Trail = known or _forward(lowering, call, operands, keeps_states=bool(trails))
    trails.update(dict.fromkeys(trails, trail))
    return trail.results


def _loop_back(lowering: Lowering, call: Any, operands: list[Operand], trails: Trails) -> list[Operand]:
    split = call.loop.inputs
    [trail] = trails.values()
    if trail is None:
        trail = _forward(lowering, call.loop, operands[:split], keeps_states=True)
        trails.update(dict.fromkeys(trails, trail))
    return _backward(lowering, call, trail, operands[split:])


_LOWER: dict[str, Callable[[Lowering, Any, list[Operand], Trails], list[Operand]]] = {
    "switch": _switch,
    "loop": _loop,
    "loop_back": _loop_back,
}


def _forward(lowering: Lowering, loop: Any, operands: list[Operand], *, keeps_states: bool) -> Trail:
    """Append a loop; return its trail, whose states are valid if `keeps_states` is set."""
    carry_size, fixed, row, out = loop.sizes
    spans = [(a - 1, b - 1) for a, b in lowering.plan(loop.body.code).spans]
    spans = merged([*spans, *(lowering.plan(loop.condition.code).spans if loop.condition else ())])
    carry = Changing(lowering, carry_size, is_array=_touch(spans, 0, carry_size))
    carry.set(operands[:carry_size])
    consts = lowering.even(operands[carry_size : carry_size + fixed], _within(spans, carry_size, fixed))
    xs = _columns(lowering, operands[carry_size + fixed :], row)
    ys = lowering.array(out * loop.steps) if out else ""
    counter = lowering.name("i")
    states = _states(lowering, loop, keeps_states=keeps_states)
    now: list[Operand] = []

    def step() -> None:
        if keeps_states and loop.condition:
            lowering.add(Grow(states, counter, carry_size))
        if keeps_states:
            lowering.store(_row(states, 0, counter, carry_size), now)
        inputs = [_counted(lowering, counter, loop.first), *now, *consts, *_moving(xs, counter)]
        outputs = lowering.settled(lowering.program(loop.body.code, inputs), [carry.array])
        lowering.store(_row(ys, 0, counter, out), outputs[carry_size:])
        carry.set(outputs[:carry_size])

    if loop.condition is None:
        with lowering.nested() as body:
            now = carry.current()
            step()
        lowering.add(For(counter, loop.steps, body))
    else:
        with lowering.nested() as test:
            now = carry.current()
            [holds] = lowering.program(loop.condition.code, [*now, *consts])
        with lowering.nested() as body:
            step()
        lowering.add(While(counter, test, holds, loop.steps, body))
    results = [*carry.current(), *(Cell(ys, i) for i in range(out * (loop.steps or 0)))]
    return Trail(states, counter if loop.condition else loop.steps, consts, xs, results)


def _backward(lowering: Lowering, call: Any, trail: Trail, seeds: list[Operand]) -> list[Operand]:
    """Append the reverse pass of a loop; return the cotangents of its operands."""
    loop = call.loop
    carry, fixed, row, out = loop.sizes
    first = 1 + carry + fixed + row
    spans = lowering.plan(call.body.code).spans
    cotangents = Changing(lowering, carry, is_array=_touch(spans, first, carry))
    cotangents.set(seeds[:carry])
    totals = Changing(lowering, fixed, is_array=_touch(spans, first + carry, fixed))
    totals.set([0.0] * fixed)
    dys = _columns(lowering, seeds[carry:], out)
    dxs = lowering.array(row * loop.steps) if row else ""
    counter = lowering.name("i")
    with lowering.nested() as body:
        inputs = [
            _counted(lowering, counter, loop.first),
            *_row(trail.states, 0, counter, carry),
            *trail.consts,
            *_moving(trail.xs, counter),
            *cotangents.current(),
            *totals.current(),
            *_moving(dys, counter),
        ]
        outputs = lowering.program(call.body.code, inputs)
        outputs = lowering.settled(outputs, [cotangents.array, totals.array])
        lowering.store(_row(dxs, 0, counter, row), outputs[carry + fixed :])
        cotangents.set(outputs[:carry])
        totals.set(outputs[carry : carry + fixed])
    lowering.add(For(counter, trail.steps, body, is_reversed=True))
    return [*cotangents.current(), *totals.current(), *(Cell(dxs, i) for i in range(row * (loop.steps or 0)))]


def _states(lowering: Lowering, loop: Any, *, keeps_states: bool) -> str:
    """Return the name of the array for the carries before all steps, or "" if they are not kept."""
    if not keeps_states:
        return ""
    if loop.condition is None:
        return lowering.array(loop.sizes.carry * loop.steps)
    lowering.growing.append(lowering.name("g"))
    return lowering.growing[-1]


def _counted(lowering: Lowering, counter: str, first: int) -> str:
    name = lowering.name("v")
    lowering.add(Count(name, counter, first))
    return name


def _row(array: str, start: int, counter: str, width: int) -> list[Cell]:
    """Return the cells of the current step in an array with `width` cells per step."""
    return [Cell(array, start + i, ((counter, width),)) for i in range(width)]


def _columns(lowering: Lowering, operands: list[Operand], width: int) -> Columns:
    """Return cells with the rows of all steps. The numbers are copied if a column is not in evenly spaced cells."""
    columns = [operands[i::width] for i in range(width)]
    strides = [stride_of(column) for column in columns]
    if None not in strides:
        return [(column[0], stride) for column, stride in zip(columns, strides, strict=True)]  # type: ignore[misc]
    first, stride = lowering.in_array(operands)
    return [(first.moved(i * stride), width * stride) for i in range(width)]


def _moving(columns: Columns, counter: str) -> list[Operand]:
    """Return the row of the current step."""
    return [first.moved(0, (counter, stride)) for first, stride in columns]


def _touch(spans: Sequence[tuple[int, int]], start: int, count: int) -> bool:
    """Return whether a span has one of `count` inputs, beginning with input `start`."""
    return any(least < start + count and greatest >= start for least, greatest in spans)


def _within(spans: Sequence[tuple[int, int]], start: int, count: int) -> list[tuple[int, int]]:
    """Return the spans inside `count` inputs, beginning with input `start`, counted from this input."""
    return [(a - start, b - start) for a, b in spans if start <= a and b < start + count]
