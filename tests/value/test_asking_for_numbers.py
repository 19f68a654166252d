"""A recorded Value must not reveal its number: the recording would use that number for all arguments."""

from __future__ import annotations

import array
import bisect
import contextlib
import contextvars
import copy
import decimal
import fractions
import functools
import json
import math
import operator
import pickle
import statistics
import string
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest
from references import needs

import gradwalk
import gradwalk.loops as gl
import gradwalk.math as gm
from gradwalk import (
    RecordingError,
    Value,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jit,
    jvp,
    value_and_grad,
    vectorize,
    vjp,
    vmap,
    zero_grad,
)
from gradwalk.solvers import fixed_point, odeint, root, root_scalar


def branch(x: Any) -> int:
    return 1 if x else 0


def matched(x: Any) -> int:
    match x:
        case 0.5 | 1.5:
            return 1
        case _:
            return 0


CONVERSIONS = {
    "float": float,
    "complex": complex,
    "int": int,
    "bool": bool,
    "index": operator.index,
    "range": lambda x: len(range(x)),
    "list index": lambda x: [1.0, 2.0, 3.0][x],
    "slice": lambda x: [1.0, 2.0, 3.0][:x],
    "repetition": lambda x: "ab" * x,
    "round to digits": lambda x: round(x, 1),
    "math.sin": math.sin,
    "math.isclose": lambda x: math.isclose(x, 0.5),
    "math.frexp": math.frexp,
    "math.comb": lambda x: math.comb(x, 2),
    "decimal": decimal.Decimal,
    "fraction": fractions.Fraction,
    "struct": lambda x: struct.pack("d", x),
    "array.array": lambda x: array.array("d", [x]).tolist(),
    "statistics": lambda x: statistics.pstdev([x, 1.0]),
    "chr": chr,
    "bytes": lambda x: bytes([x]),
    "hex": hex,
    "json": json.dumps,
    "+= on an array of numbers": lambda x: operator.iadd(numpy.zeros(2), x).tolist(),
    "numpy.add.at": lambda x: numpy.add.at(numpy.zeros(2), [0], x),
    "numpy.exp(x, out=)": lambda x: numpy.exp(x, out=numpy.zeros(())),
}
FORMATS = {
    "format .2f": lambda x: f"{x:.2f}",
    "format g": lambda x: f"{x:g}",
    "format e": lambda x: f"{x:e}",
    "format %": lambda x: f"{x:%}",
    "format width": lambda x: f"{x:10}",
    "format()": lambda x: format(x, ".3f"),
    "format() of nothing": format,
    "str.format": "{:.1f}".format,
    "str.format_map": lambda x: "{v:.1f}".format_map({"v": x}),
    "string.Formatter": lambda x: string.Formatter().format("{0:.1f}", x),
    "f-string": lambda x: f"{x}",
    "f-string !r": lambda x: f"{x!r}",
    "f-string !s": lambda x: f"{x!s:>60}",
    "%s": lambda x: "%s" % x,  # noqa: UP031
    "%r": lambda x: "%r" % x,  # noqa: UP031
    "%f": lambda x: "%f" % x,  # noqa: UP031
    "%g": lambda x: "%g" % x,  # noqa: UP031
    "%d": lambda x: "%d" % x,  # noqa: UP031
    "str": str,
    "repr": repr,
    "ascii": ascii,
    "str of a list": lambda x: str([x]),
    "numpy.array2string": lambda x: numpy.array2string(numpy.array([x], object)),
    "str of a result": lambda x: str(x * x + 1.0),
}
COMPARISONS = {
    "if": branch,
    "if x < 1": lambda x: branch(x < 1.0),
    "if x == 0.5": lambda x: branch(x == 0.5),
    "if x != 0.5": lambda x: branch(x != 0.5),
    "in a list": lambda x: x in [0.5, 2.0],
    "list.index": [0.5, 1.5].index,
    "list.count": [0.5, 1.5].count,
    "match": matched,
    "max": lambda x: [0.5, 1.0].index(max(x, 1.0)),
    "sorted": lambda x: len(sorted([x, 1.0], key=bool)),
    "bisect": lambda x: bisect.bisect([0.0, 1.0, 2.0], x),
    "and": lambda x: x < 1.0 and 1,
    "not": operator.not_,
    "truth": operator.truth,
    "all": lambda x: all([x - 0.5]),
    "filter": lambda x: len(list(filter(None, [x - 0.5]))),
    "numpy.sign of a float array": lambda x: numpy.sign(numpy.array([x], float)),
    "numpy.isclose": lambda x: numpy.isclose(x, 0.5),
    "numpy.array_equal": lambda x: numpy.array_equal([x], [0.5]),
}
LOOK_UPS = {
    "hash": hash,
    "dict": lambda x: {0.5: 1.0}.get(x, 2.0),
    "set": lambda x: x in {0.5},
    "key of a dict": lambda x: len({x: 1.0, 0.5: 2.0}),
    "hash of a copy": lambda x: hash(copy.copy(x)),
    "hash of a deep copy": lambda x: hash(copy.deepcopy(x)),
    "hash of a tuple": lambda x: hash((x,)),
}
ATTRIBUTES = {
    "data": lambda x: x.data,
    "data of a result": lambda x: (x * x).data,
    "data of a copy": lambda x: copy.copy(x).data,
    "data of a deep copy": lambda x: copy.deepcopy(x * x).data,
    "data of detach()": lambda x: x.detach().data,
    "grad": lambda x: x.grad,
    "partials": lambda x: (x * x).partials,
    "_local_grads": lambda x: (x * x)._local_grads,
    "_op": lambda x: (x**2.0)._op,
    "op": lambda x: (x * x).op,
    "attributes": lambda x: vars(x) if hasattr(x, "__dict__") else {},
    "pickle": pickle.dumps,
    "__reduce_ex__": lambda x: x.__reduce_ex__(4)[1],
    "backward": lambda x: ((x * x).backward(), x.grad),
    "_backward": lambda x: ((x * x)._backward(), x.grad),
    "zero_grad": lambda x: (zero_grad(x * x), x.grad),
    "as_integer_ratio": lambda x: x.as_integer_ratio(),
    "is_integer": lambda x: x.is_integer(),
    "hex()": lambda x: x.hex(),
    "numpy.float64": numpy.float64,
    "numpy.float32": numpy.float32,
    "numpy.array": lambda x: numpy.array([x], dtype=float),
    "numpy.asarray": lambda x: numpy.asarray(x, dtype=float),
    "numpy.zeros": numpy.zeros,
    "assignment to an array": lambda x: numpy.zeros(1).__setitem__(0, x),
    "item": lambda x: float(numpy.array([x], object).item()),
    "graph": lambda x: gradwalk.Graph.record(x * x).data.tolist(),
    "walk": lambda x: gradwalk.walk(x * x).to_json(),
    "draw": lambda x: gradwalk.draw(x * x).svg,
    "check": lambda x: gradwalk.check(x * x).ok and gradwalk.check(x * x).rows[0].backprop,
}
ALL = {**CONVERSIONS, **FORMATS, **COMPARISONS, **LOOK_UPS, **ATTRIBUTES}

