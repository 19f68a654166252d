"""Name the nodes of a graph for readers.

Nodes without a label are named by their place in the structure of the graph, or by a short expression. The output of a
neuron is named `layers[0].neurons[2]`, its parameters `layers[0].neurons[2].w[1]` and `layers[0].neurons[2].b`. A
result in sample 4 is named `layers[0].neurons[2] (sample 4)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy

from gradwalk.explain.expressions import expressions
from gradwalk.graph.graph import Graph, results_of
from gradwalk.graph.grouping import Grouping, grouping, share_grouping
from gradwalk.graph.paths import with_brackets, written
from gradwalk.graph.record import CONSTANT
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
    names = [written((*box, cell)) if cell else "" for box, cell in groups.places]
    if len(set(names) - {""}) < _FEWEST_PARTS:
        return {}
    is_named = numpy.array([bool(name) for name in names])[groups.module]
    is_repeated = (groups.number >= 0) | (groups.kind != "samples")
    nodes = numpy.flatnonzero(is_named & is_repeated & (numpy.diff(graph.offsets) > 0))
    last: dict[tuple[str, int], int] = {}
    for node, module, number in zip(
        nodes.tolist(), groups.module[nodes].tolist(), groups.number[nodes].tolist(), strict=True
    ):
        last[names[module], number] = node
    found: dict[int, str] = {}
    for (name, repetition), node in last.items():
        if node not in graph.labels:
            found[node] = f"{name} ({groups.kind[:-1]} {repetition + 1})" if repetition >= 0 else name
    return _parameters(graph, groups, names) | found


def _parameters(graph: Graph, groups: Grouping, names: Sequence[str]) -> dict[int, str]:
    """Return the names of parameters without a label: `w[0]`, `w[1]`, ... for factors, and `b` for terms of sums.

    `names` has the name of each module.
    """
    factors: dict[str, list[int]] = {}
    terms: dict[str, list[int]] = {}
    results = results_of(graph)
    leaves, first_uses = numpy.unique(graph.operands, return_index=True)
    is_leaf = (leaves != CONSTANT) & (graph.offsets[leaves] == graph.offsets[leaves + 1])
    for edge in numpy.sort(first_uses[is_leaf]).tolist():
        leaf, node = int(graph.operands[edge]), int(results[edge])
        owner = names[groups.module[leaf]]
        if owner and leaf not in graph.labels:
            opcode = int(graph.opcodes[node])
            is_start = opcode == OPCODES["sumprod"] and edge == graph.offsets[node]
            (factors if opcode in _PRODUCTS and not is_start else terms).setdefault(owner, []).append(leaf)
    found = {x: f"{owner}.w[{i}]" for owner, places in factors.items() for i, x in enumerate(places)}
    for owner, places in terms.items():
        found |= {x: f"{owner}.b[{i}]" if places[1:] else f"{owner}.b" for i, x in enumerate(places)}
    return found
