"""Lower loops and their reverse passes: `forward` and `backward`.

The steps run in the same order as in `LoopRunner` and `BackwardPass`, so the results are bitwise equal.

A reverse pass needs the carry before each step. Without checkpoints, the forward pass stores all carries, and the
intermediates that the reverse pass reads. With checkpoint="sqrt", the steps are split into about `sqrt(steps)`
segments, and the forward pass stores the carry before each segment. The reverse pass runs each segment again, and then
backwards. With other checkpoints, and for loops with a condition, the reverse pass follows a checkpoint plan, which
starts from the carry before step 0. If the reverse pass does not depend on the carry, the loop need not run first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.program.code.checkpoint_plan import slots_for
from gradwalk.program.routine.branches import with_branches
from gradwalk.program.routine.layout import Span, merged
from gradwalk.program.routine.lower_program import Changing, Lowering
from gradwalk.program.routine.numbers import Numbers
from gradwalk.program.routine.statements import (
    ActionCounters,
    Actions,
    Cell,
    Count,
    For,
    Grow,
    Lost,
    Operand,
    Product,
    Rest,
    While,
)

# The number of a step: the sum of counters, each times a factor.
Position = tuple[tuple[str, int], ...]
# For each number of a step's row: its cell in the first step, and the distance to its cell in the next step.
Columns = list[tuple[Cell, int]]


# The numbers that the reverse pass of a loop reads from the forward pass: the carry and the intermediates of each step;
# the carry before each segment; none, because the reverse pass follows a checkpoint plan; or nothing at all.
_ALL, _SEGMENTS, _PLAN, _NOTHING = "all", "segments", "plan", "nothing"


class States(NamedTuple):
    """Arrays with a row for each step: the carry before the step, and the intermediates of the step.

    Intermediates that do not vary have a separate array, because they keep the precision of float64.

    Attributes:
        arrays: The names of the arrays.
        widths: The length of a row in each array.
        columns: For each number of the state: its array, as an index of `arrays`, and its column.
    """

    arrays: Sequence[str]
    widths: Sequence[int]
    columns: Sequence[tuple[int, int]]

    def row(self, at: Position) -> list[Cell]:
        """Return the cells of the state at a position."""
        strides = [tuple([(counter, factor * width) for counter, factor in at]) for width in self.widths]
        return [Cell(self.arrays[i], column, strides[i]) for i, column in self.columns]

    def grow(self, lowering: Lowering, steps: int | str) -> None:
        """Append statements that enlarge arrays of `Lowering.growing_array` until a row for this step fits."""
        for array, width in zip(self.arrays, self.widths, strict=True):
            lowering.add(Grow(array, steps, width))


_NO_STATES = States((), (), ())


class Trail(NamedTuple):
    """The data that the reverse pass of a loop reads from the forward pass.

    Attributes:
        steps: The loop.
        kept: The numbers that the reverse pass reads: `_ALL`, `_SEGMENTS`, `_PLAN` or `_NOTHING`.
        states: The states of all steps, or before each segment; otherwise empty.
        step_count: The number of steps, or the counter that holds it.
        segment: The number of steps in a segment, or 0 if there are no segments.
        results: The results of the loop.
    """

    steps: _Steps
    kept: str
    states: States
    step_count: int | str
    segment: int
    results: Numbers

    def step_of(self, at: Position) -> tuple[str, Position] | None:
        """Return what `For.step_of` says about a loop over the steps at a position."""
        return (self.step_count, at) if isinstance(self.step_count, str) else None


class _Steps:
    """The steps of a loop.

    Args:
        lowering: The lowering that the steps are appended to.
        loop: The loop.
        operands: The operands of the loop.
        back: A reverse pass of the loop, or None.
        varies: Whether the carry varies.

    Attributes:
        back: As above.
        varies: As above.
        carry: The carry of the next step.
        consts: The constants of the loop.
        xs: The rows of all steps.
    """

    def __init__(self, lowering: Lowering, loop: Any, operands: Numbers, back: Any, *, varies: bool) -> None:
        size, fixed, row, _ = loop.sizes
        self._lowering, self._loop = lowering, loop
        self._stored = back.stored if back and _fits(lowering, loop, back.stored) else None
        self.back, self.varies = back, varies
        self.xs = _columns(lowering, operands[size + fixed :], row)
        consts = operands[size : size + fixed]
        flags = [varies] * size + [lowering.varies(x) for x in consts] if varies else []
        self._vary = [False, *flags, *(lowering.varies(x) for x, _ in self.xs)] if varies else []
        bodies = [loop.body.code, *([self._stored.forward.code] if self._stored else [])]
        spans = [span.moved(-1) for body in bodies for span in lowering.spans(body, self._vary)]
        spans = merged([*spans, *(lowering.spans(loop.condition.code, flags) if loop.condition else ())])
        self.carry = _changing(lowering, spans, 0, size, varies=varies)
        self.carry.set(operands[:size])
        self.consts = lowering.in_affine_cells(consts, _within(spans, size, fixed), is_exact=True)

    @property
    def stored(self) -> int:
        """The number of intermediates that a step can store."""
        return self._stored.width if self._stored else 0

    def stored_vary(self) -> list[bool]:
        """Return whether each intermediate that a step can store varies."""
        if not self._stored or not self.varies:
            return [False] * self.stored
        carry, _, _, out = self._loop.sizes
        code = self._stored.forward.code
        of_index = code.depending(self._vary)
        return [of_index[index] for index in code.outputs[carry + out :]]

    def states(self, rows: int | None, *, is_stored: bool) -> States:
        """Return arrays for the states of `rows` steps, or growing arrays; with the intermediates if `is_stored`."""
        vary = [self.varies] * self._loop.sizes.carry
        if is_stored:
            vary += self.stored_vary()
        kinds = sorted(set(vary), reverse=True)
        widths = [vary.count(kind) for kind in kinds]
        columns = [(0, 0)] * len(vary)
        free = [itertools.count() for _ in kinds]
        for i in numpy.argsort(self._order(is_stored=is_stored)).tolist():
            kind = kinds.index(vary[i])
            columns[i] = kind, next(free[kind])
        lowering, arrays = self._lowering, []
        for kind, width in zip(kinds, widths, strict=True):
            if rows is None:
                arrays.append(lowering.growing_array(varies=kind))
            else:
                arrays.append(lowering.array(width * rows, varies=kind))
        return States(arrays, widths, columns)

    def _order(self, *, is_stored: bool) -> NDArray[numpy.int64]:
        """Return the order in which the numbers of a state are stored, so that the reverse pass accesses neighbors."""
        carry, fixed, row, out = self._loop.sizes
        if not is_stored or not self._stored or self._lowering.lanes > 1:
            return numpy.arange(carry + (self.stored if is_stored else 0))
        spans = self._lowering.spans(self._stored.back.code, [])
        first = 1 + 2 * (carry + fixed) + row + out
        stored = [span.moved(carry) for span in _within(spans, first, self.stored)]
        accesses = [access for span in [*_within(spans, 1, carry), *stored] for access in span.accesses]
        return self._lowering.order(carry + self.stored, accesses)

    def step(self, now: list[Operand], at: Position, state: Sequence[Cell] = (), ys: str = "") -> None:
        """Append the step at a position.

        `now` is the carry. The carry and the intermediates are stored in the cells `state`, as far as there are cells.
        """
        lowering, loop = self._lowering, self._loop
        carry, _, _, out = loop.sizes
        is_stored = len(state) > carry
        body = self._stored.forward.code if is_stored else loop.body.code
        lowering.store(state[:carry], now[: len(state)])
        inputs = [counted(lowering, at, loop.first), *now, *self.consts, *moving(self.xs, at)]
        outputs = lowering.settled(lowering.program(body, inputs), [self.carry.array])
        if ys:
            lowering.store(row_of(ys, at, out), outputs[carry : carry + out])
        if is_stored:
            lowering.store(state[carry:], outputs[carry + out :])
        self.carry.set(outputs[:carry])


def forward(lowering: Lowering, loop: Any, operands: Numbers, back: Any, *, varies: bool) -> Trail:
    """Append a loop; return its trail. `back` is a reverse pass of the loop that follows, or None."""
    kept = _kept(lowering, loop) if back else _NOTHING
    steps = _Steps(lowering, loop, operands, back if kept != _PLAN else None, varies=varies)
    _, _, _, out = loop.sizes
    segment = math.isqrt(loop.steps) + 1 if kept == _SEGMENTS else 0
    states = _NO_STATES
    ys = lowering.array(out * loop.steps, varies=varies) if out else ""
    count: int | str = loop.steps
    if segment:
        states = steps.states(-(-loop.steps // segment), is_stored=False)
        _run_segments(lowering, steps, loop.steps, segment, states, ys)
    elif loop.condition is not None:
        states = steps.states(None, is_stored=True) if kept == _ALL else states
        count = _run_while(lowering, steps, loop, states)
    else:
        states = steps.states(loop.steps, is_stored=True) if kept == _ALL else states
        counter = lowering.name("i")
        with lowering.nested() as body:
            at: Position = ((counter, 1),)
            steps.step(steps.carry.current(), at, states.row(at), ys)
        lowering.add(For(counter, loop.steps, body))
    groups = lowering.groups
    results = Numbers.of(groups, steps.carry.current()) + Numbers.of_row(groups, ys, out * (loop.steps or 0))
    return Trail(steps, kept, states, count, segment, results)


def not_run(lowering: Lowering, loop: Any, operands: Numbers, *, varies: bool) -> Trail:
    """Return the trail of a loop that does not run before its reverse pass, which does not depend on the carry."""
    steps = _Steps(lowering, loop, operands, None, varies=varies)
    return Trail(steps, _NOTHING, _NO_STATES, loop.steps, 0, Numbers.of(lowering.groups, []))


def _run_while(lowering: Lowering, steps: _Steps, loop: Any, states: States) -> str:
    """Append a loop with a condition; return the counter, which is the number of steps after the loop."""
    counter = lowering.name("i")
    at: Position = ((counter, 1),)
    with lowering.nested() as test:
        now = steps.carry.current()
        [holds] = lowering.program(loop.condition.code, [*now, *steps.consts])
    with lowering.nested() as body:
        states.grow(lowering, counter)
        steps.step(now, at, states.row(at))
    lowering.add(While(counter, test, holds, loop.steps, body if steps.varies else with_branches(body)))
    _lose(lowering, counter, loop, steps.carry)
    return counter


def _lose(lowering: Lowering, counter: str, loop: Any, *groups: Changing) -> None:
    """Let samples that take too many steps have nan as result."""
    if lowering.varying and loop.steps is not None:
        with lowering.nested() as body:
            for group in groups:
                group.set([math.nan] * len(group))
        lowering.add(Lost(counter, body))


def _run_segments(lowering: Lowering, steps: _Steps, count: int, segment: int, states: States, ys: str) -> None:
    """Append all steps; store the carry before each segment."""
    outer, inner = lowering.name("i"), lowering.name("i")
    with lowering.nested() as body:
        now = steps.carry.current()
        lowering.store(states.row(((outer, 1),)), now)
        with lowering.nested() as part:
            steps.step(steps.carry.current(), ((outer, segment), (inner, 1)), (), ys)
        lowering.add(For(inner, Rest(outer, segment, count), part))
    lowering.add(For(outer, -(-count // segment), body))


def backward(lowering: Lowering, call: Any, trail: Trail, start: Sequence[Operand], seeds: Numbers) -> Numbers:
    """Append the reverse pass of a loop; return the cotangents of its operands. `start` is the carry before step 0."""
    loop = call.loop
    back = _StepsBack(lowering, call, trail, seeds)
    inner = lowering.name("i")
    if trail.kept == _SEGMENTS:
        _run_segments_back(lowering, back, trail)
    elif trail.kept == _PLAN:
        _run_plan(lowering, back, trail, start)
    else:
        at: Position = ((inner, 1),)
        with lowering.nested() as body:
            back.step(at, list(start) if trail.kept == _NOTHING else trail.states.row(at))
        lowering.add(For(inner, trail.step_count, body, is_reversed=True, step_of=trail.step_of(at)))
    if isinstance(trail.step_count, str):
        _lose(lowering, trail.step_count, loop, back.cotangents, back.totals)
    rows = loop.sizes.row * (loop.steps or 0)
    cotangents = Numbers.of(lowering.groups, [*back.cotangents.current(), *back.totals.current()])
    return cotangents + Numbers.of_row(lowering.groups, back.dxs, rows)


def _run_segments_back(lowering: Lowering, back: _StepsBack, trail: Trail) -> None:
    """Append the reverse pass of all segments. Each segment runs forward first, to store its carries."""
    outer, inner, reverse = lowering.name("i"), lowering.name("i"), lowering.name("i")
    loop = back.call.loop
    states = trail.steps.states(trail.segment, is_stored=back.is_stored)
    rest = Rest(outer, trail.segment, loop.steps)
    trail.steps.carry = trail.steps.carry.another()  # the results of the loop may still be needed
    with lowering.nested() as body:
        trail.steps.carry.set(trail.states.row(((outer, 1),)))
        with lowering.nested() as part:
            state = states.row(((inner, 1),))
            trail.steps.step(trail.steps.carry.current(), ((outer, trail.segment), (inner, 1)), state)
        lowering.add(For(inner, rest, part))
        with lowering.nested() as part:
            state = states.row(((reverse, 1),))
            back.step(((outer, trail.segment), (reverse, 1)), state)
        lowering.add(For(reverse, rest, part, is_reversed=True))
    lowering.add(For(outer, -(-loop.steps // trail.segment), body, is_reversed=True))


def _run_plan(lowering: Lowering, back: _StepsBack, trail: Trail, start: Sequence[Operand]) -> None:
    """Append the reverse pass of all steps, with the carries that a checkpoint plan keeps. Other steps run again."""
    loop, steps, varies = back.call.loop, trail.steps, trail.steps.varies
    counters = ActionCounters(*[lowering.name("i") for _ in ActionCounters._fields])
    forward, kept, reverse = lowering.name("i"), lowering.name("i"), lowering.name("i")
    width = loop.sizes.carry
    if isinstance(trail.step_count, str):
        rows, starts = lowering.growing_array(varies=varies), lowering.growing_array(varies=False)
        lowering.add(Grow(rows, 1, width))
        lowering.add(Grow(starts, 1, 1))
    else:
        count = 2 + slots_for(loop.memory, trail.step_count)
        rows, starts = lowering.array(width * count, varies=varies), lowering.array(count, varies=False)
    lowering.store([Cell(rows, width + i) for i in range(width)], start)
    lowering.store([Cell(starts, 1)], [0.0])
    steps.carry = steps.carry.another()  # the results of the loop may still be needed
    with lowering.nested() as body:
        if isinstance(trail.step_count, str):
            lowering.add(Grow(rows, counters.after, width))
            lowering.add(Grow(starts, counters.after, 1))
        steps.carry.set(row_of(rows, ((counters.top, 1),), width))
        with lowering.nested() as part:
            lowering.add(Product(kept, (forward, counters.keeps)))
            at: Position = ((counters.begin, 1), (forward, 1))
            steps.step(steps.carry.current(), at, row_of(rows, ((counters.base, 1), (kept, 1)), width))
        lowering.add(For(forward, counters.steps, part, step_of=trail.step_of(at)))
        lowering.store(row_of(rows, ((counters.after, 1),), width), steps.carry.current())
        number = lowering.name("v")
        lowering.add(Count(number, 0, ((counters.begin, 1), (counters.steps, 1))))
        lowering.store([Cell(starts, 0, ((counters.after, 1),))], [number])
        with lowering.nested() as part:
            at = ((counters.back_begin, 1), (reverse, 1))
            back.step(at, row_of(rows, ((counters.base, 1), (reverse, 1)), width))
        lowering.add(For(reverse, counters.backs, part, is_reversed=True, step_of=trail.step_of(at)))
    lowering.add(Actions(loop.memory, trail.step_count, starts, counters, body))


class _StepsBack:
    """The steps of a reverse pass.

    Attributes:
        call: The reverse pass.
        is_stored: Whether the forward pass stores the intermediates.
        cotangents: The cotangents of the carry.
        totals: The accumulated cotangents of the constants.
        dxs: The array of the cotangents of xs.
    """

    def __init__(self, lowering: Lowering, call: Any, trail: Trail, seeds: Numbers) -> None:
        self._lowering, self.call, self._trail = lowering, call, trail
        self.is_stored = bool(trail.steps.stored) and trail.steps.back is call
        carry, fixed, row, out = call.loop.sizes
        first = 1 + carry + fixed + row
        self._code = call.stored.back.code if self.is_stored else call.body.code
        varies = trail.steps.varies
        self._dys = _columns(lowering, seeds[carry:], out)
        spans = lowering.spans(self._code, self._flags() if varies else [])
        self._consts = lowering.in_affine_cells(trail.steps.consts, _within(spans, 1 + carry, fixed), is_exact=True)
        self.cotangents = _changing(lowering, spans, first, carry, varies=varies)
        self.cotangents.set(seeds[:carry])
        self.totals = _changing(lowering, spans, first + carry, fixed, varies=varies)
        self.totals.set([0.0] * fixed)
        self.dxs = lowering.array(row * call.loop.steps, varies=varies) if row else ""

    def _flags(self) -> list[bool]:
        """Return which inputs of the step vary."""
        lowering, steps = self._lowering, self._trail.steps
        carry, fixed, _, _ = self.call.loop.sizes
        consts = map(lowering.varies, steps.consts)
        xs, dys = ([lowering.varies(x) for x, _ in columns] for columns in (steps.xs, self._dys))
        stored = steps.stored_vary() if self.is_stored else []
        return [False, *[True] * carry, *consts, *xs, *[True] * (carry + fixed), *dys, *stored]

    def step(self, at: Position, state: Sequence[Operand]) -> None:
        """Append the step at a position. `state` has the carry, and the intermediates if they are stored."""
        lowering, call = self._lowering, self.call
        carry, fixed, row, _ = call.loop.sizes
        inputs = [
            counted(lowering, at, call.loop.first),
            *state[:carry],
            *self._consts,
            *moving(self._trail.steps.xs, at),
            *self.cotangents.current(),
            *self.totals.current(),
            *moving(self._dys, at),
            *(state[carry:] if self.is_stored else ()),
        ]
        outputs = lowering.settled(lowering.program(self._code, inputs), [self.cotangents.array, self.totals.array])
        if row:
            lowering.store(row_of(self.dxs, at, row), outputs[carry + fixed :])
        self.cotangents.set(outputs[:carry])
        self.totals.set(outputs[carry : carry + fixed])


def counted(lowering: Lowering, at: Position, first: int) -> str:
    """Append the number that a loop passes to the step at a position; return its variable."""
    name = lowering.name("v")
    lowering.add(Count(name, first, at))
    return name


def row_of(array: str, at: Position, width: int) -> list[Cell]:
    """Return the cells of a row in an array, at a position."""
    strides = tuple([(counter, factor * width) for counter, factor in at])
    return [Cell(array, i, strides) for i in range(width)]


def moving(columns: Columns, at: Position) -> list[Operand]:
    """Return the row of the step at a position."""
    return [first.moved(0, *((counter, factor * stride) for counter, factor in at)) for first, stride in columns]


def _columns(lowering: Lowering, operands: Numbers, width: int) -> Columns:
    """Return cells with the rows of all steps. The numbers are copied if a column is not in evenly spaced cells."""
    found: Columns = []
    for i in range(width):
        column = operands[i::width]
        stride, first = column.stride, column[0] if len(column) else 0.0
        if stride is None or not isinstance(first, Cell):
            return _copied_columns(lowering, operands, width)
        found.append((first, stride))
    return found


def _copied_columns(lowering: Lowering, operands: Numbers, width: int) -> Columns:
    """Return cells with copies of the rows of all steps. Columns that vary and other columns are in separate arrays."""
    columns = [operands[i::width] for i in range(width)]
    if len({any(map(lowering.varies, column)) for column in columns} if lowering.varying else ()) > 1:
        return [lowering.in_array(column) for column in columns]
    whole, distance = lowering.in_array(operands)
    return [(whole.moved(k * distance), width * distance) for k in range(width)]


def _fits(lowering: Lowering, loop: Any, stored: Any) -> bool:
    """Return whether the intermediates of all steps fit in memory. A `while_loop` has no known number of steps."""
    return bool(stored) and (
        loop.condition is not None or _bytes(lowering, loop.steps * stored.width) <= lowering.memory
    )


def _bytes(lowering: Lowering, numbers: int) -> int:
    """Return the size of an array with numbers that vary."""
    return 8 * lowering.lanes * numbers


def _carries_fit(lowering: Lowering, loop: Any, count: int) -> bool:
    """Return whether some carries fit in memory. For one sample, the checkpoint policy alone limits their number."""
    return lowering.lanes == 1 or _bytes(lowering, count * loop.sizes.carry) <= lowering.memory


def _kept(lowering: Lowering, loop: Any) -> str:
    """Return which numbers of the forward pass the reverse pass of a loop reads: `_ALL`, `_SEGMENTS` or `_PLAN`."""
    policy, steps = loop.memory, loop.steps
    if loop.condition is not None:
        return _ALL if policy is None else _PLAN
    if policy is None or (policy != "sqrt" and slots_for(policy, steps) == steps):
        return _ALL if _carries_fit(lowering, loop, steps) else _SEGMENTS
    if policy == "sqrt" or not _carries_fit(lowering, loop, slots_for(policy, steps)):
        return _SEGMENTS
    return _PLAN


def _changing(lowering: Lowering, spans: Sequence[Span], start: int, count: int, *, varies: bool) -> Changing:
    """Return a group for `count` inputs of a step, beginning with input `start`: an array if it is in a span."""
    is_array = any(span.least < start + count and span.greatest >= start for span in spans)
    accesses = [access for span in _within(spans, start, count) for access in span.accesses]
    return Changing(lowering, count, is_array=is_array, varies=varies, accesses=accesses)


def _within(spans: Sequence[Span], start: int, count: int) -> list[Span]:
    """Return the spans inside `count` inputs, beginning with input `start`, counted from this input."""
    return [span.moved(-start) for span in spans if start <= span.least and span.greatest < start + count]
