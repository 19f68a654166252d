"""Tests of `vectorize` against NumPy and JAX, also with transforms inside."""

from __future__ import annotations

import functools
import pickle

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes as shapes_together
from numpy.testing import assert_allclose, assert_array_equal
from references import jax

import gradwalk.math as gm
from gradwalk import RecordingError, Value, grad, jacobian, jit, value_and_grad, vectorize
from gradwalk.backend import thread_pool
from gradwalk.batching.axes import Batching

LAYOUTS = {
    "plain": lambda array: array,
    "fortran": lambda array: numpy.array(array, order="F"),
    "strided": lambda array: numpy.stack([array, array], axis=-1)[..., 0],
    "reversed": lambda array: numpy.flip(numpy.flip(array).copy()),
}


def operand(shape, seed, layout):
    return LAYOUTS[layout](numpy.random.default_rng(seed).uniform(-2.0, 2.0, shape))


def poly(x, y, z):
    return x * y - z * z


@given(shapes_together(num_shapes=3, min_side=0, max_dims=4, max_side=3), st.sampled_from(sorted(LAYOUTS)))
@settings(max_examples=200)
def test_arguments_broadcast_as_in_numpy(shapes, layout):
    args = [operand(shape, i, layout) for i, shape in enumerate(shapes.input_shapes)]
    found = vectorize(poly)(*args)
    assert_array_equal(found, poly(*args))
    assert numpy.shape(found) == shapes.result_shape


def outer(a, b):
    return numpy.array([[x * y for y in b] for x in a]), a + a[0]


def powers(x):
    return numpy.array([x, x * x])


