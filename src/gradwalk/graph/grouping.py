"""Group the nodes of a graph into modules, layers and neurons, and into samples, time steps or steps of a loop.

The labels of parameters, named scopes and loops define the groups: see `modules`. The structure of the graph defines
the groups of nodes without labels: see `neurons`, `repeats` and `steps`. If no structure is found, the nodes that the
same source line created are a group. If the source lines are not known either, all nodes are in one group.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy

from gradwalk.graph.graph import Graph, Integers, results_of
from gradwalk.graph.json.columns import encode_column
from gradwalk.graph.modules import modules_apart, numbered, parameters
from gradwalk.graph.neurons import Layers, layers
from gradwalk.graph.paths import Path, common
from gradwalk.graph.record import CONSTANT
from gradwalk.graph.repeats import Repeats, operand_lists, repeated_terms
from gradwalk.graph.steps import own_inputs, repeated_steps

_MIN_LARGE = 24  # minimum number of operations that are grouped by source lines


class Place(NamedTuple):
    """The box of a picture that shows a module, and the module's cell in the box; "" if it has the box for itself."""

    box: Path
    cell: str


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of the nodes of a graph.

    Attributes:
        paths: The paths of all modules, the first of which is empty, such as `("layers", "0", "neurons", "2")`.
        module: The module of each node, as an index into `paths`.
        kind: The kind of the repetitions: "samples", "steps", "terms", or "" if nothing is repeated.
        count: Number of repetitions; 0 if nothing is repeated.
        number: The repetition of each node; -1 for nodes outside of the repetitions.
        role: The index of the corresponding node of the first repetition; the index itself for all other nodes.
        places: The box and the cell of each module.
        operands: The operands of each node; -1 for constants.
    """

    paths: list[Path]
    module: Integers
    kind: str
    count: int
    number: Integers
    role: Sequence[int]
    places: list[Place]
    operands: list[list[int]]

    @property
    def is_trivial(self) -> bool:
        """Whether no structure was found: all nodes are in one group."""
        return len(self.paths) == 1 and self.count == 0

    def entry(self) -> dict[str, Any]:
        """Return a dict with the key "groups", as docs/walk.schema.json describes it; empty without any structure."""
        if self.is_trivial:
            return {}
        groups = {
            "paths": [list(path) for path in self.paths],
            "modules": encode_column(self.module, "<i4"),
            "kind": self.kind,
            "count": self.count,
            "numbers": encode_column(self.number, "<i4"),
        }
        return {"groups": groups}


_groupings: WeakKeyDictionary[Graph, Grouping] = WeakKeyDictionary()


def grouping(graph: Graph) -> Grouping:
    """Group the nodes of a graph. The time grows linearly with the number of nodes, and later calls take no time."""
    found = _groupings.get(graph)
    return found if found is not None else _groupings.setdefault(graph, _grouped(graph))


def share_grouping(graph: Graph, other: Graph) -> None:
    """Use the groups of a graph for a copy of it with the same labels, which may have different names."""
    _groupings[other] = grouping(graph)


def _grouped(graph: Graph) -> Grouping:
    """Group the nodes of a graph."""
    paths, module, number = modules_apart(graph)
    operands = operand_lists(graph)
    repeats = (
        Repeats("steps", max(number) + 1, number, list(range(len(graph))), [True] * len(graph))
        if max(number) > 0
        else repeated_terms(graph, operands)
    )
    found = None
    if repeats is None or not module.all():  # else the labels and scopes tell the module and repetition of every node
        samples = repeats if repeats and repeats.kind != "steps" else None
        found = layers(graph, operands, samples, parameters(graph).keys())
    if found is not None:
        paths, module = _structural(found, repeats, [paths[i] for i in module.tolist()])
    if repeats is None and found is not None and found.steps:
        repeats = _time_steps(operands, found)
    elif repeats is None and len(paths) == 1:
        repeats = repeated_steps(graph, operands)
    if repeats is None and len(paths) == 1:
        paths, module = _by_source_line(graph)
    places = _places(graph, paths, module)
    if repeats is None:
        nowhere = numpy.full(len(graph), -1, numpy.int32)
        return Grouping(paths, module, "", 0, nowhere, range(len(graph)), places, operands)
    numbers = numpy.array(repeats.number, numpy.int32)
    return Grouping(paths, module, repeats.kind, repeats.count, numbers, repeats.role, places, operands)


def _places(graph: Graph, paths: Sequence[Path], module: Integers) -> list[Place]:
    """Return the box and the cell of each module.

    Numbered siblings are cells of one box, such as the neurons of a layer, unless each uses results of earlier ones,
    as layers do.
    """
    places = [_last_number(path) for path in paths]
    operands = graph.operands
    is_result = (operands != CONSTANT) & (graph.offsets[operands] < graph.offsets[operands + 1])
    pairs = module[operands].astype(numpy.int64) * len(paths) + module[results_of(graph)]
    directions: dict[Path, set[bool]] = defaultdict(set)  # of the edges between siblings
    for pair in numpy.unique(pairs[is_result]).tolist():
        (box, before), (other, cell) = places[pair // len(paths)], places[pair % len(paths)]
        if box == other and before and cell and before != cell:
            directions[box].add(int(before) < int(cell))
    return [
        Place(path, "") if len(directions[place.box]) == 1 else place for path, place in zip(paths, places, strict=True)
    ]


def _last_number(path: Path) -> Place:
    """Split a path at its last number: `("layers", "0", "neurons")` and "2"; "" if it has no number."""
    for i in range(len(path) - 1, 0, -1):
        if path[i].isdecimal():
            return Place(path[:i], path[i])
    return Place(path, "")


def _by_source_line(graph: Graph) -> tuple[list[Path], Integers]:
    """Group the computed nodes by the source lines that created them; one group if that would be of little use."""
    is_computed = (numpy.diff(graph.offsets) > 0).tolist()
    lines = {i: line for i, line in graph.sources.items() if is_computed[i] and line.text}
    distinct = set(lines.values())
    if len(lines) < _MIN_LARGE or len(lines) < 2 * len(distinct):
        return numbered([()] * len(graph))
    texts = Counter(line.text for line in distinct)
    names = {line: line.text if texts[line.text] == 1 else f"{line.text} (line {line.number})" for line in distinct}
    return numbered([(names[lines[i]],) if i in lines else () for i in range(len(graph))])


def _structural(found: Layers, repeats: Repeats | None, known: list[Path]) -> tuple[list[Path], Integers]:
    """Find modules for nodes without a module by labels. All samples have the modules of the first sample.

    A neuron whose parameters have labels gets the path that is common to its parameters.
    """
    labeled: dict[Path, Path] = {}
    for node, path in found.paths.items():
        if known[node] and labeled.get(path) != known[node]:
            labeled[path] = common(labeled.get(path, known[node]), known[node])
    has_labels = any(known)
    whole = []
    for node, own in enumerate(known):
        path = found.paths.get(repeats.role[node] if repeats else node, ())
        whole.append(own or (labeled.get(path, ()) if has_labels else path))
    return numbered(whole)


def _time_steps(operands: Sequence[list[int]], found: Layers) -> Repeats:
    """Return the time steps. A node outside of neurons belongs to a step if all its computed operands belong to it."""
    number = [-1] * len(operands)
    for node, given in enumerate(operands):
        if node in found.steps:
            number[node] = found.steps[node]
        elif given and node not in found.paths:
            steps = {number[x] for x in given if x != CONSTANT and operands[x]}
            number[node] = steps.pop() if len(steps) == 1 else -1
    own_inputs(operands, number)
    return Repeats("steps", max(number) + 1, number, list(range(len(operands))), [True] * len(operands))
