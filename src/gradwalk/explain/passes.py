"""Forward and backward pass over a graph as plain data: one step for each node, one contribution for each edge.

A backward step visits a node and passes to each operand a contribution: the node's current gradient times the local
derivative. If nodes are visited in a wrong order, or contributions overwrite each other instead of being added,
gradients are wrong; `lost_gradients.py` finds the wrong gradients and the reasons. Every step has a sentence that
describes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy

from gradwalk.explain import sentences
from gradwalk.graph.graph import Graph
from gradwalk.graph.node import Node
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.ops.table import BY_NAME, VARIADIC_BY_NAME


class ForwardStep(NamedTuple):
    """A step of the forward pass, which computes the value of a node.

    Attributes:
        place: The index of the node.
        name: The name of the node in the graph.
        operation: The symbol of the node's operation; "" for leaves.
        operands: The names of the operands, and constants as text.
        data: The value.
        sentence: The step in words.
    """

    place: int
    name: str
    operation: str
    operands: tuple[str, ...]
    data: float
    sentence: str


class Contribution(NamedTuple):
    """A contribution of a node to the gradient of one operand: `amount = upstream * local`.

    Attributes:
        place: The index of the operand.
        name: The name of the operand in the graph.
        position: The position of the operand among the node's operands.
        upstream: The gradient of the node.
        local: The partial derivative of the node with respect to this operand.
        formula: The formula for `local` in terms of the operands x, y, z and the result out; "" for custom rules.
        amount: The contribution.
        before: The gradient of the operand before the contribution.
        after: The gradient of the operand after the contribution.
        late: Whether the operand was visited before the contribution arrived, so that the contribution is lost.
        sentence: The contribution in words.
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
    """A step of the backward pass, which visits a node and propagates its gradient to its operands.

    Attributes:
        place: The index of the node.
        name: The name of the node in the graph.
        operation: The symbol of the node's operation; "" for leaves.
        upstream: The gradient of the node at the time of the visit.
        contributions: The contributions to the operands.
        sentence: The step in words.
    """

    place: int
    name: str
    operation: str
    upstream: float
    contributions: tuple[Contribution, ...]
    sentence: str


def forward_steps(graph: Graph) -> tuple[ForwardStep, ...]:
    """Return one forward step for every node, operands before results."""
    return tuple([_forward_step(node, graph) for node in graph.nodes])


def _forward_step(node: Node, graph: Graph) -> ForwardStep:
    """Return the forward step of one node."""
    operands = tuple([graph.names[x] if isinstance(x, int) else repr(x) for x in node.arguments])
    return ForwardStep(node.place, node.name, node.symbol, operands, node.data, sentences.computed(node, graph))


def swept(graph: Graph) -> tuple[int, ...]:
    """Return the indices of the nodes that receive a gradient, root first, in the order of `Value.backward`."""
    offsets, operands = graph.offsets.tolist(), passed_to(graph)
    reached = bytearray(len(graph) + 1)  # the extra last entry is for index -1: an operand that receives no gradient
    reached[graph.root] = True
    order = []
    for index in range(len(graph) - 1, -1, -1):
        if reached[index]:
            order.append(index)
            for operand in operands[offsets[index] : offsets[index + 1]]:
                reached[operand] = True
    return tuple(order)


def passed_to(graph: Graph) -> list[int]:
    """Return the operand indices of all nodes in one list, with -1 for each operand that receives no gradient."""
    operands = graph.operands.copy()
    for opcode in numpy.unique(graph.opcodes).tolist():
        row = BY_NAME.get(NAMES[opcode]) or VARIADIC_BY_NAME.get(NAMES[opcode])
        for position in row.non_differentiable if row else ():
            operands[graph.offsets[:-1][graph.opcodes == opcode] + position] = CONSTANT
    passed: list[int] = operands.tolist()
    for index in graph.by_hand:
        start = int(graph.offsets[index])
        for position in graph.nodes[index].non_differentiable:
            passed[start + position] = CONSTANT
    return passed


def not_swept(graph: Graph) -> list[Node]:
    """Return the nodes that receive no gradient, users before operands.

    Such a node is used only in flat operations such as `floor`, as the condition or index of a selection, or by other
    nodes that receive no gradient.
    """
    visited = set(swept(graph))
    return [node for node in reversed(graph.nodes) if node.place not in visited]


