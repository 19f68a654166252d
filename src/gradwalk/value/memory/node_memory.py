"""Allocation of Values. The compiled `value.py` uses `node_memory.pxd` instead, and plain Python its own allocator.

In C, consecutive nodes are adjacent in memory, and a graph of any size is freed without recursion: see `node_memory.h`.
"""

from __future__ import annotations

from typing import Any

from gradwalk.value.memory import marks


def manage_nodes(cls: Any) -> None:
    """Manage the memory of a class. Does nothing in plain Python."""


def make_node(cls: Any, opcode: int, level: int, a: Any, b: Any, primal: float, pa: float, pb: float) -> Any:
    """Create a node. The arguments are the fields of `ValueNode`; an operand `a` or `b` is None if it is a constant."""
    node = cls.__new__(cls)
    node._primal = primal
    node._grad = 0.0
    node._a = a
    node._b = b
    node._pa = pa
    node._pb = pb
    node._details = None
    node._opcode = opcode
    node._level = level
    node._mark = marks.NEW
    node._special = False
    return node