refusing = functools.partial(jit, branches="refuse")

RECORDED = {
    "jit": lambda f, a: refusing(f)(a),
    "jit(grad)": lambda f, a: refusing(grad(f))(a),
    "jit of hessian": lambda f, a: refusing(hessian(f))(a),
    "grad of jit": lambda f, a: grad(refusing(f))(a),
    "vmap": lambda f, a: refusing(vmap(f))(numpy.array([a, a + 1.0])),
    "vmap(grad)": lambda f, a: refusing(vmap(grad(f)))(numpy.array([a, a + 1.0])),
    "fori_loop": lambda f, a: refusing(lambda x: gl.fori_loop(0, 3, lambda i, v: f(v), x))(a),
    "scan": lambda f, a: refusing(lambda x: gl.scan(lambda v, _: (f(v), v), x, None, 3)[0])(a),
    "while_loop": lambda f, a: refusing(lambda x: gl.while_loop(lambda v: v < 4.0, lambda v: f(v) + 1.0, x))(a),
    "cond": lambda f, a: refusing(lambda x: gl.cond(x > 0.0, f, lambda v: v, x))(a),
}


def of_one(batched: Any) -> Any:
    """Return a function of one number that calls a function of batches."""
    return lambda a: batched(numpy.array([a]))


# Functions that record a function once and use the recording again.
FOLLOWING = {
    "jit": jit,
    "jit(grad)": lambda f: jit(grad(f)),
    "jit of jit": lambda f: jit(jit(f)),
    "grad of jit": lambda f: grad(jit(f)),
    "jit(vmap)": lambda f: of_one(jit(vmap(f))),
    "jit(vmap(grad))": lambda f: of_one(jit(vmap(grad(f)))),
    "vectorize": lambda f: of_one(vectorize(f)),
    "cond": lambda f: jit(lambda x: gl.cond(x > 0.0, f, lambda v: v, x)),
    "fori_loop": lambda f: jit(lambda x: gl.fori_loop(0, 1, lambda i, v: f(v), x)),
}
SOLVERS = {
    "odeint": lambda f, a: odeint(lambda y, t: -f(y), a, numpy.array([0.0, 0.1])),
    "root_scalar": lambda f, a: root_scalar(lambda x: f(x) - 3.0 - a, bracket=[-20.0, 20.0]),
    "root": lambda f, a: root(lambda x: [f(x[0]) - 3.0 - a], [1.0]),
    "fixed_point": lambda f, a: fixed_point(lambda x: f(x) * 0.1 + a, 0.5),
    "sparse_jacobian": lambda f, a: gradwalk.sparse_jacobian(lambda x: [f(x[0])])(numpy.array([a])),
}


