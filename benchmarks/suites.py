"""Problems from public benchmark suites: data-dependent loops, nested derivatives, and large sums.

All definitions are reimplemented from the suites: a particle aimed at a point and a saddle point, from work on nested
derivatives; an ODE from CppAD's speed tests; log-sum-exp; Newton directions for k-means; and the LSTM, the Gaussian
mixture and the bundle adjustment of ADBench. JAX runs the same functions, and C++ has handwritten derivatives. All
results must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import c_double, c_void_p
from functools import partial
from typing import Any, NamedTuple

import numpy
from peers import cpp, jax, on_one_core
from timing import Row, at_most, best_of, main, seconds, warmed_up, within

from gradwalk import grad, jacobian, jit, jvp, loops, math, value_and_grad, vmap
from gradwalk import numpy as gnp

Run = Callable[[], Any]


class Library(NamedTuple):
    """The functions of gradwalk or JAX that the problems use."""

    math: Any  # exp, sqrt, where on numbers
    arrays: Any  # the same functions on arrays
    while_loop: Any
    scan: Any
    grad: Any
    value_and_grad: Any
    outer: Any  # value_and_grad through while_loop, which JAX only differentiates in forward mode
    stack: Any
    concatenate: Any
    jacobian: Any
    inverse_root: Any  # 1 / sqrt(x), in the fastest form


def of_jax() -> Library:
    """Return the functions of JAX."""
    j = jax()

    def outer(f: Any, argnums: Any) -> Any:
        slopes = j.jacfwd(f, argnums)
        return lambda *args: (f(*args), slopes(*args))

    derivatives = j.grad, j.value_and_grad, outer
    arrays = j.numpy.stack, j.numpy.concatenate
    return Library(j.numpy, j.numpy, j.lax.while_loop, j.lax.scan, *derivatives, *arrays, j.jacrev, lambda x: x**-0.5)


DERIVATIVES, ARRAYS = (grad, value_and_grad, value_and_grad), (numpy.stack, numpy.concatenate)
OURS = Library(math, numpy, loops.while_loop, loops.scan, *DERIVATIVES, *ARRAYS, jacobian, lambda x: 1.0 / math.sqrt(x))


def with_slope(f: Any, _: int) -> Any:
    """Return a function that computes the value and the derivative of a function of one number, in forward mode."""
    return lambda x: jvp(f, (x,), (1.0,))


# A particle


def crossing(m: Library, w: Any) -> Any:
    """Return the squared position where a particle repelled by two charges crosses the axis; `w` moves a charge."""
    dt = 0.1

    def potential(x: Any, y: Any) -> Any:
        squares = (x - 10) ** 2 + (y - 10 + w) ** 2, (x - 10) ** 2 + y**2
        return sum(map(m.inverse_root, squares))

    slopes = m.grad(potential, argnums=(0, 1))

    def step(state: Any) -> Any:
        x, y, vx, vy = state
        ax, ay = slopes(x, y)
        return x + dt * vx, y + dt * vy, vx - dt * ax, vy - dt * ay

    x, y, vx, vy = m.while_loop(lambda s: s[1] + dt * s[3] > 0, step, (0.0, 8.0, 0.75, 0.0))
    return (x - y / vy * vx) ** 2


def aimed(m: Library, w: Any) -> Any:
    """Find the best `w` by Newton's method."""

    def of_w(w: Any) -> Any:
        return m.outer(partial(crossing, m), 0)(w)[1]

    def step(state: Any) -> Any:
        w, _ = state
        slope, bend = m.outer(of_w, 0)(w)
        return w - slope / bend, w

    return m.while_loop(lambda s: abs(s[0] - s[1]) > 1e-5, step, (w, w + 1.0))[0]


# A saddle point


def descended(m: Library, value_and_grad: Any, f: Any, start: Any) -> Any:
    """Minimize f of two numbers; the step doubles after ten improvements and halves after a failure."""
    slopes = value_and_grad(f, (0, 1))
    where = m.math.where

    def step(state: Any) -> Any:
        x, y, fx, gx, gy, eta, count, _ = state
        a, b = x - eta * gx, y - eta * gy
        fa, (ga, gb) = slopes(a, b)
        doubles = count >= 10.0
        ends = where(doubles, 0.0, where(m.math.sqrt((a - x) ** 2 + (b - y) ** 2) <= 1e-5, 1.0, 0.0))
        ends = where(m.math.sqrt(gx * gx + gy * gy) <= 1e-5, 1.0, ends)
        is_good = where(fa < fx, 1.0, 0.0)
        moves = where(doubles, 0.0, is_good) * (1.0 - ends) > 0.5
        eta = where(doubles, 2.0 * eta, where(is_good > 0.5, eta, 0.5 * eta))
        moved = [where(moves, new, old) for new, old in ((a, x), (b, y), (fa, fx), (ga, gx), (gb, gy))]
        return *moved, eta, where(moves, count + 1.0, 0.0), ends

    value, (gx, gy) = slopes(*start)
    return m.while_loop(lambda s: s[7] < 0.5, step, (*start, value, gx, gy, 1e-5, 0.0, 0.0))[:2]


