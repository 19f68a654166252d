"""Compare functions of gradwalk.numpy with jax.numpy: values and two derivatives, in each way of running."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from references import jax, jnp

import gradwalk.numpy as gnp
from gradwalk import Value, grad, hessian, jit, vmap

Function = Callable[..., Any]  # takes a module of functions, and arrays


def as_values(array: Any) -> Any:
    """Convert an array of numbers to an array of Values."""
    return numpy.array([Value(x) for x in array.ravel().tolist()], dtype=object).reshape(array.shape)


def numbers(result: Any) -> Any:
    """Convert an array of Values and floats to numbers."""
    array = numpy.asarray(result, dtype=object)
    flat = [x.data if isinstance(x, Value) else float(x) for x in array.ravel()]
    return numpy.array(flat).reshape(array.shape)


def loss(result: Any) -> Any:
    """Compute a nonlinear number from all elements of a result."""
    flat = numpy.asarray(result, dtype=object).ravel()
    return sum(numpy.cos(i) * (x + 0.5 * x * x) for i, x in enumerate(flat))


def _loss_in_jax(result: Any) -> Any:
    flat = jnp.ravel(result)
    return jnp.sum(jnp.cos(jnp.arange(flat.size)) * (flat + 0.5 * flat * flat))


def check(f: Function, *arrays: Any, tolerance: float = 1e-9) -> None:
    """Compare the value, the gradient and the Hessian of a function by its first array with JAX's."""

    def in_jax(x: Any, *others: Any) -> Any:
        return jnp.asarray(f(jnp, x, *others), dtype=float)

    def total(*xs: Any) -> Any:
        return loss(f(gnp, *xs))

    def total_in_jax(*xs: Any) -> Any:
        return _loss_in_jax(in_jax(*xs))

    derivatives = jax.jit(lambda *xs: (in_jax(*xs), jax.grad(total_in_jax)(*xs), jax.hessian(total_in_jax)(*xs)))
    value, first, second = map(numpy.asarray, derivatives(*arrays))
    others = [array + 0.25 * numpy.eye(*array.shape[:2]) if array.ndim == 2 else array + 0.25 for array in arrays]

    values = [as_values(array) for array in arrays]
    root = total(*values)
    root.backward()
    by_backward = numpy.array([v.grad for v in values[0].ravel()]).reshape(values[0].shape)
    compare("value", numbers(f(gnp, *values)), value, tolerance)
    compare("backward", by_backward, first, tolerance)
    for name, transform, expected in (
        ("value", lambda g: lambda *xs: f(gnp, *xs) + 0.0, value),
        ("grad", grad, first),
        ("hessian", hessian, second),
    ):
        function = transform(total)
        if name != "value":
            compare(name, function(*arrays), expected, tolerance)
        recorded = jit(function)
        recorded(*others)  # other numbers, so that constants in the recording would be noticed
        compare(f"jit {name}", recorded(*arrays), expected, tolerance)
        lanes = [numpy.stack(pair) for pair in zip(others, arrays, strict=True)]
        compare(f"vmap {name}", vmap(function)(*lanes)[1], expected, tolerance)
        assert recorded.program.calls == ()  # required for C and lanes


def compare(what: str, found: Any, expected: Any, tolerance: float) -> None:
    """Assert that numbers agree, up to a tolerance relative to the largest of them."""
    scale = numpy.max(numpy.abs(expected), initial=1.0, where=numpy.isfinite(expected))
    found = numpy.asarray(found, dtype=float)
    numpy.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale, err_msg=what)
