"""Find the line of the user's program that is running.

The text of a line is read and stored when the line runs. Files that a JSON document names are never opened, because the
document could name any file.
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

LONGEST_TEXT = 200  # maximum number of stored characters per line
_LARGEST_FILE = 1_000_000  # bytes; larger programs are not read
_MOST_CODES = 1000  # maximum number of cached code objects

# The folders of gradwalk and of NumPy. Functions in them call methods of Value, but do not belong to the user's
# program.
_LIBRARIES = (str(Path(__file__).parents[2]) + os.sep, str(Path(numpy.__file__).parent) + os.sep)


class SourceLine(NamedTuple):
    """A line of the user's program.

    Attributes:
        filename: The name of the file or of the notebook cell.
        number: The line number; the first line is 1.
        text: The text of the line when it ran, stripped and cut to 200 characters; "" if it is not known.
    """

    filename: str
    number: int
    text: str = ""

    def __str__(self) -> str:
        place = f"{self.filename}:{self.number}"
        return f"{place}: {self.text}" if self.text else place


class NamedLine(NamedTuple):
    """The line that created a node, the variable that the node was assigned to, and its named scopes.

    Attributes:
        line: The line.
        variable: The name of the variable, such as `loss` or `w[0]`; "" if there is none.
        makes: A code for the number of nodes that the right-hand side creates: see `Target.makes`.
        scope: The names of the scopes, joined by dots; "" if there is none.
    """

    line: SourceLine
    variable: str
    makes: str
    scope: str


class _Seen(NamedTuple):
    """A code object that has run, the lines of its file at that time, and the results that are cached for it."""

    code: CodeType  # kept alive, so that no other code object gets the same id
    program: Sequence[str]
    lines: dict[int | None, SourceLine]
    targets: dict[int, Target | None]  # by instruction offset


_seen: dict[int, _Seen] = {}  # by id(code), because edited code that runs again may have the same name
_parsed: dict[str, tuple[Sequence[str], dict[Position, Target]]] = {}  # lines and targets, by file name


def users_line() -> SourceLine:
    """Return the line of the user's program that is running: the innermost line outside of gradwalk and NumPy."""
    return _line(users_frame(sys._getframe()))


def named_line(scope: str) -> SourceLine | NamedLine:
    """Return the running line, and if there are any, the open scopes and the variable that the new node is assigned to.

    A node that a function returns gets its name from the line that called the function. `scope` holds the names of the
    open scopes, joined by dots.
    """
    frame = users_frame(sys._getframe())
    line = _line(frame)
    target = _target(frame)
    if target is None:
        return NamedLine(line, "", MANY, scope) if scope else line
    makes = target.makes
    while target is not None and target.variable == RETURNED and frame.f_back is not None:
        name = frame.f_code.co_name
        frame = users_frame(frame.f_back)
        target = _target(frame)
        if target is not None and target.makes not in ("", name):
            makes = MANY  # for example reduce(), which may call the function several times
    variable = target.variable if target is not None else ""
    return NamedLine(line, variable, makes, scope) if variable or scope else line


def users_branch() -> str:
    """Return the branch on the user's running line, rewritten with `gradwalk.loops`; "" if it cannot be rewritten."""
    frame = users_frame(sys._getframe())
    seen = _seen.get(id(frame.f_code)) or _see(frame.f_code)
    return rewritten(seen.program, position_of(seen.code, frame.f_lasti))


def files_of(lines: Iterable[SourceLine]) -> dict[str, str]:
    """Return a dict from file names to the contents of the files that contain the given lines.

    The lines must have been recorded in this process, by `users_line`. A file is left out if it cannot be read, is too
    large, or has been edited since.
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


def users_frame(frame: FrameType) -> FrameType:
    """Return the innermost frame outside of gradwalk and NumPy: the given frame or one of its callers."""
    while frame.f_code.co_filename.startswith(_LIBRARIES) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _line(frame: FrameType) -> SourceLine:
    seen = _seen.get(id(frame.f_code)) or _see(frame.f_code)
    return seen.lines.get(frame.f_lineno) or _add(seen, frame.f_lineno)


def _target(frame: FrameType) -> Target | None:
    """Return the assignment target of the instruction that a frame is executing."""
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
    linecache.checkcache(code.co_filename)  # the file may have been edited since
    seen = _seen[id(code)] = _Seen(code, _program(code.co_filename), {}, {})
    return seen


def _add(seen: _Seen, number: int | None) -> SourceLine:
    known = number or 0  # the line number of some instructions is None
    line = seen.lines[number] = SourceLine(seen.code.co_filename, known, _text(seen.program, known))
    return line


def _program(name: str) -> Sequence[str]:
    """Return the lines of a program that has run. Return no lines if its file is too large or not a regular file."""
    if name not in linecache.cache and not (name.startswith("<") and name.endswith(">")):
        try:
            status = os.stat(name)  # noqa: PTH116  an invalid path must raise here
        except (OSError, ValueError):
            return ()
        if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size <= _LARGEST_FILE:
            return ()
    return linecache.getlines(name)


def _text(program: Sequence[str], number: int) -> str:
    return program[number - 1].strip()[:LONGEST_TEXT] if 0 < number <= len(program) else ""
