"""Find gradients that vanish or explode between the last and the first layer of a network."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

from gradwalk.explain.findings.structure import Finding, Structure
from gradwalk.explain.text import short
from gradwalk.graph.record import CONSTANT

SMALLEST_RATIO = 1e-3  # of the mean absolute gradients of the first and the last layer
LARGEST_RATIO = 1e3


def depth_findings(structure: Structure) -> Iterator[Finding]:
    """Yield a finding if gradients are much smaller or larger in the first layer than in the last layer."""
    layers = _layers(structure)
    if len(layers) < 2:
        return
    (first, inner), (last, outer) = layers[0], layers[-1]
    small, large = _mean(structure, inner), _mean(structure, outer)
    if not (0.0 < small < math.inf and 0.0 < large < math.inf):
        return
    ratio = small / large
    if SMALLEST_RATIO <= ratio <= LARGEST_RATIO:
        return
    kind = "vanishing" if ratio < 1.0 else "exploding"
    limit = f"below {short(SMALLEST_RATIO)}" if ratio < 1.0 else f"above {short(LARGEST_RATIO)}"
    sentence = (
        f"Gradients {'vanish' if ratio < 1.0 else 'explode'} from {last} to {first}: the mean absolute gradient is "
        f"{large:.2g} in {last} and {small:.2g} in {first}, a ratio of {ratio:.1g} ({limit})."
    )
    yield Finding(kind, first, ratio, (*inner, *outer), sentence)


def _layers(structure: Structure) -> list[tuple[str, list[int]]]:
    """Return the names and parameters of the layers, in the order of their first use."""
    first_use: dict[int, int] = {}
    for node, given in enumerate(structure.operands):
        for x in given:
            if x != CONSTANT and not structure.operands[x]:
                first_use.setdefault(x, node)
    layers: dict[str, list[int]] = defaultdict(list)
    for leaf in sorted(structure.parameters, key=lambda leaf: first_use.get(leaf, leaf)):
        name = structure.layer(leaf)
        if name:
            layers[name].append(leaf)
    return list(layers.items())


def _mean(structure: Structure, leaves: list[int]) -> float:
    """Return the mean absolute gradient of some leaves."""
    return sum(abs(structure.gradients[leaf]) for leaf in leaves) / len(leaves)
