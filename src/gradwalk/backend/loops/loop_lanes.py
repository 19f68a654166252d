"""Loops, their reverse passes, and switches on a batch: each step runs for all samples before the next step.

Samples may take different numbers of steps: each step runs only for the samples that are still in the loop.
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
from gradwalk.program.native.policy import prefix_keys
from gradwalk.program.program import Program

Number = Any  # a float that is the same for all samples, or an array with one number per sample
MakeKernel = Callable[[Program, Sequence[bool]], Kernel]

# Maximum size in bytes of the carries that a loop with checkpoint=None keeps for all samples that run together. If the
# carries of all steps need more, some carries are recomputed.
CHECKPOINT_BYTES = 1 << 25
_MIN_CARRIES = 4  # a loop keeps at least this many carries, even if they need more than CHECKPOINT_BYTES
LIKELY_STEPS = 10_000  # assumed number of steps of a loop without a maximum


class Part:
    """A program and its kernel, made by `make`. `varies` tells which inputs have one number per sample."""

    def __init__(self, make: MakeKernel, program: Program, varies: Sequence[bool]) -> None:
        self._kernel = make(program, varies)
        self._outputs = len(program.outputs)

    def __str__(self) -> str:
        return str(self._kernel)

    @property
    def backends(self) -> dict[str, str]:
        """The backends of the kernel: see `Kernel.backends`."""
        return self._kernel.backends

    def __call__(
        self, uniform: Sequence[float], columns: Sequence[NDArray[Any]], samples: int, kind: type[Any]
    ) -> NDArray[Any]:
        """Run the program and return its outputs, an array of shape (outputs, samples).

        Args:
            uniform: Inputs that are the same for all samples.
            columns: Inputs that vary, in order: arrays of shape (inputs, samples).
            samples: Number of samples.
            kind: float64 or float32.
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
    """Stack numbers into an array of shape (numbers, samples); a uniform number is repeated for all samples."""
    rows = numpy.empty((len(numbers), samples), kind)
    for row, number in zip(rows, numbers, strict=True):
        row[:] = number
    return rows


class _Given:
    """The constants and xs of a loop for some samples, each split into uniform and varying values."""

    def __init__(self, fixed: Sequence[Number], rows: Sequence[Number], varies: _Varies, lanes: int, kind: Any) -> None:
        self.kind = kind
        self._varies = varies
        self._rows = rows
        self._lanes = lanes
        self.uniform = [x for x, does in zip(fixed, varies.fixed, strict=True) if not does]
        varying = [x for x, does in zip(fixed, varies.fixed, strict=True) if does]
        self.fixed = rows_of(varying, lanes, kind)

    def row(self, step: int) -> tuple[list[float], NDArray[Any]]:
        """Return the uniform values and the varying values of a step's slice of xs."""
        return _split_row(self._rows, self._varies.row, step, self._lanes, self.kind)


class _Varies(NamedTuple):
    """Whether each constant, and each element of a step's slice of xs, varies over the batch. Carries always vary."""

    fixed: list[bool]
    row: list[bool]


def _columns_vary(varies: Sequence[bool], width: int) -> list[bool]:
    """Return whether each element of a step's slice varies over the batch in any step."""
    return [any(varies[i::width]) for i in range(width)]


def _split_row(
    rows: Sequence[Number], varies: Sequence[bool], step: int, lanes: int, kind: type[Any]
) -> tuple[list[float], NDArray[Any]]:
    """Return the uniform values and the varying values of a step's slice of `rows`."""
    size = len(varies)
    numbers = list(zip(rows[step * size : (step + 1) * size], varies, strict=True))
    varying = [x for x, does in numbers if does]
    return [x for x, does in numbers if not does], rows_of(varying, lanes if varying else 0, kind)


_NO_LANES = numpy.empty(0, numpy.intp)


class _At(NamedTuple):
    """The loop state of some samples.

    Attributes:
        lanes: Indices of the samples; `slice(None)` for all samples.
        carry: Carries of these samples, an array of shape (carry, samples).
    """

    lanes: NDArray[numpy.intp] | slice
    carry: NDArray[Any]

    def __len__(self) -> int:
        return self.carry.shape[1]

    def some(self, chosen: NDArray[numpy.bool_]) -> _At:
        """Select samples by a boolean mask."""
        lanes = numpy.flatnonzero(chosen) if isinstance(self.lanes, slice) else self.lanes[chosen]
        return _At(lanes, self.carry[:, chosen])


