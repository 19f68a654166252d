"""Short expressions for nodes without a label, such as `tanh(x1*w1 + x2*w2 + b)` and `w[0]*x + ... + b`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwalk.explain.text import one_line, width
from gradwalk.graph.graph import Graph
from gradwalk.graph.node import Node
from gradwalk.graph.paths import with_brackets
from gradwalk.ops.compiled.opcodes import OPCODES

_LONGEST = 32  # characters
_MOST_OPERANDS = 4  # maximum number of operands of a call that are written out
_SUMPROD = OPCODES["sumprod"]
_PRECEDENCES = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 3}
_SUM = _PRECEDENCES["+"]
ATOM = 4  # precedence of names and calls

Text = tuple[str, int]  # an expression and the precedence of its operation


def expressions(graph: Graph, known: Mapping[int, str]) -> dict[int, str]:
    """Return an expression for each computed node without a name, unless the expression would be too long.

    Operands without a name are called v1, v2 and so on, as in `Graph.names`.

    Args:
        graph: The graph.
        known: The names of some nodes without a label.
    """
    found: dict[int, str] = {}
    texts: list[Text] = []
    ends: list[tuple[str, str]] = []  # the first and the last term of a sum; the text itself for other nodes
    for node in graph.nodes:
        name = last_name(node.label or known.get(node.place, ""))
        text = (name, ATOM)
        end = name, name
        if not name and node.arguments and node.symbol:
            text, end = _expression(node, texts, ends)
            if 0 < width(text[0]) <= _LONGEST:
                found[node.place] = text[0]
            else:
                text = "", ATOM
        if not text[0]:
            text = f"v{node.place + 1}", ATOM
            end = end if node.symbol == "+" and all(end) else (text[0], text[0])
        texts.append(text)
        ends.append(end)
    return found


def last_name(label: str) -> str:
    """Return the last name of a label with its index: `w[1]` for `layers.0.neurons.2.w.1`."""
    name = with_brackets(label)
    return one_line(name if " " in name else name.rpartition(".")[2])


def _expression(node: Node, texts: list[Text], ends: list[tuple[str, str]]) -> tuple[Text, tuple[str, str]]:
    """Return the expression of a node, and its first and last term if it is a sum."""
    operands = [(f"{x:.3g}", ATOM) if isinstance(x, float) else texts[x] for x in node.arguments]
    if node.opcode == _SUMPROD:
        terms = _products(operands)
        return (_joined(terms), _SUM if terms[1:] else _PRECEDENCES["*"]), (terms[0], terms[-1])
    if len(operands) > _MOST_OPERANDS:
        operands = [operands[0], ("...", ATOM), operands[-1]]
    text, precedence = combined(node.symbol, operands)
    if node.symbol != "+" or len(operands) != 2:
        return (one_line(text), precedence), (_tight(text, precedence), _tight(text, precedence))
    (left, right) = [
        ends[x] if isinstance(x, int) and texts[x][1] in (_SUM, ATOM) else (_tight(*operand),) * 2
        for x, operand in zip(node.arguments, operands, strict=True)
    ]
    if 0.0 in node.arguments:  # the start of sum()
        return (one_line(text), precedence), (right if left[0] == "0" else left)
    if width(text) > _LONGEST:
        text = f"{left[0]} + ... + {right[1]}"
    return (one_line(text), precedence), (left[0], right[1])


def _products(operands: Sequence[Text]) -> list[str]:
    """Return the terms of a `sumprod`; its start comes last, unless it is 0."""
    (start, _), *factors = operands
    pairs = zip(factors[: len(factors) // 2], factors[len(factors) // 2 :], strict=True)
    terms = [_tight(*combined("*", pair)) for pair in pairs]
    return [*terms, start] if start != "0" or not terms else terms


def _joined(terms: Sequence[str]) -> str:
    text = " + ".join(terms)
    return one_line(text if width(text) <= _LONGEST or len(terms) < 3 else f"{terms[0]} + ... + {terms[-1]}")


def _tight(text: str, precedence: int) -> str:
    """Write a product as a term of a sum, without spaces; put a sum in parentheses."""
    if precedence == _PRECEDENCES["*"] and "(" not in text:
        return text.replace(" * ", "*").replace(" / ", "/")
    return f"({text})" if precedence == _SUM else text


def combined(symbol: str, operands: Sequence[Text]) -> Text:
    """Write an operation on operands that are given as texts with precedences. Return its text and precedence."""
    own = _PRECEDENCES.get(symbol)
    if symbol == "-" and len(operands) == 1 and operands[0][1] == ATOM:
        return f"-{operands[0][0]}", _PRECEDENCES["*"]
    if own is None or len(operands) != 2:
        return f"{symbol}({', '.join(text for text, _ in operands)})", ATOM
    (left, first), (right, second) = operands
    if own == _SUM:
        left, right = (_tight(left, first) if first > own else left), (_tight(right, second) if second > own else right)
    if first < own or (symbol == "**" and first == own):
        left = f"({left})"
    if second < own or (second == own and symbol != "+"):
        right = f"({right})"
    space = "" if symbol == "**" else " "
    return f"{left}{space}{symbol}{space}{right}", own
