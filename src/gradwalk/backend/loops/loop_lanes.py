"""Loops, their backward passes, and choices on a batch: each step is run for all samples before the next one.

Samples may take different numbers of steps: a step is run only for the samples that take it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.backend.base import Kernel
from gradwalk.backend.thread_pool import look_for_halt
from gradwalk.program.calls.loop import Loop, LoopVjp
from gradwalk.program.calls.switch import Switch
from gradwalk.program.code.checkpoint_plan import ADVANCE, BACK, SWEEP, CheckpointPlan, Policy, slots_for
from gradwalk.program.native.machine_code import prefix_keys
from gradwalk.program.program import Program

Number = Any  # a float, the same for all samples, or an array with a number for each
MakeKernel = Callable[[Program, Sequence[bool]], Kernel]

# The most bytes of carries that are kept for the backward pass of the samples that are run together, with
# checkpoint=None. If all carries take more, some of them are computed again.
CHECKPOINT_BYTES = 1 << 25
_MIN_CARRIES = 4  # that are kept even if they take more
LIKELY_STEPS = 10_000  # of a loop that does not say how many it takes at most


class Part:
    """A program that is run on a batch: see `Kernel.run`.

    Args:
        make: What makes kernels.
        program: The program.
        varies: For each of its inputs, whether it has a number for each sample.
    """

    def __init__(self, make: MakeKernel, program: Program, varies: Sequence[bool]) -> None:
        self._kernel = make(program, varies)
        self._outputs = len(program.outputs)

    def __str__(self) -> str:
        return str(self._kernel)

    @property
    def backends(self) -> dict[str, str]:
        """What runs it: see `Kernel.backends`."""
        return self._kernel.backends

    def __call__(
        self, uniform: Sequence[float], columns: Sequence[NDArray[Any]], samples: int, kind: type[Any]
    ) -> NDArray[Any]:
        """Return the outputs, one in each row.

        Args:
            uniform: The inputs that are the same for all samples.
            columns: The others, in rows of arrays.
            samples: How many samples there are.
            kind: The type of the numbers: float64 or float32.
        """
        look_for_halt()
        outputs = numpy.empty((self._outputs, samples), kind)
        numbers = numpy.array(uniform, numpy.float64)
        given = [rows.T for rows in columns if len(rows)]
        fixed = self._kernel.run(numbers, given, [outputs.T], samples, single=kind is numpy.float32)
        for position, number in zip(self._kernel.fixed, fixed.tolist(), strict=True):
            outputs[position] = number
        return outputs


def rows_of(numbers: Sequence[Number], samples: int, kind: type[Any]) -> NDArray[Any]:
    """Return numbers as rows of an array, one for each, with what is the same for all samples written out."""
    rows = numpy.empty((len(numbers), samples), kind)
    for row, number in zip(rows, numbers, strict=True):
        row[:] = number
    return rows


class _Given:
    """What a loop is given, for some samples: what is fixed, and the rows of steps; each as uniform or varying."""

    def __init__(self, fixed: Sequence[Number], rows: Sequence[Number], varies: _Varies, lanes: int, kind: Any) -> None:
        self.kind = kind
        self._varies = varies
        self._rows = rows
        self._lanes = lanes
        self.uniform = [x for x, does in zip(fixed, varies.fixed, strict=True) if not does]
        varying = [x for x, does in zip(fixed, varies.fixed, strict=True) if does]
        self.fixed = rows_of(varying, lanes, kind)

    def row(self, step: int) -> tuple[list[float], NDArray[Any]]:
        """Return the numbers of a step's row that are the same for all samples, and the others."""
        size = len(self._varies.row)
        numbers = list(zip(self._rows[step * size : (step + 1) * size], self._varies.row, strict=True))
        varying = [x for x, does in numbers if does]
        return [x for x, does in numbers if not does], rows_of(varying, self._lanes if varying else 0, self.kind)


class _Varies(NamedTuple):
    """Which operands of a loop have a number for each sample. Carries always have."""

    fixed: list[bool]
    row: list[bool]


_NO_LANES = numpy.empty(0, numpy.intp)


