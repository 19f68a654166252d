"""Tests of sweeps that call hand-made rules while threads, finalizers or signal handlers do the same."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from gradwalk import Graph, Value, topological_order, zero_grad
from gradwalk.value.sweep import node_locks


def cubed(x: Value, meanwhile=lambda: None) -> Value:
    """Compute x³ with a hand-made rule that first calls `meanwhile`."""
    out = Value(x.data**3, (x,), "cube")

    def backward():
        meanwhile()
        x.grad += 3 * x.data**2 * out.grad

    out._backward = backward
    return out


def in_thread(work):
    """Run `work` in another thread; return its result or raise its exception."""
    found = []

    def run():
        try:
            found.append((work(), None))
        except BaseException as error:  # raised again in the test's thread
            found.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=20)
    assert found, "the thread did not finish"
    result, error = found[0]
    if error is not None:
        raise error
    return result


def gradient_of_square(number: float) -> float:
    x = Value(number)
    (x * x).backward()
    return x.grad


def test_rule_waits_for_a_thread_with_another_graph():
    inner = []
    x = Value(2.0)
    cubed(x, lambda: inner.append(in_thread(lambda: gradient_of_square(5.0)))).backward()
    assert (x.grad, inner) == (12.0, [10.0])
    assert not node_locks.exist()


def test_rule_waits_for_a_thread_that_calls_rules():
    def with_rule():
        y = Value(1.0)
        cubed(y).backward()
        return y.grad

    inner = []
    x = Value(2.0)
    cubed(x, lambda: inner.append(in_thread(with_rule))).backward()
    assert (x.grad, inner) == (12.0, [3.0])


def test_threads_wait_for_a_sweep_over_shared_nodes():
    begun, go_on = threading.Event(), threading.Event()
    x = Value(2.0)
    slow = cubed(x, lambda: (begun.set(), go_on.wait(timeout=20)))
    first = threading.Thread(target=slow.backward)
    first.start()
    begun.wait(timeout=20)
    seen = []
    others = [
        threading.Thread(target=(x * 5.0).backward),
        threading.Thread(target=lambda: seen.append(Graph.record(x + 1.0).grad[0])),
    ]
    for thread in others:
        thread.start()
    time.sleep(0.05)
    assert seen == []
    go_on.set()
    for thread in (first, *others):
        thread.join(timeout=20)
    assert x.grad == 17.0
    assert seen in ([12.0], [17.0])
    zero_grad(slow)
    assert x.grad == 0.0


def test_deadlock_of_two_sweeps_raises():
    """Each rule runs backward on the graph that the other thread is sweeping."""
    x, y = Value(2.0), Value(3.0)
    both = threading.Barrier(2, timeout=20)
    errors = []

    def crossing(mine, others):
        def meanwhile():
            both.wait()
            (others * 2.0).backward()

        try:
            cubed(mine, meanwhile).backward()
        except RuntimeError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=crossing, args=pair, daemon=True) for pair in ((x, y), (y, x))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert not any(thread.is_alive() for thread in threads)
    assert len(errors) == 1
    assert "would wait for each other" in errors[0]
    assert not node_locks.exist()


def test_failed_rule_releases_its_claim():
    x = Value(2.0)
    x.grad = 7.0

    def fail():
        raise OSError("a rule that fails")

    with pytest.raises(OSError, match="a rule that fails"):
        cubed(x, fail).backward()
    assert x.grad == 7.0
    assert in_thread(lambda: ((x * x).backward(), x.grad)[1]) == 11.0


class TestNestedTraversals:
    def test_traversal_in_a_key_comparison(self):
        x = Value(1.0, label="x")
        root = (x * 2.0 + x) * (x + 1.0)
        orders = []

        class Key:
            def __init__(self, node):
                self.node = node

            def __lt__(self, other):
                orders.append(len(topological_order(root)))
                return self.node.data < other.node.data

        expected = topological_order(root, key=lambda node: node.data)
        assert topological_order(root, key=Key) == expected
        assert set(orders) == {len(expected)}
        root.backward()
        assert x.grad == 3 * (x.data + 1) + 3 * x.data

    def test_traversal_in_a_finalizer(self):
        """Finalizers run by the garbage collector during a sweep see the whole graph."""
        x = Value(0.5, label="x")
        root = x
        for _ in range(200):
            root = root * x + x
        expected = topological_order(root)
        root.backward()
        gradient = x.grad
        seen = []

        class Garbage:
            def __init__(self):
                self.me = self

            def __del__(self):
                seen.append(len(topological_order(root)))
                y = Value(3.0)
                (y * y).backward()
                seen.append(y.grad)

        thresholds = gc.get_threshold()
        gc.set_threshold(1)
        try:
            for _ in range(50):
                Garbage()
                zero_grad(root)
                Garbage()
                root.backward()
                assert x.grad == gradient
                Garbage()
                assert len(Graph.record(root)) == len(expected)
        finally:
            gc.set_threshold(*thresholds)
        gc.collect()
        assert set(seen) == {len(expected), 6.0}
