"""`Canvas`: writes an SVG file element by element, with colours by roles that a light or dark theme assigns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement
from zlib import crc32

from gradwalk.explain.text import one_line

Theme = Literal["auto", "light", "dark"]

# Blue and orange are told apart with any kind of colour vision, and both stand out from their paper.
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
LETTER = 0.602  # the width of a letter of these fonts, relative to the font size
SCOPE = "gradwalk-scope"  # stands for the class of this file in its style rules, because a page may contain many files
# Text would inherit these from the page around the file.
_TEXT = {
    "direction": "ltr",
    "letter-spacing": "0",
    "word-spacing": "0",
    "font-weight": "normal",
    "font-style": "normal",
}


class Canvas:
    """An SVG element to draw into: the file itself, or a group in it.

    Args:
        element: The element.
        palette: Colours by role.
    """

    def __init__(self, element: Element, palette: dict[str, str]) -> None:
        self.element = element
        self._palette = palette

    @classmethod
    def file(cls, theme: Theme, title: str) -> Canvas:
        """Return an empty file.

        Args:
            theme: "light", "dark", or "auto" for what the viewer prefers.
            title: What a screen reader says of it.
        """
        palette = DARK if theme == "dark" else LIGHT
        root = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "class": SCOPE, "role": "img"})
        for name, value in {"font-family": FONT, "font-size": "12", **_TEXT}.items():
            root.set(name, value)
        SubElement(root, "title").text = one_line(title)
        if theme == "auto":
            SubElement(root, "style").text = f"@media (prefers-color-scheme: dark) {{ {_rules(DARK)} }}"
        return cls(root, palette)

    def group(self, title: str = "", **attributes: str) -> Canvas:
        """Add a group of elements; its title shows when the pointer rests on it.

        Args:
            title: The text that shows, or "" for none.
            **attributes: SVG's attributes of the group.

        Returns:
            A canvas that draws into the group.
        """
        element = SubElement(self.element, "g", attributes)
        if title:
            SubElement(element, "title").text = one_line(title)
        return Canvas(element, self._palette)

    def move(self, x: float, y: float) -> None:
        """Move the origin of a group to (x, y).

        Args:
            x: Pixels to the right.
            y: Pixels down.
        """
        self.element.set("transform", f"translate({_number(x)},{_number(y)})")

    def style(self, rules: str) -> None:
        """Add rules of CSS for the whole file.

        Args:
            rules: The rules.
        """
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

        Args:
            x: Pixels from the left.
            y: Pixels from the top.
            width: The width in pixels.
            height: The height in pixels.
            fill: The role whose colour fills it, or "" for no filling.
            stroke: The role whose colour its outline has, or "" for no outline.
            radius: The radius of its corners in pixels; 0 for sharp ones.
            **more: Further attributes of SVG, with _ in place of -.
        """
        attributes = {"x": _number(x), "y": _number(y), "width": _number(width), "height": _number(height)}
        if radius:
            attributes["rx"] = _number(radius)
        self._add("rect", attributes | more, fill, stroke)

    def path(self, commands: str, fill: str = "", stroke: str = "", **more: str) -> None:
        """Add a path.

        Args:
            commands: SVG's commands for the path, such as `curve` returns.
            fill: The role whose colour fills it, or "" for no filling.
            stroke: The role whose colour its line has, or "" for no line.
            **more: Further attributes of SVG, with _ in place of -.
        """
        self._add("path", {"d": commands} | more, fill, stroke)

    def text(self, x: float, y: float, text: str, fill: str = "ink", anchor: str = "start", **more: str) -> None:
        """Add text on one line, its baseline at (x, y).

        Args:
            x: Pixels from the left to what `anchor` names.
            y: Pixels from the top to the baseline.
            text: The text, whose line ends become spaces.
            fill: The role whose colour the letters have.
            anchor: The part of the text that is at x: "start", "middle" or "end".
            **more: Further attributes of SVG, with _ in place of -.
        """
        attributes = {"x": _number(x), "y": _number(y), "text-anchor": anchor}
        self._add("text", attributes | more, fill, "").text = one_line(text)

    def finished(self, width: float, height: float) -> str:
        """Return the text of the file, with its size and a class that no other file has.

        Args:
            width: The width in pixels.
            height: The height in pixels.

        Returns:
            The text of the file.
        """
        self.element.set("viewBox", f"0 0 {_number(width)} {_number(height)}")
        self.element.set("width", _number(width))
        self.element.set("height", _number(height))
        text = ElementTree.tostring(self.element, encoding="unicode")
        return text.replace(SCOPE, f"gradwalk-{crc32(text.encode(errors='replace')):08x}")

    def _add(self, tag: str, attributes: dict[str, str], fill: str, stroke: str) -> Element:
        """Add an element, coloured by roles."""
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
    """Return the commands of a path through points that follows the flow of the drawing.

    Args:
        points: At least two points.
        downward: Whether the drawing flows from top to bottom.
        bow: How far the last part but one, which lies between two layers, is bent aside.
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
    """Return the commands of a triangle that points along the flow, for a line of a given weight.

    Args:
        tip: The point of the arrow.
        downward: Whether the flow goes down instead of to the right.
        weight: The width of the line.

    Returns:
        The commands of a path.
    """
    x, y = (_number(value) for value in tip)
    half, long = _number(2.5 + weight), _number(6 + weight)
    back = f"h{_number(2 * float(half))}" if downward else f"v{_number(2 * float(half))}"
    return f"M{x},{y}l-{half},-{long}{back}z" if downward else f"M{x},{y}l-{long},-{half}{back}z"


def _rules(palette: dict[str, str]) -> str:
    """Return rules of CSS that give every role its colour."""
    return " ".join(
        f".{SCOPE} .fill-{role} {{ fill: {colour} }} .{SCOPE} .stroke-{role} {{ stroke: {colour} }}"
        for role, colour in palette.items()
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
