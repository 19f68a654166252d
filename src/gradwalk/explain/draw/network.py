"""Draws a large graph as boxes: layers with their neurons and parameters, inputs, and the operations between them."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradwalk.explain.draw.descriptions import Descriptions
from gradwalk.explain.draw.layout import Point, layered
from gradwalk.explain.draw.rows import Detour, in_rows, rounded
from gradwalk.explain.draw.svg import LETTER, Canvas, Theme, arrowhead, curve
from gradwalk.explain.findings.find import findings
from gradwalk.explain.text import one_line, plural, short, shortened, sparkline, width
from gradwalk.graph.boxes import Box, Boxes, Cell, Links
from gradwalk.graph.graph import Graph

_MARGIN = 18.0
_LINE = 16.0  # line height of text
_FONT = 12.0
_GAP = 64.0  # distance between columns of boxes
_PAD = 12.0  # distance between the border of a box and its contents
_ROW = 24.0  # height of a cell
_DOT = 8.0  # radius of a neuron
_SQUARE = 9.0  # size of a parameter
_CARRY = 20.0  # room below a box for the arrow to the next step
_MAX_CELLS = 16
_FEW_CELLS = 8  # maximum number of cells of a box in a picture of many boxes
_MAX_DRAWN = 2000  # a graph of more nodes takes too long to lay out node by node
_MANY_BOXES = 6
_MAX_COLUMNS = 16  # maximum number of parameters in a row
_MAX_NAME = 14  # maximum length of the name of an input
_LONGEST_VARIABLES = 26  # characters
_MAX_FINDING_LINES = 2  # maximum number of lines of the caption about the most serious finding
_NARROW_GAP = 40.0  # distance between columns of boxes in a wide picture
_WIDEST = 1164.0  # maximum width of a picture with a single row, without margins
_WIDEST_ROW = 1100.0  # maximum width of one of several rows, if possible
_LONGEST_LINE = 24  # maximum number of characters of a line of gradients
_SYMBOLS = "square, line: parameter; circle: output"


@dataclass(frozen=True)
class _Shape:
    """The texts and sizes of a box.

    Attributes:
        title: The first line of text.
        lines: The other lines of text.
        results: The number of these lines, at the end, that show results of the graph.
        names: The texts to the left of the cells, such as names of inputs.
        rows: The number of cells that are drawn.
        columns: The number of parameters that are drawn in each row.
        size: The width and height of the box.
    """

    title: str
    lines: list[str]
    results: int
    names: list[str]
    rows: int
    columns: int
    size: tuple[float, float]

    @property
    def top(self) -> float:
        """Distance from the top of the box to its cells."""
        return _PAD + _LINE * (1 + len(self.lines)) + 4


def paint_network(graph: Graph, boxes: Boxes, theme: Theme, title: str) -> str:
    """Return the text of an SVG file that shows the boxes of a graph."""
    return _Picture(graph, boxes).painted(Canvas.file(theme, title))


def paint_overview(graph: Graph, boxes: Boxes) -> str:
    """Return the text of an SVG file with the boxes alone, for the page, which colors and explains them itself."""
    return _Picture(graph, boxes).bare(Canvas.file("light", ""))


def described(box: Box) -> str:
    """Describe a box in one line: "layers.0: 4 neurons, 12 parameters"."""
    return f"{box.name}: {', '.join(_counts(box))}" if list(_counts(box)) else box.name


def hint(graph: Graph) -> str:
    """Return how to see the nodes of a graph that is drawn as boxes."""
    if len(graph) <= _MAX_DRAWN:
        return f"draw(root, max_nodes={len(graph)}) shows every node"
    return "draw(x, max_nodes=2000) of an intermediate Value x shows the nodes that lead to it"


def _counts(box: Box) -> Iterator[str]:
    """Yield the number of neurons and parameters of a box."""
    if box.kind == "module" and box.cells:
        yield plural(len(box.cells), box.unit)
    leaves = len(box.leaves) if box.kind != "inputs" else len(box.cells)
    if leaves and box.kind != "operations":
        yield plural(leaves, "inputs" if box.kind == "inputs" else "parameters")


class _Picture:
    """A picture of boxes."""

    def __init__(self, graph: Graph, boxes: Boxes) -> None:
        self._graph = graph
        self._all = boxes
        self._boxes, self._edges, self._links = _with_constants(boxes)
        self._descriptions = Descriptions(graph, self._boxes, boxes.grouping, is_network=boxes.is_network)
        crowded = sum(len(box.cells) > _FEW_CELLS for box in self._boxes) >= _MANY_BOXES
        self._max_cells = _FEW_CELLS if crowded else _MAX_CELLS
        self._has_gradients = bool(graph.grad.any())
        self._numbers = graph.grad if self._has_gradients else graph.data
        self._shapes = [self._shape(box) for box in self._boxes]
        self._sizes = [shape.size for shape in self._shapes]
        self._pairs = [(start, end) if start < end else (end, start) for start, end in self._edges]
        room = [self._room(box, size) for box, size in zip(self._boxes, self._sizes, strict=True)]
        layout = layered(room, self._pairs, _GAP)
        if layout.width > _WIDEST:
            layout = layered(room, self._pairs, _NARROW_GAP)
        rows = in_rows(layout, room, self._pairs, _WIDEST if layout.width <= _WIDEST else _WIDEST_ROW)
        self._layout, self._detours = rows.layout, rows.detours
        leaves = [leaf for box in self._boxes for leaf in box.leaves]
        outputs = [cell.output for box in self._boxes for cell in box.cells if cell.output >= 0]
        self._largest = self._largest_of([*leaves, *outputs])

    def _room(self, box: Box, size: tuple[float, float]) -> tuple[float, float]:
        """Return the size of a box with the arrow to the next step and the words below it."""
        if not box.carries:
            return size
        wide = max(size[0] + 2 * _CARRY, width(self._descriptions.carried(box)) * _FONT * LETTER)
        return wide, size[1] + 2 * (_CARRY + _LINE)

    def painted(self, canvas: Canvas) -> str:
        """Draw everything, and return the text of the file."""
        lines = list(self._captions())
        texts = [*lines, self._legend()]
        inside = max(self._layout.width, *(width(line) * _FONT * LETTER for line in texts))
        lines += self._finding_lines(inside)
        head = _LINE * len(lines) + 10
        wide = inside + 2 * _MARGIN
        high = self._layout.height + 2 * _MARGIN + head + 2 * _LINE + 8
        canvas.rectangle(0, 0, wide, high, "paper")
        for i, line in enumerate(lines):
            canvas.text(_MARGIN, _MARGIN + 8 + _LINE * i, line, "ink" if i == 0 else "faint")
        self._paint_body(canvas, _MARGIN + head)
        self._paint_legend(canvas, high - _MARGIN)
        return canvas.finished(wide, high)

    def bare(self, canvas: Canvas) -> str:
        """Draw the boxes and edges, and return the text of the file."""
        self._paint_body(canvas, _MARGIN)
        return canvas.finished(self._layout.width + 2 * _MARGIN, self._layout.height + 2 * _MARGIN)

    def _paint_body(self, canvas: Canvas, top: float) -> None:
        """Draw the boxes and edges."""
        body = canvas.group(transform=f"translate({_MARGIN:g},{top:g})")
        for i, box in enumerate(self._boxes):
            self._paint_box(body, i, box)
        for number, (edge, pair) in enumerate(zip(self._edges, self._pairs, strict=True)):
            if number in self._detours:
                self._paint_detour(body, edge, pair, self._detours[number])
            else:
                self._paint_edge(body, edge, pair, self._layout.routes[number])

    def _captions(self) -> Iterator[str]:
        """Yield the lines above the picture: how much of the graph it shows."""
        groups = self._all.grouping
        count = f"{len(self._graph):,} nodes"
        if groups.count:
            yield f"{count}: 1 of {groups.count:,} {groups.kind} is shown"
        else:
            yield f"{count}, drawn by module"
        yield hint(self._graph)

    def _finding_lines(self, inside: float) -> list[str]:
        """Return the most serious finding as lines of a given width; no lines if it does not fit in two."""
        found = findings(self._graph)
        if not found:
            return []
        more = f" And {plural(len(found) - 1, 'more findings')}." if found[1:] else ""
        lines = textwrap.wrap(f"Look: {found[0].sentence}{more}", int(inside / _FONT / LETTER))
        return lines if len(lines) <= _MAX_FINDING_LINES else []

    def _legend(self) -> str:
        what = "gradient" if self._has_gradients else "value"
        symbols = _SYMBOLS if self._all.is_network else ""
        return f"{what}       +{short(self._largest)}       -{short(self._largest)}     {symbols}"

    def _paint_legend(self, canvas: Canvas, y: float) -> None:
        """Draw the meaning of the colors."""
        if not self._largest:
            return
        what = "gradient" if self._has_gradients else "value"
        canvas.text(_MARGIN, y, what, "faint")
        x = _MARGIN + (len(what) + 1.5) * _FONT * LETTER
        for role, sign in (("positive", "+"), ("negative", "-")):
            words = f"{sign}{short(self._largest)}"
            canvas.rectangle(x, y - 9, 10, 10, role, radius=2)
            canvas.text(x + 16, y, words)
            x += 40 + len(words) * _FONT * LETTER
        if self._all.is_network:
            canvas.text(x, y, _SYMBOLS, "faint")

    def _largest_of(self, indices: Sequence[int]) -> float:
        """Return the largest absolute value of the colored numbers."""
        numbers = [abs(x) for x in self._numbers[list(indices)].tolist() if math.isfinite(x)] if indices else []
        return max(numbers, default=0.0)

    def _shape(self, box: Box) -> _Shape:
        """Measure a box."""
        title = shortened(one_line(box.name), 30)
        results = list(self._results(box))
        said = self._descriptions
        lines = [
            *self._alike(box),
            *_counts(box),
            *said.use(box),
            *self._variables(box),
            *said.computation(box),
            *results,
        ]
        rows, columns, names = 0, 0, []
        cells_wide = 0.0
        if box.cells:
            rows = min(len(box.cells), self._max_cells)
            columns = min(max(len(cell.parameters) for cell in box.cells), _MAX_COLUMNS)
            names = [self._cell_text(box, cell) for cell in box.cells[:rows]]
            cells_wide = columns * _SQUARE + 2 * _DOT + 8 + _name_width(names)
        elif box.parameters:
            columns = min(math.ceil(math.sqrt(len(box.parameters))), _MAX_COLUMNS)
            rows = math.ceil(min(len(box.parameters), _MAX_COLUMNS**2) / columns)
            cells_wide = columns * _SQUARE
        text_wide = max(width(title), *(width(line) for line in lines), 1) * _FONT * LETTER
        more = _LINE if len(box.cells) > self._max_cells else 0.0
        row = _ROW if box.cells else _SQUARE
        high = _PAD + _LINE * (1 + len(lines)) + (rows * row + more + 6 if rows else 0.0) + 4
        return _Shape(title, lines, len(results), names, rows, columns, (max(text_wide, cells_wide) + 2 * _PAD, high))

    def _alike(self, box: Box) -> Iterator[str]:
        """Yield the number of equal parts that a box shows, and the largest gradient or value of each part."""
        if not box.alike:
            return
        yield f"{len(box.alike):,} {box.part} like this"
        largest = [self._largest_of(leaves) for leaves in box.alike if leaves]
        if len(largest) > _FEW_CELLS:
            count = min(len(largest), _LONGEST_LINE)
            yield f"{'gradients' if self._has_gradients else 'values'} {largest[0]:.3g} … {largest[-1]:.3g}"
            yield sparkline([largest[i * (len(largest) - 1) // (count - 1)] for i in range(count)])

    def _variables(self, box: Box) -> Iterator[str]:
        """Yield the variables that hold the parameters of a box, such as "W, b" for `W[0][1]` and `b[0]`."""
        if box.kind in ("module", "parameters"):
            labels = [self._graph.labels.get(leaf, "") for leaf in box.leaves]
            names = dict.fromkeys(label.partition("[")[0] for label in labels if "[" in label)
            if names:
                yield shortened(one_line(", ".join(names)), _LONGEST_VARIABLES)

    def _results(self, box: Box) -> Iterator[str]:
        """Yield the outputs of the graph that the box computes, such as "loss = 0.93"."""
        for output in self._graph.outputs:
            if output in box.nodes and len(self._graph.outputs) == 1:
                name = self._graph.labels.get(output, "result")
                yield f"{shortened(one_line(name), _MAX_NAME)} = {short(self._graph.data[output])}"

    def _cell_text(self, box: Box, cell: Cell) -> str:
        """Return the text beside an input: its label, or its number."""
        if box.kind != "inputs":
            return ""
        if cell.output < 0:
            return cell.name
        return shortened(one_line(self._graph.labels.get(cell.output, short(self._graph.data[cell.output]))), _MAX_NAME)

    # Boxes

    def _paint_box(self, canvas: Canvas, number: int, box: Box) -> None:
        """Draw a box with its texts, neurons and parameters. A box that is repeated has a second border behind it."""
        (x, y), shape = self._layout.centers[number], self._shapes[number]
        w, h = shape.size
        left, top = x - w / 2, y - h / 2
        group = canvas.group(described(box), **_places("box", [*box.nodes, *box.leaves]))
        if box.alike:
            group.rectangle(left + 8, top + 8, w, h, "paper", "line", 6, stroke_width="1")
        if box.is_repeated or box.alike:
            group.rectangle(left + 4, top + 4, w, h, "paper", "line", 6, stroke_width="1")
        group.rectangle(left, top, w, h, "box", "line", 6, stroke_width="1.2")
        if box.carries:
            self._paint_carry(group, box, (left, top, w, h))
        group.text(left + _PAD, top + _PAD + 8, shape.title, font_weight="bold")
        for i, line in enumerate(shape.lines):
            is_result = i >= len(shape.lines) - shape.results
            place = _places("node", self._graph.outputs if is_result else ())
            group.text(left + _PAD, top + _PAD + 8 + _LINE * (i + 1), line, "ink" if is_result else "faint", **place)
        if box.cells:
            for row, cell in enumerate(box.cells[: shape.rows]):
                self._paint_cell(group, number, row, cell)
            if len(box.cells) > shape.rows:
                words = f"… {len(box.cells) - shape.rows:,} more"
                group.text(x, top + shape.top + shape.rows * _ROW + 10, words, "faint", "middle")
        else:
            for i, leaf in enumerate(box.parameters[: shape.rows * shape.columns]):
                row, column = divmod(i, shape.columns)
                start = x - shape.columns * _SQUARE / 2
                self._paint_square(group, leaf, start + column * _SQUARE, top + shape.top + row * _SQUARE)

    def _paint_carry(self, canvas: Canvas, box: Box, sides: tuple[float, float, float, float]) -> None:
        """Draw an arrow below a box, from its right to its left side: results that the next step uses."""
        left, top, w, h = sides
        group = canvas.group(f"{plural(box.carries, 'edges')} to the next step")
        y, low = top + h - 12, top + h + 14
        down = low - y - 16
        right = f"M{left + w:.1f},{y:.1f}h6q8,0 8,8v{down:.1f}q0,8 -8,8"
        commands = f"{right}H{left - 10:.1f}q-8,0 -8,-8v{-down:.1f}q0,-8 8,-8h10"
        group.path(commands, stroke="line", stroke_width="1.2")
        group.path(arrowhead((left, y), False, 1.2), fill="line")
        group.text(left + w / 2, low + _LINE, self._descriptions.carried(box), "faint", "middle")

    def _paint_cell(self, canvas: Canvas, number: int, row: int, cell: Cell) -> None:
        """Draw a neuron: its parameters as squares, and its output as a circle."""
        shape = self._shapes[number]
        (left, y), (x, _) = self._ends_of(number, row)
        group = canvas.group(self._cell_title(cell))
        for column, leaf in enumerate(cell.parameters[: shape.columns]):
            self._paint_square(group, leaf, left + 4 + column * _SQUARE, y - _SQUARE / 2)
        if shape.names[row]:
            is_number = cell.output >= 0 and cell.output not in self._graph.labels
            place = _places("node", [cell.output] if is_number else ())
            group.text(x - 2 * _DOT - 6, y + 4, shape.names[row], "ink", "end", **place)
        if cell.output < 0 and cell.parameters:
            return
        group.rectangle(x - 2 * _DOT, y - _DOT, 2 * _DOT, 2 * _DOT, "paper", radius=_DOT)
        if cell.output >= 0:
            role, opacity = self._color(cell.output)
            place = {"fill_opacity": opacity, **_places("node", [cell.output])}
            group.rectangle(x - 2 * _DOT, y - _DOT, 2 * _DOT, 2 * _DOT, role, radius=_DOT, **place)
        group.rectangle(x - 2 * _DOT, y - _DOT, 2 * _DOT, 2 * _DOT, "", "ink", _DOT, stroke_width="1.2")

    def _paint_square(self, canvas: Canvas, leaf: int, x: float, y: float) -> None:
        """Draw a parameter."""
        role, opacity = self._color(leaf)
        size = _SQUARE - 1
        group = canvas.group(self._title(self._graph.names[leaf], leaf))
        group.rectangle(x, y, size, size, "operation", radius=1)
        group.rectangle(x, y, size, size, role, radius=1, fill_opacity=opacity, **_places("node", [leaf]))

    def _color(self, index: int) -> tuple[str, str]:
        """Return the role and the opacity of the color of a node's gradient or value; no role for 0 and nan."""
        number = float(self._numbers[index])
        if not self._largest or not number or math.isnan(number):
            return "", "0"
        share = 0.15 + 0.85 * math.sqrt(min(abs(number) / self._largest, 1.0))
        return "positive" if number > 0 else "negative", f"{share:.2f}"

    def _cell_title(self, cell: Cell) -> str:
        if cell.output < 0:
            return cell.name
        return self._title(cell.name, cell.output)

    def _title(self, name: str, index: int) -> str:
        """Return the tooltip of a node."""
        return f"{name} = {float(self._graph.data[index])!r}, gradient {float(self._graph.grad[index])!r}"

    def _ends_of(self, number: int, row: int) -> tuple[Point, Point]:
        """Return the points to the left and to the right of a cell."""
        (x, y), shape = self._layout.centers[number], self._shapes[number]
        top = y - shape.size[1] / 2 + shape.top
        wide = shape.columns * _SQUARE + 2 * _DOT + 8 + _name_width(shape.names)
        level = top + (row + 0.5) * _ROW
        return (x - wide / 2, level), (x + wide / 2, level)

    # Edges

    def _paint_edge(self, canvas: Canvas, edge: tuple[int, int], pair: tuple[int, int], route: Sequence[Point]) -> None:
        """Draw the edges between two boxes: a line for each pair of connected neurons, or one line for all edges."""
        start, end = pair
        count = self._edges[edge]
        is_back = edge != pair
        group = canvas.group(plural(count, "edges") + ", leading back" * is_back)
        first, last = self._boxes[start], self._boxes[end]
        links = self._links.get(edge, {})
        lines = sorted(pair for pair in links if max(pair) < self._max_cells)
        if lines and not is_back and (first.cells or last.cells) and not (route and len(lines) > 1):
            for a, b in sorted(lines, key=lambda pair: self._size_of(links[pair])):  # large gradients on top
                tail = self._ends_of(start, a)[1] if first.cells else self._side(start, 1)
                tip = self._ends_of(end, b)[0] if last.cells else self._side(end, -1)
                self._paint_line(
                    group, (self._side(start, 1)[0], self._side(end, -1)[0]), [tail, *route, tip], links[a, b]
                )
            return
        points = [self._side(start, 1), *route, self._side(end, -1)]
        dash = {"stroke_dasharray": "5 4"} if is_back else {}
        weight = f"{1 + math.log10(count) / 2:.1f}"
        group.path(curve(points, downward=False), stroke="line", stroke_width=weight, **dash)
        if not is_back:
            group.path(arrowhead(points[-1], False, float(weight)), fill="line")

    def _paint_detour(self, canvas: Canvas, edge: tuple[int, int], pair: tuple[int, int], detour: Detour) -> None:
        """Draw the edges between two boxes of different rows as one line."""
        start, end = pair
        group = canvas.group(plural(self._edges[edge], "edges") + ", leading back" * (edge != pair))
        tip = self._side(end, -1)
        paths = [
            curve([self._side(start, 1), *detour.before, detour.corners[0]], downward=False),
            rounded(detour.corners),
            curve([detour.corners[-1], *detour.after, tip], downward=False),
        ]
        dash = {"stroke_dasharray": "5 4"} if edge != pair else {}
        weight = f"{1 + math.log10(self._edges[edge]) / 2:.1f}"
        group.path("".join(paths), stroke="line", stroke_width=weight, **dash)
        if edge == pair:
            group.path(arrowhead(tip, False, float(weight)), fill="line")

    def _paint_line(self, canvas: Canvas, sides: tuple[float, float], points: list[Point], leaf: int) -> None:
        """Draw one line between two neurons, straight between the sides of the boxes, in the color of its weight."""
        (x1, y1), (x2, y2) = points[0], points[-1]
        role, opacity = self._color(leaf) if leaf >= 0 else ("", "")
        if role:
            stroke = {"stroke": role, "stroke_opacity": opacity, "stroke_width": f"{0.6 + 2 * self._size_of(leaf):.1f}"}
        else:
            stroke = {"stroke": "line", "stroke_width": "0.8"}
        stroke |= _places("node", [leaf] if leaf >= 0 else ())
        if len(points) == 2:
            canvas.path(f"M{x1:.1f},{y1:.1f}H{sides[0]:.1f}L{sides[1]:.1f},{y2:.1f}H{x2:.1f}", **stroke)
        else:
            canvas.path(curve(points, downward=False), **stroke)

    def _size_of(self, leaf: int) -> float:
        """Return the absolute value of a leaf's gradient or value, relative to the largest."""
        number = abs(float(self._numbers[leaf])) if leaf >= 0 and self._largest else 0.0
        return min(number / self._largest, 1.0) if number else 0.0

    def _side(self, number: int, side: int) -> Point:
        """Return the middle of the left (-1) or right (1) border of a box."""
        x, y = self._layout.centers[number]
        return x + side * self._sizes[number][0] / 2, y