def saddle(m: Library, x: Any, y: Any) -> Any:
    """Minimize the maximum over a and b of x² + y² - a² - b², over x and y."""

    def largest(x: Any, y: Any) -> Any:
        return descended(m, m.value_and_grad, lambda a, b: a * a + b * b - (x * x + y * y), start)

    def most(x: Any, y: Any) -> Any:
        a, b = largest(x, y)
        return x * x + y * y - (a * a + b * b)

    start = (x, y)
    least = descended(m, m.outer, most, start)
    return *least, *largest(*least)


# An ordinary differential equation


def last_state(m: Library, steps: int, x: Any) -> Any:
    """Return the last component of y' = (x[0], x[1] y[0], x[2] y[1], ...) after one unit of time, by Runge-Kutta."""
    h = 1.0 / steps

    def slope(y: Any) -> Any:
        return m.stack([x[0], *(x[i] * y[i - 1] for i in range(1, len(x)))])

    def step(y: Any, _: Any) -> Any:
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        return y + h / 6 * k1 + h / 3 * k2 + h / 3 * k3 + h / 6 * k4, None

    return m.scan(step, m.arrays.zeros(len(x)), None, length=steps)[0][-1]


# An LSTM

LAYERS, LETTERS = 2, 14


def objective(m: Library, weights: Any, extra: Any, state: Any, sequence: Any) -> Any:
    """Return how well the layers predict each letter of a sequence from the previous ones."""
    b = LETTERS

    def squashed(x: Any) -> Any:
        return 1.0 / (1.0 + m.arrays.exp(-x))

    def layer(w: Any, bias: Any, h: Any, c: Any, x: Any) -> tuple[Any, Any]:
        forget, out = squashed(x * w[:b] + bias[:b]), squashed(x * w[2 * b : 3 * b] + bias[2 * b : 3 * b])
        enter, change = squashed(h * w[b : 2 * b] + bias[b : 2 * b]), m.arrays.tanh(h * w[3 * b :] + bias[3 * b :])
        c = c * forget + enter * change
        return out * m.arrays.tanh(c), c

    def step(carry: Any, letters: Any) -> Any:
        state, total = carry
        x, golden = letters[0] * extra[0], letters[1]
        after = []
        for i in range(0, len(weights), 2):
            x, c = layer(weights[i], weights[i + 1], state[i], state[i + 1], x)
            after += [x, c]
        y = x * extra[1] + extra[2]
        y = y - m.arrays.log(m.arrays.exp(y).sum() + 2.0)
        return (m.stack(after), total + (golden * y).sum()), None

    (_, total), _ = m.scan(step, (state, 0.0), (sequence[:-1], sequence[1:]))
    return -total / (b * (len(sequence) - 1))


# k-means


def cost(centers: Any, point: Any) -> Any:
    """Return the squared distance of a point from the nearest center."""
    nearest = gnp.argmin(((centers - point) ** 2).sum(axis=1))
    return sum((math.take(list(column), nearest) - x) ** 2 for column, x in zip(centers.T, point, strict=True))


def directions(*, contract: bool = False) -> Callable[[Any, Any], Any]:
    """Return a function that computes the negative gradient divided by the diagonal of the Hessian."""

    def both(centers: Any, point: Any) -> Any:
        return jvp(lambda c: grad(cost)(c, point), (centers,), (numpy.ones(centers.shape),))

    summed = jit(vmap(both, in_axes=(None, 0), reduce="sum"), contract=contract)

    def found(centers: Any, points: Any) -> Any:
        gradient, diagonal = summed(centers, points)
        return -gradient / diagonal

    return found


