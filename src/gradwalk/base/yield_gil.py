"""A pause for signal handlers and other threads, for compiled code that holds the GIL for a long time."""


def pause() -> None:
    """Let signal handlers and waiting threads run.

    This module must not be compiled: the interpreter checks for signals and for waiting threads when a Python function
    is entered. Releasing the GIL for a moment would not be enough, because a waiting thread rarely wakes up in time to
    take it.
    """
