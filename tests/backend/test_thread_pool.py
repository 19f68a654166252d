"""The thread pool that runs batches: tasks, errors, and the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
from alarms import alarm, needs_timers

from gradwalk.backend import thread_pool
from gradwalk.backend.thread_pool import available, run_tasks, threads


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("tasks", [0, 1, 2, 50])
def test_every_task_runs_once(count, tasks):
    done = Counter()
    with threads(count):
        run_tasks(range(tasks), done.update)
    assert done == Counter(range(tasks))


def test_requested_threads_run_but_not_more_than_tasks():
    met = threading.Barrier(3)

    def work(taken):
        for _ in taken:
            met.wait(timeout=10)  # needs all three threads

    with threads(3):
        run_tasks(range(3), work)
    seen = set()
    with threads(8):
        run_tasks(range(2), lambda taken: seen.add(threading.get_ident()))
    assert len(seen) <= 2


def test_one_thread_means_the_calling_thread():
    seen = []
    with threads(1):
        run_tasks(range(5), lambda taken: seen.extend(threading.get_ident() for _ in taken))
    assert seen == [threading.get_ident()] * 5


class TestNumberOfThreads:
    def test_the_innermost_context_wins(self):
        with threads(3):
            with threads(5):
                assert available() == 5
            assert available() == 3

    def test_a_context_affects_only_its_own_thread(self):
        seen = []
        with threads(7):
            other = threading.Thread(target=lambda: seen.append(available()))
            other.start()
            other.join()
        assert seen == [available()]

    @pytest.mark.parametrize(("given", "expected"), [("3", 3), ("1", 1), ("0", None), ("", None), ("two", None)])
    def test_the_environment_sets_the_default(self, monkeypatch, given, expected):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3, 4}, raising=False)
        assert available() == (expected or 5)

    def test_an_error_restores_the_previous_number(self):
        before = available()
        with pytest.raises(ZeroDivisionError), threads(9):
            raise ZeroDivisionError
        assert available() == before

    @pytest.mark.parametrize("count", [0, -2])
    def test_the_number_must_be_at_least_1(self, count):
        with pytest.raises(ValueError, match=f"number of threads must be at least 1, got {count}"), threads(count):
            pass

    @pytest.mark.parametrize("count", [1.5, "2", None])
    def test_the_number_must_be_an_int(self, count):
        with pytest.raises(TypeError), threads(count):
            pass


class TestErrors:
    @pytest.mark.parametrize("count", [1, 2, 4])
    def test_errors_propagate_and_later_tasks_run(self, count):
        def work(taken):
            for task in taken:
                if task == 5:
                    raise RuntimeError("task 5")

        done = []
        with threads(count):
            with pytest.raises(RuntimeError, match="task 5"):
                run_tasks(range(100), work)
            run_tasks(range(3), done.extend)
        assert sorted(done) == [0, 1, 2]

    def test_errors_in_the_caller_wait_for_helpers(self):
        caller = threading.get_ident()
        running = threading.Event()
        ended = []

        def work(taken):
            for _ in taken:
                if threading.get_ident() == caller:
                    running.wait(timeout=10)
                    raise KeyboardInterrupt
                running.set()
                time.sleep(0.05)
                ended.append(True)

        with threads(2), pytest.raises(KeyboardInterrupt):
            run_tasks(range(100), work)
        assert ended == [True]

    @pytest.mark.parametrize("is_caller", [True, False])
    def test_errors_halt_tasks_of_other_threads(self, is_caller):
        caller = threading.get_ident()
        met = threading.Barrier(3)

        def work(taken):
            for _ in taken:
                met.wait(timeout=10)
                if (threading.get_ident() == caller) == is_caller:
                    raise RuntimeError("in one thread")
                deadline = time.monotonic() + 20
                while time.monotonic() < deadline:
                    thread_pool.look_for_halt()
                    time.sleep(0.001)
                slow.append(True)

        slow = []
        with threads(3), pytest.raises(RuntimeError, match="in one thread"):
            run_tasks(range(3), work)
        assert not slow
        thread_pool.look_for_halt()  # the halt request is cleared

    def test_errors_halt_nested_tasks(self):
        caller = threading.get_ident()
        begun = threading.Semaphore(0)
        ended = []

        def inner(taken):
            for _ in taken:
                begun.release()
                while True:
                    thread_pool.look_for_halt()
                    time.sleep(0.001)

        def outer(taken):
            for _ in taken:
                if threading.get_ident() == caller:
                    assert begun.acquire(timeout=10)
                    raise KeyboardInterrupt
                try:
                    with threads(2):
                        run_tasks(range(2), inner)
                finally:
                    ended.append(True)

        with threads(2), pytest.raises(KeyboardInterrupt):
            run_tasks(range(2), outer)
        assert ended == [True]

    @needs_timers
    def test_a_signal_to_the_waiting_caller_halts_helpers(self):
        # The alarm arrives when the tasks of the calling thread are done.
        caller = threading.get_ident()
        begun, ended = threading.Event(), []

        def work(taken):
            for _ in taken:
                if threading.get_ident() == caller:
                    begun.wait(timeout=10)
                    return
                begun.set()
                try:
                    while True:
                        thread_pool.look_for_halt()
                        time.sleep(0.001)
                finally:
                    ended.append(True)

        with threads(2), alarm(0.3):
            run_tasks(range(2), work)
        assert ended == [True]


def test_work_does_not_wait_for_busy_helpers():
    # If all helpers are busy, the calling thread runs all tasks itself.
    begun, go_on = threading.Event(), threading.Event()

    def long(taken):
        for _ in taken:
            begun.set()
            go_on.wait(timeout=30)

    def other():
        with threads(2):
            run_tasks(range(2), long)

    busy = threading.Thread(target=other)
    busy.start()
    begun.wait(timeout=10)
    done = []
    with threads(2):
        run_tasks(range(10), done.extend)
    assert sorted(done) == list(range(10))
    assert not go_on.is_set()
    go_on.set()
    busy.join()


FORKED = """
import os, sys
from gradwalk.backend.thread_pool import run_tasks, threads
with threads(2):
    run_tasks(range(4), list)
    child = os.fork()
    if child == 0:
        done = []
        run_tasks(range(4), done.extend)
        os._exit(0 if sorted(done) == [0, 1, 2, 3] else 1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_forked_processes_start_new_threads():
    subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED], check=True, timeout=60)


