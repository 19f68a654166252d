"""Lays out a graph, and draws it at one moment of a walk."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gradwalk.explain.draw.layout import Layout, Point, layered
from gradwalk.explain.draw.network import hint
from gradwalk.explain.draw.svg import LETTER, Canvas, Theme, arrowhead, curve
from gradwalk.explain.passes import contribution, passing, reached
from gradwalk.explain.text import fixed, one_line, plural, short, shortened, width
from gradwalk.graph.clusters import Group, grouped
from gradwalk.graph.graph import Graph
from gradwalk.graph.node import Node
from gradwalk.ops.rows import Gather

_MARGIN = 18.0
_LINE = 17.0  # line height of text
_HEAD = 44.0  # space for the caption above a drawing of modules
_FOOT = 34.0  # space below a drawing for the legend
_NARROWEST = 380.0  # minimum width of a drawing with a caption or legend, without margins
_FONT = 12.0
_BASELINE = 4.2  # distance from the middle of a line of text to its baseline
_BOX = 30.0  # height of a box
_TALL_BOX = 44.0  # height of a narrow box, in which the gradient is below the value
_PILL = 28.0  # height of an operation
_LINK = 16.0  # distance between an operation and its result
_PORT = 8.0  # maximum distance between neighboring ends of edges at an operation
_TALLEST = 240.0  # maximum height of an operation
_GAP = 54.0  # distance between layers
_BUNDLE_GAP = 130.0  # distance between layers if edges are labeled with counts
_LONGEST_LABEL = 26
_LONGEST_EXPRESSION = 12  # in a narrow box
_WIDEST = 1200.0  # boxes are narrow in a drawing from left to right that would be wider
_NARROW_GAP = 46.0  # distance between layers of narrow boxes


@dataclass(frozen=True)
class Moment:
    """The state of a walk after some of its steps.

    Attributes:
        known: The indices of the nodes with known values.
        gradients: A dict from node indices to the gradients so far.
        contributions: A dict from edges to the contributions along them. An edge is a pair (index of the result,
            position of the operand).
        lost: The edges whose contribution was lost, as keys of `contributions`.
        active: The index of the node that the last step visited; None before the first step.
        caption: The last step in words.
    """

    known: frozenset[int]
    gradients: Mapping[int, float]
    contributions: Mapping[tuple[int, int], float]
    lost: frozenset[tuple[int, int]] = frozenset()
    active: int | None = None
    caption: str = ""


def recorded(graph: Graph) -> Moment:
    """Return a moment that shows all values and gradients recorded in a graph."""
    contributions = {}
    has_got = reached(graph)
    for node in graph.nodes:
        for position, _ in passing(node):
            amount = contribution(node, position, node.grad) if has_got[node.place] else 0.0
            contributions[node.place, position] = amount
    return Moment(frozenset(range(len(graph))), dict(enumerate(graph.grad.tolist())), contributions)


class Rectangle(NamedTuple):
    """A rectangle, given by the coordinates of its sides."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class _Unit:
    """The texts and sizes of the box of a node and of the shape of its operation, which is drawn before the box.

    Attributes:
        label: The name of the node, shown in the box.
        cells: The widths of the three parts of the box: name, value and gradient.
        is_narrow: Whether the gradient is below the value, and not beside it.
        symbol: The text in the shape of the operation.
        pill: The width of the shape of the operation; 0 for leaves.
        side: The length of the side of this shape at which edges end.
    """

    label: str
    cells: tuple[float, float, float]
    is_narrow: bool
    symbol: str
    pill: float
    side: float

    @property
    def box(self) -> float:
        name, value, gradient = self.cells
        return name + max(value, gradient) if self.is_narrow else name + value + gradient

    @property
    def high(self) -> float:
        return _TALL_BOX if self.is_narrow else _BOX


