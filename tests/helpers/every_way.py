"""Compare a function of numbers with a closed form in JAX: value and two derivatives, in each way of running."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from references import jax

from gradwalk import Value, grad, hessian, jacfwd, jacrev, jit, vmap

Function = Callable[..., Any]


def in_every_way(f: Function, in_jax: Function, *args: float, tolerance: float = 1e-7) -> None:
    """Compare a scalar function with a closed form in JAX; `tolerance` is relative to the largest element."""
    positions = tuple(range(len(args)))
    derivatives = (in_jax, jax.grad(in_jax, positions), jax.hessian(in_jax, positions))
    value, first, second = (numpy.array(derivative(*args), float) for derivative in derivatives)

    def near(what: str, found: Any, expected: Any) -> None:
        scale = max(1.0, float(numpy.max(numpy.abs(expected))))
        numpy.testing.assert_allclose(numpy.array(found, float), expected, rtol=0, atol=tolerance * scale, err_msg=what)

    near("value", f(*args), value)
    leaves = [Value(x) for x in args]
    root = f(*leaves)
    near("value of a Value", root.data, value)
    root.backward()
    near("backward", [leaf.grad for leaf in leaves], first)
    for name, derivative, expected in (
        ("value", f, value),
        ("grad", grad(f, positions), first),
        ("jacfwd", jacfwd(f, positions), first),
        ("hessian", hessian(f, positions), second),
        ("reverse over forward", jacrev(jacfwd(f, positions), positions), second),
        ("reverse over reverse", jacrev(grad(f, positions), positions), second),
        ("forward over forward", jacfwd(jacfwd(f, positions), positions), second),
    ):
        near(name, derivative(*args), expected)
        recorded = jit(derivative)
        recorded(*[1.01 * x for x in args])  # other numbers, so that constants in the recording would be noticed
        near(f"jit {name}", recorded(*args), expected)
        lanes = [numpy.array([1.01 * x, x]) for x in args]
        in_batch = numpy.array(vmap(derivative)(*lanes), float)
        near(f"vmap {name}", in_batch[..., 1], expected)
