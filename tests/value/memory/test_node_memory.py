"""Where nodes stand in memory, and that each keeps its own, in whatever order they are made and freed."""

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

IS_SANITIZED = "san" in os.environ.get("LD_PRELOAD", "")  # as .ci/sanitize runs it
HAS_CHUNKS = IS_COMPILED and not IS_SANITIZED and not sysconfig.get_config_var("Py_GIL_DISABLED")


class Tracked(Value):
    """A subclass: its instances have memory of their own."""

    freed: list[str] = []  # noqa: RUF012

    def __del__(self) -> None:
        other = Value(1.0) * 2.0 + 3.0  # whatever a finaliser does, makes and frees
        self.freed.append(f"{self.label} {other.data}")


def printed(program: str) -> list[str]:
    """The lines that a program prints in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 10**6)), max_size=20))
def test_each_keeps_its_number(rounds):
    """Some are made, then some of all that there are freed, and so on: more than a chunk has room for."""
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


@pytest.mark.skipif(IS_WASM, reason="behind the whole suite something keeps the graph there; it passes by itself")
def test_finalisers_in_the_middle_of_a_graph_that_is_freed():
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


@pytest.mark.skipif(IS_WASM, reason="a finaliser of its own takes the place of that which releases deep chains there")
def test_long_chains_of_a_subclass():
    Tracked.freed.clear()
    y = Tracked(0.0)
    for i in range(20_000):
        y = Tracked(float(i), (y,), "next", label="a")
    del y
    assert len(Tracked.freed) == 20_001


def test_other_threads_free_nodes_while_a_finaliser_waits():
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


def test_errors_survive_what_is_freed_on_their_way():
    def failing() -> None:
        y = Value(1.0)
        for _ in range(1000):
            y = y * Tracked(1.0)
        raise KeyError("it")

    with pytest.raises(KeyError, match="it"):
        failing()


# In builds where nodes have memory of their own

if IS_COMPILED:

    def test_a_node_cannot_become_one_of_a_subclass():
        class Plain(Value):
            __slots__ = ()

        with pytest.raises(TypeError):
            Value(1.0).__class__ = Plain


if HAS_CHUNKS:

    def test_a_graph_stands_in_order_also_where_another_one_was():
        def distances() -> list[int]:
            x = y = Value(1.0)
            addresses = []
            for _ in range(10_000):
                y = y + x
                addresses.append(id(y))
            return [b - a for a, b in itertools.pairwise(addresses)]

        for _ in range(3):
            found = distances()
            # But for what fills the holes that others have left in the chunk in use.
            assert found.count(Value.__basicsize__) > 0.8 * len(found)


if HAS_CHUNKS and sys.platform == "linux":  # which says how much memory the process holds

    def test_memory_is_used_again_and_given_back():
        lines = printed("""
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
