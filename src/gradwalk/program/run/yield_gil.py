"""A pause for signals and other threads, for compiled code that holds the GIL for long."""


def pause() -> None:
    """Let signal handlers and waiting threads run.

    This module must not be compiled: Python checks for signals and for waiting threads when one of its functions is
    entered. Releasing the GIL for a moment is not enough: a waiting thread rarely wakes up in time to take it.
    """
