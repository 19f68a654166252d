"""Find parameters that no gradient reaches, and the nodes that stop it.

A gradient of exactly 0 has causes: the edges at which a node with a gradient passes 0 to an operand. A parameter is
reported if all causes are nodes that stop gradients, such as `stop_gradient` or a product with 0. It is not reported at
a minimum, such as (w - 3) ** 2 at w = 3, or if contributions cancel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy

from gradwalk.explain.findings.structure import SELECTIONS, Finding, Structure, listed
from gradwalk.explain.findings.units import Unit, is_flat, is_relu
from gradwalk.explain.text import plural
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.compiled.opcodes import OPCODES

_STOP, _WHERE, _TAKE = OPCODES["stop_gradient"], OPCODES["where"], OPCODES["take"]
_MULTIPLY, _DIVIDE, _PRODUCTS = OPCODES["mul"], OPCODES["div"], OPCODES["sumprod"]
_SMOOTH = (OPCODES["tanh"], OPCODES["sigmoid"])
SILENT = "silent"  # a gradient of 0 that is not a problem

Causes = Mapping[str, int]  # maps kinds of causes to one edge of this kind, as an index into `Graph.operands`


def causes(structure: Structure, dead: Mapping[int, Unit]) -> list[Causes]:
    """Return the causes for each node whose gradient is 0; an empty dict for other nodes.

    `dead` has the nodes of dead units.
    """
    none: Causes = {}
    found: list[Causes] = [none] * len(structure.operands)
    gradients, operands, results = numpy.array(structure.gradients), structure.graph.operands, structure.results
    edges = numpy.flatnonzero((operands != CONSTANT) & (gradients[operands] == 0.0))
    edges = edges[numpy.argsort(-results[edges], kind="stable")]  # users before operands
    for edge, node, operand in zip(edges.tolist(), results[edges].tolist(), operands[edges].tolist(), strict=True):
        own = found[node]
        if structure.gradients[node] != 0.0:
            kind = _kind(structure, node, edge - structure.offsets[node])
            is_dead = kind == "ReLU" and _relu(structure, edge) in dead
            own = {"dead" if is_dead else kind: edge}
        if not found[operand]:
            found[operand] = own
        elif not own.keys() <= found[operand].keys():
            found[operand] = {**own, **found[operand]}
    return found


def _kind(structure: Structure, node: int, position: int) -> str:
    """Return why a node with a gradient passes 0 to an operand."""
    edge, opcode = structure.offsets[node] + position, structure.opcodes[node]
    operands = structure.operands[node]
    if opcode == _STOP:
        return "stop_gradient"
    if structure.passed[edge] == CONSTANT:
        by_hand = node in structure.graph.by_hand
        return SILENT if by_hand else "condition" if opcode in (_WHERE, _TAKE) else "flat"
    if structure.partials[edge] != 0.0:
        return SILENT  # contributions cancel, or the product underflows
    if node in structure.graph.by_hand:
        return "rule"
    if is_relu(structure, node):
        return _kind_of_relu(structure, node)
    if opcode in SELECTIONS:
        return "selection"
    if opcode in (_MULTIPLY, _DIVIDE, _PRODUCTS):
        factor = _factor(structure, node, position)
        return _kind_of_factor(structure, operands[position], operands[factor]) if factor >= 0 else SILENT
    return "saturated" if opcode in _SMOOTH else SILENT


def _kind_of_relu(structure: Structure, node: int) -> str:
    """Return why a ReLU passes 0 to an operand. In a network, a ReLU outside of layers is a loss, which may be 0."""
    return SILENT if structure.is_network and not structure.module[node] else "ReLU"


def _kind_of_factor(structure: Structure, operand: int, factor: int) -> str:
    """Return why a product passes 0 to an operand. If both factors are 0, it may be a square at its minimum."""
    if factor == CONSTANT:
        return "factor"
    if is_relu(structure, factor) and is_flat(structure, factor):
        return _kind_of_relu(structure, factor)
    is_square = structure.operands[factor] and structure.operands[operand] and structure.graph.data[operand] == 0.0
    return SILENT if operand == factor or is_square else "factor"


def _factor(structure: Structure, node: int, position: int) -> int:
    """Return the position of the operand that multiplies an operand; -1 if there is none."""
    count = len(structure.operands[node])
    if structure.opcodes[node] == _PRODUCTS:
        half = (count - 1) // 2
        return (position - 1 + half) % (2 * half) + 1 if position else -1
    if structure.opcodes[node] == _DIVIDE:
        return 0 if position else -1
    return 1 - position


def silenced(structure: Structure, found: list[Causes]) -> dict[int, int]:
    """Return the parameters that get no gradient because of dead units, each with a node of such a unit.

    In some samples, another ReLU can be the reason, or a loss of 0.
    """
    return {
        leaf: _relu(structure, found[leaf]["dead"])
        for leaf in structure.parameters
        if "dead" in found[leaf] and found[leaf].keys() <= {"dead", "ReLU", SILENT}
    }


def unreached_findings(structure: Structure, found: list[Causes], told: Mapping[int, int]) -> Iterator[Finding]:
    """Yield a finding for the parameters of each layer that no gradient reaches for the same reason.

    `told` has parameters that other findings are about.
    """
    is_single = structure.is_network and structure.groups.count < 2  # one sample may well use only a part of a network
    groups: dict[tuple[str, frozenset[str]], list[int]] = defaultdict(list)
    for leaf in structure.parameters:
        kinds = frozenset(found[leaf])
        usual = kinds <= {"ReLU", "factor"} and is_single
        if kinds and SILENT not in kinds and leaf not in told and not usual:
            layer = "" if structure.is_network and kinds == {"ReLU"} else structure.layer(leaf)
            groups[layer, kinds].append(leaf)
    for (layer, _), leaves in groups.items():
        names = [structure.name(leaf) for leaf in leaves]
        which = listed(names, "parameters")
        subject = which if len(leaves) == 1 else f"{plural(len(leaves), 'parameters')} ({which})"
        sentence = f"No gradient reaches {subject}: {reasons(structure, leaves, found)}."
        yield Finding("unreached", layer or which, float(len(leaves)), tuple(leaves), sentence)


def reasons(structure: Structure, leaves: Sequence[int], found: Sequence[Causes]) -> str:
    """Return in words why the gradients of some parameters, which have the same kinds of causes, are 0."""
    kinds = found[leaves[0]].keys() - {SILENT}
    if kinds == {"dead"} and structure.is_network:
        names = dict.fromkeys(structure.unit(_relu(structure, found[leaf]["dead"])) for leaf in leaves)
        return f"ReLU at {listed(list(names), 'units')} is 0 in all {structure.repetitions or 'uses'}"
    texts = dict.fromkeys(_reasons(structure, leaf, found[leaf]) for leaf in leaves)
    first = next(iter(texts))
    return first if len(texts) == 1 else f"{first} (for {structure.name(leaves[0])}; for others likewise)"


def _reasons(structure: Structure, leaf: int, found: Causes) -> str:
    """Return the causes of one parameter's gradient of 0 in words."""
    nodes = {kind: _node(structure, edge) for kind, edge in found.items() if kind != SILENT}
    is_repeated = structure.repetitions and any(structure.number[node] >= 0 for node in nodes.values())
    if nodes.keys() == {"ReLU"} and structure.is_network and is_repeated:
        return f"in each of the {structure.repetitions}, a ReLU on the way is 0"
    reasons = " or ".join([_reason(structure, leaf, kind, nodes[kind], found[kind]) for kind in sorted(nodes)])
    return f"{reasons} in all {structure.repetitions}" if is_repeated else reasons


