"""Find Values whose `.data` was changed after the graph was computed."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradwalk.explain.findings.structure import Finding, Structure, listed
from gradwalk.graph.record import CONSTANT
from gradwalk.graph.reevaluate import Reevaluator
from gradwalk.ops.compiled.opcodes import OPCODES

_TOLERANCE = 1e-12  # relative, for numbers that another C library computed
_MULTIPLY = OPCODES["mul"]


def stale_findings(structure: Structure) -> Iterator[Finding]:
    """Yield a finding if the number of a node is not the result of its operation on the numbers of its operands."""
    stale = _stale(structure)
    if not stale:
        return
    changed = _changed(structure, stale)
    names = [structure.name(leaf) for leaf in changed]
    have = "have" if len(names) > 1 else "has"
    subject = (
        f"{listed(names, 'leaves')} {have}" if names else f"The .data of {structure.name(stale[0])} or its operands has"
    )
    sentence = (
        f"{subject} been changed since the graph was computed, so the values and gradients do not fit together: call "
        "refresh(root), or compute the graph again."
    )
    part = listed(names, "leaves") if names else structure.name(stale[0])
    yield Finding("stale", part, float(len(stale)), tuple(changed or stale[:1]), sentence)


def _stale(structure: Structure) -> list[int]:
    """Return the nodes whose number is not the result of their operation."""
    evaluated = Reevaluator(structure.graph, structure.graph.outputs[-1])
    return [
        node
        for node, number in enumerate(structure.graph.data.tolist())
        if structure.opcodes[node] and not _are_equal(evaluated.recomputed(node), number)
    ]


def _are_equal(again: float, number: float) -> bool:
    """Return whether two numbers are equal, apart from rounding errors; nan equals nan."""
    return (
        again == number or (math.isnan(again) and math.isnan(number)) or math.isclose(again, number, rel_tol=_TOLERANCE)
    )


def _changed(structure: Structure, stale: list[int]) -> list[int]:
    """Return the leaves that have been changed, as far as the stale nodes show it.

    A product stores the old numbers of its factors: each is the derivative with respect to the other factor.
    """
    found: dict[int, None] = {}
    for node in stale:
        given = structure.operands[node]
        leaves = list(dict.fromkeys(x for x in given if x != CONSTANT and not structure.operands[x]))
        if structure.opcodes[node] == _MULTIPLY and len(leaves) == 2:
            start = structure.offsets[node]
            old = {given[i]: structure.partials[start + 1 - i] for i in (0, 1)}
            leaves = [x for x in leaves if old[x] != structure.graph.data[x]]
        if len(leaves) == 1:
            found |= dict.fromkeys(leaves)
    return list(found)
