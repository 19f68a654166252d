"""Find gradients that vanish or explode between the last and the first layer, or time step, of a network."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy

from gradwalk.explain.findings.structure import Finding, Structure
from gradwalk.explain.text import short

SMALLEST_RATIO = 1e-3  # of the mean absolute gradients of the first and the last layer or step
LARGEST_RATIO = 1e3


class _Part(NamedTuple):
    """A layer with its parameters, or a time step with its nodes."""

    name: str
    nodes: list[int]


def depth_findings(structure: Structure) -> Iterator[Finding]:
    """Yield a finding if gradients are much smaller or larger in the first layer than in the last layer.

    For a recurrent network, yield another finding if this is so for the first and the last time step.
    """
    layers = _layers(structure)
    if len(layers) > 1:
        yield from _compared(structure, layers[0], layers[-1])
    steps = _steps(structure) if layers else []
    if len(steps) > 1:
        yield from _compared(structure, steps[0], steps[-1])


def _compared(structure: Structure, first: _Part, last: _Part) -> Iterator[Finding]:
    """Yield a finding if the gradients of two parts differ too much."""
    inner, outer = _mean(structure, first.nodes), _mean(structure, last.nodes)
    if not (0.0 < inner < math.inf and 0.0 < outer < math.inf):
        return
    ratio = inner / outer
    if SMALLEST_RATIO <= ratio <= LARGEST_RATIO:
        return
    kind, verb, limit = (
        ("vanishing", "vanish", f"below {short(SMALLEST_RATIO)}")
        if ratio < 1.0
        else ("exploding", "explode", f"above {short(LARGEST_RATIO)}")
    )
    sentence = (
        f"Gradients {verb} from {last.name} to {first.name}: the mean absolute gradient is {outer:.2g} in {last.name} "
        f"and {inner:.2g} in {first.name}, a ratio of {ratio:.1g} ({limit})."
    )
    yield Finding(kind, first.name, ratio, (*first.nodes, *last.nodes), sentence)


def _layers(structure: Structure) -> list[_Part]:
    """Return the layers with their parameters, in the order of their first use."""
    used, first = numpy.unique(structure.graph.operands, return_index=True)
    first_use = dict(zip(used.tolist(), structure.results[first].tolist(), strict=True))
    layers: dict[str, list[int]] = defaultdict(list)
    for leaf in sorted(structure.parameters, key=lambda leaf: first_use.get(leaf, leaf)):
        name = structure.layer(leaf)
        if name:
            layers[name].append(leaf)
    return [_Part(name, leaves) for name, leaves in layers.items()]


def _steps(structure: Structure) -> list[_Part]:
    """Return the first and the last time step of a recurrent network, with the nodes of its layers."""
    if structure.groups.kind != "steps":
        return []
    numbers = {0: "step 1", structure.groups.count - 1: f"step {structure.groups.count:,}"}
    steps: dict[str, list[int]] = {name: [] for name in numbers.values()}
    recurrent = {structure.module[leaf] for leaf in structure.parameters} - {0}
    for node, number in enumerate(structure.number):
        if number in numbers and structure.operands[node] and structure.module[node] in recurrent:
            steps[numbers[number]].append(node)
    return [_Part(name, nodes) for name, nodes in steps.items() if nodes]


def _mean(structure: Structure, nodes: list[int]) -> float:
    """Return the mean absolute gradient of some nodes."""
    return sum(abs(structure.gradients[node]) for node in nodes) / len(nodes)
