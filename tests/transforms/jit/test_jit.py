"""Tests of jit: one trace per structure, run for all numbers, without numbers frozen in the trace."""

from __future__ import annotations

import asyncio
import bisect
import collections
import contextlib
import dataclasses
import decimal
import functools
import heapq
import math
import operator
import random
import threading
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import EVERY, EXTREME, OPCODES, fewer, programs
from wasm import run_coroutine

import gradwalk.math as gm
from gradwalk import (
    RecordingError,
    Value,
    check,
    debug_nans,
    grad,
    gradcheck,
    hvp,
    jacobian,
    jit,
    jvp,
    no_grad,
    primitive,
    refresh,
    topological_order,
    vjp,
)
from gradwalk.nn import MLP
from gradwalk.program.tracing.trace_cache import Statistics
from gradwalk.value.apply import apply
from gradwalk.value.modes import depth
from gradwalk.value.node import level_of

refusing = functools.partial(jit, branches="refuse")
Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass(frozen=True)
class Rates:
    short: Any
    long: Any


def same(a: float, b: float) -> bool:
    """Return whether two numbers are the same; signed zeros differ, all nans are equal."""
    return (a != a and b != b) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


class TestRunning:
    @fewer(2)
    @given(programs(EXTREME, EVERY, longest=12), st.lists(EXTREME, min_size=4, max_size=4))
    def test_results_equal_the_function_bit_for_bit(self, program, others):
        def f(*leaves):
            rest = iter(leaves)
            call = lambda name, *operands: apply(OPCODES[name], *operands)  # noqa: E731
            return program.run(lambda _: next(rest), call)[1]

        g = jit(f)
        other = others[: len(program.leaves)]
        assert same(g(*program.leaves), f(*program.leaves))
        assert same(g(*other), f(*other))
        assert same(g(*map(numpy.float64, other)), f(*other))
        assert same(jit(lambda leaves: f(*leaves))(other), f(*other))
        assert g.statistics.recordings == 1

    def test_function_is_run_once(self):
        runs = []
        g = jit(lambda x: runs.append(x) or x * x)
        assert [g(float(i)) for i in range(5)] == [0.0, 1.0, 4.0, 9.0, 16.0]
        assert len(runs) == 1

    def test_derivatives_of_a_jitted_function(self):
        g = jit(lambda x, y: gm.sin(x) * y)
        x, y = Value(0.5), Value(2.0)
        out = g(x, y)
        out.backward()
        assert (out.data, x.grad, y.grad) == (math.sin(0.5) * 2, math.cos(0.5) * 2, math.sin(0.5))
        assert grad(g)(0.5, 2.0) == jit(grad(g))(0.5, 2.0) == math.cos(0.5) * 2

    def test_arguments_are_floats_and_float_arrays(self):
        assert [type(jit(f)(2)) for f in (lambda x: x, lambda x: x * 2, lambda x: 1.0 - (x > 1))] == [float] * 3
        assert jit(lambda x: x)(numpy.arange(3)).dtype == float

    def test_jit_under_no_grad(self):
        with no_grad():
            assert jit(lambda x: x * x)(3.0) == 9.0
            assert jit(lambda x: x * x)(Value(3.0)).operands == ()

    def test_where_and_maximum_follow_the_numbers(self):
        g = jit(lambda x, y: gm.where((x > 1) * (y <= 2), x, gm.maximum(-x, y)))
        f = lambda x, y: x if x > 1 and y <= 2 else max(-x, y)  # noqa: E731
        for x in (-3.0, 0.0, 1.0, 2.0):
            for y in (-3.0, 2.0, 5.0):
                assert g(x, y) == f(x, y)

    def test_loop_with_a_mask_instead_of_a_break(self):
        @jit
        def steps(x):
            count = 0.0
            for _ in range(20):
                count = count + (x > 1)
                x = gm.where(x > 1, x / 2, x)
            return count

        assert [steps(x) for x in (0.5, 2.0, 100.0, 2.0**15)] == [0.0, 1.0, 7.0, 15.0]

    def test_training_with_and_without_jit(self):
        random.seed(1)
        plain = MLP(2, [4, 1])
        random.seed(1)
        recorded = MLP(2, [4, 1])
        data = [([0.0, 0.0], -1), ([0.0, 1.0], 1), ([1.0, 0.0], 1), ([1.0, 1.0], -1)]
        g = jit(lambda x, y: (1 - y * recorded(x)).relu())
        for _ in range(10):
            for model, loss in ((plain, lambda x, y: (1 - y * plain(x)).relu()), (recorded, g)):
                total = sum(loss(x, y) for x, y in data)
                model.zero_grad()
                total.backward()
                for p in model.parameters():
                    p.data -= 0.05 * p.grad
        for p, q in zip(plain.parameters(), recorded.parameters(), strict=True):
            assert q.data == pytest.approx(p.data, rel=1e-12)
        assert g.statistics.recordings == 1


