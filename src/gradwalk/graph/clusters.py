"""Summarises a large graph as a few groups: one for each module, with how often each operation occurs in it.

The labels of parameters say what belongs together: `layers.0.neurons.2.b` is a parameter of the module
`layers.0.neurons.2`, which is a part of `layers.0`. A computed node belongs to the module whose parameters it uses. A
node with one operand, such as the activation function of a neuron, belongs to the module of that operand.

Iterations of a loop are like modules: `newton.3.val` is what goes round at the end of iteration 3 of the loop over
`newton`. All that only this iteration uses belongs to it, and there to the module whose parameters it uses.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy

from gradwalk.graph.graph import Graph, Integers
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.evaluate import SYMBOLS

_MOST_GROUPS = 60
_MOST_BUNDLES = 80  # pairs of groups with edges between them

Path = tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Nodes that are drawn as one.

    Attributes:
        name: The name of the module, or "operations" or "inputs" for what belongs to none.
        leaves: The number of leaves.
        operations: The number of computed nodes by symbol.
        largest: The gradient of the largest absolute value.
    """

    name: str
    leaves: int
    operations: Counter[str]
    largest: float


def grouped(graph: Graph) -> tuple[list[Group], Counter[tuple[int, int]]]:
    """Divide a graph into groups, as finely as a picture can show.

    Args:
        graph: Any graph.

    Returns:
        The groups, in an order that most edges follow, and the number of edges between two groups by their positions.
    """
    names, members, edges = _divided(graph)
    is_leaf = numpy.diff(graph.offsets) == 0
    ordered = _along(len(names), edges)
    rank = {number: i for i, number in enumerate(ordered)}
    groups = [_group(graph, names[number], members == number, is_leaf) for number in ordered]
    return groups, Counter({(rank[start], rank[end]): count for (start, end), count in edges.items()})


def _divided(graph: Graph) -> tuple[list[str], Integers, Counter[tuple[int, int]]]:
    """Return the names of the groups, the group of every node, and the number of edges between groups."""
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
    """Order the groups so that most edges lead forward: sources first, sinks last.

    If all are in cycles, the group with the largest surplus of outgoing edges comes first (Eades, Lin and Smyth, 1993).
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
    """Count what one group consists of."""
    counts = numpy.bincount(graph.opcodes[inside & ~is_leaf]).tolist()
    operations = Counter({SYMBOLS[opcode] or "by hand": count for opcode, count in enumerate(counts) if count})
    gradients = graph.grad[inside]
    largest = float(gradients[numpy.abs(gradients).argmax()])
    return Group(name, int((inside & is_leaf).sum()), operations, largest)


def _edges(graph: Graph, members: numpy.ndarray) -> Counter[tuple[int, int]]:
    """Count the edges from one group to another."""
    several = int(members.max()) + 1
    results = numpy.repeat(members, numpy.diff(graph.offsets))
    real = graph.operands != CONSTANT
    counts = numpy.bincount((members[graph.operands] * several + results)[real], minlength=several**2).tolist()
    edges = {divmod(pair, several): count for pair, count in enumerate(counts) if count}
    return Counter({(start, end): count for (start, end), count in edges.items() if start != end})


def _modules(graph: Graph) -> tuple[list[Path], Integers]:
    """Return the paths of all modules and the module of every node, an index of that list. The first path is empty."""
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
        # The paths are sorted, so a prefix that the first and the last share is shared by all between them.
        last = numpy.maximum.reduceat(used, starts)
        first = numpy.minimum.reduceat(numpy.where(used == 0, len(paths), used), starts)
        pairs, which = numpy.unique(first * (len(paths) + 1) + last, return_inverse=True)
        split = [divmod(pair, len(paths) + 1) for pair in pairs.tolist()]
        common = [_common(paths[low], paths[high]) if high else () for low, high in split]
        paths = list(dict.fromkeys([*paths, *common]))
        number = {path: i for i, path in enumerate(paths)}
        modules[computed] = numpy.array([number[path] for path in common])[which]
    for index in numpy.flatnonzero((arity == 1) & (modules == 0)).tolist():
        modules[index] = modules[graph.operands[graph.offsets[index]]]
    iterations = _iterations(graph)
    if not iterations:
        return paths, modules
    whole = [iterations.get(i, ()) + paths[module] for i, module in enumerate(modules.tolist())]
    paths = list(dict.fromkeys([(), *whole]))
    number = {path: i for i, path in enumerate(paths)}
    return paths, numpy.array([number[path] for path in whole], numpy.int32)


def _iterations(graph: Graph) -> dict[int, Path]:
    """Return the iteration of each node that is in one, such as `("newton", "3")`, and those around it."""
    ends = {i: path for i, label in graph.labels.items() if (path := _iteration(label)) is not None}
    offsets = graph.offsets.tolist()
    ends = {i: path for i, path in ends.items() if offsets[i + 1] > offsets[i]}
    if not any(ends.values()):
        return {}
    operands = graph.operands.tolist()
    found: dict[int, Path] = {}
    for i in range(len(graph) - 1, -1, -1):  # from what uses a node back to it
        path = found[i] = ends.get(i, found.get(i, ()))
        if offsets[i + 1] == offsets[i] and "." in graph.labels.get(i, ""):
            found[i] = ()  # a parameter
        for operand in operands[offsets[i] : offsets[i + 1]]:
            if operand != CONSTANT:
                shared = _common(found.get(operand, path), path)
                found[operand] = shared[: len(shared) // 2 * 2]
    return found


def _iteration(label: str) -> Path | None:
    """Return the iteration that a label such as `newton.3.val` names; that around a loop for what it starts from."""
    path = tuple(label.split(".")[:-1])
    if path[-1:] == ("start",):
        return path[:-2]
    is_one = path and len(path) % 2 == 0 and all(number.isdecimal() for number in path[1::2])
    return path if is_one else None


def _common(first: Path, last: Path) -> Path:
    """Return the path of the innermost module that contains both."""
    common = []
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        common.append(one)
    return tuple(common)
