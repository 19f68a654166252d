"""Helpers for arrays of Values, shared by the modules of this package."""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk import math
from gradwalk.value.arrays import WholeArray
from gradwalk.value.modes import is_staging
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value

untyped: Any = numpy  # NumPy without its types, whose overloads do not accept every argument that NumPy does


def holds_values(*arrays: Any) -> bool:
    """Return whether any array is an object array. Arrays of Values are object arrays."""
    return any(array.dtype == object for array in arrays)


def are_known(*arrays: Any) -> bool:
    """Return whether the numbers in the arrays are known: while `jit` or `vmap` records, numbers of Values are not."""
    return not (is_staging() and holds_values(*arrays))


def numbers(array: Any) -> Any:
    """Convert an array of Values to float64; return any other array unchanged."""
    if isinstance(array, WholeArray):
        return array.numbers()
    if array.dtype != object:
        return array
    flat = [primal_of(x) if isinstance(x, Value) else x for x in array.ravel()]
    return numpy.array(flat, numpy.float64).reshape(array.shape)


def exchanged(exchange: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return (y, x) if a recorded condition holds, else (x, y)."""
    return math.where(exchange, y, x), math.where(exchange, x, y)