class Scene:
    """The layout of a graph, which can be drawn at any moment of a walk."""

    def __init__(self, graph: Graph, rankdir: str = "LR", gap: float = _GAP) -> None:
        self._graph = graph
        self._downward = rankdir == "TB"
        self._edges = [
            (x, node.place, position)
            for node in graph.nodes
            for position, x in enumerate(node.arguments)
            if isinstance(x, int)
        ]
        self._units, layout = self._arranged(gap, is_narrow=False)
        if not self._downward and layout.width > _WIDEST:
            self._units, layout = self._arranged(min(gap, _NARROW_GAP), is_narrow=True)
        self._layout = _turned(layout) if self._downward else layout

    def _arranged(self, gap: float, *, is_narrow: bool) -> tuple[list[_Unit], Layout]:
        """Return the units of the nodes and their layout, from left to right."""
        derived = self._graph.derived
        units = [_unit(node, derived.get(node.place, node.name), is_narrow) for node in self._graph.nodes]
        sizes = [self._size(unit)[::-1] if self._downward else self._size(unit) for unit in units]
        return units, layered(sizes, [edge[:2] for edge in self._edges], gap)

    def painted(self, moment: Moment, theme: Theme) -> str:
        """Return the text of an SVG file that shows one moment."""
        canvas = Canvas.file(theme, title(self._graph))
        return canvas.finished(*self.paint(canvas, moment, largest_of(moment)))

    def paint(self, canvas: Canvas, moment: Moment, largest: float) -> Point:
        """Draw one moment on a canvas, and return the width and height of the drawing.

        The widest line represents a gradient of absolute value `largest`.
        """
        head = 2 * _LINE if moment.caption else 0.0
        foot = _FOOT if largest else 0.0
        wide = max(self._layout.width, _NARROWEST if moment.caption or largest else 0.0) + 2 * _MARGIN
        high = self._layout.height + 2 * _MARGIN + head + foot
        canvas.rectangle(0, 0, wide, high, "paper")
        if moment.caption:
            columns = int((wide - 2 * _MARGIN) / _FONT / LETTER)
            lines = textwrap.wrap(one_line(moment.caption), columns, max_lines=2, placeholder=" …")
            for i, line in enumerate(lines):
                canvas.text(_MARGIN, _MARGIN + 4 + _LINE * i, line, font_weight="bold")
        body = canvas.group(transform=f"translate({_MARGIN:g},{_MARGIN + head:g})")
        self.paint_graph(body, moment, largest)
        if largest:
            paint_legend(canvas.group(transform=f"translate({_MARGIN:g},{high - _MARGIN - 6:g})"), largest)
        return wide, high

    def paint_graph(self, canvas: Canvas, moment: Moment, largest: float, view: Rectangle | None = None) -> None:
        """Draw the nodes and edges in a rectangle, by default all, without caption and legend.

        The upper left corner of the layout is at (0, 0).
        """
        for edge, route in zip(self._edges, self._layout.routes, strict=True):
            if view is None or _overlap(self.box_around(edge[:2], route), view):
                self._paint_edge(canvas, edge, route, moment, largest)
        for node, unit in zip(self._graph.nodes, self._units, strict=True):
            if view is None or _overlap(self.box_around([node.place]), view):
                self._paint_node(canvas, node, unit, moment, largest)

    @property
    def size(self) -> Point:
        """The width and height of the layout."""
        return self._layout.width, self._layout.height

    def box_around(self, nodes: Iterable[int], points: Sequence[Point] = ()) -> Rectangle:
        """Return the smallest rectangle that contains some nodes and points."""
        corners = [(*self._layout.centers[node], *self._size(self._units[node])) for node in nodes]
        corners += [(x, y, 0.0, 0.0) for x, y in points]
        return Rectangle(
            min(x - w / 2 for x, _, w, _ in corners),
            min(y - h / 2 for _, y, _, h in corners),
            max(x + w / 2 for x, _, w, _ in corners),
            max(y + h / 2 for _, y, _, h in corners),
        )

    def _size(self, unit: _Unit) -> tuple[float, float]:
        """Return the width and height of a box together with the shape of its operation."""
        if not unit.pill:
            return unit.box, unit.high
        if self._downward:
            return max(unit.box, unit.pill, unit.side), unit.high + _LINK + _PILL
        return unit.box + _LINK + unit.pill, max(unit.high, unit.side)

    def _anchors(self, index: int) -> tuple[Point, Point, Point]:
        """Return the centers of a node's operation and of its box, and the point where its outgoing edges start."""
        x, y = self._layout.centers[index]
        unit = self._units[index]
        wide, high = self._size(unit)
        if self._downward:
            return (x, y - high / 2 + _PILL / 2), (x, y + high / 2 - unit.high / 2), (x, y + high / 2)
        return (x - wide / 2 + unit.pill / 2, y), (x + wide / 2 - unit.box / 2, y), (x + wide / 2, y)

    def _paint_edge(
        self, canvas: Canvas, edge: tuple[int, int, int], route: Sequence[Point], moment: Moment, largest: float
    ) -> None:
        """Draw the edge from an operand to an operation."""
        start, end, position = edge
        node = self._graph.nodes[end]
        ports = sum(isinstance(x, int) for x in node.arguments)
        port = sum(isinstance(x, int) for x in node.arguments[:position]) - (ports - 1) / 2
        aside = port * min(_PORT, (max(self._units[end].side, _PILL) - 6) / max(ports - 1, 1))
        (x, y), _, _ = self._anchors(end)
        tip = (x + aside, y - _PILL / 2) if self._downward else (x - self._units[end].pill / 2, y + aside)
        twins = node.arguments.count(start) > 1
        amount = moment.contributions.get((end, position))
        role, weight, dash = _stroke(amount, largest, node, position)
        lost = (end, position) in moment.lost
        dash = {"stroke_dasharray": "7 4"} if lost else dash
        group = canvas.group(_edge_title(self._graph, edge, amount) + (", lost" if lost else ""))
        points = [self._anchors(start)[2], *self._through_columns(start, end, route, tip), tip]
        path = curve(points, self._downward, aside * 3 if twins else 0.0)
        group.path(path, stroke=role, stroke_width=weight, **dash)
        group.path(arrowhead(tip, self._downward, float(weight)), fill=role)

    def _through_columns(self, start: int, end: int, route: Sequence[Point], tip: Point) -> list[Point]:
        """Add straight lines to both ends of a route, so that the edge avoids wider nodes in the layers of its ends."""
        (x, y), (_, leaves), (enters, _) = (
            self._anchors(start)[2],
            self._layout.columns[start],
            self._layout.columns[end],
        )
        if self._downward:
            return [(x, leaves), *route, (tip[0], enters)]
        return [(leaves, y), *route, (enters, tip[1])]

    def _paint_node(self, canvas: Canvas, node: Node, unit: _Unit, moment: Moment, largest: float) -> None:
        """Draw the box of a node and the operation before the box."""
        group = canvas.group(_node_title(node, moment))
        operation, (x, y), _ = self._anchors(node.place)
        gradient = moment.gradients.get(node.place)
        role, weight, _ = _stroke(gradient, largest, node, -1)
        if unit.pill:
            self._paint_operation(group, unit, operation, (x, y), role, weight)
        left, top = x - unit.box / 2, y - unit.high / 2
        active = node.place == moment.active
        group.rectangle(left, top, unit.box, unit.high, "box", radius=5)
        value, grad = _number_cells(unit, left, top)
        if gradient and math.isfinite(gradient) and largest:
            share = 0.10 + 0.20 * math.sqrt(min(abs(gradient) / largest, 1.0))
            path = _rounded_right(grad, 0 if unit.is_narrow else 5, 5)
            group.path(path, fill=role, fill_opacity=f"{share:.2f}")
        outline = ("active", "3") if active else ("line", "1.2")
        group.rectangle(left, top, unit.box, unit.high, "", outline[0], 5, stroke_width=outline[1])
        side = f"h{grad.right - grad.left:.1f}" if unit.is_narrow else f"v{unit.high:g}"
        for path in (f"M{value.left:.1f},{top:.1f}v{unit.high:g}", f"M{grad.left:.1f},{grad.top:.1f}{side}"):
            group.path(path, stroke="line", stroke_width="1")
        name = {"fill": "ink", "font_weight": "bold"} if node.label else {"fill": "faint", "font_style": "italic"}
        group.text(left + unit.cells[0] / 2, y + _BASELINE, unit.label, anchor="middle", **name)
        _paint_cell(group, value, "data", fixed(node.data) if node.place in moment.known else "·")
        _paint_cell(group, grad, "grad", "·" if gradient is None else fixed(gradient))

    def _paint_operation(self, group: Canvas, unit: _Unit, center: Point, box: Point, role: str, weight: str) -> None:
        """Draw the shape of an operation and the line to the box of its result."""
        x, y = center
        if self._downward:
            group.path(f"M{x:.1f},{y + _PILL / 2:.1f}V{box[1] - unit.high / 2:.1f}", stroke=role, stroke_width=weight)
        else:
            group.path(
                f"M{x + unit.pill / 2:.1f},{y:.1f}H{box[0] - unit.box / 2:.1f}", stroke=role, stroke_width=weight
            )
        wide, high = (max(unit.pill, unit.side), _PILL) if self._downward else (unit.pill, max(_PILL, unit.side))
        group.rectangle(x - wide / 2, y - high / 2, wide, high, "operation", "line", _PILL / 2)
        group.text(x, y + 4.6, unit.symbol, anchor="middle", font_size="13")


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return one.left < other.right and other.left < one.right and one.top < other.bottom and other.top < one.bottom


