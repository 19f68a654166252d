"""Regression tests of traced functions, mostly about numbers frozen into a trace."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest
from hypothesis import given
from programs import fewer, programs
from test_grad import EXACT, INTEGERS, as_function, exact_derivatives

import gradwalk
import gradwalk.math as gm
from gradwalk import (
    RecordingError,
    Value,
    debug_nans,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    jvp,
    no_grad,
    refresh,
    take,
    value_and_grad,
    vjp,
    vmap,
    zero_grad,
)
from gradwalk.trees.tree import flatten, scalars


def number(x: Any) -> Any:
    return x.data if isinstance(x, Value) else x


def raises_or_is_right(f: Any, points: Any = ((2.0,), (3.0,))) -> None:
    """Check that jit(f) raises `RecordingError`, or gives at each point what a trace at that point gives."""
    g = jit(f)
    try:
        results = [number(g(*point)) for point in points]
    except RecordingError:
        return
    assert results == [number(jit(f)(*point)) for point in points]


class TestStopGradient:
    """Tests that programs keep stop_gradient, which Tape.program() used to drop."""

    def test_grad_of_jit(self):
        f = lambda x: x.stop_gradient() * x  # noqa: E731
        assert grad(f)(3.0) == 3.0
        assert grad(jit(f))(3.0) == 3.0

    def test_backward_through_jit(self):
        x = Value(3.0)
        jit(lambda x: x.stop_gradient() * x)(x).backward()
        assert x.grad == 3.0

    def test_detach_within_jit(self):
        assert jvp(jit(lambda x: x.detach() * x), (3.0,), (1.0,)) == (9.0, 3.0)

    def test_grad_within_grad(self):
        f = lambda y: y.stop_gradient() * y  # noqa: E731
        assert grad(grad(f))(3.0) == 0.0
        assert grad(lambda x: 1.0 * grad(f)(x))(3.0) == 0.0

    @fewer(20)
    @given(programs(INTEGERS, [*EXACT, "stop_gradient"], longest=8))
    def test_random_programs(self, program):
        f, x, n = as_function(program), list(program.leaves), len(program.leaves)
        expected = [float(e) for e in exact_derivatives(program)[:n, n, n]]
        assert grad(f)(x) == jit(grad(f))(x) == expected
        assert grad(jit(f))(x) == expected


class TestNoPositionalArguments:
    """Tests of calls without positional arguments, which used to raise in zip(strict=True)."""

    def test_all_arguments_by_keyword(self):
        assert jit(lambda x, y: x - y)(x=3.0, y=1.0) == 2.0

    def test_all_arguments_by_default(self):
        assert jit(lambda x=3.0: x * x)() == 9.0
        assert jvp(lambda x=3.0: x * x, (), ()) == (9.0, 0.0)


class TestArgumentStructure:
    """Tests that the fast path for floats checks the structure, not just the number of leaves."""

    def test_list_of_one_number(self):
        g = jit(lambda x: x[0] if isinstance(x, list) else 100 * x)
        assert (g([3.0]), g(3.0)) == (3.0, 300.0)

    def test_array_of_one_number(self):
        g = jit(lambda x: x.sum())
        assert g(numpy.array([3.0])) == 3.0
        with pytest.raises(AttributeError):
            g(3.0)

    def test_two_numbers_and_none(self):
        g = jit(lambda a, b: a[0] - a[1] if b is None else a * b)
        assert (g([3.0, 1.0], None), g(3.0, 1.0)) == (2.0, 3.0)


class TestValuesOfEarlierTraces:
    """Tests that a Value of a finished trace is not taken for a constant."""

    def test_value_set_on_a_static_object(self):
        class Model:
            @functools.partial(jit, static_argnums=0)
            def predict(self, x):
                return self.weight * x

        model = Model()

        def loss(weight):
            model.weight = weight
            return model.predict(2.0)

        assert value_and_grad(loss)(3.0) == (6.0, 2.0)
        try:
            result = value_and_grad(loss)(4.0)
        except (RecordingError, RuntimeError, ValueError):
            return  # an error is acceptable
        assert result == (8.0, 2.0)

    def test_input_kept_from_an_earlier_trace(self):
        kept = []

        def f(x):
            x = x if isinstance(x, Value) else x[0]
            kept.append(x)
            return x * kept[0]

        g = jit(f)
        assert g(2.0) == 4.0
        with pytest.raises(Exception, match="record"):
            g([3.0])  # this trace would freeze the earlier input, 2.0

    def test_value_that_escapes_its_function(self):
        def f(x):
            kept = []
            grad(lambda y: kept.append(x * y) or x * y)(x)
            return kept[0]  # x * x

        try:
            slope = grad(f)(3.0)
        except (RecordingError, RuntimeError, ValueError):
            return
        assert slope == 6.0


@dataclasses.dataclass
class Rates:
    short: Any
    long: Any


class TestCopies:
    """Tests that a copy of an input is still an input, as in JAX, where a tracer's copy is the tracer itself."""

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: copy.copy(x) * x,
            lambda x: copy.deepcopy(x) * x,
            lambda x: copy.deepcopy([x * 2])[0] * x,
            lambda x: copy.deepcopy(numpy.array([x]))[0] * x,
            lambda x: copy.deepcopy({"a": x})["a"] * x,
            lambda x: dataclasses.asdict(Rates(x, 1.0))["short"] * x,
            lambda x: dataclasses.astuple(Rates(x * 2, 1.0))[0] * x,
            lambda x: pickle.loads(pickle.dumps(x)) * x,
            lambda x: pickle.loads(pickle.dumps(x * 2)) * x,
        ],
        ids=[
            "copy",
            "deepcopy",
            "of a list",
            "of an array",
            "of a dict",
            "asdict",
            "astuple",
            "pickle",
            "of a product",
        ],
    )
    def test_jit(self, f):
        raises_or_is_right(f)

    def test_grad_of_copies(self):
        f = lambda rates: dataclasses.asdict(rates)["short"] * dataclasses.asdict(rates)["long"]  # noqa: E731
        assert grad(f)(Rates(2.0, 3.0)) == Rates(3.0, 2.0)
        assert grad(lambda x: copy.deepcopy(x) * x)(3.0) == 6.0

    def test_copy_of_a_captured_value(self):
        w = Value(2.0)
        g = jit(lambda x: copy.copy(w) * x)
        assert number(g(1.0)) == 2.0
        w.data = 5.0
        assert number(g(1.0)) == 5.0


