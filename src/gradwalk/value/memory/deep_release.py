"""Releases deep graphs in WebAssembly, where Python's own way of it does not hold.

Python frees an object's operands within the object's own release, and puts off what is nested too deep. In Pyodide's
CPython 3.13 that begins at a depth for which browsers have no stack: a chain of some thousand nodes ends the
interpreter. Compiled nodes have a list for it already (node_memory.h).
"""

from __future__ import annotations

from typing import Any

_waiting: list[Any] = []
_is_releasing = False


def release_operands(node: Any) -> None:
    """Take what a node holds from it, and release that here, one node after the other: the node's `__del__`.

    Args:
        node: A node that nobody refers to any more.
    """
    global _is_releasing
    for name in ("_a", "_b", "_details"):
        _waiting.append(getattr(node, name, None))
        setattr(node, name, None)
    if _is_releasing:  # by a node that is further up
        return
    _is_releasing = True
    try:
        while _waiting:
            _waiting.pop()
    finally:
        _is_releasing = False
