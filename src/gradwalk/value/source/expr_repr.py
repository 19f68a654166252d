"""What a Value was computed by, spelled out as one expression, for messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_DEEPEST = 4  # levels of operations that are spelled out; what lies below is "…"
_OPERATORS = {**{symbol: symbol for symbol in ("+", "-", "*", "/", "//", "%", "**", "<", "<=")}, "=": "=="}
_LONGEST = 8  # table, or list of arguments, that is spelled out


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
    arguments = node.arguments
    if node.op == "-" and len(arguments) == 1:
        return f"-{_bracketed(spelled(arguments[0], depth - 1))}"
    if node.op in _OPERATORS and len(arguments) == 2:
        left, right = [_bracketed(spelled(argument, depth - 1)) for argument in arguments]
        return f"{left} {_OPERATORS[node.op]} {right}"
    if node.op == "take" and len(arguments) > 1:
        return f"take([{_listed(arguments[1:], depth - 1)}], {spelled(arguments[0], depth - 1)})"
    return f"{node.op}({_listed(arguments, depth - 1)})"


def _listed(arguments: Sequence[Any], depth: int) -> str:
    """Return the expressions of a node's arguments: of many, the first three and the last one."""
    if len(arguments) <= _LONGEST:
        return ", ".join([spelled(argument, depth) for argument in arguments])
    return f"{_listed(arguments[:3], depth)}, …, {spelled(arguments[-1], depth)}"


def _bracketed(part: str) -> str:
    """An operand in brackets, where it is an operation written with an operator."""
    depth = 0
    for character in part:
        depth += (character in "([") - (character in ")]")
        if character == " " and depth == 0:
            return f"({part})"
    return part
