"""The jobs of `beside.py` in each library, tuned as its experts would.

A library is a function of `Data` that imports the library, runs something small with it, and returns a dict: for each
job that it can do, a function that prepares the job. What that returns computes all numbers of the job.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import asian
import numpy
from peers import jax
from timing import peer

from gradwalk import jit, loops, math, value_and_grad, vmap

Run = Callable[[], Any]
Jobs = dict[str, Callable[[], Run]]

POINT = (-4.0, 2.0)
LORENZ = numpy.array([1.0, 1.0, 20.0, 10.0, 28.0, 8.0 / 3.0])  # x, y, z, sigma, rho, beta
DT = 0.002


class Data(NamedTuple):
    """The inputs of the jobs: number of steps of the loop, shocks with one row for each path, weights, samples."""

    steps: int
    shocks: Any
    weights: Any
    samples: Any


def data(quick: bool) -> Data:
    """Return the inputs."""
    rng = numpy.random.default_rng(0)
    paths, size, samples = (2000, 32, 16) if quick else (20_000, 256, 128)
    weights = rng.standard_normal((size, size)) / numpy.sqrt(size)
    shocks = rng.standard_normal((paths, asian.STEPS))
    return Data(100 if quick else 1000, shocks, weights, rng.standard_normal((samples, size)))


def expression(a: Any, b: Any, relu: Callable[[Any], Any]) -> Any:
    """Return the expression in micrograd's README."""
    c, d = a + b, a * b + b**3
    c = c + (c + 1)
    c = c + (1 + c + (-a))
    d = d + (d * 2 + relu(b + a))
    d = d + (3 * d + relu(b - a))
    f = (c - d) ** 2
    return f / 2.0 + 10.0 / f


def lorenz(state: tuple[Any, Any, Any], parameters: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Return the state after a step of Euler's method."""
    (x, y, z), (sigma, rho, beta) = state, parameters
    return x + DT * (sigma * (y - x)), y + DT * (x * (rho - z) - y), z + DT * (x * y - beta * z)


def in_gradwalk(data: Data) -> Jobs:
    """Use `jit`, with a loop that is recorded as a loop, and batches."""
    import_module("asian_option")
    jit(vmap(value_and_grad(math.exp)))(numpy.ones(2))
    jit(value_and_grad(lambda x: loops.fori_loop(0, 2, lambda i, x: x * x, x)))(1.0)

    def loop(p: Any) -> Any:
        step = lambda i, state: lorenz(state, (p[3], p[4], p[5]))  # noqa: E731
        return loops.fori_loop(0, data.steps, step, (p[0], p[1], p[2]))[0]

    def expressions() -> Run:
        f = jit(value_and_grad(lambda a, b: expression(a, b, math.relu), (0, 1)))
        return lambda: f(*POINT)

    def final() -> Run:
        f = jit(value_and_grad(loop))
        return lambda: f(LORENZ)

    def layers() -> Run:
        one = value_and_grad(lambda weights, x: (numpy.tanh(x @ weights) ** 2).mean())
        f = jit(vmap(one, in_axes=(None, 0), reduce="mean"))
        return lambda: f(data.weights, data.samples)

    columns = asian.step_by_step(data.shocks)
    return {
        "expression": expressions,
        "loop": final,
        "paths": lambda: asian.replayed(columns, 1),
        "layer": layers,
    }


def in_micrograd(data: Data) -> Jobs:
    """Use Values, and no limit on recursion, because `backward` recurses as deep as the graph."""
    value = peer("micrograd.engine", "micrograd").Value
    sys.setrecursionlimit(10_000_000)

    def expressions() -> Run:
        def run() -> Any:
            a, b = map(value, POINT)
            g = expression(a, b, lambda x: x.relu())
            g.backward()
            return g.data, a.grad, b.grad

        return run

    def final() -> Run:
        def run() -> Any:
            p = [value(float(number)) for number in LORENZ]
            state = (p[0], p[1], p[2])
            for _ in range(data.steps):
                state = lorenz(state, (p[3], p[4], p[5]))
            state[0].backward()
            return [state[0].data, *(each.grad for each in p)]

        return run

    return {"expression": expressions, "loop": final}


def in_torch(data: Data) -> Jobs:
    """Use tensors of all samples, in blocks that fit the cache; a loop of small tensors has no better form."""
    torch = peer("torch", "torch")
    torch.set_num_threads(1)
    torch.ones((), requires_grad=True).square().backward()

    def expressions() -> Run:
        def run() -> Any:
            a, b = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in POINT)
            g = expression(a, b, torch.relu)
            g.backward()
            return g.item(), a.grad.item(), b.grad.item()

        return run

    def final() -> Run:
        def run() -> Any:
            p = torch.from_numpy(LORENZ).requires_grad_()
            x, y, z, *others = p.unbind()
            state = (x, y, z)
            for _ in range(data.steps):
                state = lorenz(state, (others[0], others[1], others[2]))
            state[0].backward()
            return state[0].item(), p.grad.numpy()

        return run

    def layers() -> Run:
        samples = torch.from_numpy(data.samples)

        def run() -> Any:
            weights = torch.from_numpy(data.weights).requires_grad_()
            loss = (torch.tanh(samples @ weights) ** 2).mean()
            loss.backward()
            return loss.item(), weights.grad.numpy()

        return run

    paths = lambda: asian.by_torch(data.shocks, 500)  # noqa: E731
    return {"expression": expressions, "loop": final, "paths": paths, "layer": layers}