def answers(transform: Any, ask: Any, a: float) -> list[str] | None:
    """Return what `ask` returns during the recording, as text; return None if the recording fails."""
    found: list[str] = []

    def f(x: Any) -> Any:
        found.append(_answer(ask, x))
        return 2.0 * x + 1.0

    try:
        transform(f, a)
    except RecordingError:
        return None
    return found


def _answer(ask: Any, x: Any) -> str:
    try:
        return str(ask(x))
    except RecordingError:  # the recording remembers the error and fails
        return "refused"
    except (TypeError, AttributeError, ValueError, IndexError, struct.error) as error:
        return type(error).__name__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ALL)
@pytest.mark.parametrize("transform", RECORDED)
def test_answer_does_not_depend_on_the_number(transform, way):
    ask, run = ALL[way], RECORDED[transform]
    assert answers(run, ask, 0.5) == answers(run, ask, 1.5)


@needs("scipy")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", FORMATS)
@pytest.mark.parametrize("transform", SOLVERS)
def test_answer_in_a_solver_does_not_depend_on_the_number(transform, way):
    ask, run = ALL[way], SOLVERS[transform]
    assert answers(run, ask, 0.5) == answers(run, ask, 1.5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ALL)
@pytest.mark.parametrize("transform", FOLLOWING)
def test_answer_is_a_condition_of_the_recording(transform, way):
    """If the answers for two numbers differ, the function is recorded for each of them."""

    def shown(numbers: list[float]) -> list[str]:
        found: list[str] = []

        def f(x: Any) -> Any:
            found.append(_answer(ALL[way], x))
            return 2.0 * x + 1.0

        try:
            g = FOLLOWING[transform](f)
            for number in numbers:
                g(number)
        except RecordingError:
            return ["refused"]
        # The body of a loop is first traced without numbers, where the question is refused.
        return [answer for answer in found if answer not in ("refused", "TypeError")] or found

    first, second, both = shown([0.5]), shown([1.5]), shown([0.5, 1.5, 0.5, 1.5])
    assert (first == second == both[: len(first)]) or [both[0], both[-1]] == [first[-1], second[-1]]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", FORMATS)
def test_captured_value_does_not_reveal_its_number(way):
    """The recording reads the number of a captured Value at each call."""
    parameter = Value(0.5)
    before = answers(lambda f, _: refusing(lambda x: f(parameter) * x)(2.0), FORMATS[way], 0.0)
    parameter.data = 1.5
    assert before == answers(lambda f, _: refusing(lambda x: f(parameter) * x)(2.0), FORMATS[way], 0.0)


