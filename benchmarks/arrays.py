"""Gradients of functions of large arrays, which gradwalk records as single operands, on one core.

The functions are written once and run by gradwalk and JAX. Their results must agree.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy reads it when it is imported; its threads would wait for each other

import numpy
from peers import jax, on_one_core
from timing import Row, at_most, beside, best_of, faster, in_fresh_process, main, seconds, warmed_up

import gradwalk
from gradwalk import grad, jit, loops, math
from gradwalk import numpy as gnp
from gradwalk.scipy.linalg import solve_triangular


class Library(NamedTuple):
    """The functions of gradwalk or JAX that the problems use."""

    numpy: Any
    logsumexp: Any
    grad: Any
    fori_loop: Any
    lower_solution: Any  # of a system with a lower triangular matrix


_OURS = Library(gnp, math.logsumexp, grad, loops.fori_loop, partial(solve_triangular, lower=True))


class Problem(NamedTuple):
    """A function to differentiate with respect to its first argument.

    Attributes:
        name: The name of the row.
        function: Takes a `Library` and the arguments.
        arguments: The arguments.
        transform: The name of the derivative.
    """

    name: str
    function: Callable[..., Any]
    arguments: Sequence[Any]
    transform: str = "grad"


def waves(m: Library, x: Any) -> Any:
    """Add up an elementwise function."""
    return m.numpy.exp(m.numpy.sin(x)).sum()


def total(m: Library, x: Any) -> Any:
    """Return the logarithm of a sum of exponentials."""
    return m.logsumexp(x)


def classification(m: Library, w: Any, features: Any, labels: Any) -> Any:
    """Return the negative log-likelihood of a logistic regression."""
    scores = features @ w
    return (m.numpy.log(1.0 + m.numpy.exp(-scores * labels))).mean()


def descent(m: Library, w: Any, features: Any, labels: Any) -> Any:
    """Return the same likelihood after ten steps of gradient descent, which are a loop."""
    slope = m.grad(lambda w: classification(m, w, features, labels))
    return classification(m, m.fori_loop(0, 10, lambda i, w: w - 0.5 * slope(w), w), features, labels)


def network(m: Library, weights: Any, features: Any, targets: Any) -> Any:
    """Return the cross-entropy of a network with one hidden layer."""
    first, second = weights
    scores = m.numpy.tanh(features @ first) @ second
    return (m.logsumexp(scores, axis=1) - (scores * targets).sum(axis=1)).mean()


def diffusion(m: Library, u: Any) -> Any:
    """Return the energy of neighbors in a row."""
    del m
    steps = u[1:] - u[:-1]
    return (steps * steps).sum() + (u * u).mean()


def springs(neighbors: Any) -> Callable[..., Any]:
    """Return a function that adds up the energies of springs between each mass and its neighbors, given by indices."""
    return lambda m, u: ((u[neighbors] - u[:, None]) ** 2).sum() + (m.numpy.roll(u, 1) * u).sum()


def process(m: Library, parameters: Any, distances: Any, targets: Any) -> Any:
    """Return the negative log-likelihood of a Gaussian process at points with these squared distances."""
    scale, length, noise = (m.numpy.exp(parameter) for parameter in parameters)
    covariance = scale * m.numpy.exp(-distances / length) + noise * numpy.eye(len(targets))
    factor = m.numpy.linalg.cholesky(covariance)
    half = m.lower_solution(factor, targets)
    return half @ half / 2.0 + m.numpy.log(m.numpy.diag(factor)).sum()


def components(m: Library, a: Any) -> Any:
    """Return a function of the squared eigenvectors of a symmetric matrix."""
    _, vectors = m.numpy.linalg.eigh(a + a.T)
    return m.numpy.sin(10.0 * vectors**2).sum()


def calibration(days: Any, prices: Any) -> Callable[..., Any]:
    """Return the squared errors of a model of prices, whose data are not arguments."""
    return lambda m, p: ((p[0] * m.numpy.exp(p[1] * days) + p[2] - prices) ** 2).mean()


def rod(m: Any, u: Any) -> Any:
    """Let heat flow along a rod for 20 steps, each of which adds to all elements but the first and the last."""
    for _ in range(20):
        u = with_sum(u, slice(1, -1), 0.3 * (u[2:] - 2.0 * u[1:-1] + u[:-2]))
    return (u * u).sum()


def with_sum(u: Any, part: slice, amounts: Any) -> Any:
    """Return an array with something added to a part. JAX's arrays cannot be changed in place."""
    if not isinstance(u, numpy.ndarray):
        return u.at[part].add(amounts)
    u = u.copy()
    u[part] += amounts
    return u


