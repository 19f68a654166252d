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

# Maximum number of instructions, without results of calls, and of table entries of a program. It limits the time of the
# search for loops.
MOST_SEARCHED = 500_000
# Maximum number of statements of a routine, which counts the body of a loop once. Compiling takes about 50 microseconds
# per statement.
MOST = 6000

# For each number of a step's row: its cell in the first step, and the distance to its cell in the next step.
Columns = list[tuple[Cell, int]]


class Trail(NamedTuple):
    """The data that the reverse pass of a loop reads from the forward pass.

    Attributes:
        states: The array with a row per step: the carry before the step, and the intermediates that the step stores.
        width: The length of a row.
        back: The reverse pass that needs the intermediates, or None if they are not stored.
        steps: The number of steps, or the counter that holds it.
        consts: The constants of the loop.
        xs: The rows of all steps.
        results: The results of the loop.
    """

    states: str
    width: int
    back: Any
    steps: int | str
    consts: list[Operand]
    xs: Columns
    results: list[Operand]


def routine(code: Code) -> Routine:
    """Lower a program. Raises `TooLargeError` if there would be more than `MOST` statements."""
    return lowered(code, _lower_call, MOST)


def why_not_lowerable(code: Code) -> str:
    """Return the reason why a program cannot be lowered, or "".

    If the result is "", `routine` may still raise `TooLargeError`.
    """
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
    if not trails:
        return _forward(lowering, call, operands, None).results
    return _trail(lowering, call, operands, trails).results


def _loop_back(lowering: Lowering, call: Any, operands: list[Operand], trails: Trails) -> list[Operand]:
    split = call.loop.inputs
    return _backward(lowering, call, _trail(lowering, call.loop, operands[:split], trails), operands[split:])


def _trail(lowering: Lowering, loop: Any, operands: list[Operand], trails: Trails) -> Trail:
    """Return the trail of a loop. Append the loop if that has not been done yet."""
    [(key, known)] = trails.items()
    trail: Trail = known if isinstance(known, Trail) else _forward(lowering, loop, operands, known)
    trails[key] = trail
    return trail


_LOWER: dict[str, Callable[[Lowering, Any, list[Operand], Trails], list[Operand]]] = {
    "switch": _switch,
    "loop": _loop,
    "loop_back": _loop_back,
}


def _forward(lowering: Lowering, loop: Any, operands: list[Operand], back: Any) -> Trail:
    """Append a loop; return its trail.

    `back` is a reverse pass of the loop that follows, or None. If there is one, the carries before all steps are kept,
    and the intermediates of the steps that this reverse pass reads.
    """
    carry_size, fixed, row, out = loop.sizes
    stored = back and back.stored
    body = stored.forward.code if stored else loop.body.code
    width = carry_size + (stored.width if stored else 0)
    spans = [(a - 1, b - 1) for a, b in lowering.plan(body).spans]
    spans = merged([*spans, *(lowering.plan(loop.condition.code).spans if loop.condition else ())])
    carry = Changing(lowering, carry_size, is_array=_touch(spans, 0, carry_size))
    carry.set(operands[:carry_size])
    consts = lowering.even(operands[carry_size : carry_size + fixed], _within(spans, carry_size, fixed))
    xs = _columns(lowering, operands[carry_size + fixed :], row)
    ys = lowering.array(out * loop.steps) if out else ""
    counter = lowering.name("i")
    states = _states(lowering, loop, width) if back else ""
    now: list[Operand] = []

    def step() -> None:
        if states and loop.condition:
            lowering.add(Grow(states, counter, width))
        if states:
            lowering.store(_row(states, 0, counter, width)[:carry_size], now)
        inputs = [_counted(lowering, counter, loop.first), *now, *consts, *_moving(xs, counter)]
        outputs = lowering.settled(lowering.program(body, inputs), [carry.array])
        lowering.store(_row(ys, 0, counter, out), outputs[carry_size : carry_size + out])
        if states:
            lowering.store(_row(states, 0, counter, width)[carry_size:], outputs[carry_size + out :])
        carry.set(outputs[:carry_size])

    if loop.condition is None:
        with lowering.nested() as steps:
            now = carry.current()
            step()
        lowering.add(For(counter, loop.steps, steps))
    else:
        with lowering.nested() as test:
            now = carry.current()
            [holds] = lowering.program(loop.condition.code, [*now, *consts])
        with lowering.nested() as steps:
            step()
        lowering.add(While(counter, test, holds, loop.steps, steps))
    results = [*carry.current(), *(Cell(ys, i) for i in range(out * (loop.steps or 0)))]
    return Trail(states, width, stored and back, counter if loop.condition else loop.steps, consts, xs, results)


def _backward(lowering: Lowering, call: Any, trail: Trail, seeds: list[Operand]) -> list[Operand]:
    """Append the reverse pass of a loop; return the cotangents of its operands."""
    loop = call.loop
    carry, fixed, row, out = loop.sizes
    first = 1 + carry + fixed + row
    body = call.stored.back.code if trail.back is call else call.body.code
    spans = lowering.plan(body).spans
    cotangents = Changing(lowering, carry, is_array=_touch(spans, first, carry))
    cotangents.set(seeds[:carry])
    totals = Changing(lowering, fixed, is_array=_touch(spans, first + carry, fixed))
    totals.set([0.0] * fixed)
    dys = _columns(lowering, seeds[carry:], out)
    dxs = lowering.array(row * loop.steps) if row else ""
    counter = lowering.name("i")
    state = _row(trail.states, 0, counter, trail.width)
    with lowering.nested() as steps:
        inputs = [
            _counted(lowering, counter, loop.first),
            *state[:carry],
            *trail.consts,
            *_moving(trail.xs, counter),
            *cotangents.current(),
            *totals.current(),
            *_moving(dys, counter),
            *(state[carry:] if trail.back is call else ()),
        ]
        outputs = lowering.program(body, inputs)
        outputs = lowering.settled(outputs, [cotangents.array, totals.array])
        lowering.store(_row(dxs, 0, counter, row), outputs[carry + fixed :])
        cotangents.set(outputs[:carry])
        totals.set(outputs[carry : carry + fixed])
    lowering.add(For(counter, trail.steps, steps, is_reversed=True))
    return [*cotangents.current(), *totals.current(), *(Cell(dxs, i) for i in range(row * (loop.steps or 0)))]


def _states(lowering: Lowering, loop: Any, width: int) -> str:
    """Return the name of a new array with a row for each step of a loop."""
    if loop.condition is None:
        return lowering.array(width * loop.steps)
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
