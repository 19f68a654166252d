"""GradBench's `llsq`, from cmpad: the gradient of a linear least squares problem.

A polynomial with m coefficients x approximates sign(t) at n points t between -1 and 1. GradBench has 128 coefficients
and 16 to 16,392 points.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy
from peers import jax

from gradbench_problems import tapes
from gradbench_problems.base import Case, in_cpp, in_jax, recorded, slopes_in_torch, torch
from gradwalk import grad, vmap
from gradwalk import numpy as gnp


def residual(x: Any, t: Any) -> Any:
    """Return half the squared residual at a point."""
    total = x[-1]
    for c in x[-2::-1]:
        total = total * t + c
    return 0.5 * (gnp.sign(t) - total) ** 2


def cost_in_jax(n: int, x: Any) -> Any:
    """Return the cost in JAX."""
    j = jax().numpy
    t = -1 + 2 * j.arange(n) / (n - 1)
    return 0.5 * ((j.sign(t) - j.polyval(x[::-1], t, unroll=16)) ** 2).sum()


def cost_in_torch(n: int, x: Any) -> Any:
    """Return the cost in PyTorch, as a product with a Vandermonde matrix."""
    t = -1 + 2 * torch().arange(n) / (n - 1)
    return 0.5 * ((torch().sign(t) - torch().linalg.vander(t, N=len(x)) @ x) ** 2).sum()


def cases(quick: bool) -> Iterator[Case]:
    """Yield all sizes."""
    generator = numpy.random.default_rng(0)
    for n, m in [(16, 32)] if quick else [(16, 128), (1024, 128), (16_392, 128)]:
        x = generator.uniform(size=m)
        t = -1 + 2 * numpy.arange(n) / (n - 1)
        total = vmap(grad(residual), in_axes=(None, 0), reduce="sum")
        makers = {
            "gradwalk": recorded(total, x, t),
            "C++": in_cpp("llsq", [n, m, x], [m]),
            "JAX": in_jax(jax().grad(partial(cost_in_jax, n)), x),
            "PyTorch": slopes_in_torch(partial(cost_in_torch, n), 1, x),
        }
        makers |= tapes.makers(tapes.Tapes.gradient, "llsq", [n, m], x)
        yield Case("llsq", f"{n:,} places", makers)
