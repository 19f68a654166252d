"""Linear calls on arrays: selections, assignments, reshapes, cumulative sums, and conversions from numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.arrays.kinds import Allocate, ArrayKind, Operand, WholeCall, new_array, with_zeros
from gradwalk.base.cached import cached_property
from gradwalk.program.calls.call import append_call, instantiate_zeros
from gradwalk.program.tape import NO_INDEX, Indices, Tape

RowIndices = slice | NDArray[numpy.intp]  # which rows of an array are selected, in this order


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

    def with_gaps(self, operands: Indices) -> Indices:
        """Return all operands: see `WholeCall.with_gaps`."""
        return operands

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

    Attributes:
        rows: The same rows.
    """

    name = "unslice"

    def __init__(self, kind: ArrayKind, selected: slice) -> None:
        super().__init__([kind])
        self._kind, self.rows = kind, selected

    @property
    def adding(self) -> AddRows:
        """The call that adds the result to another array."""
        return AddRows(self._kind, self.rows)

    def with_gaps(self, operands: Indices) -> Indices:
        """Return no operand: there are always gaps. See `WholeCall.with_gaps`."""
        return []

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the new array."""
        array = empty(self._kind)
        array.fill(0.0)
        [array[self.rows]] = operands
        return [array]

    def transposed(self) -> Slice:
        """Return the call that selects the rows."""
        return Slice(self._kind, self.rows)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the indices of the numbers and of zeros: see `Call.expanded`."""
        width = self._kind.width
        found = [tape.constant(0.0)] * self._kind.size
        for i, row in enumerate(range(*self.rows.indices(self._kind.rows))):
            found[row * width : (row + 1) * width] = operands[0][i * width : (i + 1) * width]
        return [found]


class AddRows(WholeCall):
    """A call that adds an array to some rows of another array: the sum of the latter and the result of `Unslice`.

    Args:
        kind: The kind of the array.
        selected: The rows.

    Attributes:
        rows: The same rows.
    """

    name = "add_rows"
    inputs = 2
    overwritable = 1

    def __init__(self, kind: ArrayKind, selected: slice) -> None:
        super().__init__([kind])
        self._kind, self.rows = kind, selected

    def with_gaps(self, operands: Indices) -> Indices:
        """Return the first operand, which has all rows: see `WholeCall.with_gaps`."""
        return operands[:1]

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the sum, in the memory of the array if `empty` returns this array."""
        array, part = operands
        found = empty(self._kind)
        if found is not array:
            found[...] = array
        with numpy.errstate(all="ignore"):  # inf and nan are valid results
            found[self.rows] += part
        return [found]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Return the cotangent of the sum, and append its rows: see `Call.vjp`."""
        return [*adjoints, tape.call(Slice(self._kind, self.rows), adjoints)]

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Append the same call on the tangents: see `Call.jvp`."""
        of_array, of_part = tangents
        if of_part == NO_INDEX:
            return [of_array]
        if of_array == NO_INDEX:
            return [tape.call(Unslice(self._kind, self.rows), [of_part])]
        return [tape.call(self, [of_array, of_part])]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the sums of the numbers in these rows: see `Call.expanded`."""
        found, width = list(operands[0]), self._kind.width
        for i, row in enumerate(range(*self.rows.indices(self._kind.rows))):
            for column in range(width):
                at = row * width + column
                found[at] = tape.append("add", found[at], operands[1][i * width + column])
        return [found]


class Gather(_OneArray):
    """A call that selects rows of an array by their indices, which may be repeated.

    Args:
        kind: The kind of the array.
        indices: The indices, which are not negative.
    """

    name = "gather"

    def __init__(self, kind: ArrayKind, indices: NDArray[numpy.intp]) -> None:
        super().__init__([kind._replace(rows=len(indices))])
        self._kind, self._indices = kind, indices

    def with_gaps(self, operands: Indices) -> Indices:
        """Return all operands: see `WholeCall.with_gaps`."""
        return operands

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the selected rows."""
        array = numpy.asarray(operands[0])
        found = empty(self.kinds[0])
        for column in range(self._kind.width):
            numpy.take(array[:, column], self._indices, out=found[:, column], mode="clip")
        return [found]

    def transposed(self) -> Scatter:
        """Return the call that adds the cotangents of equal rows."""
        return Scatter(self._kind, self._indices)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the indices of the selected rows: see `Call.expanded`."""
        rows = numpy.array(operands[0]).reshape(self._kind)
        return [rows[self._indices].ravel().tolist()]


