"""Tests of the timeline of backward passes: earlier gradients of leaves, and the memory that it uses."""

from __future__ import annotations

import math
import threading
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk import Value, source_lines
from gradwalk.explain.passes import gradients
from gradwalk.explain.text import sparkline
from gradwalk.explain.timeline import Earlier, Recorder, Timeline
from gradwalk.graph.opening import opened
from gradwalk.math import sumprod
from gradwalk.value.sweep.backward import observed


def timeline_of(recorder: Recorder) -> Timeline:
    found = recorder.timeline()
    assert found is not None
    return found


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "both"]), st.sampled_from(["keep", "zero a", "zero all", "set b", "halve a"])),
    min_size=1,
    max_size=8,
)


@given(ACTIONS)
def test_gradients_before_and_after_each_pass(actions: list[tuple[str, str]]) -> None:
    """Check that the timeline has the gradients that the program saw before and after each pass."""
    a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    recorder = Recorder()
    seen: list[dict[str, tuple[float, float]]] = []
    for what, then in actions:
        root = {"a": lambda: a * a, "b": b.exp, "both": lambda: a * b + a}[what]()
        before = a.grad, b.grad
        with observed(recorder):
            root.backward()
        seen.append({"a": (before[0], a.grad), "b": (before[1], b.grad)})
        if then in ("zero a", "zero all"):
            a.grad = 0.0
        if then == "zero all":
            b.grad = 0.0
        if then == "set b":
            b.grad = 0.25
        if then == "halve a":
            a.grad *= 0.5
    passes = timeline_of(recorder).passes
    assert [one.number for one in passes] == list(range(1, len(actions) + 1))
    for one, saw in zip(passes, seen, strict=True):
        graph = one.graph
        assert graph is not None
        leaves = {node.name: node for node in graph.nodes if node.is_leaf}
        before_pass = {graph.names[kept.place]: kept.grad for kept in one.earlier}
        assert before_pass == {name: saw[name][0] for name in leaves if saw[name][0] != 0.0}
        own = gradients(graph)
        for name, node in leaves.items():
            assert node.grad == saw[name][1]
            assert math.isclose(before_pass.get(name, 0.0) + own[node.place], node.grad, rel_tol=1e-12)


def test_pass_since_which_gradients_were_not_zeroed() -> None:
    a, b = Value(2.0), Value(3.0)
    recorder = Recorder()
    with observed(recorder):
        for k in range(5):
            (a * b).backward()
            if k == 1:
                a.grad = 0.0
            if k == 3:
                b.grad = 7.0
    assert [[kept.since for kept in one.earlier] for one in timeline_of(recorder).passes] == [
        [],
        [1, 1],
        [1],
        [3, 1],
        [3, 0],
    ]
    assert Earlier(0, 1.0, 3).because == "not zeroed since pass 3"
    assert Earlier(0, 1.0, 0).because == "set by the program"


def test_pass_of_another_graph_in_between() -> None:
    a, b = Value(2.0), Value(3.0)
    recorder = Recorder()
    with observed(recorder):
        (a * 2.0).backward()
        (b * 2.0).backward()
        (a * 2.0).backward()
    assert timeline_of(recorder).chosen.earlier == (Earlier(0, 2.0, 1),)


def test_nonfinite_gradients() -> None:
    a = Value(0.0)
    recorder = Recorder()
    with observed(recorder):
        for _ in range(3):
            (a.log() * 0.0).backward()
    earlier = timeline_of(recorder).chosen.earlier
    assert [math.isnan(kept.grad) for kept in earlier] == [True]
    assert earlier[0].since == 1
    described = timeline_of(recorder).to_dict()
    assert described["passes"][-1]["earlier"] == [{"place": 0, "grad": "nan", "since": 1}]


def test_gradient_that_cancels_to_zero() -> None:
    a = Value(1.0)
    a.grad = -2.0
    recorder = Recorder()
    with observed(recorder):
        (a * 2.0).backward()
    assert a.grad == 0.0
    assert timeline_of(recorder).chosen.earlier == (Earlier(0, -2.0, 0),)


def test_same_root_twice() -> None:
    a = Value(2.0)
    root = a * a
    recorder = Recorder()
    with observed(recorder):
        root.backward()
        root.backward()
    assert timeline_of(recorder).chosen.earlier == (Earlier(0, 4.0, 1),)


def test_failing_sweeps_are_not_passes() -> None:
    a = Value(2.0)
    failing = Value(1.0, (a,), "fails")

    def push() -> None:
        raise ZeroDivisionError

    failing._backward = push
    recorder = Recorder()
    with observed(recorder):
        (a * 2.0).backward()
        with pytest.raises(ZeroDivisionError):
            failing.backward()
    assert recorder.count == 1


