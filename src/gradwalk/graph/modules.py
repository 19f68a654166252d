"""Assign each node of a graph to a module, based on labels of parameters, named scopes, and iterations of loops.

Labels of parameters define modules: `layers.0.neurons.2.b` is a parameter of the module `layers.0.neurons.2`, which is
part of `layers.0`. A computed node belongs to the module whose parameters it uses. A node with one operand, such as the
activation function of a neuron, belongs to the module of that operand.

Nodes created in a named scope belong to the scope. Within the scope, a node belongs to the module whose parameters it
uses. If it uses no parameters, it belongs to the module of its operands from the same scope. The parameters of a module
belong to the innermost scope that contains all nodes that use them. Numbered scopes that use the same parameters, such
as `place0` and `place1`, are repetitions of one computation. In the path of a module, the numbered scope comes last: a
node of the scope `place1.attention` is assigned to the module `attention.place1`.

Iterations of a loop are treated like modules. The label `newton.3.val` is the label of the carry that iteration 3
returns, in a loop whose step function is `newton`. Nodes that only this iteration uses belong to the iteration, and
within it to their scope and module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple

import numpy

from gradwalk.graph.graph import Graph, Integers, results_of
from gradwalk.graph.paths import Path, common, path_of
from gradwalk.graph.record import CONSTANT

_DIGITS = "0123456789"


class Apart(NamedTuple):
    """The modules of a graph, apart from repetitions.

    Attributes:
        paths: The paths of all modules, the first of which is empty, without iterations and repeated scopes.
        module: The module of each node, as an index into `paths`.
        number: The number of the outermost iteration or repeated scope of each node; -1 for other nodes.
    """

    paths: list[Path]
    module: Integers
    number: list[int]


def modules(graph: Graph) -> tuple[list[Path], Integers]:
    """Find the module of each node.

    Returns the paths of all modules, the first of which is empty, and the module of each node as an index into that
    list.
    """
    paths, module, again, iterations = _modules(graph)
    inside = [paths[module] + scopes for module, scopes in zip(module.tolist(), again, strict=True)]
    return numbered([iterations.get(i, ()) + path for i, path in enumerate(inside)])


def modules_apart(graph: Graph) -> Apart:
    """Find the module of each node, apart from iterations and repeated scopes."""
    paths, module, again, iterations = _modules(graph)
    number = [int(scopes[0].lstrip(scopes[0].rstrip(_DIGITS))) if scopes else -1 for scopes in again]
    for node, path in iterations.items():
        if path:
            number[node] = int(path[1])
    whole = [iterations.get(i, ())[::2] + paths[own] for i, own in enumerate(module.tolist())]
    return Apart(*numbered(whole), number)


def _modules(graph: Graph) -> tuple[list[Path], Integers, list[Path], dict[int, Path]]:
    """Return the modules, the repeated scopes of each node, and the iterations of some nodes."""
    known = parameters(graph)
    scopes, made_in = _scopes(graph)
    paths, own = _by_parameters(graph, known, made_in)
    again: list[Path] = [()] * len(graph)
    if len(scopes) > 1:
        paths, own, again = _scoped(graph, known, (paths, own), (scopes, made_in))
    return paths, own, again, _iterations(graph)


def numbered(whole: Iterable[Path]) -> tuple[list[Path], Integers]:
    """Return the distinct paths, the empty path first, and the index of each given path among them."""
    number: dict[Path, int] = {(): 0}
    numbers = [number.setdefault(path, len(number)) for path in whole]
    return list(number), numpy.array(numbers, numpy.int32)


# Parameters


def parameters(graph: Graph) -> dict[int, Path]:
    """Return a dict from the node indices of parameters to the modules named in their labels."""
    is_leaf = (numpy.diff(graph.offsets) == 0).tolist()
    return {p: path_of(label)[:-1] for p, label in graph.labels.items() if is_leaf[p] and "." in label}


def _by_parameters(graph: Graph, parameters: Mapping[int, Path], made_in: Integers) -> tuple[list[Path], Integers]:
    """Assign each node to a module by the parameters that it uses.

    Returns the paths of all modules, and the index of each node's module.
    """
    arity = numpy.diff(graph.offsets)
    paths = sorted({(), *parameters.values()})
    number = {path: i for i, path in enumerate(paths)}
    own = numpy.zeros(len(graph), numpy.int32)
    own[list(parameters)] = [number[path] for path in parameters.values()]
    used = numpy.where(graph.operands == CONSTANT, 0, own[graph.operands])
    computed = numpy.flatnonzero(arity)
    if parameters and len(computed):
        starts = graph.offsets[computed]
        # The paths are sorted, so a prefix shared by the first and the last path is shared by all paths in between.
        last = numpy.maximum.reduceat(used, starts)
        first = numpy.minimum.reduceat(numpy.where(used == 0, len(paths), used), starts)
        pairs, which = numpy.unique(first * (len(paths) + 1) + last, return_inverse=True)
        split = [divmod(pair, len(paths) + 1) for pair in pairs.tolist()]
        shared = [common(paths[low], paths[high]) if high else () for low, high in split]
        paths = list(dict.fromkeys([*paths, *shared]))
        number = {path: i for i, path in enumerate(paths)}
        own[computed] = numpy.array([number[path] for path in shared])[which]
    return _handed_on(graph, paths, own, made_in)


def _handed_on(graph: Graph, paths: list[Path], own: Integers, made_in: Integers) -> tuple[list[Path], Integers]:
    """Assign nodes that use no parameters to the module of their operands from the same scope."""
    if len(paths) == 1:
        return paths, own
    arity = numpy.diff(graph.offsets)
    offsets, operands, scopes = graph.offsets.tolist(), graph.operands.tolist(), made_in.tolist()
    number = {path: i for i, path in enumerate(paths)}
    found = own.tolist()
    for index in numpy.flatnonzero((own == 0) & ((arity == 1) | (arity > 0) & (made_in > 0))).tolist():
        scope = scopes[index]
        given = [operand for operand in operands[offsets[index] : offsets[index + 1]] if operand != CONSTANT]
        of = {found[operand] if scopes[operand] == scope else 0 for operand in given}
        if len(of) == 1:
            found[index] = of.pop()
        elif of and 0 not in of:
            found[index] = number.setdefault(reduce(common, map(list(number).__getitem__, of)), len(number))
    return list(number), numpy.array(found, numpy.int32)


# Scopes


def _scopes(graph: Graph) -> tuple[list[str], Integers]:
    """Return all scopes, the first of which is "" (none), and the index of each node's scope."""
    number = {"": 0}
    made_in = numpy.zeros(len(graph), numpy.int32)
    numbers = [number.setdefault(scope, len(number)) for scope in graph.scopes.values()]
    made_in[list(graph.scopes)] = numbers
    return list(number), made_in


