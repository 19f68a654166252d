"""Tests of gradwalk.math on arrays and lists, with the rules of NumPy's ufuncs."""

from __future__ import annotations

import math

import numpy
import pytest
import scipy.special
from references import jax, jnp

import gradwalk.math as gm
from gradwalk import Value, grad, hessian, jit, value_and_grad, vmap
from gradwalk.ops.table import TABLE

OF_ONE = [row.name for row in TABLE if row.is_function and row.arity == 1]
ELSEWHERE = {"acosh": [1.25, 1.5, 1.75], "log1mexp": [-0.25, -0.5, -0.75]}  # points in the domain of the function
OTHERS = ["degrees", "radians", "elu", "leaky_relu", "clip", "smooth_abs", "smooth_max", "hypot", "maximum", "log"]


@pytest.mark.parametrize("name", [*OF_ONE, *OTHERS])
def test_arrays_and_lists_give_arrays(name):
    f = getattr(gm, name)
    numbers = ELSEWHERE.get(name, [0.25, 0.5, 0.75])
    expected = [f(x) for x in numbers]
    for given in (numbers, tuple(numbers), numpy.array(numbers), numpy.array(numbers, dtype=object)):
        found = f(given)
        assert isinstance(found, numpy.ndarray)
        assert found.dtype == float
        assert found.tolist() == expected
    leaves = [Value(x) for x in numbers]
    for given in (leaves, numpy.array(leaves)):
        assert [x.data for x in f(given)] == expected


@pytest.mark.parametrize("name", ["pow", "atan2", "hypot", "maximum", "minimum", "mod", "fmod", "logaddexp", "log"])
def test_arrays_are_broadcast(name):
    f = getattr(gm, name)
    column, row = numpy.array([[0.25], [2.5]]), [0.5, 3.0, 4.0]
    expected = [[f(x, y) for y in row] for [x] in column]
    assert f(column, row).tolist() == expected
    assert f(column, 3.0).tolist() == [[f(x, 3.0)] for [x] in column]
    v = Value(3.0)
    for found in (f(column, v)[1, 0], f(v, column)[1, 0]):
        found.backward()
    assert v.grad == grad(f, 1)(2.5, 3.0) + grad(f)(3.0, 2.5)


def test_functions_of_three_or_more_operands():
    assert gm.where([1.0, 0.0], 2.0, [3.0, 4.0]).tolist() == [2.0, 4.0]
    assert gm.maximum([1.0, 5.0], 2.0, [[3.0], [4.0]]).tolist() == [[3.0, 5.0], [4.0, 5.0]]
    assert gm.hypot([2.0, 0.0], [3.0, 3.0], [6.0, 4.0]).tolist() == [7.0, 5.0]
    assert gm.sin([]).tolist() == []


def test_arrays_of_recorded_values():
    def loss(xs):
        return sum(gm.sigmoid(numpy.array(xs)) * [1.0, 2.0])

    expected = value_and_grad(lambda a, b: gm.sigmoid(a) + 2 * gm.sigmoid(b), (0, 1))(0.3, -0.4)
    value, slopes = jit(value_and_grad(loss))([0.3, -0.4])
    assert (value, tuple(slopes)) == expected
    _, columns = vmap(value_and_grad(loss))([numpy.array([0.3]), numpy.array([-0.4])])
    assert [column[0] for column in columns] == pytest.approx(expected[1], rel=1e-14)


