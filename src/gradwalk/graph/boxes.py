"""Divide a graph into the boxes of a picture: layers with their neurons, inputs, and the operations between them.

Only one of the repeated samples or steps is shown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from gradwalk.graph.folding import folds
from gradwalk.graph.graph import Graph
from gradwalk.graph.grouping import Grouping, Place, grouping
from gradwalk.graph.paths import Path, written
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.compiled.opcodes import OPCODES, SYMBOLS

_MAX_BOXES = 40
_MAX_PARTS = 1000  # maximum number of boxes before equal boxes are folded
_MANY_BOXES = 10  # equal boxes are folded if there are more boxes
_KINDS = [
    (kind,) for kind in ("inputs", "parameters", "each", "before", "outside", "after")
]  # of boxes without a module

Links = dict[tuple[int, int], int]


@dataclass
class Cell:
    """A neuron, or another part of a box that has siblings.

    Attributes:
        name: The path of the cell, such as "layers[0].neurons[2]", or the name of a leaf.
        parameters: The indices of its parameters.
        output: The index of its last node in the sample that is shown; -1 if it has no nodes there.
        constants: The constants that it multiplies with parameters in this sample, such as the inputs of a network.
            Each constant comes with the index of the parameter.
    """

    name: str
    parameters: list[int] = field(default_factory=list)
    output: int = -1
    constants: list[tuple[float, int]] = field(default_factory=list)


@dataclass
class Box:
    """A group of nodes that is drawn as one box.

    Attributes:
        name: The path of the module, or words such as "inputs".
        kind: "module", "inputs", "parameters" or "operations".
        unit: The name of the cells in the plural, such as "neurons".
        is_repeated: Whether the box belongs to a sample or step that is repeated.
        cells: The cells, in order.
        parameters: The indices of the leaves that do not belong to a cell.
        nodes: The indices of the computed nodes in the sample that is shown.
        operations: Number of these nodes by symbol.
        carries: Number of edges from the previous step to the step that is shown.
        carried: The indices of the results of the previous step that these edges come from.
        alike: The leaves of each equal part that is shown by this box, such as one of several layers; empty if the box
            shows only itself.
        part: The name of these parts in the plural, such as "layers".
    """

    name: str
    kind: str
    unit: str = ""
    is_repeated: bool = False
    cells: list[Cell] = field(default_factory=list)
    parameters: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    operations: Counter[str] = field(default_factory=Counter)
    carries: int = 0
    carried: list[int] = field(default_factory=list)
    alike: list[list[int]] = field(default_factory=list)
    part: str = ""

    @property
    def leaves(self) -> list[int]:
        """The indices of all leaves of the box."""
        return [*self.parameters, *[leaf for cell in self.cells for leaf in cell.parameters]]


@dataclass(frozen=True)
class Boxes:
    """The boxes of a picture, in an order in which most edges point forward.

    Attributes:
        boxes: The boxes.
        edges: Number of edges between two boxes, by the pair of their list positions.
        links: The connected cells, by the pair of boxes. Each item maps the list positions of two cells in their boxes
            to the parameter that the result of the first cell is multiplied with, or to -1.
        grouping: The groups of the nodes.
        names: The names of all boxes, including boxes without nodes in the sample or step that is shown.
        box: The box that shows each node, as an index into `names`.
    """

    boxes: list[Box]
    edges: Counter[tuple[int, int]]
    links: dict[tuple[int, int], Links]
    grouping: Grouping
    names: list[str]
    box: list[int]

    @property
    def is_network(self) -> bool:
        """Whether there are at least two layers, or one layer with several neurons."""
        layers = [box for box in self.boxes if box.kind == "module" and box.cells]
        return len(layers) > 1 or any(len(box.cells) > 1 for box in layers)


def boxes(graph: Graph) -> Boxes | None:
    """Divide a graph into boxes; None if there are too many, or if nothing is repeated and there are no modules."""
    groups = grouping(graph)
    if len(groups.paths) == 1 and not groups.count:
        return None
    division = _Division(graph, groups)
    return division.boxes() if division.is_small() else None


def box_name(path: Path, is_series: bool) -> tuple[str, str]:
    """Return the name of a module's box, and the name of its cells in the plural; "" if it is not a series of cells."""
    has_unit = is_series and len(path) > 1 and (path[-1] == "neurons" or path[-2].isdecimal())
    unit = path[-1] if has_unit or path == ("neurons",) else "rows" if is_series else ""
    return written(path[:-1] if has_unit else path), unit


