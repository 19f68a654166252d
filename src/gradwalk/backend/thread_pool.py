"""The threads that batches are spread over."""

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
    """Within it, batches are spread over so many threads. No bit of their results depends on that.

    Otherwise they are as many as the environment variable OMP_NUM_THREADS says, or else as the cores that this process
    may use. Raises `ValueError` where it is less than one.

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
    """How many threads to use."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # for nested loops there may be several
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(tasks: range, work: Callable[[Iterator[int]], None]) -> None:
    """Have all tasks done, each once: `work` is called in several threads, with the tasks that it takes one by one."""
    pending = deque(tasks)
    helpers = min(available(), len(tasks)) - 1
    if helpers < 1:
        work(_taken(pending))
        return
    if helpers not in _pools:
        _pools[helpers] = ThreadPoolExecutor(helpers, "gradwalk")
    futures: list[Future[None]] = []
    with suppress(RuntimeError):  # the interpreter is ending, and starts no threads any more: this one does it all
        futures += [_pools[helpers].submit(work, _taken(pending)) for _ in range(helpers)]
    try:
        work(_taken(pending))
    finally:
        pending.clear()
        started = [future for future in futures if not future.cancel()]  # the others wait behind the work of others
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


if hasattr(os, "register_at_fork"):  # threads do not come along into a forked process
    os.register_at_fork(after_in_child=_pools.clear)