def directions_in_jax() -> Callable[[Any, Any], Any]:
    """Return the same function in JAX."""
    j = jax()

    def total(centers: Any, points: Any) -> Any:
        return j.numpy.min(((points[:, None] - centers) ** 2).sum(2), axis=1).sum()

    def found(centers: Any, points: Any) -> Any:
        gradient, diagonal = j.jvp(lambda c: j.grad(total)(c, points), (centers,), (j.numpy.ones(centers.shape),))
        return -gradient / diagonal

    compiled = j.jit(found)
    return lambda centers, points: compiled(centers, points).block_until_ready()


# A mixture of Gaussians

GAMMA = 1.0  # parameter of the prior


def log_density(alphas: Any, means: Any, triangles: Any, point: Any) -> Any:
    """Return the log density at a point, up to constants.

    A row of `triangles` is a triangular root of an inverse covariance: the logarithms of its diagonal, then its columns
    below the diagonal.
    """
    d = len(point)
    away = point - means
    turned = numpy.exp(triangles[:, :d]) * away
    for j, begin in enumerate(numpy.cumsum([d, *range(d - 1, 1, -1)])):
        turned[:, j + 1 :] += triangles[:, begin : begin + d - 1 - j] * away[:, j : j + 1]
    return math.logsumexp(list(alphas + triangles[:, :d].sum(axis=1) - 0.5 * (turned**2).sum(axis=1)))


def likelihood(alphas: Any, means: Any, triangles: Any, points: Any) -> Any:
    """Return the log likelihood of points with a Wishart prior, up to constants."""
    densities = vmap(log_density, in_axes=(None, None, None, 0), reduce="sum")(alphas, means, triangles, points)
    d = means.shape[1]
    prior = 0.5 * GAMMA**2 * ((numpy.exp(triangles[:, :d]) ** 2).sum() + (triangles[:, d:] ** 2).sum())
    return densities - len(points) * math.logsumexp(list(alphas)) - prior


def likelihood_in_jax(alphas: Any, means: Any, triangles: Any, points: Any) -> Any:
    """Return the same likelihood in JAX, with matrix products."""
    j = jax()
    d = means.shape[1]
    columns, rows = numpy.triu_indices(d, 1)
    diagonal = j.numpy.exp(triangles[:, :d])
    roots = j.numpy.zeros((len(means), d, d)).at[:, rows, columns].set(triangles[:, d:])
    roots = roots.at[:, numpy.arange(d), numpy.arange(d)].set(diagonal)
    turned = j.numpy.einsum("kij,nkj->nki", roots, points[:, None] - means)
    terms = alphas + triangles[:, :d].sum(axis=1) - 0.5 * (turned**2).sum(axis=2)
    lse = j.scipy.special.logsumexp
    prior = 0.5 * GAMMA**2 * ((diagonal**2).sum() + (triangles[:, d:] ** 2).sum())
    return lse(terms, axis=1).sum() - len(points) * lse(alphas) - prior


# A bundle adjustment


def residuals(m: Library, camera: Any, point: Any, weight: Any, seen: Any) -> Any:
    """Return the two reprojection errors of a point seen by a camera."""
    r, x = camera[:3], point - camera[3:6]
    square = (r * r).sum()
    turns = square > 0.0
    safe = m.math.where(turns, square, 1.0)
    angle = m.math.sqrt(safe)
    a, b = (
        m.math.where(turns, m.math.sin(angle) / angle, 1.0),
        m.math.where(turns, (1.0 - m.math.cos(angle)) / safe, 0.5),
    )
    cosine = m.math.where(turns, m.math.cos(angle), 1.0)
    across = m.stack([r[1] * x[2] - r[2] * x[1], r[2] * x[0] - r[0] * x[2], r[0] * x[1] - r[1] * x[0]])
    turned = cosine * x + a * across + b * (r * x).sum() * r
    u = turned[:2] / turned[2]
    far = (u * u).sum()
    bent = u * (1.0 + far * (camera[9] + far * camera[10]))
    return weight * (camera[6] * bent + camera[7:9] - seen)


def with_slopes(m: Library) -> Any:
    """Return a function that computes the residuals and their derivatives with respect to all fifteen parameters."""
    f = partial(residuals, m)
    slopes = m.jacobian(f, (0, 1, 2))

    def both(camera: Any, point: Any, weight: Any, seen: Any) -> Any:
        by_camera, by_point, by_weight = slopes(camera, point, weight, seen)
        return f(camera, point, weight, seen), m.concatenate([by_camera, by_point, m.stack([by_weight]).T], 1)

    return both


