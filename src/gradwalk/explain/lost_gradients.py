"""Finds the contributions that a backward pass loses, and counts the legal visiting orders.

A node passes a contribution to the gradient of each of its operands. A contribution is lost if the operand was visited
before the contribution arrived, or if a later contribution overwrote it. The error in the gradient of a node is the sum
of amount * d operand / d node over all lost contributions. This sum is exact, because the backward pass is linear.
`sentences.py` puts the losses into words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy

from gradwalk.explain import sentences
from gradwalk.explain.passes import BackwardStep, contribution, passed_to, passing
from gradwalk.explain.text import one_line
from gradwalk.graph.graph import Graph

_MOST_COUNTED = 64  # maximum number of nodes for which legal orders are counted
_MOST_STATES = 50_000  # orders are not counted if there are more sets of visited nodes of the same size


class LostContribution(NamedTuple):
    """A contribution that is missing from the gradient of an operand.

    Attributes:
        giver: The index of the node that passed the contribution back.
        taker: The index of the operand that lost the contribution.
        position: The position of this operand among the operands of the giver.
        amount: The contribution.
        reason: "late" or "overwritten".
        because: The reason in words.
    """

    giver: int
    taker: int
    position: int
    amount: float
    reason: str
    because: str


class Loss(NamedTuple):
    """The effect of a lost contribution on the gradient of one node.

    Attributes:
        giver: The index of the node that passed the contribution back.
        taker: The index of the operand that lost the contribution.
        position: The position of this operand among the operands of the giver.
        amount: The contribution.
        reason: "late" or "overwritten".
        because: The reason in words.
        derivative: The derivative of the taker with respect to the node.
        missing: The error in the node's gradient: `amount * derivative`.
        names: The names of giver, taker and node.
    """

    giver: int
    taker: int
    position: int
    amount: float
    reason: str
    because: str
    derivative: float
    missing: float
    names: tuple[str, str, str]

    @property
    def sentence(self) -> str:
        """The loss in words."""
        was_late = self.reason == "late"
        return sentences.lost(self.names, self.amount, was_late, self.because, self.derivative, self.missing)


class WrongGradient(NamedTuple):
    """A node with a wrong gradient.

    Attributes:
        place: The index of the node.
        name: The name of the node in the graph.
        got: The gradient computed in the walk.
        right: The correct gradient.
        losses: The losses, which add up to the difference `right - got`.
        sentence: The error and its losses in words.
    """

    place: int
    name: str
    got: float
    right: float
    losses: tuple[Loss, ...]
    sentence: str


def wrong_gradients(
    graph: Graph, steps: Sequence[BackwardStep], right: Sequence[float], overwrite: bool
) -> tuple[WrongGradient, ...]:
    """Find the nodes with a wrong gradient, in the order of the visits, and the losses that explain each error.

    `right` holds the correct gradient of each node by index. `overwrite` is true if contributions were written with
    `=`, not `+=`.
    """
    lost = lost_contributions(steps, overwrite)
    wrong = []
    for step in steps:
        losses = tuple(_losses_of(step.place, lost, graph))
        if losses and _differ(step.upstream, right[step.place], losses):
            sentence = sentences.wrong(step.name, step.upstream, right[step.place], [loss.sentence for loss in losses])
            wrong.append(WrongGradient(step.place, step.name, step.upstream, right[step.place], losses, sentence))
    return tuple(wrong)


def lost_contributions(steps: Sequence[BackwardStep], overwrite: bool) -> list[LostContribution]:
    """Find the contributions that were late or, if `overwrite` is true, overwritten by a later contribution."""
    lost = []
    kept: dict[int, tuple[int, int, float]] = {}
    for step in steps:
        for given in step.contributions:
            if given.late:
                because = sentences.visited_after(step.name, given.name)
                lost.append(LostContribution(step.place, given.place, given.position, given.amount, "late", because))
                continue
            if overwrite and given.place in kept:
                because = sentences.written_over(step.name, given.amount)
                lost.append(
                    LostContribution(kept[given.place][0], given.place, *kept[given.place][1:], "overwritten", because)
                )
            kept[given.place] = (step.place, given.position, given.amount)
    return [loss for loss in lost if loss.amount != 0.0]


def _differ(got: float, right: float, losses: Sequence[Loss]) -> bool:
    """Return whether two gradients differ by more than rounding errors. They can agree if losses cancel each other."""
    if math.isfinite(got) and math.isfinite(right):
        return abs(got - right) > 1e-13 * sum(abs(loss.missing) for loss in losses)
    return got != right and not (math.isnan(got) and math.isnan(right))


def legal_orders(graph: Graph, indices: Sequence[int]) -> int | None:
    """Count the legal orders, in which every node comes after all nodes that use it.

    Returns None if there are too many nodes or orders to count.

    The method is dynamic programming over sets of visited nodes. One legal visit extends a set of k - 1 visited nodes
    to a set of k nodes. The number of legal orders of a set is the sum of the numbers for all sets that one visit
    extends to it.
    """
    if len(indices) > _MOST_COUNTED:
        return None
    position = {index: i for i, index in enumerate(indices)}
    users = [0] * len(indices)  # bit sets: bit i represents indices[i]
    for index in indices:
        for _, operand in passing(graph.nodes[index]):
            users[position[operand]] |= 1 << position[index]
    ways = {0: 1}
    for _ in indices:
        following: dict[int, int] = {}
        for visited, count in ways.items():
            for i, before in enumerate(users):
                if not visited >> i & 1 and before & ~visited == 0:
                    following[visited | 1 << i] = following.get(visited | 1 << i, 0) + count
        if len(following) > _MOST_STATES:
            return None
        ways = following
    return next(iter(ways.values()))


def is_legal(graph: Graph, order: Sequence[int]) -> bool:
    """Return whether an order visits each node after its users."""
    visit = numpy.full(len(graph) + 1, len(graph))  # the last entry is for operands without a gradient
    visit[list(order)] = range(len(order))
    users = numpy.repeat(visit[:-1], numpy.diff(graph.offsets))
    return bool((users < visit[passed_to(graph)])[users < len(graph)].all())


def _losses_of(index: int, lost: Sequence[LostContribution], graph: Graph) -> list[Loss]:
    """Return the losses that affect the gradient of one node."""
    if not lost:
        return []
    derivatives = _derivatives_by(index, graph)
    losses = []
    for loss in lost:
        derivative = derivatives.get(loss.taker, 0.0)
        missing = loss.amount if loss.taker == index else loss.amount * derivative
        if derivative != 0.0:
            names = tuple(one_line(graph.names[i]) or "?" for i in (loss.giver, loss.taker, index))
            losses.append(Loss(*loss, derivative, missing, (names[0], names[1], names[2])))
    return losses


def _derivatives_by(index: int, graph: Graph) -> dict[int, float]:
    """Return a dict from node indices to derivatives with respect to one node, computed in a forward pass."""
    tangents = {index: 1.0}
    for node in graph.nodes[index + 1 :]:
        reached = [(i, x) for i, x in passing(node) if x in tangents]
        if reached:
            tangents[node.place] = sum(contribution(node, i, tangents[x]) for i, x in reached)
    return tangents
