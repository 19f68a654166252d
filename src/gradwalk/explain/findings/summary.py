"""`summarize(structure)`: the depth, parameters, largest gradients and zero gradients of a graph, for readers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from gradwalk.explain.findings.structure import Structure, listed
from gradwalk.explain.findings.unreached import SILENT, Causes, reasons
from gradwalk.explain.text import plural

_MAX_LARGEST = 3
_MAX_ZEROS = 5


class Largest(NamedTuple):
    """A parameter with one of the largest gradients: its index and gradient."""

    place: int
    grad: float


class Zero(NamedTuple):
    """Parameters whose gradient is 0 for the same reason.

    Attributes:
        places: The indices of the parameters.
        sentence: The parameters and the reason in words.
    """

    places: tuple[int, ...]
    sentence: str


class Summary(NamedTuple):
    """The facts about a graph that is too large to be shown node by node.

    Attributes:
        nodes: Number of nodes.
        depth: Number of operations on the longest path from a leaf to an output.
        parameters: Number of leaves that all samples or steps share.
        largest: The parameters with the largest absolute gradients, the largest first.
        zeros: The parameters with the gradient 0, by reason; the most frequent reason first.
    """

    nodes: int
    depth: int
    parameters: int
    largest: tuple[Largest, ...]
    zeros: tuple[Zero, ...]


def summarize(structure: Structure, causes: Sequence[Causes]) -> Summary:
    """Return the summary of a graph; `causes` has the causes of gradients of 0."""
    gradients = structure.gradients
    finite = [leaf for leaf in structure.parameters if gradients[leaf] and math.isfinite(gradients[leaf])]
    largest = sorted(finite, key=lambda leaf: -abs(gradients[leaf]))[:_MAX_LARGEST]
    found = tuple(Largest(leaf, gradients[leaf]) for leaf in largest)
    count = len(structure.parameters)
    return Summary(len(structure.operands), _depth(structure), count, found, _zeros(structure, causes))


def _depth(structure: Structure) -> int:
    """Return the number of operations on the longest path."""
    depths = [0] * (len(structure.operands) + 1)  # the last entry is for constants, which have the index -1
    for node, given in enumerate(structure.operands):
        if given:
            depths[node] = max([depths[x] for x in given]) + 1
    return max(depths)


def _zeros(structure: Structure, causes: Sequence[Causes]) -> tuple[Zero, ...]:
    """Group the parameters with the gradient 0 by reason."""
    groups: dict[frozenset[str], list[int]] = defaultdict(list)
    for leaf in structure.parameters:
        if structure.gradients[leaf] == 0.0:
            groups[frozenset(causes[leaf]) - {SILENT}].append(leaf)
    zeros = []
    for kinds, leaves in sorted(groups.items(), key=lambda item: -len(item[1]))[:_MAX_ZEROS]:
        names = listed([structure.name(leaf) for leaf in leaves], "parameters")
        subject = names if len(leaves) == 1 else f"{plural(len(leaves), 'parameters')} ({names})"
        why = reasons(structure, leaves, causes) if kinds else "the contributions are 0 or cancel"
        zeros.append(Zero(tuple(leaves), f"The gradient of {subject} is 0: {why}."))
    return tuple(zeros)