class _At(NamedTuple):
    """Where some of the samples are in a loop.

    Attributes:
        lanes: Which samples they are; a slice where they are all.
        carry: The carry of each of them, in columns.
    """

    lanes: NDArray[numpy.intp] | slice
    carry: NDArray[Any]

    def __len__(self) -> int:
        return self.carry.shape[1]

    def some(self, chosen: NDArray[numpy.bool_]) -> _At:
        """Return those of the samples that are chosen."""
        lanes = numpy.flatnonzero(chosen) if isinstance(self.lanes, slice) else self.lanes[chosen]
        return _At(lanes, self.carry[:, chosen])


class LoopLanes:
    """A loop on a batch.

    Args:
        make: What makes kernels.
        loop: The loop.
        varies: For each of its operands, whether it has a number for each sample.
    """

    def __init__(self, make: MakeKernel, loop: Loop, varies: Sequence[bool]) -> None:
        self.loop = loop
        carry, fixed, row, _ = loop.sizes
        of_rows = varies[carry + fixed :]
        self.varies = _Varies(list(varies[carry : carry + fixed]), [any(of_rows[i::row]) for i in range(row)])
        self._step = Part(make, loop.body, [False, *[True] * carry, *self.varies.fixed, *self.varies.row])
        self._condition: Part | None = None
        if loop.condition is not None:
            self._condition = Part(make, loop.condition, [*[True] * carry, *self.varies.fixed])

    def __str__(self) -> str:
        return f"{self.loop.described}:\n{self._step}"

    @property
    def backends(self) -> dict[str, str]:
        """What runs its parts: see `Kernel.backends`."""
        found = prefix_keys("step", self._step.backends)
        return found if self._condition is None else found | prefix_keys("condition", self._condition.backends)

    def run(self, operands: Sequence[Number], samples: int, kind: type[Any]) -> list[Number]:
        """Return the loop's results.

        Args:
            operands: Its operands.
            samples: How many samples there are.
            kind: The type of the numbers.

        Returns:
            For each result an array, with nan where the condition still holds after the last step that there may be.
        """
        carry = self.loop.sizes.carry
        given, at = self.entered(operands, samples, kind)
        last = numpy.empty((carry, samples), kind)
        outs: list[Number] = []
        for step in count():
            at, ended, lost = self.split(step, at, given)
            last[:, ended.lanes] = ended.carry
            last[:, lost.lanes] = numpy.nan
            if not len(at):
                break
            results = self.advanced(step, at, given)
            outs.extend(results[carry:])
            at = _At(at.lanes, results[:carry])
        return [*last, *outs]

    def entered(self, operands: Sequence[Number], samples: int, kind: type[Any]) -> tuple[_Given, _At]:
        """Return what the loop is given, and where it begins."""
        carry, fixed, _, _ = self.loop.sizes
        given = _Given(operands[carry : carry + fixed], operands[carry + fixed :], self.varies, samples, kind)
        return given, _At(slice(None), rows_of(operands[:carry], samples, kind))

    def split(self, step: int, at: _At, given: _Given) -> tuple[_At, _At, _At]:
        """Part samples into those that have this step, those that have ended, and those that should, but may not."""
        nothing = _At(_NO_LANES, at.carry[:, :0])
        if self._condition is None:
            return (at, nothing, nothing) if step < (self.loop.steps or 0) else (nothing, at, nothing)
        columns = [at.carry, given.fixed[:, at.lanes]]
        goes_on = self._condition(given.uniform, columns, len(at), given.kind)[0] != 0.0
        if step == self.loop.steps:
            return nothing, at.some(~goes_on), at.some(goes_on)
        if goes_on.all():
            return at, nothing, nothing
        return at.some(goes_on), at.some(~goes_on), nothing

    def advanced(self, step: int, at: _At, given: _Given) -> NDArray[Any]:
        """Return the results of a step: the next carries, and what the step gives."""
        uniform, rows = given.row(step)
        numbers = [self.loop.first + step, *given.uniform, *uniform]
        return self._step(numbers, [at.carry, given.fixed[:, at.lanes], rows], len(at), given.kind)

    def next_carry(self, step: int, at: _At, given: _Given) -> NDArray[Any]:
        """Return the carry after a step. It does not keep the other results of the step in memory."""
        results = self.advanced(step, at, given)
        return results[: self.loop.sizes.carry].copy() if self.loop.sizes.out else results


