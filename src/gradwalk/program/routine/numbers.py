"""`Numbers`: many operands in NumPy arrays, so that operands of large calls are not handled one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy
from numpy.typing import NDArray

from gradwalk.program.routine.statements import Cell, Operand

OTHER = -1  # the group of operands that are not cells


class Groups:
    """Numbers the arrays of cells, together with the strides of the cells."""

    def __init__(self) -> None:
        self._keys: list[tuple[str, tuple[tuple[str, int], ...]]] = []
        self._numbers: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}

    def number(self, cell: Cell) -> int:
        """Return the group of a cell."""
        key = cell.array, cell.strides
        if key not in self._numbers:
            self._numbers[key] = len(self._keys)
            self._keys.append(key)
        return self._numbers[key]

    def cell(self, group: int, start: int) -> Cell:
        """Return a cell of a group."""
        array, strides = self._keys[group]
        return Cell(array, start, strides)


class Numbers(Sequence[Operand]):
    """A sequence of operands.

    Args:
        known: The groups of all cells.
        groups: The group of the cell of each operand, or `OTHER`.
        starts: The start of the cell of each operand.
        scalars: An array with the operands that are not cells, at their positions; None if all operands are cells.
    """

    def __init__(self, known: Groups, groups: NDArray[Any], starts: NDArray[Any], scalars: NDArray[Any] | None) -> None:
        self.known, self.groups, self.starts, self.scalars = known, groups, starts, scalars

    @classmethod
    def of(cls, known: Groups, operands: Sequence[Operand]) -> Numbers:
        """Return a sequence of operands as `Numbers`."""
        if isinstance(operands, Numbers):
            return operands
        groups = [known.number(one) if isinstance(one, Cell) else OTHER for one in operands]
        starts = [one.start if isinstance(one, Cell) else 0 for one in operands]
        scalars = numpy.empty(len(groups), object)
        scalars[:] = [None if isinstance(one, Cell) else one for one in operands]
        return cls(known, numpy.array(groups, numpy.int64), numpy.array(starts, numpy.int64), scalars)

    @classmethod
    def of_row(cls, known: Groups, array: str, count: int) -> Numbers:
        """Return the first cells of an array."""
        group = known.number(Cell(array, 0))
        return cls(known, numpy.full(count, group), numpy.arange(count), None)

    def __len__(self) -> int:
        return len(self.groups)

    @overload
    def __getitem__(self, at: int) -> Operand: ...
    @overload
    def __getitem__(self, at: slice) -> Numbers: ...
    def __getitem__(self, at: int | slice) -> Operand | Numbers:
        if isinstance(at, slice):
            scalars = None if self.scalars is None else self.scalars[at]
            return Numbers(self.known, self.groups[at], self.starts[at], scalars)
        group = int(self.groups[at])
        if group == OTHER:
            assert self.scalars is not None
            operand: Operand = self.scalars[at]
            return operand
        return self.known.cell(group, int(self.starts[at]))

    def __iter__(self) -> Iterator[Operand]:
        for i, (group, start) in enumerate(zip(self.groups.tolist(), self.starts.tolist(), strict=True)):
            yield self[i] if group == OTHER else self.known.cell(group, start)

    def __add__(self, more: Numbers) -> Numbers:
        """Return the operands of both sequences."""
        pairs = [(x.scalars if x.scalars is not None else numpy.full(len(x), None)) for x in (self, more)]
        groups = numpy.concatenate([self.groups, more.groups])
        return Numbers(self.known, groups, numpy.concatenate([self.starts, more.starts]), numpy.concatenate(pairs))

    @property
    def are_in_one_group(self) -> bool:
        """Whether all operands are cells of one group."""
        return len(self) > 0 and self.groups[0] != OTHER and bool((self.groups == self.groups[0]).all())

    @property
    def stride(self) -> int | None:
        """The distance of the operands if they are evenly spaced cells of a group; None if they are not."""
        if not self.are_in_one_group:
            return None
        steps = numpy.diff(self.starts)
        if not len(steps):
            return 1
        return int(steps[0]) if (steps == steps[0]).all() else None