class Scatter(_OneArray):
    """A call that makes an array of zeros and adds rows to it, one for each index.

    Args:
        kind: The kind of the new array.
        indices: The index of each row, which are not negative and may be repeated.
    """

    name = "scatter"

    def __init__(self, kind: ArrayKind, indices: NDArray[numpy.intp]) -> None:
        super().__init__([kind])
        self._kind, self._indices = kind, indices

    def with_gaps(self, operands: Indices) -> Indices:
        """Return no operand: there are always gaps. See `WholeCall.with_gaps`."""
        return []

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the sums, added in the order of the rows."""
        array = numpy.asarray(operands[0])
        found = empty(self._kind)
        for column in range(self._kind.width):
            found[:, column] = numpy.bincount(self._indices, array[:, column], self._kind.rows)
        return [found]

    def of_numbers(self, reshape: Reshape) -> ScatterNumbers | None:
        """Return a call that does the same as a `Reshape` and this call, or None if the array has columns."""
        if self._kind.width > 1:
            return None
        return ScatterNumbers(reshape.before, self._kind.rows, self._indices)

    def transposed(self) -> Gather:
        """Return the call that selects the rows."""
        return Gather(self._kind, self._indices)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the sums of the numbers: see `Call.expanded`."""
        width, zero = self._kind.width, tape.constant(0.0)
        found = [zero] * self._kind.size
        for i, row in enumerate(self._indices.tolist()):
            for column in range(width):
                at, added = row * width + column, operands[0][i * width + column]
                found[at] = added if found[at] == zero else tape.append("add", found[at], added)
        return [found]


class ScatterNumbers(WholeCall):
    """A call that adds each number of an array to one of the numbers of a column: `Reshape` to a column and `Scatter`.

    It reads the columns of the array one after the other, as they are in memory. It has no derivatives, because it is
    made after differentiation.

    Args:
        before: The kind of the array.
        size: Number of elements of the new column.
        indices: For each number of the array, in C order, the index of the element to which it is added.
    """

    name = "scatter"
    inputs = 1

    def __init__(self, before: ArrayKind, size: int, indices: NDArray[numpy.intp]) -> None:
        super().__init__([ArrayKind(size, 1)])
        self._size = size
        self._indices = indices.reshape(before).ravel(order="F")

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the sums."""
        found = empty(ArrayKind(self._size, 1))
        found[:, 0] = numpy.bincount(self._indices, numpy.ravel(operands[0], order="F"), self._size)
        return [found]


class Roll(_OneArray):
    """A call that shifts the rows of an array. Rows beyond the end become the first rows.

    Args:
        kind: The kind of the array.
        shift: By how many rows.
    """

    name = "roll"

    def __init__(self, kind: ArrayKind, shift: int) -> None:
        super().__init__([kind])
        self._kind, self._shift = kind, shift % kind.rows

    def with_gaps(self, operands: Indices) -> Indices:
        """Return all operands: see `WholeCall.with_gaps`."""
        return operands

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the shifted rows."""
        array, found, shift = numpy.asarray(operands[0]), empty(self._kind), self._shift
        found[shift:] = array[: self._kind.rows - shift]
        found[:shift] = array[self._kind.rows - shift :]
        return [found]

    def transposed(self) -> Roll:
        """Return the call that shifts the rows back."""
        return Roll(self._kind, -self._shift)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the same indices in another order: see `Call.expanded`."""
        at = len(operands[0]) - self._shift * self._kind.width
        return [[*operands[0][at:], *operands[0][:at]]]


class Replace(LayoutCall):
    """A call that replaces some elements of a column. The operands are the column and the new elements.

    Args:
        size: Number of elements of the column.
        places: The places of the new elements: a slice, or indices of which none occurs twice.

    Attributes:
        rows: The same places.
    """

    name = "replace"
    inputs = 2
    overwritable = 1

    def __init__(self, size: int, places: RowIndices) -> None:
        self._kind = ArrayKind(size, 1)
        super().__init__([self._kind])
        self.rows = places

    @cached_property
    def _indices(self) -> NDArray[numpy.intp]:
        """The index of each new element."""
        return numpy.arange(self._kind.rows)[self.rows]

    @property
    def _part(self) -> ArrayKind:
        """The kind of the new elements."""
        rows = self.rows
        return ArrayKind(len(range(*rows.indices(self._kind.rows)) if isinstance(rows, slice) else rows), 1)

    def zeros(self, tape: Tape, tangents: Indices) -> Indices:
        """Return the tangents with arrays of zeros for missing ones: see `LayoutCall.zeros`."""
        return with_zeros(tape, [self._kind, self._part], tangents)

    def with_gaps(self, operands: Indices) -> Indices:
        """Return no operand: there are always gaps. See `WholeCall.with_gaps`."""
        return []

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the new column, in the memory of the old one if `empty` returns it."""
        column, part = operands
        found = empty(ArrayKind(*numpy.shape(column)))
        if found is not column:
            found[...] = column
        found[self.rows] = part
        return [found]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the cotangents of the elements that stay and of the new elements: see `Call.vjp`."""
        part = tape.call(selection(self._kind, self.rows), adjoints)
        return [tape.call(self, self.zeros(tape, [*adjoints, NO_INDEX])), part]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the indices of the old and the new elements: see `Call.expanded`."""
        found = list(operands[0])
        for place, index in zip(self._indices.tolist(), operands[1], strict=True):
            found[place] = index
        return [found]