def paint_groups(graph: Graph, theme: Theme) -> str:
    """Return the text of an SVG file that shows a large graph as groups with the number of edges between them."""
    groups, edges = grouped(graph)
    texts = [list(_described(group)) for group in groups]
    sizes = [(max(map(width, lines)) * _FONT * LETTER + 24, _LINE * len(lines) + 16) for lines in texts]
    pairs = [(start, end) if start < end else (end, start) for start, end in edges]
    layout = layered(sizes, pairs, _BUNDLE_GAP)
    canvas = Canvas.file(theme, title(graph))
    caption = f"{len(graph):,} nodes and {graph.edges:,} edges, drawn by module"
    wide = max(layout.width, max(map(width, (caption, hint(graph)))) * _FONT * LETTER) + 2 * _MARGIN
    high = layout.height + 2 * _MARGIN + _HEAD
    canvas.rectangle(0, 0, wide, high, "paper")
    canvas.text(_MARGIN, _MARGIN + 8, caption)
    canvas.text(_MARGIN, _MARGIN + 8 + _LINE, hint(graph), "faint")
    body = canvas.group(transform=f"translate({_MARGIN:g},{_MARGIN + _HEAD:g})")
    for (start, end), pair, route in zip(edges, pairs, layout.routes, strict=True):
        _paint_bundle(body, edges[start, end], (start, end) != pair, _ends(layout, sizes, pair, route))
    for group, lines, (x, y), (w, h) in zip(groups, texts, layout.centers, sizes, strict=True):
        _paint_group(body.group(group.name), lines, (x - w / 2, y - h / 2, w, h))
    return canvas.finished(wide, high)