class TestStructure:
    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ([1.0], (1.0,)),
            ([1.0], [1.0, 2.0]),
            ({"a": 1.0}, {"b": 1.0}),
            ({"a": 1.0}, {"a": [1.0]}),
            (Point(1.0, 2.0), (1.0, 2.0)),
            (Rates(1.0, 2.0), Point(1.0, 2.0)),
            (numpy.ones(2), numpy.ones((2, 1))),
            (numpy.ones(2), [1.0, 1.0]),
            ([1.0, None], [None, 1.0]),
        ],
    )
    def test_another_structure_causes_another_trace(self, first, second):
        g = jit(lambda tree, scale: [tree, scale])
        for tree in (first, second, first, second):
            result, scale = g(tree, 2.0)
            assert type(result) is type(tree)
            assert scale == 2.0
        assert (g.statistics.calls, g.statistics.recordings) == (4, 2)

    def test_numeric_types_are_one_structure(self):
        g = jit(lambda x, y: x * y)
        results = [g(*args) for args in ((2.0, 3), (2, True), (numpy.float32(2), 3.0), (2.0, numpy.int8(3)))]
        assert results == [6.0, 2.0, 6.0, 6.0]
        assert g(Value(2.0), 3.0).data == 6.0
        assert g.statistics == Statistics(5, 1, 1, written=1)

    def test_array_types_are_one_structure(self):
        g = jit(lambda x: x.sum())
        x = numpy.arange(6.0).reshape(2, 3)
        v = Value(5.0)
        arrays = [x, numpy.asfortranarray(x), numpy.arange(12.0).reshape(2, 6)[:, ::2] / 2, x.astype(int), x[::-1]]
        assert [g(a) for a in arrays] == [15.0] * 5
        assert g(numpy.array([[v, 1, 2], [3, 4, v]], dtype=object)).data == 20.0
        assert g.statistics.recordings == 1

    def test_positions_and_names_of_arguments_are_distinguished(self):
        g = jit(lambda x, y=10.0, *rest, k=1.0, **more: (x - y + sum(rest)) * k + sum(more.values()))
        assert g(1.0) == -9.0
        assert g(1.0, 2.0) == g(1.0, y=2.0) == -1.0
        assert g(1.0, 2.0, 3.0, 4.0, k=2.0, z=100.0) == 112.0
        assert g(1.0, k=2.0) == -18.0
        assert g.statistics.recordings == 5
        assert g(5.0, k=3.0) == -15.0
        assert g.statistics.recordings == 5

    def test_order_of_keywords_does_not_matter(self):
        g = jit(lambda **k: k["a"] - k["b"])
        assert g(a=1.0, b=3.0) == g(b=3.0, a=1.0) == -2.0
        assert g.statistics.recordings == 1

    def test_statistics(self):
        g = jit(lambda x: x * x + 1)
        assert g.statistics == Statistics(0, 0, 0)
        g(1.0)
        assert g.statistics == Statistics(1, 1, 1, written=1)
        g([1.0][0])
        g(numpy.ones(2))
        assert g.statistics == Statistics(3, 2, 3, written=3)


class TestCapturedValues:
    def test_captured_values_are_read_at_every_call(self):
        w = Value(2.0)
        g = jit(lambda x: w * x)
        assert g(3.0).data == 6.0
        w.data = 5.0
        out = g(3.0)
        out.backward()
        assert (out.data, w.grad, g.statistics.recordings) == (15.0, 3.0, 1)

    def test_captured_results_change_only_by_refresh(self):
        w = Value(2.0)
        square = w * w
        g = jit(lambda x: square * x)
        assert g(3.0).data == 12.0
        w.data = 5.0
        assert g(3.0).data == 12.0
        refresh(square)
        out = g(3.0)
        out.backward()
        assert (out.data, w.grad) == (75.0, 30.0)

    def test_captured_values_in_arrays_and_modules(self):
        model = MLP(2, [2, 1])
        weights = numpy.array([Value(1.0), Value(2.0)])
        g = jit(lambda x: model(list(x)) + weights @ x)
        before = g(numpy.array([1.0, 1.0])).data
        weights[1].data += 10.0
        assert g(numpy.array([1.0, 1.0])).data == pytest.approx(before + 10.0, rel=1e-12)

    def test_functions_without_arguments(self):
        w = Value(2.0)
        g = jit(lambda: w * w)
        assert g().data == 4.0
        w.data = 3.0
        assert g().data == 9.0
        assert jit(lambda x: w)(1.0) is w

    def test_captured_numbers_are_frozen(self):
        scale = 2.0
        g = jit(lambda x: scale * x)
        assert g(3.0) == 6.0
        scale = 5.0
        assert g(3.0) == 6.0
        assert g([3.0][0]) == 6.0
        assert scale == 5.0


