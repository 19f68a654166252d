"""Format the expression that computed a Value, for messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_DEEPEST = 4  # levels of nested operations to write out; deeper ones become "…"
_OPERATORS = {**{symbol: symbol for symbol in ("+", "-", "*", "/", "//", "%", "**", "<", "<=")}, "=": "=="}
_LONGEST = 8  # maximum number of arguments, or of table entries, to write out


def spelled(node: Any, depth: int = _DEEPEST) -> str:
    """Return the expression that computed a Value, such as `sin(x) * 2 < y`. A labeled Value is written as its label.

    `depth` is the number of levels of nested operations to write out.
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
    """Join the expressions of a node's arguments. A long list is cut to the first three and the last one."""
    if len(arguments) <= _LONGEST:
        return ", ".join([spelled(argument, depth) for argument in arguments])
    return f"{_listed(arguments[:3], depth)}, …, {spelled(arguments[-1], depth)}"


def _bracketed(part: str) -> str:
    """Put an operand into parentheses if it contains an operator."""
    depth = 0
    for character in part:
        depth += (character in "([") - (character in ")]")
        if character == " " and depth == 0:
            return f"({part})"
    return part