class _Division:
    """Assigns nodes to boxes and cells."""

    def __init__(self, graph: Graph, groups: Grouping) -> None:
        self._graph, self._operands, self._groups = graph, groups.operands, groups
        self._module = groups.module.tolist()
        self._number = groups.number.tolist()
        self._shown = min(1, groups.count - 1) if groups.kind == "steps" else 0  # the first step may have no carry
        self._places, self._own = self._assigned()

    def is_small(self) -> bool:
        """Return whether there are few enough boxes to look for equal ones."""
        return len({place.box for place in self._places}) <= _MAX_PARTS

    def _assigned(self) -> tuple[list[Place], list[int]]:
        """Return the places of the nodes, and the index of each node's place.

        The path of a box without a module begins with "".
        """
        groups, operands, number = self._groups, self._operands, self._number
        has_modules = len(groups.paths) > 1
        is_divided = groups.count > 0 and (groups.kind == "samples" or not has_modules)
        rank: dict[Path, int] = {}
        places: dict[Place, int] = {}
        own: list[int] = []
        # Nodes outside of modules are divided by the modules or repetitions that they use. The last entry is for -1.
        stages = [0] * (len(operands) + 1)
        for node, given in enumerate(operands):
            place = groups.places[self._module[node]]
            is_repeated = number[node] >= 0
            if given and not is_repeated and is_divided:
                used = any(x != CONSTANT and number[x] >= 0 and operands[x] for x in given)
                stages[node] = max([stages[x] for x in given]) | used
                place = Place(("", "after" if stages[node] % 2 else "before"), "")
            elif place.box:
                stages[node] = 2 * rank.setdefault(place.box, len(rank)) + 2 if given else 0
            elif given:
                stages[node] = max([stages[x] for x in given])
                kind = "each" if is_repeated or not groups.count else "outside"
                place = Place(("", kind, str(stages[node])), "")
            else:
                place = Place(("", "inputs" if is_repeated or groups.kind != "samples" else "parameters"), "")
            own.append(places.setdefault(place, len(places)))
        return list(places), own

    def boxes(self) -> Boxes | None:
        """Return the boxes with their cells and edges; None if there are too many for a picture."""
        found = {path: self._box(path) for path in dict.fromkeys(place.box for place in self._places)}
        cells: dict[Place, Cell] = {}
        for node, own in enumerate(self._own):
            if self._number[node] in (-1, self._shown):
                place = self._places[own]
                self._put(node, found[place.box], cells, place)
        for (path, _), cell in sorted(cells.items(), key=lambda item: (item[0][0], int(item[0][1]))):
            found[path].cells.append(cell)
        paths = list(found)
        index = {path: i for i, path in enumerate(paths)}
        edges, links = self._edges(index, found, cells)
        whole = list(found.values())
        kept = [i for i, box in enumerate(whole) if box.operations or box.leaves]
        shown = list(range(len(whole)))
        if len(kept) > _MANY_BOXES:
            shown, edges, links = _folded(paths, whole, kept, (edges, links))
            kept = [i for i in kept if shown[i] == i]
        if len(kept) > _MAX_BOXES:
            return None
        at = {number: i for i, number in enumerate(kept)}
        edges = Counter({(at[a], at[b]): n for (a, b), n in edges.items() if a in at and b in at})
        rank = {number: i for i, number in enumerate(in_order(len(kept), edges))}
        ordered = [whole[kept[number]] for number in rank]
        return Boxes(
            ordered,
            Counter({(rank[start], rank[end]): count for (start, end), count in edges.items()}),
            {(rank[a], rank[b]): links[kept[a], kept[b]] for a, b in edges if (kept[a], kept[b]) in links},
            self._groups,
            [found[path].name for path in paths],
            list(map([shown[index[place.box]] for place in self._places].__getitem__, self._own)),
        )

    def _box(self, path: Path) -> Box:
        """Create an empty box with its name."""
        if path[0] or path[1:2] not in _KINDS:
            name, unit = box_name(path, any(box == path and cell for box, cell in self._groups.places))
            return Box(name, "module", unit)
        kind = path[1]
        if kind in ("inputs", "parameters"):
            return Box(kind, kind, is_repeated=kind == "inputs" and self._groups.kind == "samples")
        unit, count = self._groups.kind, self._groups.count
        names = {
            "each": f"each {unit[:-1]}" if count else "operations",
            "before": "parameters alone" if unit == "samples" else f"before the {unit}",
            "outside": f"all {unit}",
            "after": f"after the {unit}" if unit == "steps" else f"all {count:,} {unit}",
        }
        return Box(names[kind], "operations", is_repeated=kind == "each" and count > 0)

    def _put(self, node: int, box: Box, cells: dict[Place, Cell], place: Place) -> None:
        """Add a node to its box and cell."""
        path, number = place
        box.is_repeated |= self._number[node] >= 0
        if box.kind == "inputs":
            cell = cells.setdefault(Place(path, str(len(box.parameters))), Cell(self._graph.names[node]))
            cell.output = node
            box.parameters.append(node)
            return
        parameters = box.parameters
        if number:
            cell = cells.setdefault(place, Cell(written((*path, number))))
            parameters = cell.parameters
            if self._operands[node]:
                cell.output = node
                cell.constants += self._constants(node)
        if self._operands[node]:
            box.nodes.append(node)
            opcode = int(self._graph.opcodes[node])
            box.operations[SYMBOLS[opcode] if opcode else "by hand"] += 1
        else:
            parameters.append(node)

    def _constants(self, node: int) -> list[tuple[float, int]]:
        """Return the constants that a product multiplies with leaves, each with the leaf."""
        start, given = int(self._graph.offsets[node]), self._operands[node]
        return [
            (float(self._graph.partials[start + i]), factor)
            for i, x in enumerate(given)
            if x == CONSTANT and (factor := self._factor(node, i)) >= 0
        ]

    def _carry(self, box: Box, operand: int) -> None:
        """Count an edge from the previous step."""
        box.carries += 1
        if operand not in box.carried:
            box.carried.append(operand)

    def _factor(self, node: int, position: int) -> int:
        """Return the leaf that a product multiplies an operand with; -1 if there is none."""
        opcode, given = self._graph.opcodes[node], self._operands[node]
        if opcode == OPCODES["mul"]:
            factor = given[1 - position]
        elif opcode == OPCODES["sumprod"] and position > 0:
            half = (len(given) - 1) // 2
            factor = given[(position - 1 + half) % (2 * half) + 1]
        else:
            return -1
        return factor if factor != CONSTANT and not self._operands[factor] else -1

    def _edges(
        self, index: Mapping[Path, int], found: Mapping[Path, Box], cells: Mapping[Place, Cell]
    ) -> tuple[Counter[tuple[int, int]], dict[tuple[int, int], Links]]:
        """Count the edges between boxes in the sample that is shown, and connect the cells."""
        positions = {id(cell): i for box in found.values() for i, cell in enumerate(box.cells)}
        of_input = {cell.output: positions[id(cell)] for (path, _), cell in cells.items() if path[:2] == ("", "inputs")}
        edges: Counter[tuple[int, int]] = Counter()
        links: dict[tuple[int, int], Links] = defaultdict(dict)
        for node, given in enumerate(self._operands):
            is_start = self._number[node] == 0 < self._shown  # the first step, which uses the initial carry
            if not is_start and self._number[node] not in (-1, self._shown):
                continue
            for position, x in enumerate(given):
                if x == CONSTANT or (is_start and self._number[x] == 0):
                    continue
                start, end = self._places[self._own[x]], self._places[self._own[node]]
                pair = index[start.box], index[end.box]
                if pair[0] == pair[1]:
                    if 0 <= self._number[x] < self._number[node]:
                        self._carry(found[end.box], x)
                else:
                    edges[pair] += 1
                    if not self._operands[x] and x not in of_input:
                        continue
                    first = of_input.get(x, positions[id(cells[start])] if start in cells else 0)
                    last = positions[id(cells[end])] if end in cells else 0
                    links[pair][first, last] = self._factor(node, position)
        return edges, links