class Join(LayoutCall):
    """A call that puts the rows of several arrays into one array.

    Args:
        kinds: The kinds of the arrays, which have the same width.
    """

    name = "join"

    def __init__(self, kinds: Sequence[ArrayKind]) -> None:
        super().__init__([ArrayKind(sum(kind.rows for kind in kinds), kinds[0].width)])
        self._parts, self.inputs = tuple(kinds), len(kinds)

    def zeros(self, tape: Tape, tangents: Indices) -> Indices:
        """Return the tangents with arrays of zeros for missing ones: see `LayoutCall.zeros`."""
        return with_zeros(tape, self._parts, tangents)

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the joined array."""
        return [numpy.concatenate(list(map(numpy.asarray, operands)), out=empty(self.kinds[0]))]

    def vjp(self, tape: Tape, operands: Indices, base: int, adjoints: Indices) -> Indices:
        """Append the cotangent of each array, which is a part of the rows: see `Call.vjp`."""
        ends = numpy.cumsum([part.rows for part in self._parts]).tolist()
        parts = [slice(end - part.rows, end) for part, end in zip(self._parts, ends, strict=True)]
        return [tape.call(Slice(self.kinds[0], part), adjoints) for part in parts]

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Return the indices of all arrays: see `Call.expanded`."""
        return [[index for part in operands for index in part]]


class Accumulate(_OneArray):
    """A call that returns, for each row, the sum of all rows up to it.

    Args:
        kind: The kind of the array.
        is_reversed: Whether to add from the last row to the first.
    """

    name = "cumsum"

    def __init__(self, kind: ArrayKind, *, is_reversed: bool = False) -> None:
        super().__init__([kind])
        self._is_reversed = is_reversed
        self._order = slice(None, None, -1 if is_reversed else 1)

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the sums."""
        found, order = empty(self.kinds[0]), self._order
        with numpy.errstate(all="ignore"):  # inf and nan are valid results
            numpy.cumsum(numpy.asarray(operands[0])[order], axis=0, out=found[order])
        return [found]

    def transposed(self) -> Accumulate:
        """Return the call that adds the cotangents of the sums in which a row occurs."""
        return Accumulate(self.kinds[0], is_reversed=not self._is_reversed)

    def expanded(self, tape: Tape, operands: list[Any]) -> list[Any]:
        """Append the sums of the numbers: see `Call.expanded`."""
        rows = numpy.array(operands[0]).reshape(self.kinds[0])[self._order]
        for before, row in itertools.pairwise(rows):
            row[:] = [tape.append("add", x, y) for x, y in zip(before, row, strict=True)]
        return [rows[self._order].ravel().tolist()]


def selection(kind: ArrayKind, places: RowIndices) -> Slice | Gather:
    """Return the call that selects rows of an array."""
    return Slice(kind, places) if isinstance(places, slice) else Gather(kind, places)


class Reshape(_OneArray):
    """A call that distributes the numbers of an array over rows of another width.

    Args:
        before: The kind of the operand.
        after: The kind of the result.

    Attributes:
        before: The kind of the operand.
    """

    name = "reshape"
    is_view = True

    def __init__(self, before: ArrayKind, after: ArrayKind) -> None:
        super().__init__([after])
        self.before, self._after = before, after

    def with_gaps(self, operands: Indices) -> Indices:
        """Return all operands: see `WholeCall.with_gaps`."""
        return operands

    def run(self, operands: Sequence[Operand], empty: Allocate = new_array) -> list[Operand]:
        """Return the numbers in rows of the new width."""
        [array] = operands
        return [array.reshape(self._after)]  # type: ignore[union-attr]

    def transposed(self) -> Reshape:
        """Return the call that restores the rows."""
        return Reshape(self._after, self.before)

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

    def with_gaps(self, operands: Indices) -> Indices:
        """Return all operands: see `WholeCall.with_gaps`."""
        return operands

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
        is_input: Whether the array is an argument. Its numbers then have no symbol, like other arguments: a function
            that returns an int of an argument may get a float in a later call.
    """

    inputs = 1

    def __init__(self, kind: ArrayKind, *, is_input: bool = False) -> None:
        super().__init__([None] * kind.size)
        self._kind, self.count = kind, kind.size
        self.name = "" if is_input else "unpack"

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

    def with_gaps(self, operands: Indices) -> Indices:
        """Return no operand: there are always gaps. See `WholeCall.with_gaps`."""
        return []

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
