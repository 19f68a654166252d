"""Layered graph layout from left to right, with Sugiyama's method.

1. The layer of a node is the length of the longest path to the node. Leaves are then moved right, next to their users.
2. An edge across several layers becomes a chain of bends, one in each layer. Edges from the same node share bends.
3. Within each layer, nodes are sorted by the average rank of their neighbors, to reduce edge crossings.
4. The vertical positions in a layer are a least-squares fit to the positions of the neighbors: an isotonic regression.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]

_GAP = 16.0  # distance between two nodes of a layer
_BEND_GAP = 9.0  # distance between a bend and its neighbors
_SORTING_ROUNDS = 8
_LEVELLING_ROUNDS = 12
_STIFFNESS = 4.0  # weight of a bend in the least-squares fit; a node has weight 1


@dataclass(frozen=True)
class Layout:
    """The positions of all nodes and edges.

    Attributes:
        centers: The center of each node.
        columns: The left and right end of each node's layer.
        routes: The intermediate points of each edge.
        width: The width of the whole drawing.
        height: The height of the whole drawing.
    """

    centers: tuple[Point, ...]
    columns: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], gap: float) -> Layout:
    """Place nodes so that all edges lead to the right.

    Args:
        sizes: The width and height of each node.
        edges: Pairs (start, end) of node numbers with start < end. Edges between the same two nodes share their route.
        gap: The distance between layers.

    Returns:
        The positions, in the unit of `sizes`. The origin is in the upper left corner, and y points down.

    Example:
        >>> layered([(10, 10), (10, 10)], [(0, 1)], gap=50).centers
        ((5.0, 5.0), (65.0, 5.0))
    """
    ranks = _ranks(len(sizes), edges)
    plan = _Plan(ranks, edges)
    _sort(plan)
    heights = [size[1] for size in sizes] + [0.0] * plan.bends
    ys = _levels(plan, heights)
    widths = [max((sizes[i][0] for i in layer if i < len(sizes)), default=0.0) for layer in plan.layers]
    lefts = [sum(widths[:rank]) + gap * rank for rank in range(len(widths))]
    centers = tuple((lefts[rank] + widths[rank] / 2, ys[i]) for i, rank in enumerate(ranks))
    columns = tuple((lefts[rank], lefts[rank] + widths[rank]) for rank in ranks)
    routes = []
    for chain in plan.chains:
        route: list[Point] = []
        for bend in chain:
            left = lefts[plan.ranks[bend]]
            route += [(left, ys[bend]), (left + widths[plan.ranks[bend]], ys[bend])]
        routes.append(tuple(route))
    height = max((y + h / 2 for y, h in zip(ys, heights, strict=True)), default=0.0)
    return Layout(centers, columns, tuple(routes), sum(widths) + gap * max(len(widths) - 1, 0), height)


def _ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the layer of every node.

    A leaf is one layer to the left of its leftmost user. Any other node is as far left as its operands allow.
    """
    ranks = [0] * count
    has_operands = [False] * count
    for start, end in sorted(edges, key=lambda edge: edge[1]):
        ranks[end] = max(ranks[end], ranks[start] + 1)
        has_operands[end] = True
    nearest: dict[int, int] = {}
    for start, end in edges:
        if not has_operands[start]:
            nearest[start] = min(nearest.get(start, ranks[end]), ranks[end])
    for leaf, rank in nearest.items():
        ranks[leaf] = rank - 1
    return ranks


class _Plan:
    """Layers of nodes and bends. The bends are numbered after the nodes."""

    def __init__(self, ranks: Sequence[int], edges: Sequence[tuple[int, int]]) -> None:
        self.ranks = list(ranks)
        self.before: list[list[int]] = [[] for _ in ranks]  # neighbors in the layer to the left
        self.after: list[list[int]] = [[] for _ in ranks]
        self.chains: list[list[int]] = []  # the bends of each edge
        bends: dict[tuple[int, int], int] = {}
        for start, end in edges:
            chain = []
            last = start
            for rank in range(ranks[start] + 1, ranks[end]):
                if (start, rank) not in bends:
                    bends[start, rank] = self._bend(rank)
                    self._join(last, bends[start, rank])
                last = bends[start, rank]
                chain.append(last)
            self._join(last, end)
            self.chains.append(chain)
        self.bends = len(bends)
        self.layers: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
        for item, rank in enumerate(self.ranks):
            self.layers[rank].append(item)

    def _bend(self, rank: int) -> int:
        self.ranks.append(rank)
        self.before.append([])
        self.after.append([])
        return len(self.ranks) - 1

    def _join(self, left: int, right: int) -> None:
        self.after[left].append(right)
        self.before[right].append(left)


