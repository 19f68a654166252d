"""Free deep graphs iteratively on WebAssembly, where CPython's recursive deallocation overflows the stack.

CPython frees the operands of a node recursively. It avoids the recursion only beyond a fixed nesting depth. In
Pyodide's CPython 3.13, the stack of a browser overflows before this depth is reached: freeing a chain of a few thousand
nodes crashes the interpreter. Compiled nodes do not need this module, because node_memory.h frees them iteratively.
"""

from __future__ import annotations

from typing import Any

_waiting: list[Any] = []
_is_releasing = False


def release_operands(node: Any) -> None:
    """Free the operands and details of an unreferenced node without recursion; used as `ValueNode.__del__`."""
    global _is_releasing
    for name in ("_a", "_b", "_details"):
        _waiting.append(getattr(node, name, None))
        setattr(node, name, None)
    if _is_releasing:  # an outer call of this function empties the list
        return
    _is_releasing = True
    try:
        while _waiting:
            _waiting.pop()
    finally:
        _is_releasing = False
