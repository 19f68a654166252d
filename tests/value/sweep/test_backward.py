"""Tests of `observed`, which calls observers before and after each backward sweep."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from gradwalk import Value
from gradwalk.value.sweep.backward import observed


def after_sweep(told: Callable[[Value], object]) -> Callable[[Value], Callable[[], object]]:
    """Make an observer that calls `told(root)` after each sweep."""
    return lambda root: lambda: told(root)


def root() -> Value:
    return Value(2.0) * 3.0


def test_observers_see_each_backward_call_in_order():
    before, first, second, after = root(), root(), root(), root()
    told: list[Value] = []
    before.backward()
    with observed(after_sweep(told.append)):
        first.backward()
        second.backward()
    after.backward()
    assert [id(x) for x in told] == [id(first), id(second)]


def test_observers_see_the_finished_gradients():
    a = Value(2.0)
    seen: list[float] = []
    with observed(after_sweep(lambda _: seen.append(a.grad))):
        (a * a).backward()
    assert seen == [4.0]


def test_observers_are_called_before_the_sweep():
    a = Value(2.0)
    a.grad = 3.0
    seen: list[float] = []

    def observer(_: Value) -> Callable[[], object]:
        seen.append(a.grad)
        return lambda: seen.append(a.grad)

    with observed(observer):
        (a * a).backward()
    assert seen == [3.0, 7.0]


def test_failed_sweeps_are_not_reported():
    a = Value(2.0)
    failing = Value(1.0, (a,), "fails")

    def push() -> None:
        raise ZeroDivisionError

    failing._backward = push
    told: list[Value] = []
    with observed(after_sweep(told.append)), pytest.raises(ZeroDivisionError):
        failing.backward()
    assert told == []


def test_error_removes_the_observer():
    told: list[Value] = []
    with pytest.raises(KeyError), observed(after_sweep(told.append)):
        raise KeyError
    root().backward()
    assert told == []


def test_error_in_an_observer_reaches_the_caller():
    a = Value(2.0)
    with observed(after_sweep(lambda _: 1 / 0)), pytest.raises(ZeroDivisionError):
        (a * a).backward()
    assert a.grad == 4.0
    (a * a).backward()


def test_several_observers_and_the_same_one_twice():
    told: list[str] = []

    def note(_: Value) -> None:
        told.append("a")

    with observed(after_sweep(note)), observed(after_sweep(lambda _: told.append("b"))), observed(after_sweep(note)):
        root().backward()
    assert told == ["a", "b", "a"]


def test_observers_can_leave_in_any_order():
    told: list[str] = []
    one, two = observed(after_sweep(lambda _: told.append("one"))), observed(after_sweep(lambda _: told.append("two")))
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    root().backward()
    two.__exit__(None, None, None)
    root().backward()
    assert told == ["two"]


def test_sweeps_in_other_threads_are_observed():
    told: list[Value] = []
    made = root()
    with observed(after_sweep(told.append)):
        thread = threading.Thread(target=made.backward)
        thread.start()
        thread.join()
    assert told[0] is made


def test_subclasses_and_replaced_methods_are_observed(monkeypatch):
    class Mine(Value):
        def backward(self) -> None:
            super().backward()

    original = Value.backward

    def replacement(self: Value) -> None:
        original(self)

    told: list[Value] = []
    mine = Mine(2.0)
    with observed(after_sweep(told.append)):
        mine.backward()
        monkeypatch.setattr(Value, "backward", replacement)
        made = root()
        made.backward()
    assert told[0] is mine
    assert told[1] is made
