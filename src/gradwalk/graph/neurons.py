"""Find the layers and neurons of a network whose parameters have no labels, from the structure of its graph.

A neuron is a sum of products of parameters, with the operations that use only this sum, such as an activation function.
Nodes that use the same parameters belong to the same neuron, in whichever sample or time step. Neurons of the same
depth with the same number of parameters and the same operations are a layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from gradwalk.graph.graph import Graph
from gradwalk.graph.paths import Path, common
from gradwalk.graph.record import CONSTANT
from gradwalk.graph.repeats import Repeats
from gradwalk.ops.compiled.opcodes import OPCODES

_SUMS = (OPCODES["add"], OPCODES["sub"])
_MULTIPLY, _POWER = OPCODES["mul"], OPCODES["pow"]
_PRODUCTS = (_MULTIPLY, OPCODES["sumprod"])
_LOSSES = (_MULTIPLY, _POWER, OPCODES["abs"], OPCODES["hypot"])  # operations that make a loss of a difference
_LOGARITHMS = (OPCODES["log"], OPCODES["log1p"])
_NONE = -1


@dataclass
class _Neuron:
    """One use of a neuron: the nodes of one sample and one time step.

    Attributes:
        depth: Number of neurons on the longest path to this neuron, including it.
        parameters: The parameters, in the order of their use.
        opcodes: The operations other than sums and products.
    """

    depth: int
    parameters: list[int] = field(default_factory=list)
    opcodes: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Layers:
    """The layers that were found.

    Attributes:
        paths: The path of each node that belongs to a neuron, such as `("layers", "0", "neurons", "2")`, and of each
            parameter.
        steps: The number of the time step of each node of a neuron that occurs several times; 0 is the first.
    """

    paths: dict[int, Path]
    steps: dict[int, int]


def layers(
    graph: Graph, operands: Sequence[list[int]], samples: Repeats | None, parameters: Set[int] = frozenset()
) -> Layers | None:
    """Find the layers of a network. Return None if most operations do not belong to neurons.

    Args:
        graph: The graph.
        operands: The operands of each node.
        samples: The samples of the graph, if there are several.
        parameters: The parameters, if they are known from their labels.
    """
    search = _Search(graph, operands, samples, parameters)
    search.run()
    if search.is_network():
        return search.layers()
    return None


class _Search:
    """A pass over the nodes, operands first, that assigns nodes to neurons.

    If samples are repeated, only the first one is searched.
    """

    def __init__(
        self, graph: Graph, operands: Sequence[list[int]], samples: Repeats | None, parameters: Set[int]
    ) -> None:
        count = len(operands)
        self._opcodes: list[int] = graph.opcodes.tolist()
        self._graph, self._operands = graph, operands
        self._samples = samples
        self._searched = [i for i in range(count) if samples is None or samples.role[i] == i]
        self._is_loss = [False] * count
        for i in self._searched:
            if self._opcodes[i] in _LOSSES:
                for x in operands[i]:
                    self._is_loss[x] |= x != CONSTANT and (self._opcodes[i] != _MULTIPLY or operands[i].count(x) == 2)
        self._is_parameter = (
            [i in parameters for i in range(count)] if parameters else _parameters(self._opcodes, operands, samples)
        )
        self._neurons: list[_Neuron] = []
        self._merged: list[int] = []  # the neuron that a neuron is part of
        self._own = [_NONE] * count
        self._is_open = [False] * count  # whether the node is a product or a sum of products
        self._depth = [0] * count

    def run(self) -> None:
        """Assign each node to a neuron, if it belongs to one."""
        for node in self._searched:
            given = [x for x in self._operands[node] if x != CONSTANT]
            if not given:
                continue
            used = [x for x in given if self._is_parameter[x]]
            self._depth[node] = max(map(self._depth.__getitem__, given))
            opcode = self._opcodes[node]
            if opcode in _PRODUCTS and used and (len(used) < len(self._operands[node])):
                self._start(node, used)
            elif opcode in _SUMS and CONSTANT not in self._operands[node] and any(self._is_open[x] for x in given):
                if all(self._is_open[x] or self._is_parameter[x] for x in given):
                    self._join(node, given, used)
            elif len({self._find(x) for x in given}) == 1 and self._find(given[0]) != _NONE:
                self._add(node, self._find(given[0]))

    def _start(self, node: int, used: list[int]) -> None:
        """Start a neuron with a product of parameters and other numbers."""
        self._own[node] = len(self._neurons)
        self._merged.append(len(self._neurons))
        self._depth[node] += 1
        self._is_open[node] = True
        self._neurons.append(_Neuron(self._depth[node], used))

    def _join(self, node: int, given: list[int], used: list[int]) -> None:
        """Add a sum of products and parameters, which makes one neuron of all of them."""
        first, *others = dict.fromkeys(self._find(x) for x in given if self._is_open[x])
        neuron = self._neurons[first]
        for other in others:
            self._merged[other] = first
            neuron.parameters += self._neurons[other].parameters
            neuron.opcodes |= self._neurons[other].opcodes
            neuron.depth = max(neuron.depth, self._neurons[other].depth)
        neuron.parameters += used
        self._own[node], self._is_open[node] = first, True

    def _add(self, node: int, own: int) -> None:
        """Add a function of the neuron's sum, unless it belongs to a loss: a difference from a target, or a square."""
        is_shift = self._opcodes[node] in _SUMS and CONSTANT in self._operands[node]
        is_given = self._samples is None or self._samples.is_constant[node]
        if is_given and not (is_shift and self._is_loss[node]) and not self._is_square(node):
            self._own[node] = own
            self._is_open[node] = is_shift and self._is_open[max(self._operands[node])]
            if not is_shift:
                self._neurons[own].opcodes.add(self._opcodes[node])

    def _is_square(self, node: int) -> bool:
        """Return whether a node is `x**2`, `x * x` or `abs(x)`, which are rarely activation functions."""
        opcode, given = self._opcodes[node], self._operands[node]
        if opcode == _POWER:
            return given[1] == CONSTANT and bool(self._graph.partials[self._graph.offsets[node] + 1] == 2.0)
        return opcode == OPCODES["abs"] or (opcode == _MULTIPLY and given[0] == given[1])

    def _find(self, node: int) -> int:
        """Return the neuron of a node after merging, or `_NONE`."""
        own = self._own[node]
        while own != _NONE and self._merged[own] != own:
            self._merged[own] = self._merged[self._merged[own]]
            own = self._merged[own]
        return own

    def is_network(self) -> bool:
        """Return whether at least half of the edges lead to neurons with at least two parameters."""
        computed = [i for i in self._searched if self._operands[i]]
        if self._samples is not None:
            computed = [i for i in computed if self._samples.number[i] == 0]
        found = [i for i in computed if (own := self._find(i)) != _NONE and len(self._neurons[own].parameters) > 1]
        return 2 * sum(len(self._operands[i]) for i in found) > sum(len(self._operands[i]) for i in computed)

    def layers(self) -> Layers:
        """Return the layers, numbered by depth, with the neurons of a layer in the order of their use."""
        uses: dict[tuple[int, ...], list[int]] = {}
        members = self._members()
        for own in dict.fromkeys(members.values()):
            if len(self._neurons[own].parameters) > 1:
                uses.setdefault(tuple(self._neurons[own].parameters), []).append(own)
        kinds: dict[tuple[object, ...], list[tuple[int, ...]]] = {}
        for parameters, owns in uses.items():
            neuron = min((self._neurons[own] for own in owns), key=lambda neuron: neuron.depth)
            kinds.setdefault((neuron.depth, len(parameters), *sorted(neuron.opcodes)), []).append(parameters)
        path_of: dict[int, Path] = {}
        step_of: dict[int, int] = {}
        for layer, kind in enumerate(sorted(kinds, key=lambda kind: (kind[0], uses[kinds[kind][0]][0]))):
            for number, parameters in enumerate(kinds[kind]):
                in_order = sorted(uses[parameters], key=lambda own: self._neurons[own].depth)
                for step, own in enumerate(in_order):
                    path_of[own] = ("layers", str(layer), "neurons", str(number))
                    if len(uses[parameters]) > 1:
                        step_of[own] = step
        paths = {i: path_of[own] for i, own in members.items() if own in path_of}
        paths |= self._parameter_paths(path_of)
        return Layers(paths, {i: step_of[own] for i, own in members.items() if own in step_of})

    def _members(self) -> dict[int, int]:
        """Return the neuron of each node, without the nodes of a loss that computes several logarithms of the output.

        In log(p) and log(1 - p), the output p of the neuron is the last node on all paths that lead out of it.
        """
        members = {i: own for i in self._searched if (own := self._find(i)) != _NONE}
        nodes: dict[int, list[int]] = {}
        for i, own in members.items():
            nodes.setdefault(own, []).append(i)
        ends = set(self._graph.outputs)  # nodes that are used outside of their neuron
        for i in self._searched:
            ends.update(x for x in self._operands[i] if x != CONSTANT and members.get(x, _NONE) != members.get(i))
        for own, inside in nodes.items():
            end = next((i for i in inside if i in ends), inside[-1])
            after = inside[inside.index(self._output(inside, end)) + 1 :]
            if len(ends.intersection(after)) > 1 and any(self._opcodes[i] in _LOGARITHMS for i in after):
                for i in after:
                    del members[i]
                kept = inside[: -len(after)]
                self._neurons[own].opcodes &= {self._opcodes[i] for i in kept}
        return members

    def _output(self, inside: Sequence[int], end: int) -> int:
        """Return the last node, up to `end`, such that all later nodes of the neuron use only this node."""
        used: set[int] = set()  # by later nodes
        for node in reversed(inside):
            used.discard(node)
            if node <= end and not used:
                return node
            used.update(x for x in self._operands[node] if x != CONSTANT)
        return inside[-1]

    def _parameter_paths(self, path_of: Mapping[int, Path]) -> dict[int, Path]:
        """Return the path of each parameter: the neuron that uses it, or what is common to several neurons."""
        found: dict[int, Path] = {}
        for own, path in path_of.items():
            for parameter in self._neurons[own].parameters:
                found[parameter] = common(found.get(parameter, path), path)
        return found


