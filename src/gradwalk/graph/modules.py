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
from typing import Any

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
    scopes, made_in = _scopes(graph)
    paths, own = _by_parameters(graph, parameters, made_in)
    if len(scopes) > 1:
        paths, own = _scoped(graph, parameters, (paths, own), (scopes, made_in))
    iterations = _iterations(graph)
    if iterations:
        paths, own = _numbered([iterations.get(i, ()) + paths[module] for i, module in enumerate(own.tolist())])
    return paths, own


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


def _by_parameters(graph: Graph, parameters: Mapping[int, Path], made_in: Integers) -> tuple[list[Path], Integers]:
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
    return _handed_on(graph, paths, own, made_in)


def _handed_on(graph: Graph, paths: list[Path], own: Integers, made_in: Integers) -> tuple[list[Path], Integers]:
    """Add the nodes that use no parameter, and belong to the module of their operands in the same scope."""
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
    """Return all scopes, first "" for none, and the number of the scope that each node was made in."""
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
) -> tuple[list[Path], Integers]:
    """Return the paths of modules in the scopes of a graph: what is done once comes before what is repeated."""
    (paths, modules), (scopes, numbers) = own, made_in
    is_parameter = numpy.zeros(len(graph), bool)
    is_parameter[list(parameters)] = True
    users = _users(graph, is_parameter, modules, numbers)
    repeated = set(_repeated([[scopes[number] for number in used] for used in users.values()]))
    split = [_split(scope, repeated) for scope in scopes]
    around = {module: reduce(common, [split[number][0] for number in used]) for module, used in users.items()}

    kinds = (modules.astype(numpy.int64) * len(scopes) + numbers) * 2 + is_parameter
    present, which = numpy.unique(kinds, return_inverse=True)
    whole = []
    for kind in present.tolist():
        module, number = divmod(kind // 2, len(scopes))
        kept, again = (around.get(module, ()), ()) if kind % 2 else split[number]
        whole.append(_inside(kept, paths[module]) + again)
    paths, numbered = _numbered(whole)
    return paths, numbered[which]


def _users(graph: Graph, is_parameter: Any, modules: Integers, made_in: Integers) -> dict[int, list[int]]:
    """Return the scopes that use the parameters of each module, each once and in the order of the nodes."""
    uses = numpy.flatnonzero((graph.operands != CONSTANT) & is_parameter[graph.operands])
    results = numpy.repeat(numpy.arange(len(graph)), numpy.diff(graph.offsets))[uses]
    pairs = numpy.stack([modules[graph.operands[uses]], made_in[results]], axis=1)
    _, first = numpy.unique(pairs, axis=0, return_index=True)
    users: dict[int, list[int]] = {}
    for module, scope in pairs[numpy.sort(first)].tolist():
        users.setdefault(module, []).append(scope)
    return users


def _repeated(users: Iterable[list[str]]) -> Iterator[str]:
    """Yield the series of scopes that use the same parameters, as `_series` spells them."""
    for scopes in dict.fromkeys(map(tuple, users)):
        first = tuple(scopes[0].split("."))
        for scope in scopes[1:]:
            other = tuple(scope.split("."))
            level = len(common(first, other))
            if level < min(len(first), len(other)) and _series(first, level) == _series(other, level) != "":
                yield _series(first, level)


def _series(names: Path, level: int) -> str:
    """Return a scope without the numbers in its names, such as "place#" for "place3"; "" where its last has none."""
    if not names[level].endswith(tuple(_DIGITS)):
        return ""
    return ".".join(name.rstrip(_DIGITS) for name in names[: level + 1]) + "#"


def _split(scope: str, repeated: set[str]) -> tuple[Path, Path]:
    """Divide the names of a scope into those that do not belong to repeated series, and those that do."""
    names = tuple(scope.split(".")) if scope else ()
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
