"""Tests of vmap inside traced functions: one instruction, compared with JAX up to second derivatives."""

from __future__ import annotations

import pickle
from typing import Any

import numpy
import pytest
from c_compiler import SAME_BITS, compiled
from references import jax, jnp

from gradwalk import Value, grad, hessian, jacfwd, jacrev, jit, loops, math, value_and_grad, vmap
from gradwalk import numpy as gnp
from gradwalk.backend.loops import loop_kernel
from gradwalk.program.program import Program

GENERATOR = numpy.random.default_rng(3)
X = GENERATOR.normal(size=(300, 3))
Y = GENERATOR.normal(size=300)
W = numpy.array([0.3, -0.2, 0.5])


def likelihood(m: Any, batched: Any, w: Any, xs: Any, ys: Any) -> Any:
    each = lambda w, x, y: (m.tanh(w[0] * x[0] + w[1] * x[1] + w[2] * x[2]) - y) ** 2  # noqa: E731
    return batched(each, (None, 0, 0), "sum")(w, xs, ys) + w @ w


def mean_and_column(m: Any, batched: Any, w: Any, xs: Any, ys: Any) -> Any:
    """Combine a column used twice, a batched result and a mean."""
    waves = batched(lambda x: m.sin(x[0] * w[1]) * w[0] * x[2], (0,), None)(xs)
    mean = batched(lambda x, y: x[0] * y * w[2] + w[0], (0, 0), "mean")(xs, ys)
    return (waves * waves * ys).sum() + mean * mean


def batch_of_batch_results(m: Any, batched: Any, w: Any, xs: Any, ys: Any) -> Any:
    """Map over the results of another batch."""
    hidden = batched(lambda x: m.tanh(x[0] * w[0] + x[1]), (0,), None)(xs)
    return batched(lambda h, y: m.where(h > 0.2, h * y, h * h * w[1]), (0, 0), "sum")(hidden, ys)


FUNCTIONS = [likelihood, mean_and_column, batch_of_batch_results]


def ours(f: Any, in_axes: Any, reduce: str | None) -> Any:
    return vmap(f, in_axes=in_axes, reduce=reduce)


def in_jax(f: Any, in_axes: Any, reduce: str | None) -> Any:
    batched = jax.vmap(f, in_axes=in_axes)
    reduced = {None: lambda found: found, "sum": jnp.sum, "mean": jnp.mean}[reduce]
    return lambda *args: reduced(batched(*args))


