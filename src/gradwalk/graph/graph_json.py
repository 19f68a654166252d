"""Graphs as JSON, by the schema in docs/graph.schema.json: from nodes to text, and from text to the fields of a Graph.

Reading checks the form of every part; `Graph.validate` checks whether the parts fit each other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.graph.node import GraphError, Node
from gradwalk.graph.plain_json import encodable, to_number
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.evaluate import NAMES
from gradwalk.value.source_line import LONGEST_TEXT, SourceLine

VERSION = 1  # of the JSON form
_KEYS = {"operation", "symbol", "operands", "partials", "data", "grad", "label", "source", "by_hand", "scope"}


def as_dict(nodes: Iterable[Node], symbols: Mapping[int, str], outputs: Sequence[int]) -> dict[str, Any]:
    """Describe a graph as the dictionaries, lists and numbers that its JSON form consists of.

    Args:
        nodes: All nodes, in order.
        symbols: What hand-made nodes call their operations, by index.
        outputs: The indices of the roots.

    Returns:
        The document that `as_text` writes, with nan and inf as strings.
    """
    return {
        "gradwalk": "graph",
        "version": VERSION,
        "outputs": list(outputs),
        "nodes": [_described(node, symbols) for node in nodes],
    }


def as_text(document: Mapping[str, Any]) -> str:
    """Write what `as_dict` returned as text, one line for each node.

    Args:
        document: A document of plain data.

    Returns:
        The JSON text.
    """
    head = {key: value for key, value in document.items() if key != "nodes"}
    lines = ",\n".join(json.dumps(node, ensure_ascii=False) for node in document["nodes"])
    return encodable(f'{json.dumps(head)[:-1]}, "nodes": [\n{lines}\n]}}')


def read(text: str) -> dict[str, Any]:
    """Read text that `as_text` wrote.

    Args:
        text: A JSON document by docs/graph.schema.json.

    Returns:
        The fields of a Graph by name, which have still to be validated.

    Raises:
        GraphError: The text is something else; the message says where it stops making sense.
    """
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
    outputs = tuple(_index(index, "an output") for index in _listed(document, "outputs", "the graph"))
    return reader.fields() | {"outputs": outputs}


def _described(node: Node, symbols: Mapping[int, str]) -> dict[str, Any]:
    """Describe a node for JSON, without the keys that do not apply to it."""
    described: dict[str, Any] = {}
    if node.place in symbols:
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
        text = {"text": node.source.text} if node.source.text else {}
        described["source"] = {"file": node.source.filename, "line": node.source.number} | text
    if node.by_hand:
        described["by_hand"] = True
    if node.scope:
        described["scope"] = node.scope
    return described


class _Reader:
    """Columns of a Graph, filled by the nodes of a document one after the other."""

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
        self._scopes: dict[int, str] = {}
        for index, node in enumerate(nodes):
            self._read(index, node, f"node {index}")

    def fields(self) -> dict[str, Any]:
        """Return the fields of a Graph by name, all but its outputs."""
        return {
            "opcodes": _frozen(self._opcodes, numpy.int32),
            "offsets": _frozen(self._offsets, numpy.int32),
            "operands": _frozen(self._operands, numpy.int32),
            "partials": _frozen(self._partials, numpy.float64),
            "data": _frozen(self._data, numpy.float64),
            "grad": _frozen(self._grad, numpy.float64),
            "labels": self._labels,
            "symbols": self._symbols,
            "sources": self._sources,
            "by_hand": frozenset(self._by_hand),
            "scopes": self._scopes,
        }

    def _read(self, index: int, node: Any, where: str) -> None:
        """Append a node to the columns."""
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
        self._read_texts(index, node, where)
        if "source" in node:
            self._sources[index] = _source(node["source"], where)
        if "by_hand" in node:
            if node["by_hand"] is not True:
                raise GraphError(f"by_hand of {where} is {node['by_hand']!r}, and can only be true")
            self._by_hand.add(index)

    def _read_texts(self, index: int, node: dict[str, Any], where: str) -> None:
        """Note what a node is called."""
        for key, column in (("label", self._labels), ("symbol", self._symbols), ("scope", self._scopes)):
            if key in node:
                column[index] = _text(node[key], f"the {key} of {where}")
                if not column[index] and key != "symbol":
                    raise GraphError(f"the {key} of {where} is empty: leave it out")

    def _read_operands(self, node: dict[str, Any], where: str) -> None:
        """Append the operands of a node and their partials."""
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
                self._operands.append(_index(operand, f"an operand of {where}"))
                self._partials.append(_number(partial, f"a partial of {where}"))
        self._offsets.append(len(self._operands))


def _refuse_unknown(given: dict[str, Any], known: set[str], where: str) -> None:
    unknown = given.keys() - known
    if unknown:
        raise GraphError(f"{where} has {min(unknown)!r}; known: {', '.join(sorted(known))}")


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no number there; write it as a text")


def _frozen(column: Sequence[float], dtype: type) -> NDArray[Any]:
    array: NDArray[Any] = numpy.array(column, dtype)
    array.flags.writeable = False
    return array


def _listed(document: dict[str, Any], key: str, where: str) -> list[Any]:
    if not isinstance(document.get(key), list):
        raise GraphError(f"{where} has no list of {key}")
    found: list[Any] = document[key]
    return found


def _index(given: Any, what: str) -> int:
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
    """Read the line that made a node; documents of earlier versions have no text there."""
    if not isinstance(given, dict) or given.keys() - {"text"} != {"file", "line"}:
        raise GraphError(f"the source of {where} is {given!r}, not a file and a line")
    line = _index(given["line"], f"the line of {where}")
    text = _text(given.get("text", ""), f"the text of {where}")
    if len(text) > LONGEST_TEXT:
        raise GraphError(f"the text of {where} has {len(text)} letters, and at most {LONGEST_TEXT} are read")
    return SourceLine(_text(given["file"], f"the file of {where}"), line, text)
