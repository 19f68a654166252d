"""Find the first node whose value or gradient is nan or infinite, if an output or a gradient of a leaf is."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradwalk.explain.findings.structure import Finding, Structure, counted
from gradwalk.explain.text import short
from gradwalk.graph.record import CONSTANT

_MAX_OPERANDS = 4


def nonfinite_findings(structure: Structure) -> Iterator[Finding]:
    """Yield a finding for values that are nan or infinite, or else for gradients that are.

    Values that no output uses, such as an unselected log(0), are not reported.
    """
    data: list[float] = structure.graph.data.tolist()
    used = bytearray(len(data))  # nodes that are not finite, and that make an output not finite
    for output in structure.graph.outputs:
        used[output] = not math.isfinite(data[output])
    first = -1
    for node in range(len(data) - 1, -1, -1):
        if used[node]:
            bad = [x for x in structure.operands[node] if x != CONSTANT and not math.isfinite(data[x])]
            for operand in bad:
                used[operand] = True
            first = first if bad else node
    if first >= 0:
        yield _value_finding(structure, first, sum(not math.isfinite(number) for number in data))
    elif any(not math.isfinite(structure.gradients[leaf]) for leaf in structure.parameters):
        yield from _gradient_findings(structure)


def _value_finding(structure: Structure, node: int, count: int) -> Finding:
    """Describe the first value that is not finite."""
    begins = f"{structure.value(node)} begins at {_computed(structure, node)}"
    sentence = f"{begins}; {counted(count, len(structure.operands), 'values')}."
    return Finding("not finite", structure.name(node), float(count), (node,), sentence)


def _gradient_findings(structure: Structure) -> Iterator[Finding]:
    """Describe the first node of the backward pass that makes a gradient infinite or nan."""
    gradients = structure.gradients
    count = sum(not math.isfinite(number) for number in gradients)
    for node in range(len(gradients) - 1, -1, -1):
        if not (structure.is_reached[node] and math.isfinite(gradients[node])):
            continue
        for position, operand in enumerate(structure.operands[node]):
            local = structure.partials[structure.offsets[node] + position]
            if (
                operand != CONSTANT
                and not math.isfinite(gradients[operand])
                and not math.isfinite(local * gradients[node])
            ):
                name = structure.name(operand)
                sentence = (
                    f"The gradient {short(gradients[operand])} begins at {name}, an operand of "
                    f"{_computed(structure, node)}, whose derivative is {short(local)}; "
                    f"{counted(count, len(gradients), 'gradients')}."
                )
                yield Finding("not finite", name, float(count), (node,), sentence)
                return


def _computed(structure: Structure, node: int) -> str:
    """Return the computation of a node in words, such as "loss = log(p = 0)"."""
    if not structure.operands[node]:
        return f"{structure.name(node)}, which is given"
    start = structure.offsets[node]
    texts = [
        short(structure.partials[start + i]) if x == CONSTANT else f"{structure.name(x)} = {structure.value(x)}"
        for i, x in enumerate(structure.operands[node])
    ]
    shown = texts if len(texts) <= _MAX_OPERANDS else [*texts[:_MAX_OPERANDS], "..."]
    return f"{structure.name(node)}: {structure.symbol(node)} of {', '.join(shown)}"