@pytest.mark.parametrize(
    ("f", "in_jax", "signature"),
    [
        (lambda x, k, y: k * (x @ y), None, "(i),(),(i)->()"),
        (outer, lambda a, b: (a[:, None] * b, a + a[0]), "(i),(j)->(i,j),(i)"),
        (lambda a, b: a @ b, None, "(i,j),(j,k)->(i,k)"),
        (lambda x: 2.0 * x, None, "(i)->(i)"),
        (lambda x: x * x, None, "()->()"),
        (lambda x, y: (x * y, x - y), None, "(),()->(),()"),
        (powers, lambda x: jax.numpy.stack([x, x * x]), "()->(n)"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_signatures_match_numpy_and_jax(f, in_jax, signature):
    @given(st.data())
    @settings(max_examples=15)
    def check(data):
        lengths = {name: data.draw(st.integers(1, 3), name) for name in "ijk"}
        own = [[lengths[c] for c in part if c.isalpha()] for part in signature.split("->")[0].split("),(")]
        shapes = data.draw(shapes_together(num_shapes=len(own), max_dims=2, max_side=3)).input_shapes
        layout = data.draw(st.sampled_from(sorted(LAYOUTS)))
        args = [operand((*shapes[i], *own[i]), i, layout) for i in range(len(own))]
        found = vectorize(f, signature=signature)(*args)
        for peer, g in ((numpy, f), (jax.numpy, in_jax or f)):
            expected = peer.vectorize(g, signature=signature)(*args)
            assert isinstance(found, tuple) == isinstance(expected, tuple)
            for x, y in zip(*[r if isinstance(r, tuple) else (r,) for r in (found, expected)], strict=True):
                assert numpy.shape(x) == numpy.shape(y)
                assert_allclose(x, y, rtol=1e-13, atol=1e-14)

    check()


def test_vectorize_of_derivatives():
    x, y = numpy.linspace(-1.0, 1.0, 6).reshape(2, 3), numpy.array([[0.5], [2.0]])

    def f(x, y):
        return gm.sin(x) * y

    assert_allclose(vectorize(grad(f))(x, y), numpy.cos(x) * y, rtol=1e-15)
    value, (by_x, by_y) = vectorize(value_and_grad(f, (0, 1)))(x, y)
    assert_allclose(value, numpy.sin(x) * y, rtol=1e-15)
    assert_allclose(by_x, numpy.cos(x) * y, rtol=1e-15)
    assert_allclose(by_y, numpy.sin(x) + 0.0 * y, rtol=1e-15)
    flat = vectorize(value_and_grad(f, (0, 1)), signature="(),()->(),(),()")(x, y)
    assert [array.shape for array in flat] == [(2, 3)] * 3
    rows = vectorize(jacobian(lambda x: x * x), signature="(i)->(i,i)")(x)
    assert_array_equal(rows, [numpy.diag(2.0 * row) for row in x])
    third = vectorize(grad(grad(grad(lambda x: x**4))))(x)
    assert_allclose(third, 24.0 * x, rtol=1e-15, atol=1e-15)


def test_transforms_of_vectorized_functions():
    x = numpy.linspace(-1.0, 1.0, 4)
    square = vectorize(lambda x, y: x * x * y)
    assert_array_equal(grad(lambda x: square(x, 3.0).sum())(x), 6.0 * x)
    assert_array_equal(jit(lambda x: square(x, x))(x), x**3)
    found = square(Value(2.0), numpy.array([1.0, 3.0]))
    assert [v.data for v in found] == [4.0, 12.0]
    assert square(Value(2.0), 3.0).data == 12.0


def test_excluded_arguments_are_not_broadcast():
    def horner(p, x):
        return functools.reduce(lambda total, c: total * x + c, p)

    x = numpy.linspace(-1.0, 1.0, 6).reshape(2, 3)
    for excluded in ([0], ["p"]):
        polyval = vectorize(horner, excluded=excluded)
        assert_allclose(polyval([1.0, 2.0, 3.0], x), numpy.polyval([1.0, 2.0, 3.0], x), rtol=1e-15)
        assert_allclose(polyval(numpy.array([1.0, 2.0]), x), x + 2.0, rtol=1e-15)
        assert_allclose(polyval(x=x, p=[1.0, 2.0]), x + 2.0, rtol=1e-15)
    tree = vectorize(lambda w, x: w["rate"] * x, excluded=["w"])
    assert_array_equal(tree({"rate": 2.0}, x), 2.0 * x)


def test_keywords_and_defaults():
    @vectorize
    def f(x, rate=2.0, power=1.0):
        return rate * x + power

    x = numpy.arange(3.0)
    assert_array_equal(f(x), f(x, 2.0, 1.0))
    assert_array_equal(f(x, power=[[5.0], [6.0]]), 2.0 * x + [[5.0], [6.0]])

    @vectorize(signature="(i)->()")
    def total(x):
        return x.sum()

    assert_array_equal(total(numpy.ones((2, 3))), [3.0, 3.0])


def test_dtypes():
    square = vectorize(lambda x: x * x)
    assert isinstance(square(3), numpy.float64)
    assert square(3) == 9.0
    assert_array_equal(square([1, 2]), [1.0, 4.0])
    assert square(numpy.ones(3, numpy.float32)).dtype == numpy.float32
    assert vectorize(lambda x, y: x * y)(numpy.ones(3, numpy.float32), 2.0).dtype == numpy.float32
    assert square(numpy.arange(3, dtype=numpy.int8)).dtype == numpy.float64
    assert vectorize(lambda x: 3.0)(numpy.ones((2, 2))).tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_broadcasting_does_not_copy_arrays(monkeypatch):
    taken = []
    batch = Batching.batch
    monkeypatch.setattr(Batching, "batch", lambda self, args, kwargs: taken.extend(args) or batch(self, args, kwargs))
    x, y = numpy.ones((3, 4)), numpy.ones((3, 1))
    vectorize(lambda x, y, z: x)(x, numpy.broadcast_to(y[0], (3, 4)), 2.0)
    assert numpy.shares_memory(taken[0], x)
    assert taken[1].strides == (0,)
    assert taken[2] == 2.0


def test_function_is_traced_once_per_structure():
    recorded = []

    def f(x, y):
        recorded.append(1)
        return x * y

    g = vectorize(f)
    for shape in ((3,), (2, 3), (1, 2, 3), (0,)):
        g(numpy.ones(shape), 2.0)
    assert len(recorded) == 1
    g(numpy.ones(3), numpy.ones(3))
    assert len(recorded) == 2


@vectorize
def cubed(x):
    return x * x * x


def squared(x):
    return x * x


def test_pickles_refer_to_functions_by_name():
    assert pickle.loads(pickle.dumps(cubed)) is cubed
    again = pickle.loads(pickle.dumps(vectorize(squared, signature="()->()", excluded=[3])))
    assert again([2.0, 3.0]).tolist() == [4.0, 9.0]
    assert repr(again) == "<vectorize of squared()>"


def test_results_do_not_depend_on_thread_count():
    x = numpy.random.default_rng(0).normal(size=(300, 40))
    expected = None
    for count in (1, 2, 5):
        with thread_pool.threads(count):
            found = vectorize(lambda x, y: gm.exp(x) * y)(x, x[:1])
        expected = found if expected is None else expected
        assert_array_equal(found, expected)


def keyword_only(x, *, rate):
    return x * rate


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: vectorize(3.0), TypeError, "takes a function, not float"),
        (lambda: vectorize(poly, signature="i->i"), ValueError, r"signature='i->i': .* as in '\(i,j\),\(j\)->\(i\)'"),
        (lambda: vectorize(poly, signature="(i)"), ValueError, "give the dimensions of each operand and result"),
        (lambda: vectorize(squared, excluded=["y"]), ValueError, r"has 'y', but the parameters of squared\(\) are x"),
        (lambda: vectorize(keyword_only)(1.0, rate=2.0), TypeError, "takes rate by keyword only"),
        (lambda: cubed(numpy.array(["a"])), TypeError, "x is an array of <U1"),
        (lambda: cubed(numpy.ma.array([1.0])), TypeError, "MaskedArray"),
        (
            lambda: vectorize(poly)(numpy.ones(2), numpy.ones(3), 1.0),
            ValueError,
            r"do not broadcast together: x over \(2,\), y over \(3,\), z over \(\)",
        ),
        (
            lambda: vectorize(squared, signature="(i),(i)->()")([1.0]),
            TypeError,
            r"has 2 operands, but squared\(\) was called with 1",
        ),
        (
            lambda: vectorize(squared, signature="(i)->()")(1.0),
            ValueError,
            r"x has shape \(\), but the signature says \(i\)",
        ),
        (
            lambda: vectorize(lambda x, y: x @ y, signature="(i),(i)->()")(numpy.ones(3), numpy.ones(4)),
            ValueError,
            r"y has shape \(4,\): i is 4 here, but 3 elsewhere",
        ),
        (
            lambda: vectorize(squared, signature="(i)->()")([1.0, 2.0]),
            ValueError,
            r"result 0 of squared\(\) has shape \(2,\), but the signature says \(\)",
        ),
        (
            lambda: vectorize(squared, signature="(i)->(i,i)")([1.0, 2.0]),
            ValueError,
            r"result 0 of squared\(\) has shape \(2,\), but the signature says \(i,i\)",
        ),
        (
            lambda: vectorize(lambda x: x[:1], signature="(i)->(i)")(numpy.ones(2)),
            ValueError,
            "i is 1 here, but 2 elsewhere",
        ),
        (
            lambda: vectorize(lambda x: [x[0], x[1]], signature="(i)->(i)")(numpy.ones(2)),
            ValueError,
            r"has 1 results, but <lambda>\(\) returned 2 numbers or arrays",
        ),
        (lambda: vectorize(lambda x: x * float(x))([1.0]), RecordingError, r"calls float\(\) on"),
        (lambda: vectorize(lambda p, x: x, excluded=["p"])({"text"}, [1.0]), TypeError, "p is a set"),
    ],
)
def test_invalid_arguments_raise(call, error, message):
    with pytest.raises(error, match=message):
        call()
