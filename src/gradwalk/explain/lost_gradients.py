"""Explains what a backward pass loses in a wrong order or by overwriting, and which orders are right.

A contribution is lost if the operand was visited before it came, or if a later one overwrote it. Then the operand lacks
it, and every node that the operand was made from lacks it times a derivative: the gradient of a node is wrong by the
sum, over everything lost, of the amount times d operand / d node. (The passes are linear, so this holds exactly.)
`sentences.py` says it in words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gradwalk.explain import sentences
from gradwalk.explain.passes import BackwardStep, contribution, passing
from gradwalk.explain.text import one_line
from gradwalk.graph.graph import Graph

_MOST_COUNTED = 64  # nodes; legal orders of more are not counted
_MOST_STATES = 50_000  # sets of visited nodes that are kept while counting


class LostContribution(NamedTuple):
    """A contribution that was lost where it arrived.

    Attributes:
        giver: The index of the node that passed it back.
        taker: The index of the operand that lost it.
        position: The position of the operand.
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
        taker: The index of the operand that lost it.
        position: The position of the operand.
        amount: The contribution.
        reason: "late" or "overwritten".
        because: The reason in words.
        derivative: The derivative of the taker with respect to the node.
        missing: What the gradient of the node lacks: `amount` times `derivative`.
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
    """A node that got a wrong gradient.

    Attributes:
        place: The index of the node.
        name: Its name in the graph.
        got: The gradient of the walk.
        right: The true gradient.
        losses: What was lost; together it makes up the difference `right - got`.
        sentence: All of it in words.
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
    """Find the nodes whose gradient came out wrong.

    Args:
        graph: The graph that was walked.
        steps: The backward pass.
        right: The true gradients by index.
        overwrite: Whether contributions were written with `=` in place of `+=`.

    Returns:
        The nodes in the order of the visits, each with what it lost.
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
    """Find the contributions that were lost where they arrived.

    Args:
        steps: The steps of the backward pass.
        overwrite: Whether contributions replace earlier ones instead of being added.

    Returns:
        The lost contributions.
    """
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
    """Return whether two gradients differ by more than rounding; what was lost can cancel."""
    if math.isfinite(got) and math.isfinite(right):
        return abs(got - right) > 1e-13 * sum(abs(loss.missing) for loss in losses)
    return got != right and not (math.isnan(got) and math.isnan(right))


def legal_orders(graph: Graph, indices: Sequence[int]) -> int | None:
    """Count the orders in which nodes can be visited without a loss.

    An order is legal if every node comes after all nodes that use it. The count goes from each set of nodes that can
    have been visited to the sets with one node more, and keeps how many legal ways lead to each set.

    Args:
        graph: The graph.
        indices: The nodes to visit.

    Returns:
        The number of legal orders; None if there are too many to count.
    """
    if len(indices) > _MOST_COUNTED:
        return None
    position = {index: i for i, index in enumerate(indices)}
    users = [0] * len(indices)  # sets as bits: bit i stands for the i-th of the indices
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
    """Return whether every node is visited after all nodes that use it.

    Args:
        graph: The graph.
        order: The indices of nodes in the order of their visits.

    Returns:
        True or False.
    """
    visit = {index: i for i, index in enumerate(order)}
    return all(visit[index] < visit[operand] for index in order for _, operand in passing(graph.nodes[index]))


def _losses_of(index: int, lost: Sequence[LostContribution], graph: Graph) -> list[Loss]:
    """Return the losses that the gradient of one node misses."""
    if not lost:
        return []
    derivatives = _derivatives_by(index, graph)
    losses = []
    for loss in lost:
        derivative = derivatives.get(loss.taker, 0.0)
        missing = loss.amount if loss.taker == index else loss.amount * derivative
        if derivative != 0.0:
            names = tuple(one_line(graph.names[i]) for i in (loss.giver, loss.taker, index))
            losses.append(Loss(*loss, derivative, missing, (names[0], names[1], names[2])))
    return losses


def _derivatives_by(index: int, graph: Graph) -> dict[int, float]:
    """Compute the derivative with respect to one node of every node that depends on it, by a forward pass."""
    tangents = {index: 1.0}
    for node in graph.nodes[index + 1 :]:
        reached = [(i, x) for i, x in passing(node) if x in tangents]
        if reached:
            tangents[node.place] = sum(contribution(node, i, tangents[x]) for i, x in reached)
    return tangents
