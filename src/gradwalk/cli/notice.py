"""Messages and questions while gradwalk runs a script. They go to standard error, apart from the script's output."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """Print a line with the prefix "gradwalk: "."""
    print(f"gradwalk: {text}", file=sys.stderr)


def agreed(question: str) -> bool:
    """Ask a question and return whether the answer was yes."""
    print(f"gradwalk: {question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def can_ask() -> bool:
    """Return whether standard input and standard error are terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()
