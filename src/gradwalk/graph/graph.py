"""`Graph`: what Values remember, as flat arrays. All views of a computation are made from it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.graph import graph_json
from gradwalk.graph.node import GraphError, Node
from gradwalk.ops.evaluate import ARITIES, NAMES, SUMPROD, SYMBOLS
from gradwalk.value.source_line import SourceLine
from gradwalk.value.value import CONSTANT, Value, record

Integers = NDArray[numpy.int32]
Floats = NDArray[numpy.float64]


@dataclass(frozen=True, eq=False)
class Graph:
    """A computation, operands before results. A node is known by its index: 0 for the first.

    `opcodes`: the operation of each node, counted from 1 in the table's order; 0 for leaves and hand-made nodes.
    `offsets`: the operands of node i stand at `offsets[i]` to `offsets[i + 1]` in `operands` and `partials`.
    `operands`: indices; -1 where a constant stands.
    `partials`: d node / d operand; where a constant stands, the constant. `data`, `grad`: as recorded.
    `labels`, `sources`: of the nodes that have one, by index. `symbols`: the same for hand-made nodes.
    `by_hand`: the nodes whose `_backward` was set. `outputs`: the indices of the roots.

    >>> a = Value(2.0, label="a")
    >>> graph = Graph.record(a * a + 1)
    >>> graph.operands.tolist(), graph.partials.tolist()
    ([0, 0, 1, -1], [2.0, 2.0, 1.0, 1.0])
    """

    opcodes: Integers
    offsets: Integers
    operands: Integers
    partials: Floats
    data: Floats
    grad: Floats
    labels: Mapping[int, str]
    symbols: Mapping[int, str]
    sources: Mapping[int, SourceLine]
    by_hand: frozenset[int]
    outputs: tuple[int, ...]

    @classmethod
    def record(cls, root: Value | Iterable[Value]) -> Graph:
        """The graph of a root, or of several, with numbers and gradients as they are now.

        The rules of hand-made nodes are asked for their partials: they are run with a gradient of 1, and taken to be
        linear in it, as the chain rule has it. Raises `TypeError` where a root is not a Value, `ValueError` where there
        is none or where hand-edited nodes form a cycle.
        """
        roots = [root] if isinstance(root, Value) else _as_list(root)
        if not roots:
            raise ValueError("there is nothing to record: the list of roots is empty")
        fields = record(roots)
        for array in fields[:6]:
            array.flags.writeable = False
        return cls(*fields)

    def __len__(self) -> int:
        return len(self.opcodes)

    def __repr__(self) -> str:
        outputs = ", ".join(self.labels.get(index, f"v{index + 1}") for index in self.outputs)
        return f"<Graph of {len(self)} nodes to {outputs}>"

    @property
    def edges(self) -> int:
        """How many operands are nodes."""
        return int((self.operands != CONSTANT).sum())

    @property
    def root(self) -> int:
        """The index of the only output. Raises `ValueError` where there are several."""
        if len(self.outputs) != 1:
            names = ", ".join(self.names[index] for index in self.outputs)
            raise ValueError(f"this needs a graph with one root, and this one has {len(self.outputs)}: {names}")
        return self.outputs[0]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name of its own for every node.

        Its label, with a number where an earlier node has the same; for those without, v1, v2 and so on, by index.
        """
        taken = set(self.labels.values()) | {f"v{index + 1}" for index in range(len(self)) if index not in self.labels}
        uses: Counter[str] = Counter()
        names = []
        for index in range(len(self)):
            label = self.labels.get(index, f"v{index + 1}")
            uses[label] += 1
            name = label
            if uses[label] > 1:
                name = next(n for k in count(uses[label]) if (n := f"{label} ({k})") not in taken)
                taken.add(name)
            names.append(name)
        return tuple(names)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, for readers."""
        offsets, operands, partials = self.offsets.tolist(), self.operands.tolist(), self.partials.tolist()
        data, grad = self.data.tolist(), self.grad.tolist()
        nodes = []
        for index, opcode in enumerate(self.opcodes.tolist()):
            edges = range(offsets[index], offsets[index + 1])
            nodes.append(
                Node(
                    index,
                    self.names[index],
                    self.labels.get(index, ""),
                    self.symbols.get(index, "") if opcode == 0 else SYMBOLS[opcode],
                    opcode,
                    tuple([partials[k] if operands[k] == CONSTANT else operands[k] for k in edges]),
                    tuple([math.nan if operands[k] == CONSTANT else partials[k] for k in edges]),
                    data[index],
                    grad[index],
                    self.sources.get(index),
                    index in self.by_hand,
                )
            )
        return tuple(nodes)

    def validate(self) -> None:
        """Raise `GraphError` where the graph is not well formed.

        It is when the arrays fit each other; every node has as many operands as its operation takes; every operand is
        a constant or an earlier node; and labels, symbols, lines, rules and outputs belong to nodes that there are.
        """
        _check_lengths(self)
        _check_opcodes(self)
        _check_operands(self)
        for what, indices in (
            ("label", self.labels),
            ("symbol", self.symbols),
            ("source line", self.sources),
            ("rule set by hand", self.by_hand),
            ("output", self.outputs),
        ):
            for index in indices:
                if not 0 <= index < len(self):
                    raise GraphError(f"a {what} is that of node {index}, and there are {len(self)} nodes")
        if not self.outputs:
            raise GraphError("the graph has no output")

    def to_dict(self) -> dict[str, Any]:
        """Describe the graph as plain data: what `to_json` writes, nan and inf as strings."""
        return graph_json.as_dict(self.nodes, self.symbols, self.outputs)

    def to_json(self) -> str:
        """Write the graph as JSON, by the schema in docs/graph.schema.json.

        Example:
            >>> print(Graph.record(Value(3.0, label="a") * 2.0).to_json())
            {"gradwalk": "graph", "version": 1, "outputs": [1], "nodes": [
            {"data": 3.0, "grad": 0.0, "label": "a"},
            {"operation": "mul", "operands": [0, {"constant": 2.0}], "partials": [2.0, null], "data": 6.0, "grad": 0.0}
            ]}
        """
        return graph_json.as_text(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Graph:
        """Read a graph that `to_json` wrote.

        Args:
            text: A JSON document by docs/graph.schema.json.

        Raises:
            GraphError: The text is something else; the message says where it stops making sense.
        """
        graph = cls(**graph_json.read(text))
        graph.validate()
        return graph


def as_graph(root: Value | Iterable[Value] | Graph) -> Graph:
    """A graph as it is, Values recorded."""
    return root if isinstance(root, Graph) else Graph.record(root)


def _as_list(roots: Any) -> list[Value]:
    try:
        listed = list(roots)
    except TypeError:
        listed = [roots]
    for root in listed:
        if not isinstance(root, Value):
            given = type(root).__name__ if root is roots else f"{type(roots).__name__} of {type(root).__name__}"
            raise TypeError(f"the root of a graph is a Value, or a list of Values for several roots, not {given}")
    return listed


def _check_lengths(graph: Graph) -> None:
    for name in ("opcodes", "offsets", "operands", "partials", "data", "grad"):
        array = getattr(graph, name)
        kind = "int32" if name in ("opcodes", "offsets", "operands") else "float64"
        if array.dtype != kind or array.ndim != 1 or not array.flags.c_contiguous:
            raise GraphError(f"{name} is not a contiguous row of {kind}")
    n, edges = len(graph.opcodes), len(graph.operands)
    for name, expected in (("offsets", n + 1), ("data", n), ("grad", n), ("partials", edges)):
        given = len(getattr(graph, name))
        if given != expected:
            raise GraphError(f"{name} has {given} entries, not {expected}: {n} nodes and {edges} operands are given")
    steps = numpy.diff(graph.offsets)
    if graph.offsets[0] != 0 or graph.offsets[-1] != edges or (steps < 0).any():
        raise GraphError(f"offsets do not rise from 0 to {edges}, the number of operands")


def _check_opcodes(graph: Graph) -> None:
    strange = (graph.opcodes < 0) | (graph.opcodes > SUMPROD)
    if strange.any():
        index = int(strange.argmax())
        raise GraphError(f"node {index} has opcode {graph.opcodes[index]}, and they go from 0 to {SUMPROD}")
    given = numpy.diff(graph.offsets)
    wrong = (graph.opcodes > 0) & (graph.opcodes != SUMPROD) & (given != numpy.array(ARITIES)[graph.opcodes])
    wrong |= (graph.opcodes == SUMPROD) & (given % 2 == 0)
    wrong |= (graph.opcodes == 0) & (given > 0) & ~numpy.isin(numpy.arange(len(graph)), list(graph.symbols))
    if wrong.any():
        index = int(wrong.argmax())
        raise GraphError(_miscounted(int(graph.opcodes[index]), index, int(given[index])))


def _miscounted(opcode: int, index: int, given: int) -> str:
    if opcode == 0:
        return f"node {index} has operands ({given}) but no operation"
    takes = "an odd number of" if opcode == SUMPROD else ARITIES[opcode]
    return f"node {index} ({NAMES[opcode]}) takes {takes} operands, not {given}"


def _check_operands(graph: Graph) -> None:
    results = numpy.repeat(numpy.arange(len(graph)), numpy.diff(graph.offsets))
    wrong = (graph.operands < CONSTANT) | (graph.operands >= results)
    if wrong.any():
        edge = int(wrong.argmax())
        raise GraphError(f"node {results[edge]} has node {graph.operands[edge]} as operand, which is no earlier node")