def _scoped(
    graph: Graph,
    parameters: Mapping[int, Path],
    own: tuple[list[Path], Integers],
    made_in: tuple[list[str], Integers],
) -> tuple[list[Path], Integers, list[Path]]:
    """Return the paths of all modules, the index of each node's module, and the repeated scopes of each node.

    A path consists of the scopes that are not repeated, and the module in these scopes.
    """
    (paths, modules), (scopes, numbers) = own, made_in
    is_parameter = numpy.zeros(len(graph), bool)
    is_parameter[list(parameters)] = True
    users = _users(graph, is_parameter, modules, numbers)
    repeated = set(_repeated([[scopes[number] for number in used] for used in users.values()]))
    split = [_split(scope, repeated) for scope in scopes]
    around = {module: reduce(common, [split[number][0] for number in used]) for module, used in users.items()}

    kinds = (modules.astype(numpy.int64) * len(scopes) + numbers) * 2 + is_parameter
    present, which = numpy.unique(kinds, return_inverse=True)
    whole, repetitions = [], []
    for kind in present.tolist():
        module, number = divmod(kind // 2, len(scopes))
        kept, again = (around.get(module, ()), ()) if kind % 2 else split[number]
        whole.append(_inside(kept, paths[module]))
        repetitions.append(again)
    paths, index = numbered(whole)
    return paths, index[which], [repetitions[kind] for kind in which.tolist()]


def _users(graph: Graph, is_parameter: Any, modules: Integers, made_in: Integers) -> dict[int, list[int]]:
    """Return a dict from modules to the distinct scopes that use their parameters, in the order of the nodes."""
    uses = numpy.flatnonzero((graph.operands != CONSTANT) & is_parameter[graph.operands])
    results = results_of(graph)[uses]
    pairs = numpy.stack([modules[graph.operands[uses]], made_in[results]], axis=1)
    _, first = numpy.unique(pairs, axis=0, return_index=True)
    users: dict[int, list[int]] = {}
    for module, scope in pairs[numpy.sort(first)].tolist():
        users.setdefault(module, []).append(scope)
    return users


def _repeated(users: Iterable[list[str]]) -> Iterator[str]:
    """Yield each series of numbered scopes that use the same parameters, in the form that `_series` returns."""
    for scopes in dict.fromkeys(map(tuple, users)):
        first = tuple(scopes[0].split("."))
        for scope in scopes[1:]:
            other = tuple(scope.split("."))
            level = len(common(first, other))
            if level < min(len(first), len(other)) and _series(first, level) == _series(other, level) != "":
                yield _series(first, level)


def _series(names: Path, level: int) -> str:
    """Return the names of a scope down to a level, without numbers and joined by dots: "place#" for "place3".

    Returns "" if the name at this level does not end with a number.
    """
    if not names[level].endswith(tuple(_DIGITS)):
        return ""
    return ".".join(name.rstrip(_DIGITS) for name in names[: level + 1]) + "#"


def _split(scope: str, repeated: set[str]) -> tuple[Path, Path]:
    """Split the names of a scope into two paths: first the names outside of repeated series, then the names in them."""
    names = tuple(scope.split(".")) if scope else ()
    is_repeated = [_series(names, level) in repeated for level in range(len(names))]
    kept = tuple(name for name, again in zip(names, is_repeated, strict=True) if not again)
    return kept, tuple(name for name, again in zip(names, is_repeated, strict=True) if again)


def _inside(scope: Path, own: Path) -> Path:
    """Return the path of a module in a scope, without repeating the scope if the path already begins with it."""
    return own if own[: len(scope)] == scope else scope + own


# Iterations


def _iterations(graph: Graph) -> dict[int, Path]:
    """Return a dict from node indices to the path of the iterations that contain the node: `("newton", "3")`."""
    ends = {i: path for i, label in graph.labels.items() if (path := _iteration(label)) is not None}
    offsets = graph.offsets.tolist()
    ends = {i: path for i, path in ends.items() if offsets[i + 1] > offsets[i]}
    if not any(ends.values()):
        return {}
    operands = graph.operands.tolist()
    found: dict[int, Path] = {}
    for i in range(len(graph) - 1, -1, -1):  # users before operands
        path = found[i] = ends.get(i, found.get(i, ()))
        if offsets[i + 1] == offsets[i] and "." in graph.labels.get(i, ""):
            found[i] = ()  # a parameter
        for operand in operands[offsets[i] : offsets[i + 1]]:
            if operand != CONSTANT:
                shared = common(found.get(operand, path), path)
                found[operand] = shared[: len(shared) // 2 * 2]
    return found


def _iteration(label: str) -> Path | None:
    """Return the path of the iteration that a label such as `newton.3.val` names; None for other labels.

    For the label of an initial carry, such as `newton.start.val`, return the path of the enclosing iteration.
    """
    *names, last = label.split(".")
    path = tuple(names)
    if path[-1:] == ("start",):
        return path[:-2]
    is_one = path and len(path) % 2 == 0 and all(number.isdecimal() for number in path[1::2])
    return path if is_one and not last.isdecimal() else None  # h.0.1 is the label of an array element
