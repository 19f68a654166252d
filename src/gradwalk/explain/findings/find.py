"""`findings(graph)`: stale values, values that are not finite, dead and saturated units, lost and extreme gradients."""

from __future__ import annotations

from collections.abc import Iterator

from gradwalk.explain.findings.depth import depth_findings
from gradwalk.explain.findings.nonfinite import nonfinite_findings
from gradwalk.explain.findings.stale import stale_findings
from gradwalk.explain.findings.structure import Finding, Structure
from gradwalk.explain.findings.summary import Summary, summarize
from gradwalk.explain.findings.units import Units, dead_findings, saturated_findings
from gradwalk.explain.findings.unreached import Causes, causes, silenced, unreached_findings
from gradwalk.graph.graph import Graph


def findings(graph: Graph) -> tuple[Finding, ...]:
    """Return the problems in a graph, the most serious first. The time grows linearly with the graph."""
    return explained(graph)[0]


def explained(graph: Graph) -> tuple[tuple[Finding, ...], Summary]:
    """Return the problems in a graph, and its summary."""
    structure = Structure(graph)
    units = Units(structure)
    reasons = causes(structure, units.dead)
    return tuple(_found(structure, units, reasons)), summarize(structure, reasons)


def _found(structure: Structure, units: Units, reasons: list[Causes]) -> Iterator[Finding]:
    """Yield all findings. Values that are not finite hide all other signs, except stale values."""
    yield from stale_findings(structure)
    not_finite = list(nonfinite_findings(structure))
    if not_finite:
        yield from not_finite
        return
    stopped = silenced(structure, reasons)
    yield from dead_findings(structure, units, stopped)
    yield from unreached_findings(structure, reasons, stopped)
    yield from depth_findings(structure)
    yield from saturated_findings(structure, units)