class TestStaticArguments:
    def test_static_arguments_may_select_branches(self):
        @functools.partial(jit, static_argnames="mode")
        def f(x, mode="square"):
            return x * x if mode == "square" else -x

        assert (f(3.0), f(3.0, "square"), f(3.0, "negative"), f(3.0, mode="negative")) == (9.0, 9.0, -3.0, -3.0)

    def test_static_arguments_by_position_or_name(self):
        f = lambda x, n: sum(x**i for i in range(n))  # noqa: E731
        for g in (jit(f, static_argnums=1), jit(f, static_argnums=-1), jit(f, static_argnames="n")):
            assert (g(2.0, 3), g(2.0, n=3), g(2.0, 4), g(3.0, 3)) == (7.0, 7.0, 15.0, 13.0)
        assert jit(f, static_argnums=(1,), static_argnames=("n",))(2.0, 3) == 7.0

    def test_types_of_static_arguments_are_distinguished(self):
        g = jit(lambda x, kind: x if isinstance(kind, bool) else 2 * x, static_argnums=1)
        assert (g(3.0, 1), g(3.0, True), g(3.0, 1.0)) == (6.0, 3.0, 6.0)

    def test_functions_and_tuples(self):
        g = jit(lambda x, f, shape: f(x) * len(shape), static_argnums=(1, 2))
        assert g(3.0, gm.exp, (2, 3)) == math.exp(3.0) * 2
        assert g(3.0, abs, (2, 3, 4)) == 9.0

    def test_unhashable_static_arguments_raise(self):
        g = jit(lambda x, n: x, static_argnums=1)
        with pytest.raises(TypeError, match=r"the static argument n must be hashable, .* got list: give a tuple"):
            g(1.0, [1])
        with pytest.raises(TypeError, match=r"static argument n must be hashable, .* got dict"):
            g(1.0, n={})

    def test_missing_static_arguments_raise(self):
        with pytest.raises(ValueError, match=r"static_argnums=3: <lambda>\(\) has 1 parameters"):
            jit(lambda x: x, static_argnums=3)
        with pytest.raises(ValueError, match=r"static_argnames='y': <lambda>\(\) has the parameters x"):
            jit(lambda x: x, static_argnames=("x", "y"))
        assert jit(lambda x, **k: x * len(k["y"]), static_argnames="y")(2.0, y="abc") == 6.0
        assert jit(lambda *a: a[0] * len(a[1]), static_argnums=1)(2.0, "abc") == 6.0

    def test_error_for_an_object_suggests_static_argnames(self):
        g = jit(lambda x, mode: x)
        mode = decimal.Decimal(1)
        for call in (lambda: g(1.0, mode), lambda: g(1.0, mode=mode)):
            with pytest.raises(TypeError, match=r"mode is a Decimal .* static.*jit\(f, static_argnames='mode'\)"):
                call()

    def test_gradients_with_static_arguments(self):
        g = jit(grad(lambda x, n: x**n), static_argnums=1)
        assert (g(2.0, 3), g(2.0, n=2)) == (12.0, 4.0)


