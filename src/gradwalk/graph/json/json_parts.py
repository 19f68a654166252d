"""Reads the parts that the JSON forms of graphs consist of. What is something else raises `GraphError`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.graph.node import GraphError
from gradwalk.value.source.source_line import LONGEST_TEXT, SourceLine


def refuse_unknown(given: dict[str, Any], known: set[str], where: str) -> None:
    """Raise `GraphError` for a key that is not known."""
    unknown = given.keys() - known
    if unknown:
        raise GraphError(f"{where} has {min(unknown)!r}; known: {', '.join(sorted(known))}")


def frozen(column: Sequence[float], dtype: type) -> NDArray[Any]:
    """Return an array that cannot be written to."""
    array: NDArray[Any] = numpy.array(column, dtype)
    array.flags.writeable = False
    return array


def read_list(document: dict[str, Any], key: str, where: str) -> list[Any]:
    """Return the list that a document has under a key."""
    if not isinstance(document.get(key), list):
        raise GraphError(f"{where} has no list of {key}")
    found: list[Any] = document[key]
    return found


def read_place(given: Any, what: str) -> int:
    """Return the index of a node."""
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given < 2**31:
        raise GraphError(f"{what} is {given!r}, not the place of a node")
    return given


def read_number(given: Any, what: str) -> float:
    """Return a number, which may be written as a text."""
    if given in ("nan", "inf", "-inf") or (isinstance(given, (int, float)) and not isinstance(given, bool)):
        try:
            number = float(given)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) or isinstance(given, str):
            return number
        raise GraphError(f"{what} is too large for a float")
    raise GraphError(f"{what} is {given!r}, not a number")


def read_text(given: Any, what: str) -> str:
    """Return a text."""
    if not isinstance(given, str):
        raise GraphError(f"{what} is {given!r}, not a text")
    return given


def read_line(given: Any, where: str) -> SourceLine:
    """Read the line that made a node; documents of earlier versions have no text there."""
    if not isinstance(given, dict) or given.keys() - {"text"} != {"file", "line"}:
        raise GraphError(f"the source of {where} is {given!r}, not a file and a line")
    line = read_place(given["line"], f"the line of {where}")
    text = read_text(given.get("text", ""), f"the text of {where}")
    if len(text) > LONGEST_TEXT:
        raise GraphError(f"the text of {where} has {len(text)} letters, and at most {LONGEST_TEXT} are read")
    return SourceLine(read_text(given["file"], f"the file of {where}"), line, text)


def described_line(line: SourceLine) -> dict[str, Any]:
    """Describe a line of a program, for `read_line`."""
    text = {"text": line.text} if line.text else {}
    return {"file": line.filename, "line": line.number} | text
