"""Copy numbers between arrays and a flat buffer. Compiled modules use the C versions in `array_cells.pxd`."""

from typing import Any

import numpy


def read_array(array: Any, shape: tuple[int, ...], row: Any, position: int) -> bool:
    """Copy a float64 array of the given shape to `row`, starting at `position`. Return False for any other array."""
    fits: bool = array.shape == shape and array.dtype == numpy.float64
    if fits:
        # Copy element by element: `row` may be a list or an array, and assignment to a slice differs between them.
        for i, number in enumerate(array.ravel().tolist(), position):
            row[i] = number
    return fits


def write_array(array: Any, row: Any, position: int, count: int) -> None:
    """Copy `count` numbers of `row`, starting at `position`, to a contiguous float64 array."""
    array.ravel()[:] = row[position : position + count]