def _sort(plan: _Plan) -> None:
    """Sort the layers to reduce edge crossings."""
    best, fewest = [list(layer) for layer in plan.layers], _crossings(plan)
    for _ in range(_SORTING_ROUNDS):
        if fewest == 0:
            break
        for layers, neighbors in ((plan.layers[1:], plan.before), (plan.layers[-2::-1], plan.after)):
            for layer in layers:
                _sort_layer(plan, layer, neighbors)
        crossings = _crossings(plan)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in plan.layers], crossings
    plan.layers = best


def _sort_layer(plan: _Plan, layer: list[int], neighbors: list[list[int]]) -> None:
    """Sort one layer by the average rank of the neighbors on one side; items without neighbors keep their rank."""
    rank = {item: i for fixed in plan.layers for i, item in enumerate(fixed)}
    averages = {item: sum(rank[n] for n in neighbors[item]) / len(neighbors[item]) for item in layer if neighbors[item]}
    sortable = iter(sorted(averages, key=averages.__getitem__))
    layer[:] = [next(sortable) if item in averages else item for item in layer]


def _crossings(plan: _Plan) -> int:
    """Count the crossings of edges between adjacent layers."""
    crossings = 0
    for left, right in pairwise(plan.layers):
        rank = {item: i for i, item in enumerate(right)}
        seen: list[int] = []
        for item in left:
            ends = sorted(rank[end] for end in plan.after[item])
            crossings += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return crossings


def _levels(plan: _Plan, heights: Sequence[float]) -> list[float]:
    """Return y coordinates of all nodes and bends that are close to the average of the neighbors and avoid overlaps."""
    ys = [0.0] * len(heights)
    for layer in plan.layers:
        _align(plan, layer, [0.0] * len(layer), heights, ys)
    forward, backward = plan.layers[1:], plan.layers[-2::-1]
    for round_ in range(_LEVELLING_ROUNDS):
        last = round_ == _LEVELLING_ROUNDS - 1
        for layers, sides in (
            (backward, (plan.after,)),
            (forward, (plan.before, plan.after) if last else (plan.before,)),
        ):
            for layer in layers:
                wanted = [_average([ys[n] for side in sides for n in side[item]], ys[item]) for item in layer]
                _align(plan, layer, wanted, heights, ys)
    top = min((y - h / 2 for y, h in zip(ys, heights, strict=True)), default=0.0)
    return [y - top for y in ys]


def _average(numbers: list[float], otherwise: float) -> float:
    return sum(numbers) / len(numbers) if numbers else otherwise


def _align(
    plan: _Plan, layer: Sequence[int], wanted: Sequence[float], heights: Sequence[float], ys: list[float]
) -> None:
    """Set the y coordinates of a layer to the least-squares fit to `wanted` that keeps the order and the gaps."""
    offsets = [0.0]
    bends = len(heights) - plan.bends
    for above, below in pairwise(layer):
        gap = _BEND_GAP if above >= bends or below >= bends else _GAP
        offsets.append(offsets[-1] + (heights[above] + heights[below]) / 2 + gap)
    weights = [_STIFFNESS if item >= bends else 1.0 for item in layer]
    levels = _isotonic([w - o for w, o in zip(wanted, offsets, strict=True)], weights)
    for item, level, offset in zip(layer, levels, offsets, strict=True):
        ys[item] = level + offset


def _isotonic(wanted: Sequence[float], weights: Sequence[float]) -> Iterable[float]:
    """Yield the nondecreasing numbers closest to `wanted` in the least-squares sense.

    The method is the pool-adjacent-violators algorithm.
    """
    pools: list[tuple[float, float, int]] = []  # mean, weight and size
    for number, weight in zip(wanted, weights, strict=True):
        pool = (number, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            mean, mass, size = pools.pop()
            total = mass + pool[1]
            pool = ((mean * mass + pool[0] * pool[1]) / total, total, size + pool[2])
        pools.append(pool)
    for mean, _, size in pools:
        yield from [mean] * size
