"""What once went wrong with functions that are recorded, a test each: numbers that would be frozen, above all."""

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


def refused_or_right(f: Any, points: Any = ((2.0,), (3.0,))) -> None:
    """jit(f) has to raise `RecordingError`, or to give at every point what it gives when it is recorded there."""
    g = jit(f)
    try:
        results = [number(g(*point)) for point in points]
    except RecordingError:
        return
    assert results == [number(jit(f)(*point)) for point in points]


class TestStopGradientIsLostOnValues:
    """Tape.program() leaves stop_gradient out, and Program.__call__ then passes gradients through."""

    def test_in_grad_of_jit(self):
        f = lambda x: x.stop_gradient() * x  # noqa: E731
        assert grad(f)(3.0) == 3.0
        assert grad(jit(f))(3.0) == 3.0

    def test_in_backward_through_jit(self):
        x = Value(3.0)
        jit(lambda x: x.stop_gradient() * x)(x).backward()
        assert x.grad == 3.0

    def test_in_detach_within_jit(self):
        assert jvp(jit(lambda x: x.detach() * x), (3.0,), (1.0,)) == (9.0, 3.0)

    def test_in_grad_within_grad(self):
        f = lambda y: y.stop_gradient() * y  # noqa: E731
        assert grad(grad(f))(3.0) == 0.0
        assert grad(lambda x: 1.0 * grad(f)(x))(3.0) == 0.0

    @fewer(20)
    @given(programs(INTEGERS, [*EXACT, "stop_gradient"], longest=8))
    def test_in_any_program(self, program):
        f, x, n = as_function(program), list(program.leaves), len(program.leaves)
        expected = [float(e) for e in exact_derivatives(program)[:n, n, n]]
        assert grad(f)(x) == jit(grad(f))(x) == expected
        assert grad(jit(f))(x) == expected


class TestKeywordsAlone:
    """jit(f)(x=1.0) fails: parameter_names(f, 0) means all of them, and zip(strict=True) refuses."""

    def test_all_arguments_by_keyword(self):
        assert jit(lambda x, y: x - y)(x=3.0, y=1.0) == 2.0

    def test_all_arguments_by_default(self):
        assert jit(lambda x=3.0: x * x)() == 9.0
        assert jvp(lambda x=3.0: x * x, (), ()) == (9.0, 0.0)


class TestAnotherStructureIsTakenForFloats:
    """The shortest way counts numbers and not arguments: it serves floats where lists and arrays were recorded."""

    def test_a_list_of_one_number(self):
        g = jit(lambda x: x[0] if isinstance(x, list) else 100 * x)
        assert (g([3.0]), g(3.0)) == (3.0, 300.0)

    def test_an_array_of_one_number(self):
        g = jit(lambda x: x.sum())
        assert g(numpy.array([3.0])) == 3.0
        with pytest.raises(AttributeError):
            g(3.0)

    def test_two_numbers_and_nothing(self):
        g = jit(lambda a, b: a[0] - a[1] if b is None else a * b)
        assert (g([3.0, 1.0], None), g(3.0, 1.0)) == (2.0, 3.0)


class TestValuesOfEarlierRecordings:
    """A Value that belongs to a recording that has ended is taken for a constant, at the number that it had then."""

    def test_set_on_an_object_that_is_static(self):
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
            return  # an error would do
        assert result == (8.0, 2.0)

    def test_an_input_that_was_kept(self):
        kept = []

        def f(x):
            x = x if isinstance(x, Value) else x[0]
            kept.append(x)
            return x * kept[0]

        g = jit(f)
        assert g(2.0) == 4.0
        with pytest.raises(Exception, match="record"):
            g([3.0])  # its recording has the 2.0 of the other one frozen in it

    def test_one_that_leaves_the_function_it_belongs_to(self):
        def f(x):
            kept = []
            grad(lambda y: kept.append(x * y) or x * y)(x)
            return kept[0]  # x · x

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
    """A copy of an input is a leaf of its own: frozen in jit, without gradient in grad. JAX's is the tracer itself."""

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
    def test_in_jit(self, f):
        refused_or_right(f)

    def test_in_grad(self):
        f = lambda rates: dataclasses.asdict(rates)["short"] * dataclasses.asdict(rates)["long"]  # noqa: E731
        assert grad(f)(Rates(2.0, 3.0)) == Rates(3.0, 2.0)
        assert grad(lambda x: copy.deepcopy(x) * x)(3.0) == 6.0

    def test_of_what_is_not_given(self):
        w = Value(2.0)
        g = jit(lambda x: copy.copy(w) * x)
        assert number(g(1.0)) == 2.0
        w.data = 5.0
        assert number(g(1.0)) == 5.0


