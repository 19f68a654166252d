"""Find the steps of a loop in a graph: a sequence of operations that repeats, each time with later operands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.graph.graph import Graph
from gradwalk.graph.record import CONSTANT
from gradwalk.graph.repeats import Repeats

_MAX_PERIODS = 12  # maximum number of lengths of a step that are tried
_MIN_STEPS = 4
_ABOUT_AS_MANY = 0.9  # minimum ratio of the numbers of operations of two loops that are compared by their carry
_MIN_SHARE = 0.5  # minimum share of the operations that must belong to the loop

_Integers = NDArray[Any]


def repeated_steps(graph: Graph, operands: Sequence[list[int]]) -> Repeats | None:
    """Find the loop that contains most operations of a graph; None if there is no such loop.

    Two operations are in corresponding positions of two steps if they perform the same operation on operands that are
    also in corresponding positions, or that are the same, or that are leaves or constants.
    """
    best: _Run | None = None
    for computed in _orders(graph):
        run = _longest_run(graph, computed)
        if run is not None and (best is None or run.is_better_than(best)):
            best = run
    if best is None:
        return None
    number, role = [-1] * len(operands), list(range(len(operands)))
    for position, node in enumerate(best.nodes):
        number[node] = position // best.period
        role[node] = best.nodes[position % best.period]
    own_inputs(operands, number)
    return Repeats("steps", len(best.nodes) // best.period, number, role, [True] * len(operands))


@dataclass(frozen=True)
class _Run:
    """Successive steps that are similar.

    Attributes:
        period: Number of operations in a step.
        nodes: The operations of all steps, in order.
        carried: Number of results that a step uses of earlier steps.
    """

    period: int
    nodes: list[int]
    carried: int

    def is_better_than(self, other: _Run) -> bool:
        """Return whether this run has more operations, or a similar number and fewer carried results."""
        if min(len(self.nodes), len(other.nodes)) < _ABOUT_AS_MANY * max(len(self.nodes), len(other.nodes)):
            return len(self.nodes) > len(other.nodes)
        return self.carried < other.carried


def _orders(graph: Graph) -> Iterator[_Integers]:
    """Yield the computed nodes in two orders: as they are, and ordered by the distance to the outputs.

    In the first order, parts of a step may be separated from the rest of it, if a step has several results.
    """
    computed = numpy.flatnonzero(numpy.diff(graph.offsets))
    if not len(computed):
        return
    yield computed
    distance = [0] * len(graph)
    offsets, given = graph.offsets.tolist(), graph.operands.tolist()
    for node in range(len(graph) - 1, -1, -1):
        beyond = distance[node] + 1
        for x in given[offsets[node] : offsets[node + 1]]:
            if x != CONSTANT and distance[x] < beyond:
                distance[x] = beyond
    yield computed[numpy.argsort(-numpy.array(distance)[computed], kind="stable")]


def _longest_run(graph: Graph, computed: _Integers) -> _Run | None:
    """Find the longest sequence of similar steps; None if it has too few operations."""
    sequence = _Sequence(graph, computed)
    best: tuple[int, int, int] | None = None
    for period in sequence.periods():
        start, length = sequence.longest_run(period)
        if length >= _MIN_STEPS * period and length > (best[2] if best else 0):
            best = period, start, length
    if best is None or best[2] < _MIN_SHARE * len(computed):
        return None
    period, start, length = best
    carried = [(sequence.carried(start + offset, period), offset) for offset in range(period)]
    fewest, offset = min(carried)
    count = (length - offset) // period
    return _Run(period, computed[start + offset : start + offset + count * period].tolist(), fewest)


def own_inputs(operands: Sequence[list[int]], number: list[int]) -> None:
    """Assign each leaf that only one repetition uses to this repetition.

    Leaves that only the first repetition has, such as the start of a loop, are not assigned.
    """
    users: dict[int, set[int]] = {}
    for node, given in enumerate(operands):
        for x in given:
            if x != CONSTANT and not operands[x]:
                users.setdefault(x, set()).add(number[node])
    inputs = {leaf: only for leaf, numbers in users.items() if len(numbers) == 1 and (only := next(iter(numbers))) >= 0}
    counts = Counter(inputs.values())
    for leaf, only in inputs.items():
        number[leaf] = only if only or counts[0] == counts[1] else -1


class _Sequence:
    """The computed nodes of a graph in order. A node is identified by its rank among them."""

    def __init__(self, graph: Graph, computed: _Integers) -> None:
        rank = numpy.full(len(graph) + 1, -1)  # the last entry is for constants
        rank[computed] = numpy.arange(len(computed))
        self._opcodes = graph.opcodes[computed]
        self._arity = numpy.diff(graph.offsets)[computed]
        self._starts = numpy.concatenate([[0], numpy.cumsum(self._arity)[:-1]])
        edges = numpy.repeat(graph.offsets[computed] - self._starts, self._arity) + numpy.arange(self._arity.sum())
        self._operands = rank[graph.operands[edges]]

    def periods(self) -> list[int]:
        """Return the most frequent distances between similar nodes."""
        first = self._operands[self._starts]
        last = self._operands[self._starts + self._arity - 1]
        opcodes = numpy.append(self._opcodes, 0)  # the last entry is for leaves and constants
        kinds = (self._opcodes * 128 + opcodes[first]) * 128 + opcodes[last]
        order = numpy.argsort(kinds, kind="stable")
        distances = numpy.diff(order)[kinds[order[1:]] == kinds[order[:-1]]]
        return [distance for distance, _ in Counter(distances.tolist()).most_common(_MAX_PERIODS)]

    def carried(self, start: int, period: int) -> int:
        """Return how many results of earlier steps are used at or after the start of the third step."""
        cut = start + 2 * period
        first, last = self._starts[cut], self._starts[min(cut + period, len(self._starts) - 1)]
        used = self._operands[first:last]
        return len(numpy.unique(used[(used >= start) & (used < cut)]))

    def longest_run(self, period: int) -> tuple[int, int]:
        """Return the start and the length of the longest part whose steps of the given length are similar."""
        count = len(self._opcodes) - period
        alike = (self._opcodes[:count] == self._opcodes[period:]) & (self._arity[:count] == self._arity[period:])
        edges = numpy.repeat(numpy.arange(count), self._arity[:count])
        position = numpy.arange(len(edges)) - self._starts[edges]
        is_compared = alike[edges]
        edges, position = edges[is_compared], position[is_compared]
        before = self._operands[self._starts[edges] + position]
        after = self._operands[self._starts[edges + period] + position]
        differs = (after != before) & ((before < 0) | (after != before + period))
        alike[edges[differs]] = False
        ends = numpy.flatnonzero(numpy.diff(numpy.concatenate([[False], alike, [False]]).astype(numpy.int8)))
        if not len(ends):
            return 0, 0
        longest = int((ends[1::2] - ends[::2]).argmax())
        start, length = int(ends[2 * longest]), int(ends[2 * longest + 1] - ends[2 * longest]) + period
        for _ in range(min(start, period)):  # the first step, whose operands come from outside
            if self._opcodes[start - 1] != self._opcodes[start - 1 + period]:
                break
            start, length = start - 1, length + 1
        return start, length
