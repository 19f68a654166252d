"""Short expressions for nodes without a label, such as `w[1] * x` and `tanh(sum of 3)`."""

from __future__ import annotations

from gradwalk.explain.text import one_line, width
from gradwalk.graph.graph import Graph
from gradwalk.graph.node import Node
from gradwalk.ops.rows import Reduction

_LONGEST = 14  # characters
_PRECEDENCES = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 3}
_ATOM = 4  # precedence of names and calls


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
        precedences.append(_ATOM if node.label or not node.arguments else _PRECEDENCES.get(node.symbol, _ATOM))
        texts.append(text)
        terms.append(count)
    return found


def _last_names(label: str) -> str:
    """Return the last name of a label with its index: `w[1]` for `layers.0.neurons.2.w.1`."""
    *modules, name = label.split(".")
    return f"{modules[-1]}[{name}]" if modules and name.isdecimal() else name


def _expression(node: Node, texts: list[str], precedences: list[int]) -> str:
    """Return the operation with the texts of its operands; "" if no node has a text or the result is too long."""
    operands = [f"{x:.3g}" if isinstance(x, float) else texts[x] for x in node.arguments]
    if len(operands) > 3 or not node.symbol or not any(texts[x] for x in node.operands):
        return ""
    operands = [text or "…" for text in operands]
    if node.row and node.row.is_operator and len(operands) == 2:
        own = _PRECEDENCES.get(node.symbol, 0)
        for i, x in enumerate(node.arguments):
            inner = precedences[x] if isinstance(x, int) else _ATOM
            if inner < own or (i == 1 and inner == own and node.symbol != "+"):
                operands[i] = f"({operands[i]})"
        text = f" {node.symbol} ".join(operands)
    else:
        text = f"{node.symbol}({', '.join(operands)})"
    text = one_line(text)
    return text if width(text) <= _LONGEST else ""
