"""A moment for signals and other threads, for compiled code that holds the interpreter's lock for long."""


def pause() -> None:
    """Let signal handlers run, and other threads that have waited for the lock.

    This module is not to be compiled: Python looks for both wherever one of its functions begins. To release the lock
    for a moment would not do, as who waits for it is rarely fast enough, and asks for it only if nobody else does.
    """