def _paint_group(canvas: Canvas, lines: Sequence[str], box: tuple[float, float, float, float]) -> None:
    x, y, w, h = box
    canvas.rectangle(x, y, w, h, "box", "line", 6, stroke_width="1.2")
    for i, line in enumerate(lines):
        weight = {"fill": "ink", "font_weight": "bold"} if i == 0 else {"fill": "faint"}
        canvas.text(x + 12, y + 22 + _LINE * i, line, **weight)


def _paint_bundle(canvas: Canvas, count: int, back: bool, points: list[Point]) -> None:
    """Draw all edges between two groups as one line, which is dashed if it leads back to an earlier group."""
    weight = f"{1 + math.log10(count):.1f}"
    dash = {"stroke_dasharray": "5 4"} if back else {}
    group = canvas.group(plural(count, "edges") + ", leading back" * back)
    group.path(curve(points, downward=False), stroke="line", stroke_width=weight, **dash)
    if not back:
        group.path(arrowhead(points[-1], False, float(weight)), fill="line")
    (x1, y1), (x2, y2) = points[0], points[1]
    words = f"{count:,}"
    wide = width(words) * 11 * LETTER + 8
    group.rectangle((x1 + x2 - wide) / 2, (y1 + y2) / 2 - 8, wide, 16, "paper")
    group.text((x1 + x2) / 2, (y1 + y2) / 2 + 4, words, "faint", "middle", font_size="11")