def test_other_types_and_shapes_are_refused():
    with pytest.raises(TypeError, match=r"sin\(\) takes Values and real numbers, not \(str\)"):
        gm.sin(["a"])
    with pytest.raises(TypeError, match=r"sin\(\) takes Values and real numbers, not \(set\)"):
        gm.sin({1.0})
    with pytest.raises(ValueError, match="inhomogeneous"):
        gm.sin([[1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="broadcast"):
        gm.pow([1.0, 2.0], [1.0, 2.0, 3.0])


def test_results_are_float64():
    assert gm.sin(numpy.float32([0.5])).dtype == numpy.float64
    assert gm.abs([True, -2]).tolist() == [1.0, 2.0]
    assert type(gm.sin(numpy.array([0.5])[0])) is float
    assert math.isnan(gm.log(numpy.array([-1.0]))[0])


@pytest.mark.parametrize("name", [*OF_ONE, *OTHERS, "isnan", "isfinite", "isinf", "fabs"])
def test_zero_dimensional_arrays_are_numbers(name):
    f = getattr(gm, name)
    number = 1.25 if name == "acosh" else -0.25 if name == "log1mexp" else 0.25
    found = f(numpy.array(number))
    assert (found, type(found)) == (f(number), type(f(number)))
    held = numpy.empty((), dtype=object)
    held[()] = Value(number)
    found = f(held)
    assert (found.data if isinstance(found, Value) else found) == f(number)


def test_zero_dimensional_arrays_mix_with_values():
    v, two = Value(3.0), numpy.array(2.0)
    out = gm.maximum(gm.atan2(v, two), two, gm.where(numpy.array(True), v, two))
    out.backward()
    assert (out.data, v.grad) == (3.0, 1.0)
    assert gm.modf(numpy.array(2.5)) == (0.5, 2.0)
    assert gm.pow(numpy.array([2.0, 3.0]), two).tolist() == [4.0, 9.0]
    assert gm.logsumexp([two, two]) == gm.logsumexp([2.0, 2.0])
    assert gm.take([1.0, 5.0], numpy.array(1)) == gm.interp(numpy.array(1.0), [0.0, 2.0], [3.0, 7.0]) == 5.0
    for derivative in (grad(lambda x: gm.exp(2.0 * gm.sin(x))), jit(grad(lambda x: gm.exp(2.0 * gm.sin(x))))):
        assert derivative(numpy.array(0.0)).tolist() == 2.0
    with pytest.raises(TypeError, match=r"sin\(\) takes Values and real numbers, not \(ndarray\)"):
        gm.sin(numpy.array("a"))


# softmax and log_softmax along an axis, compared with JAX

X = numpy.array([[0.5, -1.0, 2.0], [3.0, 0.25, -0.5]])
STACK = numpy.stack([X, -X, X * X])


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
@pytest.mark.parametrize(
    ("x", "axis"),
    [(X, -1), (X, 0), (X, None), (X, (1, 0)), (STACK, 1), (STACK, (0, -1)), (STACK, ())],
    ids=lambda given: str(numpy.shape(given) if isinstance(given, numpy.ndarray) else given),
)
def test_softmax_and_derivatives_agree_with_jax(name, axis, x):
    theirs = getattr(jax.nn, name)

    def loss(x):
        shares = getattr(gm, name)(x, axis)
        return sum(numpy.arange(1.0, 1.0 + numpy.size(shares)) * numpy.ravel(shares) ** 2)

    def their_loss(x):
        shares = jnp.ravel(theirs(x, axis))
        return (jnp.arange(1.0, 1.0 + shares.size) * shares**2).sum()

    leaves = numpy.array([Value(number) for number in x.ravel()]).reshape(x.shape)
    expected = theirs(x, axis)
    found, of_values = getattr(gm, name)(x, axis=axis), numpy.asarray(getattr(gm, name)(leaves, axis))
    assert numpy.asarray(found).dtype == float
    assert numpy.shape(found) == of_values.shape == expected.shape
    numpy.testing.assert_allclose(found, expected, rtol=1e-13)
    numpy.testing.assert_allclose([v.data for v in of_values.flat], expected.ravel(), rtol=1e-13)
    first, second = jax.jit(jax.grad(their_loss))(x), jax.jit(jax.hessian(their_loss))(x)
    loss(leaves).backward()
    numpy.testing.assert_allclose([v.grad for v in leaves.flat], first.ravel(), rtol=1e-11, atol=1e-11)
    for transform, true in ((grad, first), (hessian, second)):
        recorded = jit(transform(loss))
        recorded(-x)
        numpy.testing.assert_allclose(recorded(x), true, rtol=1e-10, atol=1e-10)
        numpy.testing.assert_allclose(vmap(transform(loss))(numpy.stack([-x, x]))[1], true, rtol=1e-10, atol=1e-10)
    numpy.testing.assert_allclose(grad(loss)(x), first, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("f", [gm.softmax, gm.log_softmax])
def test_softmax_keeps_the_shape_of_its_argument(f):
    row = X[0].tolist()
    assert isinstance(f(row), list)
    assert isinstance(f(tuple(row)), list)
    assert [x.data for x in f([Value(x) for x in row])] == f(row)
    assert f(X[0]).tolist() == f(row)
    assert f(X.tolist()).tolist() == f(X).tolist() == [f(row) for row in X.tolist()]
    assert f([X[0], X[1]]).tolist() == f(X).tolist()
    assert [v.data for v in f([[Value(0.5), 0.5]])[0]] == f([0.5, 0.5])
    assert f(numpy.empty((2, 0))).shape == (2, 0)


@pytest.mark.parametrize("f", [gm.softmax, gm.log_softmax, gm.logsumexp])
def test_invalid_axes_are_refused(f):
    for xs, axis in ((X[0].tolist(), 1), (X, 2), (X, (0, 2)), (X, -3), (numpy.array(2.0), 0)):
        with pytest.raises(ValueError, match=r"axis -?[0-3] is out of bounds for array of dimension [0-2]"):
            f(xs, axis=axis)
    with pytest.raises(ValueError, match=r"axis=\(0, -2\) has duplicates for an array of dimension 2"):
        f(X, axis=(0, -2))
    for axis in ("0", 1.0, [0], (0, None)):
        with pytest.raises(TypeError, match="axis must be an integer, a tuple of integers, or None for all axes, got"):
            f(X, axis=axis)
    for single in (2.0, Value(2.0)):
        with pytest.raises(TypeError, match=f"needs an array or a list of .*, got one {type(single).__name__}"):
            f(single)


def test_logsumexp_agrees_with_scipy():
    for xs in (X, X.tolist(), [X[0], X[1]]):
        assert gm.logsumexp(xs) == pytest.approx(scipy.special.logsumexp(X), rel=1e-15)
    for axis in (None, 0, 1, (0, 1)):
        found = gm.logsumexp(X, axis, keepdims=True)
        expected = scipy.special.logsumexp(X, axis, keepdims=True)
        assert found.shape == expected.shape
        numpy.testing.assert_allclose(found, expected, rtol=1e-15)
    assert isinstance(gm.logsumexp(X[0]), float)
    assert isinstance(gm.logsumexp([Value(1.0), 2.0]), Value)
    assert gm.logsumexp(numpy.empty((2, 0)), axis=1).tolist() == [-math.inf, -math.inf]


INFINITE = [[math.inf, 0.0], [math.inf, math.inf], [-math.inf, -math.inf], [-math.inf, 0.0], [math.nan, 0.0]]


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
@pytest.mark.parametrize("row", INFINITE)
def test_softmax_of_infinities_agrees_with_jax(name, row):
    expected = getattr(jax.nn, name)(jnp.array(row))
    f = getattr(gm, name)
    numpy.testing.assert_allclose(f(row), expected)
    numpy.testing.assert_allclose([v.data for v in numpy.atleast_1d(f([Value(x) for x in row]))], expected.ravel())
    recorded = jit(f)
    recorded(numpy.array([1.0, 2.0]))
    numpy.testing.assert_allclose(recorded(numpy.array(row)), expected)
    numpy.testing.assert_allclose(vmap(f)(numpy.array([[1.0, 2.0], row]))[1], expected)


def test_divmod_of_arrays_is_floor_division_and_remainder():
    numbers = numpy.array([[7.5, -7.5], [2.0, 0.5]])
    leaves = numpy.array([Value(x) for x in numbers.ravel()]).reshape(numbers.shape)
    for given in (numbers, leaves):
        for pair, expected in (
            (divmod(Value(3.0), given), divmod(3.0, numbers)),
            (divmod(given, Value(2.0)), divmod(numbers, 2.0)),
            (numpy.divmod(given, Value(2.0)), divmod(numbers, 2.0)),
        ):
            assert isinstance(pair, tuple)
            for part, true in zip(pair, expected, strict=True):
                assert [v.data for v in part.flat] == true.ravel().tolist()

    def left(x):
        return sum((divmod(x, numbers)[1] * numbers * x).flat)

    def right(x):
        return sum((divmod(numbers, x)[1] * numbers * x).flat)

    for f, in_jax in ((left, lambda x, y: jnp.divmod(x, y)[1]), (right, lambda x, y: jnp.divmod(y, x)[1])):
        theirs = lambda x, g=in_jax: (g(x, numbers) * numbers * x).sum()  # noqa: E731
        for order, their_order in (
            (f, theirs),
            (grad(f), jax.grad(theirs)),
            (grad(grad(f)), jax.grad(jax.grad(theirs))),
        ):
            expected = float(their_order(3.25))
            for found in (order(3.25), jit(order)(3.25), vmap(order)(numpy.array([1.0, 3.25]))[1]):
                assert found == pytest.approx(expected, rel=1e-13)