INSIDE = {
    "grad": grad,
    "value_and_grad": value_and_grad,
    "jacobian": jacobian,
    "jacfwd": jacfwd,
    "hessian": hessian,
    "grad of grad": lambda f: grad(grad(f)),
    "jvp": lambda f: lambda x: jvp(f, (x,), (1.0,)),
    "vjp": lambda f: lambda x: vjp(f, x)[1](1.0),
    "jit": jit,
    "jit(grad)": lambda f: jit(grad(f)),
    "vmap(grad)": lambda f: lambda x: vmap(grad(f))(numpy.array([x])),
}


NESTED = {
    "grad": lambda x: grad(lambda y: y * y * x)(3.0),
    "value_and_grad": lambda x: value_and_grad(lambda y: y * y * x)(3.0)[1],
    "hessian": lambda x: hessian(lambda y: y * y * y * x)(3.0),
    "jvp": lambda x: jvp(lambda y: y * y * x, (3.0,), (1.0,))[1],
    "jit": lambda x: jit(lambda y: y * x)(3.0),
    "vmap": lambda x: sum(vmap(lambda y: y * x)(numpy.array([1.0, 2.0]))),
}


@pytest.mark.parametrize("outer", INSIDE)
@pytest.mark.parametrize("function", [numpy.nextafter, numpy.spacing])
def test_refused_ufuncs_end_the_recording(outer, function):
    def f(x):
        try:
            return function(*[x] * function.nin) * x
        except TypeError:
            return x * 0.0

    with pytest.raises(RecordingError, match=function.__name__):
        INSIDE[outer](f)(2.0)
    assert f(Value(2.0)).data == 0.0


class TestOtherThreads:
    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize("way", [way for way in ALL if way not in ("attributes", "op", "_op")])
    @pytest.mark.parametrize("transform", ["jit", "jit(grad)", "vmap"])
    def test_threads_cannot_read_a_recorded_number(self, transform, way):
        with ThreadPoolExecutor(1) as pool:

            def ask(x):
                return pool.submit(ALL[way], x).result()

            assert answers(RECORDED[transform], ask, 0.5) == answers(RECORDED[transform], ask, 1.5)

    @pytest.mark.parametrize("inner", NESTED)
    @pytest.mark.parametrize("outer", ["grad", "value_and_grad", "hessian", "jvp", "jit", "jit(grad)", "vmap(grad)"])
    def test_threads_cannot_use_a_value_as_a_constant(self, outer, inner):
        """The inner transform has the same level in another thread, so the Value was taken for a constant."""
        with ThreadPoolExecutor(1) as pool, pytest.raises(RecordingError, match="another thread"):
            INSIDE[outer](lambda x: pool.submit(NESTED[inner], x).result())(2.0)

    @pytest.mark.parametrize("inner", NESTED)
    def test_threads_with_the_same_context_can_transform(self, inner):
        def f(x):
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(contextvars.copy_context().run, NESTED[inner], x).result()

        assert grad(f)(2.0) == pytest.approx(grad(NESTED[inner])(2.0))
        assert jit(f)(2.0) == pytest.approx(NESTED[inner](2.0))

    def test_threads_can_call_a_transformed_function(self):
        g = jit(grad(lambda y: y * y * y))
        with ThreadPoolExecutor(1) as pool:
            assert grad(lambda x: pool.submit(g, x).result())(2.0) == 12.0

    def test_error_mentions_the_other_thread(self):
        with (
            ThreadPoolExecutor(1) as pool,
            pytest.raises(RecordingError, match=r"reads .data of `x` in another thread"),
        ):
            jit(lambda x: pool.submit(lambda: x.data).result() * x)(2.0)

    @pytest.mark.parametrize("outer", INSIDE)
    @pytest.mark.parametrize(
        "ask", [float, math.sqrt, lambda x: x.grad, lambda x: [1.0, 2.0][x], numpy.zeros(2).__iadd__]
    )
    def test_caught_refusal_in_a_thread_ends_the_recording(self, outer, ask):
        """Otherwise the function would continue without the number and its derivative."""

        def f(x):
            try:
                return pool.submit(ask, x * 2.0).result() * x
            except TypeError:
                return x * 0.0

        with ThreadPoolExecutor(1) as pool, pytest.raises(RecordingError):
            INSIDE[outer](f)(2.0)

    @pytest.mark.parametrize("inner", NESTED)
    @pytest.mark.parametrize("outer", INSIDE)
    def test_caught_transform_error_in_a_thread_ends_the_recording(self, outer, inner):
        def f(x):
            try:
                return pool.submit(NESTED[inner], x).result()
            except RecordingError:
                return x * 0.0

        with ThreadPoolExecutor(1) as pool, pytest.raises(RecordingError, match="another thread"):
            INSIDE[outer](f)(2.0)

    def test_refusal_ends_only_the_recording_of_its_value(self):
        refused, go_on = threading.Event(), threading.Event()

        def swallows(x):
            with contextlib.suppress(TypeError), ThreadPoolExecutor(1) as pool:
                pool.submit(float, x).result()
            refused.set()
            assert go_on.wait(10)
            return x

        def other(x):
            assert refused.wait(10)
            return x * x

        with ThreadPoolExecutor(2) as pool:
            wrong, right = pool.submit(grad(swallows), 2.0), pool.submit(grad(other), 3.0)
            assert right.result() == 6.0
            go_on.set()
            with pytest.raises(RecordingError, match="float"):
                wrong.result()

    def test_threads_can_read_their_own_and_leftover_values(self):
        left_over = []
        grad(lambda x: left_over.append(x * x) or x * 2.0)(3.0)

        def own():
            v = Value(2.0)
            (v * v).backward()
            return v.grad, f"{v:.1f}", grad(lambda x: x * 3.0 if x > 1.0 else x)(2.0), left_over[0].data

        with ThreadPoolExecutor(1) as pool:
            found = []
            jit(lambda x: (found.append(pool.submit(own).result()), x)[1])(1.0)
        assert found == [(4.0, "2.0", 3.0, 9.0)]