class LoopLanes:
    """A loop on a batch, with kernels made by `make`. `varies` tells which operands have one number per sample."""

    def __init__(self, make: MakeKernel, loop: Loop, varies: Sequence[bool]) -> None:
        self.loop = loop
        carry, fixed, row, _ = loop.sizes
        self.varies = _Varies(list(varies[carry : carry + fixed]), _columns_vary(varies[carry + fixed :], row))
        self._step = Part(make, loop.body, [False, *[True] * carry, *self.varies.fixed, *self.varies.row])
        self._condition: Part | None = None
        if loop.condition is not None:
            self._condition = Part(make, loop.condition, [*[True] * carry, *self.varies.fixed])

    def __str__(self) -> str:
        return f"{self.loop.described}:\n{self._step}"

    @property
    def backends(self) -> dict[str, str]:
        """The backends of the step and the condition: see `Kernel.backends`."""
        found = prefix_keys("step", self._step.backends)
        return found if self._condition is None else found | prefix_keys("condition", self._condition.backends)

    def run(self, operands: Sequence[Number], samples: int, kind: type[Any]) -> list[Number]:
        """Run the loop; return one array per result, with nan for samples that exceed the maximum number of steps."""
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
        """Return the constants and xs, and the state before the first step."""
        carry, fixed, _, _ = self.loop.sizes
        given = _Given(operands[carry : carry + fixed], operands[carry + fixed :], self.varies, samples, kind)
        return given, _At(slice(None), rows_of(operands[:carry], samples, kind))

    def split(self, step: int, at: _At, given: _Given) -> tuple[_At, _At, _At]:
        """Split the samples: those that take this step, those whose loop has ended, those that exceed the maximum."""
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
        """Run a step and return the next carries, followed by the slices of ys that the step computed."""
        uniform, rows = given.row(step)
        numbers = [self.loop.first + step, *given.uniform, *uniform]
        return self._step(numbers, [at.carry, given.fixed[:, at.lanes], rows], len(at), given.kind)

    def next_carry(self, step: int, at: _At, given: _Given) -> NDArray[Any]:
        """Run a step and return the next carries. The slices of ys are not kept in memory."""
        results = self.advanced(step, at, given)
        return results[: self.loop.sizes.carry].copy() if self.loop.sizes.out else results


class LoopVjpLanes:
    """The reverse pass of a loop on a batch. For the arguments, see `LoopLanes`."""

    def __init__(self, make: MakeKernel, back: LoopVjp, varies: Sequence[bool]) -> None:
        self._back = back
        carry, fixed, _, out = back.loop.sizes
        self._forward = LoopLanes(make, back.loop, varies[: back.loop.inputs])
        numbers = [False, *[True] * carry, *self._forward.varies.fixed, *self._forward.varies.row]
        self._dys_vary = _columns_vary(varies[back.loop.inputs + carry :], out)
        self._step = Part(make, back.body, [*numbers, *[True] * (carry + fixed), *self._dys_vary])

    def __str__(self) -> str:
        return f"{self._back.described}:\n{self._step}"

    @property
    def backends(self) -> dict[str, str]:
        """The backends of the loop and the reverse step: see `Kernel.backends`."""
        return self._forward.backends | prefix_keys("step back", self._step.backends)

    def memory(self, samples: int) -> int:
        """Return the size in bytes of all carries that a loop with `likely_steps` steps keeps."""
        loop = self._back.loop
        carry_bytes = 8 * samples * loop.sizes.carry
        return carry_bytes * slots_for(_bounded_policy(loop, carry_bytes), likely_steps(loop))

    def run(self, operands: Sequence[Number], samples: int, kind: type[Any]) -> list[Number]:
        """Return the cotangents of the loop's operands: see `LoopLanes.run`."""
        loop = self._back.loop
        carry, fixed, row, _ = loop.sizes
        seeds = operands[loop.inputs :]
        states = _ReversedStates(self._forward, operands[: loop.inputs], samples, kind)
        found = numpy.zeros((carry + fixed, samples), kind)
        found[:carry] = rows_of(seeds[:carry], samples, kind)
        of_rows: list[Number] = [0.0] * (row * (loop.steps or 0))
        for step, at in states:
            uniform, rows = states.given.row(step)
            uniform_dys, dys = _split_row(seeds[carry:], self._dys_vary, step, samples, kind)
            columns = [at.carry, states.given.fixed[:, at.lanes], rows, found[:, at.lanes], dys]
            numbers = [loop.first + step, *states.given.uniform, *uniform, *uniform_dys]
            results = self._step(numbers, columns, len(at), kind)
            found[:, at.lanes] = results[: carry + fixed]
            of_rows[step * row : (step + 1) * row] = results[carry + fixed :]
        found[:, states.lost] = numpy.nan
        return [*found, *of_rows]


