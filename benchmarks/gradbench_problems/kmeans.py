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


def in_jax_by_products(centers: Any, points: Any) -> Any:
    """Return the direction in JAX, which finds the nearest centers with a matrix product."""
    j = jax()
    nearest = j.numpy.argmin((centers**2).sum(1) - 2 * points @ centers.T, axis=1)

    def cost(centers: Any) -> Any:
        return ((points - centers[nearest]) ** 2).sum()

    gradient, diagonal = j.jvp(j.grad(cost), (centers,), (j.numpy.ones_like(centers),))
    return -gradient / diagonal


def in_torch_by_products(centers: Any, points: Any) -> Any:
    """Return the same direction in PyTorch."""
    t = torch()
    nearest = t.addmm((centers**2).sum(1), points, centers.T, alpha=-2).argmin(1)
    centers = centers.detach().requires_grad_()
    cost = ((points - centers.index_select(0, nearest)) ** 2).sum()
    (gradient,) = t.autograd.grad(cost, centers, create_graph=True)
    (diagonal,) = t.autograd.grad(gradient.sum(), centers)
    return (-gradient / diagonal).detach()


def on_tape(tape: tapes.Tapes, centers: Any, points: Any) -> Run:
    """Return the direction on a tape of the squared distances between each point and a separate copy of its center."""
    both = tape.seconds("kmeans", points.ravel())

    def run() -> Any:
        nearest = numpy.argmin((centers**2).sum(1) - 2 * points @ centers.T, axis=1)
        found = both(centers[nearest].ravel()).reshape(2, *points.shape)
        sums = numpy.zeros((2, *centers.shape))
        for total, parts in zip(sums, found, strict=True):
            numpy.add.at(total, nearest, parts)
        return -sums[0] / sums[1]

    return run


def recorded(centers: Any, points: Any, *, contract: bool = False) -> Run:
    """Return the direction in gradwalk, recorded at its first call."""
    return partial(directions(contract=contract), centers, points)


def cases(quick: bool) -> Iterator[Case]:
    """Yield all sizes."""
    generator = numpy.random.default_rng(0)
    for k, n, d in [(5, 100, 4)] if quick else [(10, 1000, 8), (100, 10_000, 8), (1000, 100_000, 16)]:
        points = generator.uniform(size=(n, d))
        centers = points[-k:].copy()
        makers: dict[str, Maker] = {
            "gradwalk": partial(recorded, centers, points),
            "C++": in_cpp("kmeans", [n, k, d, points, centers], [(k, d)]),
            "JAX": in_jax(in_jax_by_products, centers, points),
            "PyTorch": in_torch(in_torch_by_products, centers, points),
        }
        makers |= tapes.makers(on_tape, centers, points)
        yield Case("kmeans", f"{k:,} centers, {n:,} points, {d} dimensions", makers)