class TestFormats:
    @pytest.mark.parametrize("specification", [".2f", "g", "e", "%", "10", ">60", "n"])
    def test_format_specification_is_refused(self, specification):
        with pytest.raises(RecordingError, match=r"formats `x \* 2` while the function is being recorded"):
            refusing(lambda x: float(format(x * 2, specification)) * x)(2.0)

    def test_formatted_number_is_not_kept(self):
        for f in (lambda x: float(f"{x:.2f}") * x, lambda x: float("{:g}".format(x)) * x):  # noqa: UP032
            with pytest.raises(RecordingError):
                refusing(vmap(f))(numpy.array([1.0, 2.0, 3.0]))
            assert vmap(f)(numpy.array([1.0, 2.0, 3.0])).tolist() == [1.0, 4.0, 9.0]
            assert vmap(grad(f))(numpy.array([1.0, 2.0, 3.0])).tolist() == [1.0, 2.0, 3.0]

    def test_str_shows_the_expression(self):
        shown = []
        jit(lambda x, y: (shown.extend([str(x), repr(x * y + 1.0), f"{gm.sin(y)}"]), x)[1])(2.0, 3.0)
        assert shown == ["Value(x)", "Value((x * y) + 1)", "Value(sin(y))"]

    def test_format_inside_grad_shows_the_number(self):
        assert grad(lambda x: float(f"{x:.1f}") * x)(2.04) == 2.0
        assert hessian(lambda x: float(f"{x:.1f}") * x * x)(2.04) == 4.0
        assert str(Value(2.0)) == "Value(data=2.0, grad=0.0)"

    def test_loop_inside_grad_runs_step_by_step(self):
        def f(x):
            return gl.fori_loop(0, 3, lambda i, v: v * float(f"{v:.0f}"), x)

        assert f(2.0) == 2.0 * 2.0 * 4.0 * 16.0
        assert grad(f)(2.0) == 2.0 * 4.0 * 16.0


