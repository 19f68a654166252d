"""What a backward pass loses in a wrong order, or by overwriting; and which orders are right.

A contribution is lost where the operand had been visited before it came, or where a later one overwrote it. Then the
operand lacks it, and all behind the operand lack it times their derivative: a node's gradient is wrong by the sum, over
everything lost, of the amount times d operand / d node. (The passes are linear, so that holds exactly.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gradwalk.explain.passes import BackwardStep, contribution, passing
from gradwalk.explain.text import one_line, short
from gradwalk.graph.graph import Graph

_MOST_COUNTED = 64  # with more nodes, legal orders are not counted
_MOST_STATES = 50_000
_MOST_REASONS = 5  # that a sentence gives


class LostContribution(NamedTuple):
    """What `taker` lost of what `giver` gave it, and why: in a word and in a sentence."""

    giver: int
    taker: int
    position: int
    amount: float
    reason: str
    because: str


class Loss(NamedTuple):
    """A contribution of `amount` from `giver` that `taker` lost.

    `reason`: "late" or "overwritten"; `because`: in words. The node that it is told of misses `missing` = `amount` ·
    `derivative`, the latter being d taker / d node. `names`: of giver, taker and node.
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
        """All of it in words."""
        giver, taker, node = self.names
        how = "came too late" if self.reason == "late" else "was lost"
        told = f"{giver}'s contribution {short(self.amount)} to {taker} {how}: {self.because}"
        if taker == node:
            return told
        by = "/d".join(name if name.isidentifier() else f"({name})" for name in (taker, node))
        times = f"{short(self.amount)} times d{by} {short(self.derivative)}"
        return f"{told}; so {node} misses {times} = {short(self.missing)}"


class WrongGradient(NamedTuple):
    """A node that got a wrong gradient, and the losses that make up the difference `right` - `got`."""

    place: int
    name: str
    got: float
    right: float
    losses: tuple[Loss, ...]
    sentence: str


def wrong_gradients(
    graph: Graph, steps: Sequence[BackwardStep], right: Sequence[float], overwrite: bool
) -> tuple[WrongGradient, ...]:
    """The nodes whose gradient came out wrong, in the order of the visits, each with what it lost."""
    lost = lost_contributions(steps, overwrite)
    wrong = []
    for step in steps:
        losses = tuple(_losses_of(step.place, lost, graph))
        if losses and _differ(step.upstream, right[step.place], losses):
            wrong.append(_told(step, right[step.place], losses))
    return tuple(wrong)


def lost_contributions(steps: Sequence[BackwardStep], overwrite: bool) -> list[LostContribution]:
    """Every contribution that was lost where it arrived."""
    lost = []
    kept: dict[int, tuple[int, int, float]] = {}
    for step in steps:
        giver = one_line(step.name)
        for given in step.contributions:
            if given.late:
                because = f"{giver} was visited after {one_line(given.name)}"
                lost.append(LostContribution(step.place, given.place, given.position, given.amount, "late", because))
                continue
            if overwrite and given.place in kept:
                because = f"{giver}'s {short(given.amount)} was written over it"
                lost.append(
                    LostContribution(kept[given.place][0], given.place, *kept[given.place][1:], "overwritten", because)
                )
            kept[given.place] = (step.place, given.position, given.amount)
    return [loss for loss in lost if loss.amount != 0.0]


def _differ(got: float, right: float, losses: Sequence[Loss]) -> bool:
    """Whether two gradients differ by more than rounding: what was lost can cancel."""
    if math.isfinite(got) and math.isfinite(right):
        return abs(got - right) > 1e-13 * sum(abs(loss.missing) for loss in losses)
    return got != right and not (math.isnan(got) and math.isnan(right))


def legal_orders(graph: Graph, indices: Sequence[int]) -> int | None:
    """In how many orders these nodes can be visited without a loss; None where there are too many to count.

    An order is legal where every node comes after all nodes that use it. Counted set by set: how many legal ways lead
    to each set of nodes that can have been visited.
    """
    if len(indices) > _MOST_COUNTED:
        return None
    position = {index: i for i, index in enumerate(indices)}
    users = [0] * len(indices)  # as bits
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
    """Whether every node is visited after all its users."""
    visit = {index: i for i, index in enumerate(order)}
    return all(visit[index] < visit[operand] for index in order for _, operand in passing(graph.nodes[index]))


def _losses_of(index: int, lost: Sequence[LostContribution], graph: Graph) -> list[Loss]:
    """What of all that was lost concerns one node."""
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
    """d node / d index for every node that depends on it: a forward pass with tangent 1 there."""
    tangents = {index: 1.0}
    for node in graph.nodes[index + 1 :]:
        reached = [(i, x) for i, x in passing(node) if x in tangents]
        if reached:
            tangents[node.place] = sum(contribution(node, i, tangents[x]) for i, x in reached)
    return tangents


def _told(step: BackwardStep, right: float, losses: tuple[Loss, ...]) -> WrongGradient:
    reasons = ". ".join(loss.sentence for loss in losses[:_MOST_REASONS])
    more = f" And {len(losses) - _MOST_REASONS:,} more." if len(losses) > _MOST_REASONS else ""
    sentence = f"{one_line(step.name)} gets {short(step.upstream)} and should get {short(right)}. {reasons}.{more}"
    return WrongGradient(step.place, step.name, step.upstream, right, losses, sentence)