class TestFunctions:
    def test_decorators(self):
        @jit
        def f(x):
            """Twice x."""
            return 2 * x

        @jit()
        def g(x):
            return 3 * x

        assert (f(2.0), g(2.0), f.__name__, f.__doc__, repr(f)) == (4.0, 6.0, "f", "Twice x.", "<jit of f()>")

    def test_methods(self):
        class Model:
            def __init__(self):
                self.weight = Value(2.0)

            @functools.partial(jit, static_argnums=0)
            def predict(self, x):
                return self.weight * x

            @staticmethod
            @jit
            def square(x):
                return x * x

            @classmethod
            def make(cls, x):
                return x + 1

            def plain(self, x):
                return self.weight * x

        one, two = Model(), Model()
        two.weight.data = 10.0
        assert (one.predict(3.0).data, two.predict(3.0).data, Model.predict(one, 3.0).data) == (6.0, 30.0, 6.0)
        one.weight.data = 5.0
        assert one.predict(3.0).data == 15.0
        assert (one.square(3.0), Model.square(3.0), jit(Model.make)(1.0), jit(one.plain)(2.0).data) == (9, 9, 2, 10)
        with pytest.raises(TypeError, match=r"self is a Model .*static_argnames='self'"):
            jit(Model.plain)(one, 3.0)

    def test_methods_of_dataclasses(self):
        @dataclasses.dataclass
        class Line:
            slope: float
            height: float

            @jit
            def at(self, x):
                return self.slope * x + self.height

        assert (Line(2.0, 1.0).at(3.0), Line(5.0, 0.0).at(3.0), Line.at.statistics.recordings) == (7.0, 15.0, 1)

    @pytest.mark.parametrize(
        ("f", "args", "expected"),
        [
            (abs, (-3.0,), 3.0),
            (pow, (2.0, 3.0), 8.0),
            (sum, ([1.0, 2.0],), 3.0),
            (math.prod, ([2.0, 3.0],), 6.0),
            (operator.mul, (2.0, 3.0), 6.0),
            (gm.hypot, (3.0, 4.0), 5.0),
            (numpy.exp, (0.0,), 1.0),
            (numpy.dot, (numpy.ones(2), numpy.ones(2)), 2.0),
            (functools.partial(pow, 2.0), (3.0,), 8.0),
            (functools.partial(lambda x, y: x - y, y=1.0), (3.0,), 2.0),
        ],
    )
    def test_builtin_and_library_functions(self, f, args, expected):
        g = jit(f)
        assert g(*args) == g(*args) == expected
        assert g.statistics.recordings == 1
        assert "jit of" in repr(g)

    def test_callable_objects(self):
        class Doubling:
            def __call__(self, x):
                return 2 * x

        assert jit(Doubling())(3.0) == 6.0

    def test_non_functions_raise(self):
        for f in (3.0, "f", [abs]):
            with pytest.raises(TypeError, match=rf"jit\(\) takes a function, not {type(f).__name__}"):
                jit(f)

    def test_recursion(self):
        @jit
        def endless(x):
            return endless(x - 1)

        @functools.partial(jit, static_argnums=1)
        def factorial(x, n):
            return x if n <= 1 else n * factorial(x, n - 1)

        with pytest.raises(RecursionError, match=r"endless\(\) calls itself while it is being recorded.* as a loop"):
            endless(1.0)
        assert factorial(2.0, 5) == 240.0
        assert factorial.statistics == Statistics(5, 5, 0 + 1 + 2 + 3 + 4, written=0 + 1 + 2 + 3 + 2)

    def test_recursion_over_structures(self):
        @jit
        def total(tree):
            return tree[0] + total(tree[1:]) if len(tree) > 1 else tree[0]

        assert total([1.0, 2.0, 3.0]) == 6.0
        assert total([1.0, 2.0, 3.0, 4.0]) == 10.0
        assert total.statistics.recordings == 4

    def test_nested_jit(self):
        inner = jit(lambda x: x * x)
        outer = jit(lambda x: inner(x) + inner(x + 1))
        assert [outer(2.0), outer(3.0), inner(2.0)] == [13.0, 25.0, 4.0]
        assert inner.statistics.recordings == 1

    def test_jit_works_after_exceptions(self):
        fail = True

        @jit
        def f(x):
            if fail:
                raise KeyError("mine")
            return x * x

        with pytest.raises(KeyError, match="mine"):
            f(2.0)
        fail = False
        assert (f(3.0), f.statistics.recordings, depth()) == (9.0, 1, 0)
        assert Value(2.0) > 1

    def test_wrong_arguments_raise_the_usual_type_error(self):
        g = jit(lambda x, y: x)
        with pytest.raises(TypeError, match="missing 1 required positional argument"):
            g(1.0)
        with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
            g(1.0, 2.0, 3.0)
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            g(1.0, 2.0, z=1.0)
        assert g(1.0, 2.0) == 1.0


class TestGraphs:
    def test_graph_of_the_latest_trace(self):
        w = Value(3.0, label="w")
        g = jit(lambda x, rate: (x["a"] * 1 + rate * w).tanh())
        g({"a": 1.0}, 0.5)
        numbers = dict(zip(g.graph.names, g.graph.data.tolist(), strict=True))
        assert {name: numbers[name] for name in ("x['a']", "rate", "w")} == {"x['a']": 1.0, "rate": 0.5, "w": 3.0}
        assert len(g.graph) == 6  # x['a'] * 1 is simplified to x['a']
        assert float(g.graph.data[g.graph.root]) == math.tanh(2.5)

    def test_graph_before_the_first_call_raises(self):
        with pytest.raises(ValueError, match=r"<lambda>\(\) has not been called yet, so there is no recording"):
            _ = jit(lambda x: x).graph

    def test_walk_for_given_numbers(self):
        g = jit(lambda x, y: x * y)
        assert g.walk(2.0, 3.0).gradients == {"x": 3.0, "y": 2.0, "x * y": 1.0}
        assert g.walk(5.0, 7.0).gradients["x"] == 7.0

    def test_graph_of_several_results(self):
        g = jit(lambda x: [x, x * x, 3.0])
        g(2.0)
        assert len(g.graph.outputs) == 3


async def asked(x):
    await asyncio.sleep(0)
    return float(x)


