"""A process can be forked while other threads run: the child never waits for a lock that they held."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from while_compiling import forking

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def run(program: str) -> None:
    """Run a program in a new process, without modules of other tests that do not support forks."""
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
        batch = vmap(f)(INPUTS, out=numpy.empty(len(INPUTS)))
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
        signal.alarm(60)  # kills a child that hangs
        os._exit(0 if work() == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop.set()
"""


def test_children_of_a_busy_process_can_work():
    run(WORKING)


SWEEPING = """
import os, signal, threading
from gradwalk import Value, zero_grad

begun, go_on = threading.Event(), threading.Event()
x = Value(2.0)
slow = Value(x.data**3, (x,), "cube")
waits = []


def backward():
    begun.set()
    waits.append(go_on.wait(timeout=30))
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
assert waits == [True]  # the event was set: the fork did not wait for the sweep
assert os.waitstatus_to_exitcode(status) == 0
"""


def test_forks_do_not_wait_for_a_running_sweep():
    run(SWEEPING)


PAUSED = """
import os, signal, sys, threading
import numpy
from gradwalk import grad, jit, math, vmap


def f(x, y):
    return math.sin(x["a"]) * y[0] + math.exp(-y[1])


def work():
    arguments = {"a": 0.5}, numpy.array([1.0, 2.0])
    batch = {"a": numpy.arange(3.0)}, numpy.arange(6.0).reshape(3, 2)
    return jit(f)(*arguments), grad(f)(*arguments)["a"], vmap(f)(*batch).tolist()


def in_thread(pause):
    # Do the work in a thread and call `pause` at the first call of each gradwalk function.
    seen = set()

    def trace(frame, event, _):
        code = frame.f_code
        if "gradwalk" in code.co_filename and code not in seen:
            seen.add(code)
            pause(code)

    def traced():
        sys.settrace(trace)
        work()

    thread = threading.Thread(target=traced)
    thread.start()
    return thread


def fork():
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # kills a child that hangs
        os._exit(0 if work() == expected else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


expected = work()
codes, ended = [], {}
in_thread(codes.append).join()
assert len(codes) > 20
for place in codes:
    reached, go_on = threading.Event(), threading.Event()

    def pause(code):
        if code is place:
            reached.set()
            go_on.wait(timeout=1)  # a fork waits for a running traversal to end

    thread = in_thread(pause)
    assert reached.wait(timeout=30)
    ended[place.co_qualname if hasattr(place, "co_qualname") else place.co_name] = fork()
    go_on.set()
    thread.join()
assert not any(ended.values()), {name: code for name, code in ended.items() if code}
"""


def test_children_can_work_wherever_another_thread_stopped():
    run(PAUSED)


def test_children_forked_during_compilation_can_compile():
    pytest.importorskip("llvmlite")
    run(forking(12))
