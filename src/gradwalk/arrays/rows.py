"""Record what a function does with one row of an array, as the program of a `MapCall`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

from gradwalk.arrays.handles import ROW_LEVEL, Handle, enter_row, step_level
from gradwalk.arrays.map_call import Extremes, MapCall, Sizes
from gradwalk.program.code.opcodes import ProgramError
from gradwalk.program.tape import Tape
from gradwalk.program.tracing.trace import Recording, without_arrays
from gradwalk.value.modes import new_mark, recorded
from gradwalk.value.node import open_inputs, with_number_type
from gradwalk.value.value import Value

T = TypeVar("T")


class RowNumber(Value):
    """A number of a row: a placeholder for all numbers in a column of an array.

    Attributes:
        handle: The handle of the array.
        column: The column.
    """

    handle: Handle
    column: int


def row_of(handle: Handle, shape: Sequence[int], number_type: type = float, *, is_input: bool = False) -> Any:
    """Return the row of an array, as an object array of the given shape.

    The ints of an argument are not ints where the function returns them, because a later call may pass other numbers.
    `is_input` tells whether the array is an argument.
    """
    numbers = []
    for column in range(handle.kind.width):
        number = RowNumber(math.nan, (), "" if is_input else "row")
        number.handle, number.column = handle, column
        numbers.append(number if number_type is float else with_number_type(number, number_type))
    open_inputs(numbers, ROW_LEVEL, 0)
    row = numpy.empty(len(numbers), dtype=object)
    row[:] = numbers
    return row.reshape(tuple(shape))


def in_rows(f: Callable[[], T]) -> T:
    """Call a function that computes with rows. A row has no numbers, so the function must not branch on them.

    Raises:
        RecordingError: The function reads the number of a Value.
    """
    with numpy.errstate(all="ignore"):  # the numbers are placeholders
        level = step_level()
        result: T = recorded(lambda: _in_row(f, level), ROW_LEVEL, new_mark(), staged=True)
    return result


def _in_row(f: Callable[[], T], level: int) -> T:
    enter_row(level)
    return without_arrays(f)


def check_shapes(shapes: Sequence[tuple[int, ...]]) -> None:
    """Raise the `ValueError` of NumPy if arrays of these shapes cannot be broadcast."""
    try:
        numpy.broadcast_shapes(*shapes)
    except ValueError:
        text = " ".join(map(str, shapes))
        raise ValueError(f"operands could not be broadcast together with shapes {text}") from None


class _RowRecording(Recording):
    """The recording of the numbers of a row. The operands are the `RowNumber`s, and Values that all rows share."""

    def __init__(self) -> None:
        super().__init__(staged=True)
        self.level = ROW_LEVEL

    def _leaf(self, leaf: Value) -> int:
        if not isinstance(leaf, RowNumber):
            return super()._leaf(leaf)
        self._indices[id(leaf)] = self._input()
        self.operands.append(leaf)
        return self._indices[id(leaf)]


def mapped(sums: Sequence[Any], arrays: Sequence[Sequence[Any]], rows: int) -> tuple[MapCall, list[Any]]:
    """Return the call that computes numbers of a row for all rows, and its operands.

    Args:
        sums: The numbers that are summed over the rows.
        arrays: The row of each array that is a result.
        rows: Number of rows.
    """
    program, shared, handles = _program([*sums, *(number for row in arrays for number in row)])
    widths = tuple([handle.kind.width for handle in handles])
    call = MapCall(program, rows, Sizes(len(shared), widths, len(sums), tuple(map(len, arrays))))
    return call, [*shared, *handles]


def extremes(numbers: Sequence[Any], rows: int, *, largest: bool) -> tuple[Extremes, list[Any]]:
    """Return the call that finds the maximum or minimum of numbers over all rows, and its operands."""
    program, shared, handles = _program(numbers)
    sizes = Sizes(len(shared), tuple([handle.kind.width for handle in handles]), 0, (len(numbers),))
    return Extremes(program, rows, sizes, largest=largest), [*shared, *handles]


def call_python(numbers: Sequence[Any]) -> bool:
    """Return whether Python functions compute numbers of a row, so that no call can compute them for all rows."""
    program, _, _ = _program(numbers)
    try:
        program.code.refuse_calls("which only Python can run")
    except ProgramError:
        return True
    return False


def _program(numbers: Sequence[Any]) -> tuple[Any, list[Any], list[Handle]]:
    """Return the program that computes numbers of a row, its shared operands, and the handles of its arrays."""
    recording = _RowRecording()
    values = [x for x in numbers if isinstance(x, Value)]
    found = iter(recording.indices_of(values, _row) if values else ())
    outputs = [next(found) if isinstance(x, Value) else recording.tape.constant(float(x)) for x in numbers]
    shared = [x for x in recording.operands if not isinstance(x, RowNumber)]
    handles = list({id(x.handle): x.handle for x in recording.operands if isinstance(x, RowNumber)}.values())
    tape = Tape()
    indices = {id(x): tape.input() for x in shared}
    columns = {id(handle): [tape.input() for _ in range(handle.kind.width)] for handle in handles}
    operands = [
        columns[id(x.handle)][x.column] if isinstance(x, RowNumber) else indices[id(x)] for x in recording.operands
    ]
    return tape.program(tape.inline(recording.tape.program(outputs), operands)), shared, handles


def _row() -> None:
    """Stand for the recorded function in messages."""