def test_all_tasks_run_if_no_thread_can_start(monkeypatch):
    def refused(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(thread_pool._thread, "start_new_thread", refused)
    monkeypatch.setattr(thread_pool, "_pool", thread_pool._Pool())
    done = Counter()
    with threads(4):
        run_tasks(range(8), done.update)
    assert done == Counter(range(8))


def test_threads_are_reused_and_bounded():
    # The pool keeps at most the largest number of threads requested so far.
    pool = thread_pool._pool
    for count in range(2, 40):
        with threads(count):
            run_tasks(range(count), list)
    before = len(pool)
    assert before < 40
    with threads(3):
        run_tasks(range(3), list)
    assert len(pool) == before


def test_idle_threads_end(monkeypatch):
    monkeypatch.setattr(thread_pool, "_PATIENCE", 0.01)
    pool = thread_pool._Pool()
    monkeypatch.setattr(thread_pool, "_pool", pool)
    with threads(3):
        run_tasks(range(3), list)
    deadline = time.monotonic() + 10
    while len(pool) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(pool) == 0
    done = []
    with threads(3):
        run_tasks(range(3), done.extend)
    assert sorted(done) == [0, 1, 2]


def test_batches_run_after_the_main_thread_ended():
    program = """
import threading, numpy
from gradwalk import jit, threads, vmap

f = jit(vmap(lambda x: sum(x * k for k in range(2, 40))))
f(numpy.arange(100_000.0))


def later():
    threading.main_thread().join()
    with threads(2):
        print(f(numpy.arange(100_000.0))[2] == 2.0 * sum(range(2, 40)))


threading.Thread(target=later).start()
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout == "True\n", result.stderr
