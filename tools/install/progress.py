"""A report of how many modules are compiled, also shown while pip hides the output of builds."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress

# The text is written to the right of pip's line with the spinner. The cursor is saved, moved to a column, and restored,
# because pip moves the cursor relative to its position.
_COLUMN = 56
_FEWEST_COLUMNS = 80
_WRITE, _ERASE = f"\0337\033[{_COLUMN}G%s\033[K\0338", f"\0337\033[{_COLUMN}G\033[K\0338"
_EVERY = 1.0  # seconds between updates of the terminal


class Progress:
    """A context that reports progress: lines on standard output, and a text on the terminal if there is one.

    Frontends such as pip print standard output only if they are asked to (`pip install -v`). The text is written to the
    terminal itself unless standard output is the terminal, and unless this process runs in the background.
    """

    def __init__(self, weights: dict[str, int], is_quiet: bool) -> None:
        """Start a report about steps, each with an estimate of its duration in any unit."""
        self._weights, self._is_quiet = weights, is_quiet
        self._done: set[str] = set()
        self._start = time.monotonic()
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._terminal = -1 if sys.stdout.isatty() and not is_quiet else _open_terminal()
        self._thread = threading.Thread(target=self._refresh, daemon=True)

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._thread.join()
        if self._terminal >= 0:
            os.close(self._terminal)

    def finish(self, step: str) -> None:
        """Report that a step is finished."""
        with self._lock:
            self._done.add(step)
            self._write(_ERASE)  # lines that pip prints would leave the text standing
            if not self._is_quiet:
                print(f"gradwalk: compiled {self._state()}", flush=True)

    def _state(self) -> str:
        """Return the number of finished steps, and an estimate of the remaining time after some steps."""
        total, done = sum(self._weights.values()), sum(self._weights[step] for step in self._done)
        text = f"{len(self._done)} of {len(self._weights)}"
        if done == total or done < total / 10:
            return f"{text} modules" if done == total else text
        left = (time.monotonic() - self._start) * (total - done) / done
        return f"{text}, {max(left, 1):.0f} s left"

    def _refresh(self) -> None:
        """Update the terminal every second until the report is over."""
        while not self._is_over.wait(_EVERY):
            with self._lock:
                self._write(_WRITE % self._state())
        self._write(_ERASE)

    def _write(self, text: str) -> None:
        """Write to the terminal if this process is in its foreground and lines are long enough."""
        if self._terminal < 0:
            return
        with suppress(OSError):  # the terminal has been closed
            is_wide = os.get_terminal_size(self._terminal).columns >= _FEWEST_COLUMNS
            if is_wide and os.tcgetpgrp(self._terminal) == os.getpgrp():
                os.write(self._terminal, text.encode())


def _open_terminal() -> int:
    """Open the terminal of this process; return -1 if there is none or if it cannot move its cursor."""
    if os.name != "posix" or os.environ.get("TERM", "dumb") == "dumb":
        return -1
    try:
        return os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return -1
