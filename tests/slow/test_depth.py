"""Graphs of any depth: chains of a million operations, and no memory leaks."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import textwrap

import pytest

import gradwalk.math as gm
import gradwalk.value.value
from gradwalk import Value, refresh, topological_order, zero_grad

COMPILED = not gradwalk.value.value.__file__.endswith(".py")
DEPTH = 1_000_000 if COMPILED else 100_000
ROUNDS = 1_000_000 if COMPILED else 20_000


@pytest.fixture(scope="module")
def chain():
    x = Value(1.0)
    y = x
    for _ in range(DEPTH):
        y = y + x
    return x, y


def test_differentiate(chain):
    x, y = chain
    y.backward()
    assert x.grad == DEPTH + 1
    assert len(topological_order(y)) == DEPTH + 1
    zero_grad(y)
    assert x.grad == 0.0


def test_recompute(chain):
    x, y = chain
    x.data = 2.0
    refresh(y)
    assert y.data == 2.0 * (DEPTH + 1)


def test_deepcopy_and_free(chain):
    x, y = chain
    twin = copy.deepcopy(y)
    assert twin.data == y.data
    twin.backward()
    assert x.grad == 0.0
    del twin
    gc.collect()


def test_pickle(chain):
    _, y = chain
    twin = pickle.loads(pickle.dumps(y))
    assert twin.data == y.data
    assert len(topological_order(twin)) == DEPTH + 1


@pytest.mark.parametrize(
    "step",
    [
        lambda y, x: gm.where(1, y, x),
        lambda y, x: gm.sumprod([y], [x]),
        lambda y, x: Value(y.data, (y, x), "by hand"),
        lambda y, x: (y * x).tanh(),
    ],
    ids=["where", "sumprod", "hand-made", "product and tanh"],
)
def test_all_nodes_are_freed_without_recursion(step):
    x = Value(1.0)
    y = x
    for _ in range(DEPTH // 10):
        y = step(y, x)
    y.backward()
    assert y.grad == 1.0
    twin = copy.deepcopy(y)
    assert (twin.data, twin.op) == (y.data, y.op)
    del y, twin
    gc.collect()


def test_freeing_needs_little_stack():
    # Free a long chain in a thread with a stack of 256 KiB, where recursion would overflow.
    program = f"""
        import threading
        from gradwalk import Value

        def work():
            x = Value(1.0)
            y = x
            for _ in range({DEPTH // 2}):
                y = y + x
            del y

        threading.stack_size(256 * 1024)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        print("freed")
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False
    )
    assert result.stdout == "freed\n"


def test_wide_and_deep_graph_of_shared_nodes():
    layer = [Value(0.1 * i) for i in range(20)]
    for _ in range(DEPTH // 20_000):
        layer = [(a + b).tanh() for a, b in zip(layer, reversed(layer), strict=True)]
    root = sum(layer)
    root.backward()
    assert root.grad == 1.0
    assert len(topological_order(root)) == 20 + 40 * (DEPTH // 20_000) + 20


def test_no_memory_leaks():
    # Peak memory must not grow while graphs are repeatedly built, differentiated and freed.
    program = f"""
        import resource
        from gradwalk import Value, math, nn
        import math as m

        def by_hand(x):
            out = Value(m.tanh(x.data), (x,), "tanh")
            def backward():
                x.grad += (1 - out.data**2) * out.grad
            out._backward = backward
            return out

        w, b = Value(0.5), Value(-0.1)
        def rounds(n):
            for i in range(n):
                y = (w * 2 + b).tanh() ** 2 + math.where(w > 0, w, b) + math.sumprod([w, b], [b, 3.0])
                if i % 10 == 0:
                    y = by_hand(y) + 1
                y.backward()

        rounds({ROUNDS // 10})
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rounds({ROUNDS})
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    pytest.importorskip("resource")
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    assert int(result.stdout) < 2_000  # KiB, about 2 bytes per round