def _ends(
    layout: Layout, sizes: Sequence[tuple[float, float]], pair: tuple[int, int], route: Sequence[Point]
) -> list[Point]:
    (x1, y1), (x2, y2) = layout.centers[pair[0]], layout.centers[pair[1]]
    return [(x1 + sizes[pair[0]][0] / 2, y1), *route, (x2 - sizes[pair[1]][0] / 2, y2)]


def _described(group: Group) -> Iterator[str]:
    """Yield the lines of text in the box of a group."""
    yield shortened(one_line(group.name), 40)
    if group.leaves:
        yield f"{group.leaves:,} {_leaves(group)}"
    most = group.operations.most_common()
    yield from (f"{count:,} {shortened(one_line(symbol), 20)}" for symbol, count in most[:8])
    if most[8:]:
        yield plural(sum(count for _, count in most[8:]), "others")
    if group.largest:
        yield f"largest gradient {short(group.largest)}"


def _leaves(group: Group) -> str:
    if group.name == "inputs":
        return "leaf" if group.leaves == 1 else "leaves"
    return "parameter" if group.leaves == 1 else "parameters"


def _unit(node: Node, name: str, is_narrow: bool) -> _Unit:
    """Measure the box of a node and the operation before it."""
    is_short = is_narrow and not node.label and bool(node.arguments)
    label = shortened(one_line(name), _LONGEST_EXPRESSION if is_short else _LONGEST_LABEL)
    numbers = [max(len(fixed(number)), 7) + 5 for number in (node.data, node.grad)]
    cells = [columns * _FONT * LETTER + 14 for columns in (max(width(label), 1), *numbers)]
    symbol = _symbol(node)
    pill = max(_PILL, width(symbol) * 13 * LETTER + 16) if node.arguments else 0.0
    ports = sum(isinstance(x, int) for x in node.arguments)
    return _Unit(label, (cells[0], cells[1], cells[2]), is_narrow, symbol, pill, min(_TALLEST, 6 + _PORT * (ports - 1)))


def _symbol(node: Node) -> str:
    """Return the symbol of the operation with the constant operands, as in `2 *` and `max(·, 0)`."""
    symbol = shortened(one_line(node.symbol), 20) or "?"
    is_table = isinstance(node.variadic, Gather)
    if is_table or len(node.arguments) > 3 or all(isinstance(x, int) for x in node.arguments):
        return symbol
    if node.row and node.row.is_operator:
        left, right = ("" if isinstance(x, int) else short(x) for x in node.arguments)
        return f"{left} {symbol} {right}".strip()
    return f"{symbol}({', '.join('·' if isinstance(x, int) else short(x) for x in node.arguments)})"


def _stroke(amount: float | None, largest: float, node: Node, position: int) -> tuple[str, str, dict[str, str]]:
    """Return the color role, width and dash pattern of the line for a gradient or contribution."""
    if position in node.non_differentiable:
        return "line", "1", {"stroke_dasharray": "2 4"}
    if amount is None or amount == 0.0:
        return "line", "1.2", {}
    if not math.isfinite(amount):
        return "ink", "2", {"stroke_dasharray": "6 3"}
    return "positive" if amount > 0 else "negative", f"{1.2 + 3.8 * math.sqrt(min(abs(amount) / largest, 1.0)):.2f}", {}


