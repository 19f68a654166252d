"""Where in the user's program something happened."""

from __future__ import annotations

import linecache
import os
import sys
from pathlib import Path
from typing import NamedTuple

_PACKAGE = str(Path(__file__).parent) + os.sep


class SourceLine(NamedTuple):
    """A line of the user's program."""

    filename: str
    number: int

    def __str__(self) -> str:
        text = linecache.getline(self.filename, self.number).strip()
        place = f"{self.filename}:{self.number}"
        return f"{place}: {text}" if text else place


def users_line() -> SourceLine:
    """The innermost line now being run that is not gradwalk's own."""
    frame = sys._getframe()
    while frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
    return SourceLine(frame.f_code.co_filename, frame.f_lineno)
