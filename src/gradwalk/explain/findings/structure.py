"""`Finding`, and the `Structure` of a graph that all searches for findings use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.explain.passes import passed_to
from gradwalk.explain.text import one_line, plural, short, shortened
from gradwalk.graph.boxes import box_name
from gradwalk.graph.graph import Graph, results_of
from gradwalk.graph.grouping import grouping
from gradwalk.graph.paths import written
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.compiled.opcodes import OPCODES, SYMBOLS
from gradwalk.ops.table import BY_NAME, VARIADIC_BY_NAME

_MAX_NAMES = 3
_LONGEST_NAME = 40
_REPETITION = re.compile(r" \((sample|step|term) \d+\)")

SELECTIONS = frozenset(OPCODES[name] for name, row in {**BY_NAME, **VARIADIC_BY_NAME}.items() if row.selects)


class Finding(NamedTuple):
    """A problem that was found in a graph.

    Attributes:
        kind: "stale", "dead", "saturated", "vanishing", "exploding", "unreached" or "not finite".
        part: The name of the layer, unit, parameter or node.
        number: The number that shows it: the number of stale nodes, of dead units or of unreached parameters, the share
            of samples in which units are saturated, the ratio of gradients, or the number of values or gradients that
            are not finite.
        places: The indices of the nodes: the changed leaves or else the first stale node, the activations of dead and
            saturated units in the first sample, the parameters of the two layers or the nodes of the two time steps,
            the unreached parameters, or the first node that is not finite.
        sentence: The finding in words.
    """

    kind: str
    part: str
    number: float
    places: tuple[int, ...]
    sentence: str


class Structure:
    """The gradients, parameters, layers and units of a graph.

    Attributes:
        graph: The graph.
        operands: The operands of each node; -1 for constants.
        offsets: The offsets of the graph, as a list.
        partials: The partials of the graph, as a list.
        opcodes: The opcodes of the graph, as a list.
        results: The node of each edge, as an array. An edge is an index into `Graph.operands`.
        passed: The operands of all nodes in one list; -1 for operands that receive no gradient.
        groups: The modules and repetitions of the nodes.
        module: The module of each node, as an index into `places`.
        number: The repetition of each node; -1 outside of the repetitions.
        places: The box and the cell of each module.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.offsets: list[int] = graph.offsets.tolist()
        self.partials: list[float] = graph.partials.tolist()
        self.opcodes: list[int] = graph.opcodes.tolist()
        self.passed = passed_to(graph)
        self.results = results_of(graph)
        self.groups = grouping(graph)
        self.operands = self.groups.operands
        self.module: list[int] = self.groups.module.tolist()
        self.number: list[int] = self.groups.number.tolist()
        self.places = self.groups.places
        self._series = {path for path, cell in self.places if cell}
        self.gradients, self.is_reached = self._sweep()

    def _sweep(self) -> tuple[list[float], bytearray]:
        """Compute the gradient of the sum of all outputs, and whether each node is reached through selected operands.

        The result is the same as `passes.gradients`, without an object for every node of a large graph.
        """
        gradients, is_reached = [0.0] * len(self.operands), bytearray(len(self.operands))
        for output in self.graph.outputs:
            gradients[output], is_reached[output] = 1.0, True
        for node in range(len(gradients) - 1, -1, -1):
            upstream = gradients[node]
            selects = self.opcodes[node] in SELECTIONS
            for edge in range(self.offsets[node], self.offsets[node + 1]) if is_reached[node] else ():
                operand, local = self.passed[edge], self.partials[edge]
                if operand != CONSTANT and not (selects and local == 0.0):
                    gradients[operand] += local * upstream
                    is_reached[operand] = True
        return gradients, is_reached

    @cached_property
    def parameters(self) -> list[int]:
        """The leaves that all repetitions share. If any of them has a label, leaves without a label are constants."""
        shared = [leaf for leaf, given in enumerate(self.operands) if not given and self.number[leaf] < 0]
        labeled = [leaf for leaf in shared if leaf in self.graph.labels]
        return labeled or shared

    @cached_property
    def is_network(self) -> bool:
        """Whether operations belong to several modules, such as neurons."""
        is_computed = numpy.diff(self.graph.offsets) > 0
        return len(set(self.groups.module[is_computed].tolist()) - {0}) > 1

    @property
    def repetitions(self) -> str:
        """The number of repetitions in words, such as "50 samples"; "" if nothing is repeated."""
        groups = self.groups
        return plural(groups.count, groups.kind) if groups.count > 1 else ""

    def layer(self, node: int) -> str:
        """Return the name of the layer of a node, such as "layers[0]"; "" if the node belongs to no module."""
        path = self.places[self.module[node]][0]
        return one_line(box_name(path, path in self._series)[0]) if path else ""

    def unit(self, node: int) -> str:
        """Return the name of the unit of a node, such as "layers[0].neurons[2]"; "" if it belongs to no module."""
        path, cell = self.places[self.module[node]]
        return one_line(written((*path, cell) if cell else path))

    def name(self, node: int) -> str:
        """Return the name of a node on one line, with the number of its source line if it has no label."""
        name = shortened(one_line(self.graph.names[node]) or "?", _LONGEST_NAME)
        source = self.graph.sources.get(node)
        return f"{name} (line {source.number})" if source and node not in self.graph.labels else name

    def common_name(self, node: int) -> str:
        """Return the name of a node in all repetitions: "units[1]" for "units[1] (sample 8)"."""
        return _REPETITION.sub("", self.name(node))

    def symbol(self, node: int) -> str:
        """Return the symbol of a node's operation on one line."""
        opcode = self.opcodes[node]
        return SYMBOLS[opcode] if opcode else one_line(self.graph.symbols.get(node, "")) or "?"

    def value(self, node: int) -> str:
        """Return the value of a node as text."""
        return short(float(self.graph.data[node]))


def listed(names: Sequence[str], unit: str) -> str:
    """Return names as text: "a, b and c", or "a, b, c and 5 more parameters"."""
    if len(names) <= _MAX_NAMES:
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return f"{', '.join(names[:_MAX_NAMES])} and {plural(len(names) - _MAX_NAMES, f'more {unit}')}"


def counted(count: int, total: int, unit: str) -> str:
    """Return words such as "2 of 7 values are nan or infinite"."""
    return f"{count:,} of {plural(total, unit)} {'is' if count == 1 else 'are'} nan or infinite"
