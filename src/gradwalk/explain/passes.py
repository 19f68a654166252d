"""The forward and the backward pass over a graph as plain data: one step for each node, one contribution for each edge.

A step of the backward pass visits a node: its gradient is taken as it stands, and each operand gets its contribution,
upstream times local derivative. Visiting in a wrong order, or overwriting instead of accumulating, makes wrong
gradients: `lost_gradients.py` says which and why. Every step says in a sentence what it does.
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
    """A node gets its number.

    Attributes:
        place: The index of the node.
        name: Its name in the graph.
        operation: The symbol of its operation, "" for leaves.
        operands: The names of its operands, and constants as text.
        data: The number.
        sentence: The step in words.
    """

    place: int
    name: str
    operation: str
    operands: tuple[str, ...]
    data: float
    sentence: str


class Contribution(NamedTuple):
    """A contribution of a node to one operand's gradient: `amount` is `upstream` times `local`.

    Attributes:
        place: The index of the operand.
        name: Its name in the graph.
        position: Its position among the operands of the node.
        upstream: The gradient of the node.
        local: The partial derivative of the node with respect to this operand.
        formula: That derivative in terms of the operands x, y, z and the result out; "" for rules made by hand.
        amount: The contribution.
        before: The gradient of the operand before the contribution.
        after: The gradient of the operand after it.
        late: Whether the operand has been visited already, so that the amount is lost.
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
    """A node is visited and passes its gradient back to its operands.

    Attributes:
        place: The index of the node.
        name: Its name in the graph.
        operation: The symbol of its operation, "" for leaves.
        upstream: Its gradient at the time of the visit.
        contributions: What its operands get.
        sentence: The step in words.
    """

    place: int
    name: str
    operation: str
    upstream: float
    contributions: tuple[Contribution, ...]
    sentence: str


def forward_steps(graph: Graph) -> tuple[ForwardStep, ...]:
    """Return one step for every node, operands before results.

    Args:
        graph: The graph.

    Returns:
        The steps.
    """
    return tuple([_forward_step(node, graph) for node in graph.nodes])


def _forward_step(node: Node, graph: Graph) -> ForwardStep:
    """Describe how one node gets its number."""
    operands = tuple([graph.names[x] if isinstance(x, int) else repr(x) for x in node.arguments])
    return ForwardStep(node.place, node.name, node.symbol, operands, node.data, sentences.computed(node, graph))


def swept(graph: Graph) -> tuple[int, ...]:
    """Return the indices of the nodes that gradient flows to from the root, in the order of `Value.backward`.

    Args:
        graph: The graph.

    Returns:
        The indices, the root first.
    """
    offsets, operands = graph.offsets.tolist(), _passed_to(graph)
    reached = bytearray(len(graph) + 1)  # the last stands for operands that nothing is passed to
    reached[graph.root] = True
    order = []
    for index in range(len(graph) - 1, -1, -1):
        if reached[index]:
            order.append(index)
            for operand in operands[offsets[index] : offsets[index + 1]]:
                reached[operand] = True
    return tuple(order)


def _passed_to(graph: Graph) -> list[int]:
    """Return the operands of the graph with -1 in place of those that no gradient is passed to."""
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
    """Return the nodes that no gradient flows to, because all that uses them is flat or is a choice that they decide.

    Args:
        graph: The graph.

    Returns:
        The nodes, users before what they use.
    """
    visited = set(swept(graph))
    return [node for node in reversed(graph.nodes) if node.place not in visited]


def checkable(graph: Graph) -> list[int]:
    """Return the indices of the nodes that a small change makes sense of: not of what only chooses, as an index does.

    Args:
        graph: The graph.

    Returns:
        The indices, users after what they use.
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
    """Return the position and the index of every operand that a node passes its gradient to.

    Args:
        node: The node.

    Returns:
        Pairs of position and index.
    """
    blocked = node.non_differentiable
    return [(i, x) for i, x in enumerate(node.arguments) if isinstance(x, int) and i not in blocked]


def leaves_out(node: Node, position: int) -> bool:
    """Return whether a node selects among its operands, and has left out the one at a position.

    Args:
        node: The node.
        position: The position of the operand.

    Returns:
        True or False.
    """
    return node.partials[position] == 0.0 and node.selects


def reached(graph: Graph) -> bytearray:
    """Find the nodes that a contribution arrives at: not those that choices leave out on every path from the roots.

    What was left out passes nothing on, not even where a partial is infinite and 0 · inf would be nan.

    Args:
        graph: The graph.

    Returns:
        A byte for each node, 1 or 0.
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
    """Compute what a node that gradient `upstream` has reached passes back to the operand at a position.

    Args:
        node: The node.
        position: The position of the operand.
        upstream: The gradient of the node.

    Returns:
        The contribution.
    """
    if leaves_out(node, position):
        return 0.0  # not even of an infinite gradient
    return node.partials[position] * upstream


def gradients(graph: Graph) -> list[float]:
    """Compute the derivative of the root with respect to every node, by index.

    Args:
        graph: The graph.

    Returns:
        A list with a derivative for each node.
    """
    found = [0.0] * len(graph)
    found[graph.root] = 1.0
    has_got = reached(graph)
    for index in swept(graph):
        node = graph.nodes[index]
        for position, operand in passing(node) if has_got[index] else ():
            found[operand] += contribution(node, position, found[index])
    return found


def backward_steps(graph: Graph, order: Sequence[int], overwrite: bool) -> tuple[BackwardStep, ...]:
    """Visit nodes in a given order and describe every visit.

    Args:
        graph: A graph with one root.
        order: The indices of the nodes to visit.
        overwrite: Write contributions with `=` in place of `+=`.

    Returns:
        A step for each visit, in order.
    """
    sweep = _Sweep(graph, overwrite)
    return tuple([sweep.visit(graph.nodes[index]) for index in order])


class _Sweep:
    """The state of a backward pass: the gradients so far, and which nodes were visited, touched, and not left out."""

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
        """Take the node's gradient as it stands and pass it back."""
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
        """Give an operand its contribution; return that, the verb of the sentence, and the clause about it."""
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
