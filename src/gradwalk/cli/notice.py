"""What gradwalk says beside a script that it runs: on standard error, so that the script's own output stays its own."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """Print a line.

    Args:
        text: The line, without who says it.
    """
    print(f"gradwalk: {text}", file=sys.stderr)


def agreed(question: str) -> bool:
    """Ask a question and wait for the answer.

    Args:
        question: The question.

    Returns:
        Whether the answer was yes.
    """
    print(f"gradwalk: {question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def can_ask() -> bool:
    """Return whether there is somebody at a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()
