"""The queue of compilation tasks, and the compiler thread that runs them.

The thread is a daemon: the process can exit without waiting for the thread. The thread ends after `_PATIENCE` seconds
without a task.
"""

from __future__ import annotations

import _thread
import os
import sys
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue

from gradwalk.program.native import compiler_process

# The compiler thread and the compiler process end after this many seconds without a task.
_PATIENCE = 5.0
# Thread switch interval in seconds while there are tasks. `_ShortTurns` compares this number with
# `sys.getswitchinterval()`, which must return exactly this number. If it were 0.0002, the function would return
# 0.000199.
_TURN = 0.00015


class _ShortTurns:
    """Shortens Python's thread switch interval while there are tasks.

    The interval is global to the process. If other code changes the interval while there are tasks, the earlier
    interval is not restored.
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
    """Tasks in the order of their submission, and the thread that runs them.

    Every operation on the containers of the queue is one atomic C call, so finalizers and signal handlers may submit
    tasks at any time.
    """

    def __init__(self) -> None:
        self._tasks: deque[Callable[[], object]] = deque()  # the first task is running, or is the next to run
        self._turns = _ShortTurns()
        self.renew()

    def renew(self) -> None:
        """Forget the thread, which does not exist in a forked child. Unfinished tasks run after the next submission."""
        self._turns.end()
        self._vacancy = deque([True])  # the caller that pops this item starts the thread
        self._submitted: SimpleQueue[None] = SimpleQueue()  # an item per task that has not started
        for _ in self._tasks:
            self._submitted.put(None)

    def submit(self, task: Callable[[], object]) -> None:
        """Append a task and start the thread unless it is running."""
        self._tasks.append(task)
        self._turns.begin()  # already here, because this thread may wait for the GIL before the compiler thread runs
        self._submitted.put(None)
        self.hire()

    def hire(self) -> None:
        """Start the thread unless it is running. Drop all tasks if threads cannot be started."""
        try:
            self._vacancy.pop()
        except IndexError:
            return
        try:
            _thread.start_new_thread(self._work, ())  # `threading.Thread.start` would wait until the thread has started
        except RuntimeError:  # threads cannot be started in WebAssembly, or while Python exits
            self._tasks.clear()
            self.renew()

    def _work(self) -> None:
        """Run tasks until the queue has been empty for a while. An exception is reported and ends the thread."""
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
    """Run a task in the compiler thread, after all tasks that were submitted earlier.

    Exceptions of the task are reported through `sys.unraisablehook`.
    """
    _queue.submit(task)


def close_idle_later() -> None:
    """Arrange for idle compiler processes to end when nothing has been compiled for a while."""
    _queue.hire()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_queue.renew)