def largest_of(moment: Moment) -> float:
    """Return the largest absolute value of the finite gradients and contributions, or 0.0 if there are none."""
    numbers = [abs(x) for x in (*moment.gradients.values(), *moment.contributions.values()) if math.isfinite(x)]
    return max(numbers, default=0.0)


def _number_cells(unit: _Unit, left: float, top: float) -> tuple[Rectangle, Rectangle]:
    """Return the parts of a box for the value and the gradient."""
    start, right, bottom = left + unit.cells[0], left + unit.box, top + unit.high
    if unit.is_narrow:
        middle = top + unit.high / 2
        return Rectangle(start, top, right, middle), Rectangle(start, middle, right, bottom)
    middle = start + unit.cells[1]
    return Rectangle(start, top, middle, bottom), Rectangle(middle, top, right, bottom)


def _paint_cell(canvas: Canvas, cell: Rectangle, key: str, number: str) -> None:
    """Draw a key, such as "data", and a number into a part of a box."""
    baseline = (cell.top + cell.bottom) / 2 + _BASELINE
    canvas.text(cell.left + 7, baseline, key, "faint")
    canvas.text(cell.right - 7, baseline, number, anchor="end")


def paint_legend(canvas: Canvas, largest: float) -> None:
    """Draw a legend: sample lines for the gradients +largest, -largest and 0."""
    canvas.text(0, 4, "gradient", "faint")
    x = 70.0
    for amount, words in ((largest, f"+{short(largest)}"), (-largest, f"-{short(largest)}"), (0.0, "0")):
        role = "line" if amount == 0 else "positive" if amount > 0 else "negative"
        weight = "1.2" if amount == 0 else "5"
        canvas.path(f"M{x:g},0h26", stroke=role, stroke_width=weight)
        canvas.text(x + 32, 4, words)
        x += 46 + width(words) * _FONT * LETTER


def _rounded_right(cell: Rectangle, upper: float, lower: float) -> str:
    """Return the path of a rectangle whose right corners are rounded with two radii."""
    wide, high = cell.right - cell.left, cell.bottom - cell.top
    first, second = (
        f"a{upper:g},{upper:g} 0 0 1 {upper:g},{upper:g}",
        f"a{lower:g},{lower:g} 0 0 1 -{lower:g},{lower:g}",
    )
    start = f"M{cell.left:.1f},{cell.top:.1f}h{wide - upper:.1f}"
    return f"{start}{first}v{high - upper - lower:g}{second}h{lower - wide:.1f}z"


def _turned(layout: Layout) -> Layout:
    """Transpose a layout from left-to-right to top-to-bottom."""
    return Layout(
        tuple([(x, y) for y, x in layout.centers]),
        layout.columns,
        tuple([tuple([(x, y) for y, x in route]) for route in layout.routes]),
        layout.height,
        layout.width,
    )


def title(graph: Graph) -> str:
    """Return the title of a picture of a graph."""
    roots = ", ".join(graph.names[index] for index in graph.outputs)
    return f"How {shortened(one_line(roots), 60)} was computed: {len(graph):,} nodes"


def _node_title(node: Node, moment: Moment) -> str:
    """Return the tooltip of a node."""
    known = f" = {node.data!r}" if node.place in moment.known else ""
    gradient = moment.gradients.get(node.place)
    grad = "" if gradient is None else f", gradient {gradient!r}"
    source = f", made at {node.source}" if node.source else ""
    return f"{node.name}{known}{grad}{source}"


def _edge_title(graph: Graph, edge: tuple[int, int, int], amount: float | None) -> str:
    """Return the tooltip of an edge."""
    start, end, position = edge
    node = graph.nodes[end]
    names = f"{graph.names[start]} to {graph.names[end]}, operand {position + 1}"
    if position in node.non_differentiable:
        return f"{names}: no gradient passes"
    passed = "" if amount is None else f", contribution {amount!r}"
    return f"{names}: local derivative {node.partials[position]!r}{passed}"
