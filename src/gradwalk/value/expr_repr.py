"""What a Value was computed by, spelled out as one expression, for messages."""

from __future__ import annotations

from typing import Any

_DEEPEST = 4  # levels of operations that are spelled out; what lies below is "…"
_OPERATORS = {**{symbol: symbol for symbol in ("+", "-", "*", "/", "//", "%", "**", "<", "<=")}, "=": "=="}
_LONGEST = 8  # table that is spelled out


def spelled(node: Any, depth: int = _DEEPEST) -> str:
    """Return the expression that gave a Value, from labels where there are any: `sin(x) * 2 < y`.

    Args:
        node: The Value.
        depth: How many levels of operations have been written around it.

    Returns:
        The expression.
    """
    if not hasattr(node, "arguments"):
        return f"{node:g}"
    if node.label or not node.arguments:
        return node.label or "a Value"
    if depth == 0:
        return "…"
    parts = [spelled(argument, depth - 1) for argument in node.arguments]
    if node.op == "-" and len(parts) == 1:
        return f"-{_bracketed(parts[0])}"
    if node.op in _OPERATORS and len(parts) == 2:
        return f"{_bracketed(parts[0])} {_OPERATORS[node.op]} {_bracketed(parts[1])}"
    if node.op == "take" and len(parts) > 1:
        index, *table = parts
        shown = table if len(table) <= _LONGEST else [*table[:3], "…", table[-1]]
        return f"take([{', '.join(shown)}], {index})"
    return f"{node.op}({', '.join(parts)})"


def _bracketed(part: str) -> str:
    """An operand in brackets, where it is an operation written with an operator."""
    depth = 0
    for character in part:
        depth += (character in "([") - (character in ")]")
        if character == " " and depth == 0:
            return f"({part})"
    return part