def problems(quick: bool) -> list[Problem]:
    """Return the problems."""
    generator = numpy.random.default_rng(0)
    many, rows, few = (20_000, 10_000, 1_000) if quick else (1_000_000, 200_000, 10_000)
    x, features = generator.normal(size=many), generator.normal(size=(rows, 5))
    labels = numpy.sign(features @ [1.0, -1.0, 0.5, 0.0, 2.0])
    images, digits = generator.normal(size=(few, 50)), numpy.eye(10)[generator.integers(0, 10, few)]
    weights = 0.1 * generator.normal(size=(50, 64)), 0.1 * generator.normal(size=(64, 10))
    neighbors = generator.integers(0, rows, (rows, 4))
    masses = generator.normal(size=rows)
    points = generator.uniform(0.0, 10.0, 120 if quick else 400)
    distances, targets = (points[:, None] - points) ** 2, numpy.sin(points)
    days = numpy.linspace(0.0, 1.0, rows)
    size = 70 if quick else 200
    square = generator.normal(size=(size, size))
    rates = calibration(days, numpy.exp(0.3 * days) + 0.01 * masses)
    return [
        Problem(f"sum of exp(sin(x)) of {many:,} numbers, gradient", waves, [x]),
        Problem(f"log-sum-exp of {many:,} numbers, gradient", total, [x]),
        Problem(f"differences of {many:,} neighbors, gradient", diffusion, [x]),
        Problem(f"springs to 4 neighbors of {rows:,} masses, gradient", springs(neighbors), [masses]),
        Problem(f"heat in a rod of {rows:,} cells, 20 steps, gradient", rod, [masses]),
        Problem(f"Gaussian process of {len(points)} points, gradient", process, [numpy.zeros(3), distances, targets]),
        Problem(f"eigenvectors of a matrix of {size} x {size}, gradient", components, [square]),
        Problem(f"calibration on {rows:,} prices from outside, gradient", rates, [numpy.ones(3)]),
        Problem(f"logistic regression on {rows:,} rows, gradient", classification, [numpy.zeros(5), features, labels]),
        Problem(f"calibration on {rows:,} prices from outside, Hessian", rates, [numpy.ones(3)], "hessian"),
        Problem(
            f"logistic regression on {rows:,} rows, Hessian",
            classification,
            [numpy.zeros(5), features, labels],
            "hessian",
        ),
        Problem(f"descent on {rows:,} rows, gradient", descent, [numpy.ones(5), features, labels]),
        Problem(f"network on {few:,} rows, gradient", network, [weights, images, digits]),
    ]


def first_call(name: str, quick: bool) -> tuple[float, float]:
    """Return the seconds of the first call in gradwalk and in JAX, in a process that has recorded another function."""
    j = jax()
    [problem] = [problem for problem in problems(quick) if problem.name == name]
    warm = numpy.linspace(0.0, 1.0, 20_000)
    jit(grad(lambda x: (x * x).sum()))(warm)
    j.block_until_ready(j.jit(j.grad(lambda x: (x * x).sum()))(warm))
    ours, theirs = of(problem)
    return seconds(ours), seconds(theirs)


def of(problem: Problem) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return a call of the derivative in gradwalk and in JAX. The first call records or compiles it."""
    j = jax()
    lower = partial(j.scipy.linalg.solve_triangular, lower=True)
    mine, its = _OURS, Library(j.numpy, j.scipy.special.logsumexp, j.grad, j.lax.fori_loop, lower)
    ours = jit(getattr(gradwalk, problem.transform)(lambda *args: problem.function(mine, *args)))
    theirs = j.jit(getattr(j, problem.transform)(lambda *args: problem.function(its, *args)))
    arrays = [j.tree_util.tree_map(j.numpy.asarray, x) for x in problem.arguments]
    return lambda: ours(*problem.arguments), lambda: j.block_until_ready(theirs(*arrays))


def measure(quick: bool) -> list[Row]:
    """Measure all claims."""
    on_one_core()
    rows = []
    for problem in problems(quick):
        ours, theirs = of(problem)
        for found, expected in zip(leaves(ours()), leaves(theirs()), strict=True):
            numpy.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)
        for run in () if quick else (ours, theirs):
            warmed_up(run)
        times = best_of(1 if quick else 3, {"gradwalk": ours, "JAX": theirs})
        rows.append(faster(problem.name, "us", 1e6 * times["gradwalk"], ("JAX", 1e6 * times["JAX"]), 1.0))
        first, of_jax = in_fresh_process(first_call, problem.name, quick)
        rows.append(at_most(f"{problem.name}, first call", "ms", 1e3 * first, 50.0))
        rows.append(beside(f"{problem.name}, first call", "ms", 1e3 * first, ("JAX", 1e3 * of_jax)))
    return rows


def leaves(gradient: Any) -> list[Any]:
    """Return the arrays of a gradient."""
    return list(gradient) if isinstance(gradient, tuple) else [gradient]


if __name__ == "__main__":
    main(measure)
