"""gradwalk.lax: slices whose start is data are those of JAX, with their derivatives."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from references import jax, jnp

from gradwalk import grad, hessian, jit, lax, vmap

STARTS = [0, 1, 2, 3, 7, -1, -2, -9]  # of slices of length 2 in an axis of length 4


@pytest.fixture
def table() -> Any:
    return numpy.random.default_rng(1).normal(size=(4, 3))


CASES = {
    "slice": lambda lax, x, i: lax.dynamic_slice(x, (i, 1), (2, 2)),
    "in dim": lambda lax, x, i: lax.dynamic_slice_in_dim(x, i, 2),
    "in dim, last axis": lambda lax, x, i: lax.dynamic_slice_in_dim(x.T, i, 2, axis=-1),
    "index": lambda lax, x, i: lax.dynamic_index_in_dim(x, i),
    "index, without axis": lambda lax, x, i: lax.dynamic_index_in_dim(x.T, i, axis=1, keepdims=False),
    "empty": lambda lax, x, i: lax.dynamic_slice_in_dim(x, i, 0),
    "whole": lambda lax, x, i: lax.dynamic_slice_in_dim(x, i, 4),
}


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_are_those_of_jax(case, table):
    f = CASES[case]

    def total(lax: Any, x: Any, i: Any) -> Any:
        found = f(lax, x, i)
        return (found**3 * (1.0 + numpy.arange(found.size)).reshape(found.shape)).sum()

    recorded = jit(lambda x, i: f(lax, x, i))
    slopes = jit(grad(lambda x, i: total(lax, x, i)))
    jax_value = jax.jit(lambda x, i: f(jax.lax, x, i))
    jax_slopes = jax.jit(jax.grad(lambda x, i: total(jax.lax, x, i)))
    for start in STARTS:
        expected = jax_value(table, start)
        for found in (f(lax, table, start), recorded(table, start), recorded(table, float(start))):
            numpy.testing.assert_array_equal(found, expected)
        for found in (slopes(table, start), grad(lambda x, i=start: total(lax, x, i))(table)):
            numpy.testing.assert_allclose(found, jax_slopes(table, start), rtol=1e-13)
    assert recorded.statistics.recordings == 1
    batched = vmap(lambda i: f(lax, table, i))(numpy.array(STARTS, float))
    numpy.testing.assert_array_equal(batched, numpy.stack([f(lax, table, start) for start in STARTS]))


def test_windows_in_recorded_loops_are_those_of_jax(table):
    def windows(lax: Any, numbers: Any, x: Any) -> Any:
        def step(total: Any, i: Any) -> tuple[Any, Any]:
            window = lax.dynamic_slice_in_dim(x, i, 2)
            return total + (window * window).sum() * total, window

        return lax.scan(step, 1.0, numbers)

    def total(lax: Any, numbers: Any, x: Any) -> Any:
        last, found = windows(lax, numbers, x)
        return last + (found**3).sum()

    numbers = numpy.arange(5)
    expected = windows(jax.lax, jnp.asarray(numbers), jnp.asarray(table))
    for found in (windows(lax, numbers, table), jit(lambda x: windows(lax, numbers, x))(table)):
        for x, y in zip(found, expected, strict=True):
            numpy.testing.assert_allclose(x, y, rtol=1e-13)
    found = jit(hessian(lambda x: total(lax, numbers, x)))(table)
    expected = jax.hessian(lambda x: total(jax.lax, jnp.asarray(numbers), x))(jnp.asarray(table))
    numpy.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: lax.dynamic_slice_in_dim(x, 0, 5), "slice_size must be from 0 to 4, the length of axis 0, got 5"),
        (lambda x: lax.dynamic_slice_in_dim(x, 0, -1, axis=1), "from 0 to 3, the length of axis 1, got -1"),
        (lambda x: lax.dynamic_slice(x, (0,), (1, 1)), "one element per axis of the operand, which is 2, got 1 and 2"),
    ],
)
def test_errors_say_what_was_given(call, message, table):
    with pytest.raises(ValueError, match=message):
        call(table)
