"""After Ctrl-C at any bytecode the next call works and all locks and settings are restored.

A trace function raises at the n-th executed bytecode, for n sampled up to the number of bytecodes.
"""

from __future__ import annotations

import dis
import functools
import random
import signal
import sys
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import settings

from gradwalk import Value, checkpoint, grad, jit, math, no_grad, sparse_jacobian, threads, vmap, zero_grad
from gradwalk.backend import thread_pool
from gradwalk.value import modes
from gradwalk.value.sweep import node_locks
from gradwalk.value.sweep.order import traversing

# Python reports and drops an exception that cannot propagate, such as one in a weak reference callback.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

INPUTS = numpy.arange(12.0)


@functools.cache
def left_out(code: CodeType) -> frozenset[int]:
    """Return the offsets where Python never checks for signals, so that an exception would miss its handler.

    These are every NOP (such as the start of a `finally`) and the call of __exit__ at the end of a block: three
    LOAD_CONST None, the call after them, and a SWAP of the returned value before them.
    """
    instructions = list(dis.get_instructions(code))
    found = {x.offset for x in instructions if x.opname == "NOP"}
    for i in range(len(instructions) - 3):
        nones = instructions[i : i + 3]
        if all(x.opname == "LOAD_CONST" and x.argval is None for x in nones):
            rest = instructions[i + 3 : i + 5]
            call = next((x for x in rest if x.opname.startswith("CALL")), None)
            if call is not None and call.arg in (2, 3):
                before = [x for x in instructions[max(0, i - 1) : i] if x.opname == "SWAP"]
                found.update(x.offset for x in [*before, *nones, *rest])
    return frozenset(found)


class Interrupt(BaseException):
    """An exception that simulates Ctrl-C and differs from KeyboardInterrupt."""


def interrupted(work: Callable[[], Any], count: int) -> bool:
    """Run `work` and raise at the bytecode number `count`; return whether it was reached."""
    left = count

    def trace(frame, event, _):
        nonlocal left
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_lasti not in left_out(frame.f_code):
            left -= 1
            if left == 0:
                sys.settrace(None)
                raise Interrupt
        return trace

    earlier = sys.gettrace()
    try:
        sys.settrace(trace)
        work()
    except Interrupt:
        return True
    finally:
        sys.settrace(earlier)
    return False


def bytecodes(work: Callable[[], Any]) -> int:
    """Return the number of bytecodes that `work` executes."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode" and frame.f_lasti not in left_out(frame.f_code)
        return trace

    earlier = sys.gettrace()
    try:
        sys.settrace(trace)
        work()
    finally:
        sys.settrace(earlier)
    return count


def f(x):
    return math.sin(x) * x + x


def g(x):
    """Compute a polynomial that gives the same bits in lane kernels."""
    return x * x - 2.0 * x


def by_hand(x: Value) -> Value:
    out = Value(x.data**3, (x,), "cube")

    def backward():
        x.grad += 3 * x.data**2 * out.grad

    out._backward = backward
    return out


def swept() -> float:
    x = Value(2.0)
    root = by_hand(x) * x + by_hand(x)
    root.backward()
    zero_grad(root)
    root.backward()
    return x.grad


def quiet() -> bool:
    with no_grad(), threads(2):
        return bool((Value(1.0) + 1.0).operands)


# For each name: a factory of a callable, and the result of the call.
CALLS: dict[str, tuple[Callable[[], Callable[[], Any]], Any]] = {
    "jit": (lambda: _call(jit(f), 0.5), f(0.5)),
    "grad of jit": (lambda: _call(grad(jit(f)), 0.0), 1.0),
    "jit of grad": (lambda: _call(jit(grad(f)), 0.0), 1.0),
    "checkpoint": (lambda: _call(grad(checkpoint(f)), 0.0), 1.0),
    "vmap": (lambda: _call(lambda x: vmap(g)(x).tolist(), INPUTS), [g(x) for x in INPUTS.tolist()]),
    "sum of vmap": (lambda: _call(jit(vmap(lambda x: 2.0 * x, reduce="sum")), INPUTS), 132.0),
    "sparse": (
        lambda: _call(lambda x: sparse_jacobian(lambda x: [x[0] * 2.0, x[1]])(x).toarray().tolist(), INPUTS[:2]),
        [[2.0, 0.0], [0.0, 1.0]],
    ),
    "a sweep with rules": (lambda: swept, 44.0),
}


def _call(function: Callable[[Any], Any], argument: Any) -> Callable[[], Any]:
    return lambda: function(argument)


def is_free(lock: threading.RLock) -> bool:
    """Return whether another thread can acquire a lock."""
    taken = []

    def take():
        taken.append(lock.acquire(blocking=False))
        if taken[0]:
            lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return taken == [True]


def some(most: int, seed: str) -> list[int]:
    """Sample integers from 1 to `most` without repetition, at most one per Hypothesis example."""
    return sorted(random.Random(seed).sample(range(1, most + 1), min(most, settings.default.max_examples)))


USUAL = thread_pool.available()


def check_nothing_is_left(number_of_threads: int = USUAL) -> None:
    assert thread_pool.available() == number_of_threads
    assert not node_locks.exist()
    assert modes.depth() == 0
    assert is_free(traversing)
    assert bool((Value(1.0) + 1.0).operands)


@pytest.mark.parametrize("name", CALLS)
def test_next_call_works_after_an_interrupt(name):
    make, expected = CALLS[name]
    make()()  # imports modules and fills caches
    for count in some(bytecodes(make()), name):
        call = make()
        interrupted(call, count)
        check_nothing_is_left()
        assert call() == expected, f"after an interrupt at bytecode {count}"
        check_nothing_is_left()


def test_interrupted_batches_on_threads_never_hang(monkeypatch):
    monkeypatch.setattr("gradwalk.backend.lane_kernel._LEAST_WORK", 0)
    monkeypatch.setattr("gradwalk.backend.lane_count.FEWEST_LANES", 16)
    x = numpy.arange(400.0)
    batch = jit(vmap(f))
    with threads(3):
        expected = batch(x)
        monkeypatch.setattr(thread_pool, "_pool", thread_pool._Pool())
        for count in some(bytecodes(lambda: batch(x)), "threads"):
            monkeypatch.setattr(thread_pool, "_pool", thread_pool._Pool())
            interrupted(lambda: batch(x), count)
            assert (batch(x) == expected).all()
            check_nothing_is_left(3)


# Uncompiled, an interrupt within __enter__ leaves the setting changed. Since 3.14, Python checks for signals between
# __enter__ and the block of every `with`.
if IS_COMPILED and sys.version_info < (3, 14):

    @pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
    @pytest.mark.filterwarnings("ignore")  # an interrupt may come while a warning is issued
    def test_interrupted_settings_are_restored():
        """Use real signals: a trace function also interrupts between the end of a block and the call of __exit__."""
        is_wanted = False  # a signal may arrive after its timer was stopped if another thread receives it

        def stop(*_):
            if is_wanted:
                raise Interrupt

        earlier = signal.signal(signal.SIGALRM, stop)
        delays = random.Random(1)
        try:
            for _ in range(40 * settings.default.max_examples):
                try:
                    is_wanted = True
                    signal.setitimer(signal.ITIMER_REAL, delays.uniform(1e-6, 1e-4))
                    for _ in range(100):
                        assert not quiet()
                    is_wanted = False
                except Interrupt:
                    is_wanted = False
                signal.setitimer(signal.ITIMER_REAL, 0)
                check_nothing_is_left()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, earlier)
