"""Prints headings and aligned tables, with colors if the output is a terminal that allows them."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TextIO

from gradwalk.explain.text import one_line, shortened, width

# Blue and orange can be distinguished with any kind of color vision.
_POSITIVE, _NEGATIVE, _HEADING, _FAINT, _RESET = "\033[34m", "\033[33m", "\033[1m", "\033[2m", "\033[0m"

_NUMERIC = ("data", "grad", "should be", "backprop", "quotient", "error", "this pass", "before", ".grad now")
_GRADIENTS = ("grad", "should be", "backprop", "this pass", "before", ".grad now")
_LONGEST_NAME = 40


class Terminal:
    """A text stream for headings and tables; colors depend on the stream and on NO_COLOR, FORCE_COLOR and TERM."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._printed = False
        refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        forced = os.environ.get("FORCE_COLOR", "0") != "0" and stream is sys.stdout
        self._colored = bool(forced or self._is_terminal) and not refused

    def heading(self, text: str) -> None:
        """Print a heading, with an empty line before every heading except the first."""
        if self._printed:
            print(file=self._stream)
        self._printed = True
        print(self._in(_HEADING, text), file=self._stream)

    def line(self, text: str) -> None:
        """Print text on one line."""
        print(one_line(text), file=self._stream)

    def tree(self, line: str) -> None:
        """Print one line of a tree, keeping its branch characters."""
        text = line.lstrip("│├└─ ")
        print("  " + line[: len(line) - len(text)] + self._fitted(text), file=self._stream)

    def numbered(self, lines: Iterable[str]) -> None:
        """Print numbered lines, wrapped if the output is a terminal."""
        columns = shutil.get_terminal_size().columns if self._is_terminal else 0
        lines = list(lines)
        indent = " " * (len(str(len(lines))) + 4)
        for number, line in enumerate(lines, start=1):
            numbered = f"{number:{len(indent) - 2}}  {one_line(line)}"
            text = textwrap.fill(numbered, columns, subsequent_indent=indent) if columns > 40 else numbered
            print(text, file=self._stream)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print a table with the headings `columns`; columns of numbers, such as data and grad, are right-aligned."""
        cells = [list(columns), *([self._fitted(cell) for cell in row] for row in rows)]
        widths = [max(width(row[i]) for row in cells) for i in range(len(columns))]
        for number, row in enumerate(cells):
            parts = [self._cell(text, columns[i], widths[i], number == 0) for i, text in enumerate(row)]
            print("  " + "  ".join(parts).rstrip(), file=self._stream)

    def _cell(self, text: str, column: str, columns: int, is_heading: bool) -> str:
        """Return the text of a cell, padded and colored."""
        space = " " * (columns - width(text))
        padded = space + text if column in _NUMERIC else text + space
        if is_heading:
            return self._in(_FAINT, padded)
        if column in _GRADIENTS and text not in ("0.0", "-0.0", "nan"):
            return self._in(_NEGATIVE if text.startswith("-") else _POSITIVE, padded)
        return padded

    def _fitted(self, text: str) -> str:
        """Return text on one line. If the output is a terminal, the middle of long text is omitted."""
        longest = max(_LONGEST_NAME, shutil.get_terminal_size().columns // 4)
        return shortened(one_line(text), longest) if self._is_terminal else one_line(text)

    def _in(self, color: str, text: str) -> str:
        return f"{color}{text}{_RESET}" if self._colored else text