def in_jax(data: Data) -> Jobs:
    """Use float64, `jit`, `scan` for loops, and blocks of paths that fit the cache."""
    j = jax()
    j.jit(lambda x: x + 1.0)(1.0).block_until_ready()

    def loop(p: Any) -> Any:
        step = lambda state, _: (lorenz(state, (p[3], p[4], p[5])), None)  # noqa: E731
        return j.lax.scan(step, (p[0], p[1], p[2]), None, length=data.steps)[0][0]

    def jitted(f: Any, *arguments: Any) -> Run:
        compiled, arguments = j.jit(f), tuple(map(j.numpy.asarray, arguments))
        return lambda: j.block_until_ready(compiled(*arguments))

    def expressions() -> Run:
        f = j.jit(j.value_and_grad(lambda a, b: expression(a, b, j.nn.relu), (0, 1)))
        return lambda: j.block_until_ready(f(*POINT))

    loss = lambda weights, x: (j.numpy.tanh(x @ weights) ** 2).mean()  # noqa: E731
    return {
        "expression": expressions,
        "loop": lambda: jitted(j.value_and_grad(loop), LORENZ),
        "paths": lambda: asian.jax_in_blocks(data.shocks, 1000),
        "layer": lambda: jitted(j.value_and_grad(loss), data.weights, data.samples),
    }


def in_casadi(data: Data) -> Jobs:
    """Use SX for scalars and the unrolled loop, `map` for paths, MX for matrices, and calls through buffers.

    A loop by `fold` is shorter to write, but slower.
    """
    ca = peer("casadi", "casadi")

    def called(function: Any, arguments: list[Any], shape: Any) -> Run:
        result = numpy.empty(shape)
        buffer = asian.CasadiBuffers(function, arguments, result)

        def run() -> Any:
            buffer.mean()
            return result

        return run

    def expressions() -> Run:
        x = ca.SX.sym("x", 2)
        g = expression(x[0], x[1], lambda each: ca.fmax(each, 0.0))
        f = ca.Function("f", [x], [ca.vertcat(g, ca.gradient(g, x))])
        return called(f, [numpy.array(POINT)], 3)

    def final() -> Run:
        x = ca.SX.sym("x", 6)
        state = (x[0], x[1], x[2])
        for _ in range(data.steps):
            state = lorenz(state, (x[3], x[4], x[5]))
        f = ca.Function("f", [x], [ca.vertcat(state[0], ca.gradient(state[0], x))])
        return called(f, [LORENZ.copy()], 7)

    def layers() -> Run:
        weights, samples = ca.MX.sym("weights", *data.weights.shape), ca.MX.sym("samples", *data.samples.shape)
        loss = ca.sumsqr(ca.tanh(samples @ weights)) / data.samples.size
        f = ca.Function("f", [weights, samples], [ca.vertcat(loss, ca.vec(ca.gradient(loss, weights)))])
        run = called(f, [data.weights.T.copy(), data.samples.T.copy()], 1 + data.weights.size)

        def reshaped() -> Any:
            result = run()
            return result[0], result[1:].reshape(data.weights.shape).T

        return reshaped

    return {
        "expression": expressions,
        "loop": final,
        "paths": lambda: asian.by_casadi(data.shocks)[0],
        "layer": layers,
    }


