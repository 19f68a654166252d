"""GradBench's `gmm`, from ADBench: the gradient of the log likelihood of a Gaussian mixture.

The k Gaussians in d dimensions have weights (as logarithms), means, and roots of inverse covariances, with a Wishart
prior. GradBench has 1,000 points, 2 to 64 dimensions and 5 to 100 Gaussians. All numbers are random.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_double
from typing import Any

import numpy
from peers import jax
from suites import GAMMA, likelihood, likelihood_in_jax

from gradbench_problems import tapes
from gradbench_problems.base import Case, in_cpp, in_jax, recorded, slopes_in_torch, torch
from gradwalk import grad


def likelihood_in_torch(alphas: Any, means: Any, triangles: Any, points: Any) -> Any:
    """Return the log likelihood in PyTorch, with matrix products."""
    t = torch()
    k, d = means.shape
    columns, rows = numpy.triu_indices(d, 1)
    places = t.as_tensor(numpy.concatenate([numpy.arange(d) * (d + 1), rows * d + columns]))
    diagonal = t.exp(triangles[:, :d])
    entries = t.cat([diagonal, triangles[:, d:]], 1)
    roots = t.zeros(k, d * d).index_copy(1, places, entries).reshape(k, d, d)
    turned = t.baddbmm(-(roots @ means[:, :, None]), roots, points.T.expand(k, -1, -1))
    terms = alphas + triangles[:, :d].sum(1) - 0.5 * (turned**2).sum(1).T
    prior = 0.5 * GAMMA**2 * (entries**2).sum()
    return t.logsumexp(terms, 1).sum() - len(points) * t.logsumexp(alphas, 0) - prior


def cases(quick: bool) -> Iterator[Case]:
    """Yield all sizes."""
    generator = numpy.random.default_rng(0)
    for n, d, k in [(20, 3, 5)] if quick else [(1000, 2, 5), (1000, 10, 50), (1000, 64, 100)]:
        alphas, means = generator.normal(size=k), generator.uniform(size=(k, d))
        triangles = generator.normal(size=(k, d * (d + 1) // 2)) / numpy.sqrt(d)
        points = generator.normal(size=(n, d))
        given = alphas, means, triangles, points
        shapes = [x.shape for x in given[:3]]
        makers = {
            "gradwalk": recorded(grad(likelihood, (0, 1, 2)), *given),
            "C++": in_cpp("gmm", [n, k, d, points, *given[:3], c_double(GAMMA)], shapes),
            "JAX": in_jax(jax().grad(likelihood_in_jax, (0, 1, 2)), *given),
            "PyTorch": slopes_in_torch(likelihood_in_torch, 3, *given),
        }
        numbers = numpy.concatenate([x.ravel() for x in given[:3]])
        makers |= tapes.makers(tapes.Tapes.sums, "gmm", [n, k, d], numbers, points)
        yield Case("gmm", f"{k} Gaussians, {d} dimensions", makers)
