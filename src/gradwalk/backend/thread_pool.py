"""The threads that the shards of a batch are run in.

Queues and deques are each changed by a single call of C. So an interrupt, which comes between two bytecodes, leaves
none of them half-changed, as it may leave the locks of `concurrent.futures`, which are Python's own.
"""

from __future__ import annotations

import _thread
import operator
import os
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from queue import Empty, SimpleQueue

from gradwalk.value.modes import Setting, value_of

# Seconds after which a thread that has nothing to do ends.
_PATIENCE = 10.0

_chosen: ContextVar[tuple[Setting, ...]] = ContextVar("threads", default=())


def threads(count: int) -> Setting:
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
    return Setting(_chosen, operator.index(count))


def available() -> int:
    """How many threads to use, the calling one included.

    Returns:
        What `threads` says here, or else OMP_NUM_THREADS, or else the number of cores that this process may use.
    """
    chosen = value_of(_chosen, None)
    if chosen is not None:
        return int(chosen)
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # one number for each level of nesting
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return cores()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Halted(BaseException):
    """Ends the work of a thread when another thread has raised."""


# What the work of this thread looks at, for each `run_tasks` that it is part of: it has an item once that is halted.
_halts: ContextVar[tuple[deque[None], ...]] = ContextVar("halts", default=())


def look_for_halt() -> None:
    """End the work of this thread if it is part of tasks that are halted. Long tasks call this now and then."""
    if any(_halts.get()):
        raise _Halted


class _Share:
    """What one thread is asked to do of a batch.

    Args:
        work: The work.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._owner: dict[None, str] = {}  # whoever sets it first
        self._ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def do(self) -> None:
        """Do the work, unless it has been withdrawn."""
        if self._owner.setdefault(None, "worker") != "worker":
            return
        error: BaseException | None = None
        try:
            self._work()
        except BaseException as raised:  # it is raised where the work is waited for
            error = raised
        finally:
            for _ in range(2):  # an interrupt may lose the first one
                self._ended.put(error)

    def withdraw(self) -> BaseException | None:
        """Withdraw the work or, where it has begun, wait for its end. Returns what it raised. May be called twice."""
        return None if self._owner.setdefault(None, "asker") == "asker" else self._ended.get()


class _Pool:
    """Threads that wait for work."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin without threads, as in a process that was forked: it has copies of none."""
        self._queue: SimpleQueue[_Share | None] = SimpleQueue()
        self._threads: deque[None] = deque()  # one item for each

    def __len__(self) -> int:
        """The number of threads."""
        return len(self._threads)

    def ask(self, shares: list[_Share]) -> None:
        """Have shares done, as far as there is a thread for each; others wait until one has time."""
        for share in shares:
            self._queue.put(share)
        while len(self._threads) < len(shares):
            self._threads.append(None)
            try:
                _thread.start_new_thread(self._run, ())
            except RuntimeError:  # there can be no more threads: the one that asks does the work itself
                self._threads.pop()
                return

    def close(self) -> None:
        """End the threads once they have done their work."""
        for _ in range(len(self._threads)):
            self._queue.put(None)

    def _run(self) -> None:
        try:
            while (share := self._queue.get(timeout=_PATIENCE)) is not None:
                share.do()
        except Empty:
            pass
        finally:
            self._threads.pop()


_pool = _Pool()


def run_tasks(tasks: range, work: Callable[[Iterator[int]], None]) -> None:
    """Do all tasks, each once, in several threads. Returns or raises when no thread works on any of them.

    Args:
        tasks: The numbers of the tasks.
        work: Called in each thread with an iterator of the tasks that this thread takes, one by one. What it raises is
            raised here, and halts the work in all threads: each ends after the task that it is at, or in the middle of
            it where that calls `look_for_halt`.
    """
    shared = min(available(), len(tasks)) - 1
    if shared <= 0:
        work(iter(tasks))
        return
    pending = deque(tasks)  # threads share it: each popleft takes one task
    halt: deque[None] = deque()
    halts = (*_halts.get(), halt)

    def work_here() -> None:
        try:
            copy_context().run(_work, work, pending, halts)
        except BaseException:
            halt.append(None)
            pending.clear()
            raise

    shares = [_Share(work_here) for _ in range(shared)]
    try:
        _pool.ask(shares)
        work_here()
        errors = [share.withdraw() for share in shares]
    except BaseException as raised:  # an interrupt, perhaps while this waits for other threads
        halt.append(None)
        pending.clear()
        errors = [share.withdraw() for share in shares]
        if not isinstance(raised, _Halted):
            raise
    for error in errors:
        if error is not None and not isinstance(error, _Halted):
            raise error
    look_for_halt()  # if the work around this one is halted, this one may have stopped half-way


def _work(work: Callable[[Iterator[int]], None], pending: deque[int], halts: tuple[deque[None], ...]) -> None:
    """Do what is pending, in a context of its own, so that nothing of it stays after an interrupt."""
    _halts.set(halts)
    work(_taken(pending))


def close() -> None:
    """End the threads. More are started where they are needed."""
    _pool.close()


def _taken(pending: deque[int]) -> Iterator[int]:
    while True:
        try:
            task = pending.popleft()
        except IndexError:
            return
        yield task


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)
