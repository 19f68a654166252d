"""Find the steps of a loop in a graph: a sequence of operations that repeats, each time with later operands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.graph.graph import Graph
from gradwalk.graph.record import CONSTANT
from gradwalk.graph.repeats import Repeats

_MAX_PERIODS = 12  # maximum number of lengths of a step that are tried
_MIN_STEPS = 4
_MIN_SHARE = 0.5  # minimum share of the operations that must belong to the loop

_Integers = NDArray[Any]


def repeated_steps(graph: Graph, operands: Sequence[list[int]]) -> Repeats | None:
    """Find the loop that contains most operations of a graph; None if there is no such loop.

    Two operations are in corresponding positions of two steps if they perform the same operation on operands that are
    also in corresponding positions, or that are the same, or that are leaves or constants.
    """
    computed = numpy.flatnonzero(numpy.diff(graph.offsets))
    if not len(computed):
        return None
    sequence = _Sequence(graph, computed)
    best: tuple[int, int, int] | None = None
    for period in sequence.periods():
        start, length = sequence.longest_run(period)
        if length >= _MIN_STEPS * period and length > (best[2] if best else 0):
            best = period, start, length
    if best is None or best[2] < _MIN_SHARE * len(computed):
        return None
    period, start, length = best
    count = length // period
    number, role = [-1] * len(operands), list(range(len(operands)))
    inside = computed[start : start + count * period].tolist()
    for position, node in enumerate(inside):
        number[node] = position // period
        role[node] = inside[position % period]
    own_inputs(operands, number)
    return Repeats("steps", count, number, role, [True] * len(operands))


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
        self._operands = rank[graph.operands]
        self._starts = numpy.concatenate([[0], numpy.cumsum(self._arity)[:-1]])

    def periods(self) -> list[int]:
        """Return the most frequent distances between similar nodes."""
        first = self._operands[self._starts]
        last = self._operands[self._starts + self._arity - 1]
        opcodes = numpy.append(self._opcodes, 0)  # the last entry is for leaves and constants
        kinds = (self._opcodes * 128 + opcodes[first]) * 128 + opcodes[last]
        order = numpy.argsort(kinds, kind="stable")
        distances = numpy.diff(order)[kinds[order[1:]] == kinds[order[:-1]]]
        return [distance for distance, _ in Counter(distances.tolist()).most_common(_MAX_PERIODS)]

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
