"""`findings(graph)`: dead and saturated units, lost and extreme gradients, and values that are not finite."""

from __future__ import annotations

from collections.abc import Iterator

from gradwalk.explain.findings.depth import depth_findings
from gradwalk.explain.findings.nonfinite import nonfinite_findings
from gradwalk.explain.findings.structure import Finding, Structure
from gradwalk.explain.findings.units import dead_findings, dead_units, saturated_findings
from gradwalk.explain.findings.unreached import causes, silenced, unreached_findings
from gradwalk.graph.graph import Graph


def findings(graph: Graph) -> tuple[Finding, ...]:
    """Return the signs of trouble in a graph, the most serious first. The time grows linearly with the graph."""
    return tuple(_found(Structure(graph)))


def _found(structure: Structure) -> Iterator[Finding]:
    """Yield all findings. Values that are not finite hide all other signs."""
    not_finite = list(nonfinite_findings(structure))
    if not_finite:
        yield from not_finite
        return
    dead = dead_units(structure)
    reasons = causes(structure, dead)
    stopped = silenced(structure, reasons)
    yield from dead_findings(structure, dead, stopped)
    yield from unreached_findings(structure, reasons, stopped)
    yield from depth_findings(structure)
    yield from saturated_findings(structure)
