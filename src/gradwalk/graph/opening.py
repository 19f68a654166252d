"""Expand nodes that perform many operations, such as `sumprod`, into separate sums and products."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy

from gradwalk.graph.graph import Graph, as_graph
from gradwalk.graph.node import Node
from gradwalk.graph.record import CONSTANT, record
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.compiled.templates import OPERANDS, TOTAL, Template, expansion
from gradwalk.ops.rows import Reduction
from gradwalk.value.apply import apply
from gradwalk.value.source.source_line import SourceLine
from gradwalk.value.value import Value


def opened(root: Value | Iterable[Value] | Graph) -> Graph:
    """Record a graph in which each `sumprod` node is expanded into its products and sums.

    A neuron of `gradwalk.nn` is a single `sumprod` node. Expanded, it can be drawn and walked like the neuron in
    micrograd.

    Args:
        root: A Value, an iterable of Values for several roots, or a Graph.

    Returns:
        The graph. Nodes keep their numbers, gradients, labels and source lines. The new products and sums have the
        source line of the `sumprod` node, and newly computed numbers and gradients.

    Example:
        >>> from gradwalk import walk
        >>> from gradwalk.math import sumprod
        >>> w, x, b = Value(2.0, label="w"), Value(3.0, label="x"), Value(1.0, label="b")
        >>> neuron = sumprod([w], [x], b)
        >>> len(as_graph(neuron)), len(opened(neuron))
        (4, 5)
        >>> [step.operation for step in walk(opened(neuron)).backward]
        ['+', '*', '', '', '']
    """
    graph = as_graph(root)
    opening = _Opening(graph)
    for node in graph.nodes:
        if isinstance(node.variadic, Reduction):
            opening.open(node, node.variadic)
        else:
            opening.copy(node)
    return opening.graph()


class _Opening:
    """A graph under construction: a copy of another graph, in which reductions are expanded."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._index: list[int] = []  # the index of each copied node in the new graph
        self._opcodes: list[int] = []
        self._offsets = [0]
        self._operands: list[int] = []
        self._partials: list[float] = []
        self._data: list[float] = []
        self._grad: list[float] = []
        self._sources: dict[int, SourceLine] = {}
        self._scopes: dict[int, str] = {}

    def copy(self, node: Node) -> None:
        """Copy a node unchanged."""
        start, end = self._graph.offsets[node.place : node.place + 2].tolist()
        operands = self._graph.operands[start:end].tolist()
        moved = [x if x == CONSTANT else self._index[x] for x in operands]
        self._write(node.opcode, moved, self._graph.partials[start:end].tolist(), node, node.data, node.grad)
        self._index.append(len(self._opcodes) - 1)

    def open(self, node: Node, row: Reduction) -> None:
        """Append the operations that a reduction expands into; the last operation replaces the node."""
        leaves = {x: Value(self._graph.data[x], label=str(x)) for x in node.operands}
        result = _expanded(row, [x if isinstance(x, float) else leaves[x] for x in node.arguments])
        if not isinstance(result, Value) or any(result is leaf for leaf in leaves.values()):  # no operation remains
            self.copy(node)
            return
        result.backward()
        inner = record([result])
        offsets, operands, partials = inner.offsets.tolist(), inner.operands.tolist(), inner.partials.tolist()
        data, grad = inner.data.tolist(), inner.grad.tolist()
        index = {place: self._index[int(leaf.label)] for place, leaf in inner.noted.items() if leaf.label}
        for place, opcode in enumerate(inner.opcodes.tolist()):
            if place not in index:
                index[place] = len(self._opcodes)
                edges = slice(offsets[place], offsets[place + 1])
                moved = [x if x == CONSTANT else index[x] for x in operands[edges]]
                self._write(opcode, moved, partials[edges], node, data[place], grad[place] * node.grad)
        self._index.append(index[inner.outputs[0]])

    def _write(
        self, opcode: int, operands: list[int], partials: list[float], origin: Node, data: float, grad: float
    ) -> None:
        """Append a copy of the node `origin` of the original graph, or an operation of its expansion."""
        if origin.source is not None:
            self._sources[len(self._opcodes)] = origin.source
        if origin.place in self._graph.scopes:
            self._scopes[len(self._opcodes)] = self._graph.scopes[origin.place]
        self._opcodes.append(opcode)
        self._operands += operands
        self._offsets.append(len(self._operands))
        self._partials += partials
        self._data.append(data)
        self._grad.append(grad)

    def graph(self) -> Graph:
        """Return the constructed graph."""
        before, index = self._graph, self._index
        return Graph(
            numpy.array(self._opcodes, numpy.int32),
            numpy.array(self._offsets, numpy.int32),
            numpy.array(self._operands, numpy.int32),
            numpy.array(self._partials, numpy.float64),
            numpy.array(self._data, numpy.float64),
            numpy.array(self._grad, numpy.float64),
            {index[i]: label for i, label in before.labels.items()},
            {index[i]: symbol for i, symbol in before.symbols.items()},
            self._sources,
            frozenset(index[i] for i in before.by_hand),
            tuple(index[i] for i in before.outputs),
            before.files,
            self._scopes,
        )


def _expanded(row: Reduction, operands: Sequence[Value | float]) -> Value | float:
    """Compute a reduction with the operations of its expansion, but without additions of 0."""
    first, step = expansion(row)
    total = operands[0] if row.starts else _computed(first, {})
    length = (len(operands) - row.starts) // row.groups
    for i in range(length):
        element = [operands[row.starts + i + group * length] for group in range(row.groups)]
        total = _computed(step, {TOTAL: total, **dict(zip(OPERANDS.values(), element, strict=False))})
    return total


def _computed(template: Template, references: dict[int, Value | float]) -> Value | float:
    """Evaluate the instructions of a template, without additions of 0."""
    for k, (opcode, operands, number) in enumerate(template.instructions):
        given = [references[operand] for operand in operands]
        are_zero = [isinstance(x, float) and x == 0.0 for x in given]
        if opcode == OPCODES["add"] and any(are_zero):
            references[k] = given[1] if are_zero[0] else given[0]
        else:
            references[k] = apply(opcode, *given) if opcode else number
    return references[template.result]
