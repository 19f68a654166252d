"""Free deep graphs iteratively on WebAssembly, where CPython's trashcan overflows the stack.

CPython frees an object's operands recursively, and defers objects that are nested too deep. In Pyodide's CPython 3.13
that depth exceeds the stack of browsers: freeing a chain of a few thousand nodes ends the interpreter. Compiled nodes
are freed iteratively already (node_memory.h).
"""

from __future__ import annotations

from typing import Any

_waiting: list[Any] = []
_is_releasing = False


def release_operands(node: Any) -> None:
    """Free the operands and details of an unreferenced node one by one: the `__del__` of nodes."""
    global _is_releasing
    for name in ("_a", "_b", "_details"):
        _waiting.append(getattr(node, name, None))
        setattr(node, name, None)
    if _is_releasing:  # the call for an earlier node empties the list
        return
    _is_releasing = True
    try:
        while _waiting:
            _waiting.pop()
    finally:
        _is_releasing = False
