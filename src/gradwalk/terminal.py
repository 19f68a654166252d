"""Tables for the terminal: aligned, coloured where the terminal allows, plain where the output goes elsewhere."""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TextIO

from gradwalk.engine import Value, topological_order

# Blue and orange: told apart with any kind of colour vision.
_POSITIVE, _NEGATIVE, _HEADING, _FAINT, _RESET = "\033[34m", "\033[33m", "\033[1m", "\033[2m", "\033[0m"

_NUMERIC = ("data", "grad")
_LONGEST_NAME = 40


class Terminal:
    """A stream to print tables on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self._coloured = bool(os.environ.get("FORCE_COLOR") or (self._is_terminal and not refused))

    def heading(self, text: str) -> None:
        """A line above a table."""
        print(self._in(_HEADING, text), file=self._stream)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A table of text; columns called data or grad are numbers, aligned at the right."""
        cells = [list(columns), *([self._fitted(cell) for cell in row] for row in rows)]
        widths = [max(_width(row[i]) for row in cells) for i in range(len(columns))]
        for number, row in enumerate(cells):
            parts = [self._cell(text, columns[i], widths[i], number == 0) for i, text in enumerate(row)]
            print("  " + "  ".join(parts).rstrip(), file=self._stream)

    def gap(self) -> None:
        """An empty line."""
        print(file=self._stream)

    def _cell(self, text: str, column: str, width: int, is_heading: bool) -> str:
        space = " " * (width - _width(text))
        padded = space + text if column in _NUMERIC else text + space
        if is_heading:
            return self._in(_FAINT, padded)
        if column == "grad" and text not in ("0.0", "-0.0", "nan"):
            return self._in(_NEGATIVE if text.startswith("-") else _POSITIVE, padded)
        return padded

    def _fitted(self, text: str) -> str:
        """Text on one line; a long one with its middle left out where a person reads it."""
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        longest = max(_LONGEST_NAME, shutil.get_terminal_size().columns // 4)
        if not self._is_terminal or len(line) <= longest:
            return line
        return f"{line[: longest // 2]}…{line[-(longest // 2) :]}"

    def _in(self, colour: str, text: str) -> str:
        return f"{colour}{text}{_RESET}" if self._coloured else text


def names(root: Value) -> dict[Value, str]:
    """A name of its own for every Value that root was made from.

    Its label, with a number where an earlier one has the same; for those without, v1, v2 and so on.
    """
    named: dict[Value, str] = {}
    uses: Counter[str] = Counter()
    for number, node in enumerate(topological_order(root), start=1):
        label = node.label or f"v{number}"
        uses[label] += 1
        named[node] = label if uses[label] == 1 else f"{label} ({uses[label]})"
    return named


def name_of(argument: Value | float, named: dict[Value, str]) -> str:
    """An argument of an operation, for a reader."""
    return named[argument] if isinstance(argument, Value) else repr(float(argument))


def _width(text: str) -> int:
    """How many columns text takes: East Asian characters take two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
