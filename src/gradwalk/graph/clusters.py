"""Summarize a large graph as a few groups: one per module, with the number of times that each operation occurs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy

from gradwalk.graph.boxes import in_order
from gradwalk.graph.graph import Graph, Integers
from gradwalk.graph.modules import modules
from gradwalk.graph.paths import written
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.compiled.opcodes import SYMBOLS

_MOST_GROUPS = 60
_MOST_BUNDLES = 80  # maximum number of pairs of groups that are connected by edges


@dataclass(frozen=True)
class Group:
    """Nodes that are drawn as a single box.

    Attributes:
        name: Name of the module, or "operations" or "inputs" for nodes outside of all modules.
        leaves: Number of leaves.
        operations: Number of computed nodes, by symbol.
        largest: The gradient with the largest absolute value.
    """

    name: str
    leaves: int
    operations: Counter[str]
    largest: float


def grouped(graph: Graph) -> tuple[list[Group], Counter[tuple[int, int]]]:
    """Divide a graph into the largest number of groups that a drawing can show.

    Returns a list of the groups, in an order in which most edges point forward, and a Counter of the edges between
    them. A key of the Counter is the pair of list positions of the groups that an edge comes from and leads to.
    """
    names, members, edges = _divided(graph)
    is_leaf = numpy.diff(graph.offsets) == 0
    ordered = in_order(len(names), edges)
    rank = {number: i for i, number in enumerate(ordered)}
    groups = [_group(graph, names[number], members == number, is_leaf) for number in ordered]
    return groups, Counter({(rank[start], rank[end]): count for (start, end), count in edges.items()})


def _divided(graph: Graph) -> tuple[list[str], Integers, Counter[tuple[int, int]]]:
    """Return the names of the groups, the index of each node's group, and the number of edges by pair of groups."""
    paths, module = modules(graph)
    is_leaf = numpy.diff(graph.offsets) == 0
    best: tuple[list[str], Integers, Counter[tuple[int, int]]] = [], module, Counter()
    longest = max(map(len, paths))
    for length in range(min(1, longest), longest + 1):
        kinds = [written(path[:length]) or kind for path in paths for kind in ("operations", "inputs")]
        present = numpy.unique(2 * module + is_leaf).tolist()
        names = list(dict.fromkeys(kinds[kind] for kind in present))
        if len(names) > _MOST_GROUPS and length > 1:
            break
        numbers = {name: number for number, name in enumerate(names)}
        members = numpy.array([numbers.get(kind, -1) for kind in kinds])[2 * module + is_leaf]
        edges = _edges(graph, members)
        if len(edges) > _MOST_BUNDLES and length > 1:
            break
        if len(names) > len(best[0]):
            best = names, members, edges
    return best


def _group(graph: Graph, name: str, inside: numpy.ndarray, is_leaf: numpy.ndarray) -> Group:
    """Count the leaves and operations of a group."""
    counts = numpy.bincount(graph.opcodes[inside & ~is_leaf]).tolist()
    operations = Counter({SYMBOLS[opcode] or "by hand": count for opcode, count in enumerate(counts) if count})
    gradients = graph.grad[inside]
    largest = float(gradients[numpy.abs(gradients).argmax()])
    return Group(name, int((inside & is_leaf).sum()), operations, largest)


def _edges(graph: Graph, members: numpy.ndarray) -> Counter[tuple[int, int]]:
    """Count the edges between different groups."""
    several = int(members.max()) + 1
    results = numpy.repeat(members, numpy.diff(graph.offsets))
    real = graph.operands != CONSTANT
    counts = numpy.bincount((members[graph.operands] * several + results)[real], minlength=several**2).tolist()
    edges = {divmod(pair, several): count for pair, count in enumerate(counts) if count}
    return Counter({(start, end): count for (start, end), count in edges.items() if start != end})