def test_chosen_pass() -> None:
    def recorded(wanted: int | None) -> Recorder:
        recorder = Recorder(wanted)
        a = Value(2.0)
        with observed(recorder):
            for k in range(700):
                (a * float(k)).backward()
        return recorder

    assert timeline_of(recorded(None)).chosen.data == 2.0 * 699
    assert timeline_of(recorded(400)).chosen.data == 2.0 * 399
    assert recorded(701).timeline() is None
    assert Recorder().timeline() is None


def test_memory_of_many_passes_is_bounded() -> None:
    """Check that ten times as many passes take less than 1.5 times the memory."""

    def kept(passes: int) -> tuple[int, Recorder]:
        recorder = Recorder()
        a = Value(2.0)
        tracemalloc.start()
        with observed(recorder), source_lines():
            for _ in range(passes):
                root = a
                for _ in range(10):
                    root = root * 1.01
                root.backward()
                a.grad = 0.0
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return size, recorder

    kept(10)
    few, _ = kept(1300)
    many, recorder = kept(13_000)
    assert many < 1.5 * few
    found = timeline_of(recorder)
    assert found.count == 13_000
    assert found.counts[found.chosen.root_line] == 13_000
    numbers = [one.number for one in found.passes]
    assert numbers[:3] == [1, 2, 3]
    assert numbers[-200:] == list(range(12_801, 13_001))
    assert 500 < len(numbers) < 1500
    assert numbers == sorted(set(numbers))
    assert len(found.alike) == len(found.passes)


def test_only_the_last_large_graph_is_kept() -> None:
    a = Value(1.0)
    recorder = Recorder()
    with observed(recorder):
        for _ in range(5):
            root = a
            for _ in range(30_000):
                root = root + 1e-6
            root.backward()
    found = timeline_of(recorder)
    assert [one.graph is not None for one in found.passes] == [False, False, False, False, True]
    assert [one.nodes for one in found.passes] == [30_001] * 5
    assert found.chosen.earlier == (Earlier(0, 4.0, 1),)


def test_passes_of_several_threads() -> None:
    recorder = Recorder()

    def work() -> None:
        a = Value(2.0)
        for _ in range(50):
            (a * a).backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    with observed(recorder):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    passes = timeline_of(recorder).passes
    assert [one.number for one in passes] == list(range(1, 201))
    assert sorted(sum(kept.grad for kept in one.earlier) for one in passes) == sorted([4.0 * k for k in range(50)] * 4)


def test_opened_passes_keep_earlier_gradients() -> None:
    w, x, b = Value(2.0, label="w"), Value(3.0, label="x"), Value(1.0, label="b")
    recorder = Recorder()
    with observed(recorder):
        for _ in range(2):
            sumprod([w], [x], b).backward()
    found = timeline_of(recorder).mapped(opened)
    assert len(found.graph) == 5
    assert {found.graph.names[kept.place]: kept.grad for kept in found.chosen.earlier} == {"w": 3.0, "x": 2.0, "b": 1.0}


def test_lines_of_passes() -> None:
    a = Value(2.0)
    recorder = Recorder()

    def step() -> None:
        loss = a * a
        loss.backward()

    with observed(recorder), source_lines():
        step()
        step()
        (a * 3.0).backward()
    one, two, other = timeline_of(recorder).passes
    assert one.line == two.line
    assert (one.line.text, other.line.text) == ("loss.backward()", "(a * 3.0).backward()")
    assert one.root_line is not None
    assert one.root_line.text == "loss = a * a"
    assert timeline_of(recorder).alike == (other,)


@given(st.lists(st.floats(), min_size=1, max_size=100))
def test_sparklines(numbers: list[float]) -> None:
    drawn = sparkline(numbers)
    assert len(drawn) == min(len(numbers), 40)
    assert set(drawn) <= set("▁▂▃▄▅▆▇█x")
    if len(numbers) <= 40:
        assert [letter == "x" for letter in drawn] == [not math.isfinite(number) for number in numbers]


def test_sparklines_rise_and_fall() -> None:
    assert sparkline([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]) == "▁▂▃▄▅▆▇█"
    assert sparkline([1e308, -1e308]) == "█▁"
    assert sparkline([3.0, 3.0]) == "▅▅"
    many: Any = sparkline([float(k) for k in range(1000)])
    assert (many[0], many[-1]) == ("▁", "█")
