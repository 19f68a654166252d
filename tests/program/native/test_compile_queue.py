"""The queue of programs to compile: one thread, which reports errors, ends when it has nothing to do, and is polite."""

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


def waited_for(condition) -> bool:
    """Whether something is the case within ten seconds."""
    end = time.monotonic() + 10
    while time.monotonic() < end and not condition():
        time.sleep(0.005)
    return bool(condition())


def test_one_thread_runs_all_tasks_in_their_order():
    queue, ran = _Queue(), []
    for i in range(400):
        queue.submit(lambda i=i: ran.append((i, threading.get_ident())))
    assert waited_for(lambda: len(ran) == 400)
    assert [i for i, _ in ran] == list(range(400))
    assert len({thread for _, thread in ran}) == 1


def test_the_thread_ends_and_another_one_begins():
    queue, ran = _Queue(), []
    for i in range(3):
        queue.submit(lambda i=i: ran.append(i))
        assert waited_for(lambda: len(queue._vacancy) == 1)
    assert ran == [0, 1, 2]


def test_submissions_come_from_everywhere():
    queue, ran = _Queue(), []

    class Finalised:
        def __del__(self):
            queue.submit(lambda: ran.append("finaliser"))

    queue.submit(lambda: queue.submit(lambda: ran.append("task")))
    threads = [threading.Thread(target=queue.submit, args=(lambda: ran.append("thread"),)) for _ in range(20)]
    for thread in threads:
        thread.start()
    Finalised()
    gc.collect()
    for thread in threads:
        thread.join()
    assert waited_for(lambda: sorted(ran) == ["finaliser", "task", *["thread"] * 20])


def test_an_error_is_reported_and_the_next_task_runs(monkeypatch):
    reported, ran, queue = [], [], _Queue()
    monkeypatch.setattr(sys, "unraisablehook", lambda arguments: reported.append(repr(arguments.exc_value)))

    def fail():
        raise AttributeError("a real error")

    queue.submit(fail)
    queue.submit(lambda: ran.append(1))
    assert waited_for(lambda: ran == [1])
    assert reported == ["AttributeError('a real error')"]


def test_where_no_thread_can_be_started_nothing_is_kept(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    queue, ran, interval = _Queue(), [], sys.getswitchinterval()
    with monkeypatch.context() as patch:
        patch.setattr(_thread, "start_new_thread", refuse)
        queue.submit(lambda: ran.append(1))
    assert not queue._tasks
    assert sys.getswitchinterval() == interval
    queue.submit(lambda: ran.append(2))
    assert waited_for(lambda: ran == [2])


def test_turns_are_short_while_there_are_tasks():
    intervals, interval, queue = [], sys.getswitchinterval(), _Queue()
    go_on = threading.Event()
    for _ in range(2):
        queue.submit(lambda: (intervals.append(sys.getswitchinterval()), go_on.wait(10)))
    assert sys.getswitchinterval() == pytest.approx(0.00015)
    go_on.set()
    assert waited_for(lambda: sys.getswitchinterval() == interval)
    assert intervals == pytest.approx([0.00015] * 2)


def test_an_interval_that_others_set_is_left_alone():
    before, queue = sys.getswitchinterval(), _Queue()
    try:
        queue.submit(lambda: sys.setswitchinterval(0.25))
        assert waited_for(lambda: len(queue._vacancy) == 1)
        assert sys.getswitchinterval() == 0.25
    finally:
        sys.setswitchinterval(before)


def test_a_queue_that_is_renewed_keeps_its_tasks():
    queue, ran, interval = _Queue(), [], sys.getswitchinterval()
    begun, go_on = threading.Event(), threading.Event()

    def task():
        begun.set()
        go_on.wait(10)
        ran.append("first")

    queue.submit(task)
    queue.submit(lambda: ran.append("second"))
    assert begun.wait(10)
    copy = _Queue()  # as in a child that is forked now, which has neither the thread nor its lock
    copy._tasks.extend(queue._tasks)
    copy._turns._before = interval
    copy.renew()
    assert sys.getswitchinterval() == interval
    go_on.set()
    copy.submit(lambda: ran.append("third"))
    assert waited_for(lambda: sorted(ran) == ["first", "first", "second", "second", "third"])


def test_the_queue_of_the_process():
    ran = []
    submit(lambda: ran.append(threading.current_thread().daemon))
    assert waited_for(lambda: ran == [True])


def test_an_exit_is_silent(tmp_path):
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
assert interpreters[-1].machine_code is None  # the exit does not wait for it
"""


def test_many_functions_wait_in_one_thread():
    pytest.importorskip("llvmlite")
    subprocess.run([sys.executable, "-c", MANY], check=True, timeout=120)
