"""`==` and `!=` between a Value and an object that operations do not take, such as an array or a Fraction."""

from __future__ import annotations

import numbers
from typing import Any

import numpy

from gradwalk.value import modes
from gradwalk.value.node import ValueNode
from gradwalk.value.source.source_line import users_line


def asked_of_other(node: ValueNode, other: Any, method: str, is_recorded: bool) -> Any:
    """Return the answer of the other operand, which Python would ask next; an array answers for each element.

    In a function that is being recorded, a number or an array without an answer is refused: Python would compare the
    two objects by identity and continue as if their numbers differed.

    Args:
        node: The Value.
        other: What it is compared with.
        method: "__eq__" or "__ne__".
        is_recorded: Whether the Value stands for a number in a function that is being recorded.

    Returns:
        The answer, or NotImplemented, after which Python compares by identity.

    Raises:
        RecordingError: A recorded Value is compared with a number of a class that does not know Values.
    """
    if not isinstance(other, (numpy.ndarray, numbers.Number)) and not hasattr(type(other), "__array__"):
        return NotImplemented
    answer = getattr(type(other), method)(other, node)
    if answer is NotImplemented and is_recorded:
        kind = type(other).__name__
        raise modes.refused(
            f"{users_line()}: a recorded Value cannot be compared with a {kind}. Compare with float(...) or an array",
            node,
        )
    return answer
