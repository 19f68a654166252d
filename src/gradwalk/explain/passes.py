"""The forward and the backward pass over a graph as plain data: a step a node, a contribution an edge, all in words.

A step of the backward pass visits a node: its gradient is taken as it stands, and each operand gets its contribution,
upstream times local derivative. Whoever visits in an order of their own, or overwrites where they should accumulate,
gets wrong gradients: see `losses.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradwalk.explain import sentences
from gradwalk.graph.graph import Graph
from gradwalk.graph.node import Node


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


def _forward_step(node: Node, graph: Graph) -> ForwardStep:
    operands = tuple([graph.names[x] if isinstance(x, int) else repr(x) for x in node.arguments])
    return ForwardStep(node.place, node.name, node.symbol, operands, node.data, sentences.computed(node, graph))


def swept(graph: Graph) -> tuple[int, ...]:
    """The indices that gradient flows to from the root, in the order of `backward`."""
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
    """The positions and indices of the operands that a node passes its gradient to."""
    inert = node.inert
    return [(i, x) for i, x in enumerate(node.arguments) if isinstance(x, int) and i not in inert]


def contribution(node: Node, position: int, upstream: float) -> float:
    """What a node with gradient `upstream` passes back to the operand at a position."""
    local = node.partials[position]
    if local == 0.0 and node.row is not None and node.row.selects:
        return 0.0  # what it left out gets nothing, not even of an infinite gradient
    return local * upstream


def gradients(graph: Graph) -> list[float]:
    """d root / d node for every node, by index."""
    found = [0.0] * len(graph)
    found[graph.root] = 1.0
    for index in swept(graph):
        node = graph.nodes[index]
        for position, operand in passing(node):
            found[operand] += contribution(node, position, found[index])
    return found


def backward_steps(graph: Graph, order: Sequence[int], overwrite: bool) -> tuple[BackwardStep, ...]:
    """A step for every index in the order; `overwrite`: with `=` in place of `+=`."""
    sweep = _Sweep(graph, overwrite)
    return tuple([sweep.visit(graph.nodes[index]) for index in order])


class _Sweep:
    """A backward pass in the middle: the gradients so far, and what has been visited or has got something."""

    def __init__(self, graph: Graph, overwrite: bool) -> None:
        self._graph = graph
        self._overwrite = overwrite
        self._found = [0.0] * len(graph)
        self._found[graph.root] = 1.0
        self._visited = bytearray(len(graph))
        self._touched = bytearray(len(graph))

    def visit(self, node: Node) -> BackwardStep:
        """Take the node's gradient as it stands, and pass it back."""
        self._visited[node.place] = True
        upstream = self._found[node.place]
        given = [self._contribute(node, position, operand, upstream) for position, operand in passing(node)]
        sentence = sentences.visited(node, upstream, is_root=node.place == self._graph.root)
        sentence += sentences.joined([(verb, clause) for _, verb, clause in given])
        return BackwardStep(
            node.place, node.name, node.symbol, upstream, tuple([contributed for contributed, _, _ in given]), sentence
        )

    def _contribute(self, node: Node, position: int, operand: int, upstream: float) -> tuple[Contribution, str, str]:
        """Give an operand its contribution: that, and what was done, and to whom, in words."""
        local, amount = node.partials[position], contribution(node, position, upstream)
        before, late = self._found[operand], bool(self._visited[operand])
        after = before if late else amount if self._overwrite else before + amount
        verb, clause = sentences.passed_on(self._graph, node, position, upstream)
        clause += sentences.received(before, after, late, bool(self._touched[operand]), self._overwrite)
        self._found[operand] = after
        self._touched[operand] = True
        name, formula = self._graph.names[operand], sentences.formula(node, position)
        return (
            Contribution(
                *(operand, name, position, upstream, local, formula, amount, before, after, late, f"{verb}: {clause}")
            ),
            verb,
            clause,
        )
