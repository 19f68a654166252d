"""`Graph`: the computation of some Values as flat arrays, the basis of walks, checks and drawings."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.base.array_types import Floats
from gradwalk.base.cached import cached_property
from gradwalk.graph.json import columns, graph_json
from gradwalk.graph.node import GraphError, Node
from gradwalk.graph.record import CONSTANT, notes_of, record
from gradwalk.ops.compiled.evaluate import ARITIES
from gradwalk.ops.compiled.opcodes import NAMES, SYMBOLS
from gradwalk.ops.table import VARIADIC, VARIADIC_BY_NAME
from gradwalk.value.source.source_line import SourceLine, files_of
from gradwalk.value.value import Value

Integers = NDArray[numpy.int32]


@dataclass(frozen=True, eq=False)
class Graph:
    """A computation as flat arrays in topological order: operands before results. A node is identified by its index.

    Attributes:
        opcodes: Opcode of each node's operation; 0 for leaves and hand-made nodes.
        offsets: The slice `offsets[i]:offsets[i + 1]` of `operands` and `partials` belongs to node i.
        operands: Index of each operand, or -1 for a constant.
        partials: Partial derivative of the node with respect to each operand; for a constant, the constant itself.
        data: Number of each node, as recorded.
        grad: Gradient of each node, as recorded.
        labels: Dict from node indices to labels. Under `source_lines()`, an unlabeled node is labeled with the variable
            that it was assigned to, followed by a number if the name is taken. A leaf that is assigned to an attribute
            of `self` gets no label.
        symbols: Dict from indices of hand-made nodes to the symbols of their operations.
        sources: Dict from node indices to the lines of the user's program that created the nodes, if known.
        by_hand: Indices of nodes whose `_backward` was set by hand.
        outputs: Indices of the roots.
        files: Dict from filenames to the text of the programs that contain `sources`, as they ran. Empty for a graph
            read from JSON, because the JSON may name any file.
        scopes: Dict from node indices to the named scopes of the node, joined by dots: see `named_scope`.
        derived: Dict from node indices to names that walks and drawings derive from labels and from the structure of
            the graph, such as `layers[0].neurons[2]` or `a * b`. Not part of the JSON form of the graph.

    Example:
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
    files: Mapping[str, str] = field(default_factory=dict)
    scopes: Mapping[int, str] = field(default_factory=dict)
    derived: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def record(cls, root: Value | Iterable[Value]) -> Graph:
        """Record the graph of one or several roots, with their present numbers and gradients.

        The partials of a hand-made node are found by running its `_backward` with a gradient of 1. This assumes that
        `_backward` is linear in the gradient.

        Args:
            root: A Value, or an iterable of Values for a graph with several outputs.

        Returns:
            The graph, with the roots as its outputs. Later changes of the Values do not affect it.

        Raises:
            TypeError: If a root is not a Value.
            ValueError: If there is no root, or hand-edited nodes form a cycle.

        Example:
            >>> a = Value(2.0, label="a")
            >>> Graph.record([a * a, a + 1.0])
            <Graph of 3 nodes to v2, v3>
        """
        roots = [root] if isinstance(root, Value) else _as_list(root)
        if not roots:
            raise ValueError("roots must not be empty: there is nothing to record")
        flat = record(roots)
        for array in flat[:6]:
            array.flags.writeable = False
        notes = notes_of(flat)
        files = files_of(notes.sources.values())
        return cls(*flat[:6], *notes[:4], flat.outputs, files, notes.scopes)

    def __len__(self) -> int:
        return len(self.opcodes)

    def __repr__(self) -> str:
        outputs = ", ".join(self._name(index) for index in self.outputs)
        return f"<Graph of {len(self)} nodes to {outputs}>"

    @property
    def edges(self) -> int:
        """Number of edges: one for each operand that is a node. Constants do not count."""
        return int((self.operands != CONSTANT).sum())

    @property
    def root(self) -> int:
        """Index of the output, for a graph with a single output.

        Raises:
            ValueError: If the graph has several outputs.
        """
        if len(self.outputs) != 1:
            names = ", ".join([self.names[i] for i in self.outputs[:8]] + ["..."] * (len(self.outputs) > 8))
            raise ValueError(f"this needs a graph with one root, but this graph has {len(self.outputs)}: {names}")
        return self.outputs[0]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A unique name for each node.

        The name is the name in `derived` or the label, followed by a number if an earlier node has the same name. Nodes
        without either are named v1, v2 and so on, by index.
        """
        wanted = [f"v{index + 1}" for index in range(len(self))]
        for index, label in self.labels.items():
            wanted[index] = label
        for index, name in self.derived.items():
            wanted[index] = name or wanted[index]
        taken = set(wanted)
        return tuple(wanted if len(taken) == len(wanted) else _numbered(wanted, taken))

    def _name(self, index: int) -> str:
        """Return the name of a node, which may be the name of other nodes, too."""
        return self.derived.get(index) or self.labels.get(index, f"v{index + 1}")

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes as objects, which are slower than the arrays but easier to use."""
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
                    self.scopes.get(index, ""),
                )
            )
        return tuple(nodes)

    def validate(self) -> None:
        """Check that the graph is valid.

        The arrays must be consistent; every node must have the number of operands that its operation takes; every
        operand must be a constant or an earlier node; and labels, symbols, lines, rules, scopes and outputs must refer
        to existing nodes.

        Raises:
            GraphError: If the graph is not valid. The message gives the reason and the node.

        Example:
            >>> from dataclasses import replace
            >>> replace(Graph.record(Value(2.0)), outputs=()).validate()
            Traceback (most recent call last):
                ...
            gradwalk.graph.node.GraphError: the graph has no output
        """
        _check_lengths(self)
        _check_opcodes(self)
        _check_operands(self)
        for what, indices in (
            ("label", self.labels),
            ("symbol", self.symbols),
            ("source line", self.sources),
            ("rule set by hand", self.by_hand),
            ("scope", self.scopes),
            ("output", self.outputs),
        ):
            for index in indices:
                if not 0 <= index < len(self):
                    raise GraphError(f"{what} refers to node {index}, but the graph has {len(self)} nodes")
        if not self.outputs:
            raise GraphError("the graph has no output")

    def to_dict(self) -> dict[str, Any]:
        """Convert the graph to plain data: the document that `to_json` writes, with nan and inf as strings.

        Returns:
            A dictionary with the keys "gradwalk", "version", "outputs" and "nodes"; "nodes" is a list with one
            dictionary per node.

        Example:
            >>> Graph.record(Value(3.0, label="a")).to_dict()["nodes"]
            [{'data': 3.0, 'grad': 0.0, 'label': 'a'}]
        """
        return graph_json.as_dict(self.nodes, self.symbols, self.outputs)

    def to_columns(self) -> dict[str, Any]:
        """Convert the graph to plain data in columns, which is faster to write and to read for large graphs.

        Returns:
            A dictionary in the second form of docs/graph.schema.json. `from_json` reads the JSON text of both forms.

        Example:
            >>> Graph.record(Value(3.0, label="a")).to_columns()["labels"]["items"]
            ['a']
        """
        return columns.as_columns(self)

    def to_json(self) -> str:
        """Convert the graph to JSON text, in the format of docs/graph.schema.json.

        Returns:
            The text, with one line per node. `from_json` reads it.

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
        """Read a graph from JSON text, in the form of `to_json` or `to_columns`.

        Args:
            text: A JSON document that satisfies docs/graph.schema.json.

        Returns:
            The graph, validated.

        Raises:
            GraphError: If the text is not a valid graph. The message gives the first error.

        Example:
            >>> a = Value(3.0, label="a")
            >>> Graph.from_json(Graph.record(a * 2.0).to_json()).data
            array([3., 6.])
        """
        graph = cls(**graph_json.read(text))
        graph.validate()
        return graph


def as_graph(root: Value | Iterable[Value] | Graph) -> Graph:
    """Return a Graph unchanged, or record the graph of one or several Values.

    Raises `TypeError` if `root` is anything else, and `ValueError` if there is no root.
    """
    return root if isinstance(root, Graph) else Graph.record(root)


def results_of(graph: Graph) -> NDArray[numpy.int64]:
    """Return the node that each entry of `graph.operands` is an operand of."""
    return numpy.repeat(numpy.arange(len(graph)), numpy.diff(graph.offsets))


def _numbered(wanted: Iterable[str], taken: set[str]) -> Iterator[str]:
    """Yield unique names: a name that an earlier node has is followed by a number, so that it is not in `taken`."""
    seen: set[str] = set()
    numbers: dict[str, Iterator[int]] = defaultdict(lambda: count(2))  # the numbers to try next, by name
    for name in wanted:
        if name in seen:
            unique = next(n for k in numbers[name] if (n := f"{name} ({k})") not in taken)
            taken.add(unique)
            yield unique
        else:
            seen.add(name)
            yield name


def _as_list(roots: Any) -> list[Value]:
    """Return the roots as a list, or raise `TypeError` if one is not a Value."""
    try:
        listed = list(roots)
    except TypeError:
        listed = [roots]
    for root in listed:
        if not isinstance(root, Value):
            given = type(root).__name__ if root is roots else f"{type(roots).__name__} of {type(root).__name__}"
            raise TypeError(f"the root of a graph must be a Value, or a list of Values for several roots, got {given}")
    return listed


def _check_lengths(graph: Graph) -> None:
    """Raise `GraphError` unless the arrays have the right types and lengths."""
    for name in ("opcodes", "offsets", "operands", "partials", "data", "grad"):
        array = getattr(graph, name)
        kind = "int32" if name in ("opcodes", "offsets", "operands") else "float64"
        if array.dtype != kind or array.ndim != 1 or not array.flags.c_contiguous:
            raise GraphError(f"{name} must be a contiguous one-dimensional array of {kind}")
    n, edges = len(graph.opcodes), len(graph.operands)
    for name, expected in (("offsets", n + 1), ("data", n), ("grad", n), ("partials", edges)):
        given = len(getattr(graph, name))
        if given != expected:
            raise GraphError(f"{name} must have {expected} entries for {n} nodes and {edges} operands, got {given}")
    steps = numpy.diff(graph.offsets)
    if graph.offsets[0] != 0 or graph.offsets[-1] != edges or (steps < 0).any():
        raise GraphError(f"offsets must increase from 0 to {edges}, the number of operands")


def _check_opcodes(graph: Graph) -> None:
    """Raise `GraphError` unless every opcode exists and every node has the right number of operands."""
    strange = ~numpy.isin(graph.opcodes, [0, *filter(NAMES.__getitem__, range(len(NAMES)))])
    if strange.any():
        index = int(strange.argmax())
        raise GraphError(f"node {index} has the unknown opcode {graph.opcodes[index]}")
    given = numpy.diff(graph.offsets)
    takes_as_many = given == numpy.array(ARITIES)[graph.opcodes]
    for row in VARIADIC:
        nodes = graph.opcodes == NAMES.index(row.name)
        takes_as_many[nodes] = [row.accepts(count) for count in given[nodes].tolist()]
    wrong = (graph.opcodes > 0) & ~takes_as_many
    wrong |= (graph.opcodes == 0) & (given > 0) & ~numpy.isin(numpy.arange(len(graph)), list(graph.symbols))
    if wrong.any():
        index = int(wrong.argmax())
        raise GraphError(_miscounted(int(graph.opcodes[index]), index, int(given[index])))


def _miscounted(opcode: int, index: int, given: int) -> str:
    if opcode == 0:
        return f"node {index} has operands ({given}) but no operation"
    row = VARIADIC_BY_NAME.get(NAMES[opcode])
    takes = row.takes if row else ARITIES[opcode]
    return f"node {index} ({NAMES[opcode]}) takes {takes} operands, not {given}"


def _check_operands(graph: Graph) -> None:
    """Raise `GraphError` unless every operand is a constant or an earlier node."""
    results = results_of(graph)
    wrong = (graph.operands < CONSTANT) | (graph.operands >= results)
    if wrong.any():
        edge = int(wrong.argmax())
        raise GraphError(f"node {results[edge]} has node {graph.operands[edge]} as operand, not an earlier node")
