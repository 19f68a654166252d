"""The threads that the shards of a batch are run in."""

from __future__ import annotations

import operator
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar

_chosen: ContextVar[int | None] = ContextVar("threads", default=None)
_pools: dict[int, ThreadPoolExecutor] = {}  # by how many threads they have


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run batches in this many threads, within a `with` block. No bit of a result depends on their number.

    Elsewhere there are as many as the environment variable OMP_NUM_THREADS says, or else as many as the cores that this
    process may use.

    Args:
        count: The number of threads, the calling one included.

    Returns:
        A context manager, which can also decorate a function. Threads that run already keep their own number.

    Raises:
        ValueError: Where that is less than one.

    Example:
        >>> with threads(1):
        ...     available()
        1
    """
    if operator.index(count) < 1:
        raise ValueError(f"threads() takes a number of threads from 1 on, not {count}")
    token = _chosen.set(operator.index(count))
    try:
        yield
    finally:
        _chosen.reset(token)


def available() -> int:
    """How many threads to use, the calling one included.

    Returns:
        What `threads` says here, or else OMP_NUM_THREADS, or else the number of cores that this process may use.
    """
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # one number for each level of nesting
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_tasks(tasks: range, work: Callable[[Iterator[int]], None]) -> None:
    """Do all tasks, each once, in several threads. Returns when no thread works on any of them.

    Args:
        tasks: The numbers of the tasks.
        work: Called in each thread with an iterator of the tasks that this thread takes, one by one. What it raises
            ends the work in all threads, each after the task that it is at, and is raised here.
    """
    pending = deque(tasks)  # threads share it: each popleft takes one task
    helpers = min(available(), len(tasks)) - 1
    if helpers < 1:
        work(_taken(pending))
        return
    # Another thread may do the same at the same time: setdefault lets both have one pool. A pool that is not used has
    # no threads yet.
    pool = _pools.get(helpers) or _pools.setdefault(helpers, ThreadPoolExecutor(helpers, "gradwalk"))
    futures: list[Future[None]] = []
    try:
        with suppress(RuntimeError):  # the pool is closed, as the interpreter is ending: this thread does what is left
            for _ in range(helpers):
                futures.append(pool.submit(work, _taken(pending)))  # noqa: PERF401  what is submitted has to be known
        work(_taken(pending))
    finally:
        pending.clear()
        started = [future for future in futures if not future.cancel()]  # the others wait behind other batches
        wait(started)
    for future in started:
        future.result()


def close() -> None:
    """End the threads. More are started where they are needed."""
    while _pools:
        _pools.popitem()[1].shutdown()


def _taken(pending: deque[int]) -> Iterator[int]:
    while True:
        try:
            task = pending.popleft()
        except IndexError:
            return
        yield task


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads, so pools of its own
    os.register_at_fork(after_in_child=_pools.clear)
