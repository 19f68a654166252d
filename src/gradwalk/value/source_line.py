"""Where in the user's program something happened."""

from __future__ import annotations

import linecache
import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy

# The files of gradwalk and of NumPy, whose functions call Values back.
_LIBRARIES = (str(Path(__file__).parents[1]) + os.sep, str(Path(numpy.__file__).parent) + os.sep)


class SourceLine(NamedTuple):
    """A line of the user's program."""

    filename: str
    number: int

    def __str__(self) -> str:
        text = linecache.getline(self.filename, self.number).strip()
        place = f"{self.filename}:{self.number}"
        return f"{place}: {text}" if text else place


def users_line() -> SourceLine:
    """Return the innermost line now being run that is neither gradwalk's own nor NumPy's."""
    frame = sys._getframe()
    while frame.f_code.co_filename.startswith(_LIBRARIES) and frame.f_back is not None:
        frame = frame.f_back
    return SourceLine(frame.f_code.co_filename, frame.f_lineno)
