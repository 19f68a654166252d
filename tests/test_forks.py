"""Processes that are forked while other threads work: no lock is left behind that a child would wait for."""

from __future__ import annotations

import os
import signal
import threading

import numpy
import pytest

from gradwalk import Value, jit, math, threads, vmap

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

INPUTS = numpy.arange(60_000.0)


def f(x):
    return math.sin(x) * x + math.exp(-x)


def work() -> float:
    """A batch on several threads, a recording, a sweep."""
    with threads(3):
        batch = vmap(f)(INPUTS)
    x = Value(0.5)
    f(x).backward()
    return float(batch[1]) + jit(f)(1.0) + x.grad


def test_children_can_work():
    expected = work()
    stop = threading.Event()

    def repeat():
        while not stop.is_set():
            work()

    workers = [threading.Thread(target=repeat) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(25):
            child = os.fork()
            if child == 0:
                signal.alarm(30)  # ends a child that waits for ever
                os._exit(0 if work() == expected else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        for worker in workers:
            worker.join()
