"""Creation of nodes in plain Python, with Python's own allocator.

Compiled modules use the allocator of node_memory.h instead, through node_memory.pxd. With that allocator, nodes that
are created one after the other are adjacent in memory, and a graph of any size is freed without recursion.
"""

from __future__ import annotations

from typing import Any

from gradwalk.value.memory import marks


def manage_nodes(cls: Any) -> None:
    """Do nothing. The C version makes a class use the allocator of node_memory.h."""


def make_node(cls: Any, opcode: int, level: int, a: Any, b: Any, primal: float, pa: float, pb: float) -> Any:
    """Create a node from the fields of `ValueNode`. `a` or `b` is None for a constant or missing operand."""
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
