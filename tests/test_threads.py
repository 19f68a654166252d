"""Concurrent threads get correct results, with and without the GIL."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from checkout import IS_COMPILED

from gradwalk import (
    Value,
    check,
    debug_nans,
    grad,
    jit,
    math,
    no_grad,
    topological_order,
    value_and_grad,
    vmap,
    zero_grad,
)
from gradwalk.nn import MLP

THREADS = 4
ROUNDS = 200 if IS_COMPILED else 20


@pytest.fixture(autouse=True)
def _frequent_turns() -> Iterator[None]:
    """Make Python switch threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(*tasks: Callable[[], object], rounds: int = ROUNDS) -> None:
    """Run each task `rounds` times in its own thread, all starting together; raise the first error."""
    errors: list[BaseException] = []
    ready = threading.Barrier(len(tasks))

    def work(task: Callable[[], object]) -> None:
        try:
            ready.wait()
            for _ in range(rounds):
                task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def squares(x: Any, count: int = 30) -> Any:
    """Return count * x**2."""
    total = x * x
    for _ in range(count - 1):
        total = total + x * x
    return total


class TestNodes:
    def test_nodes_with_shared_operands_are_created_and_freed(self):
        x = Value(3.0)
        before = sys.getrefcount(x)

        def task() -> None:
            assert squares(x).data == 270.0
            assert math.sumprod([x] * 5, [x] * 5).data == 45.0

        at_once(*[task] * THREADS)
        assert sys.getrefcount(x) == before

    def test_last_thread_frees_a_shared_graph(self):
        graphs = [squares(Value(1.0)) for _ in range(ROUNDS)]
        held = [list(graphs) for _ in range(THREADS)]
        del graphs
        at_once(*[lambda mine=mine: mine.pop() for mine in held])
        assert not any(held)

    def test_deep_graphs_are_freed_concurrently(self):
        def task() -> None:
            x = y = Value(1.0)
            for _ in range(2000):
                y = y + x

        at_once(*[task] * THREADS, rounds=ROUNDS // 10)

    def test_concurrent_labels_and_attributes(self):
        for _ in range(ROUNDS // 4):
            x = Value(1.0)

            def named(x: Any, name: str) -> None:
                x.label = name
                setattr(x, name, name)
                assert x.label in "abcd"
                assert getattr(x, name) == name
                assert repr(x).startswith("Value(data=1.0")

            at_once(*[lambda name=name, x=x: named(x, name) for name in "abcd"], rounds=2)
            assert (x.a, x.b, x.c, x.d) == ("a", "b", "c", "d")

    def test_copies_and_pickles(self):
        y = squares(Value(2.0, label="x"))

        def task() -> None:
            for twin in (copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
                assert twin.data == 120.0
                assert topological_order(twin)[0].label == "x"

        at_once(*[task] * THREADS, rounds=ROUNDS // 4)


class TestSweeps:
    def test_sweeps_over_graphs_with_shared_leaves_add_up(self):
        x = Value(2.0)
        at_once(*[lambda: squares(x).backward()] * THREADS)
        assert x.grad == THREADS * ROUNDS * 120.0

    def test_sweeps_over_one_graph_add_up(self):
        x = Value(2.0)
        y = squares(x)
        at_once(*[y.backward] * THREADS)
        assert (x.grad, y.grad) == (THREADS * ROUNDS * 120.0, THREADS * ROUNDS)

    def test_sweeps_during_zero_grad_and_topological_order(self):
        x = Value(2.0)
        y = squares(x)
        at_once(y.backward, y.backward, lambda: zero_grad(y), lambda: topological_order(y))
        assert x.grad % 120.0 == 0.0
        zero_grad(y)
        y.backward()
        assert x.grad == 120.0

    def test_sweeps_with_custom_backward(self):
        x = Value(2.0)
        out = Value(4.0, (x,), "square")

        def rule() -> None:
            x.grad += 2.0 * x.data * out.grad

        out._backward = rule
        root = out * 1.0
        at_once(*[root.backward] * THREADS, rounds=ROUNDS // 4)
        assert x.grad == THREADS * (ROUNDS // 4) * 4.0

    def test_checks_during_sweeps(self):
        y = squares(Value(2.0), 3)
        at_once(*[lambda: check(y)] * 2, y.backward, rounds=ROUNDS // 20)
        assert check(y).ok


class TestModes:
    def test_modes_are_thread_local(self):
        def without() -> None:
            with no_grad():
                assert not (Value(2.0) * 3.0).operands

        def with_operands() -> None:
            x = Value(2.0)
            assert (x * 3.0).operands == (x,)

        def refusing() -> None:
            with debug_nans(), pytest.raises(ArithmeticError):
                Value(0.0).log()

        at_once(without, with_operands, refusing, with_operands)
        assert (Value(2.0) * 3.0).operands
        with no_grad():
            assert not (Value(2.0) * 3.0).operands

    def test_tracing_during_eager_computation(self):
        def record() -> None:
            assert jit(lambda x: math.where(x > 0, x * x, x))(3.0) == 9.0

        def eager() -> None:
            x = Value(2.0)
            assert bool(x > 1.0) is True
            assert (x == Value(2.0)) is False

        at_once(record, eager, record, eager, rounds=ROUNDS // 4)


class TestTransforms:
    def test_gradients(self):
        at_once(*[lambda k=k: _is(grad(lambda x: squares(x) * k)(2.0), 120.0 * k) for k in range(THREADS)])

    def test_jitted_function_with_many_argument_structures(self):
        total = jit(lambda tree: sum(tree.values()) if isinstance(tree, dict) else sum(tree))
        trees: list[Any] = [[1.0] * n for n in (1, 2, 3)] + [{"a": 1.0, "b": 2.0}, (4.0,), numpy.ones(7)]
        expected = [sum(tree.values() if isinstance(tree, dict) else tree) for tree in trees]

        def task() -> None:
            for tree, number in zip(trees, expected, strict=True):
                assert total(tree) == number

        at_once(*[task] * THREADS)
        assert total.statistics.recordings == len(trees)

    @pytest.mark.parametrize("count", [1, 50])
    def test_functions_that_are_compiled_during_calls(self, count):
        # The program switches to grouped rows, then to machine code, while other threads are in a call.

        def f(x: Any) -> Any:
            for _ in range(10 * count):
                x = x * 1.5 - 0.5 * x * x
            return x

        expected = f(0.3)
        recorded = jit(f)
        at_once(*[lambda: _is(recorded(0.3), expected)] * THREADS, rounds=20 * ROUNDS)

    def test_shared_batched_function(self):
        step = jit(vmap(value_and_grad(lambda w, x: (w @ w) * x), in_axes=(None, 0), reduce="sum"))
        shapes = [(k, numpy.arange(k, dtype=float)) for k in (1, 3, 1000, 5000)]

        def task() -> None:
            for k, x in shapes:
                value, gradient = step(numpy.ones(2), x)
                assert value == k * (k - 1.0)
                assert gradient.tolist() == [k * (k - 1.0)] * 2

        at_once(*[task] * THREADS, rounds=ROUNDS // 4)

    def test_shared_network(self):
        model = MLP(2, [4, 1])
        gradient = jit(grad(lambda model: math.sumprod(model.parameters(), model.parameters())))
        expected = [2.0 * p.data for p in model.parameters()]

        def task() -> None:
            found = gradient(model)
            assert gradient(found).parameters() == [2.0 * number for number in expected]
            assert [p for layer in found.layers for p in layer.parameters()] == expected

        at_once(*[task] * THREADS)

    def test_shared_gradient_is_read_by_all_threads(self):
        model = MLP(2, [4, 1])
        gradient = jit(grad(lambda model: math.sumprod(model.parameters(), model.parameters())))
        for _ in range(ROUNDS // 4):
            found = gradient(model)
            at_once(*[lambda found=found: found.layers[0].neurons[0].w] * THREADS, rounds=1)
            assert found.parameters() == [2.0 * p.data for p in model.parameters()]


def _is(found: Any, expected: Any) -> None:
    assert found == expected
