"""GradBench's `lse`: the gradient of log-sum-exp of many numbers.

The function must be composed of a maximum, exponentials and a sum; a built-in function with a known derivative is not
allowed. GradBench has 2,500 to 1,280,000 numbers between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
from peers import jax

from gradbench_problems import tapes
from gradbench_problems.base import Case, in_cpp, in_jax, recorded, slopes_in_torch, torch
from gradwalk import grad, math, vmap


def lse(x: Any) -> Any:
    """Return log-sum-exp in gradwalk."""
    most = vmap(lambda x: x, reduce="max")(x)
    return most + math.log(vmap(lambda m, x: math.exp(x - m), in_axes=(None, 0), reduce="sum")(most, x))


def lse_on_arrays(m: Any, x: Any) -> Any:
    """Return log-sum-exp in JAX or PyTorch."""
    most = m.amax(x)
    return most + m.log(m.exp(x - most).sum())


def cases(quick: bool) -> Iterator[Case]:
    """Yield all sizes."""
    generator = numpy.random.default_rng(0)
    for n in (500,) if quick else (2500, 80_000, 1_280_000):
        x = generator.uniform(size=n)
        makers = {
            "gradwalk": recorded(grad(lse), x),
            "C++": in_cpp("logsumexp", [n, x], [n]),
            "JAX": in_jax(jax().grad(lambda x: lse_on_arrays(jax().numpy, x)), x),
            "PyTorch": slopes_in_torch(lambda x: lse_on_arrays(torch(), x), 1, x),
        }
        makers |= tapes.makers(tapes.Tapes.gradient, "lse", [n], x)
        yield Case("lse", f"{n:,} numbers", makers)
