"""The column form of graphs in JSON, which is fast to write and read for large graphs: see docs/graph.schema.json.

A column is an array of the graph, as base64-encoded little-endian numbers. Properties that only some nodes have, such
as labels, are stored as a list of distinct items and two columns: the node indices, and the index of each node's item.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy
from numpy.typing import NDArray

from gradwalk.graph.json.json_parts import described_line, read_line, read_list, read_text, refuse_unknown
from gradwalk.graph.node import GraphError
from gradwalk.ops.compiled.opcodes import NAMES

VERSION = 2  # version of the JSON form
_KINDS = {
    "offsets": "<i4",
    "operands": "<i4",
    "partials": "<f8",
    "data": "<f8",
    "grad": "<f8",
}
_NOTES = ("labels", "symbols", "sources", "scopes")
_KEYS = {"gradwalk", "version", "outputs", "operations", "opcodes", "by_hand", *_KINDS, *_NOTES}

Item = TypeVar("Item")


def as_columns(graph: Any) -> dict[str, Any]:
    """Describe a graph in columns, as a document of dictionaries, lists and strings."""
    used, opcodes = numpy.unique(graph.opcodes, return_inverse=True)
    return {
        "gradwalk": "graph",
        "version": VERSION,
        "outputs": list(graph.outputs),
        "operations": [NAMES[opcode] for opcode in used.tolist()],
        "opcodes": encode_column(opcodes, "<i4"),
        **{name: encode_column(getattr(graph, name), kind) for name, kind in _KINDS.items()},
        "labels": _noted(graph.labels, str),
        "symbols": _noted(graph.symbols, str),
        "sources": _noted(graph.sources, described_line),
        "scopes": _noted(graph.scopes, str),
        "by_hand": encode_column(sorted(graph.by_hand), "<i4"),
    }


def fields(document: dict[str, Any]) -> dict[str, Any]:
    """Read a document of version 2. Return the fields of a Graph except `outputs`, without validating them."""
    refuse_unknown(document, _KEYS, "the graph")
    operations = read_list(document, "operations", "the graph")
    unknown = [name for name in operations if name not in NAMES]
    if unknown:
        raise GraphError(f"the graph has the unknown operation {unknown[0]!r}")
    opcodes = _column(document, "opcodes", "<i4", "the graph")
    codes = numpy.array([NAMES.index(name) for name in operations], numpy.int32)
    return {
        "opcodes": _frozen(codes[_within(opcodes, len(codes), "opcodes")]),
        **{name: _column(document, name, kind, "the graph") for name, kind in _KINDS.items()},
        "labels": _read_notes(document, "labels", _read_name),
        "symbols": _read_notes(document, "symbols", read_text),
        "sources": _read_notes(document, "sources", read_line),
        "scopes": _read_notes(document, "scopes", _read_name),
        "by_hand": frozenset(_column(document, "by_hand", "<i4", "the graph").tolist()),
    }


def encode_column(numbers: Any, kind: str) -> str:
    """Encode numbers as base64 text of little-endian bytes; `kind` is "<i4" or "<f8"."""
    return base64.b64encode(numpy.asarray(numpy.asarray(numbers), kind).tobytes()).decode()


def _noted(notes: Mapping[int, Item], described: Callable[[Item], Any]) -> dict[str, Any]:
    """Describe a property that some nodes have.

    Returns the node indices, the index of each node's item, and a list of the distinct items.
    """
    numbers: dict[Item, int] = {}
    which = [numbers.setdefault(item, len(numbers)) for item in notes.values()]
    return {
        "nodes": encode_column(list(notes), "<i4"),
        "which": encode_column(which, "<i4"),
        "items": [described(item) for item in numbers],
    }


def _read_notes(document: dict[str, Any], key: str, reader: Callable[[Any, str], Item]) -> dict[int, Item]:
    notes = document.get(key)
    if not isinstance(notes, dict):
        raise GraphError(f"{key} of the graph must be an object with nodes, which and items")
    refuse_unknown(notes, {"nodes", "which", "items"}, key)
    items = [reader(item, f"item {i} of {key}") for i, item in enumerate(read_list(notes, "items", key))]
    nodes, which = _column(notes, "nodes", "<i4", key), _column(notes, "which", "<i4", key)
    if len(nodes) != len(which):
        raise GraphError(f"{key} must have one item per node, got {len(nodes)} nodes and {len(which)} items")
    return dict(zip(nodes.tolist(), map(items.__getitem__, _within(which, len(items), key).tolist()), strict=True))


def _read_name(given: Any, what: str) -> str:
    if given == "":
        raise GraphError(f"{what} is empty")
    return read_text(given, what)


def _column(document: dict[str, Any], key: str, kind: str, where: str) -> NDArray[Any]:
    """Read a column of numbers as a read-only array."""
    try:
        numbers = numpy.frombuffer(base64.b64decode(document.get(key, 0), validate=True), kind)
    except (TypeError, ValueError, binascii.Error):
        raise GraphError(f"{key} of {where} must be base64-encoded numbers") from None
    return _frozen(numbers.astype(kind[1:]))


def _within(column: NDArray[Any], count: int, what: str) -> NDArray[Any]:
    """Return a column of indices; raise `GraphError` if one is out of range for a list of `count` items."""
    if ((column < 0) | (column >= count)).any():
        raise GraphError(f"{what} refer to an item out of range for {count} items")
    return column


def _frozen(numbers: NDArray[Any]) -> NDArray[Any]:
    numbers.flags.writeable = False
    return numbers
