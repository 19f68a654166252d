"""Loops, their ways back, and choices on a batch: each step is run for all samples before the next one.

Samples may take different numbers of steps: those that have come to their end are left out of the steps after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.backend.base import Kernel
from gradwalk.program.choice import Choice
from gradwalk.program.loop import Loop, LoopBack
from gradwalk.program.machine_code import under
from gradwalk.program.program import Program

Number = Any  # a float, the same for all samples, or an array with a number for each
MakeKernel = Callable[[Program, Sequence[bool]], Kernel]

# Bytes of carries that are kept for the way back. Where there are more, some of them are computed again.
ROOM = 1 << 25


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
        found = under("step", self._step.backends)
        return found if self._condition is None else found | under("condition", self._condition.backends)

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
        if self._condition is None:
            goes_on = numpy.full(len(at), step < (self.loop.steps or 0))
        else:
            goes_on = (
                self._condition(given.uniform, [at.carry, given.fixed[:, at.lanes]], len(at), given.kind)[0] != 0.0
            )
        none = numpy.zeros(len(at), bool)
        if self._condition is not None and step == self.loop.steps:
            return at.some(none), at.some(~goes_on), at.some(goes_on)
        if goes_on.all():
            return at, at.some(none), at.some(none)
        return at.some(goes_on), at if not goes_on.any() else at.some(~goes_on), at.some(none)

    def advanced(self, step: int, at: _At, given: _Given) -> NDArray[Any]:
        """Return the results of a step: the next carries, and what the step gives."""
        uniform, rows = given.row(step)
        numbers = [self.loop.first + step, *given.uniform, *uniform]
        return self._step(numbers, [at.carry, given.fixed[:, at.lanes], rows], len(at), given.kind)


class LoopBackLanes:
    """The way back through a loop on a batch.

    Args:
        make: What makes kernels.
        back: The way back.
        varies: For each of its operands, whether it has a number for each sample.
    """

    def __init__(self, make: MakeKernel, back: LoopBack, varies: Sequence[bool]) -> None:
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
        return self._forward.backends | under("step back", self._step.backends)

    def run(self, operands: Sequence[Number], samples: int, kind: type[Any]) -> list[Number]:
        """Return the adjoints of the loop's operands: see `LoopLanes.run`."""
        loop = self._back.loop
        carry, fixed, row, out = loop.sizes
        seeds = operands[loop.inputs :]
        trail = _Trail(self._forward, operands[: loop.inputs], samples, kind)
        found = numpy.zeros((carry + fixed, samples), kind)
        found[:carry] = rows_of(seeds[:carry], samples, kind)
        of_rows: list[Number] = [0.0] * (row * (loop.steps or 0))
        for step in range(trail.steps - 1, -1, -1):
            at = trail.at(step)
            uniform, rows = trail.given.row(step)
            of_step = rows_of(seeds[carry + step * out : carry + (step + 1) * out], samples, kind)
            columns = [at.carry, trail.given.fixed[:, at.lanes], rows, found[:, at.lanes], of_step]
            numbers = [loop.first + step, *trail.given.uniform, *uniform]
            results = self._step(numbers, columns, len(at), kind)
            found[:, at.lanes] = results[: carry + fixed]
            of_rows[step * row : (step + 1) * row] = results[carry + fixed :]
        found[:, trail.lost] = numpy.nan
        return [*found, *of_rows]


class _Trail:
    """Where a loop was before each of its steps: as much as there is room for, the rest computed again from that.

    Attributes:
        given: What the loop was given.
        steps: How many steps were taken for the sample that took most.
        lost: The samples that would have taken more than there may be.
    """

    def __init__(self, lanes: LoopLanes, operands: Sequence[Number], samples: int, kind: type[Any]) -> None:
        self._lanes = lanes
        self.given, at = lanes.entered(operands, samples, kind)
        self._most = max(4, ROOM // max(1, at.carry.nbytes))
        self._kept: dict[int, _At] = {}  # by step, in order
        stride = 1
        for step in count():
            at, _, lost = lanes.split(step, at, self.given)
            if not len(at):
                break
            if step % stride == 0:
                self._kept[step] = at
            if len(self._kept) > self._most:
                stride *= 2
                self._kept = {kept: where for kept, where in self._kept.items() if kept % stride == 0}
            at = self._after(step, at)
        self.steps, self.lost = step, lost.lanes

    def at(self, step: int) -> _At:
        """Return where the loop was before a step. They are asked for from the last to the first."""
        begin, at = self._kept.popitem()
        while begin > step:
            begin, at = self._kept.popitem()
        self._kept[begin] = at
        # As many again may be kept between the last one and here.
        stride = 1 + (step - begin) // max(1, 2 * self._most - len(self._kept))
        for between in range(begin + 1, step + 1):
            at = self._lanes.split(between, self._after(between - 1, at), self.given)[0]
            if between == step or (between - begin) % stride == 0:
                self._kept[between] = at
        return at

    def _after(self, step: int, at: _At) -> _At:
        return _At(at.lanes, self._lanes.advanced(step, at, self.given)[: self._lanes.loop.sizes.carry])


class ChoiceLanes:
    """A choice on a batch: each program is run for the samples that it is chosen for.

    Args:
        make: What makes kernels.
        choice: The choice.
        varies: For each of its operands, whether it has a number for each sample.
    """

    def __init__(self, make: MakeKernel, choice: Choice, varies: Sequence[bool]) -> None:
        self._choice = choice
        self._varies = list(varies[1:])
        self._branches = [Part(make, branch, self._varies) for branch in choice.branches]

    def __str__(self) -> str:
        return f"{self._choice.described}:\n" + "\n".join(map(str, self._branches))

    @property
    def backends(self) -> dict[str, str]:
        """What runs its programs: see `Kernel.backends`."""
        named = [(f"branch {i}", branch) for i, branch in enumerate(self._branches)]
        return {name: text for part, branch in named for name, text in under(part, branch.backends).items()}

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
