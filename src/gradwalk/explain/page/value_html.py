"""The HTML of a Value or Module in a notebook: its text, and a drawing of a small graph or of the parameters."""

from __future__ import annotations

import html
import sys
from dataclasses import replace
from typing import Any

from gradwalk.explain.draw.draw import draw
from gradwalk.explain.page.static import scrollable
from gradwalk.explain.variable_names import names_in
from gradwalk.graph.graph import Graph
from gradwalk.nn import Module
from gradwalk.value.sweep.order import topological_order
from gradwalk.value.value import Value

_MAX_NODES = 24
_MAX_PARAMETERS = 5000


def value_html(value: Value) -> str | None:
    """Return HTML with a drawing of a Value's graph; None for a leaf, and for a graph of more than 24 nodes."""
    if not value.operands or _is_large(value):
        return None
    graph = Graph.record(value)
    places = {id(node): place for place, node in enumerate(topological_order(value))}
    names = names_in(vars(sys.modules["__main__"]), places)  # the variables of the notebook
    picture = draw(replace(graph, labels={**names, **graph.labels})).svg
    return f"<code>{html.escape(repr(value))}</code>{scrollable(picture)}"


def module_html(module: Module[Any]) -> str | None:
    """Return HTML with the parameters of a Module and their gradients; None if it has no or more than 5,000 numbers."""
    parameters = list(module.named_parameters())
    if not 0 < len(parameters) <= _MAX_PARAMETERS or not all(isinstance(p, (Value, float)) for _, p in parameters):
        return None
    return f"<code>{html.escape(repr(module))}</code>{scrollable(draw(module).svg)}"


def _is_large(value: Value) -> bool:
    """Return whether a graph has more than 24 nodes, without a visit to more nodes than that."""
    seen = {id(value)}
    pending = [value]
    while pending and len(seen) <= _MAX_NODES:
        for operand in pending.pop().operands:
            if id(operand) not in seen:
                seen.add(id(operand))
                pending.append(operand)
    return len(seen) > _MAX_NODES
