"""Where the columns of arrays stand. Compiled modules use `column_table.pxd` and the header beside this file."""

from __future__ import annotations

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
    """

    def __init__(self) -> None:
        self.count = -1
        self.addresses: list[Any] = []
        self.strides: list[Any] = []
        self.tiles: list[Any] = []

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
        is_written: Whether it has to be writable.

    Returns:
        Whether it is such an array, with as many samples as those before.
    """
    if array.dtype != (numpy.float32 if single else numpy.float64) or not 0 <= axis < array.ndim:
        return False
    moved = numpy.moveaxis(array, axis, 0)
    if (shape is not None and moved.shape[1:] != shape) or (is_written and not array.flags.writeable):
        return False
    if table.count not in (-1, len(moved)):
        return False
    table.count = len(moved)
    table.addresses += [moved[:, *at] for at in numpy.ndindex(moved.shape[1:])]
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
