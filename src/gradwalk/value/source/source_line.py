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
from types import CodeType, FrameType
from typing import NamedTuple

import numpy

from gradwalk.value.source.branch_rewrite import rewritten
from gradwalk.value.source.variables import MANY, RETURNED, Position, Target, position_of, targets

LONGEST_TEXT = 200  # letters of a line
_LARGEST_FILE = 1_000_000  # bytes; larger programs are not looked up
_MOST_CODES = 1000

# The files of gradwalk and of NumPy, whose functions call Values back.
_LIBRARIES = (str(Path(__file__).parents[2]) + os.sep, str(Path(numpy.__file__).parent) + os.sep)


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


class NamedLine(NamedTuple):
    """The line that made a node, the variable that the node was assigned to, and the scopes that it was made in.

    Attributes:
        line: The line.
        variable: The name of the variable, such as `loss`, or `w[0]`; "" if there is none.
        makes: How many nodes the right-hand side makes, as `Target` has it.
        scope: The names of the scopes, with dots between them; "" if there is none.
    """

    line: SourceLine
    variable: str
    makes: str
    scope: str


class _Seen(NamedTuple):
    """Code that has run: the lines of its file as they were then, and those of its own that were asked for."""

    code: CodeType  # kept alive, so that no other code gets its id
    program: Sequence[str]
    lines: dict[int | None, SourceLine]
    targets: dict[int, Target | None]  # by the offset of the instruction


_seen: dict[int, _Seen] = {}  # by the id of the code, because code that was edited and run again can have the same name
_parsed: dict[str, tuple[Sequence[str], dict[Position, Target]]] = {}  # by the name of the file: its lines and targets


def users_line() -> SourceLine:
    """Return the innermost line now being run that is neither gradwalk's own nor NumPy's."""
    return _line(_users_frame(sys._getframe()))


def named_line(scope: str) -> SourceLine | NamedLine:
    """Return what `users_line` does, with the variable that what is being made is assigned to and the scope, if any.

    What a function returns is named by the line that called it.

    Args:
        scope: The names of the scopes that are open, with dots between them.
    """
    frame = _users_frame(sys._getframe())
    line = _line(frame)
    target = _target(frame)
    if target is None:
        return NamedLine(line, "", MANY, scope) if scope else line
    makes = target.makes
    while target is not None and target.variable == RETURNED and frame.f_back is not None:
        name = frame.f_code.co_name
        frame = _users_frame(frame.f_back)
        target = _target(frame)
        if target is not None and target.makes not in ("", name):
            makes = MANY  # such as reduce(), which may have called the function several times
    variable = target.variable if target is not None else ""
    return NamedLine(line, variable, makes, scope) if variable or scope else line


def users_branch() -> str:
    """Return the branch that the user's line decides, written with `gradwalk.loops`; "" where that cannot be done."""
    frame = _users_frame(sys._getframe())
    seen = _seen.get(id(frame.f_code)) or _see(frame.f_code)
    return rewritten(seen.program, position_of(seen.code, frame.f_lasti))


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


def _users_frame(frame: FrameType) -> FrameType:
    """Return the innermost frame, from this one outwards, that is neither gradwalk's own nor NumPy's."""
    while frame.f_code.co_filename.startswith(_LIBRARIES) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _line(frame: FrameType) -> SourceLine:
    seen = _seen.get(id(frame.f_code)) or _see(frame.f_code)
    return seen.lines.get(frame.f_lineno) or _add(seen, frame.f_lineno)


def _target(frame: FrameType) -> Target | None:
    """Return what becomes of the result of the instruction that a frame is at."""
    seen = _seen.get(id(frame.f_code)) or _see(frame.f_code)
    try:
        return seen.targets[frame.f_lasti]
    except KeyError:
        known = _parsed.get(seen.code.co_filename)
        if known is None or known[0] is not seen.program:
            known = _parsed[seen.code.co_filename] = seen.program, targets(seen.program)
        return seen.targets.setdefault(frame.f_lasti, known[1].get(position_of(seen.code, frame.f_lasti)))


def _see(code: CodeType) -> _Seen:
    if len(_seen) >= _MOST_CODES:
        _seen.clear()
        _parsed.clear()
    linecache.checkcache(code.co_filename)  # new code may be that of an edited file
    seen = _seen[id(code)] = _Seen(code, _program(code.co_filename), {}, {})
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
