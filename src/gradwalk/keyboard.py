"""Keys as they are pressed, for stepping through a walk; from a pipe, letters as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

_MEANINGS = {
    "next": (" ", "\r", "\n", "n", "\x1b[C", "\x1b[B", "\xe0M", "\xe0P"),
    "back": ("b", "p", "\x7f", "\x08", "\x1b[D", "\x1b[A", "\xe0K", "\xe0H"),
    "end": ("e", "\x1b[F", "\xe0O"),
    "start": ("s", "\x1b[H", "\xe0G"),
    "quit": ("q", "\x03", "\x04", "\x1b", ""),
}


def presses() -> Iterator[str]:
    """What the keys mean that are pressed: "next", "back", "end" or "start". Ends with the input, or with q."""
    with_meaning = {key: meaning for meaning, group in _MEANINGS.items() for key in group}
    while True:
        meaning = with_meaning.get(_pressed())
        if meaning == "quit":
            return
        if meaning:
            yield meaning


def _pressed() -> str:
    """The next key; empty at the end of the input."""
    if not sys.stdin.isatty():
        return sys.stdin.read(1)
    return _windows_key() if sys.platform == "win32" else _posix_key()


def _windows_key() -> str:
    import msvcrt

    read: Callable[[], str] = msvcrt.getwch  # type: ignore[attr-defined, unused-ignore]
    key = read()
    return "\xe0" + read() if key in "\x00\xe0" else key


def _posix_key() -> str:
    """A key without waiting for the end of a line. Arrows send three characters at once, which begin with escape."""
    import os
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        return os.read(terminal, 8).decode(errors="replace")
    except KeyboardInterrupt:
        return "\x03"
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
