"""Which module each node of a graph belongs to: by the labels of parameters, named scopes, and iterations of loops.

The labels of parameters say what belongs together: `layers.0.neurons.2.b` is a parameter of the module
`layers.0.neurons.2`, which is a part of `layers.0`. A computed node belongs to the module whose parameters it uses. A
node with one operand, such as the activation function of a neuron, belongs to the module of that operand.

What was made in a named scope belongs to it, and there to the module whose parameters it uses, or in which its operands
were made that are of the same scope. The parameters of a module belong to the innermost scope that holds all that uses
them. Scopes that are numbered and use the same parameters, such as `place0` and `place1`, are one computation done
several times: what is in `place1.attention` is `place1` of `attention`.

Iterations of a loop are like modules: `newton.3.val` is what goes round at the end of iteration 3 of the loop over
`newton`. All that only this iteration uses belongs to it, and there to the scope and the module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from itertools import pairwise

import numpy

from gradwalk.graph.graph import Graph, Integers
from gradwalk.graph.record import CONSTANT

Path = tuple[str, ...]
_DIGITS = "0123456789"


def modules(graph: Graph) -> tuple[list[Path], Integers]:
    """Find the module that each node belongs to.

    Args:
        graph: Any graph.

    Returns:
        The paths of all modules, the first of which is empty, and the module of every node, an index of that list.
    """
    parameters = _parameters(graph)
    paths, own = _by_parameters(graph, parameters)
    iterations = _iterations(graph)
    if not graph.scopes and not iterations:
        return paths, own
    scoped = _Scoped(graph, parameters)
    whole = [
        iterations.get(i, ()) + (scoped.of_parameter(path) if i in parameters else scoped.of_node(i, path))
        for i, path in enumerate(map(paths.__getitem__, own.tolist()))
    ]
    return _numbered(whole)


def common(first: Path, last: Path) -> Path:
    """Return the path of the innermost module that contains both."""
    length = 0
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        length += 1
    return first[:length]


def _numbered(whole: Iterable[Path]) -> tuple[list[Path], Integers]:
    """Return all paths once, the empty one first, and the number of each."""
    number: dict[Path, int] = {(): 0}
    numbers = [number.setdefault(path, len(number)) for path in whole]
    return list(number), numpy.array(numbers, numpy.int32)


# Parameters


def _parameters(graph: Graph) -> dict[int, Path]:
    """Return the modules that the labels of parameters name, by index."""
    is_leaf = (numpy.diff(graph.offsets) == 0).tolist()
    return {p: tuple(label.split(".")[:-1]) for p, label in graph.labels.items() if is_leaf[p] and "." in label}


def _by_parameters(graph: Graph, parameters: Mapping[int, Path]) -> tuple[list[Path], Integers]:
    """Return the paths of all modules and the module of every node by the parameters that it uses."""
    arity = numpy.diff(graph.offsets)
    paths = sorted({(), *parameters.values()})
    number = {path: i for i, path in enumerate(paths)}
    own = numpy.zeros(len(graph), numpy.int32)
    own[list(parameters)] = [number[path] for path in parameters.values()]
    used = numpy.where(graph.operands == CONSTANT, 0, own[graph.operands])
    computed = numpy.flatnonzero(arity)
    if parameters and len(computed):
        starts = graph.offsets[computed]
        # The paths are sorted, so a prefix that the first and the last share is shared by all between them.
        last = numpy.maximum.reduceat(used, starts)
        first = numpy.minimum.reduceat(numpy.where(used == 0, len(paths), used), starts)
        pairs, which = numpy.unique(first * (len(paths) + 1) + last, return_inverse=True)
        split = [divmod(pair, len(paths) + 1) for pair in pairs.tolist()]
        shared = [common(paths[low], paths[high]) if high else () for low, high in split]
        paths = list(dict.fromkeys([*paths, *shared]))
        number = {path: i for i, path in enumerate(paths)}
        own[computed] = numpy.array([number[path] for path in shared])[which]
    return _handed_on(graph, paths, own)


def _handed_on(graph: Graph, paths: list[Path], own: Integers) -> tuple[list[Path], Integers]:
    """Add the nodes that use no parameter, and belong to the module of their operands."""
    offsets, operands, scopes = graph.offsets.tolist(), graph.operands.tolist(), graph.scopes
    number = {path: i for i, path in enumerate(paths)}
    found = own.tolist()
    for index in numpy.flatnonzero((numpy.diff(graph.offsets) > 0) & (own == 0)).tolist():
        given = operands[offsets[index] : offsets[index + 1]]
        if len(given) > 1 and index not in scopes:
            continue
        scope = scopes.get(index)
        given = [operand for operand in given if operand != CONSTANT]
        if given and all(found[operand] and scopes.get(operand) == scope for operand in given):
            shared = reduce(common, [paths[module] for module in {found[operand] for operand in given}])
            found[index] = number.setdefault(shared, len(number))
            paths += list(number)[len(paths) :]
    return paths, numpy.array(found, numpy.int32)


# Scopes


class _Scoped:
    """Paths of modules in the scopes of a graph."""

    def __init__(self, graph: Graph, parameters: Mapping[int, Path]) -> None:
        self._scopes = graph.scopes
        users = _users(graph, parameters)
        repeated = set(_repeated(users.values()))
        self._split = {scope: _split(scope, repeated) for scope in {"", *graph.scopes.values()}}
        self._around = {module: self._shared(scopes) for module, scopes in users.items()}

    def of_node(self, index: int, own: Path) -> Path:
        """Return where a node belongs: what is done once comes before what is repeated."""
        kept, repeated = self._split[self._scopes.get(index, "")]
        return _inside(kept, own) + repeated

    def of_parameter(self, own: Path) -> Path:
        """Return where the parameters of a module belong: into the innermost scope that holds all that uses them."""
        return _inside(self._around.get(own, ()), own)

    def _shared(self, scopes: list[str]) -> Path:
        shared = self._split[scopes[0]][0]
        for scope in scopes[1:]:
            shared = common(shared, self._split[scope][0])
        return shared


def _users(graph: Graph, parameters: Mapping[int, Path]) -> dict[Path, list[str]]:
    """Return the scopes that use the parameters of each module, "" for none, each once and in the order of the nodes."""
    operands = graph.operands.tolist()
    offsets = graph.offsets.tolist()
    users: dict[Path, dict[str, None]] = {}
    for index, (start, end) in enumerate(pairwise(offsets)):
        for operand in operands[start:end]:
            if operand in parameters:
                users.setdefault(parameters[operand], {})[graph.scopes.get(index, "")] = None
    return {module: list(scopes) for module, scopes in users.items()}


def _repeated(users: Iterable[list[str]]) -> Iterator[str]:
    """Yield the series of scopes that use the same parameters, as `_series` spells them."""
    for scopes in map(tuple, dict.fromkeys(map(tuple, users))):
        first = scopes[0].split(".")
        for scope in scopes[1:]:
            other = scope.split(".")
            level = len(common(tuple(first), tuple(other)))
            if level < min(len(first), len(other)) and _series(first, level) == _series(other, level) != "":
                yield _series(first, level)


def _series(names: list[str], level: int) -> str:
    """Return a scope without the numbers in its names, such as "place" for "place3"; "" where its last has none."""
    if not names[level].endswith(tuple(_DIGITS)):
        return ""
    return ".".join(name.rstrip(_DIGITS) for name in names[: level + 1]) + "#"


def _split(scope: str, repeated: set[str]) -> tuple[Path, Path]:
    """Divide the names of a scope into those that do not belong to repeated series, and those that do."""
    names = scope.split(".") if scope else []
    is_repeated = [_series(names, level) in repeated for level in range(len(names))]
    kept = tuple(name for name, again in zip(names, is_repeated, strict=True) if not again)
    return kept, tuple(name for name, again in zip(names, is_repeated, strict=True) if again)


def _inside(scope: Path, own: Path) -> Path:
    """Return the path of a module in a scope, whose names its own path may begin with."""
    return own if own[: len(scope)] == scope else scope + own


# Iterations


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
                shared = common(found.get(operand, path), path)
                found[operand] = shared[: len(shared) // 2 * 2]
    return found


def _iteration(label: str) -> Path | None:
    """Return the iteration that a label such as `newton.3.val` names; that around a loop for what it starts from."""
    *names, last = label.split(".")
    path = tuple(names)
    if path[-1:] == ("start",):
        return path[:-2]
    is_one = path and len(path) % 2 == 0 and all(number.isdecimal() for number in path[1::2])
    return path if is_one and not last.isdecimal() else None  # h.0.1 is in an array