_Connections = tuple[Counter[tuple[int, int]], dict[tuple[int, int], Links]]


def _folded(
    paths: Sequence[Path], boxes: Sequence[Box], kept: list[int], connections: _Connections
) -> tuple[list[int], Counter[tuple[int, int]], dict[tuple[int, int], Links]]:
    """Show one box for equal boxes. Return the box that shows each box, and the edges and links between them."""
    kinds = [
        (box.kind, box.unit, len(box.cells), len(box.leaves), box.is_repeated, *sorted(box.operations.items()))
        for box in (boxes[i] for i in kept)
    ]
    shown = list(range(len(boxes)))
    part: dict[int, tuple[Hashable, int]] = {}
    for fold in folds([paths[i] for i in kept], kinds):
        members = [kept[i] for i in fold.members]
        first = boxes[members[0]]
        first.name, first.part = fold.name.removesuffix(f".{first.unit}"), fold.unit
        first.alike = [boxes[i].leaves for i in members]
        for number, member in enumerate(members):
            shown[member] = members[0]
            part[member] = fold.run, number
    edges: Counter[tuple[int, int]] = Counter()
    links: dict[tuple[int, int], Links] = defaultdict(dict)
    for (start, end), count in connections[0].items():
        one, other = part.get(start), part.get(end)
        if one is None or other is None or one[0] != other[0] or one[1] == other[1]:
            pair = shown[start], shown[end]
            edges[pair] += count
            links[pair].update(connections[1].get((start, end), {}))
    return shown, edges, {pair: found for pair, found in links.items() if found}


def in_order(count: int, edges: Counter[tuple[int, int]]) -> list[int]:
    """Order the groups so that most edges point forward: sources first, sinks last.

    In a cycle, the group with the largest number of outgoing minus incoming edges comes first (Eades, Lin and Smyth,
    1993).
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
