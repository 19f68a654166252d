"""`Columns`: the arrays of a batch, as kernels read and write them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.backend.cpu import column_table
from gradwalk.base import _cython as cython

if not TYPE_CHECKING and cython.compiled:
    import cython


_MOST_WORK = 1000  # of NumPy's solver, which usually takes a few steps


def overlap(one: Any, other: Any) -> bool:
    """Return whether two arrays have a byte in common; also where they lie in one another and it is hard to tell.

    Args:
        one: An array.
        other: Another one.
    """
    return bool(numpy.may_share_memory(one, other, max_work=_MOST_WORK))  # type: ignore[arg-type]  # any number


@cython.final
@cython.cclass
class Columns:
    """Arrays with the samples along one axis: a column of numbers for each place along the others.

    Args:
        single: Whether they are of float32, and not of float64.
        is_written: Whether kernels write to them.

    Attributes:
        single: Likewise.
        arrays: The arrays.
        table: Where the columns stand.
    """

    # The types of its fields stand in columns.pxd.

    def __init__(self, single: bool, is_written: bool = False) -> None:
        self.single = single
        self._is_written = is_written
        self.arrays: list[Any] = []  # which have to live as long as their addresses are used
        if not cython.compiled:
            self.table = column_table.column_tables()
        column_table.columns_begin(self.table)

    def __dealloc__(self) -> None:
        column_table.columns_end(self.table)

    @property
    def count(self) -> int:
        """How many samples there are; -1 before the first array."""
        return int(self.table[0].count)

    def add(self, array: Any, axis: cython.Py_ssize_t, shape: Any) -> cython.bint:
        """Append the columns of an array.

        Args:
            array: An array.
            axis: The axis of the samples, from 0 on.
            shape: How long the other axes have to be, or None for any lengths.

        Returns:
            Whether it is of the right type and shape, has as many samples as those before, and can be written to,
            element by element, where that is to be done.
        """
        if not column_table.columns_add(self.table, array, axis, shape, self.single, self._is_written):
            return False
        self.arrays.append(array)
        return True

    def overlap(self, others: Columns) -> cython.bint:
        """Return whether one of the arrays overlaps with another: see `overlap`.

        Args:
            others: What the other array is of. It may be this itself.
        """
        if not column_table.columns_meet(self.table, others.table):
            return False
        arrays = self.arrays
        pairs = itertools.combinations(arrays, 2) if others is self else itertools.product(arrays, others.arrays)
        for one, other in pairs:  # noqa: SIM110  # Cython makes no closures in here
            if overlap(one, other):
                return True
        return False

    def skip(self, columns: int) -> None:
        """Append columns that kernels neither read nor write.

        Args:
            columns: How many.
        """
        column_table.columns_skip(self.table, columns)

    def fill(self, column: int, number: float) -> None:
        """Set the number of a column for all samples.

        Args:
            column: Which column.
            number: The number.
        """
        column_table.columns_fill(self.table, column, number, self.single)
