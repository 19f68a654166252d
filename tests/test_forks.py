"""Processes that are forked while other threads work: no lock is left behind that a child would wait for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def run(program: str) -> None:
    """Run a program by itself: what other tests have imported may mind being forked."""
    subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", program], check=True, timeout=300)


WORKING = """
import os, signal, threading
import numpy
from gradwalk import Value, jit, math, threads, vmap

INPUTS = numpy.arange(60_000.0)


def f(x):
    return math.sin(x) * x + math.exp(-x)


def work():
    with threads(3):
        batch = vmap(f)(INPUTS)
    x = Value(0.5)
    f(x).backward()
    return float(batch[1]) + jit(f)(1.0) + x.grad


expected = work()
stop = threading.Event()


def repeat():
    while not stop.is_set():
        work()


for _ in range(3):
    threading.Thread(target=repeat, daemon=True).start()
for _ in range(25):
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # ends a child that waits for ever
        os._exit(0 if work() == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop.set()
"""


def test_children_can_work():
    run(WORKING)


SWEEPING = """
import os, signal, threading
from gradwalk import Value, zero_grad

begun, go_on = threading.Event(), threading.Event()
x = Value(2.0)
slow = Value(x.data**3, (x,), "cube")


def backward():
    begun.set()
    go_on.wait(timeout=60)
    x.grad += 3 * x.data**2 * slow.grad


slow._backward = backward
sweeper = threading.Thread(target=slow.backward)
sweeper.start()
begun.wait(timeout=20)
child = os.fork()
if child == 0:
    signal.alarm(60)
    y = x * 3.0
    zero_grad(y)
    y.backward()
    os._exit(0 if x.grad == 3.0 else 1)
status = os.waitpid(child, 0)[1]
go_on.set()
sweeper.join()
assert os.waitstatus_to_exitcode(status) == 0
"""


def test_a_child_does_not_wait_for_a_sweep_of_another_thread():
    run(SWEEPING)
