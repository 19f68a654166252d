"""`Canvas`: writes an SVG file element by element.

Colors are named by roles, such as "positive". A light or dark theme defines the color of each role.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement
from zlib import crc32

from gradwalk.explain.text import one_line

Theme = Literal["auto", "light", "dark"]

# Blue and orange can be distinguished with any kind of color vision, and both contrast with the background.
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "faint": "#636b78",
    "line": "#8b95a3",
    "box": "#f7f8fa",
    "operation": "#e6eaf0",
    "positive": "#0067b0",
    "negative": "#bd4b00",
    "active": "#e0a800",
}
DARK = {
    "paper": "#15181d",
    "ink": "#e8eaed",
    "faint": "#9aa3af",
    "line": "#6c7683",
    "box": "#20252c",
    "operation": "#323b47",
    "positive": "#5bb4ff",
    "negative": "#ff9a4d",
    "active": "#ffd54d",
}
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
LETTER = 0.602  # width of a character in these fonts, relative to the font size
SCOPE = "gradwalk-scope"  # placeholder for a class name that is unique to the file: a page may contain many files
# Without these attributes, text would inherit them from the surrounding page.
_TEXT = {
    "direction": "ltr",
    "letter-spacing": "0",
    "word-spacing": "0",
    "font-weight": "normal",
    "font-style": "normal",
}


class Canvas:
    """An SVG element to draw into: the root of a file, or a group. `palette` maps color roles to colors."""

    def __init__(self, element: Element, palette: dict[str, str]) -> None:
        self.element = element
        self._palette = palette

    @classmethod
    def file(cls, theme: Theme, title: str) -> Canvas:
        """Create an empty SVG file with a title for screen readers."""
        palette = DARK if theme == "dark" else LIGHT
        root = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "class": SCOPE, "role": "img"})
        for name, value in {"font-family": FONT, "font-size": "12", **_TEXT}.items():
            root.set(name, value)
        SubElement(root, "title").text = one_line(title)
        if theme == "auto":
            SubElement(root, "style").text = f"@media (prefers-color-scheme: dark) {{ {_rules(DARK)} }}"
        return cls(root, palette)

    def group(self, title: str = "", **attributes: str) -> Canvas:
        """Add a group of elements with `title` as tooltip ("" for none). Return a canvas that draws into this group."""
        element = SubElement(self.element, "g", attributes)
        if title:
            SubElement(element, "title").text = one_line(title)
        return Canvas(element, self._palette)

    def window(
        self, place: tuple[float, float, float, float], view: tuple[float, float, float, float], title: str = ""
    ) -> Canvas:
        """Add a rectangle that shows a part of a drawing, enlarged. Return a canvas for this drawing.

        Both rectangles are given as x, y, width and height: `place` on this canvas, and `view` in the drawing.
        """
        names = ("x", "y", "width", "height")
        group = self.group(title, **dict(zip(names, map(_number, place), strict=True)))
        group.element.tag = "svg"
        group.element.set("viewBox", " ".join(map(_number, view)))
        return group

    def move(self, x: float, y: float) -> None:
        """Move the origin of a group to (x, y)."""
        self.element.set("transform", f"translate({_number(x)},{_number(y)})")

    def style(self, rules: str) -> None:
        """Add CSS rules for the whole file."""
        SubElement(self.element, "style").text = rules

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str,
        stroke: str = "",
        radius: float = 0,
        **more: str,
    ) -> None:
        """Add a rectangle with its upper left corner at (x, y).

        `fill` and `stroke` are color roles, or "" for none; `radius` is the corner radius. `more` are further SVG
        attributes; write _ for - in their names.
        """
        attributes = {"x": _number(x), "y": _number(y), "width": _number(width), "height": _number(height)}
        if radius:
            attributes["rx"] = _number(radius)
        self._add("rect", attributes | more, fill, stroke)

    def path(self, commands: str, fill: str = "", stroke: str = "", **more: str) -> None:
        """Add a path with SVG path commands, such as the result of `curve`; for the other arguments see `rectangle`."""
        self._add("path", {"d": commands} | more, fill, stroke)

    def text(self, x: float, y: float, text: str, fill: str = "ink", anchor: str = "start", **more: str) -> None:
        """Add one line of text with the baseline at y and its `anchor` ("start", "middle" or "end") at x."""
        attributes = {"x": _number(x), "y": _number(y), "text-anchor": anchor}
        self._add("text", attributes | more, fill, "").text = one_line(text)

    def finished(self, width: float, height: float) -> str:
        """Set the size of the drawing, and return the text of the file, in which the class name is unique."""
        self.element.set("viewBox", f"0 0 {_number(width)} {_number(height)}")
        self.element.set("width", _number(width))
        self.element.set("height", _number(height))
        text = ElementTree.tostring(self.element, encoding="unicode")
        return text.replace(SCOPE, f"gradwalk-{crc32(text.encode(errors='replace')):08x}")

    def _add(self, tag: str, attributes: dict[str, str], fill: str, stroke: str) -> Element:
        """Add an element whose fill and stroke are color roles."""
        element = SubElement(self.element, tag, {name.replace("_", "-"): v for name, v in attributes.items()})
        element.set("fill", self._palette[fill] if fill else "none")
        classes = [f"fill-{fill}"] if fill else []
        if stroke:
            element.set("stroke", self._palette[stroke])
            classes.append(f"stroke-{stroke}")
        if classes:
            element.set("class", " ".join(classes))
        return element


def curve(points: Sequence[tuple[float, float]], downward: bool, bow: float = 0.0) -> str:
    """Return the SVG commands of a smooth path through at least two points.

    At each point the path is horizontal, or vertical if `downward` is true.

    `bow` is a sideways displacement of the second-to-last segment, which lies between two layers.
    """
    commands = [f"M{_number(points[0][0])},{_number(points[0][1])}"]
    for i, ((x1, y1), (x2, y2)) in enumerate(pairwise(points)):
        aside = bow if i == len(points) - 3 else 0.0
        if downward:
            middle = (y1 + y2) / 2
            controls = [(x1 + aside, middle), (x2 + aside, middle)]
        else:
            middle = (x1 + x2) / 2
            controls = [(middle, y1 + aside), (middle, y2 + aside)]
        commands.append("C" + " ".join(f"{_number(x)},{_number(y)}" for x, y in (*controls, (x2, y2))))
    return "".join(commands)


def arrowhead(tip: tuple[float, float], downward: bool, weight: float) -> str:
    """Return the SVG commands of an arrowhead that points right, or down if `downward`, for lines of width `weight`."""
    x, y = (_number(value) for value in tip)
    half, long = _number(2.5 + weight), _number(6 + weight)
    back = f"h{_number(2 * float(half))}" if downward else f"v{_number(2 * float(half))}"
    return f"M{x},{y}l-{half},-{long}{back}z" if downward else f"M{x},{y}l-{long},-{half}{back}z"


def _rules(palette: dict[str, str]) -> str:
    """Return CSS rules that define the color of every role."""
    return " ".join(
        f".{SCOPE} .fill-{role} {{ fill: {color} }} .{SCOPE} .stroke-{role} {{ stroke: {color} }}"
        for role, color in palette.items()
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
