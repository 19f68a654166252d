"""Break a wide layout into rows, like text: the layers that do not fit into one row continue in the next.

An edge to a later row leaves its row on the right, runs back below it, and enters the later row from the left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gradwalk.explain.draw.layout import Layout, Point

_LANE = 9.0  # distance between two edges that run side by side
_GUTTER = 14.0  # distance between boxes and the edges around a row
_ROW_GAP = 30.0
_RADIUS = 8.0  # radius of the corners of an edge
_UNEVEN = 4.0  # weight of rows of different lengths, compared to one edge between two rows


@dataclass(frozen=True)
class Detour:
    """An edge between two rows.

    Attributes:
        before: The intermediate points in the first row.
        corners: The points where the edge turns by a right angle.
        after: The intermediate points in the last row.
    """

    before: tuple[Point, ...]
    corners: tuple[Point, ...]
    after: tuple[Point, ...]


@dataclass(frozen=True)
class Rows:
    """A layout in rows.

    Attributes:
        layout: The positions of all nodes, and the intermediate points of the edges within a row.
        detours: The edges between rows, by list position.
    """

    layout: Layout
    detours: dict[int, Detour]


def in_rows(
    layout: Layout, sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], widest: float
) -> Rows:
    """Break a layout from left to right into rows that are not wider than `widest`, if possible."""
    columns = sorted(set(layout.columns))
    if layout.width <= widest or len(columns) < 2:
        return Rows(layout, {})
    rank = {column: i for i, column in enumerate(columns)}
    ranks = [rank[column] for column in layout.columns]
    starts = _breaks(columns, [(start, ranks[start], ranks[end]) for start, end in edges], widest)
    row_of = [sum(start <= i for start in starts) - 1 for i in range(len(columns))]
    return _Breaking(layout, sizes, edges, columns, ranks, row_of).rows()


def _breaks(columns: Sequence[Point], edges: Sequence[tuple[int, int, int]], widest: float) -> list[int]:
    """Return the first column of each row: as few rows as possible, with few edges between them and similar widths."""
    count = len(columns)
    crossing = [0] * (count + 1)
    for _, first, last in {(start, first, last) for start, first, last in edges}:
        for i in range(first + 1, last + 1):
            crossing[i] += 1
    best: list[tuple[int, float, list[int]]] = [(0, 0.0, [])]
    for end in range(1, count + 1):
        found = []
        for start in range(end):
            wide = columns[end - 1][1] - columns[start][0]
            if wide <= widest or start == end - 1:
                rows, cost, starts = best[start]
                cost += (crossing[start] if start else 0) + _UNEVEN * (wide / widest) ** 2
                found.append((rows + 1, cost, [*starts, start]))
        best.append(min(found, key=lambda one: one[:2]))
    return best[count][2]


class _Breaking:
    """The positions of rows, and of the lanes between them."""

    def __init__(
        self,
        layout: Layout,
        sizes: Sequence[tuple[float, float]],
        edges: Sequence[tuple[int, int]],
        columns: Sequence[Point],
        ranks: Sequence[int],
        row_of: Sequence[int],
    ) -> None:
        self._layout, self._sizes, self._edges = layout, sizes, edges
        self._rows = [row_of[rank] for rank in ranks]
        self._columns, self._row_of = columns, row_of
        self._lanes: dict[int, tuple[int, int]] = {}  # the row and the lane of each node with edges to later rows
        used: Counter[int] = Counter()
        for start, end in edges:
            row = self._rows[start]
            if self._rows[end] != row and start not in self._lanes:
                self._lanes[start] = row, used[row]
                used[row] += 1
        self._used = used
        self._around = _GUTTER + _LANE * max(len(self._lanes), 1)
        self._shifts, self._bottoms, self._height = self._stacked()

    def _stacked(self) -> tuple[list[Point], list[float], float]:
        """Return the shift of each row, the y coordinate of its lower end, and the height of all rows."""
        tops: dict[int, list[float]] = {row: [] for row in self._row_of}
        for (_, y), (_, high), row in zip(self._layout.centers, self._sizes, self._rows, strict=True):
            tops[row] += [y - high / 2, y + high / 2]
        for route in self._layout.routes:
            for x, y in route:
                tops[self._row_at(x)] += [y - 4, y + 4]
        shifts, bottoms, level = [], [], 0.0
        for row, ys in tops.items():
            left = self._columns[self._row_of.index(row)][0]
            shifts.append((self._around - left, level - min(ys)))
            bottoms.append(level + max(ys) - min(ys))
            level = bottoms[-1] + _ROW_GAP + _LANE * self._used[row]
        return shifts, bottoms, bottoms[-1]

    def _row_at(self, x: float) -> int:
        """Return the row of a point of the original layout, which lies at the side of a column."""
        rank = min(range(len(self._columns)), key=lambda i: min(abs(x - side) for side in self._columns[i]))
        return self._row_of[rank]

    def rows(self) -> Rows:
        """Return the layout in rows."""
        layout = self._layout
        centers = [self._moved(point, row) for point, row in zip(layout.centers, self._rows, strict=True)]
        right = max(x + wide / 2 for (x, _), (wide, _) in zip(centers, self._sizes, strict=True))
        routes: list[tuple[Point, ...]] = []
        detours = {}
        for number, ((start, end), route) in enumerate(zip(self._edges, layout.routes, strict=True)):
            placed = [(self._row_at(x), self._moved((x, y), self._row_at(x))) for x, y in route]
            first, last = self._rows[start], self._rows[end]
            routes.append(tuple([point for _, point in placed]) if first == last else ())
            if first != last:
                before = tuple([point for row, point in placed if row == first])
                after = tuple([point for row, point in placed if row == last])
                leave, enter = (before or (centers[start],))[-1][1], (after or (centers[end],))[0][1]
                detours[number] = Detour(before, self._corners(start, leave, enter, right), after)
        columns = [self._moved_column(column, row) for column, row in zip(layout.columns, self._rows, strict=True)]
        moved = replace(
            layout,
            centers=tuple(centers),
            columns=tuple(columns),
            routes=tuple(routes),
            width=right + self._around,
            height=self._height,
        )
        return Rows(moved, detours)

    def _corners(self, start: int, leave: float, enter: float, right: float) -> tuple[Point, ...]:
        """Return the corners of the edges that leave a node's row at one height and enter a later row at another."""
        row, lane = self._lanes[start]
        aside = _GUTTER + _LANE * list(self._lanes).index(start)
        level = self._bottoms[row] + _ROW_GAP / 2 + _LANE * lane
        x, back = right + aside, self._around - aside
        return (right, leave), (x, leave), (x, level), (back, level), (back, enter), (self._around, enter)

    def _moved(self, point: Point, row: int) -> Point:
        return point[0] + self._shifts[row][0], point[1] + self._shifts[row][1]

    def _moved_column(self, column: Point, row: int) -> Point:
        return column[0] + self._shifts[row][0], column[1] + self._shifts[row][0]


def rounded(corners: Sequence[Point]) -> str:
    """Return the SVG commands of horizontal and vertical lines through some points, with round corners."""
    commands = [f"M{corners[0][0]:.1f},{corners[0][1]:.1f}"]
    for (x1, y1), (x2, y2), (x3, y3) in zip(corners, corners[1:], corners[2:], strict=False):
        near = _toward((x2, y2), (x1, y1))
        far = _toward((x2, y2), (x3, y3))
        commands.append(f"L{near[0]:.1f},{near[1]:.1f}Q{x2:.1f},{y2:.1f} {far[0]:.1f},{far[1]:.1f}")
    commands.append(f"L{corners[-1][0]:.1f},{corners[-1][1]:.1f}")
    return "".join(commands)


def _toward(start: Point, end: Point) -> Point:
    """Return the point at a distance of at most `_RADIUS` from one point, on the line to another."""
    length = abs(end[0] - start[0]) + abs(end[1] - start[1])
    share = min(_RADIUS, length / 2) / length if length else 0.0
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
