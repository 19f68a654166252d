"""ArrayFunction: results, batches and derivatives against NumPy and finite differences."""

from __future__ import annotations

import itertools
import pickle
from contextlib import nullcontext

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk import RecordingError, Value, debug_nans, math, primitive
from gradwalk.interop.array_function import ArrayFunction
from gradwalk.nn import MLP
from gradwalk.solvers import odeint, root

NUMBERS = st.floats(-2.0, 2.0)


def bent(a, x, s):
    return {"line": math.tanh(a @ x) * s, "number": (math.exp(-x) * s).sum() + a[0, 1] ** 3}


def drawn(shape):
    return st.lists(NUMBERS, min_size=int(numpy.prod(shape)), max_size=int(numpy.prod(shape))).map(
        lambda numbers: numpy.array(numbers).reshape(shape)
    )


ARGUMENTS = st.tuples(drawn((2, 3)), drawn((3,)), drawn(()))


def plain(a, x, s):
    return [numpy.tanh(a @ x) * s, (numpy.exp(-x) * s).sum() + a[0, 1] ** 3]


@given(ARGUMENTS)
def test_results_are_the_leaves_of_the_function(arrays):
    for found, expected in zip(ArrayFunction(bent)(arrays), plain(*arrays), strict=True):
        numpy.testing.assert_allclose(found, expected, rtol=1e-12)


def test_result_treedef_and_shapes():
    function = ArrayFunction(bent)
    treedef = function.result([(2, 3), (3,), ()])
    assert treedef.unflatten([1, 2]) == {"line": 1, "number": 2}
    assert function.result_shapes([(2, 3), (3,), ()]) == [(2,), ()]
    assert function.result_shapes([(4, 1, 2, 3), (1, 5, 3), (1, 1)], batch=2) == [(4, 5, 2), (4, 5)]


@given(ARGUMENTS, ARGUMENTS)
def test_tangents_against_finite_differences(arrays, tangents):
    pushed = ArrayFunction(bent).pushed(3, (0, 1, 2))([*arrays, *tangents])
    h = 1e-6
    above, below = ([x + step * t for x, t in zip(arrays, tangents, strict=True)] for step in (h, -h))
    for found, more, less in zip(pushed, plain(*above), plain(*below), strict=True):
        numpy.testing.assert_allclose(found, (more - less) / (2 * h), rtol=1e-6, atol=1e-6)


@given(ARGUMENTS, drawn((3,)), drawn(()), drawn((2,)), drawn(()))
def test_both_modes_are_transposes_of_each_other(arrays, tangent, other, line, number):
    function = ArrayFunction(bent)
    pushed, pulled = function.pushed(3, (1, 2)), function.pulled(3, (1, 2))
    forward = pushed([*arrays, tangent, other])
    back = pulled([*arrays, line, number])
    assert (forward[0] * line).sum() + forward[1] * number == pytest.approx(
        (back[0] * tangent).sum() + back[1] * other, rel=1e-9, abs=1e-9
    )
    assert pushed.transposed() is pulled
    assert pulled.transposed() is pushed


@pytest.mark.parametrize("batch", [(4,), (4, 5)])
def test_batches_equal_single_samples(batch):
    rng = numpy.random.default_rng(0)
    arrays = [rng.normal(size=(*batch, 2, 3)), rng.normal(size=(*[1] * len(batch), 3)), rng.normal(size=batch)]
    function = ArrayFunction(bent)
    calls = [(function, []), (function.pulled(3, (0, 1)), [(2,), ()]), (function.pushed(3, (2,)), [()])]
    for each, shapes in calls:
        seeds = [rng.normal(size=(*batch, *shape)) for shape in shapes]
        given = [*arrays, *seeds]
        found = each(given, len(batch))
        for at in itertools.product(*map(range, batch)):
            sample = [x[tuple(i % n for i, n in zip(at, x.shape, strict=False))] for x in given]
            for many, one in zip(found, each(sample), strict=True):
                numpy.testing.assert_allclose(many[at], one, rtol=1e-12)


