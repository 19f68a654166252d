"""Process-wide locks."""

from __future__ import annotations

import os
import threading


def process_lock() -> threading.RLock:
    """Return a reentrant lock that is always released in a forked child process.

    A forked child has only the thread that called fork, so a lock held by any other thread would never be released.
    """
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
