"""Readers for the parts of a graph's JSON form. They raise `GraphError` for invalid input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.graph.node import GraphError
from gradwalk.value.source.source_line import LONGEST_TEXT, SourceLine


def refuse_unknown(given: dict[str, Any], known: set[str], where: str) -> None:
    """Raise `GraphError` if there is an unknown key."""
    unknown = given.keys() - known
    if unknown:
        raise GraphError(f"{where} has the unknown key {min(unknown)!r}; known keys: {', '.join(sorted(known))}")


def frozen(column: Sequence[float], dtype: type) -> NDArray[Any]:
    """Return a read-only array."""
    array: NDArray[Any] = numpy.array(column, dtype)
    array.flags.writeable = False
    return array


def read_list(document: dict[str, Any], key: str, where: str) -> list[Any]:
    """Return the list under a key of a document."""
    if not isinstance(document.get(key), list):
        raise GraphError(f"{where} needs a list of {key}")
    found: list[Any] = document[key]
    return found


def read_place(given: Any, what: str) -> int:
    """Return an index."""
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given < 2**31:
        raise GraphError(f"{what} must be an integer from 0 to 2**31 - 1, got {given!r}")
    return given


def read_number(given: Any, what: str) -> float:
    """Return a number. nan, inf and -inf must be given as strings."""
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
    """Return a string."""
    if not isinstance(given, str):
        raise GraphError(f"{what} is {given!r}, not a string")
    return given


def read_line(given: Any, where: str) -> SourceLine:
    """Return the source line that created a node. Documents of earlier versions do not contain the text of the line."""
    if not isinstance(given, dict) or given.keys() - {"text"} != {"file", "line"}:
        raise GraphError(f"the source of {where} is {given!r}, not a file and a line")
    line = read_place(given["line"], f"the line of {where}")
    text = read_text(given.get("text", ""), f"the text of {where}")
    if len(text) > LONGEST_TEXT:
        raise GraphError(f"the text of {where} must have at most {LONGEST_TEXT} characters, got {len(text)}")
    return SourceLine(read_text(given["file"], f"the file of {where}"), line, text)


def described_line(line: SourceLine) -> dict[str, Any]:
    """Convert a source line to the form that `read_line` reads."""
    text = {"text": line.text} if line.text else {}
    return {"file": line.filename, "line": line.number} | text
