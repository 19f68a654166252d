"""A graph in the DOT language of Graphviz, as micrograd's notebooks draw it."""

from __future__ import annotations

from collections.abc import Iterator

from gradwalk.explain.text import fixed, one_line
from gradwalk.graph.graph import Graph


def as_dot(graph: Graph, rankdir: str = "LR") -> str:
    """Return DOT text with a record (label, data, gradient) for each value and an ellipse for its operation."""
    return "\n".join(_lines(graph, rankdir)) + "\n"


def _lines(graph: Graph, rankdir: str) -> Iterator[str]:
    yield "digraph gradwalk {"
    yield f"  rankdir={rankdir}"
    for node in graph.nodes:
        cells = [_escaped(node.label)] if node.label else []
        cells += [f"data {fixed(node.data)}", f"grad {fixed(node.grad)}"]
        yield f'  {node.place} [shape=record label="{{ {" | ".join(cells)} }}"]'
        if node.arguments:
            constants = [repr(x) for x in node.arguments if isinstance(x, float)]
            symbol = " ".join([node.symbol, *constants])
            yield f'  "{node.place}:op" [label="{_escaped(symbol)}"]'
            yield f'  "{node.place}:op" -> {node.place}'
            yield from (f'  {x} -> "{node.place}:op"' for x in node.arguments if isinstance(x, int))
    yield "}"


def _escaped(text: str) -> str:
    """Escape the characters of a text that are special in a quoted record label."""
    return "".join(f"\\{c}" if c in '\\"{}|<> ' else c for c in one_line(text))