def _parameters(opcodes: Sequence[int], operands: Sequence[list[int]], samples: Repeats | None) -> list[bool]:
    """Return whether each node is a leaf that is used as a parameter.

    Parameters are the leaves that several samples use. Without samples, one factor of a product of two leaves is the
    input: the factor that is used at fewer depths, and if there is only one depth, the factor that is used more often.
    """
    if samples is not None:
        return [not given and samples.number[i] < 0 for i, given in enumerate(operands)]
    is_parameter = [not given for given in operands]
    ends = _ends_of_sums(opcodes, operands)
    depths: dict[int, set[int]] = {}
    uses: Counter[int] = Counter()
    is_certain = set()  # factors of computed numbers
    pairs = []
    for node, given in enumerate(operands):
        if opcodes[node] == _MULTIPLY and CONSTANT not in given:
            leaves = [x for x in given if not operands[x]]
            for x in leaves:
                depths.setdefault(x, set()).add(ends[node])
            uses.update(leaves)
            if len(leaves) == 1:
                is_certain.update(leaves)
            elif len(set(leaves)) == 2:
                pairs.append(leaves)
    rank = {x: (x in is_certain, len(depths[x]), -uses[x]) for x in depths}
    for x, y in pairs:
        if rank[x] != rank[y]:
            is_parameter[min(x, y, key=rank.__getitem__)] = False
    return is_parameter


def _ends_of_sums(opcodes: Sequence[int], operands: Sequence[list[int]]) -> list[int]:
    """Return the depth of the sum that each node is a term of; the depth of the node itself if it is not a term."""
    depth: list[int] = []
    for given in operands:
        depth.append(1 + max((depth[x] for x in given if x != CONSTANT), default=-1))
    ends = list(depth)
    for node in range(len(operands) - 1, -1, -1):
        if opcodes[node] in _SUMS:
            for x in operands[node]:
                if x != CONSTANT:
                    ends[x] = ends[node]
    return ends
