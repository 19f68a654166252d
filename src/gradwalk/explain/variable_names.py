"""Name the nodes of a graph after the variables of the program that hold them.

`model.layers[0].neurons[2].w[1]` is named `layers.0.neurons.2.w.1`, as in `Module.named_parameters`, whether or not
the classes of the program are Modules. The variables are read when a graph is drawn or walked through, so the program
itself runs at full speed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from types import FunctionType, ModuleType
from typing import Any

import numpy

from gradwalk.graph.graph import Graph, as_graph
from gradwalk.nn import Module
from gradwalk.value.source.source_line import users_frame
from gradwalk.value.sweep.order import topological_order
from gradwalk.value.value import Value

_NUMBER = re.compile(r" \(\d+\)$")  # distinguishes equal names
_MAX_OBJECTS = 100_000  # maximum number of objects that are searched
_MAX_DEPTH = 20  # maximum number of parts of a name
_MAX_LENGTH = 40  # maximum length of a name
_CONTAINERS = (list, tuple, dict)
_NOT_OWNERS = (type, ModuleType, FunctionType)

_Part = str | int  # a part of a name: an attribute, or an index in a container


def graph_with_names(root: Value | Iterable[Value] | Graph) -> Graph:
    """Record a graph, and label its unlabeled nodes with the variables of the caller. Return a Graph unchanged.

    Under `source_lines()`, nodes that the caller's variables do not hold are labeled with the variables that they were
    assigned to.
    """
    if isinstance(root, Graph):
        return root
    roots = root if isinstance(root, Value) else list(root) if isinstance(root, Iterable) else root
    graph = as_graph(roots)
    tops = [roots] if isinstance(roots, Value) else roots
    nodes = list(dict.fromkeys(x for top in tops for x in topological_order(top)))
    own = {place: nodes[place].label for place in graph.labels if nodes[place].label}
    if len(own) == len(graph):
        return graph
    frame = users_frame(sys._getframe())
    variables = {**frame.f_globals, **frame.f_locals}
    names = names_in(variables, {id(node): place for place, node in enumerate(nodes)})
    return replace(graph, labels=_with_assigned({**names, **own}, graph.labels))


def _with_assigned(names: dict[int, str], assigned: Mapping[int, str]) -> dict[int, str]:
    """Add the labels of other nodes, which are numbered variables of source lines. Number them again if necessary."""
    taken = set(names.values())
    numbers: dict[str, Iterator[int]] = {}
    for place, label in assigned.items():
        if place not in names:
            name = variable = _NUMBER.sub("", label)
            if name in taken:
                tried = numbers.setdefault(variable, count(2))
                name = next(text for k in tried if (text := f"{variable} ({k})") not in taken)
            taken.add(name)
            names[place] = name
    return names


def variable_of(item: object) -> str:
    """Return the name of a variable of the caller that holds an object; "" if there is none."""
    frame = users_frame(sys._getframe())
    variables = {**frame.f_globals, **frame.f_locals}
    return next((name for name, held in variables.items() if held is item and not name.startswith("_")), "")


def names_in(variables: Mapping[str, object], places: Mapping[int, int]) -> dict[int, str]:
    """Return names for Values that variables hold.

    Args:
        variables: The objects by name.
        places: Dict from ids of Values to their indices.

    Returns:
        Dict from indices to names. If several variables hold a Value, an attribute of an object comes first, then a
        variable, then an element of a container. A leaf is named after its container if other leaves of the container
        have no variable: its variable is probably the variable of a loop.
    """
    public = {name: item for name, item in variables.items() if not name.startswith("_") and name not in ("In", "Out")}
    owned: dict[str, dict[int, str]] = {}
    single: dict[int, str] = {}
    elements: dict[int, str] = {}
    leaves: dict[str, list[int]] = {}  # of each container
    for name, item in public.items():
        if isinstance(item, Value):
            if id(item) in places:
                single.setdefault(places[id(item)], name)
        elif isinstance(item, _CONTAINERS) or _is_owner(item):
            for node, path, has_owner in _values_in(item, places):
                place = places[id(node)]
                if has_owner:
                    owned.setdefault(name, {}).setdefault(place, ".".join(map(str, path)))
                    continue
                elements.setdefault(place, name + "".join(f"[{part!r}]" for part in path))
                if not node.operands:
                    leaves.setdefault(name, []).append(place)
    of_loops = [place for held in leaves.values() if not single.keys() >= set(held) for place in held]
    found = elements | single | {place: elements[place] for place in of_loops}
    prefixed = len(_without_repetition(owned)) > 1
    for name, paths in owned.items():
        starts_with_name = prefixed or isinstance(public[name], _CONTAINERS)
        found |= {place: f"{name}.{path}" if starts_with_name else path for place, path in paths.items()}
    return {place: name for place, name in found.items() if len(name) <= _MAX_LENGTH}


def _without_repetition(owned: dict[str, dict[int, str]]) -> dict[str, dict[int, str]]:
    """Remove the Values that an object shares with an earlier, larger object, such as a layer with its network."""
    seen: set[int] = set()
    for name, paths in sorted(owned.items(), key=lambda item: -len(item[1])):
        owned[name] = {place: path for place, path in paths.items() if place not in seen}
        seen |= paths.keys()
        if not owned[name]:
            del owned[name]
    return owned


def _values_in(top: object, places: Mapping[int, int]) -> Iterator[tuple[Value, tuple[_Part, ...], bool]]:
    """Yield each Value of the graph in an object, the path to it, and whether the path leads through attributes."""
    seen = {id(top)}
    pending: list[tuple[object, tuple[_Part, ...], bool]] = [(top, (), False)]
    kept = []  # keeps objects alive, so that ids are not reused
    while pending and len(seen) < _MAX_OBJECTS:
        item, path, has_owner = pending.pop()
        is_owner = not isinstance(item, _CONTAINERS)
        for part, child in reversed(list(_children(item))):
            if isinstance(child, Value):
                if id(child) in places:
                    yield child, (*path, part), has_owner or is_owner
            elif (
                len(path) < _MAX_DEPTH
                and id(child) not in seen
                and (isinstance(child, (*_CONTAINERS, numpy.ndarray)) or _is_owner(child))
            ):
                seen.add(id(child))
                kept.append(child)
                pending.append((child, (*path, part), has_owner or is_owner))


def _children(item: Any) -> Iterable[tuple[_Part, object]]:
    """Return the elements of a container or the attributes of an object, with their names."""
    if isinstance(item, dict):
        return [(key, child) for key, child in item.items() if isinstance(key, (str, int))]
    if isinstance(item, (list, tuple)):
        return enumerate(item)
    if isinstance(item, numpy.ndarray):
        return enumerate(item.tolist()) if item.dtype == object and item.ndim else ()
    attributes: dict[str, object] = object.__getattribute__(item, "__dict__")
    return attributes.items()


def _is_owner(item: object) -> bool:
    """Return whether an object may hold Values in attributes: a Module, or an object of a class of the program."""
    cls = type(item)
    if isinstance(item, _NOT_OWNERS) or not cls.__dictoffset__:
        return False
    if isinstance(item, Module):
        return True
    library = cls.__module__.partition(".")[0]
    if library in sys.stdlib_module_names or library in ("gradwalk", "numpy"):
        return False
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
    return "site-packages" not in file