def bundle(batched: Any) -> Any:
    """Return a function that computes all residuals and derivatives, with a camera and a point per observation."""

    def found(cameras: Any, points: Any, weights: Any, seen: Any, camera: Any, point: Any) -> Any:
        return batched(cameras[camera], points[point], weights, seen)

    return found


def bundle_in_place(of_one: Any, *shapes: Any, contract: bool = False) -> Any:
    """Return the same function in gradwalk, which reuses result arrays of these shapes, as C++ does."""
    batched, many = jit(vmap(of_one), contract=contract), shapes[0][0]
    of_cameras, of_points = numpy.empty((many, 11)), numpy.empty((many, 3))
    out = tuple(map(numpy.empty, shapes))

    def found(cameras: Any, points: Any, weights: Any, seen: Any, camera: Any, point: Any) -> Any:
        numpy.take(cameras, camera, axis=0, out=of_cameras, mode="clip")  # mode="raise" would make a copy
        numpy.take(points, point, axis=0, out=of_points, mode="clip")
        return batched(of_cameras, of_points, weights, seen, out=out)

    return found


# The problems


class Problem(NamedTuple):
    """A benchmark problem. `make` builds gradwalk's function, so that recording can be timed.

    gradwalk may take `times` as long as C++, and 1.5 times as long as other peers.
    """

    name: str
    make: Callable[[], Run]
    peers: dict[str, Run]
    times: float = 1.5


def in_cpp(name: str, given: Sequence[Any], sizes: Sequence[int]) -> Run:
    """Run a function of `cpp/suites.cpp`, which writes to its last arguments, arrays of these sizes."""
    function = getattr(cpp("suites"), name)
    found = [numpy.zeros(size) for size in sizes]
    kept = [numpy.ascontiguousarray(x) if isinstance(x, numpy.ndarray) else x for x in [*given, *found]]
    arguments = [c_void_p(x.ctypes.data) if isinstance(x, numpy.ndarray) else x for x in kept]

    def run() -> Any:
        function(*arguments)
        return kept[len(given) :]

    return run


def compiled(f: Any, *given: Any) -> Run:
    """Compile a function in JAX."""
    j = jax()
    run, arrays = j.jit(f), [j.numpy.asarray(x) for x in given]
    return lambda: j.block_until_ready(run(*arrays))


def recorded(f: Any, *given: Any) -> Callable[[], Run]:
    """Return a function that jits `f` in gradwalk; recording happens at the first call."""
    return lambda: partial(jit(f), *given)


def with_loops(quick: bool) -> list[Problem]:
    """Return the problems with data-dependent loops, and the ODE."""
    other, library = of_jax(), cpp("suites")
    library.particle.restype, library.particle.argtypes = c_double, [c_double]
    steps = 100 if quick else 1000
    x = numpy.random.default_rng(0).uniform(0.5, 1.5, 5)
    ode: dict[str, Run] = {
        "JAX": compiled(other.grad(partial(last_state, other, steps)), x),
        "C++": in_cpp("ode", [len(x), steps, x], [len(x)]),
    }
    return [
        Problem(
            "particle",
            recorded(partial(aimed, OURS._replace(outer=with_slope)), 0.0),  # in forward mode, as in JAX and C++
            {"JAX": compiled(partial(aimed, other), 0.0), "C++": partial(library.particle, 0.0)},
        ),
        Problem(
            "saddle point",
            recorded(partial(saddle, OURS), 1.0, 1.0),
            {"JAX": compiled(partial(saddle, other), 1.0, 1.0), "C++": in_cpp("saddle", [numpy.ones(2)], [4])},
        ),
        Problem(f"ODE of {steps:,} steps", recorded(grad(partial(last_state, OURS, steps)), x), ode),
    ]