def in_thread(f: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(f).result()


class TestThreads:
    """Tests of new threads, whose context is empty: depth 0 and not tracing."""

    def test_concurrent_runs_of_one_program(self):
        """Test that runs do not share an array of numbers. Compiled runs pass anyway: they do not switch threads."""
        g = jit(lambda x: gm.sin(x) * x + gm.cos(x) * x * x)
        expected = {i: g(float(i)) for i in range(8)}
        wrong = []
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            with ThreadPoolExecutor(8) as pool:
                for i in range(8):
                    pool.submit(lambda i=i: wrong.extend({g(float(i)) for _ in range(500)} - {expected[i]}))
        finally:
            sys.setswitchinterval(interval)
        assert wrong == []

    def test_concurrent_first_use_of_a_dataclass(self):
        """Check that a class is registered once; optree rejects a second registration."""
        failures = []
        for _ in range(50):
            cls = dataclasses.make_dataclass("Fresh", ["rate"])
            start = threading.Barrier(4)

            def work(cls=cls, start=start):
                start.wait()
                try:
                    grad(lambda q: q.rate * q.rate)(cls(1.0))
                except ValueError as error:
                    failures.append(error)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert failures == []


def unconnected(x: Any) -> Any:
    with no_grad():
        return x * x


class TestEqualityWithNumbers:
    """Tests that comparing an input with a number raises, because a False by identity would freeze a branch."""

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: 1.0 if x == 0.0 else gm.sin(x) / x,
            lambda x: gm.sin(x) / x if x != 0.0 else 1.0,
            lambda x: 1.0 if x in (0.0, 1.0) else x,
            lambda x: [5.0, 0.0].index(x) if [0.0].count(x) else x - 1,
        ],
        ids=["==", "!=", "in", "count"],
    )
    def test_jit(self, f):
        with pytest.raises(RecordingError):
            jit(f, branches="refuse")(0.0)
        recorded, derivative = jit(f), jit(grad(f))
        for x in (0.0, 2.0, 1.0, 0.0):
            assert recorded(x) == number(f(Value(x)))
            assert derivative(x) == grad(f)(x)

    def test_match_statement(self):
        def f(x):
            match x:
                case 0.0:
                    return 1.0
            return x * x

        with pytest.raises(RecordingError):
            jit(f, branches="refuse")(0.0)
        recorded = jit(f)
        assert [recorded(x) for x in (0.0, 3.0, 0.0, 2.0)] == [1.0, 9.0, 1.0, 4.0]

    def test_numpy_comparison(self):
        def f(x):
            return x * numpy.array_equal(numpy.array([x]), numpy.array([2.0]))

        with pytest.raises(RecordingError):
            jit(f, branches="refuse")(2.0)
        recorded = jit(f)
        assert [recorded(x) for x in (2.0, 3.0, 2.0)] == [2.0, 0.0, 2.0]