def likely_steps(loop: Loop) -> int:
    """Return the maximum number of steps of a loop, or `LIKELY_STEPS` if the number is unlimited."""
    return LIKELY_STEPS if loop.steps is None else loop.steps


def _bounded_policy(loop: Loop, carry_bytes: int) -> Policy:
    """Return the checkpoint policy of a loop. Replace None by the number of carries that fit in `CHECKPOINT_BYTES`."""
    if loop.memory is not None:
        return loop.memory
    return max(_MIN_CARRIES, CHECKPOINT_BYTES // max(1, carry_bytes))


class _ReversedStates:
    """The states of a batch before each step of a loop, from the last step to the first.

    A `CheckpointPlan` decides which states are kept and which are recomputed. A state contains the carries of the
    samples that take the step. The object can be iterated once and yields (step, state).

    Attributes:
        given: The constants and xs of the loop.
        lost: Indices of the samples that would exceed the maximum number of steps.
    """

    def __init__(self, lanes: LoopLanes, operands: Sequence[Number], samples: int, kind: type[Any]) -> None:
        self._lanes = lanes
        self.given, start = lanes.entered(operands, samples, kind)
        policy = _bounded_policy(lanes.loop, start.carry.nbytes)
        self._kept: list[_At] = []  # the kept states, one per slot in use
        self._counts: NDArray[numpy.intp] | None = None  # steps per sample; None if all take the same number
        self.lost: NDArray[numpy.intp] | slice = _NO_LANES
        if lanes.loop.condition is None:
            self._plan = CheckpointPlan(policy, lanes.loop.steps or 0)
            self._kept.append(start)
        else:
            self._plan = CheckpointPlan(policy)
            self._plan.start(self._count(start, samples))

    def _count(self, at: _At, samples: int) -> int:
        """Run the loop, keep states as planned, and return the largest number of steps of any sample."""
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
        """Run the steps from `begin` to `end` - 1, starting at the last kept state; return the state before `end`."""
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
    """A switch on a batch. Each branch runs for the samples that select it. For the arguments, see `LoopLanes`."""

    def __init__(self, make: MakeKernel, choice: Switch, varies: Sequence[bool]) -> None:
        self._choice = choice
        self._varies = list(varies[1:])
        self._branches = [Part(make, branch, self._varies) for branch in choice.branches]

    def __str__(self) -> str:
        return f"{self._choice.described}:\n" + "\n".join(map(str, self._branches))

    @property
    def backends(self) -> dict[str, str]:
        """The backends of the branches: see `Kernel.backends`."""
        named = [(f"branch {i}", branch) for i, branch in enumerate(self._branches)]
        return {name: text for part, branch in named for name, text in prefix_keys(part, branch.backends).items()}

    def run(self, operands: Sequence[Number], samples: int, kind: type[Any]) -> list[Number]:
        """Run the switch and return one array per result, with nan for samples whose index is nan."""
        chosen = rows_of(operands[:1], samples, kind)[0]
        numbers = list(zip(operands[1:], self._varies, strict=True))
        uniform = [x for x, does in numbers if not does]
        varying = rows_of([x for x, does in numbers if does], samples, kind)
        found = numpy.full((self._choice.outputs, samples), numpy.nan, kind)
        last = len(self._branches) - 1
        for i, branch in enumerate(self._branches):
            # As outside of batches, an index between i and i + 1 selects branch i.
            own = (chosen < i + 1 if i < last else chosen == chosen) & (chosen >= i if i else chosen == chosen)
            if own.all():
                return list(branch(uniform, [varying], samples, kind))
            if own.any():
                found[:, own] = branch(uniform, [varying[:, own]], int(own.sum()), kind)
        return list(found)
