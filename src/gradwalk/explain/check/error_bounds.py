"""How far rounding can put a graph's numbers and gradients off, to first order."""

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
    """By index: what the root can be off by for each unit of a node's number, because that is rounded.

    An ulp of the number, times the node's gradient. Leaves are exact.
    """
    weights: Floats = numpy.nan_to_num(numpy.abs(numpy.array(gradients)) * EPSILON, nan=0.0, posinf=math.inf)
    weights[numpy.diff(graph.offsets) == 0] = 0.0
    return weights


def gradient_errors(graph: Graph, gradients: Sequence[float]) -> list[float]:
    """How far off each gradient can be by rounding: cancellation in a number makes the derivatives behind it vague.

    Forward, an operation passes on the errors of its operands, times its partials, and adds one of its own. Backward,
    a contribution has the relative errors of its upstream gradient and of all that its partial is computed from.
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
    """How far off the number of every node can be, in relation to it."""
    errors = [0.0] * len(graph)
    for node in graph.nodes:
        if not node.is_leaf:
            passed = [_known(abs(node.partials[i]) * errors[x]) for i, x in passing(node)]
            errors[node.place] = sum(passed) + _known(math.ulp(node.data))
    return [_known(e / abs(node.data)) if node.data else 0.0 for e, node in zip(errors, graph.nodes, strict=True)]


def _known(error: float) -> float:
    """An error, or nothing where it is not a number: what is nan or inf is not judged by its rounding."""
    return error if math.isfinite(error) else 0.0


def _needed(node: Node, position: int) -> Iterator[int]:
    """The nodes whose numbers a partial is computed from: operands, or the node itself."""
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
