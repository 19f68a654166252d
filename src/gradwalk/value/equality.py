"""Equality with objects that are not operands, such as arrays and Fractions, and the error for hashes in transforms."""

from __future__ import annotations

import numbers
from typing import Any

import numpy

from gradwalk.value import modes
from gradwalk.value.convert import COMPLEX_TYPES
from gradwalk.value.node import ValueNode
from gradwalk.value.source.source_line import users_line


def asked_of_other(node: ValueNode, other: Any, method: str, is_recorded: bool) -> Any:
    """Call `__eq__` or `__ne__` of the other operand with a Value as its argument.

    If the other operand is an array, the result is an array with one entry per element.

    If the result is NotImplemented, Python compares the two objects by identity, so that even equal numbers are
    different. While a function is being recorded, `RecordingError` is raised instead of returning NotImplemented for a
    number or an array.
    """
    if isinstance(other, COMPLEX_TYPES):
        return method == "__ne__" if other.imag != 0.0 else getattr(node, method)(float(other.real))
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


def refuse_look_up(node: ValueNode) -> None:
    """Raise `RecordingError` if a function that is being recorded or differentiated asks for the hash of a node."""
    modes.refuse_if_staging(node, "looks up, in a set or a dict,")
    if modes.is_being_recorded(node):
        raise modes.refused(
            f"{users_line()}\n  looks up a Value in a set or a dict, such as the cache of a function, inside a "
            "function that is being differentiated: its hash identifies the object, so equal numbers would not be "
            "found.\n  Use int(x) or round(x) as the key, compare with ==, as in any(x == key for key in keys), use "
            "id(x) to identify objects, or call f.__wrapped__ instead of a cached function f.",
            node,
        )
