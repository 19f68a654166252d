"""Thread pool that runs the shards of a batch.

The pool uses only `SimpleQueue`, deques and dicts, whose operations are single C calls. An interrupt arrives between
two bytecodes, so it cannot leave these objects in an inconsistent state. It could leave the locks of
`concurrent.futures` in such a state, because that package is written in Python.
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

# Seconds after which an idle thread ends.
_PATIENCE = 10.0

_chosen: ContextVar[tuple[Setting, ...]] = ContextVar("threads", default=())


def threads(count: int) -> Setting:
    """Set the number of threads that run batches. Results are bitwise identical for any number of threads.

    The default is the environment variable OMP_NUM_THREADS, or else the number of cores that this process may use.

    Args:
        count: Number of threads, including the calling thread.

    Returns:
        A context manager that can also decorate a function. Other threads that are already running keep their setting.

    Raises:
        ValueError: If `count` is less than 1.

    Example:
        >>> with threads(1):
        ...     available()
        1
    """
    if operator.index(count) < 1:
        raise ValueError(f"the number of threads must be at least 1, got {count}")
    return Setting(_chosen, operator.index(count))


def available() -> int:
    """Return the number of threads, including the caller: from `threads`, OMP_NUM_THREADS, or the number of cores."""
    chosen = value_of(_chosen, None)
    if chosen is not None:
        return int(chosen)
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # may list one number per nesting level
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return cores()


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Halted(BaseException):
    """Raised in a thread to end its work after an exception in another thread."""


# One deque for each `run_tasks` call that this thread works for. The deque is empty until the call is halted.
_halts: ContextVar[tuple[deque[None], ...]] = ContextVar("halts", default=())


def look_for_halt() -> None:
    """Raise `_Halted` if this thread works for a halted `run_tasks` call. Long tasks must call this function often."""
    if any(_halts.get()):
        raise _Halted


class _Share:
    """Work for one pool thread. The submitting thread can withdraw it until a pool thread starts it."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._owner: dict[None, str] = {}  # the side that sets the item first: "worker" (pool thread) or "asker"
        self._ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def do(self) -> None:
        """Run the work, unless it was withdrawn."""
        if self._owner.setdefault(None, "worker") != "worker":
            return
        error: BaseException | None = None
        try:
            self._work()
        except BaseException as raised:  # `withdraw` returns it to the submitting thread
            error = raised
        finally:
            for _ in range(2):  # twice, because an interrupt may lose the first item
                self._ended.put(error)

    def withdraw(self) -> BaseException | None:
        """Withdraw the work or, if it has started, wait for it and return its exception. Can be called twice."""
        return None if self._owner.setdefault(None, "asker") == "asker" else self._ended.get()


class _Pool:
    """A pool of threads that wait for shares of work."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset to zero threads. A forked child process needs this: it does not inherit its parent's threads."""
        self._queue: SimpleQueue[_Share | None] = SimpleQueue()
        self._threads: deque[None] = deque()  # one item per thread

    def __len__(self) -> int:
        """Return the number of threads."""
        return len(self._threads)

    def ask(self, shares: list[_Share]) -> None:
        """Queue the shares. Start threads until there is one thread per share or the system allows no more threads."""
        for share in shares:
            self._queue.put(share)
        while len(self._threads) < len(shares):
            self._threads.append(None)
            try:
                _thread.start_new_thread(self._run, ())
            except RuntimeError:  # no more threads are available: the submitting thread does the work
                self._threads.pop()
                return

    def close(self) -> None:
        """End the threads after they have finished their work."""
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
    """Run each task once, distributed over several threads. Returns or raises only after all threads have stopped.

    Each thread calls `work` with an iterator over the tasks that the thread takes. An exception in one thread is raised
    here and halts the other threads. A halted thread stops after its current task, or during the task at the next call
    of `look_for_halt`.
    """
    shared = min(available(), len(tasks)) - 1
    if shared <= 0:
        work(iter(tasks))
        return
    pending = deque(tasks)  # shared by all threads: each popleft takes one task
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
    except BaseException as raised:  # also an interrupt while waiting for other threads
        halt.append(None)
        pending.clear()
        errors = [share.withdraw() for share in shares]
        if not isinstance(raised, _Halted):
            raise
    for error in errors:
        if error is not None and not isinstance(error, _Halted):
            raise error
    look_for_halt()  # if an enclosing run_tasks is halted, these tasks may be incomplete


def _work(work: Callable[[Iterator[int]], None], pending: deque[int], halts: tuple[deque[None], ...]) -> None:
    """Run pending tasks. The caller runs this in a copied context, so that `_halts` is restored after an interrupt."""
    _halts.set(halts)
    work(_taken(pending))


def close() -> None:
    """End the threads of the pool. Later calls of `run_tasks` start new threads."""
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