class TestGradientsInsideTransforms:
    """The gradients used to be plain numbers, whose own derivative is 0."""

    @pytest.mark.parametrize("transform", INSIDE)
    @pytest.mark.parametrize(
        "slope",
        [
            lambda x: ((y := x * x * x).backward(), x.grad)[1] + 0.0 * y,
            lambda x: ((x * x * x)._backward(), x.grad)[1] * x,
            lambda x: (x * x).partials[0] * x,
            lambda x: (x * x)._local_grads[0] * x,
            lambda x: ((x * x).backward(), x)[1],
        ],
        ids=["backward", "_backward", "partials", "_local_grads", "backward alone"],
    )
    def test_backward_of_a_recorded_value_is_refused(self, transform, slope):
        with pytest.raises(RecordingError, match=r"compute derivatives with gradwalk\.grad or value_and_grad"):
            INSIDE[transform](slope)(2.0)

    @pytest.mark.parametrize("transform", INSIDE)
    def test_caught_refusal_ends_the_transform(self, transform):
        def slope(x):
            y = x * x * x
            try:
                y.backward()
            except TypeError:
                return 0.0 * x
            return x.grad

        with pytest.raises(RecordingError):
            INSIDE[transform](slope)(2.0)

    def test_gradients_of_outside_values_are_plain_numbers(self):
        w = Value(3.0)

        def f(x):
            (w * w).backward()
            return x * w.grad

        assert grad(f)(2.0) == 6.0
        assert grad(lambda x: x * w.grad)(2.0) == 6.0

    def test_nested_transforms_are_correct(self):
        cube = lambda x: x * x * x  # noqa: E731
        assert grad(grad(cube))(2.0) == 12.0


def as_number(x: Any) -> Any:
    """Convert to a float, or return a default for other types, like functions of some libraries."""
    try:
        return float(x)
    except TypeError:
        return 0.0


REFUSALS = {
    "float": as_number,
    "math.sqrt": lambda x: swallowed(lambda: math.sqrt(x)),
    "index": lambda x: swallowed(lambda: [1.0, 2.0, 3.0][x]),
    "numpy": lambda x: swallowed(lambda: numpy.array([x], dtype=float)[0]),
    "pickle": lambda x: swallowed(lambda: float(len(pickle.dumps(x)))),
}


def swallowed(f: Any) -> Any:
    try:
        return f()
    except (TypeError, ValueError):
        return 0.0


class TestCaughtRefusals:
    """A function that catches the refusal would continue without the number and give a wrong derivative."""

    @pytest.mark.parametrize("transform", INSIDE)
    @pytest.mark.parametrize("way", REFUSALS)
    def test_caught_refusal_fails_the_transform(self, transform, way):
        with pytest.raises(RecordingError):
            INSIDE[transform](lambda x: REFUSALS[way](x) * x)(2.0)

    def test_caught_refusal_of_an_outer_value(self):
        """The function depends on the outer argument; the inner transform does not."""
        with pytest.raises(RecordingError):
            grad(lambda x: grad(lambda y: y * as_number(x))(3.0))(2.0)

    def test_caught_error_of_an_inner_transform(self):
        def f(x):
            try:
                return grad(lambda y: y * as_number(y))(x)
            except RecordingError:
                return 0.0 * x

        with pytest.raises(RecordingError):
            grad(f)(2.0)

    @pytest.mark.parametrize("transform", ["jit", "jit(grad)", "vmap(grad)"])
    @pytest.mark.parametrize("ask", [int, lambda x: round(x, 2), lambda x: x.is_integer()])
    def test_caught_refusal_of_a_rounded_number(self, transform, ask):
        transforms = {
            "jit": refusing,
            "jit(grad)": lambda f: refusing(grad(f)),
            "vmap(grad)": lambda f: lambda x: refusing(vmap(grad(f)))(numpy.array([x])),
        }

        def f(x):
            with contextlib.suppress(TypeError):
                return ask(x) * x
            return 0.0 * x

        with pytest.raises(RecordingError):
            transforms[transform](f)(2.0)

    def test_conversion_outside_transforms_raises_type_error(self):
        with pytest.raises(TypeError, match="cannot be converted to float") as error:
            math.sqrt(Value(2.0))
        assert type(error.value) is TypeError

    def test_refusal_does_not_affect_the_next_transform(self):
        with pytest.raises(RecordingError):
            grad(lambda x: as_number(x) * x)(2.0)
        assert grad(lambda x: x * x)(2.0) == 4.0
