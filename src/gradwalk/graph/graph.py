"""`Graph`: what Values remember, as flat arrays. All views of a computation are made from it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.graph.record import CONSTANT, notes_of, record
from gradwalk.ops.evaluate import ARITIES, NAMES, SUMPROD, SYMBOLS
from gradwalk.ops.table import BY_NAME, Operation
from gradwalk.value.source_line import SourceLine
from gradwalk.value.value import Value

VERSION = 1  # of the JSON form

Integers = NDArray[numpy.int32]
Floats = NDArray[numpy.float64]


class GraphError(ValueError):
    """What is wrong with a graph, and at which node."""


class Node(NamedTuple):
    """One node of a graph, for readers. `arguments`: places of operands (int) and constants (float), in order."""

    place: int
    name: str
    label: str
    symbol: str
    opcode: int
    arguments: tuple[int | float, ...]
    partials: tuple[float, ...]
    data: float
    grad: float
    source: SourceLine | None
    by_hand: bool

    @property
    def is_leaf(self) -> bool:
        """Whether it was made from nothing."""
        return not self.arguments

    @property
    def row(self) -> Operation | None:
        """Its row in the table; None for leaves, hand-made nodes and sums of products."""
        return BY_NAME.get(NAMES[self.opcode])

    @property
    def inert(self) -> tuple[int, ...]:
        """The positions of operands that it passes nothing to, such as the condition of `where`.

        A rule made by hand does not tell the places of one operand apart: it passes to the first of them.
        """
        if self.by_hand:
            return tuple(i for i, x in enumerate(self.arguments) if isinstance(x, int) and x in self.arguments[:i])
        return self.row.inert if self.row else ()

    @property
    def operands(self) -> tuple[int, ...]:
        """The places among its arguments."""
        return tuple(x for x in self.arguments if isinstance(x, int))

    @property
    def condition_operands(self) -> tuple[int, ...]:
        """The operands that only decide: those at inert positions of its row."""
        operands = (self.arguments[i] for i in self.row.inert) if self.row else ()
        return tuple(x for x in operands if isinstance(x, int))


@dataclass(frozen=True, eq=False)
class Graph:
    """A computation, operands before results. A node is known by its place: 0 for the first.

    `opcodes`: the operation of each node, counted from 1 in the table's order; 0 for leaves and hand-made nodes.
    `offsets`: the operands of node i stand at `offsets[i]` to `offsets[i + 1]` in `operands` and `partials`.
    `operands`: places; -1 where a constant stands.
    `partials`: d node / d operand; where a constant stands, the constant. `data`, `grad`: as recorded.
    `labels`, `sources`: of the nodes that have one, by place. `symbols`: the same for hand-made nodes.
    `by_hand`: the nodes whose `_backward` was set. `outputs`: the places of the roots.

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
        flat = record(roots)
        for array in flat[:6]:
            array.flags.writeable = False
        return cls(*flat[:6], *notes_of(flat), flat.outputs)

    def __len__(self) -> int:
        return len(self.opcodes)

    def __repr__(self) -> str:
        outputs = ", ".join(self.labels.get(place, f"v{place + 1}") for place in self.outputs)
        return f"<Graph of {len(self)} nodes to {outputs}>"

    @property
    def edges(self) -> int:
        """How many operands are nodes."""
        return int((self.operands != CONSTANT).sum())

    @property
    def root(self) -> int:
        """The place of the only output. Raises `ValueError` where there are several."""
        if len(self.outputs) != 1:
            names = ", ".join(self.names[place] for place in self.outputs)
            raise ValueError(f"this needs a graph with one root, and this one has {len(self.outputs)}: {names}")
        return self.outputs[0]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name of its own for every node.

        Its label, with a number where an earlier node has the same; for those without, v1, v2 and so on, by place.
        """
        taken = set(self.labels.values()) | {f"v{place + 1}" for place in range(len(self)) if place not in self.labels}
        uses: Counter[str] = Counter()
        names = []
        for place in range(len(self)):
            label = self.labels.get(place, f"v{place + 1}")
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
        for place, opcode in enumerate(self.opcodes.tolist()):
            edges = range(offsets[place], offsets[place + 1])
            nodes.append(
                Node(
                    place,
                    self.names[place],
                    self.labels.get(place, ""),
                    self.symbols.get(place, "") if opcode == 0 else SYMBOLS[opcode],
                    opcode,
                    tuple([partials[k] if operands[k] == CONSTANT else operands[k] for k in edges]),
                    tuple([math.nan if operands[k] == CONSTANT else partials[k] for k in edges]),
                    data[place],
                    grad[place],
                    self.sources.get(place),
                    place in self.by_hand,
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
        for what, places in (
            ("label", self.labels),
            ("symbol", self.symbols),
            ("source line", self.sources),
            ("rule set by hand", self.by_hand),
            ("output", self.outputs),
        ):
            for place in places:
                if not 0 <= place < len(self):
                    raise GraphError(f"a {what} is that of node {place}, and there are {len(self)} nodes")
        if not self.outputs:
            raise GraphError("the graph has no output")

    # JSON

    def to_json(self) -> str:
        """The graph as JSON, by the schema in docs/graph.schema.json.

        >>> print(Graph.record(Value(3.0, label="a") * 2.0).to_json())
        {"gradwalk": "graph", "version": 1, "outputs": [1], "nodes": [
        {"data": 3.0, "grad": 0.0, "label": "a"},
        {"operation": "mul", "operands": [0, {"constant": 2.0}], "partials": [2.0, null], "data": 6.0, "grad": 0.0}
        ]}
        """
        lines = ",\n".join(json.dumps(self._described(node), ensure_ascii=False) for node in self.nodes)
        head = {"gradwalk": "graph", "version": VERSION, "outputs": list(self.outputs)}
        return _encodable(f'{json.dumps(head)[:-1]}, "nodes": [\n{lines}\n]}}')

    @classmethod
    def from_json(cls, text: str) -> Graph:
        """The graph that `to_json` wrote. Raises `GraphError` for anything else, saying where it stops making sense."""
        try:
            document = json.loads(text, parse_constant=_refused)
        except (ValueError, RecursionError) as error:
            raise GraphError(f"this is not JSON: {error}") from None
        if not isinstance(document, dict) or document.get("gradwalk") != "graph":
            raise GraphError('this is not a graph: it has no "gradwalk": "graph"')
        version = document.get("version")
        if version != VERSION or not isinstance(version, int) or isinstance(version, bool):
            raise GraphError(f"this graph has version {version!r}; version {VERSION} can be read")
        _refuse_unknown(document, {"gradwalk", "version", "outputs", "nodes"}, "the graph")
        reader = _Reader(_listed(document, "nodes", "the graph"))
        outputs = tuple(_place(place, "an output") for place in _listed(document, "outputs", "the graph"))
        graph = cls(*(*reader.fields(), outputs))
        graph.validate()
        return graph

    def _described(self, node: Node) -> dict[str, Any]:
        """A node as it stands in JSON: what it lacks is left out."""
        described: dict[str, Any] = {}
        if node.place in self.symbols:
            described["symbol"] = node.symbol
        elif node.opcode:
            described["operation"] = NAMES[node.opcode]
        if node.arguments:
            described["operands"] = [{"constant": to_number(x)} if isinstance(x, float) else x for x in node.arguments]
            described["partials"] = [
                None if isinstance(x, float) else to_number(partial)
                for x, partial in zip(node.arguments, node.partials, strict=True)
            ]
        described |= {"data": to_number(node.data), "grad": to_number(node.grad)}
        if node.label:
            described["label"] = node.label
        if node.source is not None:
            described["source"] = {"file": node.source.filename, "line": node.source.number}
        if node.place in self.by_hand:
            described["by_hand"] = True
        return described


def as_graph(root: Value | Iterable[Value] | Graph) -> Graph:
    """A graph as it is, Values recorded."""
    return root if isinstance(root, Graph) else Graph.record(root)


def to_number(number: float) -> float | str:
    """A number as JSON has it: nan and inf, which it lacks, as the strings "nan", "inf" and "-inf"."""
    return number if math.isfinite(number) else str(number)


def as_json(item: Any) -> str:
    """Dictionaries, lists and numbers as JSON, numbers by `to_number`."""
    return _encodable(json.dumps(_strict(item), indent=1, ensure_ascii=False))


def _encodable(text: str) -> str:
    """JSON with half characters, which no file can hold, as the escapes that JSON has for them."""
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _strict(item: Any) -> Any:
    if isinstance(item, float):
        return to_number(item)
    if isinstance(item, dict):
        return {key: _strict(value) for key, value in item.items()}
    return [_strict(part) for part in item] if isinstance(item, (list, tuple)) else item


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
        place = int(strange.argmax())
        raise GraphError(f"node {place} has opcode {graph.opcodes[place]}, and they go from 0 to {SUMPROD}")
    given = numpy.diff(graph.offsets)
    wrong = (graph.opcodes > 0) & (graph.opcodes != SUMPROD) & (given != numpy.array(ARITIES)[graph.opcodes])
    wrong |= (graph.opcodes == SUMPROD) & (given % 2 == 0)
    wrong |= (graph.opcodes == 0) & (given > 0) & ~numpy.isin(numpy.arange(len(graph)), list(graph.symbols))
    if wrong.any():
        place = int(wrong.argmax())
        raise GraphError(_miscounted(int(graph.opcodes[place]), place, int(given[place])))


def _miscounted(opcode: int, place: int, given: int) -> str:
    if opcode == 0:
        return f"node {place} has operands ({given}) but no operation"
    takes = "an odd number of" if opcode == SUMPROD else ARITIES[opcode]
    return f"node {place} ({NAMES[opcode]}) takes {takes} operands, not {given}"


def _check_operands(graph: Graph) -> None:
    results = numpy.repeat(numpy.arange(len(graph)), numpy.diff(graph.offsets))
    wrong = (graph.operands < CONSTANT) | (graph.operands >= results)
    if wrong.any():
        edge = int(wrong.argmax())
        raise GraphError(f"node {results[edge]} has node {graph.operands[edge]} as operand, which is no earlier node")


# Reading JSON

_KEYS = {"operation", "symbol", "operands", "partials", "data", "grad", "label", "source", "by_hand"}


class _Reader:
    """The nodes of a document, one after the other, into columns."""

    def __init__(self, nodes: list[Any]) -> None:
        self._opcodes: list[int] = []
        self._offsets: list[int] = [0]
        self._operands: list[int] = []
        self._partials: list[float] = []
        self._data: list[float] = []
        self._grad: list[float] = []
        self._labels: dict[int, str] = {}
        self._symbols: dict[int, str] = {}
        self._sources: dict[int, SourceLine] = {}
        self._by_hand: set[int] = set()
        for place, node in enumerate(nodes):
            self._read(place, node, f"node {place}")

    def fields(self) -> Iterator[Any]:
        """The fields of a Graph, in their order, up to its outputs."""
        for column in (self._opcodes, self._offsets, self._operands):
            yield _frozen(numpy.array(column, numpy.int32))
        for numbers in (self._partials, self._data, self._grad):
            yield _frozen(numpy.array(numbers, numpy.float64))
        yield from (self._labels, self._symbols, self._sources, frozenset(self._by_hand))

    def _read(self, place: int, node: Any, where: str) -> None:
        if not isinstance(node, dict):
            raise GraphError(f"{where} is {node!r}, not an object")
        _refuse_unknown(node, _KEYS, where)
        if "operation" in node and "symbol" in node:
            raise GraphError(f"{where} has both an operation of the table and a symbol of a hand-made one")
        name = node.get("operation", "")
        if name not in NAMES:
            raise GraphError(f"{where} has the unknown operation {name!r}")
        self._opcodes.append(NAMES.index(name))
        self._read_operands(node, where)
        self._data.append(_number(node.get("data"), f"the data of {where}"))
        self._grad.append(_number(node.get("grad"), f"the gradient of {where}"))
        for key, column in (("label", self._labels), ("symbol", self._symbols)):
            if key in node:
                column[place] = _text(node[key], f"the {key} of {where}")
        if "source" in node:
            self._sources[place] = _source(node["source"], where)
        if "by_hand" in node:
            if node["by_hand"] is not True:
                raise GraphError(f"by_hand of {where} is {node['by_hand']!r}, and can only be true")
            self._by_hand.add(place)
        if node.get("label") == "":
            raise GraphError(f"the label of {where} is empty: leave it out")

    def _read_operands(self, node: dict[str, Any], where: str) -> None:
        operands = _listed(node, "operands", where) if "operands" in node else []
        partials = _listed(node, "partials", where) if "partials" in node else []
        if len(operands) != len(partials):
            raise GraphError(f"{where} has {len(operands)} operands and {len(partials)} partials")
        for operand, partial in zip(operands, partials, strict=True):
            if isinstance(operand, dict):
                _refuse_unknown(operand, {"constant"}, f"a constant of {where}")
                if partial is not None:
                    raise GraphError(f"a constant of {where} has the partial {partial!r}, not null")
                self._operands.append(CONSTANT)
                self._partials.append(_number(operand.get("constant"), f"a constant of {where}"))
            else:
                self._operands.append(_place(operand, f"an operand of {where}"))
                self._partials.append(_number(partial, f"a partial of {where}"))
        self._offsets.append(len(self._operands))


def _refuse_unknown(given: dict[str, Any], known: set[str], where: str) -> None:
    unknown = given.keys() - known
    if unknown:
        raise GraphError(f"{where} has {min(unknown)!r}; known: {', '.join(sorted(known))}")


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no number there; write it as a text")


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _listed(document: dict[str, Any], key: str, where: str) -> list[Any]:
    if not isinstance(document.get(key), list):
        raise GraphError(f"{where} has no list of {key}")
    found: list[Any] = document[key]
    return found


def _place(given: Any, what: str) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given < 2**31:
        raise GraphError(f"{what} is {given!r}, not the place of a node")
    return given


def _number(given: Any, what: str) -> float:
    if given in ("nan", "inf", "-inf") or (isinstance(given, (int, float)) and not isinstance(given, bool)):
        try:
            number = float(given)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) or isinstance(given, str):
            return number
        raise GraphError(f"{what} is too large for a float")
    raise GraphError(f"{what} is {given!r}, not a number")


def _text(given: Any, what: str) -> str:
    if not isinstance(given, str):
        raise GraphError(f"{what} is {given!r}, not a text")
    return given


def _source(given: Any, where: str) -> SourceLine:
    if not isinstance(given, dict) or given.keys() != {"file", "line"}:
        raise GraphError(f"the source of {where} is {given!r}, not a file and a line")
    line = _place(given["line"], f"the line of {where}")
    return SourceLine(_text(given["file"], f"the file of {where}"), line)