def in_thread(f: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(f).result()


class TestThreads:
    """A new thread has an empty context: depth 0, not recording."""

    def test_uncompiled_programs_share_their_numbers(self):
        """Two threads that replay write to the same array. It passes compiled, where no other thread runs meanwhile."""
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

    def test_dataclasses_seen_for_the_first_time(self):
        """Both threads register the class, and optree refuses the second."""
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
    """x == 0.0 is identity, so False, without a word: the branch of the other case is frozen."""

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
    def test_in_jit(self, f):
        with pytest.raises(RecordingError):
            jit(f)(0.0)

    def test_in_match(self):
        def f(x):
            match x:
                case 0.0:
                    return 1.0
            return x * x

        with pytest.raises(RecordingError):
            jit(f)(0.0)

    def test_comparisons_that_numpy_makes(self):
        with pytest.raises(RecordingError):
            jit(lambda x: x * numpy.array_equal(numpy.array([x]), numpy.array([2.0])))(2.0)


class TestErrorsThatAreSwallowed:
    """`except TypeError`, which is common, takes a RecordingError for an answer; the recording goes on."""

    @pytest.mark.parametrize("caught", [TypeError, Exception])
    def test_by_the_function(self, caught):
        def f(x):
            try:
                return x if x > 2.5 else -x
            except caught:
                return 0 * x

        with pytest.raises(RecordingError):
            jit(f)(2.0)

    def test_by_a_library(self):
        def as_number(x, default=1.0):
            try:
                return float(x)
            except (TypeError, ValueError):
                return default

        with pytest.raises(RecordingError):
            jit(lambda x: x * as_number(x))(2.0)


class TestWhatReadsNumbers:
    """Everything of gradwalk's own that gives numbers of Values, while a function is being recorded."""

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
    def test_numbers_come_out_of_jit(self, f):
        refused_or_right(f, ((2.0,), (-3.25,)))

    def test_debug_nans_tells_by_raising(self):
        def f(x):
            try:
                with debug_nans():
                    return gm.log(x)
            except FloatingPointError:
                return -x

        refused_or_right(f, ((2.0,), (-3.0,)))

    def test_refresh_happens_once(self):
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

    def test_zero_grad_happens_once(self):
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


class TestNoGradAround:
    """Under no_grad(), grad gives 0 without a word. What PyTorch's torch.func.grad gives there is the derivative."""

    def test_derivatives(self):
        with no_grad():
            assert grad(lambda x: x * x)(3.0) == 6.0
            assert jvp(lambda x: x * x, (3.0,), (1.0,)) == (9.0, 6.0)
            assert hessian(lambda x: x**3)(2.0) == 12.0


class TestWrongDerivativesOfPowers:
    """d/dx x**y is written `0 if y = 0`, whose derivative by y is 0 there and not 1/x: the Hessian is not symmetric.

    `0 if x = 0 and y = 0` would do: y * pow(x, y - 1) is 0 by itself wherever else y is 0.
    """

    def test_second(self):
        assert hessian(lambda v: v[0] ** v[1])([2.0, 0.0]) == [
            [0.0, 0.5],
            [0.5, pytest.approx(math.log(2.0) ** 2, rel=1e-15)],
        ]

    def test_third(self):
        cube = jacfwd(hessian(lambda v: v[0] ** v[1]))([2.0, 1.0])
        assert cube[0][0] == [0.0, 0.5]  # d³/dx²dy = (2 y - 1) x**(y - 2) + y (y - 1) x**(y - 2) log(x)


class TestZeroTimesInfinity:
    def test_jacobians_of_numbers_and_of_recordings_are_the_same(self):
        """Where numbers are swept, seeds of 0 are multiplied with infinite partials; instructions leave them out."""
        f = lambda v: gm.sqrt(v[0]) + v[1] * v[1]  # noqa: E731
        assert jit(jacfwd(f))([0.0, 3.0]) == grad(f)([0.0, 3.0]) == [math.inf, 6.0]
        assert jacfwd(f)([0.0, 3.0]) == [math.inf, 6.0]

    def test_in_reverse(self):
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
    def test_backward_goes_through_what_passes_nothing(self, f):
        """The new rows of one and two operands; three tests of test_random_programs.py fail by it. grad() is right."""
        x = Value(0.0)
        f(x).backward()
        assert x.grad == grad(f)(0.0)


class TestAux:
    def test_a_dictionary_is_no_pair(self):
        """Two entries are taken for (value, aux), in alphabetical order: here the derivative of "a" is returned."""
        with pytest.raises(TypeError, match="pair"):
            grad(lambda x: {"value": x * x, "aux": x}, has_aux=True)(2.0)


class TestCallableObjects:
    """update_wrapper copies the object's attributes, which hide the transform's own methods."""

    def test_with_an_attribute_called_record(self):
        class Model:
            def __init__(self):
                self.record = []

            def __call__(self, x):
                return x * x

        assert grad(Model())(3.0) == 6.0

    def test_with_an_attribute_called_walk(self):
        class Model:
            def __init__(self):
                self.walk = "slow"

            def __call__(self, x):
                return x * x

        assert jit(Model()).walk(3.0).gradients["x"] == 6.0


class TestStatic:
    def test_equal_is_not_the_same(self):
        """The type of the argument itself is part of the key, and not of what it holds; nor is the sign of zero."""
        g = jit(lambda x, kinds: x if isinstance(kinds[0], bool) else 2 * x, static_argnums=1)
        assert (g(1.0, (1,)), g(1.0, (True,))) == (2.0, 1.0)
        angle = jit(lambda x, y: gm.atan2(y, x), static_argnums=1)
        assert (angle(-1.0, 0.0), angle(-1.0, -0.0)) == (math.pi, -math.pi)

    def test_the_graph_of_a_derivative_by_a_static_argument(self):
        g = jit(grad(lambda x, y: x * x * y), static_argnums=0)
        assert g(2.0, 3.0) == 12.0
        assert len(g.graph.outputs) == 1

    @pytest.mark.parametrize("argnums", ["x", 1.5, None])
    def test_of_another_kind(self, argnums):
        with pytest.raises((TypeError, ValueError), match="static_argnums"):
            jit(lambda x: x, static_argnums=argnums)


class TestNothing:
    def test_pulling_back_from_no_result(self):
        """operands[:-0] is empty: uncompiled an IndexError, compiled a read past the end of an array, with luck."""
        _, pull = vjp(lambda x: [], 2.0)
        assert pull([]) == (0.0,)
        _, pull = vjp(lambda x, y: ([], {"a": numpy.zeros(0)}), [1.0] * 1000, 2.0)
        assert pull(([], {"a": numpy.zeros(0)})) == ([0.0] * 1000, 0.0)

    def test_programs_refuse_too_few_numbers(self):
        g = jit(lambda x, y: x * y)
        g(2.0, 3.0)
        program = g.program
        with pytest.raises((ValueError, IndexError)):
            program.run(numpy.empty(0))


class TestDebugNans:
    """The first operation whose value or gradient is nan or inf raises, says debug_nans(). Programs do not."""

    def test_in_what_is_replayed(self):
        g = jit(gm.log)
        g(2.0)
        with pytest.raises(FloatingPointError), debug_nans():
            g(-1.0)

    def test_in_derivatives(self):
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
    def test_what_choices_leave_out_does_not_count(self, f):
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
    def test_what_they_pick_does(self, f):
        for transformed in (jit(grad(f)), jit(jacfwd(f))):
            with pytest.raises(FloatingPointError, match="gave inf"), debug_nans():
                transformed(0.0)


class TestRulesSetByHand:
    def test_on_native_nodes_are_not_passed_over(self):
        """backward() gives 100 here, and grad 6 without a word; hand-made nodes are refused."""

        def f(x):
            y = x * x
            y._backward = lambda: setattr(x, "grad", x.grad + 100 * y.grad)
            return y

        with pytest.raises(ValueError, match="by hand"):
            grad(f)(3.0)


class TestWalks:
    def test_of_several_results(self):
        """The result has to be one number, says its docstring; it walks to the first."""
        with pytest.raises((TypeError, ValueError)):
            jit(lambda x: [x, x * x]).walk(2.0)


class TestPickles:
    """joblib, Dask and Ray pickle functions; JAX's own jit and grad can be pickled."""

    def test_of_recorded_functions(self):
        assert pickle.loads(pickle.dumps(jit(cube)))(2.0) == 8.0
        assert copy.deepcopy(jit(cube))(2.0) == 8.0

    def test_of_decorated_functions(self):
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
    def test_name_the_line_of_the_user_not_of_numpy(self, f):
        with pytest.raises(RecordingError) as caught:
            jit(f)(2.0)
        assert str(caught.value).startswith(f"{__file__}:{f.__code__.co_firstlineno}")

    def test_of_labels_with_a_comma_have_no_brackets(self):
        with pytest.raises(RecordingError, match=r"`0 < \(x\[1, 0\] \* 2\)`"):  # and not (x[1, 0]) * 2
            jit(lambda x: 1.0 if x[1, 0] * 2 > 0 else 0.0)(numpy.ones((2, 1)))

    @pytest.mark.parametrize("argnums", [None, 1.0])
    def test_argnums_of_another_kind(self, argnums):
        with pytest.raises(TypeError, match="argnums must be an int or a sequence of ints, got"):
            grad(lambda x, y: x * y, argnums)(2.0, 3.0)

    def test_argnums_of_numpy(self):
        assert grad(lambda x, y: x * y, numpy.int64(1))(2.0, 3.0) == 2.0

    @pytest.mark.parametrize("call", [lambda: jvp(3.0, (1.0,), (1.0,)), lambda: vjp(3.0, 1.0)], ids=["jvp", "vjp"])
    def test_what_is_no_function(self, call):
        with pytest.raises(TypeError, match="takes a function, not float"):
            call()

    def test_adjoints(self):
        with pytest.raises(TypeError, match="adjoints must have the structure"):
            vjp(lambda x: [x, x], 1.0)[1]([1.0])

    def test_masked_arrays(self):
        """Now: the data of a Value must be a real number (int, float, bool or NumPy scalar), got NoneType."""
        with pytest.raises(TypeError, match=r"x is a .*[mM]asked"):
            grad(lambda x: (x * 2).sum())(numpy.ma.array([1.0, 2.0], mask=[False, True]))

    def test_integers_that_are_too_large(self):
        """Value(10**400) says: an integer of 1329 bits is too large for a float."""
        for f in (grad(lambda x: x), jit(lambda x: x)):
            with pytest.raises(OverflowError, match="bits"):
                f(10**400)

    def test_of_arrays_without_dimensions(self):
        assert flatten(numpy.array(1.0), "x")[1].names("x") in (["x"], ["x[()]"])  # and not x[]


class TestTrees:
    def test_numbers_of_integer_arrays_are_floats(self):
        """scalars() gives floats and Values, says its docstring. Beside a Value, ints are then added as ints."""
        assert [type(x) for x in scalars([numpy.arange(2)])] == [float, float]

    def test_so_results_are_the_same_beside_a_value(self):
        x = numpy.array([3**34, 3**34, 1])
        f = lambda x, w: [x[0] * x[1] + x[2], w]  # noqa: E731
        assert jit(f)(x, Value(1.0))[0] == jit(f)(x, 1.0)[0]

    def test_tangents_of_arrays_without_dimensions_may_be_numbers(self):
        """NumPy makes numbers of such arrays by itself: numpy.cos(numpy.array(2.0)) is one."""
        x = numpy.array(2.0)
        assert jvp(lambda x: x * x, (x,), (numpy.cos(x),))[1] == 4.0 * math.cos(2.0)
