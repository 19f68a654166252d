"""Reads key presses for stepping through a walk; from a pipe, reads single characters."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator

_MEANINGS = {
    "next": (" ", "\r", "\n", "n", "\x1b[C", "\x1b[B", "\x1bOC", "\x1bOB", "\xe0M", "\xe0P"),
    "back": ("b", "p", "\x7f", "\x08", "\x1b[D", "\x1b[A", "\x1bOD", "\x1bOA", "\xe0K", "\xe0H"),
    "end": ("e", "\x1b[F", "\x1bOF", "\x1b[4~", "\xe0O"),
    "start": ("s", "\x1b[H", "\x1bOH", "\x1b[1~", "\xe0G"),
    "quit": ("q", "\x03", "\x04", "\x1b"),
}
_KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO.|.", re.DOTALL)


def presses() -> Iterator[str]:
    """Yield the meanings of pressed keys, "next", "back", "end" or "start", until the input ends or q is pressed."""
    with_meaning = {key: meaning for meaning, group in _MEANINGS.items() for key in group}
    for key in _keys():
        meaning = with_meaning.get(key)
        if meaning == "quit":
            return
        if meaning:
            yield meaning


def _keys() -> Iterator[str]:
    if not sys.stdin.isatty():
        return iter(lambda: sys.stdin.read(1), "")
    return _windows_keys() if sys.platform == "win32" else _posix_keys()


def _windows_keys() -> Iterator[str]:
    import msvcrt

    read: Callable[[], str] = msvcrt.getwch  # type: ignore[attr-defined, unused-ignore]
    while True:
        key = read()
        yield "\xe0" + read() if key in "\x00\xe0" else key


def _posix_keys() -> Iterator[str]:
    """Yield keys without waiting for the end of a line. One read may return several keys; an arrow has 3 characters."""
    import os
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSADRAIN)  # TCSADRAIN keeps keys that were typed ahead
        while pressed := os.read(terminal, 1024):
            yield from _KEY.findall(pressed.decode(errors="replace"))
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