class LoopVjpLanes:
    """The backward pass through a loop on a batch.

    Args:
        make: What makes kernels.
        back: The backward pass.
        varies: For each of its operands, whether it has a number for each sample.
    """

    def __init__(self, make: MakeKernel, back: LoopVjp, varies: Sequence[bool]) -> None:
        self._back = back
        carry, fixed, _, out = back.loop.sizes
        self._forward = LoopLanes(make, back.loop, varies[: back.loop.inputs])
        numbers = [False, *[True] * carry, *self._forward.varies.fixed, *self._forward.varies.row]
        self._step = Part(make, back.body, [*numbers, *[True] * (carry + fixed + out)])

    def __str__(self) -> str:
        return f"{self._back.described}:\n{self._step}"

    @property
    def backends(self) -> dict[str, str]:
        """What runs its parts: see `Kernel.backends`."""
        return self._forward.backends | prefix_keys("step back", self._step.backends)

    def memory(self, samples: int) -> int:
        """Return the size in bytes of all carries that are kept, for the likely number of steps."""
        loop = self._back.loop
        carry_bytes = 8 * samples * loop.sizes.carry
        return carry_bytes * slots_for(_bounded_policy(loop, carry_bytes), likely_steps(loop))

    def run(self, operands: Sequence[Number], samples: int, kind: type[Any]) -> list[Number]:
        """Return the adjoints of the loop's operands: see `LoopLanes.run`."""
        loop = self._back.loop
        carry, fixed, row, out = loop.sizes
        seeds = operands[loop.inputs :]
        states = _ReversedStates(self._forward, operands[: loop.inputs], samples, kind)
        found = numpy.zeros((carry + fixed, samples), kind)
        found[:carry] = rows_of(seeds[:carry], samples, kind)
        of_rows: list[Number] = [0.0] * (row * (loop.steps or 0))
        for step, at in states:
            uniform, rows = states.given.row(step)
            of_step = rows_of(seeds[carry + step * out : carry + (step + 1) * out], samples, kind)
            columns = [at.carry, states.given.fixed[:, at.lanes], rows, found[:, at.lanes], of_step]
            numbers = [loop.first + step, *states.given.uniform, *uniform]
            results = self._step(numbers, columns, len(at), kind)
            found[:, at.lanes] = results[: carry + fixed]
            of_rows[step * row : (step + 1) * row] = results[carry + fixed :]
        found[:, states.lost] = numpy.nan
        return [*found, *of_rows]


def likely_steps(loop: Loop) -> int:
    """Return how many steps a loop may take, or is likely to take if it does not say."""
    return LIKELY_STEPS if loop.steps is None else loop.steps


