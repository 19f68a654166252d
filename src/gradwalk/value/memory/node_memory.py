"""The memory of Values. The compiled `value.py` uses `node_memory.pxd` beside this file; Python has memory of its own.

In C, nodes that are made one after the other stand side by side, and a graph of any size is freed without recursion.
See `node_memory.h`.
"""

from __future__ import annotations

from typing import Any

from gradwalk.value.memory import marks


def manage_nodes(cls: Any) -> None:
    """Let a class have its instances in memory of its own. Python does nothing.

    Args:
        cls: `Value`.
    """


def make_node(cls: Any, opcode: int, level: int, a: Any, b: Any, primal: float, pa: float, pb: float) -> Any:
    """Return a new node.

    Args:
        cls: `Value`.
        opcode: See `ValueNode`, as for all of these.
        level: Of the innermost recorded function that it depends on.
        a: The first operand, or None.
        b: The second operand, or None.
        primal: Its number.
        pa: d node / d a; where `a` is None, the constant that stands in its place.
        pb: Likewise of `b`.

    Returns:
        The node.
    """
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
