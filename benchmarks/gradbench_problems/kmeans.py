"""GradBench's `kmeans`: the Newton direction for the centers of clusters.

The cost is the sum over all points of the squared distance to the nearest center. Its Hessian is diagonal. The result
is the gradient divided by this diagonal, which needs second derivatives. GradBench has 10 to 1,000 centers, 1,000 to
100,000 points, and 8 or 16 dimensions. The last points are the initial centers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy
from peers import jax
from suites import directions

from gradbench_problems import tapes
from gradbench_problems.base import Case, Maker, Run, in_cpp, in_jax, in_torch, torch


def in_jax_by_products(centres: Any, points: Any) -> Any:
    """Return the direction in JAX, which finds the nearest centers with a matrix product."""
    j = jax()
    nearest = j.numpy.argmin((centres**2).sum(1) - 2 * points @ centres.T, axis=1)

    def cost(centres: Any) -> Any:
        return ((points - centres[nearest]) ** 2).sum()

    gradient, diagonal = j.jvp(j.grad(cost), (centres,), (j.numpy.ones_like(centres),))
    return -gradient / diagonal


def in_torch_by_products(centres: Any, points: Any) -> Any:
    """Return the same direction in PyTorch."""
    t = torch()
    nearest = t.addmm((centres**2).sum(1), points, centres.T, alpha=-2).argmin(1)
    centres = centres.detach().requires_grad_()
    cost = ((points - centres.index_select(0, nearest)) ** 2).sum()
    (gradient,) = t.autograd.grad(cost, centres, create_graph=True)
    (diagonal,) = t.autograd.grad(gradient.sum(), centres)
    return (-gradient / diagonal).detach()


def on_tape(tape: tapes.Tapes, centres: Any, points: Any) -> Run:
    """Return the direction on a tape of the squared distances between each point and a separate copy of its center."""
    both = tape.seconds("kmeans", points.ravel())

    def run() -> Any:
        nearest = numpy.argmin((centres**2).sum(1) - 2 * points @ centres.T, axis=1)
        found = both(centres[nearest].ravel()).reshape(2, *points.shape)
        sums = numpy.zeros((2, *centres.shape))
        for total, parts in zip(sums, found, strict=True):
            numpy.add.at(total, nearest, parts)
        return -sums[0] / sums[1]

    return run


def recorded(centres: Any, points: Any) -> Run:
    """Return the direction in gradwalk, recorded at its first call."""
    return partial(directions(), centres, points)


def cases(quick: bool) -> Iterator[Case]:
    """Yield all sizes."""
    generator = numpy.random.default_rng(0)
    for k, n, d in [(5, 100, 4)] if quick else [(10, 1000, 8), (100, 10_000, 8), (1000, 100_000, 16)]:
        points = generator.uniform(size=(n, d))
        centres = points[-k:].copy()
        makers: dict[str, Maker] = {
            "gradwalk": partial(recorded, centres, points),
            "C++": in_cpp("kmeans", [n, k, d, points, centres], [(k, d)]),
            "JAX": in_jax(in_jax_by_products, centres, points),
            "PyTorch": in_torch(in_torch_by_products, centres, points),
        }
        makers |= tapes.makers(on_tape, centres, points)
        yield Case("kmeans", f"{k:,} centres, {n:,} points, {d} dimensions", makers)