def close(found: Any, expected: Any) -> None:
    assert numpy.asarray(found, float) == pytest.approx(numpy.asarray(expected), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("wrt", [0, 1, 2])
def test_derivatives_match_jax(f, wrt):
    xs, ys = (X, Y) if wrt == 0 else (X[:120], Y[:120])
    here = lambda w, x, y: f(math, ours, w, x, y)  # noqa: E731
    there = lambda w, x, y: f(jnp, in_jax, w, x, y)  # noqa: E731
    expected = jax.value_and_grad(there, argnums=wrt)(W, xs, ys)
    for transformed in (value_and_grad(here, argnums=wrt), jit(value_and_grad(here, argnums=wrt))):
        if wrt == 0:
            transformed(W + 1.0, xs, ys)  # trace with other numbers, so that none of them may be baked in
        value, slopes = transformed(W, xs, ys)
        close(value, expected[0])
        close(slopes, expected[1])
    second = jax.jacfwd(jax.grad(there, argnums=wrt), argnums=0)(W, xs, ys)
    for outer in (jacfwd, jacrev):
        close(outer(grad(here, argnums=wrt), argnums=0)(W, xs, ys), second)


def test_batch_of_many_samples_with_many_results():
    """Check that time is linear: all results of a large call in a trace are operands of one Value."""
    x = numpy.linspace(-1.0, 1.0, 3_500)  # fewer than an array that stays whole
    wave = vmap(lambda t: math.sin(3.0 * t) * t)
    symbols = set()

    def f(x: Any) -> Any:
        waves = wave(x)
        symbols.add(waves[7].operands[0].op)
        return waves @ waves

    def expected(x: Any) -> Any:
        waves = jnp.sin(3.0 * x) * x
        return waves @ waves

    close(grad(f)(x), jax.grad(expected)(x))
    values = numpy.array([Value(t) for t in x])
    wave(values)[7].backward()
    close(values[7].grad, jax.grad(lambda t: jnp.sin(3.0 * t) * t)(x[7]))
    assert symbols == {"vmap"}
    recorded = jit(grad(f))
    close(recorded(x[::-1]), jax.grad(expected)(x[::-1]))
    close(recorded(x), jax.grad(expected)(x))


def test_program_length_is_independent_of_batch_size():
    def f(w: Any, count: int) -> Any:
        return likelihood(math, ours, w, numpy.tile(X, (count, 1)), numpy.tile(Y, count))

    lengths = set()
    for count in (1, 10):
        recorded = jit(value_and_grad(f), static_argnums=1)
        recorded(W, count)
        lengths.add(len(recorded.program))
    assert len(lengths) == 1
    assert lengths.pop() < 20


def test_short_batches_are_unrolled():
    recorded = jit(lambda w: vmap(lambda x: x * w, reduce="sum")(numpy.array([1.0, 2.0])))
    assert recorded(3.0) == 9.0
    assert not recorded.program.calls


def test_captured_values_get_gradients():
    w = Value(0.5)
    total = jit(lambda x: vmap(lambda y: math.sin(y * w) * x, reduce="sum")(Y))(2.0)
    total.backward()
    assert w.grad == pytest.approx(2.0 * (Y * numpy.cos(0.5 * Y)).sum(), rel=1e-12)


def test_vmap_of_a_hessian_of_a_batch():
    f = lambda w: likelihood(math, ours, w, X, Y)  # noqa: E731
    expected = jax.vmap(jax.hessian(lambda w: likelihood(jnp, in_jax, w, X, Y)))(numpy.stack([W, W + 0.1]))
    close(vmap(hessian(f))(numpy.stack([W, W + 0.1])), expected)


def test_unselected_where_branches_get_zero_gradient():
    f = lambda w: vmap(lambda y: math.where(y > 0, math.sqrt(y * w), 0.0), reduce="sum")(Y)  # noqa: E731
    positive = Y[Y > 0]
    assert grad(f)(2.0) == pytest.approx(numpy.sqrt(positive / 2.0).sum() / 2.0, rel=1e-12)
    assert grad(grad(f))(2.0) == pytest.approx(-numpy.sqrt(positive).sum() * 2.0**-1.5 / 4.0, rel=1e-12)


def test_program_can_be_pickled():
    recorded = jit(value_and_grad(lambda w: likelihood(math, ours, w, X, Y)))
    recorded(W)
    again: Program = pickle.loads(pickle.dumps(recorded.program))
    assert again.run(W).tolist() == recorded.program.run(W).tolist()


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_json_and_c_contain_a_loop(f, tmp_path):
    recorded = jit(value_and_grad(lambda w: f(math, ours, w, X, Y)))
    recorded(W)
    expected = recorded.program.run(W)
    text = recorded.program.to_json()
    read = Program.from_json(text)
    assert len(text) < 300_000
    close(read.run(W), expected)
    close(compiled(tmp_path, recorded.program.to_c(), *SAME_BITS)(W, 4), expected)
    inside = jit(lambda w: loops.fori_loop(0, 2, lambda i, v: v + f(math, ours, w, X, Y), 0.0))
    close(inside(W), 2.0 * expected[0])
    slopes = jit(
        grad(lambda w: loops.while_loop(lambda v: v < 9.0, lambda v: v * 1.5 + f(math, ours, w, X, Y) ** 2, 1.0))
    )
    for function in (inside, slopes):
        expected = numpy.atleast_1d(function(W))
        close(Program.from_json(function.program.to_json()).run(W), expected)
        close(compiled(tmp_path, function.program.to_c(), *SAME_BITS)(W, len(expected)), expected)


def test_results_work_in_gradwalk_numpy():
    f = lambda w: gnp.max(vmap(lambda x: x[0] * w[0] + x[1] * w[1])(X))  # noqa: E731
    largest = X[:, 0] * W[0] + X[:, 1] * W[1]
    close(grad(f)(W), [*X[largest.argmax(), :2], 0.0])


def test_batch_of_loops_is_one_instruction(monkeypatch):
    """Test steps and branches that depend on the sample, up to second derivatives."""
    monkeypatch.setattr(loop_kernel, "MOST_FLAT", 0)

    def sample(w, z):
        root = loops.while_loop(lambda r: abs(r * r - w - z) > 1e-12, lambda r: (r + (w + z) / r) / 2, z)
        return loops.cond(root > 1.3, lambda a: a * w, lambda a: a * a * w, root)

    z = numpy.linspace(1.0, 2.0, 300)
    summed = lambda w: vmap(sample, in_axes=(None, 0), reduce="sum")(w, z) * w  # noqa: E731
    stacked = lambda w: (vmap(sample, in_axes=(None, 0))(w, z) ** 2).sum()  # noqa: E731
    by_hand = [lambda w: sum(sample(w, x) for x in z) * w, lambda w: sum(sample(w, x) ** 2 for x in z)]
    for f, expected in zip((summed, stacked), by_hand, strict=True):
        for transform in (lambda g: g, grad, hessian):
            recorded = jit(transform(f))
            recorded(0.5)
            assert recorded(0.7) == pytest.approx(transform(expected)(0.7), rel=1e-10)
    recorded = jit(grad(summed))
    recorded(0.5)
    assert len(recorded.program) < 10
