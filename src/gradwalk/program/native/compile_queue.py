"""The queue of programs to compile, and the compiler thread that works through it.

The thread is a daemon, so a process exits without waiting for it. It ends after `_PATIENCE` seconds without a task.
"""

from __future__ import annotations

import _thread
import os
import sys
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue

from gradwalk.program.native import compiler_process

# Seconds without a task after which the compiler thread and the compiler process end.
_PATIENCE = 5.0
# Seconds that a thread may hold the GIL while another thread waits for it. `_ShortTurns` compares this with
# `sys.getswitchinterval()`, so Python must store it exactly: 0.0002 would be read as 0.000199.
_TURN = 0.00015


class _ShortTurns:
    """Shortens Python's thread switch interval while there is a task.

    The interval is global to the process. If other code changes it meanwhile, that value stays.
    """

    def __init__(self) -> None:
        self._before = sys.getswitchinterval()

    def begin(self) -> None:
        """Shorten the interval."""
        interval = sys.getswitchinterval()
        if interval > _TURN:
            self._before = interval
            sys.setswitchinterval(_TURN)

    def end(self) -> None:
        """Restore the previous interval."""
        if sys.getswitchinterval() == _TURN:
            sys.setswitchinterval(self._before)


class _Queue:
    """Tasks in order of submission, and the thread that runs them.

    Every operation on its containers is one atomic C call, so finalizers and signal handlers may submit tasks at any
    point.
    """

    def __init__(self) -> None:
        self._tasks: deque[Callable[[], object]] = deque()  # the first one is running
        self._turns = _ShortTurns()
        self.renew()

    def renew(self) -> None:
        """Reset to no thread, as in a forked child. Unfinished tasks wait for the next submission."""
        self._turns.end()
        self._vacancy = deque([True])  # the caller that pops the item starts the thread
        self._submitted: SimpleQueue[None] = SimpleQueue()  # one item per task that has not started
        for _ in self._tasks:
            self._submitted.put(None)

    def submit(self, task: Callable[[], object]) -> None:
        """Append a task; start the thread unless it is running."""
        self._tasks.append(task)
        self._turns.begin()  # here, because this thread waits before the other one has run
        self._submitted.put(None)
        self.hire()

    def hire(self) -> None:
        """Start the thread unless it is running. Drop all tasks if threads cannot be started."""
        try:
            self._vacancy.pop()
        except IndexError:
            return
        try:
            _thread.start_new_thread(self._work, ())  # `threading` would wait until the thread has started
        except RuntimeError:  # no more threads, as in WebAssembly or when Python is exiting
            self._tasks.clear()
            self.renew()

    def _work(self) -> None:
        """Run tasks until the queue has been empty for a while. An exception ends the thread, which reports it."""
        try:
            while self._has_next():
                self._run_first()
        finally:
            compiler_process.close_idle()
            self._vacancy.append(True)
            if self._tasks:
                self.hire()

    def _run_first(self) -> None:
        self._turns.begin()
        try:
            self._tasks[0]()
        finally:
            self._tasks.popleft()
            if not self._tasks:
                self._turns.end()

    def _has_next(self) -> bool:
        try:
            self._submitted.get(timeout=_PATIENCE)
        except Empty:
            return False
        return True


_queue = _Queue()


def submit(task: Callable[[], object]) -> None:
    """Run a task in the compiler thread, after all tasks that were submitted before it.

    The thread reports exceptions of the task through `sys.unraisablehook`.
    """
    _queue.submit(task)


def close_idle_later() -> None:
    """End idle compiler processes once nothing has been compiled for a while."""
    _queue.hire()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_queue.renew)
