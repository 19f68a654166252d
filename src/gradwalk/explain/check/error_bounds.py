"""First-order bounds on the rounding errors of a graph's values and gradients."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy

from gradwalk.base import ieee
from gradwalk.base.array_types import Floats
from gradwalk.explain.passes import passing, swept
from gradwalk.graph.graph import Graph
from gradwalk.graph.node import Node
from gradwalk.ops.formula import evaluated
from gradwalk.ops.rows import Operation

EPSILON = sys.float_info.epsilon
PARTIAL_ULPS = 4
_OPERANDS = "xyz"


def noise_weights(graph: Graph, gradients: Sequence[float]) -> Floats:
    """Return a weight for each node: |gradient| * epsilon, or 0 for a leaf, because leaves are exact.

    The weight times the absolute value of the node bounds the error in the root that is caused by rounding this node.
    """
    weights: Floats = numpy.nan_to_num(numpy.abs(numpy.array(gradients)) * EPSILON, nan=0.0, posinf=math.inf)
    weights[numpy.diff(graph.offsets) == 0] = 0.0
    return weights


def gradient_errors(graph: Graph, gradients: Sequence[float]) -> list[float]:
    """Bound the rounding error of each gradient of a graph with one root.

    In the forward pass, the error of a node is its own rounding error plus the sum of |partial| * error over its
    operands. In the backward pass, the error of a contribution is |partial| * error of the upstream gradient, plus
    |upstream gradient| * error of the partial. The error of a partial comes from rounding and from the errors of the
    operands, which are large after cancellation.
    """
    vague = _number_errors(graph)
    errors = [0.0] * len(graph)
    for index in swept(graph):
        node = graph.nodes[index]
        for position, operand in passing(node):
            passed_on = _known(abs(node.partials[position]) * errors[index])
            own = _known(abs(gradients[index]) * _partial_error(graph, node, position, vague))
            errors[operand] += passed_on + own
    return errors


def _number_errors(graph: Graph) -> list[float]:
    """Bound the error of every node's value; leaves are exact."""
    errors = [0.0] * len(graph)
    for node in graph.nodes:
        if not node.is_leaf:
            passed = [_known(abs(node.partials[i]) * errors[x]) for i, x in passing(node)]
            errors[node.place] = sum(passed) + _known(math.ulp(node.data))
    return errors


def _known(error: float) -> float:
    """Return an error bound, or 0 if the bound is nan or inf."""
    return error if math.isfinite(error) else 0.0


def _partial_error(graph: Graph, node: Node, position: int, vague: Sequence[float]) -> float:
    """Bound the error of a partial.

    If the operation table has a formula for the partial, the formula is evaluated with each operand perturbed by the
    error of the operand. Otherwise the relative errors of the operands are added. With exact operands, the error of a
    formula is at most `PARTIAL_ULPS` ulp (measured in docs/accuracy.md).
    """
    size = abs(node.partials[position])
    operands = [(i, x) for i, x in enumerate(node.arguments) if isinstance(x, int)]
    if node.selects:
        return size * EPSILON
    if node.row is None:
        numbers = [graph.nodes[x].data for _, x in operands]
        return size * (
            EPSILON + sum(_known(vague[x] / abs(n)) for (_, x), n in zip(operands, numbers, strict=True) if n)
        )
    numbers = [graph.nodes[x].data if isinstance(x, int) else x for x in node.arguments]
    inexact = [(i, vague[x]) for i, x in operands if vague[x]]
    return size * PARTIAL_ULPS * EPSILON + sum(_change(node.row, position, numbers, i, error) for i, error in inexact)


def _change(row: Operation, position: int, numbers: Sequence[float], operand: int, error: float) -> float:
    """Return the largest change of a partial if one operand changes by +`error` or -`error`."""

    def partial(nudge: float) -> float:
        nudged = [x + nudge if i == operand else x for i, x in enumerate(numbers)]
        values = dict(zip(_OPERANDS, nudged, strict=False))
        values["out"] = evaluated(row.forward, values, ieee)
        return evaluated(row.partial(position), values, ieee)

    formula = row.partial(position)
    if formula.operator == "number":
        return 0.0
    return max(_known(abs(partial(nudge) - partial(0.0))) for nudge in (error, -error))
