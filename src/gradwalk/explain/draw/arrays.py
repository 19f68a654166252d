"""Draw arrays of Values as matrices: their values, and beside them their gradients.

The parameters of a Module are divided into arrays by their paths: `layers[0].neurons[2].w[1]` is in row 2 and column 1
of the array `layers[0].neurons.w`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.explain.draw import raster
from gradwalk.explain.draw.svg import LETTER, Canvas, Theme
from gradwalk.explain.text import one_line, plural, short, shortened
from gradwalk.graph.paths import Path, path_of, written
from gradwalk.nn import Module
from gradwalk.value.value import Value

_MARGIN = 18.0
_LINE = 17.0
_FONT = 12.0
_WIDE = 340.0  # maximum width of a matrix
_GAP = 40.0  # distance between the values and the gradients
_LARGEST_CELL, _SMALLEST_CELL = 20.0, 2.0
_NUMBER_CELL = (54.0, 20.0)  # size of a cell with a number
_FEW = 6  # maximum number of columns of an array whose numbers are written
_MAX_ROWS, _MAX_COLUMNS = 100, 170  # further elements are only counted
_MAX_ARRAYS = 40


@dataclass(frozen=True)
class Array:
    """An array of Values with up to two axes; a vector is a single row.

    Attributes:
        name: The name, such as "layers[0].neurons.w"; "" if it is not known.
        rows: The Values, or plain numbers, which have no gradients.
    """

    name: str
    rows: list[list[Value | float]]

    @property
    def shape(self) -> str:
        """The lengths of the axes in words."""
        columns = max(map(len, self.rows))
        return f"{len(self.rows):,} by {columns:,}" if len(self.rows) > 1 else plural(columns, "elements")


@dataclass(frozen=True, repr=False)
class ArrayDrawing:
    """A picture of arrays of Values, which displays itself in notebooks. It shows the numbers of the time of `draw`.

    Attributes:
        svg: The picture as the text of an SVG file.
    """

    svg: str

    def save(self, path: str | FilePath) -> None:
        """Write the picture to a file.

        Args:
            path: A file name that ends with .svg or .png; the ending determines the format.

        Raises:
            PictureError: The file name has a different ending, or the picture is too large for PNG.
            ModuleNotFoundError: A package that PNG files need is not installed.
            OSError: The file cannot be written.
        """
        raster.write(path, {".svg": lambda: self.svg, ".png": lambda: raster.as_png(self.svg)})

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return "<Drawing of arrays>"


def arrays_of(item: object, name: str) -> list[Array] | None:
    """Return the arrays of a Module, of nested lists, tuples and dicts, or of a NumPy array of Values.

    `name` is the name of a container. The names of a Module begin with the names of its attributes.

    Returns None for other objects, and for a list of results, which are the roots of a graph.
    """
    if isinstance(item, Module):
        return _divided({path_of(path): value for path, value in item.named_parameters()})
    if not isinstance(item, (list, tuple, dict, numpy.ndarray)):
        return None
    found = dict(_elements(item))
    if not found or not all(isinstance(value, Value) for value in found.values()):
        return None
    is_flat = all(len(path) == 1 for path in found) and not isinstance(item, dict)
    if is_flat and any(isinstance(value, Value) and value.operands for value in found.values()):
        return None
    return _divided({(name, *path) if name else path: value for path, value in found.items()})


def _elements(top: object) -> Iterator[tuple[Path, object]]:
    """Yield the elements of nested containers, each with its path."""
    pending: list[tuple[Path, object]] = [((), top)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, numpy.ndarray):
            item = item.tolist() if item.ndim else [item.item()]
        if isinstance(item, dict):
            pending += [((*path, str(key)), child) for key, child in reversed(item.items())]
        elif isinstance(item, (list, tuple)):
            pending += [((*path, str(i)), child) for i, child in reversed(list(enumerate(item)))]
        else:
            yield path, item


def _divided(found: Mapping[Path, Any]) -> list[Array]:
    """Divide Values into arrays by their paths: the last index is the column, the index before it may be the row."""
    vectors: dict[tuple[Path, bool], list[Any]] = {}
    for path, value in found.items():
        at = max((i for i, part in enumerate(path) if part.isdecimal()), default=len(path))
        ends = at == len(path) - 1  # w[1] is an element of a list, and neurons[2].b an attribute of a part
        vectors.setdefault(((*path[:at], *path[at + 1 :]), ends), []).append(value)
    series: dict[tuple[Path, int], list[list[Any]]] = {}
    for (path, ends), values in vectors.items():
        indices = [i for i, part in enumerate(path) if part.isdecimal()]
        at = indices[-1] if indices else -1
        is_row = ends and bool(indices) and (at == len(path) - 1 or len(indices) > 1 or path[at - 1] == "neurons")
        key = ((*path[:at], *path[at + 1 :]), len(values)) if is_row else (path, -1)
        series.setdefault(key, []).append(values)
    return [Array(written(path), rows) for (path, _), rows in series.items()]


def paint_arrays(arrays: Sequence[Array], theme: Theme) -> str:
    """Return the text of an SVG file that shows arrays below each other."""
    canvas = Canvas.file(theme, f"Arrays: {', '.join(array.name for array in arrays[:_MAX_ARRAYS])}")
    panels = [_Panel(array) for array in arrays[:_MAX_ARRAYS]]
    wide = max([panel.wide for panel in panels] or [0.0]) + 2 * _MARGIN
    high = sum(panel.high for panel in panels) + 2 * _MARGIN + (_LINE if arrays[_MAX_ARRAYS:] else 0.0)
    canvas.rectangle(0, 0, wide, high, "paper")
    top = _MARGIN
    for panel in panels:
        panel.paint(canvas, top)
        top += panel.high
    if arrays[_MAX_ARRAYS:]:
        canvas.text(_MARGIN, top + 8, f"and {plural(len(arrays) - _MAX_ARRAYS, 'more arrays')}", "faint")
    return canvas.finished(wide, high)


class _Panel:
    """One array: its name, its values and its gradients."""

    def __init__(self, array: Array) -> None:
        self._array = array
        self._rows = [row[:_MAX_COLUMNS] for row in array.rows[:_MAX_ROWS]]
        columns = max(map(len, self._rows))
        self._has_numbers = columns <= _FEW and len(self._rows) <= _FEW
        side = min(_LARGEST_CELL, max(_SMALLEST_CELL, _WIDE / columns))
        self._cell = _NUMBER_CELL if self._has_numbers else (side, side)
        self._matrix = columns * self._cell[0], len(self._rows) * self._cell[1]
        self._step = max(self._matrix[0], 24 * _FONT * LETTER) + _GAP
        title = (len(self._title) + 1) * _FONT * LETTER
        self.wide = max(self._step + max(self._matrix[0], 24 * _FONT * LETTER), title)
        self.high = self._matrix[1] + 2 * _LINE + 30

    @cached_property
    def _title(self) -> str:
        array = self._array
        cut = len(self._rows) < len(array.rows) or any(len(row) > _MAX_COLUMNS for row in array.rows)
        more = ", the first of which are shown" if cut else ""
        return f"{shortened(one_line(array.name), 50)} {array.shape}{more}".strip()

    def paint(self, canvas: Canvas, top: float) -> None:
        """Draw the name, and the matrices of the values and of the gradients."""
        name = shortened(one_line(self._array.name), 50)
        canvas.text(_MARGIN, top + 10, name, font_weight="bold")
        canvas.text(
            _MARGIN + len(name) * _FONT * LETTER + (8 if name else 0), top + 10, self._title[len(name) :], "faint"
        )
        shown = {"value": [[x.data if isinstance(x, Value) else float(x) for x in row] for row in self._rows]}
        if all(isinstance(x, Value) for row in self._rows for x in row):
            shown["gradient"] = [[x.grad for x in row if isinstance(x, Value)] for row in self._rows]
        for i, (words, numbers) in enumerate(shown.items()):
            self._paint_matrix(canvas, _MARGIN + i * self._step, top + _LINE, words, numbers)

    def _paint_matrix(self, canvas: Canvas, left: float, top: float, words: str, numbers: list[list[float]]) -> None:
        """Draw numbers as colored squares, below a scale with the largest and the smallest number."""
        finite = [abs(number) for row in numbers for number in row if math.isfinite(number)]
        largest = max(finite, default=0.0)
        canvas.text(left, top + 12, words, "faint")
        x = left + (len(words) + 1) * _FONT * LETTER
        for role, sign in (("positive", "+"), ("negative", "-")) if largest else ():
            canvas.rectangle(x, top + 3, 10, 10, role, radius=2)
            canvas.text(x + 14, top + 12, f"{sign}{largest:.2g}", "faint")
            x += 22 + (len(f"{largest:.2g}") + 1) * _FONT * LETTER
        if not largest:
            canvas.text(x, top + 12, "all 0", "faint")
        wide, high = self._cell
        between = 1.0 if wide > 4 else 0.0
        for i, row in enumerate(numbers):
            for j, number in enumerate(row):
                group = canvas.group(f"{self._name(i, j)}: {words} {number!r}") if wide > 4 else canvas
                at = left + j * wide, top + _LINE + 3 + i * high, wide - between, high - between
                self._paint_number(group, at, number, largest)

    def _paint_number(
        self, canvas: Canvas, at: tuple[float, float, float, float], number: float, largest: float
    ) -> None:
        """Draw one element."""
        x, y, wide, high = at
        canvas.rectangle(x, y, wide, high, "active" if math.isnan(number) else "operation")
        if number and largest and not math.isnan(number):
            share = 0.15 + 0.85 * math.sqrt(min(abs(number) / largest, 1.0))
            share *= 0.6 if self._has_numbers else 1.0  # the number must be legible on the color
            canvas.rectangle(x, y, wide, high, "positive" if number > 0 else "negative", fill_opacity=f"{share:.2f}")
        if self._has_numbers:
            text = short(number) if len(short(number)) <= 6 else f"{number:.2g}"
            canvas.text(x + wide / 2, y + high / 2 + 4, text, anchor="middle", font_size="11")

    def _name(self, row: int, column: int) -> str:
        index = f"[{row}][{column}]" if len(self._array.rows) > 1 else f"[{column}]"
        return f"{self._array.name}{index}"
