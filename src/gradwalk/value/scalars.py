"""Scalar operands: a type check and the conversion to a number.

Uncompiled runs use this file; compiled modules use the inline functions of `scalars.pxd`.
"""

from __future__ import annotations

from typing import Any

from gradwalk.value import convert
from gradwalk.value.node import ValueNode


def is_operand(x: object) -> bool:
    """Return whether an object is a Value or a real number."""
    return isinstance(x, (ValueNode, float)) or convert.is_real(x)


def number(x: Any) -> float:
    """Return the number of a Value or a real number; raise `OverflowError` for an integer that is too large."""
    return float(x._primal) if isinstance(x, ValueNode) else convert.to_double(x)