def _bounded_policy(loop: Loop, carry_bytes: int) -> Policy:
    """Return the policy of a loop in a batch: None becomes the number of carries that fit in `CHECKPOINT_BYTES`."""
    if loop.memory is not None:
        return loop.memory
    return max(_MIN_CARRIES, CHECKPOINT_BYTES // max(1, carry_bytes))


class _ReversedStates:
    """The states of a batch before each step of a loop, from the last step to the first, by a `CheckpointPlan`.

    A state is the carries of the samples that take the step. Iterating gives each step with its state, once.

    Attributes:
        given: The fixed operands of the loop and the rows of its steps.
        lost: The samples that would have taken more steps than there may be.
    """

    def __init__(self, lanes: LoopLanes, operands: Sequence[Number], samples: int, kind: type[Any]) -> None:
        self._lanes = lanes
        self.given, start = lanes.entered(operands, samples, kind)
        policy = _bounded_policy(lanes.loop, start.carry.nbytes)
        self._kept: list[_At] = []  # the state in each slot in use
        self._counts: NDArray[numpy.intp] | None = None  # the number of steps of each sample, unless all take the same
        self.lost: NDArray[numpy.intp] | slice = _NO_LANES
        if lanes.loop.condition is None:
            self._plan = CheckpointPlan(policy, lanes.loop.steps or 0)
            self._kept.append(start)
        else:
            self._plan = CheckpointPlan(policy)
            self._plan.start(self._count(start, samples))

    def _count(self, at: _At, samples: int) -> int:
        """Run the loop, keep states as the plan says, and return the number of steps of the sample that takes most."""
        plan, kept = self._plan, self._kept
        counts = numpy.empty(samples, numpy.intp)
        for step in count():
            at, ended, lost = self._lanes.split(step, at, self.given)
            for some in (ended, lost):
                counts[some.lanes] = step
            if not len(at):
                break
            if step == plan.full:
                kept[:] = kept[: 2 * plan.thin() - 1 : 2]
            if plan.stride and step % plan.stride == 0:
                kept.append(at)
            at = _At(at.lanes, self._lanes.next_carry(step, at, self.given))
        self._counts, self.lost = counts, lost.lanes
        return step

    def __iter__(self) -> Iterator[tuple[int, _At]]:
        plan, kept = self._plan, self._kept
        while plan.next():
            begin, end = plan.begin, plan.end
            if plan.kind != BACK:
                del kept[plan.slot + 1 :]
                at = self._advanced(begin, end, keeps=plan.kind == SWEEP)
                if plan.kind == ADVANCE:
                    kept.append(at)
                else:
                    yield end, at
            if plan.kind == SWEEP:
                end -= 1
            if plan.kind in (SWEEP, BACK):
                for step in range(end, begin - 1, -1):
                    yield step, kept.pop()

    def _advanced(self, begin: int, end: int, *, keeps: bool) -> _At:
        """Run steps from the state that was kept last, before step `begin`, and return the state before step `end`."""
        at = self._kept[-1]
        for step in range(begin, end):
            if keeps and step > begin:
                self._kept.append(at)
            at = _At(at.lanes, self._lanes.next_carry(step, at, self.given))
            if self._counts is not None:
                goes_on = self._counts[at.lanes] > step + 1
                at = at if goes_on.all() else at.some(goes_on)
        return at


class SwitchLanes:
    """A choice on a batch: each program is run for the samples that it is chosen for.

    Args:
        make: What makes kernels.
        choice: The choice.
        varies: For each of its operands, whether it has a number for each sample.
    """

    def __init__(self, make: MakeKernel, choice: Switch, varies: Sequence[bool]) -> None:
        self._choice = choice
        self._varies = list(varies[1:])
        self._branches = [Part(make, branch, self._varies) for branch in choice.branches]

    def __str__(self) -> str:
        return f"{self._choice.described}:\n" + "\n".join(map(str, self._branches))

    @property
    def backends(self) -> dict[str, str]:
        """What runs its programs: see `Kernel.backends`."""
        named = [(f"branch {i}", branch) for i, branch in enumerate(self._branches)]
        return {name: text for part, branch in named for name, text in prefix_keys(part, branch.backends).items()}

    def run(self, operands: Sequence[Number], samples: int, kind: type[Any]) -> list[Number]:
        """Return the results of the choice: see `LoopLanes.run`."""
        chosen = rows_of(operands[:1], samples, kind)[0]
        numbers = list(zip(operands[1:], self._varies, strict=True))
        uniform = [x for x, does in numbers if not does]
        varying = rows_of([x for x, does in numbers if does], samples, kind)
        found = numpy.full((self._choice.outputs, samples), numpy.nan, kind)
        last = len(self._branches) - 1
        for i, branch in enumerate(self._branches):
            # Numbers between two branches belong to the first of them, as they do where there are no lanes.
            own = (chosen < i + 1 if i < last else chosen == chosen) & (chosen >= i if i else chosen == chosen)
            if own.all():
                return list(branch(uniform, [varying], samples, kind))
            if own.any():
                found[:, own] = branch(uniform, [varying[:, own]], int(own.sum()), kind)
        return list(found)