def checkable(graph: Graph) -> list[int]:
    """Return the indices of the nodes that a numerical check can perturb, operands before users.

    Nodes used only as conditions or indices of selections are left out.
    """
    found = bytearray(len(graph))
    found[graph.root] = True
    for node in reversed(graph.nodes):
        if found[node.place]:
            choosing = node.non_differentiable if node.selects else ()
            for position, operand in enumerate(node.arguments):
                if isinstance(operand, int) and position not in choosing:
                    found[operand] = True
    return [index for index in range(len(graph)) if found[index]]


def passing(node: Node) -> list[tuple[int, int]]:
    """Return (position, index) of every operand to which a node propagates its gradient."""
    blocked = node.non_differentiable
    return [(i, x) for i, x in enumerate(node.arguments) if isinstance(x, int) and i not in blocked]


def leaves_out(node: Node, position: int) -> bool:
    """Return whether a node is a selection that did not select the operand at `position`."""
    return node.partials[position] == 0.0 and node.selects


def reached(graph: Graph) -> bytearray:
    """Find the nodes that are reachable from a root through selected operands only; return 1 or 0 for each node.

    The other nodes propagate no gradient, which avoids nan from 0 * inf where a partial is infinite.
    """
    found = bytearray(len(graph))
    for index in graph.outputs:
        found[index] = True
    for node in reversed(graph.nodes):
        if found[node.place]:
            for position, operand in passing(node):
                found[operand] |= not leaves_out(node, position)
    return found


def contribution(node: Node, position: int, upstream: float) -> float:
    """Compute the contribution of a node with gradient `upstream` to the operand at a position."""
    if leaves_out(node, position):
        return 0.0  # even if the upstream gradient is infinite
    return node.partials[position] * upstream


def gradients(graph: Graph) -> list[float]:
    """Return a list with the derivative of the root with respect to each node."""
    found = [0.0] * len(graph)
    found[graph.root] = 1.0
    has_got = reached(graph)
    for index in swept(graph):
        node = graph.nodes[index]
        for position, operand in passing(node) if has_got[index] else ():
            found[operand] += contribution(node, position, found[index])
    return found


def backward_steps(graph: Graph, order: Sequence[int], overwrite: bool) -> tuple[BackwardStep, ...]:
    """Visit the nodes of a graph with one root in a given order, and return a step for each visit.

    If `overwrite` is true, contributions are written with `=` instead of `+=`.
    """
    sweep = _Sweep(graph, overwrite)
    return tuple([sweep.visit(graph.nodes[index]) for index in order])


class _Sweep:
    """The state of a backward pass: the gradients so far, and three flags for each node.

    The flag `visited` is set if the node's gradient was propagated, and `touched` if a contribution arrived at the
    node. `has_got` is set if the node was reached from the root through selected operands only.
    """

    def __init__(self, graph: Graph, overwrite: bool) -> None:
        self._graph = graph
        self._overwrite = overwrite
        self._found = [0.0] * len(graph)
        self._found[graph.root] = 1.0
        self._visited = bytearray(len(graph))
        self._touched = bytearray(len(graph))
        self._has_got = bytearray(len(graph))
        self._has_got[graph.root] = True

    def visit(self, node: Node) -> BackwardStep:
        """Propagate the node's current gradient to its operands."""
        self._visited[node.place] = True
        upstream = self._found[node.place]
        given = [self._contribute(node, position, operand, upstream) for position, operand in passing(node)]
        told = [
            sentences.visited(node, upstream, is_root=node.place == self._graph.root),
            sentences.joined([(verb, clause) for _, verb, clause in given]),
            sentences.kept(self._graph, node),
        ]
        return BackwardStep(
            *(node.place, node.name, node.symbol, upstream, tuple([contributed for contributed, _, _ in given])),
            sentence=" ".join(filter(None, told)),
        )

    def _contribute(self, node: Node, position: int, operand: int, upstream: float) -> tuple[Contribution, str, str]:
        """Add a contribution to an operand's gradient.

        Returns the contribution, and the verb and the clause of the sentence that describes it.
        """
        has_got = bool(self._has_got[node.place])
        local, amount = node.partials[position], contribution(node, position, upstream) if has_got else 0.0
        before, late = self._found[operand], bool(self._visited[operand])
        after = before if late else amount if self._overwrite else before + amount
        verb, clause = sentences.passed_on(self._graph, node, position, upstream, has_got=has_got)
        clause += sentences.received(before, after, late, bool(self._touched[operand]), self._overwrite)
        self._found[operand] = after
        self._touched[operand] = True
        self._has_got[operand] |= has_got and not leaves_out(node, position)
        name, formula = self._graph.names[operand], sentences.formula(node, position)
        return (
            Contribution(
                *(operand, name, position, upstream, local, formula, amount, before, after, late, f"{verb}: {clause}")
            ),
            verb,
            clause,
        )
