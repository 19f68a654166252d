"""A large graph as a few groups: the modules whose parameters it uses, with how often each operation occurs in them.

The labels of parameters say what belongs together: `layers.0.neurons.2.b` is a parameter of the module
`layers.0.neurons.2`, which is a part of `layers.0`. A computed node belongs to the module whose parameters it uses, or
to the one that made its only operand, such as a neuron's sum before its activation function.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy

from gradwalk.graph.graph import Graph, Integers
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.evaluate import SYMBOLS

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
    paths, modules = _modules(graph)
    is_leaf = numpy.diff(graph.offsets) == 0
    best: tuple[list[str], Integers, Counter[tuple[int, int]]] = [], modules, Counter()
    longest = max(map(len, paths))
    for length in range(min(1, longest), longest + 1):
        kinds = [".".join(path[:length]) or kind for path in paths for kind in ("operations", "inputs")]
        present = numpy.unique(2 * modules + is_leaf).tolist()
        names = list(dict.fromkeys(kinds[kind] for kind in present))
        if len(names) > _MOST_GROUPS and length > 1:
            break
        numbers = {name: number for number, name in enumerate(names)}
        members = numpy.array([numbers.get(kind, -1) for kind in kinds])[2 * modules + is_leaf]
        edges = _edges(graph, members)
        if len(edges) > _MOST_BUNDLES and length > 1:
            break
        if len(names) > len(best[0]):
            best = names, members, edges
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
    counts = numpy.bincount((members[graph.operands] * several + results)[real], minlength=several**2).tolist()
    edges = {divmod(pair, several): count for pair, count in enumerate(counts) if count}
    return Counter({(start, end): count for (start, end), count in edges.items() if start != end})


def _modules(graph: Graph) -> tuple[list[Path], Integers]:
    """The paths of all modules, and the module of every node by its place in that list, where the first is none."""
    arity = numpy.diff(graph.offsets)
    parameters = {p: tuple(label.split(".")[:-1]) for p, label in graph.labels.items() if "." in label and not arity[p]}
    paths = sorted({(), *parameters.values()})
    number = {path: i for i, path in enumerate(paths)}
    modules = numpy.zeros(len(graph), numpy.int32)
    modules[list(parameters)] = [number[path] for path in parameters.values()]
    used = numpy.where(graph.operands == CONSTANT, 0, modules[graph.operands])
    computed = numpy.flatnonzero(arity)
    if parameters and len(computed):
        starts = graph.offsets[computed]
        # the paths are sorted, so what the first and the last of some have in common, all of them have
        last = numpy.maximum.reduceat(used, starts)
        first = numpy.minimum.reduceat(numpy.where(used == 0, len(paths), used), starts)
        pairs, which = numpy.unique(first * (len(paths) + 1) + last, return_inverse=True)
        split = [divmod(pair, len(paths) + 1) for pair in pairs.tolist()]
        common = [_common(paths[low], paths[high]) if high else () for low, high in split]
        paths = list(dict.fromkeys([*paths, *common]))
        number = {path: i for i, path in enumerate(paths)}
        modules[computed] = numpy.array([number[path] for path in common])[which]
    for place in numpy.flatnonzero((arity == 1) & (modules == 0)).tolist():
        modules[place] = modules[graph.operands[graph.offsets[place]]]
    return paths, modules


def _common(first: Path, last: Path) -> Path:
    """The innermost module that holds both."""
    common = []
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        common.append(one)
    return tuple(common)
