"""Bounds, to first order, on how far rounding can put a graph's numbers and gradients off."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy

from gradwalk.base import ieee
from gradwalk.explain.passes import passing, swept
from gradwalk.graph.graph import Floats, Graph
from gradwalk.graph.node import Node
from gradwalk.ops.formula import evaluated
from gradwalk.ops.rows import Operation

EPSILON = sys.float_info.epsilon
PARTIAL_ULPS = 4
_OPERANDS = "xyz"


def noise_weights(graph: Graph, gradients: Sequence[float]) -> Floats:
    """Compute how far off the root can be, for each unit of a node's number, because that number is rounded.

    That is an ulp times the node's gradient. Leaves are exact.

    Args:
        graph: A graph with one root.
        gradients: The true gradients by index.

    Returns:
        One weight for each node.
    """
    weights: Floats = numpy.nan_to_num(numpy.abs(numpy.array(gradients)) * EPSILON, nan=0.0, posinf=math.inf)
    weights[numpy.diff(graph.offsets) == 0] = 0.0
    return weights


def gradient_errors(graph: Graph, gradients: Sequence[float]) -> list[float]:
    """Bound how far off each gradient can be by rounding; cancellation in a number makes derivatives inexact.

    In the forward pass an operation passes on the errors of its operands, times its partials, and adds one of its own.
    In the backward pass a contribution has the relative error of its upstream gradient, and its partial is off by what
    the errors of the operands change about it, and by its own rounding.

    Args:
        graph: A graph with one root.
        gradients: The true gradients by index.

    Returns:
        One bound for each node.
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
    """Bound the error of every node's number. Leaves are exact."""
    errors = [0.0] * len(graph)
    for node in graph.nodes:
        if not node.is_leaf:
            passed = [_known(abs(node.partials[i]) * errors[x]) for i, x in passing(node)]
            errors[node.place] = sum(passed) + _known(math.ulp(node.data))
    return errors


def _known(error: float) -> float:
    """Return an error, or 0 for nan and inf, which are not judged by their rounding."""
    return error if math.isfinite(error) else 0.0


def _partial_error(graph: Graph, node: Node, position: int, vague: Sequence[float]) -> float:
    """Bound the error of a partial: by its formula, by more or less than each operand's error; else by relative errors.

    Partials of the table are within `PARTIAL_ULPS` for the operands that they are computed from, which docs/accuracy.md
    shows.
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
    """Return by how much a partial changes where one of the operands is an error larger or smaller."""

    def partial(nudge: float) -> float:
        nudged = [x + nudge if i == operand else x for i, x in enumerate(numbers)]
        values = dict(zip(_OPERANDS, nudged, strict=False))
        values["out"] = evaluated(row.forward, values, ieee)
        return evaluated(row.partial(position), values, ieee)

    formula = row.partial(position)
    if formula.operator == "number":
        return 0.0
    return max(_known(abs(partial(nudge) - partial(0.0))) for nudge in (error, -error))
