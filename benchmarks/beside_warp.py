"""The jobs of `beside.py` in NVIDIA Warp, on the CPU. Importing this module imports Warp."""

# mypy: ignore-errors
# The annotations of kernels are Warp's types, not Python's. Warp reads them when a kernel is defined, so this module
# does not postpone the evaluation of annotations.

from collections.abc import Callable
from typing import Any

import asian
import numpy
import warp as wp
from beside_peers import LORENZ, POINT, Data

Run = Callable[[], Any]

f64 = wp.float64
Row = wp.array(dtype=wp.float64)
Matrix = wp.array2d(dtype=wp.float64)


@wp.kernel
def expression(x: Row, out: Row) -> None:
    """Compute the expression in micrograd's README."""
    a, b = x[0], x[1]
    up = wp.max(b + a, f64(0.0))
    down = wp.max(b - a, f64(0.0))
    c = f64(4.0) * (a + b) + f64(3.0) - a
    d = f64(12.0) * (a * b + b * b * b) + f64(4.0) * up + down
    f = (c - d) * (c - d)
    out[0] = f / f64(2.0) + f64(10.0) / f


@wp.kernel
def lorenz(p: Row, states: Matrix, steps: int, out: Row) -> None:
    """Compute all states of the loop; the first ones are given."""
    dt = f64(0.002)
    states[0, 0] = p[0]
    states[0, 1] = p[1]
    states[0, 2] = p[2]
    for i in range(steps):
        x = states[i, 0]
        y = states[i, 1]
        z = states[i, 2]
        states[i + 1, 0] = x + dt * (p[3] * (y - x))
        states[i + 1, 1] = y + dt * (x * (p[4] - z) - y)
        states[i + 1, 2] = z + dt * (x * y - p[5] * z)
    out[0] = states[steps, 0]


@wp.kernel
def totals(market: Row, cumulated: Matrix, total: Row) -> None:
    """Compute the sum of the prices of each path."""
    path = wp.tid()
    dt = market[4] / f64(252.0)
    drift = (market[2] - market[3] * market[3] / f64(2.0)) * dt
    diffusion = market[3] * wp.sqrt(dt)
    start = wp.log(market[0])
    prices = f64(0.0)
    for step in range(cumulated.shape[0]):
        prices += wp.exp(start + drift * f64(step + 1) + diffusion * cumulated[step, path])
    total[path] = prices


@wp.kernel
def payoffs(market: Row, total: Row, out: Row) -> None:
    """Add the discounted payoffs."""
    path = wp.tid()
    pay = wp.max(total[path] / f64(252.0) - market[1], f64(0.0))
    wp.atomic_add(out, 0, wp.exp(-market[2] * market[4]) * pay / f64(total.shape[0]))


@wp.kernel
def products(weights: Matrix, samples: Matrix, sums: Matrix) -> None:
    """Compute the product of samples and weights, an element in each thread."""
    i, j = wp.tid()
    total = f64(0.0)
    for k in range(samples.shape[1]):
        total += samples[i, k] * weights[k, j]
    sums[i, j] = total


@wp.kernel
def squares(sums: Matrix, out: Row) -> None:
    """Add the squares of the hyperbolic tangents, a row in each thread."""
    i = wp.tid()
    for j in range(sums.shape[1]):
        each = wp.tanh(sums[i, j])
        wp.atomic_add(out, 0, each * each / f64(sums.shape[0] * sums.shape[1]))


def zeros(*shape: int) -> Any:
    """Return an array with a gradient."""
    return wp.zeros(shape, dtype=f64, device="cpu", requires_grad=True)


def constant(numbers: Any) -> Any:
    """Return an array without a gradient."""
    return wp.array(numbers, dtype=f64, device="cpu")


def gradient(numbers: Any, launches: Callable[[Any, Any], None]) -> Run:
    """Return a run of kernels that add to a number, and of their adjoints; the arrays are made once."""
    x = wp.array(numbers, dtype=f64, device="cpu", requires_grad=True)

    def run() -> Any:
        out = zeros(1)
        x.grad.zero_()
        with wp.Tape() as tape:
            launches(x, out)
        tape.backward(out)
        return out.numpy()[0], x.grad.numpy()

    return run


def launch(kernel: Any, dim: Any, *arguments: Any) -> None:
    """Launch a kernel on the CPU."""
    wp.launch(kernel, dim=dim, inputs=list(arguments), device="cpu")


def loop(steps: int) -> Run:
    """Return the gradient of the loop."""

    def launches(x: Any, out: Any) -> None:
        launch(lorenz, 1, x, zeros(steps + 1, 3), steps, out)

    return gradient(LORENZ, launches)


def paths(shocks: Any) -> Run:
    """Return the gradient of the Asian option."""
    cumulated = constant(asian.step_by_step(shocks).cumsum(0))

    def launches(market: Any, out: Any) -> None:
        total = zeros(len(shocks))
        launch(totals, len(shocks), market, cumulated, total)
        launch(payoffs, len(shocks), market, total, out)

    return gradient(asian.MARKET, launches)


def layer(weights: Any, samples: Any) -> Run:
    """Return the gradient of the layer."""
    given, shape = constant(samples), (len(samples), weights.shape[1])

    def launches(x: Any, out: Any) -> None:
        sums = zeros(*shape)
        launch(products, shape, x, given, sums)
        launch(squares, len(samples), sums, out)

    return gradient(weights, launches)


def jobs(data: Data) -> dict[str, Callable[[], Run]]:
    """Return the jobs. All kernels are compiled at the first launch of one of them."""
    wp.config.log_level = wp.LOG_ERROR
    wp.init()
    return {
        "expression": lambda: gradient(numpy.array(POINT), lambda x, out: launch(expression, 1, x, out)),
        "loop": lambda: loop(data.steps),
        "paths": lambda: paths(data.shocks),
        "layer": lambda: layer(data.weights, data.samples),
    }
