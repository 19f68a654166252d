"""Scalar operands: what is one, and its number.

This file serves uncompiled runs. Compiled modules use the inline functions of `scalars.pxd` beside it.
"""

from __future__ import annotations

from typing import Any

from gradwalk.value import convert
from gradwalk.value.node import ValueNode


def is_operand(x: object) -> bool:
    """Return whether an object is a Value or a real number.

    Args:
        x: Any object.
    """
    return isinstance(x, (ValueNode, float)) or convert.is_real(x)


def number(x: Any) -> float:
    """Return the number of an operand.

    Args:
        x: A Value or a real number.

    Raises:
        OverflowError: If it is an integer that is too large for a float.
    """
    return float(x._primal) if isinstance(x, ValueNode) else convert.to_double(x)