class TestSwallowedErrors:
    """Tests that a RecordingError is raised again when the function or a library catches it."""

    @pytest.mark.parametrize("caught", [TypeError, Exception])
    def test_caught_by_the_function(self, caught):
        def f(x):
            try:
                return x if x > 2.5 else -x
            except caught:
                return 0 * x

        with pytest.raises(RecordingError):
            jit(f, branches="refuse")(2.0)
        assert [jit(f)(x) for x in (2.0, 3.0)] == [-2.0, 3.0]

    def test_caught_by_a_library(self):
        def as_number(x, default=1.0):
            try:
                return float(x)
            except (TypeError, ValueError):
                return default

        with pytest.raises(RecordingError):
            jit(lambda x: x * as_number(x))(2.0)


class TestReadingNumbersWhileTracing:
    """Tests of everything in gradwalk that reads the numbers of Values while a function is traced."""

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: x * (x * x).partials[0],
            lambda x: x * gradwalk.Graph.record(x).data.item(),
            lambda x: x * gradwalk.Graph.record(x).nodes[0].data,
            lambda x: x * len(gradwalk.Graph.record(x * 1e10).to_json()),
            lambda x: x * gradwalk.walk(x * x).graph.data[0].item(),
            lambda x: x * len(gradwalk.draw(x * 1e10).svg),
            lambda x: x * gradwalk.check(x * x).rows[0].backprop,
            lambda x: x * recorded_before(x).graph.data[0].item(),
            lambda x: x * recorded_before(x).walk(x).graph.data[0].item(),
        ],
        ids=["partials", "Graph", "nodes", "JSON", "walk", "draw", "check", "graph of jit", "walk of jit"],
    )
    def test_reading_numbers_in_jit(self, f):
        raises_or_is_right(f, ((2.0,), (-3.25,)))

    def test_debug_nans_in_jit(self):
        def f(x):
            try:
                with debug_nans():
                    return gm.log(x)
            except FloatingPointError:
                return -x

        raises_or_is_right(f, ((2.0,), (-3.0,)))

    def test_refresh_in_jit(self):
        w = Value(2.0)
        square = w * w

        def f(x):
            refresh(square)
            return square * x

        g = jit(f)
        try:
            g(1.0)
        except RecordingError:
            return
        w.data = 5.0
        assert number(g(1.0)) == 25.0

    def test_zero_grad_in_jit(self):
        w = Value(2.0)
        g = jit(lambda x: (zero_grad(w), w * x)[1])
        try:
            g(1.0)
        except RecordingError:
            return
        w.grad = 7.0
        g(1.0)
        assert w.grad == 0.0


