"""`Columns`: the input or output arrays of a batch, one column per scalar input or output."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.backend.cpu import column_table
from gradwalk.base import _cython as cython

if not TYPE_CHECKING and cython.compiled:
    import cython


_MOST_WORK = 1000  # maximum number of steps of NumPy's exact overlap test, which usually takes a few


def overlap(one: Any, other: Any) -> bool:
    """Return whether two arrays share a byte. Returns True if NumPy cannot decide within `_MOST_WORK` steps."""
    return bool(numpy.may_share_memory(one, other, max_work=_MOST_WORK))  # type: ignore[arg-type]  # any number


@cython.final
@cython.no_gc
@cython.freelist(16)
@cython.cclass
class Columns:
    """Arrays of a batch, made by `new_columns`. Each position along the axes other than the batch axis is one column.

    Attributes:
        single: Whether the arrays are float32 instead of float64.
        table: The arrays, and the addresses and strides of the columns, for C.
    """

    # The field types are declared in columns.pxd.

    def _begin(self, single: cython.bint, is_written: cython.bint) -> Columns:
        """Initialize new columns; return them."""
        self.single = single
        self._is_written = is_written
        self.table = column_table.columns_begin()
        return self

    def __dealloc__(self) -> None:
        column_table.columns_end(self.table)

    def arrays(self) -> list:
        """Return the arrays."""
        return [column_table.array_at(self.table, i) for i in range(self.table[0].spans)]

    def add(self, array: Any, axis: cython.Py_ssize_t, shape: Any) -> cython.bint:
        """Append the columns of an array and return True; return False if the array does not fit.

        An array fits if it has the right dtype, the same number of samples as earlier arrays, and the lengths `shape`
        along the axes other than the batch axis `axis` (>= 0). If `shape` is None, any lengths fit. If kernels write
        to the array, it must also be writable, and no two of its elements may share memory.
        """
        return column_table.columns_add(self.table, array, axis, shape, self.single, self._is_written)

    def overlap(self, others: Columns) -> cython.bint:
        """Return whether an array of this object overlaps an array of `others`.

        If `others` is this object itself, return whether any two of its arrays overlap.
        """
        if not column_table.columns_meet(self.table, others.table):
            return False
        arrays, other_arrays = self.arrays(), others.arrays()
        pairs = itertools.combinations(arrays, 2) if others is self else itertools.product(arrays, other_arrays)
        for one, other in pairs:  # noqa: SIM110  # Cython does not support closures here
            if overlap(one, other):
                return True
        return False

    def skip(self, columns: int) -> None:
        """Append `columns` columns that kernels neither read nor write."""
        column_table.columns_skip(self.table, columns)

    def fill(self, column: int, number: float) -> None:
        """Fill a column with one number."""
        column_table.columns_fill(self.table, column, number, self.single)


def new_columns(single: cython.bint, is_written: cython.bint) -> Columns:
    """Return empty `Columns` of float32 arrays (if `single`) or float64 arrays; kernels write to them if `is_written`.

    A constructor would take longer.
    """
    columns: Columns = Columns.__new__(Columns)
    return columns._begin(single, is_written)