def in_autograd(data: Data) -> Jobs:
    """Use NumPy's functions on arrays of all samples, in blocks that fit the cache."""
    np, transform = peer("autograd.numpy", "autograd"), peer("autograd", "autograd").value_and_grad
    transform(np.sin)(1.0)

    def loop(p: Any) -> Any:
        state = (p[0], p[1], p[2])
        for _ in range(data.steps):
            state = lorenz(state, (p[3], p[4], p[5]))
        return state[0]

    def block_mean(market: Any, block: Any) -> Any:
        spot, strike, rate, volatility, years = market
        dt = years / asian.STEPS
        steps = (rate - volatility**2 / 2) * dt + volatility * np.sqrt(dt) * block
        average = np.mean(spot * np.exp(np.cumsum(steps, 0)), 0)
        return np.exp(-rate * years) * np.mean(np.maximum(average - strike, 0.0))

    def paths() -> Run:
        blocks, f = asian.side_by_side(data.shocks, 500), transform(block_mean)
        return lambda: numpy.mean([numpy.hstack(f(asian.MARKET, block)) for block in blocks], 0)

    def expressions() -> Run:
        f = transform(lambda x: expression(x[0], x[1], lambda each: np.maximum(each, 0.0)))
        return lambda: f(numpy.array(POINT))

    loss = lambda weights: np.mean(np.tanh(np.dot(data.samples, weights)) ** 2)  # noqa: E731
    return {
        "expression": expressions,
        "loop": lambda: lambda: transform(loop)(LORENZ),
        "paths": paths,
        "layer": lambda: lambda: transform(loss)(data.weights),
    }


def in_numba(data: Data) -> Jobs:
    """Use `njit(fastmath=True)` on derivatives that are written by hand, because Numba has none."""
    numba = peer("numba", "numba")
    compiled = numba.njit(fastmath=True)
    numba.njit(lambda x: x + 1.0)(1.0)

    def by_hand(a: float, b: float) -> Any:
        up, down = max(b + a, 0.0), max(b - a, 0.0)
        on_up, on_down = 1.0 if b + a > 0.0 else 0.0, 1.0 if b - a > 0.0 else 0.0
        e = 4.0 * (a + b) + 3.0 - a - (12.0 * (a * b + b**3) + 4.0 * up + down)
        slope = e - 20.0 / e**3
        by_a = 3.0 - 12.0 * b - 4.0 * on_up + on_down
        by_b = 4.0 - 12.0 * (a + 3.0 * b**2) - 4.0 * on_up - on_down
        return e**2 / 2.0 + 10.0 / e**2, slope * by_a, slope * by_b

    def tangents(p: Any, steps: int) -> Any:
        x, y, z, sigma, rho, beta = p
        dx, dy, dz = numpy.zeros(6), numpy.zeros(6), numpy.zeros(6)
        dx[0] = dy[1] = dz[2] = 1.0
        for _ in range(steps):
            for i in range(6):
                a, b, c = dx[i], dy[i], dz[i]
                dx[i] = a + DT * (sigma * (b - a) + (i == 3) * (y - x))
                dy[i] = b + DT * (a * (rho - z) - x * c + (i == 4) * x - b)
                dz[i] = c + DT * (a * y + x * b - beta * c - (i == 5) * z)
            x, y, z = x + DT * (sigma * (y - x)), y + DT * (x * (rho - z) - y), z + DT * (x * y - beta * z)
        return x, dx

    def adjoints(weights: Any, samples: Any) -> Any:
        out = numpy.tanh(numpy.dot(samples, weights))
        return (out**2).mean(), numpy.dot(samples.T, 2.0 / samples.size * out * (1.0 - out**2))

    def prepared(f: Any, *arguments: Any) -> Callable[[], Run]:
        def prepare() -> Run:
            machine_code = compiled(f)
            return lambda: machine_code(*arguments)

        return prepare

    return {
        "expression": prepared(by_hand, *POINT),
        "loop": prepared(tangents, LORENZ, data.steps),
        "paths": prepared(asian_by_hand, asian.MARKET, asian.step_by_step(data.shocks)),
        "layer": prepared(adjoints, data.weights, data.samples),
    }


