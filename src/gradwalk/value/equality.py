"""What `==` and `!=` are between a Value and what is no operand of an operation, such as an array or a Fraction."""

from __future__ import annotations

import numbers
from typing import Any

import numpy

from gradwalk.value.source_line import users_line


def asked_of_other(node: object, other: Any, method: str, is_recorded: bool) -> Any:
    """Return what the other one answers, as Python would ask it next: an array, for each of its elements.

    Where a function is being recorded, what is like a number or an array has to know an answer. Two numbers would else
    be taken to differ because they are two objects.

    Args:
        node: The Value.
        other: What it is compared with.
        method: "__eq__" or "__ne__".
        is_recorded: Whether the Value stands for a number in a function that is being recorded.

    Returns:
        The answer, or NotImplemented, which Python takes to mean that they are not equal.

    Raises:
        TypeError: Such a Value is compared with what does not know Values.
    """
    if not isinstance(other, (numpy.ndarray, numbers.Number)) and not hasattr(type(other), "__array__"):
        return NotImplemented
    answer = getattr(type(other), method)(other, node)
    if answer is NotImplemented and is_recorded:
        kind = type(other).__name__
        raise TypeError(f"{users_line()}: a Value is compared with a {kind}: give float(...) of it, or an array")
    return answer