def recorded_before(x: Any) -> Any:
    inner = jit(lambda v: v * v)
    inner(x)
    return inner


class TestNoGrad:
    """Tests that grad works under no_grad(), as `torch.func.grad` does; it used to give 0."""

    def test_derivatives_under_no_grad(self):
        with no_grad():
            assert grad(lambda x: x * x)(3.0) == 6.0
            assert jvp(lambda x: x * x, (3.0,), (1.0,)) == (9.0, 6.0)
            assert hessian(lambda x: x**3)(2.0) == 12.0


class TestDerivativesOfPowers:
    """Tests of d/dx x**y at y = 0: a partial of constant 0 there gives 0 instead of 1/x as its derivative by y."""

    def test_second_derivatives(self):
        assert hessian(lambda v: v[0] ** v[1])([2.0, 0.0]) == [
            [0.0, 0.5],
            [0.5, pytest.approx(math.log(2.0) ** 2, rel=1e-15)],
        ]

    def test_third_derivatives(self):
        cube = jacfwd(hessian(lambda v: v[0] ** v[1]))([2.0, 1.0])
        assert cube[0][0] == [0.0, 0.5]  # d³/dx²dy = (2 y - 1) x**(y - 2) + y (y - 1) x**(y - 2) log(x)


class TestZeroTimesInfinity:
    def test_jacobians_by_sweep_and_by_program_agree(self):
        """Check that zero seeds are not multiplied with infinite partials."""
        f = lambda v: gm.sqrt(v[0]) + v[1] * v[1]  # noqa: E731
        assert jit(jacfwd(f))([0.0, 3.0]) == grad(f)([0.0, 3.0]) == [math.inf, 6.0]
        assert jacfwd(f)([0.0, 3.0]) == [math.inf, 6.0]

    def test_reverse_mode(self):
        f = lambda x: [gm.sqrt(x), x * 3.0]  # noqa: E731
        assert jit(jacrev(f))(0.0) == [math.inf, 3.0]
        assert jacrev(f)(0.0) == [math.inf, 3.0]

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: gm.sqrt(x).stop_gradient() * x,
            lambda x: gm.sqrt(x).less(1.0) * x,
            lambda x: (1 - gm.sqrt(x).sign()) * x,
            lambda x: gm.log(x).equal(x) + x,
        ],
        ids=["stop_gradient", "less", "sign", "equal"],
    )
    def test_backward_skips_operations_without_gradient(self, f):
        """Check that backward() agrees with grad()."""
        x = Value(0.0)
        f(x).backward()
        assert x.grad == grad(f)(0.0)


class TestAux:
    def test_dictionary_is_not_a_value_aux_pair(self):
        """Check that a dict of two entries raises instead of counting as (value, aux)."""
        with pytest.raises(TypeError, match="pair"):
            grad(lambda x: {"value": x * x, "aux": x}, has_aux=True)(2.0)


class TestCallableObjects:
    """Tests that attributes copied by update_wrapper do not hide the transform's methods."""

    def test_attribute_named_record(self):
        class Model:
            def __init__(self):
                self.record = []

            def __call__(self, x):
                return x * x

        assert grad(Model())(3.0) == 6.0

    def test_attribute_named_walk(self):
        class Model:
            def __init__(self):
                self.walk = "slow"

            def __call__(self, x):
                return x * x

        assert jit(Model()).walk(3.0).gradients["x"] == 6.0


