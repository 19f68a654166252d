"""Conditions of functions that are being recorded: Values that are 0 or 1."""

from __future__ import annotations

from typing import Any

import numpy

from gradwalk.value import modes
from gradwalk.value.node import ValueNode

_COMPARISONS = ("<", "<=", "=")


def is_condition(node: Any) -> bool:
    """Return whether a Value is 0 or 1 for all arguments: a comparison, or comparisons joined by `&`, `|` and `^`.

    Args:
        node: The Value.

    Returns:
        True or False. It is False for an argument that is a bool, because its recording serves other numbers, too.
    """
    waiting = [node]
    known: set[int] = set()
    while waiting:
        term = waiting.pop()
        if isinstance(term, float):
            if term not in (0.0, 1.0):
                return False
        elif id(term) not in known:
            known.add(id(term))
            if term.op == "where":
                waiting += term.arguments[1:]
            elif term.op == "-" and len(term.arguments) == 2 and term.arguments[0] == 1.0:
                waiting.append(term.arguments[1])
            elif term.op not in _COMPARISONS:
                return False
    return True


def are_joined(left: Any, right: Any) -> bool:
    """Return whether `&`, `|` and `^` join two operands, while a function is being staged.

    Args:
        left: A Value.
        right: The other operand.

    Returns:
        Whether the other operand is a Value or a bool.

    Raises:
        RecordingError: If it is an int, because the operators then work on the bits of integers. A condition joined
            with 0 or 1 is accepted.
    """
    if not modes.is_staging():
        return False
    if not isinstance(right, int) or isinstance(right, bool):
        return isinstance(right, (ValueNode, bool, numpy.bool_))
    if right not in (0, 1) or not is_condition(left):
        modes.refuse_if_staging(left, "needs the integer for &, | or ^ with an int of")
    return True
