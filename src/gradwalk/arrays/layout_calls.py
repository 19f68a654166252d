"""Calls that move the numbers of arrays without computing anything: slices, reshapes, and conversions from numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from gradwalk.arrays.kinds import Allocate, ArrayKind, Operand, WholeCall, new_array
from gradwalk.program.calls.call import append_call, instantiate_zeros
from gradwalk.program.tape import NO_INDEX, Indices, Tape


class LayoutCall(WholeCall):
    """Base class of these calls. They are linear, and their derivatives are calls of the same or the inverse kind."""

    def transposed(self) -> LayoutCall:
        """Return the call that maps the cotangents of the results to the cotangents of the operands."""
        raise NotImplementedError

    def zeros(self, tape: Tape, tangents: Indices) -> Indices:
        """Replace each `NO_INDEX` in the tangents of the operands by an index of zeros."""
        raise NotImplementedError

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the same call on the tangents: see `Call.jvp`."""
        if all(index == NO_INDEX for index in tangents):
            return [NO_INDEX] * self.outputs
        return append_call(self, tape, self.zeros(tape, tangents))

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the transposed call on the cotangents: see `Call.vjp`."""
        back = self.transposed()
        return append_call(back, tape, back.zeros(tape, adjoints))


class _OneArray(LayoutCall):
    """A call that maps one array to one array."""

    inputs = 1

    def zeros(self, tape: Tape, tangents: Indices) -> Indices:
        """Return the tangents, because a single one is not zero: see `LayoutCall.zeros`."""
        return tangents


class Slice(_OneArray):
    """A call that selects rows of an array.

    Args:
        kind: The kind of the array.
        selected: The rows.
    """

    name = "slice"
    is_view = True

    def __init__(self, kind: ArrayKind, selected: slice) -> None:
        super().__init__([kind._replace(rows=len(range(*selected.indices(kind.rows))))])
        self._kind, self._selected = kind, selected

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return a view of the selected rows."""
        [array] = operands
        return [array[self._selected]]  # type: ignore[index]

    def transposed(self) -> Unslice:
        """Return the call that puts cotangents of the rows in an array of zeros."""
        return Unslice(self._kind, self._selected)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the indices of the selected rows: see `Call.expanded`."""
        found = []
        for row in range(*self._selected.indices(self._kind.rows)):
            found += operands[0][row * self._kind.width : (row + 1) * self._kind.width]
        return [found]


class Unslice(_OneArray):
    """A call that makes an array of zeros and replaces some of its rows.

    Args:
        kind: The kind of the new array.
        selected: The rows to replace.
    """

    name = "unslice"

    def __init__(self, kind: ArrayKind, selected: slice) -> None:
        super().__init__([kind])
        self._kind, self._selected = kind, selected

    @property
    def adding(self) -> AddRows:
        """The call that adds the result to another array."""
        return AddRows(self._kind, self._selected)

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the new array."""
        array = empty(self._kind)
        array.fill(0.0)
        [array[self._selected]] = operands
        return [array]

    def transposed(self) -> Slice:
        """Return the call that selects the rows."""
        return Slice(self._kind, self._selected)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the indices of the numbers and of zeros: see `Call.expanded`."""
        width = self._kind.width
        found = [tape.constant(0.0)] * self._kind.size
        for i, row in enumerate(range(*self._selected.indices(self._kind.rows))):
            found[row * width : (row + 1) * width] = operands[0][i * width : (i + 1) * width]
        return [found]


class AddRows(WholeCall):
    """A call that adds an array to some rows of another array: the sum of the latter and the result of `Unslice`.

    Args:
        kind: The kind of the array.
        selected: The rows.
    """

    name = "add_rows"
    inputs = 2
    overwritable = 1

    def __init__(self, kind: ArrayKind, selected: slice) -> None:
        super().__init__([kind])
        self._kind, self._selected = kind, selected

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the sum, in the memory of the array if `empty` returns this array."""
        array, part = operands
        found = empty(self._kind)
        if found is not array:
            found[...] = array
        with numpy.errstate(all="ignore"):  # inf and nan are valid results
            found[self._selected] += part
        return [found]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Return the cotangent of the sum, and append its rows: see `Call.vjp`."""
        return [*adjoints, tape.call(Slice(self._kind, self._selected), adjoints)]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the same call on the tangents: see `Call.jvp`."""
        of_array, of_part = tangents
        if of_part == NO_INDEX:
            return [of_array]
        if of_array == NO_INDEX:
            return [tape.call(Unslice(self._kind, self._selected), [of_part])]
        return [tape.call(self, [of_array, of_part])]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the sums of the numbers in these rows: see `Call.expanded`."""
        found, width = list(operands[0]), self._kind.width
        for i, row in enumerate(range(*self._selected.indices(self._kind.rows))):
            for column in range(width):
                at = row * width + column
                found[at] = tape.append("add", found[at], operands[1][i * width + column])
        return [found]


class Reshape(_OneArray):
    """A call that distributes the numbers of an array over rows of another width.

    Args:
        before: The kind of the operand.
        after: The kind of the result.
    """

    name = "reshape"
    is_view = True

    def __init__(self, before: ArrayKind, after: ArrayKind) -> None:
        super().__init__([after])
        self._before, self._after = before, after

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the numbers in rows of the new width."""
        [array] = operands
        return [array.reshape(self._after)]  # type: ignore[union-attr]

    def transposed(self) -> Reshape:
        """Return the call that restores the rows."""
        return Reshape(self._after, self._before)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the same indices: see `Call.expanded`."""
        return operands


class MoveRows(_OneArray):
    """A call that makes an axis of an array the axis of rows, or moves the axis of rows back.

    Args:
        shape: The shape of the array in C order.
        axis: The axis.
        is_back: Whether to move the rows back. The result, or the operand if `is_back`, has one row for each index of
            the axis; the other one has one row for each index of the first axis of `shape`.
    """

    name = "move_rows"
    is_view = True

    def __init__(self, shape: tuple[int, ...], axis: int, *, is_back: bool = False) -> None:
        self._shape, self._axis, self._is_back = shape, axis, is_back
        size = math.prod(shape)
        rows = shape[0] if is_back else shape[axis]
        self._kind = ArrayKind(rows, size // rows)
        super().__init__([self._kind])

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return a view with the new rows, or a copy."""
        return [self._moved(numpy.asarray(operands[0]))]

    def _moved(self, array: Any) -> Any:
        if not self._is_back:
            return numpy.moveaxis(array.reshape(self._shape), self._axis, 0).reshape(self._kind)
        rows_first = (self._shape[self._axis], *self._shape[: self._axis], *self._shape[self._axis + 1 :])
        return numpy.moveaxis(array.reshape(rows_first), 0, self._axis).reshape(self._kind)

    def transposed(self) -> MoveRows:
        """Return the call that moves the rows the other way."""
        return MoveRows(self._shape, self._axis, is_back=not self._is_back)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the same indices in another order: see `Call.expanded`."""
        return [self._moved(numpy.array(operands[0])).ravel().tolist()]


class Unpack(LayoutCall):
    """A call whose results are the numbers of an array.

    Args:
        kind: The kind of the array.
    """

    name = "unpack"
    inputs = 1

    def __init__(self, kind: ArrayKind) -> None:
        super().__init__([None] * kind.size)
        self._kind, self.count = kind, kind.size

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the numbers."""
        numbers: list[Operand] = list(numpy.ravel(operands[0]).tolist())
        return numbers

    def transposed(self) -> Pack:
        """Return the call that puts the cotangents in an array."""
        return Pack(self._kind)

    def zeros(self, tape: Tape, tangents: Indices) -> Indices:
        """Return the tangent, because a single one is not zero: see `LayoutCall.zeros`."""
        return tangents

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the same indices: see `Call.expanded`."""
        found: list[Any] = operands[0]
        return found


class Pack(LayoutCall):
    """A call that puts numbers in an array.

    Args:
        kind: The kind of the array.
    """

    name = "pack"

    def __init__(self, kind: ArrayKind) -> None:
        super().__init__([kind])
        self._kind, self.count = kind, kind.size
        self.inputs = kind.size

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the array."""
        found = empty(self._kind)
        found[...] = numpy.array(operands, numpy.float64).reshape(self._kind)
        return [found]

    def transposed(self) -> Unpack:
        """Return the call whose results are the cotangents of the numbers."""
        return Unpack(self._kind)

    def zeros(self, tape: Tape, tangents: Indices) -> Indices:
        """Return the tangents with the constant 0 for missing ones: see `LayoutCall.zeros`."""
        return instantiate_zeros(tape, tangents)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the same indices, as an array: see `Call.expanded`."""
        return [operands]
