"""Name the nodes of a graph for readers.

Nodes without a label are named by their place in the structure of the graph, or by a short expression. The output of a
neuron is named `layers[0].neurons[2]`, its parameters `layers[0].neurons[2].w[1]` and `layers[0].neurons[2].b`. A
result in sample 4 is named `layers[0].neurons[2] (sample 4)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradwalk.explain.expressions import expressions
from gradwalk.graph.boxes import cells_of
from gradwalk.graph.graph import Graph
from gradwalk.graph.grouping import grouping, share_grouping
from gradwalk.graph.paths import with_brackets, written
from gradwalk.graph.record import CONSTANT
from gradwalk.graph.repeats import operand_lists
from gradwalk.ops.compiled.opcodes import OPCODES

_PRODUCTS = (OPCODES["mul"], OPCODES["sumprod"])
_FEWEST_PARTS = 2  # a single neuron is not a network: its nodes are named by expressions
_MAX_EXPRESSIONS = 2000  # maximum number of nodes of a graph whose nodes are named by expressions


def with_node_names(graph: Graph) -> Graph:
    """Return a graph whose nodes have names for readers: indices in brackets, and few names such as v7."""
    if graph.derived:
        return graph
    names: dict[int, str] = {}
    if len(graph.labels) < len(graph):
        names = _places(graph)
        if len(graph) <= _MAX_EXPRESSIONS:
            names |= expressions(graph, names)
    names |= {i: name for i, label in graph.labels.items() if (name := with_brackets(label)) != label}
    if not names:
        return graph
    named = replace(graph, derived=names)
    share_grouping(graph, named)
    return named


def with_names_as_labels(graph: Graph) -> Graph:
    """Return a graph whose derived names are labels, for JSON documents. Labels are kept."""
    return replace(graph, labels={**graph.derived, **graph.labels})


def _places(graph: Graph) -> dict[int, str]:
    """Return the names of the outputs and parameters of neurons and of other numbered parts."""
    groups = grouping(graph)
    operands = operand_lists(graph)
    module: list[int] = groups.module.tolist()
    cells = cells_of(groups.paths, module, operands)
    names = [written((*path, cell)) if cell else "" for path, cell in cells]
    if len(set(names) - {""}) < _FEWEST_PARTS:
        return {}
    number: list[int] = groups.number.tolist()
    found: dict[int, str] = {}
    last: dict[tuple[str, int], int] = {}
    for node, given in enumerate(operands):
        name = names[module[node]]
        if name and given and (number[node] >= 0 or groups.kind != "samples"):
            last[name, number[node]] = node
    for (name, repetition), node in last.items():
        if node not in graph.labels:
            found[node] = f"{name} ({groups.kind[:-1]} {repetition + 1})" if repetition >= 0 else name
    return _parameters(graph, operands, [names[own] for own in module]) | found


def _parameters(graph: Graph, operands: Sequence[list[int]], owners: Sequence[str]) -> dict[int, str]:
    """Return the names of parameters without a label: `w[0]`, `w[1]`, ... for factors, and `b` for terms of sums."""
    opcodes: list[int] = graph.opcodes.tolist()
    factors: dict[str, list[int]] = {}
    terms: dict[str, list[int]] = {}
    seen: set[int] = set()
    for node, given in enumerate(operands):
        for position, x in enumerate(given):
            is_parameter = x != CONSTANT and not operands[x] and x not in graph.labels and owners[x]
            if not is_parameter or x in seen:
                continue
            seen.add(x)
            is_factor = opcodes[node] in _PRODUCTS and not (opcodes[node] == OPCODES["sumprod"] and position == 0)
            (factors if is_factor else terms).setdefault(owners[x], []).append(x)
    found = {x: f"{owner}.w[{i}]" for owner, places in factors.items() for i, x in enumerate(places)}
    for owner, places in terms.items():
        found |= {x: f"{owner}.b[{i}]" if places[1:] else f"{owner}.b" for i, x in enumerate(places)}
    return found