# Every way to read a number while tracing, and the expression that the message must name.
REFUSED = {
    "dict": (lambda x, y: {2.0: 5.0}.get(x, 0.0) * y, "x"),
    "set": (lambda x, y: y if x in {2.0, 3.0} else x, "x"),
    "if": (lambda x, y: 1.0 if x > 1 else y, "1 < x"),
    "if of a number": (lambda x, y: 1.0 if x - 2 else y, "x - 2"),
    "else": (lambda x, y: y if x * y <= 6 else 0.0, "(x * y) <= 6"),
    "and": (lambda x, y: x and y, "x"),
    "or": (lambda x, y: x or y, "x"),
    "not": (lambda x, y: not x, "x"),
    "chain": (lambda x, y: 1 < x < y, "1 < x"),
    "bool": (lambda x, y: bool(y), "y"),
    "any": (lambda x, y: any([x, y]), "x"),
    "all": (lambda x, y: all([x > 1, y > 1]), "1 < x"),
    "min": (lambda x, y: min(x, y, 5.0), "y < x"),
    "max": (lambda x, y: max([x, y]), "x < y"),
    "sorted": (lambda x, y: sorted([x, y])[0], "y < x"),
    "sort": (lambda x, y: [x, y].sort(), "y < x"),
    "filter": (lambda x, y: list(filter(None, [x, y])), "x"),
    "next": (lambda x, y: next(v for v in (x, y) if v > 2), "2 < x"),
    "assert": (lambda x, y: (_ for _ in ()).throw(AssertionError) if y < 0 else x, "y < 0"),
    "reduce": (lambda x, y: functools.reduce(lambda a, b: a if a > b else b, [x, y]), "y < x"),
    "float": (lambda x, y: float(x) * y, "x"),
    "int": (lambda x, y: int(x * y), "x * y"),
    "complex": (lambda x, y: complex(x), "x"),
    "round": (lambda x, y: round(x, 1), "x"),
    "math.sin": (lambda x, y: math.sin(x), "x"),
    "math.isnan": (lambda x, y: math.isnan(x), "x"),
    "math.fsum": (lambda x, y: math.fsum([x, y]), "x"),
    "math.dist": (lambda x, y: math.dist([x], [y]), "x"),
    "range": (lambda x, y: [v for v in range(x)], "x"),  # noqa: C416
    "index": (lambda x, y: [1.0, 2.0, 3.0][x], "x"),
    "slice": (lambda x, y: [1.0, 2.0, 3.0][: x * 1.5], "x * 1.5"),
    "repeat": (lambda x, y: [1.0] * x, "x"),
    "operator.index": (lambda x, y: operator.index(x), "x"),
    "%": (lambda x, y: "%.3f" % x, "x"),  # noqa: UP031
    "data": (lambda x, y: x.data, "x"),
    "data of a product": (lambda x, y: (x * y).data * x, "x * y"),
    "set data": (lambda x, y: setattr(x, "data", 1.0), "x"),
    "grad": (lambda x, y: x.grad, "x"),
    "set grad": (lambda x, y: setattr(x, "grad", 1.0), "x"),
    "backward": (lambda x, y: (x * y).backward(), "x * y"),
    "heapq": (lambda x, y: heapq.heappush([x], y), "y < x"),
    "bisect": (lambda x, y: bisect.bisect([1.0, 3.0], x), "x < 3"),
    "array of floats": (lambda x, y: numpy.array([x, y], float), "x"),
    "astype": (lambda x, y: numpy.array([x, y]).astype(float), "x"),
    "float64": (lambda x, y: numpy.float64(x), "x"),
    "item of an array": (lambda x, y: operator.setitem(numpy.zeros(2), 0, y), "y"),
    "numpy.maximum": (lambda x, y: numpy.maximum(numpy.array([x]), numpy.array([y])), "y <= x"),
    "numpy.where": (lambda x, y: numpy.where(x > 1, x, y), "1 < x"),
    "mask": (lambda x, y: numpy.array([x, y])[numpy.array([x, y]) > 1], "1 < x"),
    "logical": (lambda x, y: numpy.logical_not(numpy.array([x])), "x"),
    "deep": (lambda x, y: 1.0 if gm.exp(gm.sin(x * y) + x) > 1 else y, "1 < exp(sin(…) + x)"),
}
# The same through NumPy and the standard library; test_pitfalls.py checks the line in the message.
REFUSED_BY_OTHERS = {
    "numpy.sort": lambda x, y: numpy.sort(numpy.array([x, y])),
    "numpy.argmax": lambda x, y: numpy.argmax(numpy.array([x, y])),
    "numpy.max": lambda x, y: numpy.max(numpy.array([x, y])),
    "numpy.clip": lambda x, y: numpy.clip(numpy.array([x, y]), 1.0, 2.0),
    "numpy.any": lambda x, y: numpy.any(numpy.array([x - 2.0])),
    "numpy.count_nonzero": lambda x, y: numpy.count_nonzero(numpy.array([x - 2.0])),
    "numpy.unique": lambda x, y: numpy.unique(numpy.array([x, y])),
    "numpy.median": lambda x, y: numpy.median(numpy.array([x, y])),
    "numpy.searchsorted": lambda x, y: numpy.searchsorted(numpy.array([1.0, 2.5]), x),
    "numpy.interp": lambda x, y: numpy.interp(x, [0.0, 5.0], [0.0, 1.0]),
    "numpy.isclose": lambda x, y: numpy.isclose(x, 2.0),
    "numpy.arange": lambda x, y: numpy.arange(x),
    "random.choices": lambda x, y: random.choices([1.0, 2.0], weights=[x, y]),
    "topological_order": lambda x, y: topological_order(x * y, key=lambda v: v.data),
    "gradcheck": lambda x, y: gradcheck(lambda v: v * v, x),
    "coroutine": lambda x, y: run_coroutine(asked(x)),
    "thread of asyncio": lambda x, y: run_coroutine(asyncio.to_thread(lambda: x.data)),
    "generator": lambda x, y: next(x.data for _ in range(1)),
    "grad": lambda x, y: grad(lambda v: v * v if v > 1 else v)(x),
    "data in grad": lambda x, y: grad(lambda v: v * v.data)(x),
    "jvp": lambda x, y: jvp(lambda v: v * float(v), (x,), (1.0,)),
    "vjp": lambda x, y: vjp(lambda v: v if x > 1 else -v, y),
    "jit": lambda x, y: jit(lambda v: v if x > 1 else -v)(y),
    "number of grad": lambda x, y: grad(lambda v: v * v * y)(x).data,
}
REFUSED_SOMEHOW = {
    "struct": lambda x, y: numpy.linalg.solve(numpy.array([[x]]), numpy.array([1.0])),
    "nextafter": numpy.nextafter,
    "+=": lambda x, y: operator.iadd(numpy.zeros(1), x),
    "Value": lambda x, y: Value(x),
}


