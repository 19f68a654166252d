"""Find dead and saturated units: activation functions of a network whose derivative is 0, or almost 0."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy

from gradwalk.explain.findings.structure import Finding, Structure, listed
from gradwalk.explain.text import plural, short
from gradwalk.graph.paths import Path
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.compiled.opcodes import OPCODES

SMALLEST_SLOPE = 0.01  # a tanh or sigmoid with a smaller derivative is saturated
_MOST = 0.5  # a unit is saturated if it is so in a larger share of samples
_RELU, _MAXIMUM = OPCODES["relu"], OPCODES["maximum"]
_SMOOTH = (OPCODES["tanh"], OPCODES["sigmoid"])


@dataclass
class Unit:
    """An activation function of a network, in all samples or steps.

    Attributes:
        layer: The path of its layer.
        nodes: Its node in each repetition.
    """

    layer: Path
    nodes: list[int] = field(default_factory=list)


class Units:
    """The units of a graph.

    Attributes:
        found: The units that occur at least twice. A single sample does not show that a unit is dead.
        dead: The units with a ReLU that is 0 in all samples, by each of their nodes.
    """

    def __init__(self, structure: Structure) -> None:
        self.found = _units(structure)
        self.dead: dict[int, Unit] = {}
        for unit in self.found:
            if all(is_relu(structure, node) and is_flat(structure, node) for node in unit.nodes):
                self.dead |= dict.fromkeys(unit.nodes, unit)


def _units(structure: Structure) -> list[Unit]:
    """Return the units that occur at least twice."""
    may_be_unit = (structure.groups.module > 0) & numpy.isin(structure.graph.opcodes, (_RELU, _MAXIMUM, *_SMOOTH))
    found: dict[object, Unit] = {}
    seen: dict[tuple[int, int], int] = defaultdict(int)  # number of units so far, by module and repetition
    for node in numpy.flatnonzero(may_be_unit).tolist():
        if structure.opcodes[node] == _MAXIMUM and not is_relu(structure, node):
            continue
        module = structure.module[node]
        path, cell = structure.places[module]
        which = module, structure.number[node]
        key = (path, cell) if cell else (module, seen[which])
        seen[which] += 1
        found.setdefault(key, Unit(path)).nodes.append(node)
    return [unit for unit in found.values() if len(unit.nodes) > 1]


def is_relu(structure: Structure, node: int) -> bool:
    """Return whether a node is a ReLU, or the maximum of an operand and the constant 0."""
    opcode = structure.opcodes[node]
    if opcode == _MAXIMUM:
        start = structure.offsets[node]
        return any(x == CONSTANT and not structure.partials[start + i] for i, x in enumerate(structure.operands[node]))
    return opcode == _RELU


def is_flat(structure: Structure, node: int) -> bool:
    """Return whether the value of a ReLU and its derivative are 0."""
    start = structure.offsets[node]
    edges = [start + i for i, x in enumerate(structure.operands[node]) if x != CONSTANT]
    return structure.graph.data[node] == 0.0 and all(structure.partials[edge] == 0.0 for edge in edges)


def dead_findings(structure: Structure, units: Units, silenced: Mapping[int, int]) -> Iterator[Finding]:
    """Yield a finding for each layer with dead units.

    `silenced` maps the parameters that dead units keep from getting a gradient to a node of such a unit.
    """
    for layer, (members, count) in _by_layer(
        structure, units, list({id(unit): unit for unit in units.dead.values()}.values())
    ):
        own = {node for unit in members for node in unit.nodes}
        stopped = sum(node in own for node in silenced.values())
        ending = f", so {plural(stopped, 'parameters')} get{'s' * (stopped == 1)} no gradient" if stopped else ""
        subject, whose = _subject(structure, members, count, "dead")
        sentence = f"{subject}: {whose} ReLU is 0 in all {_uses(structure, members)}{ending}."
        yield Finding("dead", layer, float(len(members)), tuple(unit.nodes[0] for unit in members), sentence)


def saturated_findings(structure: Structure, units: Units) -> Iterator[Finding]:
    """Yield a finding for each layer with saturated units, except outputs of the network, which may be saturated."""
    inner = _used_by_modules(structure)
    saturated = []
    shares = {}
    for unit in units.found:
        flat = sum(abs(structure.partials[structure.offsets[node]]) < SMALLEST_SLOPE for node in unit.nodes)
        is_smooth = all(structure.opcodes[node] in _SMOOTH for node in unit.nodes)
        shares[id(unit)] = flat / len(unit.nodes)
        if is_smooth and shares[id(unit)] > _MOST and not inner.isdisjoint(unit.nodes):
            saturated.append(unit)
    for layer, (members, count) in _by_layer(structure, units, saturated):
        share = sum(shares[id(unit)] for unit in members) / len(members)
        subject, whose = _subject(structure, members, count, "saturated")
        symbol = structure.symbol(members[0].nodes[0])
        sentence = (
            f"{subject}: the derivative of {whose} {symbol} is below {short(SMALLEST_SLOPE)} in {100 * share:.0f} % of "
            f"the {_uses(structure, members)}."
        )
        yield Finding("saturated", layer, share, tuple(unit.nodes[0] for unit in members), sentence)


def _by_layer(structure: Structure, units: Units, members: list[Unit]) -> Iterator[tuple[str, tuple[list[Unit], int]]]:
    """Yield the name of each layer, with its members and the number of all of its units."""
    count: dict[Path, int] = defaultdict(int)
    for unit in units.found:
        count[unit.layer] += 1
    layers: dict[Path, list[Unit]] = defaultdict(list)
    for unit in members:
        layers[unit.layer].append(unit)
    for path, own in layers.items():
        yield structure.layer(own[0].nodes[0]), (own, count[path])


def _subject(structure: Structure, members: list[Unit], count: int, state: str) -> tuple[str, str]:
    """Return the first words of a sentence about some units of a layer, and "its" or "their"."""
    names = [structure.unit(unit.nodes[0]) for unit in members]
    layer = structure.layer(members[0].nodes[0])
    units = "units" if layer == "units" else f"units of {layer}"
    if len(members) == 1:
        which = f" (1 of {count:,} {units})" if count > 1 and names[0] != layer else ""
        return f"{names[0]}{which} is {state}", "its"
    which = f" ({listed(names, 'units')})" if len(members) < count and len(set(names)) == len(names) else ""
    return f"{len(members):,} of {count:,} {units} are {state}{which}", "their"


def _uses(structure: Structure, members: list[Unit]) -> str:
    """Return the number of times that units are used, in words: "50 samples"."""
    return structure.repetitions or f"{len(members[0].nodes):,} uses"


def _used_by_modules(structure: Structure) -> set[int]:
    """Return the nodes that another module uses."""
    operands, module = structure.graph.operands, structure.groups.module
    user = module[structure.results]
    return set(operands[(user > 0) & (module[operands] != user)].tolist())