def _reason(structure: Structure, leaf: int, kind: str, node: int, edge: int) -> str:
    """Return the words for one cause of a gradient of 0."""
    position = edge - structure.offsets[node]
    name, symbol = structure.common_name(node), structure.symbol(node)
    operand = structure.operands[node][position]
    if kind == "factor":
        factor = structure.operands[node][_factor(structure, node, position)]
        zero = "0" if factor == CONSTANT else f"{structure.common_name(factor)} = 0"
        verb = "divides" if structure.opcodes[node] == _DIVIDE else "is multiplied by"
        return f"{'it' if operand == leaf else structure.common_name(operand)} {verb} {zero}"
    if kind in ("ReLU", "dead"):
        return f"ReLU at {structure.common_name(_relu(structure, edge))} is 0"
    text = {
        "stop_gradient": f"stop_gradient stops it at {name}",
        "condition": f"{symbol} at {name} uses {structure.common_name(operand)} only as a condition or index",
        "flat": f"{symbol} at {name} has the derivative 0",
        "rule": f"the derivative rule of {symbol} at {name} gives 0",
        "selection": f"{symbol} at {name} selects another operand",
        "saturated": f"the derivative of {symbol} at {name} is rounded to 0",
    }
    return text[kind]


def _relu(structure: Structure, edge: int) -> int:
    """Return the ReLU at an edge that passes no gradient: the node of the edge, or the other factor of a product."""
    node = _node(structure, edge)
    if is_relu(structure, node):
        return node
    return structure.operands[node][_factor(structure, node, edge - structure.offsets[node])]


def _node(structure: Structure, edge: int) -> int:
    """Return the node that an edge leads to."""
    return int(structure.results[edge])
