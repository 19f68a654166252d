"""What the functions of this package have in common: arrays of Values, and whether their numbers are known."""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk import math
from gradwalk.value.modes import is_staging
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value


def holds_values(*arrays: Any) -> bool:
    """Return whether one of some arrays is an object array, as arrays of Values are.

    Args:
        *arrays: Arrays.

    Returns:
        True or False.
    """
    return any(array.dtype == object for array in arrays)


def are_known(*arrays: Any) -> bool:
    """Return whether the numbers in arrays may decide: not while `jit` or `vmap` records, as that is for all numbers.

    Args:
        *arrays: Arrays.

    Returns:
        True or False.
    """
    return not (is_staging() and holds_values(*arrays))


def numbers(array: Any) -> Any:
    """Return the numbers of an array of Values as an array of float64; any other array as it is.

    Args:
        array: An array.

    Returns:
        An array of the same shape.
    """
    if array.dtype != object:
        return array
    flat = [primal_of(x) if isinstance(x, Value) else x for x in array.ravel()]
    return numpy.array(flat, numpy.float64).reshape(array.shape)


def exchanged(exchange: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return two elements, exchanged where a recorded condition holds.

    Args:
        exchange: The condition.
        x: The first.
        y: The second.

    Returns:
        Both.
    """
    return math.where(exchange, y, x), math.where(exchange, x, y)
