"""A large graph as a few groups: the modules whose parameters it uses, with how often each operation occurs in them.

The labels of parameters say what belongs together: `layers.0.neurons.2.b` is a parameter of the module
`layers.0.neurons.2`, which is a part of `layers.0`. A computed node belongs to the module whose parameters it uses, or
to the one that made its only operand, such as a neuron's sum before its activation function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from gradwalk.engine import CONSTANT
from gradwalk.graph import Graph, Integers
from gradwalk.rules import SYMBOLS

_MOST_GROUPS = 60
_MOST_BUNDLES = 80  # lines between groups

Path = tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Nodes that are drawn as one. `operations`: how many have each symbol; `largest`: the gradient of largest size."""

    name: str
    leaves: int
    operations: Counter[str]
    largest: float


def grouped(graph: Graph) -> tuple[list[Group], Counter[tuple[int, int]]]:
    """The groups of a graph, what comes first first, and the number of edges from one group to another.

    Modules are told apart as finely as a picture can show.
    """
    names, members, edges = _divided(graph)
    is_leaf = numpy.diff(graph.offsets) == 0
    ordered = _along(len(names), edges)
    rank = {number: i for i, number in enumerate(ordered)}
    groups = [_group(graph, names[number], members == number, is_leaf) for number in ordered]
    return groups, Counter({(rank[start], rank[end]): count for (start, end), count in edges.items()})


def _divided(graph: Graph) -> tuple[list[str], Integers, Counter[tuple[int, int]]]:
    """Names of groups, the group of every node, and the number of edges from one group to another."""
    paths = _paths(graph)
    is_leaf = numpy.diff(graph.offsets) == 0
    known = {kind: number for number, kind in enumerate(dict.fromkeys(zip(paths, is_leaf.tolist(), strict=True)))}
    kinds = numpy.array([known[kind] for kind in zip(paths, is_leaf.tolist(), strict=True)])
    best: tuple[list[str], Integers, Counter[tuple[int, int]]] = [], kinds, Counter()
    longest = max(map(len, paths))
    for length in range(min(1, longest), longest + 1):
        names = [".".join(path[:length]) or ("inputs" if leaf else "operations") for path, leaf in known]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        if len(numbers) > _MOST_GROUPS and length > 1:
            break
        members = numpy.array([numbers[name] for name in names])[kinds]
        edges = _edges(graph, members)
        if len(edges) > _MOST_BUNDLES and length > 1:
            break
        if len(numbers) > len(best[0]):
            best = list(numbers), members, edges
    return best


def _along(count: int, edges: Counter[tuple[int, int]]) -> list[int]:
    """The groups in an order that most edges follow: those that nothing leads to first, those that lead nowhere last.

    Where all are in cycles, the one that more leads out of than into comes first (Eades, Lin and Smyth, 1993).
    """
    first: list[int] = []
    last: list[int] = []
    left = set(range(count))
    while left:
        into = {v: sum(n for (a, b), n in edges.items() if b == v and a in left) for v in left}
        out = {v: sum(n for (a, b), n in edges.items() if a == v and b in left) for v in left}
        sinks = [v for v in left if not out[v] and into[v]]
        if sinks:
            last[:0] = sinks
            left.difference_update(sinks)
        else:
            first.append(max(sorted(left), key=lambda v: (not into[v], out[v] - into[v])))
            left.remove(first[-1])
    return first + last


def _group(graph: Graph, name: str, inside: numpy.ndarray, is_leaf: numpy.ndarray) -> Group:
    counts = numpy.bincount(graph.opcodes[inside & ~is_leaf]).tolist()
    operations = Counter({SYMBOLS[opcode] or "by hand": count for opcode, count in enumerate(counts) if count})
    gradients = graph.grad[inside]
    largest = float(gradients[numpy.abs(gradients).argmax()])
    return Group(name, int((inside & is_leaf).sum()), operations, largest)


def _edges(graph: Graph, members: numpy.ndarray) -> Counter[tuple[int, int]]:
    """How many edges lead from one group to another."""
    several = int(members.max()) + 1
    results = numpy.repeat(members, numpy.diff(graph.offsets))
    real = graph.operands != CONSTANT
    counts = numpy.bincount(members[graph.operands[real]] * several + results[real], minlength=several**2).tolist()
    edges = {divmod(pair, several): count for pair, count in enumerate(counts) if count}
    return Counter({(start, end): count for (start, end), count in edges.items() if start != end})


def _paths(graph: Graph) -> list[Path]:
    """The module of every node, empty for those of none."""
    paths: list[Path] = [()] * len(graph)
    if not any("." in label for label in graph.labels.values()):
        return paths
    parameters = {}
    for place, label in graph.labels.items():
        if graph.offsets[place] == graph.offsets[place + 1] and "." in label:
            paths[place] = parameters[place] = tuple(label.split(".")[:-1])
    offsets, operands = graph.offsets.tolist(), graph.operands.tolist()
    for place in range(len(graph)):
        inside = operands[offsets[place] : offsets[place + 1]]
        used = [parameters[x] for x in inside if x in parameters]
        if used:
            paths[place] = _common(used)
        elif len(inside) == 1 and place not in parameters:
            paths[place] = paths[inside[0]]
    return paths


def _common(paths: Sequence[Path]) -> Path:
    """The innermost module that holds them all."""
    common = []
    for parts in zip(*paths, strict=False):
        if parts.count(parts[0]) < len(parts):
            break
        common.append(parts[0])
    return tuple(common)
