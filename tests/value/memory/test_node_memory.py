"""Tests of the memory of nodes: each node keeps its data in whatever order nodes are created and freed."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import sysconfig
import textwrap
import threading
from typing import Any

import pytest
from checkout import IS_COMPILED
from hypothesis import given
from hypothesis import strategies as st
from wasm import IS_WASM

from gradwalk import Value, math

IS_SANITIZED = "san" in os.environ.get("LD_PRELOAD", "")  # set by .ci/sanitize
HAS_CHUNKS = IS_COMPILED and not IS_SANITIZED and not sysconfig.get_config_var("Py_GIL_DISABLED")


class Tracked(Value):
    """A subclass of Value; its instances are allocated outside the chunks."""

    freed: list[str] = []  # noqa: RUF012

    def __del__(self) -> None:
        other = Value(1.0) * 2.0 + 3.0  # a finalizer may create and free nodes
        self.freed.append(f"{self.label} {other.data}")


def output_lines(program: str) -> list[str]:
    """Run a program in a separate process and return the lines that it prints."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 10**6)), max_size=20))
def test_each_node_keeps_its_data(rounds):
    """In each round, some nodes are created and then some of those alive are freed; they need more than one chunk."""
    kept: list[tuple[int, Any]] = []
    made = 0
    for count, seed in rounds:
        for _ in range(10 * count):
            kept.append((made, Value(made) + 0.5 if made % 3 else Value(made + 0.5)))
            made += 1
        random.Random(seed).shuffle(kept)
        del kept[: len(kept) * (seed % 5) // 4]
        assert all(value.data == number + 0.5 for number, value in kept)
        assert all(value.grad == 0.0 and value.label == "" for _, value in kept)


@pytest.mark.skipif(IS_WASM, reason="after the whole suite a reference to the graph remains; the test passes alone")
def test_finalizers_run_while_a_graph_is_freed():
    Tracked.freed.clear()
    leaves = [Tracked(1.0, label=str(i)) for i in range(5)]
    y: Any = Value(0.0)
    for i in range(1000):
        y = y + leaves[i % 5]
    y = math.sumprod(leaves, leaves, y)
    del leaves
    assert Tracked.freed == []
    del y
    assert sorted(Tracked.freed) == [f"{i} 5.0" for i in range(5)]


@pytest.mark.skipif(IS_WASM, reason="its finalizer replaces the one that releases deep chains in WebAssembly")
def test_long_chains_of_a_subclass():
    Tracked.freed.clear()
    y = Tracked(0.0)
    for i in range(20_000):
        y = Tracked(float(i), (y,), "next", label="a")
    del y
    assert len(Tracked.freed) == 20_001


def test_threads_free_nodes_while_a_finalizer_waits():
    begun, freed = threading.Event(), threading.Event()
    in_time = []

    class Waiting(Value):
        def __del__(self) -> None:
            begun.set()
            in_time.append(freed.wait(20))

    class Freed(Value):
        def __del__(self) -> None:
            freed.set()

    def one() -> None:
        _ = Waiting(1.0) * 2.0

    thread = threading.Thread(target=one)
    thread.start()
    begun.wait()
    other = Freed(1.0) * 2.0
    del other
    thread.join()
    assert in_time == [True]


def test_exceptions_survive_the_release_of_nodes():
    def failing() -> None:
        y = Value(1.0)
        for _ in range(1000):
            y = y * Tracked(1.0)
        raise KeyError("it")

    with pytest.raises(KeyError, match="it"):
        failing()


# These tests need the compiled build, which allocates nodes in chunks.

if IS_COMPILED:

    def test_class_of_a_node_cannot_be_changed():
        class Plain(Value):
            __slots__ = ()

        with pytest.raises(TypeError):
            Value(1.0).__class__ = Plain


if HAS_CHUNKS:

    def test_graph_is_contiguous_in_recycled_memory():
        def distances() -> list[int]:
            x = y = Value(1.0)
            addresses = []
            for _ in range(10_000):
                y = y + x
                addresses.append(id(y))
            return [b - a for a, b in itertools.pairwise(addresses)]

        for _ in range(3):
            found = distances()
            # except for nodes that fill holes in the current chunk
            assert found.count(Value.__basicsize__) > 0.8 * len(found)


if HAS_CHUNKS and sys.platform == "linux":  # needs /proc/self/statm

    def test_memory_is_reused_and_released():
        lines = output_lines("""
            from gradwalk import Value

            def megabytes():
                with open("/proc/self/statm") as numbers:
                    return int(numbers.read().split()[1]) * 4096 / 1e6

            def graph(count):
                x = y = Value(1.0)
                for _ in range(count):
                    y = y + x
                return y

            before = megabytes()
            for _ in range(20):
                graph(100_000)
            print(megabytes() - before)
            large = graph(3_000_000)
            held = megabytes()
            del large
            print(held - before, megabytes() - before)
        """)
        again = float(lines[0])
        held, left = map(float, lines[1].split())
        assert again < 40.0
        assert held > 240.0
        assert left < 120.0
