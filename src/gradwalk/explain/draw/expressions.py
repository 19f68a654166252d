"""Short expressions for nodes without a label, such as `w[1] * x` and `tanh(sum of 3)`."""

from __future__ import annotations

from collections.abc import Sequence

from gradwalk.explain.text import one_line, width
from gradwalk.graph.graph import Graph
from gradwalk.graph.node import Node
from gradwalk.ops.rows import Reduction

_LONGEST = 14  # characters
_PRECEDENCES = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 3}
ATOM = 4  # precedence of names and calls


def expressions(graph: Graph) -> dict[int, str]:
    """Return an expression for each computed node that has no label, unless the expression would be too long."""
    found: dict[int, str] = {}
    texts: list[str] = []  # a label without its module, an expression, or "" for nodes without either
    precedences: list[int] = []
    terms: list[int] = []  # number of terms of a sum; 1 for other nodes
    for node in graph.nodes:
        count = sum(terms[x] if isinstance(x, int) else 1 for x in node.arguments) if node.symbol == "+" else 1
        if isinstance(node.variadic, Reduction):
            count = len(node.arguments) // 2 + (node.arguments[0] != 0.0)
        text = _last_names(node.label)
        if not text and node.arguments:
            text = _expression(node, texts, precedences)
            if count > 2 or (count > 1 and not text):
                text = f"sum of {count:,}"
            if text:
                found[node.place] = text
        precedences.append(ATOM if node.label or not node.arguments else _PRECEDENCES.get(node.symbol, ATOM))
        texts.append(text)
        terms.append(count)
    return found


def _last_names(label: str) -> str:
    """Return the last name of a label with its index: `w[1]` for `layers.0.neurons.2.w.1`."""
    *modules, name = label.split(".")
    return f"{modules[-1]}[{name}]" if modules and name.isdecimal() else name


def _expression(node: Node, texts: list[str], precedences: list[int]) -> str:
    """Return the operation with the texts of its operands; "" if no node has a text or the result is too long."""
    if len(node.arguments) > 3 or not node.symbol or not any(texts[x] for x in node.operands):
        return ""
    operands = [
        (f"{x:.3g}", ATOM) if isinstance(x, float) else (texts[x] or "…", precedences[x]) for x in node.arguments
    ]
    text = one_line(combined(node.symbol, operands)[0])
    return text if width(text) <= _LONGEST else ""


def combined(symbol: str, operands: Sequence[tuple[str, int]]) -> tuple[str, int]:
    """Write an operation on operands that are given as texts with precedences. Return its text and precedence."""
    own = _PRECEDENCES.get(symbol)
    if own is None or len(operands) != 2:
        return f"{symbol}({', '.join(text for text, _ in operands)})", ATOM
    (left, first), (right, second) = operands
    if first < own or (symbol == "**" and first == own):
        left = f"({left})"
    if second < own or (second == own and symbol != "+"):
        right = f"({right})"
    space = "" if symbol == "**" else " "
    return f"{left}{space}{symbol}{space}{right}", own
