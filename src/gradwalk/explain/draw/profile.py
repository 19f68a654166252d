"""Draw a large graph without modules or repetitions as a profile: nodes and gradients by level, and operations.

The level of a node is the number of operations on the longest path from a leaf to the node.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy

from gradwalk.explain.draw.svg import LETTER, Canvas, Theme
from gradwalk.explain.text import one_line, plural, short, shortened
from gradwalk.graph.graph import Graph
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.compiled.opcodes import SYMBOLS

_MARGIN = 18.0
_LINE = 17.0
_FONT = 12.0
_PLOT = (470.0, 110.0)  # width and height of a plot
_SIDE = 300.0  # width of the lists to the right of the plots
_GAP = 44.0
_MOST_BARS = 94
_MOST_KINDS = 8
_MOST_GRADIENTS = 6
_DECADES = 6  # maximum range of the logarithmic scale of gradients
_LONGEST_NAME = 22


def paint_profile(graph: Graph, theme: Theme, title: str, hint: str) -> str:
    """Return the text of an SVG file with the profile of a graph."""
    return _Profile(graph).painted(Canvas.file(theme, title), hint)


def levels(graph: Graph) -> list[int]:
    """Return the level of each node; leaves have level 0."""
    offsets, operands = graph.offsets.tolist(), graph.operands.tolist()
    found: list[int] = []
    for node in range(len(graph)):
        given = operands[offsets[node] : offsets[node + 1]]
        found.append(1 + max([found[x] for x in given if x != CONSTANT], default=0) if given else 0)
    return found


class _Profile:
    """The numbers that a profile shows, in bars: each bar has the nodes of one or more successive levels."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        level = levels(graph)
        self._depth = max(level)
        self._per_bar = math.ceil((self._depth + 1) / _MOST_BARS)
        count = self._depth // self._per_bar + 1
        bar = [one // self._per_bar for one in level]
        self._nodes = numpy.bincount(bar, minlength=count).tolist()
        self._largest = [0.0] * count
        for place, gradient in enumerate(graph.grad.tolist()):
            if math.isfinite(gradient) and abs(gradient) > abs(self._largest[bar[place]]):
                self._largest[bar[place]] = gradient
        kinds = Counter(graph.opcodes[numpy.diff(graph.offsets) > 0].tolist())
        self._kinds = [(SYMBOLS[opcode] or "by hand", number) for opcode, number in kinds.most_common()]

    def painted(self, canvas: Canvas, hint: str) -> str:
        """Draw everything, and return the text of the file."""
        graph = self._graph
        has_gradients = any(self._largest)
        wide = 2 * _MARGIN + _PLOT[0] + _GAP + _SIDE
        high = 2 * _MARGIN + 3 * _LINE + (2 if has_gradients else 1) * (_PLOT[1] + _GAP) + 20
        canvas.rectangle(0, 0, wide, high, "paper")
        leaves = len(graph) - sum(number for _, number in self._kinds)
        counts = f"{len(graph):,} nodes, {graph.edges:,} edges, {plural(leaves, 'leaves')}, {self._depth:,} levels"
        for i, line in enumerate((counts, "no modules, samples or repeated steps were found", hint)):
            canvas.text(_MARGIN, _MARGIN + 8 + _LINE * i, line, "faint" if i else "ink")
        top = _MARGIN + 3 * _LINE + 24
        self._paint_counts(canvas, top)
        self._paint_kinds(canvas, top)
        if has_gradients:
            self._paint_gradients(canvas, top + _PLOT[1] + _GAP)
            self._paint_largest(canvas, top + _PLOT[1] + _GAP)
        return canvas.finished(wide, high)

    def _paint_counts(self, canvas: Canvas, top: float) -> None:
        """Draw the number of nodes in each bar."""
        most = max(self._nodes)
        unit = "level" if self._per_bar == 1 else f"{self._per_bar} levels"
        self._paint_axes(canvas, top, f"nodes in each {unit}, at most {most:,}")
        for i, count in enumerate(self._nodes):
            self._paint_bar(canvas, top, i, count / most, "line", self._bar_title(i, plural(count, "nodes")))

    def _paint_gradients(self, canvas: Canvas, top: float) -> None:
        """Draw the largest gradient in each bar, on a logarithmic scale."""
        sizes = [math.log10(abs(number)) for number in self._largest if number]
        high = max(sizes)
        low = max(min(sizes), high - _DECADES) - 0.25
        words = f"largest gradient, from {short(10 ** min(sizes))} to {short(10**high)}, logarithmic"
        self._paint_axes(canvas, top, words)
        for i, number in enumerate(self._largest):
            if number:
                share = max((math.log10(abs(number)) - low) / (high - low), 0.02)
                title = self._bar_title(i, f"largest gradient {number!r}")
                self._paint_bar(canvas, top, i, share, "positive" if number > 0 else "negative", title)

    def _bar_title(self, bar: int, words: str) -> str:
        first = bar * self._per_bar
        last = min(first + self._per_bar - 1, self._depth)
        return f"level {first:,}: {words}" if first == last else f"levels {first:,} to {last:,}: {words}"

    def _paint_axes(self, canvas: Canvas, top: float, words: str) -> None:
        wide, high = _PLOT
        canvas.text(_MARGIN, top - 6, words, "ink")
        canvas.path(f"M{_MARGIN:g},{top + high:g}h{wide:g}", stroke="line", stroke_width="1")
        canvas.text(_MARGIN, top + high + 15, "leaves", "faint")
        canvas.text(_MARGIN + wide, top + high + 15, f"level {self._depth:,}: the result", "faint", "end")

    def _paint_bar(self, canvas: Canvas, top: float, bar: int, share: float, role: str, title: str) -> None:
        wide = _PLOT[0] / len(self._nodes)
        high = max(share * (_PLOT[1] - 8), 1.0)
        group = canvas.group(title)
        group.rectangle(_MARGIN + bar * wide, top + _PLOT[1] - high, max(wide - 1, 0.6), high, role)

    def _paint_kinds(self, canvas: Canvas, top: float) -> None:
        """Draw the number of operations of each kind."""
        left = _MARGIN + _PLOT[0] + _GAP
        canvas.text(left, top - 6, "operations", "ink")
        rest = sum(number for _, number in self._kinds[_MOST_KINDS:])
        rows = [*self._kinds[:_MOST_KINDS], *([("others", rest)] if rest else [])]
        most = max((number for _, number in rows), default=1)
        for i, (symbol, number) in enumerate(rows):
            y = top + 14 + 14 * i
            canvas.text(left + 70, y, shortened(one_line(symbol), 9), "faint", "end")
            long = (_SIDE - 130) * number / most
            canvas.rectangle(left + 78, y - 9, max(long, 1.0), 10, "line", radius=2)
            canvas.text(left + 84 + long, y, f"{number:,}", "faint")

    def _paint_largest(self, canvas: Canvas, top: float) -> None:
        """Draw the names of the nodes with the largest gradients; the root is left out, as its gradient is 1."""
        left = _MARGIN + _PLOT[0] + _GAP
        for i, (words, number) in enumerate(self._list()):
            y = top - 6 + _LINE * i
            canvas.text(left, y, words, "ink" if i == 0 else "faint")
            if number:
                x = left + _SIDE - 8 * _FONT * LETTER
                canvas.rectangle(x - 16, y - 9, 10, 10, "positive" if number > 0 else "negative", radius=2)
                canvas.text(x, y, short(number))

    def _list(self) -> Sequence[tuple[str, float]]:
        """Return the lines of the list of the largest gradients, each with a gradient, or 0 for the heading."""
        graph = self._graph
        is_leaf = numpy.diff(graph.offsets) == 0
        size = numpy.where(numpy.isfinite(graph.grad), numpy.abs(graph.grad), 0.0)
        size[list(graph.outputs)] = 0.0
        order = numpy.argsort(-size, kind="stable")[:_MOST_GRADIENTS].tolist()
        lines = [
            (
                f"{shortened(one_line(graph.names[i]), _LONGEST_NAME)}{' (leaf)' if is_leaf[i] else ''}",
                float(graph.grad[i]),
            )
            for i in order
            if size[i]
        ]
        return [("largest gradients", 0.0), *lines]
