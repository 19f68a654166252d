"""`clear_caches`: forget what is only kept to save time."""

from __future__ import annotations

from gradwalk.backend import thread_pool
from gradwalk.program.tracing import trace_cache
from gradwalk.trees import tree


def clear_caches() -> None:
    """Forget all recordings, the classes that are known as trees, and the threads that wait for work.

    Everything is made again when it is needed. What a recorded function returns does not change; only its next call
    takes longer, and its `.program` and `.graph` stay those of the latest recording.

    Example:
        >>> from gradwalk import jit
        >>> double = jit(lambda x: 2.0 * x)
        >>> double(3.0), double.statistics.recordings
        (6.0, 1)
        >>> clear_caches()
        >>> double.statistics.recordings, double(4.0)
        (0, 8.0)
    """
    trace_cache.clear_all()
    tree.forget_classes()
    thread_pool.close()
