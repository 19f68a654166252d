"""Numbers copied between arrays and rows in C. Compiled modules use `array_cells.pxd` beside this file."""

from typing import Any

import numpy


def read_array(array: Any, shape: tuple[int, ...], row: Any, position: int) -> bool:
    """Copy the numbers of an array to a row, if it is one of float64 and has a shape.

    Args:
        array: An array.
        shape: The shape.
        row: The row.
        position: Where the first number goes.

    Returns:
        Whether it is such an array; otherwise nothing is copied.
    """
    fits: bool = array.shape == shape and array.dtype == numpy.float64
    if fits:
        # One by one: the row is a list or a view, which slices would tell apart.
        for i, number in enumerate(array.ravel().tolist(), position):
            row[i] = number
    return fits


def write_array(array: Any, row: Any, position: int, count: int) -> None:
    """Copy numbers from a row to a new array.

    Args:
        array: A contiguous array of float64.
        row: The row.
        position: Where the first number is.
        count: How many numbers the array has.
    """
    array.ravel()[:] = row[position : position + count]