def test_batches_keep_float32():
    x = numpy.linspace(0.0, 1.0, 6, dtype=numpy.float32).reshape(3, 2)
    [found] = ArrayFunction(lambda x: math.exp(x).sum())([x], 1)
    assert found.dtype == numpy.float32
    [found] = ArrayFunction(lambda x: math.exp(x).sum())([x[0]])
    assert found.dtype == numpy.float64


def test_functions_are_traced_once_per_shape():
    shapes = []

    def f(x):
        shapes.append(x.shape)
        return x * x

    function = ArrayFunction(f)
    for n in (2, 3, 2, 3):
        function.result([(n,)])
        function([numpy.ones(n)])
    assert shapes == [(2,), (3,)]


def test_results_must_be_numbers():
    with pytest.raises(TypeError, match="must return at least one number, got None"):
        ArrayFunction(lambda x: None)([numpy.ones(2)])
    with pytest.raises(TypeError, match="must return at least one number, got 'x'"):
        ArrayFunction(lambda x: "x")([numpy.ones(2)])


def test_branches_raise():
    with pytest.raises(RecordingError, match="branches on"):
        ArrayFunction(lambda x: x if x > 0 else 0.0)([numpy.array(1.0)])


@pytest.mark.parametrize("captured", [Value(2.0), MLP(2, [1])])
def test_captured_values_raise(captured):
    function = ArrayFunction(lambda x: captured(x) if isinstance(captured, MLP) else x * captured)
    for _ in range(2):
        with pytest.raises(TypeError, match="uses Values that are not among its arguments"):
            function([numpy.ones(2)])


@primitive
def domain(x):
    if x < 2.0:
        raise ValueError("x has to be at least 2")
    return x**0.5


@domain.derivative
def _(out, x):
    return 0.5 / out


NOT_AT_ONE = [
    (lambda ts: odeint(lambda y, t: -y, 1.0, ts), numpy.array([0.0, 1.0]), lambda ts: numpy.exp(ts[0] - ts)),
    (lambda a: root(lambda x: x * x - (a - 2.0), 1.0), numpy.array(11.0), lambda a: numpy.sqrt(a - 2.0)),
    (domain, numpy.array(9.0), numpy.sqrt),
]


@pytest.mark.parametrize(("f", "x", "expected"), NOT_AT_ONE, ids=["times", "root", "primitive"])
@pytest.mark.parametrize("setting", [nullcontext, debug_nans])
def test_functions_run_only_at_their_arguments(f, x, expected, setting):
    function = ArrayFunction(f)
    tangent, h = x, 1e-6
    with setting():
        [shape] = function.result_shapes([x.shape])
        numpy.testing.assert_allclose(function([x])[0], expected(x), rtol=1e-6)
        [pushed] = function.pushed(1, (0,))([x, tangent])
        [pulled] = function.pulled(1, (0,))([x, numpy.ones(shape)])
        [many] = function([numpy.stack([x, x + 0.5 * x])], 1)
    slope = (expected(x + h * tangent) - expected(x - h * tangent)) / (2 * h)
    numpy.testing.assert_allclose(pushed, slope, rtol=1e-5, atol=1e-7)
    assert (pulled * tangent).sum() == pytest.approx(slope.sum(), rel=1e-5)
    numpy.testing.assert_allclose(many, [expected(x), expected(1.5 * x)], rtol=1e-6)


def test_result_shapes_runs_nothing():
    calls = []

    @primitive
    def heard(x):
        calls.append(x)
        return x

    heard.derivative(lambda out, x: 1.0)
    function = ArrayFunction(heard)
    assert function.result_shapes([()]) == function.pulled(1, (0,)).result_shapes([(), ()]) == [()]
    assert calls == []
    function([numpy.array(3.0)])
    assert calls == [3.0]


def square(x):
    return x * x


def test_functions_can_be_pickled():
    function = ArrayFunction(square)
    function([numpy.ones(2)])
    copy = pickle.loads(pickle.dumps(function))
    assert copy([numpy.array([3.0])])[0].tolist() == [9.0]
    [slope] = copy.pulled(1, (0,))([numpy.array([3.0]), numpy.array([1.0])])
    assert slope.tolist() == [6.0]