class TestReadingNumbers:
    @pytest.mark.parametrize("way", REFUSED)
    def test_error_names_line_and_expression(self, way):
        f, expression = REFUSED[way]
        with pytest.raises(RecordingError) as caught:
            refusing(f)(2.0, 3.0)
        message = str(caught.value)
        assert message.startswith(f"{__file__}:{f.__code__.co_firstlineno}: ")
        assert f" `{expression}` while the function is being recorded" in message
        assert message.endswith(".")

    @pytest.mark.parametrize("way", REFUSED_BY_OTHERS)
    def test_reading_numbers_in_library_code_raises(self, way):
        with pytest.raises(RecordingError, match="while the function is being recorded"):
            refusing(REFUSED_BY_OTHERS[way])(2.0, 3.0)

    @pytest.mark.parametrize("way", REFUSED_SOMEHOW)
    def test_operations_unsupported_by_values_raise(self, way):
        with pytest.raises(TypeError):
            refusing(REFUSED_SOMEHOW[way])(2.0, 3.0)

    def test_error_for_one_line_of_several(self):
        def f(x):
            y = x * x

            if y > 2:
                return y
            return x

        with pytest.raises(RecordingError) as caught:
            refusing(f)(3.0)
        line = f.__code__.co_firstlineno + 3
        where, what, write, again, cure = str(caught.value).splitlines()
        assert where == f"{__file__}:{line}: if y > 2:"
        assert what == (
            "  branches on `2 < (x * x)` while the function is being recorded: the recording would use the same "
            "result for all other arguments."
        )
        assert write == "  Write, after `from gradwalk import loops`:"
        assert again == "    return loops.cond(y > 2, lambda: y, lambda: x)"
        assert all(word in cure for word in ("math.where(", "maximum", "jit(f, static_argnums=...)"))

    def test_while_and_for_loops_raise(self):
        def halved(x):
            while x > 1:
                x = x / 2
            return x

        def clipped(x):
            for _ in range(3):
                if not x < 1:
                    break
            return x

        for f in (halved, clipped):
            with pytest.raises(RecordingError, match=r"branches on `(1 < x|x < 1)`"):
                refusing(f)(3.0)

    def test_error_suggests_a_suitable_replacement(self):
        for f, cure in (
            (lambda x: (x * x).backward(), "derivatives come from gradwalk.grad and value_and_grad"),
            (lambda x: x.grad, "derivatives come from gradwalk.grad"),
            (lambda x: setattr(x, "data", 2.0), "Return the new number instead"),
            (lambda x: float(x), "gradwalk.math.where"),  # noqa: PLW0108
        ):
            with pytest.raises(RecordingError, match=cure):
                refusing(f)(2.0)

    def test_no_grad_inside_raises(self):
        def f(x):
            with no_grad():
                return x * x

        with pytest.raises(RecordingError, match=r"computes under no_grad\(\) `x \* x`.*\n.*stop_gradient"):
            refusing(f)(2.0)

    def test_error_names_nested_arguments(self):
        with pytest.raises(RecordingError, match=r"branches on `0 < \(x\['rates'\]\[0\] \* scale\[1\]\)`"):
            refusing(lambda x, scale: 1 if x["rates"][0] * scale[1] > 0 else 2)({"rates": [1.0]}, numpy.ones(2))

    def test_reading_captured_values_raises(self):
        w = Value(2.0, label="w")
        for f in (lambda x: x if w > 1 else -x, lambda x: x * w.data, lambda x: x * float(w), lambda x: w.backward()):
            with pytest.raises(RecordingError, match=r"`(1 < )?w`"):
                refusing(f)(1.0)

    @pytest.mark.parametrize("way", [*REFUSED, *REFUSED_BY_OTHERS])
    def test_jit_and_values_work_after_errors(self, way):
        f = REFUSED[way][0] if way in REFUSED else REFUSED_BY_OTHERS[way]
        for transformed in (refusing(f), refusing(grad(f)), grad(refusing(f)), refusing(refusing(f))):
            with pytest.raises((RecordingError, TypeError)):
                transformed(2.0, 3.0)
        v = Value(2.0)
        out = v * v
        out.backward()
        assert (v > 1, bool(v), v.data, v.grad, depth(), level_of(out)) == (True, True, 2.0, 4.0, 0, 0)
        assert jit(lambda x: x * x)(3.0) == 9.0

    def test_reading_numbers_in_grad_is_allowed(self):
        assert grad(lambda x: x * x if x > 1 else x)(3.0) == 6.0
        assert grad(lambda x: x * x.data)(3.0) == 3.0
        assert grad(lambda x: x * math.floor(x.data))(3.5) == 3.0

    def test_running_does_not_read_numbers(self):
        g = jit(lambda x: x * x)
        g(1.0)
        assert g(Value(3.0)) > 8
        assert g(3.0) > 8


