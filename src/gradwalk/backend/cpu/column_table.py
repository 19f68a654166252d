"""Table of the columns of arrays, for uncompiled runs. Compiled modules use column_table.pxd and column_table.h."""

from __future__ import annotations

import itertools
from typing import Any

import numpy

TILE = 8


class Table:
    """An empty table.

    Attributes:
        count: Number of samples; -1 before the first array.
        addresses: A view of the array for each column.
        strides: Unused, because each view has its own stride.
        tiles: Unused, because only the C code reads tiles.
        spans: Number of arrays.
        arrays: The arrays.
    """

    def __init__(self) -> None:
        self.count = -1
        self.addresses: list[Any] = []
        self.strides: list[Any] = []
        self.tiles: list[Any] = []
        self.spans = 0
        self.arrays: list[Any] = []

    def __getitem__(self, index: int) -> Table:
        return self


def columns_begin() -> Table:
    """Return an empty table."""
    return Table()


def columns_end(table: Table) -> None:
    """Free the memory of a table. Does nothing in Python."""


def array_at(table: Table, position: int) -> Any:
    """Return an array of the table."""
    return table.arrays[position]


def columns_add(table: Table, array: Any, axis: int, shape: Any, single: bool, is_written: bool) -> bool:
    """Append one column per position along the axes other than the batch axis; return whether the array fits.

    The array must be float32 (if `single`) or float64. It must have the same number of samples as earlier arrays. If
    `shape` is not None, the lengths of the other axes must be `shape`. If `is_written` is true, the array must also be
    writable, and its elements must not overlap.
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
    table.arrays.append(array)
    table.spans += 1
    return True


def columns_meet(table: Table, other: Table) -> bool:
    """Return whether two arrays may share memory: one of each table, or two arrays of `table` if `other` is `table`."""
    pairs = itertools.combinations(table.arrays, 2) if other is table else itertools.product(table.arrays, other.arrays)
    return any(numpy.may_share_memory(one, another) for one, another in pairs)


def are_apart(array: Any) -> bool:
    """Return whether no two elements share memory, because each stride exceeds the extent of all smaller strides."""
    steps = sorted((abs(stride), length) for stride, length in zip(array.strides, array.shape, strict=True))
    reach = array.itemsize
    for step, length in steps if array.size else []:
        if length > 1 and step < reach:
            return False
        reach += (length - 1) * step
    return True


def columns_skip(table: Table, columns: int) -> None:
    """Append columns that kernels neither read nor write."""
    table.addresses += [None] * columns


def columns_fill(table: Table, column: int, number: float, single: bool) -> None:
    """Fill a column with one number."""
    with numpy.errstate(over="ignore"):  # numbers too large for float32 become inf
        table.addresses[column][:] = number
