"""`draw(root)`: a graph as a picture, with values as boxes, operations before their results, gradients in colour."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gradwalk.base.cached import cached_property
from gradwalk.explain.draw import raster
from gradwalk.explain.draw.diagram import Moment, Scene, paint_groups, recorded
from gradwalk.explain.draw.dot import as_dot
from gradwalk.explain.draw.svg import Theme
from gradwalk.graph.graph import Graph, as_graph
from gradwalk.value.sweep.order import topological_order
from gradwalk.value.value import Value

_THEMES = ("auto", "light", "dark")
_DIRECTIONS = ("LR", "TB")


@dataclass(frozen=True, repr=False)
class Drawing:
    """A picture of a graph, which shows itself in notebooks.

    Attributes:
        graph: The graph.
        max_nodes: The size from which on modules are drawn instead of nodes.
        theme: "light", "dark", or "auto" for what the viewer prefers.
        rankdir: "LR" for left to right, "TB" for top to bottom.
        moment: The moment of a walk that is shown, or None for the recorded numbers.
    """

    graph: Graph
    max_nodes: int
    theme: Theme
    rankdir: str
    moment: Moment | None

    @cached_property
    def svg(self) -> str:
        """The picture, as the text of an SVG file."""
        if len(self.graph) > self.max_nodes:
            return paint_groups(self.graph, self.theme)
        return Scene(self.graph, self.rankdir).painted(self.moment or recorded(self.graph), self.theme)

    @property
    def dot(self) -> str:
        """The graph in Graphviz's language, every node of it."""
        return as_dot(self.graph, self.rankdir)

    def save(self, path: str | Path) -> None:
        """Write the picture to a file.

        Args:
            path: A name that ends with .svg, .png, .dot or .gv, which decides on the format.

        Raises:
            PictureError: The name ends otherwise, or the picture is too large for pixels.
            ModuleNotFoundError: The package that PNG files need is not installed.
            OSError: The file cannot be written.
        """
        dot = lambda: self.dot  # noqa: E731
        raster.write(path, {".svg": lambda: self.svg, ".png": self._png, ".dot": dot, ".gv": dot})

    def _png(self) -> bytes:
        return raster.as_png(self.svg)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<Drawing of {self.graph!r}>"


@dataclass(frozen=True, repr=False)
class DotDrawing(Drawing):
    """A drawing with those methods of the graphviz package's Digraph that micrograd's notebooks use.

    Attributes:
        format: "svg" or "png".
    """

    format: str

    @property
    def source(self) -> str:
        """The graph in Graphviz's language."""
        return self.dot

    def pipe(self, format: str | None = None) -> bytes:  # noqa: A002  graphviz's name
        """Return the picture as the bytes of a file.

        Args:
            format: "svg" or "png"; by default that of the drawing.

        Raises:
            ValueError: `format` is something else.
            PictureError: The picture is too large for pixels.
            ModuleNotFoundError: The package that PNG files need is not installed.

        Example:
            >>> draw_dot(Value(2.0) * 3.0).pipe()[:4]
            b'<svg'
        """
        wanted = _checked_format(format or self.format)
        return self._png() if wanted == "png" else self.svg.encode()

    def render(self, filename: str = "Digraph.gv", directory: str = "", format: str | None = None) -> str:  # noqa: A002
        """Write the text in Graphviz's language to a file, and the picture beside it.

        Args:
            filename: The name of the text's file; the picture's has the format appended.
            directory: Where to put both.
            format: "svg" or "png"; by default that of the drawing.

        Returns:
            The path of the picture.

        Raises:
            ValueError: `format` is something else.
            PictureError: The picture is too large for pixels.
            ModuleNotFoundError: The package that PNG files need is not installed.
            OSError: A file cannot be written.
        """
        wanted = _checked_format(format or self.format)
        picture = self.pipe(wanted)
        path = Path(directory, filename)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.dot, encoding="utf-8")
        rendered = Path(f"{path}.{wanted}")
        rendered.write_bytes(picture)
        return str(rendered)


def draw(
    root: Value | Iterable[Value] | Graph,
    *,
    max_nodes: int = 150,
    theme: Theme = "auto",
    rankdir: str = "LR",
    moment: Moment | None = None,
) -> Drawing:
    """Draw the graph of a Value, or of several, with numbers and gradients as they are now.

    Args:
        root: A Value, several Values, or a Graph.
        max_nodes: A graph of more nodes is drawn as its modules with counts of operations.
        theme: "light", "dark", or "auto" for what the viewer prefers.
        rankdir: "LR" for left to right, "TB" for top to bottom.
        moment: A moment of a walk, to show that in place of the recorded numbers.

    Returns:
        The drawing, which shows itself in notebooks and can be saved.

    Raises:
        TypeError: `root` is something else.
        ValueError: An option has none of the values above.

    Example:
        >>> a = Value(2.0, label="a")
        >>> loss = a * a
        >>> loss.backward()
        >>> draw(loss).svg[:4]
        '<svg'
    """
    if theme not in _THEMES:
        raise ValueError(f"theme is one of {', '.join(_THEMES)}, not {theme!r}")
    if rankdir not in _DIRECTIONS:
        raise ValueError(f"rankdir is LR or TB, not {rankdir!r}")
    if not isinstance(max_nodes, int) or max_nodes < 0:
        raise ValueError(f"max_nodes is a number of nodes, not {max_nodes!r}")
    return Drawing(as_graph(root), max_nodes, theme, rankdir, moment)


def draw_dot(root: Value, format: str = "svg", rankdir: str = "LR") -> DotDrawing:  # noqa: A002  micrograd's name
    """Draw the graph of a Value, under the name and with the arguments that micrograd's notebooks use.

    Args:
        root: The Value.
        format: "svg" or "png".
        rankdir: "LR" for left to right, "TB" for top to bottom.

    Returns:
        The drawing, which shows itself in notebooks and has graphviz's `source`, `pipe` and `render`.

    Raises:
        ValueError: `format` or `rankdir` is something else.

    Example:
        >>> draw_dot(Value(2.0) * 3.0).source.splitlines()[:2]
        ['digraph gradwalk {', '  rankdir=LR']
    """
    drawing = draw(root, rankdir=rankdir)
    return DotDrawing(
        drawing.graph, drawing.max_nodes, drawing.theme, drawing.rankdir, drawing.moment, _checked_format(format)
    )


def trace(root: Value) -> tuple[set[Value], set[tuple[Value, Value]]]:
    """Return the nodes and edges of a graph as sets, as micrograd's notebooks do.

    Args:
        root: The Value.

    Returns:
        All Values that root was made from, root included, and all pairs of an operand and its result.
    """
    nodes = set(topological_order(root))
    return nodes, {(operand, node) for node in nodes for operand in node.operands}


def _checked_format(wanted: str) -> str:
    if wanted not in ("svg", "png"):
        raise ValueError(f"format is svg or png, not {wanted!r}")
    return wanted
