"""Where the columns of arrays stand. Compiled modules use `column_table.pxd` and the header beside this file."""

from __future__ import annotations

import itertools
from typing import Any

import numpy

TILE = 8


class column_tables:  # noqa: N801  # in C, a type of arrays
    """A table without columns.

    Attributes:
        count: How many samples there are; -1 before the first array.
        addresses: For each column, a view of its array.
        strides: Nothing: views know them.
        tiles: Nothing: tiles are for C.
        spans: The arrays.
    """

    def __init__(self) -> None:
        self.count = -1
        self.addresses: list[Any] = []
        self.strides: list[Any] = []
        self.tiles: list[Any] = []
        self.spans: list[Any] = []

    def __getitem__(self, index: int) -> column_tables:
        return self


def columns_begin(table: column_tables) -> None:
    """Make a table empty, in C.

    Args:
        table: The table.
    """


def columns_end(table: column_tables) -> None:
    """Free what a table has, in C.

    Args:
        table: The table.
    """


def columns_add(table: column_tables, array: Any, axis: int, shape: Any, single: bool, is_written: bool) -> bool:
    """Append the columns of an array: one for each place along the axes that are not that of the samples.

    Args:
        table: The table.
        array: The array, which has to be kept as long as the table is used.
        axis: The axis of the samples.
        shape: How long the other axes are, or None for any lengths.
        single: Whether it has to be of float32, and not of float64.
        is_written: Whether it has to be writable, element by element.

    Returns:
        Whether it is such an array, with as many samples as those before.
    """
    if array.dtype != (numpy.float32 if single else numpy.float64) or not 0 <= axis < array.ndim:
        return False
    moved = numpy.moveaxis(array, axis, 0)
    if (shape is not None and moved.shape[1:] != shape) or table.count not in (-1, len(moved)):
        return False
    if is_written and not (array.flags.writeable and are_apart(array)):
        return False
    table.count = len(moved)
    table.addresses += [moved[:, *at] for at in numpy.ndindex(moved.shape[1:])]
    table.spans.append(array)
    return True


def columns_meet(table: column_tables, other: column_tables) -> bool:
    """Return whether the memory of an array of one table may be that of another array.

    Args:
        table: The table.
        other: The table of the other array, which may be the same one.
    """
    pairs = itertools.combinations(table.spans, 2) if other is table else itertools.product(table.spans, other.spans)
    return any(numpy.may_share_memory(one, another) for one, another in pairs)


def are_apart(array: Any) -> bool:
    """Return whether the elements of an array are apart: each step leads beyond what the shorter steps reach.

    Args:
        array: The array.
    """
    steps = sorted((abs(stride), length) for stride, length in zip(array.strides, array.shape, strict=True))
    reach = array.itemsize
    for step, length in steps if array.size else []:
        if length > 1 and step < reach:
            return False
        reach += (length - 1) * step
    return True


def columns_skip(table: column_tables, columns: int) -> None:
    """Append columns that are neither read nor written.

    Args:
        table: The table.
        columns: How many.
    """
    table.addresses += [None] * columns


def columns_fill(table: column_tables, column: int, number: float, single: bool) -> None:
    """Set the number of a column for all samples.

    Args:
        table: The table.
        column: Which column.
        number: The number.
        single: Whether the array is of float32, in C.
    """
    with numpy.errstate(over="ignore"):  # numbers that are too large for float32 become inf
        table.addresses[column][:] = number