class TestStaticArguments:
    def test_equal_static_arguments_of_different_type(self):
        """Check that the key contains the types of nested elements and the sign of zero."""
        g = jit(lambda x, kinds: x if isinstance(kinds[0], bool) else 2 * x, static_argnums=1)
        assert (g(1.0, (1,)), g(1.0, (True,))) == (2.0, 1.0)
        angle = jit(lambda x, y: gm.atan2(y, x), static_argnums=1)
        assert (angle(-1.0, 0.0), angle(-1.0, -0.0)) == (math.pi, -math.pi)

    def test_graph_of_a_gradient_with_static_argument(self):
        g = jit(grad(lambda x, y: x * x * y), static_argnums=0)
        assert g(2.0, 3.0) == 12.0
        assert len(g.graph.outputs) == 1

    @pytest.mark.parametrize("argnums", ["x", 1.5])
    def test_static_argnums_of_invalid_type_raise(self, argnums):
        with pytest.raises((TypeError, ValueError), match="static_argnums"):
            jit(lambda x: x, static_argnums=argnums)


class TestEmptyResults:
    def test_vjp_of_an_empty_result(self):
        """Check the slice operands[:-0], which is empty; compiled code used to read past the end of an array."""
        _, pull = vjp(lambda x: [], 2.0)
        assert pull([]) == (0.0,)
        _, pull = vjp(lambda x, y: ([], {"a": numpy.zeros(0)}), [1.0] * 1000, 2.0)
        assert pull(([], {"a": numpy.zeros(0)})) == ([0.0] * 1000, 0.0)

    def test_programs_reject_too_few_numbers(self):
        g = jit(lambda x, y: x * y)
        g(2.0, 3.0)
        program = g.program
        with pytest.raises((ValueError, IndexError)):
            program.run(numpy.empty(0))


class TestDebugNans:
    """Tests that debug_nans() also raises in programs."""

    def test_jitted_function(self):
        g = jit(gm.log)
        g(2.0)
        with pytest.raises(FloatingPointError), debug_nans():
            g(-1.0)

    def test_gradient(self):
        with pytest.raises(FloatingPointError), debug_nans():
            grad(gm.sqrt)(0.0)

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: gm.where(x > 0, gm.sqrt(x), 0.0),
            lambda x: gm.maximum(gm.sqrt(x), 1.0),
            lambda x: gm.relu(-1.0 - gm.sqrt(x)),
            lambda x: take([gm.sqrt(x), 1.0], x + 1.0),
            lambda x: take([gm.sqrt(x), 1.0], x - 1.0),
        ],
        ids=["where", "maximum", "relu", "take", "take from the end"],
    )
    def test_unselected_branches_are_ignored(self, f):
        v = Value(0.0)
        with debug_nans():
            f(v).backward()
            assert v.grad == 0.0
            for transform in (grad, jacfwd, lambda f: grad(grad(f))):
                derivative = jit(transform(f))
                assert derivative(0.0) == 0.0
                assert vmap(transform(f))(numpy.zeros(2)).tolist() == [0.0, 0.0]

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: gm.where(x > 0, 0.0, gm.sqrt(x)),
            lambda x: gm.maximum(gm.sqrt(x), -1.0),
            lambda x: take([gm.sqrt(x), 1.0], x),
        ],
        ids=["where", "maximum", "take"],
    )
    def test_selected_branches_raise(self, f):
        for transformed in (jit(grad(f)), jit(jacfwd(f))):
            with pytest.raises(FloatingPointError, match="gave inf"), debug_nans():
                transformed(0.0)


class TestCustomBackward:
    def test_custom_backward_of_a_native_node_raises(self):
        """Check that grad raises: backward() would give 100, and grad would give 6."""

        def f(x):
            y = x * x
            y._backward = lambda: setattr(x, "grad", x.grad + 100 * y.grad)
            return y

        with pytest.raises(ValueError, match="hand-made"):
            grad(f)(3.0)


class TestWalks:
    def test_walk_of_several_results_raises(self):
        with pytest.raises((TypeError, ValueError)):
            jit(lambda x: [x, x * x]).walk(2.0)