def with_sums(quick: bool) -> list[Problem]:
    """Return the problems with sums over many samples or letters."""
    j, other = jax(), of_jax()
    generator = numpy.random.default_rng(0)
    sample = generator.normal(size=6_400 if quick else 640_000)
    points, centers = generator.normal(size=(1_000 if quick else 10_000, 5)), generator.normal(size=(20, 5))
    sequence = numpy.eye(LETTERS)[generator.integers(0, LETTERS, 64 if quick else 1024)]
    weights, extra, state = (0.3 * generator.normal(size=(n, LETTERS)) for n in (16, 3, 2 * LAYERS))
    given = (weights.reshape(2 * LAYERS, -1), extra, state, sequence)
    logsumexp: dict[str, Run] = {
        "JAX": compiled(j.grad(j.scipy.special.logsumexp), sample),
        "C++": in_cpp("logsumexp", [len(sample), sample], [len(sample)]),
    }
    kmeans: dict[str, Run] = {
        "JAX": partial(directions_in_jax(), *map(j.numpy.asarray, (centers, points))),
        "C++": in_cpp("kmeans", [len(points), *centers.shape, points, centers], [centers.size]),
    }
    ours, theirs = (m.grad(partial(objective, m), argnums=(0, 1)) for m in (OURS, other))
    lstm: dict[str, Run] = {
        "JAX": compiled(theirs, *given),
        "C++": in_cpp("lstm", [len(sequence), *given], [weights.size, extra.size]),
    }
    total = grad(vmap(lambda x: x, reduce="logsumexp"))
    return [
        Problem(f"log-sum-exp of {len(sample):,} numbers", recorded(total, sample), logsumexp),
        Problem(f"k means of {len(points):,} points", lambda: partial(directions(), centers, points), kmeans),
        Problem(f"LSTM of {len(sequence):,} letters", recorded(ours, *given), lstm),
    ]


def with_samples(quick: bool) -> list[Problem]:
    """Return ADBench's Gaussian mixture (d=10, k=50, 1,000 points) and its smallest bundle adjustment."""
    j, other = jax(), of_jax()
    generator = numpy.random.default_rng(0)
    k, d, n = (5, 3, 20) if quick else (50, 10, 1000)
    alphas, means, triangles, points = (generator.normal(size=s) for s in (k, (k, d), (k, d * (d + 1) // 2), (n, d)))
    mixture = alphas, means, triangles
    gaussians: dict[str, Run] = {
        "JAX": compiled(j.grad(likelihood_in_jax, (0, 1, 2)), *mixture, points),
        "C++": in_cpp("gaussians", [n, k, d, points, *mixture, c_double(GAMMA)], [part.size for part in mixture]),
    }
    few, many, total = (3, 20, 40) if quick else (49, 7776, 31843)
    middle, spread = [0.0] * 6 + [1.0] + [0.0] * 4, [0.3] * 3 + [1.0] * 4 + [0.1] * 4
    given = (
        generator.normal(middle, spread, (few, 11)),
        generator.normal([0.0, 0.0, 8.0], 1.0, (many, 3)),
        generator.uniform(0.5, 1.5, total),
        generator.normal(size=(total, 2)),
        generator.integers(0, few, total),
        generator.integers(0, many, total),
    )
    bundles: dict[str, Run] = {
        "JAX": compiled(bundle(j.vmap(with_slopes(other))), *given),
        "C++": in_cpp("bundle", [total, *given], [2 * total, 30 * total]),
    }
    return [
        Problem(
            f"{k} Gaussians, {n:,} points", recorded(grad(likelihood, (0, 1, 2)), *mixture, points), gaussians, 0.2
        ),
        Problem(
            f"bundle of {total:,} observations",
            lambda: partial(bundle_in_place(with_slopes(OURS), (total, 2), (total, 2, 15)), *given),
            bundles,
            0.6,
        ),
    ]


def flat(result: Any) -> Any:
    """Return the numbers of a result as one array."""
    parts = result if isinstance(result, (tuple, list)) else [result]
    return numpy.concatenate([numpy.asarray(part, float).ravel() for part in parts])


def rows_of(problem: Problem, turns: int) -> list[Row]:
    """Return the rows of one problem."""
    run = problem.make()
    expected = flat(run())
    for name, of_peer in problem.peers.items():
        assert numpy.allclose(flat(of_peer()), expected, rtol=1e-6, atol=1e-9), (problem.name, name)
    if turns > 1:
        warmed_up(run)
    times = best_of(turns, {"gradwalk": run, **problem.peers})
    first = min(seconds(problem.make()) for _ in range(3))
    us = {name: 1e6 * time for name, time in times.items()}
    rows = [
        within(problem.name, "us", us["gradwalk"], (name, us[name]), problem.times if name == "C++" else 1.5)
        for name in sorted(problem.peers, key=us.__getitem__)
    ]
    return [*rows, at_most(f"{problem.name}, recording", "ms", 1e3 * (first - times["gradwalk"]), 50.0)]


def measure(quick: bool) -> list[Row]:
    """Return the rows of the table of claims."""
    on_one_core()
    return [
        row
        for problem in [*with_loops(quick), *with_sums(quick), *with_samples(quick)]
        for row in rows_of(problem, 1 if quick else 5)
    ]


if __name__ == "__main__":
    main(measure)
