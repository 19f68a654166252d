"""`clear_caches`: free the memory of all caches."""

from __future__ import annotations

from gradwalk.backend import thread_pool
from gradwalk.program.tracing import trace_cache
from gradwalk.trees import registry


def clear_caches() -> None:
    """Drop all recordings, the cached information about tree classes, and the idle threads of the thread pool.

    Everything is created again when it is needed. Recorded functions return the same results as before, but the next
    call takes longer. The attributes `.program` and `.graph` still describe the latest recording.

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
    registry.forget_classes()
    thread_pool.close()
