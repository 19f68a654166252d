"""Where in the user's program something happened.

The text of a line is looked up when the line runs, and kept with it. What was read from a document is never looked up:
it may name any file.
"""

from __future__ import annotations

import linecache
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import CodeType
from typing import NamedTuple

import numpy

LONGEST_TEXT = 200  # letters of a line
_LARGEST_FILE = 1_000_000  # bytes; larger programs are not looked up
_MOST_CODES = 1000

# The files of gradwalk and of NumPy, whose functions call Values back.
_LIBRARIES = (str(Path(__file__).parents[1]) + os.sep, str(Path(numpy.__file__).parent) + os.sep)


class SourceLine(NamedTuple):
    """A line of the user's program.

    Attributes:
        filename: The name of the file, or of the cell of a notebook.
        number: The number of the line, from 1.
        text: The line as it ran, without the space around it and cut after 200 letters; "" if it is not known.
    """

    filename: str
    number: int
    text: str = ""

    def __str__(self) -> str:
        place = f"{self.filename}:{self.number}"
        return f"{place}: {self.text}" if self.text else place


class _Seen(NamedTuple):
    """Code that has run: the lines of its file as they were then, and those of its own that were asked for."""

    code: CodeType  # kept alive, so that no other code gets its id
    program: Sequence[str]
    lines: dict[int | None, SourceLine]


_seen: dict[int, _Seen] = {}  # by the id of the code, because code that was edited and run again can have the same name


def users_line() -> SourceLine:
    """Return the innermost line now being run that is neither gradwalk's own nor NumPy's."""
    frame = sys._getframe()
    while frame.f_code.co_filename.startswith(_LIBRARIES) and frame.f_back is not None:
        frame = frame.f_back
    seen = _seen.get(id(frame.f_code)) or _see(frame.f_code)
    return seen.lines.get(frame.f_lineno) or _add(seen, frame.f_lineno)


def files_of(lines: Iterable[SourceLine]) -> dict[str, str]:
    """Return the programs that some lines are of, which have been recorded in this process.

    Args:
        lines: What `users_line` returned.

    Returns:
        The text of each file by its name, without those that cannot be read, are large, or have been edited since.
    """
    by_file: dict[str, list[SourceLine]] = {}
    for line in set(lines):
        by_file.setdefault(line.filename, []).append(line)
    files = {}
    for name, recorded in sorted(by_file.items()):
        program = _program(name)
        text = "".join(program)
        if 0 < len(text) <= _LARGEST_FILE and all(_text(program, line.number) == line.text for line in recorded):
            files[name] = text
    return files


def _see(code: CodeType) -> _Seen:
    if len(_seen) >= _MOST_CODES:
        _seen.clear()
    linecache.checkcache(code.co_filename)  # new code may be that of an edited file
    seen = _seen[id(code)] = _Seen(code, _program(code.co_filename), {})
    return seen


def _add(seen: _Seen, number: int | None) -> SourceLine:
    known = number or 0  # None for an instruction that no line stands for
    line = seen.lines[number] = SourceLine(seen.code.co_filename, known, _text(seen.program, known))
    return line


def _program(name: str) -> Sequence[str]:
    """Return the lines of a program that has run: none where it is large, or read from a device or a pipe."""
    if name not in linecache.cache and not (name.startswith("<") and name.endswith(">")):
        try:
            status = os.stat(name)  # noqa: PTH116  a name that is no path is an error here
        except (OSError, ValueError):
            return ()
        if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size <= _LARGEST_FILE:
            return ()
    return linecache.getlines(name)


def _text(program: Sequence[str], number: int) -> str:
    return program[number - 1].strip()[:LONGEST_TEXT] if 0 < number <= len(program) else ""