def tried(f, otherwise):
    try:
        return f()
    except ZeroDivisionError:
        return otherwise


def guarded(x, y):
    with debug_nans():
        return x * y


def in_thread(f):
    results = []
    thread = threading.Thread(target=lambda: results.append(f()))
    thread.start()
    thread.join()
    return results[0]


async def summed(x, y):
    async def square(v):
        await asyncio.sleep(0)
        return v * v

    return sum(await asyncio.gather(square(x), square(y)))


# Operations that seem to read a number, but do not.
FINE = {
    "format": lambda x, y: (f"{x} {x!r} {y!s:>10}", x)[1],
    "print": lambda x, y: (str(x), repr(y), x * y)[-1],
    "label": lambda x, y: (setattr(x, "label", "velocity"), x * y)[1],
    "comparisons": lambda x, y: (x > 1) + 2 * (y <= x) + 4 * (x >= y) + 8 * (x < 3),
    "comparisons of comparisons": lambda x, y: (x > 1) < (y > 2.5),
    "identity": lambda x, y: x if x is not y else y,
    "isinstance": lambda x, y: x * (2 if isinstance(x, Value) else 1),
    "sum": lambda x, y: sum([x, y, 1.0]),
    "prod": lambda x, y: math.prod([x, y]),
    "detach": lambda x, y: x * y.detach(),
    "stop": lambda x, y: x * y.stop_gradient(),
    "sumprod": lambda x, y: gm.sumprod([x, 2.0], [y, x]),
    "numpy": lambda x, y: numpy.dot(numpy.array([x, y]), [1.0, 2.0]) + numpy.linalg.norm(numpy.array([x, y])),
    "numpy.abs": lambda x, y: numpy.abs(numpy.array([x - 3, y])).sum(),
    "numpy scalars": lambda x, y: numpy.maximum(x, 2.5) + numpy.sign(y - x),
    "matmul": lambda x, y: (numpy.array([[x, y], [y, x]]) @ numpy.array([x, y])).sum(),
    "einsum": lambda x, y: numpy.einsum("i,i->", numpy.array([x, y]), numpy.array([y, y])),
    "cumsum": lambda x, y: numpy.cumsum(numpy.array([x, y]))[1],
    "mean": lambda x, y: numpy.mean(numpy.array([x, y])),
    "trapezoid": lambda x, y: numpy.trapezoid(numpy.array([x, y])),
    "vectorize": lambda x, y: numpy.vectorize(lambda v: v * 2)(numpy.array([x, y])).sum(),
    "full": lambda x, y: numpy.full(3, x).sum() * y,
    "generator": lambda x, y: sum(v * v for v in (x, y)),
    "exceptions": lambda x, y: tried(lambda: 1 // 0, x * y),
    "context": lambda x, y: x * contextlib.nullcontext(y).enter_result,
    "order": lambda x, y: topological_order(x * y)[-1],
    "thread": lambda x, y: in_thread(lambda: x * y),
    "asyncio": lambda x, y: run_coroutine(summed(x, y)),
    "grad": lambda x, y: grad(lambda v: v * v * y)(x),
    "hvp": lambda x, y: hvp(lambda v: v**3, (x,), (y,)),
    "vjp": lambda x, y: vjp(lambda v: v * v, x)[1](y)[0],
    "jacobian": lambda x, y: jacobian(lambda v: [v[0] * v[1], v[0]])([x, y])[0][1],
    "jit": lambda x, y: jit(lambda v: v * y)(x),
    "copies of containers": lambda x, y: {"a": x}.copy()["a"] * [x, y].copy()[1],
    "replace": lambda x, y: dataclasses.replace(Rates(x, y), long=x).long * y,
    "namedtuple": lambda x, y: Point(x, y)._replace(x=y).x * x,
    "divmod of indices": lambda x, y: [x, y][divmod(3, 2)[1]] * x,
}


class TestSupportedOperations:
    @pytest.mark.parametrize("way", FINE)
    def test_results_equal_those_without_jit(self, way):
        f = FINE[way]
        g = jit(f)
        for x, y in ((2.0, 3.0), (5.0, -1.0), (0.5, 0.5), (-3.0, 4.0)):
            expected = f(Value(x), Value(y))
            expected = expected.data if isinstance(expected, Value) else float(expected)
            assert g(x, y) == pytest.approx(expected, rel=1e-14)
        assert g.statistics.recordings == 1

    def test_check_of_a_jitted_result(self):
        x = Value(2.0)
        assert check(jit(lambda v: gm.sin(v) * v)(x)).ok


class TestThreads:
    def run_together(self, work, count=4):
        failures = []

        def guarded_work(i):
            try:
                work(i)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=guarded_work, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []

    def test_concurrent_traces(self):
        def work(i):
            for k in range(20):
                g = jit(lambda x, k=float(k): gm.where(x > k, x * i, x + i))
                assert g(k + 1.0, float(k)) == (k + 1.0) * i
                assert g(k - 1.0, float(k)) == k - 1.0 + i

        self.run_together(work)

    def test_concurrent_traces_of_one_function(self):
        g = jit(lambda x: sum(x) if isinstance(x, list) else x.sum())

        def work(i):
            for length in range(1, 15):
                assert g([float(i)] * length) == i * length
                assert g(numpy.full(length, float(i))) == i * length

        self.run_together(work)
        assert g.statistics.recordings == 28

    def test_trace_does_not_disturb_other_threads(self):
        entered, leave = threading.Event(), threading.Event()

        def slow(x):
            entered.set()
            leave.wait(10)
            return x * x

        results = []
        thread = threading.Thread(target=lambda: results.append(jit(slow)(3.0)))
        thread.start()
        entered.wait(10)
        try:
            v = Value(2.0)
            (v * v).backward()
            assert (v > 1, bool(v), v.data, v.grad, (1 if v > 1 else 2)) == (True, True, 2.0, 4.0, 1)
            with no_grad():
                assert (v * v).operands == ()
            assert jit(lambda x: x + 1)(1.0) == 2.0
        finally:
            leave.set()
            thread.join()
        assert results == [9.0]


class TestErrors:
    @pytest.mark.parametrize(
        ("result", "text"),
        [
            (None, r"f\(\) returned None; it must return a number"),
            ({"a": {1}}, r"the result of f\(\)\['a'\] is a set"),
            (numpy.array(["a"]), r"the result of f\(\) is an array of <U1"),
        ],
    )
    def test_non_numeric_results_raise(self, result, text):
        def f(x):
            return result

        with pytest.raises(TypeError, match=text):
            jit(f)(1.0)

    @pytest.mark.parametrize("argument", [{1.0}, object(), [1.0, {"b": {"c"}}]])
    def test_non_numeric_arguments_raise(self, argument):
        with pytest.raises(TypeError, match=r"x.*, not a number.*static_argnames='x'"):
            jit(lambda x: x)(argument)

    def test_failed_calls_trace_nothing(self):
        g = jit(lambda x: x)
        with pytest.raises(TypeError):
            g({"a"})
        assert g.statistics.recordings == 0
        assert g(1.0) == 1.0


def test_errors_of_taken_branches_propagate():
    """Check that the error is raised once without a new trace, and only if its branch is taken."""
    failing = []

    @primitive
    def root(x):
        if failing:
            raise failing.pop()
        if x < 0:
            raise ValueError("no root")
        return x**0.5

    @root.derivative
    def slope(out, _):
        return 0.5 / out

    recordings = []

    def f(x):
        recordings.append(1)
        if x > 0 and root(x) > 1.0:
            return root(x)
        return 0.0 * x

    recorded = jit(f, branches="record")
    assert recorded(4.0) == 2.0
    assert recorded(-1.0) == 0.0
    assert recorded(9.0) == 3.0
    count = len(recordings)
    failing.append(TimeoutError("too long"))
    with pytest.raises(TimeoutError, match="too long"):
        recorded(4.0)
    assert len(recordings) == count
