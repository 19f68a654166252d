"""Says in words what happens in a walk.

All of it follows from the formulas of the table. A local derivative of 1 "copies"; one that is the other operand "swaps
and scales"; one of an operation that selects "lets through" or "holds back"; and any other "scales".
"""

from __future__ import annotations

from gradwalk.explain.text import one_line, short
from gradwalk.graph.graph import Graph
from gradwalk.graph.node import Node
from gradwalk.ops import ieee
from gradwalk.ops.formula import Formula, folded, number, resolved, substituted
from gradwalk.ops.formula import name as variable
from gradwalk.ops.printers import text

_OPERANDS = ("x", "y", "z")


def computed(node: Node, graph: Graph) -> str:
    """Say how a node got its number."""
    if node.is_leaf:
        return f"{_said(node.name)} is given: {short(node.data)}"
    if node.row is None:
        return f"{_said(node.name)} = {_said(node.symbol)} of {len(node.arguments)} operands = {short(node.data)}"
    numbers = [short(graph.nodes[x].data) if isinstance(x, int) else short(x) for x in node.arguments]
    parts = [_said(node.name), operation_text(node, graph), _applied(node, numbers), short(node.data)]
    return " = ".join(dict.fromkeys(parts))


def operation_text(node: Node, graph: Graph) -> str:
    """Write a node's operation on the names of its operands, as in `a * b`."""
    return _applied(node, [_said(graph.names[x]) if isinstance(x, int) else short(x) for x in node.arguments])


def _applied(node: Node, operands: list[str]) -> str:
    """Write a node's operation on some operands, as Python writes it."""
    row = node.row
    if row is None or not row.operator or row.name == "abs":
        return f"{row.name if row else node.symbol}({', '.join(operands)})"
    bracketed = [x if x.isidentifier() or x.replace(".", "").isalnum() else f"({x})" for x in operands]
    return f"-{bracketed[0]}" if row.arity == 1 else f" {row.symbol} ".join(bracketed)


def formula(node: Node, position: int) -> str:
    """Write the local derivative as the table has it, in x, y, z and out; "" for rules made by hand."""
    partial = node.partial_formula(position)
    if node.by_hand or partial is None:
        return ""
    if node.reduction is not None:
        for other, operand_name in _element(node, position):
            if partial == variable(operand_name) and other != position:
                return f"the factor beside it, number {other + 1} of the operands"
    return text(partial)


def _element(node: Node, position: int) -> list[tuple[int, str]]:
    """Return the position and the name in formulas of the operands that the derivative at a position may name."""
    return list(zip(node.element(position), _OPERANDS, strict=False))


def passed_on(graph: Graph, node: Node, position: int, upstream: float) -> tuple[str, str]:
    """Say what a rule does, and what the operand at a position gets by it.

    Returns:
        The verb, such as "* swaps and scales", and the clause, such as "a gets upstream 1 times ...".
    """
    operand, local = node.arguments[position], node.partials[position]
    gets = f"{_said(graph.names[operand] if isinstance(operand, int) else '')} gets"
    scaled = f"{gets} upstream {short(upstream)} times"
    making = f"making {short(local * upstream)}"
    symbol = _said(node.symbol)
    partial = node.partial_formula(position)
    if node.by_hand or partial is None:
        return f"{symbol} follows a rule made by hand", f"{scaled} {short(local)}, {making}"
    if node.selects:
        return _selected(symbol, gets, upstream, local)
    element = _element(node, position)
    if partial == number(1):
        verb = "copies" if element else "copies to its start"
        return f"{symbol} {verb}", f"{gets} upstream {short(upstream)} as it is"
    if partial == number(-1):
        return f"{symbol} flips the sign", f"{scaled} -1, {making}"
    for other, operand_name in element:
        if partial == variable(operand_name):
            return f"{symbol} swaps and scales", f"{scaled} {_value_of(node, other, graph)}, {making}"
    numbers = {"out": node.data, **{x: _number(node.arguments[i], graph) for i, x in element}}
    partial = resolved(partial, numbers, ieee)
    if partial == variable("out"):
        return f"{symbol} scales", f"{scaled} {_said(node.name)}'s own value {short(node.data)}, {making}"
    named = {x: _as_formula(node.arguments[i], graph) for i, x in element}
    return f"{symbol} scales", f"{scaled} {text(folded(substituted(partial, named)))} ({short(local)}), {making}"


def _selected(symbol: str, gets: str, upstream: float, local: float) -> tuple[str, str]:
    """Say what an operation that selects one of its operands does, such as `maximum`."""
    if local == 0.0:
        return f"{symbol} holds back", f"{gets} nothing of upstream {short(upstream)}"
    if local == 1.0:
        return f"{symbol} lets through", f"{gets} upstream {short(upstream)} as it is"
    return (
        f"{symbol} is at a tie and splits",
        f"{gets} upstream {short(upstream)} times {short(local)}, making {short(local * upstream)}",
    )


def _value_of(node: Node, position: int, graph: Graph) -> str:
    """Name an operand and its number."""
    argument = node.arguments[position]
    if isinstance(argument, float):
        return f"the constant {short(argument)}"
    return f"{_said(graph.names[argument])}'s value {short(graph.nodes[argument].data)}"


def _number(argument: int | float, graph: Graph) -> float:
    """Return the number of an operand."""
    return argument if isinstance(argument, float) else graph.nodes[argument].data


def _as_formula(argument: int | float, graph: Graph) -> Formula:
    """Return an operand as a part of a formula."""
    if isinstance(argument, float):
        return number(argument)
    said = _said(graph.names[argument])
    return variable(said if said.isidentifier() else f"({said})")


def received(before: float, after: float, late: bool, again: bool, overwrite: bool) -> str:
    """Say what becomes of a contribution at an operand that was visited before, or that already got another."""
    if late:
        return ", too late: it has been visited already"
    if not again:
        return ""
    return f", which overwrites {short(before)}" if overwrite else f", on top of {short(before)}: {short(after)} in all"


def visited(node: Node, upstream: float, *, is_root: bool) -> str:
    """Say which node is visited, and with what gradient."""
    who = _said(node.name)
    if is_root:
        return f"{who} is the root: its gradient is 1. "
    if node.is_leaf:
        return f"{who} is a leaf: it keeps its gradient {short(upstream)}."
    return f"{who} has gradient {short(upstream)}. "


def joined(spoken: list[tuple[str, str]]) -> str:
    """Join verbs and clauses into sentences, one for all operands that the same was done to."""
    sentences: dict[str, list[str]] = {}
    for verb, clause in spoken:
        sentences.setdefault(verb, []).append(clause)
    return " ".join(f"{verb}: {'; '.join(clauses)}." for verb, clauses in sentences.items())


def _said(name: str) -> str:
    """Return a name on one line, or "?" for an empty one."""
    return one_line(name) or "?"
