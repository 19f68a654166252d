"""The compile queue: one thread runs tasks in order, reports errors, and ends when idle."""

from __future__ import annotations

import _thread
import gc
import subprocess
import sys
import threading
import time

import pytest
from while_compiling import exiting

from gradwalk.program.native import compile_queue
from gradwalk.program.native.compile_queue import _Queue, submit


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    monkeypatch.setattr(compile_queue, "_PATIENCE", 0.05)


def wait_for(condition) -> bool:
    """Wait up to 10 seconds for a condition, and return whether it holds."""
    end = time.monotonic() + 10
    while time.monotonic() < end and not condition():
        time.sleep(0.005)
    return bool(condition())


def test_one_thread_runs_all_tasks_in_order():
    queue, ran = _Queue(), []
    for i in range(400):
        queue.submit(lambda i=i: ran.append((i, threading.get_ident())))
    assert wait_for(lambda: len(ran) == 400)
    assert [i for i, _ in ran] == list(range(400))
    assert len({thread for _, thread in ran}) == 1


def test_an_idle_thread_ends_and_is_replaced():
    queue, ran = _Queue(), []
    for i in range(3):
        queue.submit(lambda i=i: ran.append(i))
        assert wait_for(lambda: len(queue._vacancy) == 1)
    assert ran == [0, 1, 2]


def test_tasks_finalizers_and_threads_may_submit():
    queue, ran = _Queue(), []

    class Finalized:
        def __del__(self):
            queue.submit(lambda: ran.append("finalizer"))

    queue.submit(lambda: queue.submit(lambda: ran.append("task")))
    threads = [threading.Thread(target=queue.submit, args=(lambda: ran.append("thread"),)) for _ in range(20)]
    for thread in threads:
        thread.start()
    Finalized()
    gc.collect()
    for thread in threads:
        thread.join()
    assert wait_for(lambda: sorted(ran) == ["finalizer", "task", *["thread"] * 20])


def test_errors_are_reported_and_later_tasks_run(monkeypatch):
    reported, ran, queue = [], [], _Queue()
    monkeypatch.setattr(sys, "unraisablehook", lambda arguments: reported.append(repr(arguments.exc_value)))

    def fail():
        raise AttributeError("a real error")

    queue.submit(fail)
    queue.submit(lambda: ran.append(1))
    assert wait_for(lambda: ran == [1])
    assert reported == ["AttributeError('a real error')"]


def test_tasks_are_dropped_if_no_thread_starts(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    queue, ran, interval = _Queue(), [], sys.getswitchinterval()
    with monkeypatch.context() as patch:
        patch.setattr(_thread, "start_new_thread", refuse)
        queue.submit(lambda: ran.append(1))
    assert not queue._tasks
    assert sys.getswitchinterval() == interval
    queue.submit(lambda: ran.append(2))
    assert wait_for(lambda: ran == [2])


def test_switch_interval_is_short_during_tasks():
    intervals, interval, queue = [], sys.getswitchinterval(), _Queue()
    go_on = threading.Event()
    for _ in range(2):
        queue.submit(lambda: (intervals.append(sys.getswitchinterval()), go_on.wait(10)))
    assert sys.getswitchinterval() == pytest.approx(0.00015)
    go_on.set()
    assert wait_for(lambda: sys.getswitchinterval() == interval)
    assert intervals == pytest.approx([0.00015] * 2)


def test_a_switch_interval_set_meanwhile_is_kept():
    before, queue = sys.getswitchinterval(), _Queue()
    try:
        queue.submit(lambda: sys.setswitchinterval(0.25))
        assert wait_for(lambda: len(queue._vacancy) == 1)
        assert sys.getswitchinterval() == 0.25
    finally:
        sys.setswitchinterval(before)


def test_a_renewed_queue_keeps_its_tasks():
    queue, ran, interval = _Queue(), [], sys.getswitchinterval()
    begun, go_on = threading.Event(), threading.Event()

    def task():
        begun.set()
        go_on.wait(10)
        ran.append("first")

    queue.submit(task)
    queue.submit(lambda: ran.append("second"))
    assert begun.wait(10)
    copy = _Queue()  # as in a forked child, which has neither the thread nor its lock
    copy._tasks.extend(queue._tasks)
    copy._turns._before = interval
    copy.renew()
    assert sys.getswitchinterval() == interval
    go_on.set()
    copy.submit(lambda: ran.append("third"))
    assert wait_for(lambda: sorted(ran) == ["first", "first", "second", "second", "third"])


def test_the_global_queue_uses_a_daemon_thread():
    ran = []
    submit(lambda: ran.append(threading.current_thread().daemon))
    assert wait_for(lambda: ran == [True])


def test_exit_while_compiling_is_silent(tmp_path):
    pytest.importorskip("llvmlite")
    for seed in range(5):
        command = [sys.executable, "-c", exiting(seed, str(tmp_path))]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


MANY = """
import _thread
from gradwalk import jit, math
from gradwalk.program.native import machine_code
from gradwalk.program.run.interpreter import Interpreter

f = jit(lambda x: math.sin(x) * x)
f(0.5)
interpreters = [Interpreter(f.program.code) for _ in range(400)]
begun = _thread._count()
for interpreter in interpreters:
    machine_code.compile_for(interpreter)
assert _thread._count() <= begun + 1
assert interpreters[-1].machine_code is None  # exit does not wait for this compilation
"""


def test_many_compilations_share_one_thread():
    pytest.importorskip("llvmlite")
    subprocess.run([sys.executable, "-c", MANY], check=True, timeout=120)
