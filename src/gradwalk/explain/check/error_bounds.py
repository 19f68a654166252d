"""Bounds, to first order, on how far rounding can put a graph's numbers and gradients off."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from functools import cache

import numpy

from gradwalk.explain.passes import contribution, passing, swept
from gradwalk.graph.graph import Floats, Graph
from gradwalk.graph.node import Node
from gradwalk.ops.formula import variables
from gradwalk.ops.table import TABLE

EPSILON = sys.float_info.epsilon
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
    In the backward pass a contribution has the relative errors of its upstream gradient and of everything that its
    partial is computed from.

    Args:
        graph: A graph with one root.
        gradients: The true gradients by index.

    Returns:
        One bound for each node.
    """
    relative = _relative_errors(graph)
    errors = [0.0] * len(graph)
    for index in swept(graph):
        node = graph.nodes[index]
        for position, operand in passing(node):
            vague = sum(relative[x] for x in _needed(node, position)) + EPSILON
            passed_on = _known(abs(node.partials[position]) * errors[index])
            errors[operand] += passed_on + _known(abs(contribution(node, position, gradients[index])) * vague)
    return errors


def _relative_errors(graph: Graph) -> list[float]:
    """Bound the relative error of every node's number."""
    errors = [0.0] * len(graph)
    for node in graph.nodes:
        if not node.is_leaf:
            passed = [_known(abs(node.partials[i]) * errors[x]) for i, x in passing(node)]
            errors[node.place] = sum(passed) + _known(math.ulp(node.data))
    return [_known(e / abs(node.data)) if node.data else 0.0 for e, node in zip(errors, graph.nodes, strict=True)]


def _known(error: float) -> float:
    """Return an error, or 0 for nan and inf, which are not judged by their rounding."""
    return error if math.isfinite(error) else 0.0


def _needed(node: Node, position: int) -> Iterator[int]:
    """Yield the nodes whose numbers a partial is computed from: operands, or the node itself."""
    if node.row is None:
        yield from (x for x in node.arguments if isinstance(x, int))
    elif not node.row.selects:
        for name in _variables(node.opcode, position):
            at = node.place if name == "out" else node.arguments[_OPERANDS.index(name)]
            if isinstance(at, int):
                yield at


@cache
def _variables(opcode: int, position: int) -> tuple[str, ...]:
    return variables(TABLE[opcode - 1].partial(position))