class TestPickles:
    """Tests of pickles, as joblib, Dask and Ray use; JAX's jit and grad can be pickled too."""

    def test_jitted_functions(self):
        assert pickle.loads(pickle.dumps(jit(cube)))(2.0) == 8.0
        assert copy.deepcopy(jit(cube))(2.0) == 8.0

    def test_decorated_functions(self):
        assert pickle.loads(pickle.dumps(decorated))(2.0) == 12.0


def cube(x: Any) -> Any:
    return x**3


@grad
def decorated(x: Any) -> Any:
    return x**3


class TestMessages:
    @pytest.mark.parametrize(
        "f",
        [
            lambda x: numpy.sort(numpy.array([x, 1 - x])),
            lambda x: numpy.max(numpy.array([x, 1 - x])),
            lambda x: numpy.clip(numpy.array([x, 1 - x]), 0.0, 1.0),
            lambda x: numpy.isclose(x, 2.0),
        ],
        ids=["sort", "max", "clip", "isclose"],
    )
    def test_errors_name_the_user_line_not_numpy(self, f):
        with pytest.raises(RecordingError) as caught:
            jit(f, branches="refuse")(2.0)
        assert str(caught.value).startswith(f"{__file__}:{f.__code__.co_firstlineno}")

    def test_labels_with_a_comma_have_no_parentheses(self):
        with pytest.raises(RecordingError, match=r"`0 < \(x\[1, 0\] \* 2\)`"):  # not (x[1, 0]) * 2
            jit(lambda x: 1.0 if x[1, 0] * 2 > 0 else 0.0, branches="refuse")(numpy.ones((2, 1)))

    @pytest.mark.parametrize("argnums", [None, 1.0])
    def test_argnums_of_invalid_type_raise(self, argnums):
        with pytest.raises(TypeError, match="argnums must be an int or a sequence of ints, got"):
            grad(lambda x, y: x * y, argnums)(2.0, 3.0)

    def test_argnums_of_numpy(self):
        assert grad(lambda x, y: x * y, numpy.int64(1))(2.0, 3.0) == 2.0

    @pytest.mark.parametrize("call", [lambda: jvp(3.0, (1.0,), (1.0,)), lambda: vjp(3.0, 1.0)], ids=["jvp", "vjp"])
    def test_non_functions_raise(self, call):
        with pytest.raises(TypeError, match="takes a function, not float"):
            call()

    def test_adjoints_of_different_structure_raise(self):
        with pytest.raises(TypeError, match="adjoints must have the structure"):
            vjp(lambda x: [x, x], 1.0)[1]([1.0])

    def test_masked_arrays_raise(self):
        """Check that the message names the masked array, not a NoneType element."""
        with pytest.raises(TypeError, match=r"x is a .*[mM]asked"):
            grad(lambda x: (x * 2).sum())(numpy.ma.array([1.0, 2.0], mask=[False, True]))

    def test_too_large_integers_raise(self):
        for f in (grad(lambda x: x), jit(lambda x: x)):
            with pytest.raises(OverflowError, match="bits"):
                f(10**400)

    def test_names_of_zero_dimensional_arrays(self):
        assert flatten(numpy.array(1.0), "x")[1].names("x") in (["x"], ["x[()]"])  # not x[]


class TestTrees:
    def test_scalars_of_integer_arrays_are_floats(self):
        """Check that scalars() gives floats, since ints beside a Value would be added as ints."""
        assert [type(x) for x in scalars([numpy.arange(2)])] == [float, float]

    def test_integer_results_with_and_without_a_value(self):
        x = numpy.array([3**34, 3**34, 1])
        f = lambda x, w: [x[0] * x[1] + x[2], w]  # noqa: E731
        assert jit(f)(x, Value(1.0))[0] == jit(f)(x, 1.0)[0]

    def test_tangents_of_zero_dimensional_arrays_may_be_numbers(self):
        """Check such tangents, because NumPy returns them: numpy.cos(numpy.array(2.0)) is a number."""
        x = numpy.array(2.0)
        assert jvp(lambda x: x * x, (x,), (numpy.cos(x),))[1] == 4.0 * math.cos(2.0)
