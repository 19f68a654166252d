"""Locks of the whole process."""

from __future__ import annotations

import os
import threading


def process_lock() -> threading.RLock:
    """Return a lock that the thread which holds it may take again, and that a forked process gets free.

    A child has none of the parent's other threads: nobody there would open a lock that one of these held.
    """
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