def _places(kind: str, indices: Sequence[int]) -> dict[str, str]:
    """Return an attribute with the first of some nodes, by which the page finds the element; {} without nodes."""
    return {f"data-{kind}": str(indices[0])} if indices else {}


def _name_width(names: Sequence[str]) -> float:
    longest = max(map(width, names), default=0)
    return longest * _FONT * LETTER + 6 if longest else 0.0


_Edges = Counter[tuple[int, int]]
_Links = dict[tuple[int, int], Links]


def _with_constants(boxes: Boxes) -> tuple[list[Box], _Edges, _Links]:
    """Add a box for inputs that are plain numbers: constants that each neuron of a first layer multiplies."""
    found, edges, links = list(boxes.boxes), Counter(boxes.edges), dict(boxes.links)
    first = [
        i for i, box in enumerate(found) if box.cells and box.kind == "module" and not any(e == i for _, e in edges)
    ]
    if len(first) != 1:
        return found, edges, links
    cells = found[first[0]].cells
    constants = [number for number, _ in cells[0].constants]
    if not constants or any([number for number, _ in cell.constants] != constants for cell in cells):
        return found, edges, links
    inputs = [Cell(short(number)) for number in constants]
    box = Box("inputs", "inputs", is_repeated=found[first[0]].is_repeated, cells=inputs)
    edges = Counter({(start + 1, end + 1): count for (start, end), count in edges.items()})
    links = {(start + 1, end + 1): pairs for (start, end), pairs in links.items()}
    pair = 0, first[0] + 1
    edges[pair] = len(constants) * len(cells)
    links[pair] = {(i, j): leaf for j, cell in enumerate(cells) for i, (_, leaf) in enumerate(cell.constants)}
    return [box, *found], edges, links
