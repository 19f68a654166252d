"""The forward and the backward pass over a graph as plain data: a step a node, a contribution an edge, all in words.

A step of the backward pass visits a node: its gradient is taken as it stands, and each operand gets its contribution,
upstream times local derivative. Whoever visits in an order of their own, or overwrites where they should accumulate,
gets wrong gradients: see `losses.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradwalk import ieee
from gradwalk.formula import Formula, number, resolved, substituted, text
from gradwalk.formula import name as variable
from gradwalk.graph import Graph, Node
from gradwalk.lettering import one_line, short
from gradwalk.rules import SUMPROD

_OPERANDS = ("x", "y", "z")


class ForwardStep(NamedTuple):
    """A node gets its number."""

    place: int
    name: str
    operation: str
    operands: tuple[str, ...]
    data: float
    sentence: str


class Contribution(NamedTuple):
    """What a node passes back to the operand at a position: `amount` = `upstream` · `local`.

    `formula`: the local derivative in the operands x, y, z and the result out, empty for rules made by hand. `before`
    and `after`: the operand's gradient. `late`: the operand had been visited, so the amount is lost.
    """

    place: int
    name: str
    position: int
    upstream: float
    local: float
    formula: str
    amount: float
    before: float
    after: float
    late: bool
    sentence: str


class BackwardStep(NamedTuple):
    """A node is visited with gradient `upstream`, and passes it back to its operands."""

    place: int
    name: str
    operation: str
    upstream: float
    contributions: tuple[Contribution, ...]
    sentence: str


def forward_steps(graph: Graph) -> tuple[ForwardStep, ...]:
    """A step for every node, operands before results."""
    return tuple([_forward_step(node, graph) for node in graph.nodes])


def swept(graph: Graph) -> tuple[int, ...]:
    """The places that gradient flows to from the root, in the order of `backward`."""
    nodes = graph.nodes
    reached = bytearray(len(nodes))
    reached[graph.root] = True
    order = []
    for node in reversed(nodes):
        if reached[node.place]:
            order.append(node.place)
            for _, operand in passing(node):
                reached[operand] = True
    return tuple(order)


def passing(node: Node) -> list[tuple[int, int]]:
    """The positions and places of the operands that a node passes its gradient to."""
    inert = node.inert
    return [(i, x) for i, x in enumerate(node.arguments) if isinstance(x, int) and i not in inert]


def contribution(node: Node, position: int, upstream: float) -> float:
    """What a node with gradient `upstream` passes back to the operand at a position."""
    local = node.partials[position]
    if local == 0.0 and node.row is not None and node.row.selects:
        return 0.0  # what it left out gets nothing, not even of an infinite gradient
    return local * upstream


def gradients(graph: Graph) -> list[float]:
    """d root / d node for every node, by place."""
    found = [0.0] * len(graph)
    found[graph.root] = 1.0
    for place in swept(graph):
        node = graph.nodes[place]
        for position, operand in passing(node):
            found[operand] += contribution(node, position, found[place])
    return found


def backward_steps(graph: Graph, order: Sequence[int], overwrite: bool) -> tuple[BackwardStep, ...]:
    """A step for every place in the order; `overwrite`: with `=` in place of `+=`."""
    found = [0.0] * len(graph)
    found[graph.root] = 1.0
    visited = bytearray(len(graph))
    touched = bytearray(len(graph))
    steps = []
    for place in order:
        node = graph.nodes[place]
        upstream = found[place]
        visited[place] = True
        contributions = []
        spoken = []
        for position, operand in passing(node):
            local, amount = node.partials[position], contribution(node, position, upstream)
            before, late = found[operand], bool(visited[operand])
            after = before if late else amount if overwrite else before + amount
            found[operand] = after
            verb, clause = _passed_on(graph, node, position, upstream, local)
            clause += _received(after, late, bool(touched[operand]), overwrite, short(before))
            touched[operand] = True
            spoken.append((verb, clause))
            contributions.append(
                Contribution(
                    operand,
                    graph.names[operand],
                    position,
                    upstream,
                    local,
                    _formula(node, position, graph),
                    amount,
                    before,
                    after,
                    late,
                    f"{verb}: {clause}",
                )
            )
        sentence = _visited(node, upstream, place == graph.root) + _joined(spoken)
        steps.append(BackwardStep(place, node.name, node.symbol, upstream, tuple(contributions), sentence))
    return tuple(steps)


def written(node: Node, graph: Graph) -> str:
    """An operation on the names of its operands."""
    return applied(node, [_said(graph.names[x]) if isinstance(x, int) else short(x) for x in node.arguments])


def applied(node: Node, operands: list[str]) -> str:
    """An operation on operands, written as Python writes it."""
    row = node.row
    if row is None or not row.operator or row.name == "abs":
        return f"{row.name if row else node.symbol}({', '.join(operands)})"
    bracketed = [x if x.isidentifier() or x.replace(".", "").isalnum() else f"({x})" for x in operands]
    return f"-{bracketed[0]}" if row.arity == 1 else f" {row.symbol} ".join(bracketed)


# Words


def _forward_step(node: Node, graph: Graph) -> ForwardStep:
    operands = tuple([graph.names[x] if isinstance(x, int) else repr(x) for x in node.arguments])
    if node.is_leaf:
        sentence = f"{_said(node.name)} is given: {short(node.data)}"
    elif len(operands) > 3 or node.row is None:
        sentence = f"{_said(node.name)} = {node.symbol} of {len(operands)} operands = {short(node.data)}"
    else:
        numbers = [short(graph.nodes[x].data) if isinstance(x, int) else short(x) for x in node.arguments]
        parts = [_said(node.name), written(node, graph), applied(node, numbers), short(node.data)]
        sentence = " = ".join(dict.fromkeys(parts))
    return ForwardStep(node.place, node.name, node.symbol, operands, node.data, sentence)


def _formula(node: Node, position: int, graph: Graph) -> str:
    """The local derivative as it stands in the table."""
    if node.place in graph.by_hand or (node.row is None and node.opcode != SUMPROD):
        return ""
    if node.row is None:
        return "1" if position == 0 else f"the factor beside it, number {_partner(node, position) + 1} of the operands"
    return text(node.row.partial(position))


def _partner(node: Node, position: int) -> int:
    """The position of the factor that stands beside another in a sum of products: start, p0, p1, ..., q0, q1, ..."""
    n = len(node.arguments) // 2
    return position + n if position <= n else position - n


def _passed_on(graph: Graph, node: Node, position: int, upstream: float, local: float) -> tuple[str, str]:
    """What a rule does, and what the operand at a position gets by it."""
    operand = node.arguments[position]
    gets = f"{_said(graph.names[operand] if isinstance(operand, int) else '')} gets"
    scaled = f"{gets} upstream {short(upstream)} times"
    making = f"making {short(local * upstream)}"
    symbol = _said(node.symbol)
    if node.place in graph.by_hand or node.opcode == 0:
        return f"{symbol} follows a rule made by hand", f"{scaled} {short(local)}, {making}"
    if node.row is None:
        if position == 0:
            return f"{symbol} copies to its start", f"{gets} upstream {short(upstream)} as it is"
        return f"{symbol} swaps and scales", f"{scaled} {_value_of(node, _partner(node, position), graph)}, {making}"
    row = node.row
    formula = row.partial(position)
    if row.selects:
        return _selected(symbol, gets, upstream, local)
    if formula == number(1):
        return f"{symbol} copies", f"{gets} upstream {short(upstream)} as it is"
    if formula == number(-1):
        return f"{symbol} turns the sign", f"{scaled} -1, {making}"
    for other, operand_name in enumerate(_OPERANDS):
        if formula == variable(operand_name):
            return f"{symbol} swaps and scales", f"{scaled} {_value_of(node, other, graph)}, {making}"
    formula = resolved(formula, _numbers(node, graph), ieee)
    named = {x: _as_written(node.arguments[i], graph) for i, x in enumerate(_OPERANDS[: row.arity])}
    return f"{symbol} scales", f"{scaled} {text(substituted(formula, named))} ({short(local)}), {making}"


def _selected(symbol: str, gets: str, upstream: float, local: float) -> tuple[str, str]:
    if local == 0.0:
        return f"{symbol} holds back", f"{gets} nothing of upstream {short(upstream)}"
    if local == 1.0:
        return f"{symbol} lets through", f"{gets} upstream {short(upstream)} as it is"
    return (
        f"{symbol} is at a tie and splits",
        f"{gets} upstream {short(upstream)} times {short(local)}, making {short(local * upstream)}",
    )


def _value_of(node: Node, position: int, graph: Graph) -> str:
    argument = node.arguments[position]
    if isinstance(argument, float):
        return f"the constant {short(argument)}"
    return f"{_said(graph.names[argument])}'s value {short(graph.nodes[argument].data)}"


def _numbers(node: Node, graph: Graph) -> dict[str, float]:
    """The numbers of x, y, z and out."""
    numbers = [x if isinstance(x, float) else graph.nodes[x].data for x in node.arguments]
    return {"out": node.data, **dict(zip(_OPERANDS, numbers, strict=False))}


def _as_written(argument: int | float, graph: Graph) -> Formula:
    """An operand inside a formula."""
    if isinstance(argument, float):
        return number(argument)
    said = _said(graph.names[argument])
    return variable(said if said.isidentifier() else f"({said})")


def _received(after: float, late: bool, again: bool, overwrite: bool, before: str) -> str:
    """What becomes of a contribution at the operand, where that is not plain."""
    if late:
        return ", too late: it has been visited already"
    if not again:
        return ""
    return f", which overwrites {before}" if overwrite else f", on top of {before}: {short(after)} in all"


def _visited(node: Node, upstream: float, is_root: bool) -> str:
    who = _said(node.name)
    if is_root:
        return f"{who} is the root: its gradient is 1. "
    if node.is_leaf:
        return f"{who} is a leaf: it keeps its gradient {short(upstream)}."
    return f"{who} has gradient {short(upstream)}. "


def _joined(spoken: list[tuple[str, str]]) -> str:
    """Sentences out of what was done and to whom; one for all operands that the same was done to."""
    sentences: dict[str, list[str]] = {}
    for verb, clause in spoken:
        sentences.setdefault(verb, []).append(clause)
    return " ".join(f"{verb}: {'; '.join(clauses)}." for verb, clauses in sentences.items())


def _said(name: str) -> str:
    return one_line(name) or "?"
