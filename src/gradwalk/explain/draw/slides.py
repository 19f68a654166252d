"""`Slides`: the pictures of a film, 960 by 540, with text of at least 14 pixels.

If a graph is too large for a slide, each slide shows the part of the graph in which the step takes place, and the last
slide shows the whole graph.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from gradwalk.explain.draw.diagram import Moment, Rectangle, Scene, largest_of, paint_legend
from gradwalk.explain.draw.svg import LETTER, Canvas
from gradwalk.explain.text import one_line
from gradwalk.graph.graph import Graph

SIZE = (960.0, 540.0)
_MARGIN = 20.0
_CAPTION_FONT = 18
_CAPTION_LINE = 25.0
_MAX_LINES = 3  # maximum number of lines of a caption
_TOP = 104.0  # of the graph
_BOTTOM = 486.0
_SMALLEST_TEXT, _TEXT = 14.0, 12.0  # font size on a slide and in a scene
_LARGEST_SCALE = 2.0
_GAPS = (54.0, 36.0, 26.0)  # distances between layers, the preferred one first
_BORDER = 2.0  # distance between the graph and the border of the visible part
_ROOM = 16.0  # distance between the step and the border of the visible part

_View = tuple[float, float, float, float]  # x, y, width, height


class Slides:
    """The slides of a film: one for each moment."""

    def __init__(self, graph: Graph, moments: Sequence[Moment]) -> None:
        self._graph = graph
        self._moments = moments
        self._largest = max(largest_of(moment) for moment in moments)
        self._place = (_MARGIN, _TOP, SIZE[0] - 2 * _MARGIN, _BOTTOM - _TOP)
        self._scene = self._readable_scene()
        self._views = self._moving_views()

    def paint(self, canvas: Canvas, number: int) -> None:
        """Draw a slide."""
        moment = self._moments[number]
        canvas.rectangle(0, 0, *SIZE, "paper")
        columns = int((SIZE[0] - 2 * _MARGIN) / _CAPTION_FONT / LETTER)
        lines = textwrap.wrap(one_line(moment.caption), columns, max_lines=_MAX_LINES, placeholder=" …")
        for i, line in enumerate(lines):
            y = _MARGIN + _CAPTION_FONT + _CAPTION_LINE * i
            canvas.text(_MARGIN, y, line, font_weight="bold", font_size=str(_CAPTION_FONT))
        x, y, w, h = view = self._views[number]
        visible = Rectangle(x, y, x + w, y + h)
        self._scene.paint_graph(canvas.window(self._place, view), moment, self._largest, visible)
        if self._largest:
            scale = _SMALLEST_TEXT / _TEXT
            legend = canvas.group(transform=f"translate({_MARGIN:g},{SIZE[1] - 26:g}) scale({scale:.4f})")
            paint_legend(legend, self._largest)

    def _readable_scene(self) -> Scene:
        """Return the first layout that fits, or the layout that fits best."""
        scenes = [Scene(self._graph, rankdir, gap) for rankdir in ("LR", "TB") for gap in _GAPS]
        return max(scenes, key=lambda scene: min(self._fitting_scale(scene), _SMALLEST_TEXT / _TEXT))

    def _fitting_scale(self, scene: Scene) -> float:
        """Return the scale at which a whole scene fits on a slide."""
        wide, high = scene.size
        return min(self._place[2] / (wide + 2 * _BORDER), self._place[3] / (high + 2 * _BORDER))

    def _moving_views(self) -> list[_View]:
        """Return the visible part of the graph for each slide. It moves only if a step would not be visible."""
        fitting = self._fitting_scale(self._scene)
        scale = min(max(fitting, _SMALLEST_TEXT / _TEXT), _LARGEST_SCALE)
        (wide, high), size = self._scene.size, (self._place[2] / scale, self._place[3] / scale)
        if fitting >= scale:
            view = (wide - size[0]) / 2, (high - size[1]) / 2, *size
            return [view] * len(self._moments)
        views: list[_View] = []
        corner = (-_BORDER, (high - size[1]) / 2)
        for moment in self._moments:
            step = self._step_box(moment, size)
            corner = (
                _moved(corner[0], size[0], (step.left - _ROOM, step.right + _ROOM), wide),
                _moved(corner[1], size[1], (step.top - _ROOM, step.bottom + _ROOM), high),
            )
            views.append((*corner, *size))
        whole = self._place[2] / fitting, self._place[3] / fitting
        views[-1] = (wide - whole[0]) / 2, (high - whole[1]) / 2, *whole
        return views

    def _step_box(self, moment: Moment, size: tuple[float, float]) -> Rectangle:
        """Return the rectangle of a step's node and its operands, or of the node alone if they do not fit."""
        active = self._graph.root if moment.active is None else moment.active
        box = self._scene.box_around([active, *self._graph.nodes[active].operands])
        if box.right - box.left + 2 * _ROOM <= size[0] and box.bottom - box.top + 2 * _ROOM <= size[1]:
            return box
        return self._scene.box_around([active])


def _moved(start: float, length: float, wanted: tuple[float, float], whole: float) -> float:
    """Return the start of an interval that contains the wanted interval: its old start, or the wanted one centered."""
    if length >= whole + 2 * _BORDER:
        return (whole - length) / 2
    if start <= max(wanted[0], -_BORDER) and min(wanted[1], whole + _BORDER) <= start + length:
        return start
    return min(max((wanted[0] + wanted[1] - length) / 2, -_BORDER), whole + _BORDER - length)
