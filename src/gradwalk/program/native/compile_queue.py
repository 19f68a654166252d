"""The queue of programs to compile, and the one thread that compiles them.

The thread is a daemon: a process that exits does not wait for it. It ends when it has had nothing to do for a while.
"""

from __future__ import annotations

import _thread
import os
import sys
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue

from gradwalk.program.native import compiler_process

# Seconds without a task after which the thread ends, and the process that compiles with it.
_PATIENCE = 5.0
# Seconds that the thread may keep the interpreter's lock while another thread waits for it. `_ShortTurns` compares the
# number with `sys.getswitchinterval()`, so Python must store it exactly: 0.0002 would be read as 0.000199.
_TURN = 0.00015


class _ShortTurns:
    """The interval after which a thread of Python gives way to another one, made short while there is a task.

    All threads share the interval. If other code sets another interval meanwhile, that interval stays.
    """

    def __init__(self) -> None:
        self._before = sys.getswitchinterval()

    def begin(self) -> None:
        """Make the interval short."""
        interval = sys.getswitchinterval()
        if interval > _TURN:
            self._before = interval
            sys.setswitchinterval(_TURN)

    def end(self) -> None:
        """Set the interval that there was before."""
        if sys.getswitchinterval() == _TURN:
            sys.setswitchinterval(self._before)


class _Queue:
    """Tasks in the order in which they were submitted, and the thread that runs them.

    Each step on its parts is a single call of C, so finalisers and signal handlers may submit in the middle of one.
    """

    def __init__(self) -> None:
        self._tasks: deque[Callable[[], object]] = deque()  # the first one is the task that runs
        self._turns = _ShortTurns()
        self.renew()

    def renew(self) -> None:
        """Begin without a thread, as in a forked child. Tasks that were not finished wait for the next submission."""
        self._turns.end()
        self._vacancy = deque([True])  # whoever pops the item starts the thread
        self._submitted: SimpleQueue[None] = SimpleQueue()  # an item for each task that has not begun
        for _ in self._tasks:
            self._submitted.put(None)

    def submit(self, task: Callable[[], object]) -> None:
        """Append a task, and start the thread unless it runs."""
        self._tasks.append(task)
        self._turns.begin()  # here, because this thread begins to wait before the other one has run
        self._submitted.put(None)
        self.hire()

    def hire(self) -> None:
        """Start the thread, unless it runs. The tasks are dropped if threads cannot be started."""
        try:
            self._vacancy.pop()
        except IndexError:
            return
        try:
            _thread.start_new_thread(self._work, ())  # `threading` would wait until the thread has begun
        except RuntimeError:  # there can be no more threads, as in WebAssembly or when Python is about to exit
            self._tasks.clear()
            self.renew()

    def _work(self) -> None:
        """Run tasks until there have been none for a while. An error ends the thread, and is reported thereby."""
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
    """Have a task run in the thread that compiles, after all tasks that were submitted before it.

    Args:
        task: The task. The thread reports the error that it raises through `sys.unraisablehook`.
    """
    _queue.submit(task)


def close_idle_later() -> None:
    """Have idle processes ended when nothing has been compiled for a while: see `compiler_process.close_idle`."""
    _queue.hire()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_queue.renew)
