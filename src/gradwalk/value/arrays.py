"""Functions of Values and numbers, applied to each element of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from gradwalk.value.node import ValueNode


def are_there(operands: tuple[Any, ...]) -> bool:
    """Return whether an operand is an array or a list.

    Args:
        operands: Any objects.

    Returns:
        Whether NumPy makes an array with dimensions of one of them. Sequences of different lengths are none.
    """
    return any(isinstance(x, (list, tuple)) or getattr(x, "ndim", 0) for x in operands)


def elementwise(function: Callable[..., Any], operands: tuple[Any, ...], dtype: type = float) -> Any:
    """Apply a function to each element of arrays, which are broadcast as NumPy does.

    Args:
        function: A function of Values and numbers.
        operands: Arrays, lists, Values and numbers.
        dtype: The type of the result where there are no Values in it.

    Returns:
        An array of the results: of Values and numbers as objects, else of numbers.

    Raises:
        ValueError: If the shapes of the operands do not fit, or a list has rows of different lengths.
    """
    with numpy.errstate(all="ignore"):  # 1/0 is inf without a word, as it is of numbers
        found: Any = numpy.frompyfunc(function, len(operands), 1)(*map(_as_array, operands))
    return found if any(isinstance(x, ValueNode) for x in found.flat) else found.astype(dtype)


def _as_array(operand: Any) -> Any:
    """An array of an operand; NumPy would ask a Value itself what to do with it."""
    array = numpy.empty((), dtype=object)
    array[()] = operand
    return array if isinstance(operand, ValueNode) else numpy.asarray(operand)