def asian_by_hand(market: Any, shocks: Any) -> Any:
    """Return the averages by a loop over blocks of 32 paths, whose inner loops a compiler can vectorize."""
    spot, strike, rate, volatility, years = market
    steps, paths = shocks.shape
    dt = years / steps
    drift, diffusion = (rate - volatility**2 / 2.0) * dt, volatility * numpy.sqrt(dt)
    discount, six, width = numpy.exp(-rate * years), numpy.zeros(6), 32
    x, total, by_drift, by_diffusion, shocks_so_far = numpy.zeros((5, width))
    for first in range(0, paths, width):
        count = min(width, paths - first)
        x[:], total[:], by_drift[:], by_diffusion[:], shocks_so_far[:] = numpy.log(spot), 0.0, 0.0, 0.0, 0.0
        for step in range(steps):
            for k in range(count):
                shock = shocks[step, first + k]
                shocks_so_far[k] += shock
                x[k] += drift + diffusion * shock
                price = numpy.exp(x[k])
                total[k] += price
                by_drift[k] += price * (step + 1)
                by_diffusion[k] += price * shocks_so_far[k]
        for k in range(count):
            pay = total[k] / steps - strike
            if pay > 0.0:
                of_drift, of_diffusion = discount * by_drift[k] / steps, discount * by_diffusion[k] / steps
                six[0] += discount * pay
                six[1] += discount * total[k] / steps / spot
                six[2] -= discount
                six[3] += of_drift * dt - years * discount * pay
                six[4] += of_diffusion * numpy.sqrt(dt) - of_drift * volatility * dt
                by_dt = of_drift * (rate - volatility**2 / 2.0) + of_diffusion * volatility / (2.0 * numpy.sqrt(dt))
                six[5] += by_dt / steps - rate * discount * pay
    return six / paths


def llvm_library() -> str:
    """Return the newest shared library of LLVM 15 or later of Debian or Ubuntu, or "" if there is none."""
    paths = [*Path("/usr/lib").glob("*/libLLVM-*.so*"), *Path("/usr/lib").glob("*/libLLVM.so.*")]
    versions = {int(re.split(r"\D+", path.name)[1]): str(path) for path in paths}
    newest = max(versions, default=0)
    return versions[newest] if newest >= 15 else ""


def in_drjit(data: Data) -> Jobs:
    """Use symbolic loops: forward mode with a lane for each derivative, or reverse mode through a loop of sums.

    The sums are over cumulated shocks, so that the steps of the loop do not depend on each other. Dr.Jit would
    otherwise store the state of each step for each path.
    """
    os.environ.setdefault("DRJIT_LIBLLVM_PATH", llvm_library())
    import beside_drjit  # noqa: PLC0415  the other peers do not need Dr.Jit

    return beside_drjit.jobs(data)


def in_warp(data: Data) -> Jobs:
    """Use kernels on the CPU and a tape; states that a later step needs are in arrays, as Warp's manual advises.

    A variable that a loop overwrites has no correct derivative in Warp, and Warp does not report this.
    """
    import beside_warp  # noqa: PLC0415  the other peers do not need Warp

    return beside_warp.jobs(data)
