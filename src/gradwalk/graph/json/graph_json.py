"""Conversion of nodes to JSON text, and of JSON text to the fields of a Graph: see docs/graph.schema.json.

Reading checks each part separately; `Graph.validate` checks that the parts are consistent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy

from gradwalk.graph.json import columns
from gradwalk.graph.json.json_parts import (
    described_line,
    frozen,
    read_line,
    read_list,
    read_number,
    read_place,
    read_text,
    refuse_unknown,
)
from gradwalk.graph.json.plain_json import encodable, to_number
from gradwalk.graph.node import GraphError, Node
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.value.source.source_line import SourceLine

VERSION = 1  # version of the JSON form
_KEYS = {"operation", "symbol", "operands", "partials", "data", "grad", "label", "source", "by_hand", "scope"}


def as_dict(nodes: Iterable[Node], symbols: Mapping[int, str], outputs: Sequence[int]) -> dict[str, Any]:
    """Describe a graph as a document of dictionaries, lists, numbers and strings, with nan and inf as strings.

    Args:
        nodes: All nodes, in order.
        symbols: Dict from indices of hand-made nodes to the symbols of their operations.
        outputs: Indices of the roots.
    """
    return {
        "gradwalk": "graph",
        "version": VERSION,
        "outputs": list(outputs),
        "nodes": [_described(node, symbols) for node in nodes],
    }


def as_text(document: Mapping[str, Any]) -> str:
    """Write a document of `as_dict` as JSON text, with one line per node."""
    head = {key: value for key, value in document.items() if key != "nodes"}
    lines = ",\n".join(json.dumps(node, ensure_ascii=False) for node in document["nodes"])
    return encodable(f'{json.dumps(head)[:-1]}, "nodes": [\n{lines}\n]}}')


def read(text: str) -> dict[str, Any]:
    """Read a graph from one of the two JSON forms. Return the fields of a Graph, without validating them."""
    try:
        document = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise GraphError(f"this is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("gradwalk") != "graph":
        raise GraphError('this is not a graph: the entry "gradwalk": "graph" is missing')
    version = document.get("version")
    if version not in (VERSION, columns.VERSION) or not isinstance(version, int) or isinstance(version, bool):
        raise GraphError(f"this graph has version {version!r}; versions {VERSION} and {columns.VERSION} can be read")
    fields = _fields(document) if version == VERSION else columns.fields(document)
    outputs = tuple(read_place(index, "an output") for index in read_list(document, "outputs", "the graph"))
    return fields | {"outputs": outputs}


def _fields(document: dict[str, Any]) -> dict[str, Any]:
    refuse_unknown(document, {"gradwalk", "version", "outputs", "nodes"}, "the graph")
    return _Reader(read_list(document, "nodes", "the graph")).fields()


def _described(node: Node, symbols: Mapping[int, str]) -> dict[str, Any]:
    """Describe a node for JSON, leaving out the keys that do not apply to it."""
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
        described["source"] = described_line(node.source)
    if node.by_hand:
        described["by_hand"] = True
    if node.scope:
        described["scope"] = node.scope
    return described


class _Reader:
    """The columns of a Graph, filled from the nodes of a document."""

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
        """Return the fields of a Graph except its outputs."""
        return {
            "opcodes": frozen(self._opcodes, numpy.int32),
            "offsets": frozen(self._offsets, numpy.int32),
            "operands": frozen(self._operands, numpy.int32),
            "partials": frozen(self._partials, numpy.float64),
            "data": frozen(self._data, numpy.float64),
            "grad": frozen(self._grad, numpy.float64),
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
        refuse_unknown(node, _KEYS, where)
        if "operation" in node and "symbol" in node:
            raise GraphError(f"{where} has both an operation and a symbol; only hand-made nodes have a symbol")
        name = node.get("operation", "")
        if name not in NAMES:
            raise GraphError(f"{where} has the unknown operation {name!r}")
        self._opcodes.append(NAMES.index(name))
        self._read_operands(node, where)
        self._data.append(read_number(node.get("data"), f"the data of {where}"))
        self._grad.append(read_number(node.get("grad"), f"the gradient of {where}"))
        self._read_texts(index, node, where)
        if "source" in node:
            self._sources[index] = read_line(node["source"], where)
        if "by_hand" in node:
            if node["by_hand"] is not True:
                raise GraphError(f"by_hand of {where} must be true, got {node['by_hand']!r}")
            self._by_hand.add(index)

    def _read_texts(self, index: int, node: dict[str, Any], where: str) -> None:
        """Read the label, symbol and scope of a node."""
        for key, column in (("label", self._labels), ("symbol", self._symbols), ("scope", self._scopes)):
            if key in node:
                column[index] = read_text(node[key], f"the {key} of {where}")
                if not column[index] and key != "symbol":
                    raise GraphError(f"the {key} of {where} is empty: leave it out")

    def _read_operands(self, node: dict[str, Any], where: str) -> None:
        """Append the operands of a node and their partials."""
        operands = read_list(node, "operands", where) if "operands" in node else []
        partials = read_list(node, "partials", where) if "partials" in node else []
        if len(operands) != len(partials):
            raise GraphError(f"{where} has {len(operands)} operands and {len(partials)} partials")
        for operand, partial in zip(operands, partials, strict=True):
            if isinstance(operand, dict):
                refuse_unknown(operand, {"constant"}, f"a constant of {where}")
                if partial is not None:
                    raise GraphError(f"a constant of {where} has the partial {partial!r}, not null")
                self._operands.append(CONSTANT)
                self._partials.append(read_number(operand.get("constant"), f"a constant of {where}"))
            else:
                self._operands.append(read_place(operand, f"an operand of {where}"))
                self._partials.append(read_number(partial, f"a partial of {where}"))
        self._offsets.append(len(self._operands))


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number; write it as a string")
