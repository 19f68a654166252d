"""Tests of reductions other than sums against NumPy and JAX, up to second derivatives."""

from __future__ import annotations

import pickle

import numpy
import pytest
from c_compiler import SAME_BITS, compiled
from hypothesis import given
from hypothesis import strategies as st
from programs import fewer
from references import jax, jnp

import gradwalk.numpy
from gradwalk import Value, grad, hessian, jit, math, stream, value_and_grad, vmap
from gradwalk.program.program import Program

DIFFERENTIABLE = ["max", "min", "prod", "logsumexp"]
ALL = [*DIFFERENTIABLE, "argmax", "argmin"]
SHORT, LONG = numpy.linspace(-1.0, 2.0, 4), numpy.linspace(-1.0, 2.0, 400)
IN_JAX = {
    "max": jnp.max,
    "min": jnp.min,
    "prod": jnp.prod,
    "logsumexp": jax.scipy.special.logsumexp,
    "argmax": jnp.argmax,
    "argmin": jnp.argmin,
}


def sample(m, w, x):
    return m.sin(w * x) * 0.2 + 1.0 + 0.01 * x * w


@pytest.mark.parametrize("x", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize("reduce", ALL)
def test_derivatives_match_jax(reduce, x):
    def f(w):
        return vmap(lambda w, x: sample(math, w, x), in_axes=(None, 0), reduce=reduce)(w, x) * w

    def expected(w):
        return IN_JAX[reduce](sample(jnp, w, x)) * w

    found = [f(0.7), grad(f)(0.7), hessian(f)(0.7)]
    references = [g(0.7) for g in (expected, jax.grad(expected), jax.hessian(expected))]
    numpy.testing.assert_allclose(found, references, rtol=1e-10, atol=1e-12)
    for transform, reference in zip((lambda g: g, grad, hessian), references, strict=True):
        recorded = jit(transform(f))
        recorded(-0.4)  # trace with another number, for which another sample is the extreme
        assert recorded(0.7) == pytest.approx(float(reference), rel=1e-10, abs=1e-12)
        assert vmap(transform(f))(numpy.array([-0.4, 0.7]))[1] == pytest.approx(float(reference), rel=1e-10, abs=1e-12)
    root = f(Value(0.7))
    root.backward()
    assert root.data == pytest.approx(found[0])


@pytest.mark.parametrize("reduce", ALL)
def test_long_batch_is_a_few_instructions(reduce):
    f = jit(grad(lambda w: vmap(lambda w, x: sample(math, w, x), in_axes=(None, 0), reduce=reduce)(w, LONG) * w))
    f(0.3)
    assert len(f.program) < (2000 if reduce == "prod" else 25)  # prod has one result per factor


@pytest.mark.parametrize("base", [[1.0, 2.0, 2.0], [numpy.inf, 1.0, numpy.inf], [0.0, numpy.nan], [-numpy.inf] * 3])
@pytest.mark.parametrize("length", [0, 3000])
@pytest.mark.parametrize("reduce", ["max", "min"])
def test_derivatives_at_infinity_and_nan_match_jax(reduce, length, base):
    x = numpy.concatenate([base, numpy.full(length, base[-1])])
    of_values = [vmap(lambda t: t, reduce=reduce), getattr(gradwalk.numpy, reduce)]
    for f in of_values:
        for g in (grad(f), jit(grad(f))):
            numpy.testing.assert_allclose(g(x), jax.grad(IN_JAX[reduce])(x), rtol=1e-12)


def test_maximum_of_equal_numbers_is_exact():
    x = numpy.full(3, 0.1)
    assert jit(vmap(lambda t: t, reduce="max"))(x) == 0.1
    assert jit(lambda x: vmap(lambda t: t, reduce="max")(x) * 1.0)(numpy.full(3000, 0.1)) == 0.1


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_numpy_reductions_of_long_arrays_are_short(name):
    x = numpy.sin(numpy.arange(3000.0))
    of_array = jit(lambda x: getattr(gradwalk.numpy, name)(x) * x[0])
    assert of_array(x) == getattr(numpy, name)(x) * x[0]
    assert len(of_array.program) < 30


@fewer(100)
@given(st.lists(st.sampled_from([-1.5, -0.0, 0.0, 0.5, 2.0, 3.0]), min_size=1, max_size=6), st.integers(1, 300))
def test_gradients_with_ties_and_zeros(numbers, times):
    x = numpy.array(numbers * times)
    for reduce in ("max", "min", "prod"):

        def f(w):
            return vmap(lambda w, x: w * x, in_axes=(None, 0), reduce=reduce)(w, x)  # noqa: B023

        assert f(1.0) == getattr(x, reduce)()
        slope = {"max": x.max(), "min": x.min(), "prod": len(x) * x.prod()}[reduce]
        assert grad(f)(1.0) == pytest.approx(slope, rel=1e-12)


def test_tied_maxima_share_the_gradient():
    x = numpy.array([1.0, 3.0, 2.0, 3.0] * 200)
    for reduce in ("max", "logsumexp"):
        f = grad(vmap(lambda x: x * 1.0, reduce=reduce))
        expected = jax.grad(IN_JAX[reduce])(x)
        numpy.testing.assert_allclose(f(x).astype(float), expected, rtol=1e-12)
        numpy.testing.assert_allclose(f(x[:4]).astype(float), jax.grad(IN_JAX[reduce])(x[:4]), rtol=1e-12)


@pytest.mark.parametrize("reduce", ALL)
@pytest.mark.parametrize("special", [numpy.nan, numpy.inf, -numpy.inf])
@pytest.mark.parametrize("x", [SHORT, LONG], ids=["short", "long"])
def test_nan_and_infinity(reduce, special, x):
    x = x.copy()
    x[2] = special
    with numpy.errstate(all="ignore"):
        expected = float(IN_JAX[reduce](x))
    f = vmap(lambda x: x * 1.0, reduce=reduce)
    assert float(f(x)) == pytest.approx(expected, nan_ok=True)
    recorded = jit(lambda w: vmap(lambda w, x: w * x, in_axes=(None, 0), reduce=reduce)(w, x) + 0.0)
    recorded(0.5)
    assert recorded(1.0) == pytest.approx(expected, nan_ok=True)


def test_results_of_any_tree_structure():
    def f(x, y):
        return {"a": x * y, "b": numpy.array([x, y, x + y])}

    x, y = LONG, numpy.sin(3 * LONG)
    for reduce in ALL:
        found = vmap(f, reduce=reduce)(x, y)
        reference = {"logsumexp": lambda a, axis: numpy.log(numpy.exp(a).sum(axis))}.get(reduce) or getattr(
            numpy, reduce
        )
        assert found["a"] == pytest.approx(reference(x * y, 0))
        numpy.testing.assert_allclose(found["b"], reference(numpy.stack([x, y, x + y], 1), 0))
        assert reduce[:3] != "arg" or found["b"].dtype == numpy.int64
    total = lambda w: sum(vmap(lambda w, x, y: f(w * x, y), (None, 0, 0), reduce="max")(w, x, y)["b"])  # noqa: E731
    assert grad(total)(1.0) == pytest.approx((total(1.00001) - total(0.99999)) / 2e-5, rel=1e-6)


def test_json_pickle_and_c(tmp_path):
    for reduce in ("max", "argmin", "logsumexp"):
        f = jit(value_and_grad(lambda w: vmap(lambda w, x: sample(math, w, x), (None, 0), reduce=reduce)(w, LONG) * w))  # noqa: B023
        f(0.7)
        expected = f.program.run([0.7])
        numpy.testing.assert_allclose(Program.from_json(f.program.to_json()).run([0.7]), expected, rtol=1e-13)
        numpy.testing.assert_allclose(pickle.loads(pickle.dumps(f.program)).run([0.7]), expected, rtol=1e-13)
        in_c = compiled(tmp_path, f.program.to_c(), *SAME_BITS)
        numpy.testing.assert_allclose(in_c([0.7], 2), expected, rtol=1e-13)


def test_jit_traces_once_and_keeps_dtypes():
    calls = []

    def f(x):
        calls.append(x)
        return x * x

    best = jit(vmap(f, reduce="max"))
    assert (best(SHORT), best(2 * SHORT), len(calls)) == (4.0, 16.0, 1)
    assert best.program.sample.inputs == 1
    single = vmap(lambda x: numpy.array([x, -x]), reduce="max")(SHORT.astype(numpy.float32))
    assert single.dtype == numpy.float32


def test_invalid_reductions_raise():
    with pytest.raises(ValueError, match=r"reduce='max' of .*: the batch is empty"):
        vmap(lambda x: x, reduce="max")(numpy.empty(0))
    assert vmap(lambda x: x, reduce="prod")(numpy.empty(0)) == 1.0
    assert vmap(lambda x: x, reduce="logsumexp")(numpy.empty(0)) == -numpy.inf
    with pytest.raises(ValueError, match="reduce='median': give one of 'sum', 'mean', 'max'"):
        vmap(lambda x: x, reduce="median")
    with pytest.raises(ValueError, match="no batch axis"):
        vmap(lambda x: x, out_axes=1, reduce="max")
    with pytest.raises(ValueError, match="not 'max'"):
        vmap(lambda x: x, reduce="max").lower(SHORT)
    with pytest.raises(ValueError, match="not 'max'"):
        stream(vmap(lambda x: x, reduce="max"), SHORT, rows=2)
