"""`draw(root)`: a picture of a graph, with values as boxes, operations before their results, and colored gradients."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.explain.draw import raster
from gradwalk.explain.draw.arrays import ArrayDrawing, arrays_of, paint_arrays
from gradwalk.explain.draw.diagram import Moment, Scene, paint_groups, recorded, title
from gradwalk.explain.draw.dot import as_dot
from gradwalk.explain.draw.network import hint, paint_network, paint_overview
from gradwalk.explain.draw.profile import paint_profile
from gradwalk.explain.draw.svg import Theme
from gradwalk.explain.node_names import with_node_names
from gradwalk.explain.variable_names import graph_with_names, variable_of
from gradwalk.graph.boxes import Boxes, boxes
from gradwalk.graph.graph import Graph
from gradwalk.graph.json.columns import encode_column
from gradwalk.graph.modules import modules
from gradwalk.nn import Module
from gradwalk.value.sweep.order import topological_order
from gradwalk.value.value import Value

_THEMES = ("auto", "light", "dark")
_DIRECTIONS = ("LR", "TB")
_MAX_NODES = 150
_MAX_NETWORK_NODES = 40


@dataclass(frozen=True, repr=False)
class Drawing:
    """A picture of a graph, which displays itself in notebooks.

    Attributes:
        graph: The graph.
        max_nodes: A graph with more nodes than this is drawn as layers, as modules or as a profile of its levels.
        theme: "light", "dark", or "auto" for the viewer's preference.
        rankdir: "LR" for left to right, "TB" for top to bottom.
        moment: The moment of a walk to show, or None to show the values and gradients recorded in the graph.
    """

    graph: Graph
    max_nodes: int
    theme: Theme
    rankdir: str
    moment: Moment | None

    @cached_property
    def svg(self) -> str:
        """The picture as the text of an SVG file."""
        if len(self.graph) > self.max_nodes:
            graph = self.graph if self.moment is None else _with_gradients(self.graph, self.moment)
            divided = boxes(graph)
            if divided is not None:
                return paint_network(graph, divided, self.theme, title(graph))
            if len(modules(graph)[0]) == 1:
                return paint_profile(graph, self.theme, title(graph), hint(graph))
            return paint_groups(graph, self.theme)
        return Scene(self.graph, self.rankdir).painted(self.moment or recorded(self.graph), self.theme)

    @property
    def dot(self) -> str:
        """The graph in Graphviz's DOT language, with all nodes even if the picture shows modules."""
        return as_dot(self.graph, self.rankdir)

    def save(self, path: str | Path) -> None:
        """Write the picture to a file.

        Args:
            path: A file name that ends with .svg, .png, .dot or .gv; the ending determines the format.

        Raises:
            PictureError: The file name has a different ending, or the picture is too large for PNG.
            ModuleNotFoundError: A package that PNG files need is not installed.
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
    """A drawing with the methods of graphviz's `Digraph` that micrograd's notebooks use.

    Attributes:
        format: "svg" or "png".
    """

    format: str

    @property
    def source(self) -> str:
        """The graph in Graphviz's DOT language."""
        return self.dot

    def pipe(self, format: str | None = None) -> bytes:  # noqa: A002  graphviz's name
        """Return the content of a picture file as bytes.

        Args:
            format: "svg" or "png"; by default, the drawing's format.

        Raises:
            ValueError: `format` is invalid.
            PictureError: The picture is too large for PNG.
            ModuleNotFoundError: A package that PNG files need is not installed.

        Example:
            >>> draw_dot(Value(2.0) * 3.0).pipe()[:4]
            b'<svg'
        """
        wanted = _checked_format(format or self.format)
        return self._png() if wanted == "png" else self.svg.encode()

    def render(self, filename: str = "Digraph.gv", directory: str = "", format: str | None = None) -> str:  # noqa: A002
        """Write the DOT text to a file, and the picture to a second file in the same folder.

        Args:
            filename: The name of the DOT file. The name of the picture file is this name with "." and the format
                appended.
            directory: The folder for both files.
            format: "svg" or "png"; by default, the drawing's format.

        Returns:
            The path of the picture.

        Raises:
            ValueError: `format` is invalid.
            PictureError: The picture is too large for PNG.
            ModuleNotFoundError: A package that PNG files need is not installed.
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


@overload
def draw(
    root: Value | Graph,
    *,
    max_nodes: int | None = None,
    theme: Theme = "auto",
    rankdir: str = "LR",
    moment: Moment | None = None,
) -> Drawing: ...
@overload
def draw(
    root: Module[Any] | Iterable[Any],
    *,
    max_nodes: int | None = None,
    theme: Theme = "auto",
    rankdir: str = "LR",
    moment: Moment | None = None,
) -> Any: ...
def draw(
    root: Value | Iterable[Any] | Graph | Module[Any],
    *,
    max_nodes: int | None = None,
    theme: Theme = "auto",
    rankdir: str = "LR",
    moment: Moment | None = None,
) -> Drawing | ArrayDrawing:
    """Draw the graph of one or more Values, or arrays of Values, with their current numbers and gradients.

    A Module, nested lists of Values, a NumPy array of Values with at least two axes, and a list of leaves are drawn as
    matrices: the values, and beside them the gradients.

    Args:
        root: A Value, several Values, or a Graph; a Module or an array.
        max_nodes: A graph with more nodes than this is drawn as a network of layers, as modules, or as a profile of its
            levels. By default 150, and 40 for a neural network.
        theme: "light", "dark", or "auto" for the viewer's preference.
        rankdir: "LR" for left to right, "TB" for top to bottom.
        moment: The moment of a walk to show. By default, the current values and gradients are shown.

    Returns:
        The drawing, which displays itself in notebooks and can be saved.

    Raises:
        TypeError: `root` is not a Value, several Values, a Graph, a Module or an array.
        ValueError: `theme`, `rankdir` or `max_nodes` is invalid.

    Example:
        >>> a = Value(2.0, label="a")
        >>> loss = a * a
        >>> loss.backward()
        >>> draw(loss).svg[:4]
        '<svg'
        >>> draw([[Value(1.0), Value(2.0)], [Value(3.0), Value(4.0)]])
        <Drawing of arrays>
    """
    if theme not in _THEMES:
        raise ValueError(f"theme must be one of {', '.join(_THEMES)}, got {theme!r}")
    if rankdir not in _DIRECTIONS:
        raise ValueError(f"rankdir must be LR or TB, got {rankdir!r}")
    if max_nodes is not None and (not isinstance(max_nodes, int) or max_nodes < 0):
        raise ValueError(f"max_nodes must be an integer >= 0, got {max_nodes!r}")
    arrays = arrays_of(root, variable_of(root))
    if arrays is not None:
        return ArrayDrawing(paint_arrays(arrays, theme))
    assert not isinstance(root, Module)  # it has arrays
    graph = with_node_names(graph_with_names(root))
    return Drawing(graph, _default_max_nodes(graph, moment) if max_nodes is None else max_nodes, theme, rankdir, moment)


def overview(graph: Graph, divided: Boxes, is_right: bool) -> dict[str, Any]:
    """Return the overview of a graph that is drawn as a network, as docs/walk.schema.json describes it.

    Lost contributions, of a walk that is not right, are only shown node by node.
    """
    largest = _MAX_NETWORK_NODES if divided.is_network and is_right else _MAX_NODES
    if len(graph) <= largest:
        return {}
    boxes = encode_column(numpy.array(divided.box, numpy.int32), "<i4")
    return {"overview": {"picture": paint_overview(graph, divided), "names": divided.names, "boxes": boxes}}


def _default_max_nodes(graph: Graph, moment: Moment | None) -> int:
    """Return the largest number of nodes that are drawn one by one. Lost contributions are only shown node by node."""
    if (moment is None or not moment.lost) and _MAX_NETWORK_NODES < len(graph) <= _MAX_NODES:
        divided = boxes(graph)
        if divided is not None and divided.is_network:
            return _MAX_NETWORK_NODES
    return _MAX_NODES


def _with_gradients(graph: Graph, moment: Moment) -> Graph:
    """Return the graph with the gradients of a moment."""
    return replace(graph, grad=numpy.array([moment.gradients.get(i, 0.0) for i in range(len(graph))]))


def draw_dot(root: Value, format: str = "svg", rankdir: str = "LR") -> DotDrawing:  # noqa: A002  micrograd's name
    """Draw the graph of a Value, like the function of the same name in micrograd's notebooks.

    Args:
        root: The Value.
        format: "svg" or "png".
        rankdir: "LR" for left to right, "TB" for top to bottom.

    Returns:
        The drawing. It displays itself in notebooks and has `source`, `pipe` and `render` as a graphviz object has.

    Raises:
        ValueError: `format` or `rankdir` is invalid.

    Example:
        >>> draw_dot(Value(2.0) * 3.0).source.splitlines()[:2]
        ['digraph gradwalk {', '  rankdir=LR']
    """
    drawing = draw(root, rankdir=rankdir)
    return DotDrawing(
        drawing.graph, drawing.max_nodes, drawing.theme, drawing.rankdir, drawing.moment, _checked_format(format)
    )


def trace(root: Value) -> tuple[set[Value], set[tuple[Value, Value]]]:
    """Return the nodes and edges of a graph as sets, like the function of the same name in micrograd's notebooks.

    Args:
        root: The Value.

    Returns:
        The set of all Values in the graph, including `root`, and the set of all pairs (operand, result).
    """
    nodes = set(topological_order(root))
    return nodes, {(operand, node) for node in nodes for operand in node.operands}


def _checked_format(wanted: str) -> str:
    if wanted not in ("svg", "png"):
        raise ValueError(f"format must be svg or png, got {wanted!r}")
    return wanted
