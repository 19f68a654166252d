"""Price and five derivatives of an Asian call over 252 steps on one core, at most the time of handwritten C++.

gradwalk must be 7 times as fast as JAX, 4 times as fast as PyTorch and 35 times as fast as casadi, and return a first
result within 15 ms. The program is `examples/asian_option.py`. Each peer computes the same six averages in several
ways: as one would first write it, and tuned as far as we could, with a suitable memory layout of the shocks and in
blocks that fit the caches. gradwalk gets the shocks step by step or path by path, and runs as machine code, with and
without contraction of products and sums (which `-ffast-math` allows in C++), or on lanes. The derivatives in C++ and
NumPy are handwritten.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from ctypes import c_int, c_long
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
from peers import cpp, jax, on_one_core, pointers
from timing import Row, at_most, beside, best_of, empty_caches, faster, main, peer, within

from gradwalk import jit, threads, value_and_grad, vmap

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))

STEPS = 252
MARKET = numpy.array([100.0, 100.0, 0.03, 0.2, 1.0])  # spot, strike, rate, volatility, years
FIRST = 1000  # paths in a first result
TARGETS = (
    ("C++", within, 1.0),
    ("JAX", faster, 7),
    ("PyTorch", faster, 4),
    ("casadi", faster, 35),
    ("NumPy", faster, 1),
)

Run = Callable[[], Any]


def stepped(axis: int, **options: Any) -> Any:
    """Return the jitted function before its first call; `axis` is the path axis of the shocks."""
    program: Any = import_module("asian_option")
    return jit(vmap(value_and_grad(program.arithmetic), in_axes=(None, axis), reduce="mean"), **options)


def replayed(shocks: Any, axis: int, **options: Any) -> Run:
    """Run gradwalk, in float32 if the shocks are float32."""
    step = stepped(axis, **options)
    market = MARKET.astype(shocks.dtype)
    return lambda: step(market, shocks)


def by_cpp(function: Any, shocks: Any) -> Run:
    """Run one of the functions in `cpp/asian.cpp`."""
    six = numpy.empty(6)
    paths = c_long(shocks.size // STEPS)

    def run() -> Any:
        function(*pointers([shocks]), paths, c_int(STEPS), *pointers([MARKET, six]))
        return six

    return run


def step_by_step(shocks: Any) -> Any:
    """Lay out the shocks of all paths step by step."""
    return numpy.ascontiguousarray(shocks.T)


def side_by_side(shocks: Any, width: int) -> Any:
    """Lay out the shocks in groups of `width` paths, step by step within a group."""
    return numpy.ascontiguousarray(shocks.reshape(-1, width, STEPS).transpose(0, 2, 1))


def for_jax() -> Any:
    """Return the payoff on one path, as a `lax.scan` over its steps."""
    jnp, scan = jax().numpy, jax().lax.scan

    def arithmetic(market: Any, shocks: Any) -> Any:
        spot, strike, rate, volatility, years = market
        dt = years / STEPS
        drift, diffusion = (rate - volatility**2 / 2) * dt, volatility * jnp.sqrt(dt)

        def step(state: Any, shock: Any) -> Any:
            x = state[0] + (drift + diffusion * shock)
            return (x, state[1] + jnp.exp(x)), None

        (_, total), _ = scan(step, (jnp.log(spot), jnp.zeros_like(spot)), shocks)
        return jnp.exp(-rate * years) * jnp.maximum(total / STEPS - strike, 0.0)

    return arithmetic


def jax_as_written(shocks: Any) -> Run:
    """Run JAX with `vmap` of the gradient and means of its results."""
    gradients = jax().vmap(jax().value_and_grad(for_jax()), in_axes=(None, 1))
    step = jax().jit(lambda market, columns: jax().tree.map(lambda x: x.mean(0), gradients(market, columns)))
    columns = jax().numpy.asarray(step_by_step(shocks))
    return lambda: jax().block_until_ready(step(MARKET, columns))


def jax_in_blocks(shocks: Any, width: int) -> Run:
    """Run JAX with the gradient of the mean of a block, and `lax.map` over blocks."""
    arithmetic = jax().vmap(for_jax(), in_axes=(None, 1))

    def step(market: Any, blocks: Any) -> Any:
        one = jax().value_and_grad(lambda market, block: arithmetic(market, block).mean())
        return jax().tree.map(lambda x: x.mean(0), jax().lax.map(lambda block: one(market, block), blocks))

    compiled, blocks = jax().jit(step), jax().numpy.asarray(side_by_side(shocks, width))
    return lambda: jax().block_until_ready(compiled(MARKET, blocks))


def by_torch(shocks: Any, width: int) -> Run:
    """Run PyTorch on blocks of `width` paths."""
    torch = peer("torch", "torch")
    blocks = torch.from_numpy(shocks).reshape(-1, width, STEPS)

    def block_mean(market: Any, block: Any) -> Any:
        spot, strike, rate, volatility, years = market
        dt = years / STEPS
        steps = (rate - volatility**2 / 2) * dt + volatility * torch.sqrt(dt) * block
        average = (spot * torch.exp(torch.cumsum(steps, 1))).mean(1)
        return torch.exp(-rate * years) * torch.clamp(average - strike, min=0.0).mean()

    def run() -> Any:
        six = numpy.zeros(6)
        for block in blocks:
            market = torch.from_numpy(MARKET).requires_grad_()
            value = block_mean(market, block)
            value.backward()
            six += [value.item(), *market.grad.tolist()]
        return six / len(blocks)

    return run


def by_casadi(shocks: Any) -> tuple[Run, Run]:
    """Run casadi's virtual machine mapped over paths: through buffers, and called."""
    casadi = peer("casadi", "casadi")
    market, path = casadi.SX.sym("market", 5), casadi.SX.sym("path", STEPS)
    spot, strike, rate, volatility, years = casadi.vertsplit(market)
    dt = years / STEPS
    drift, diffusion = (rate - volatility**2 / 2) * dt, volatility * casadi.sqrt(dt)
    x, total = casadi.log(spot), 0.0
    for shock in casadi.vertsplit(path):
        x = x + (drift + diffusion * shock)
        total = total + casadi.exp(x)
    value = casadi.exp(-rate * years) * casadi.fmax(total / STEPS - strike, 0.0)
    one = casadi.Function("f", [market, path], [casadi.vertcat(value, casadi.gradient(value, market))])
    every = one.map("every", "serial", len(shocks), [0], [])
    buffers = CasadiBuffers(every, [MARKET, shocks], numpy.empty((len(shocks), 6)))
    return buffers.mean, lambda: numpy.asarray(every(MARKET, shocks.T)).mean(1)


class CasadiBuffers:
    """A casadi function on NumPy arrays. It keeps the arrays and the buffer alive, which casadi does not."""

    def __init__(self, function: Any, arguments: list[Any], result: Any) -> None:
        self._buffer, self._run = function.buffer()
        self._arguments, self._result = arguments, result
        for i, argument in enumerate(arguments):
            self._buffer.set_arg(i, argument.data)
        self._buffer.set_res(0, result.data)

    def mean(self) -> Any:
        """Run the function and return the mean over the rows of its result."""
        self._run()
        return self._result.mean(0)


def by_numpy(shocks: Any, width: int) -> Run:
    """Run NumPy on blocks of `width` paths, with a handwritten adjoint."""
    spot, strike, rate, volatility, years = MARKET
    dt = years / STEPS
    root, discount = numpy.sqrt(dt), numpy.exp(-rate * years)
    blocks = side_by_side(shocks, width)

    def block_sums(block: Any) -> Any:
        prices = volatility * root * block
        prices += (rate - volatility**2 / 2) * dt
        numpy.cumsum(prices, 0, out=prices)
        numpy.exp(prices, out=prices)
        prices *= spot
        pay = prices.sum(0) / STEPS - strike
        on = numpy.where(pay > 0, discount, 0.0)
        adjoints = numpy.cumsum(prices[::-1], 0)[::-1]
        weights = on / STEPS
        value, last = on @ pay, weights @ adjoints[0]
        drift = weights @ adjoints.sum(0)
        diffusion = weights @ numpy.einsum("tp,tp->p", adjoints, block)
        by_dt = drift * (rate - volatility**2 / 2) + diffusion * volatility / (2 * root)
        by_rate, by_volatility = drift * dt - years * value, diffusion * root - drift * volatility * dt
        return value, last / spot, -on.sum(), by_rate, by_volatility, by_dt / STEPS - rate * value

    return lambda: numpy.sum([block_sums(block) for block in blocks], 0) / len(shocks)


def agree(runs: dict[str, Run], tolerance: float) -> None:
    """Raise `AssertionError` if the peers do not compute the same six numbers."""
    expected = None
    for name, run in runs.items():
        six = numpy.hstack([numpy.ravel(part) for part in run()]).astype(float)
        expected = six if expected is None else expected
        numpy.testing.assert_allclose(six, expected, rtol=tolerance, err_msg=name)


def paths_per_core(quick: bool) -> list[Row]:
    """Measure microseconds per path beside all peers."""
    paths, turns = (8000, 1) if quick else (16_000, 8)
    shocks = numpy.random.default_rng(0).standard_normal((paths, STEPS))
    library = cpp("asian")
    through_buffers, called = by_casadi(shocks)
    runs = {
        "ours": replayed(step_by_step(shocks), 1, backend="llvm"),
        "ours, contracted": replayed(step_by_step(shocks), 1, backend="llvm", contract=True),
        "ours on lanes": replayed(step_by_step(shocks), 1, backend="lanes"),
        "ours, path by path": replayed(shocks, 0, backend="llvm"),
        "C++, 16 paths side by side": by_cpp(library.side_by_side_16, side_by_side(shocks, 16)),
        "C++, 32 paths side by side": by_cpp(library.side_by_side_32, side_by_side(shocks, 32)),
        "C++, 64 paths side by side": by_cpp(library.side_by_side_64, side_by_side(shocks, 64)),
        "C++, path by path": by_cpp(library.path_by_path, shocks),
        "JAX, blocks of 200": jax_in_blocks(shocks, 200),
        "JAX, blocks of 1000": jax_in_blocks(shocks, 1000),
        "JAX, as written": jax_as_written(shocks),
        "PyTorch, blocks of 500": by_torch(shocks, 500),
        "PyTorch, as written": by_torch(shocks, paths),
        "casadi, through buffers": through_buffers,
        "casadi, called": called,
        "NumPy, blocks of 100": by_numpy(shocks, 100),
        "NumPy, blocks of 1000": by_numpy(shocks, 1000),
    }
    agree(runs, 1e-9)
    us = {name: 1e6 / paths * taken for name, taken in best_of(turns, runs).items()}
    claim = "Asian option, price and five derivatives, a path"
    rows = []
    for library_name, row, times in TARGETS:
        ways = sorted((taken, name) for name, taken in us.items() if name.startswith(library_name))
        rows += [row(claim, "us", us["ours"], (name, taken), times) for taken, name in ways]
    by_path = ("C++, path by path", us["C++, path by path"])
    best = min((taken, name) for name, taken in us.items() if name.startswith("C++"))[::-1]
    return [
        *rows,
        within(f"{claim}, contracted", "us", us["ours, contracted"], best, 0.85),
        within(f"{claim}, on lanes alone", "us", us["ours on lanes"], best, 1.3),
        within(f"{claim}, shocks path by path", "us", us["ours, path by path"], by_path, 0.9),
    ]


def machine_code(quick: bool) -> list[Row]:
    """Measure the extra time of a first result that waits for machine code, compared with lanes."""
    shocks = numpy.random.default_rng(5).standard_normal((10, STEPS))

    def first(backend: str, number: int) -> Run:
        program: Any = import_module("asian_option")
        one = value_and_grad(lambda market, shocks: program.arithmetic(market, shocks) * (1.0 + number))
        return lambda: jit(vmap(one, in_axes=(None, 0), reduce="mean"), backend=backend)(MARKET, shocks)

    times = {"lanes": [], "llvm": []}  # type: dict[str, list[float]]
    with empty_caches():
        replayed(shocks[:1, :2], 0, backend="llvm")()  # loads LLVM
        for number in range(1 if quick else 3):
            for backend, found in times.items():
                begin = time.perf_counter()
                first(backend, number)()
                found.append(time.perf_counter() - begin)
    ms = 1e3 * (min(times["llvm"]) - min(times["lanes"]))
    return [at_most("Asian option, until machine code is there", "ms", ms, 60)]


def first_results(quick: bool) -> list[Row]:
    """Measure a first result: recording, differentiating, scheduling and running; JAX traces and compiles."""
    shocks = numpy.random.default_rng(1).standard_normal((FIRST, STEPS))

    def by_jax() -> Any:
        jax().clear_caches()
        return jax_as_written(shocks)()

    runs = {"ours": lambda: stepped(0)(MARKET, shocks), "JAX": by_jax}
    agree(runs, 1e-9)
    ms = {name: 1e3 * taken for name, taken in best_of(1 if quick else 3, runs).items()}
    claim = f"Asian option, first result, of {FIRST:,} paths"
    return [at_most(claim, "ms", ms["ours"], 15), beside(claim, "ms", ms["ours"], ("JAX", ms["JAX"]))]


def of_32_bits(quick: bool) -> list[Row]:
    """Measure float32 beside float64."""
    paths, turns = (8000, 1) if quick else (16_000, 8)
    shocks = numpy.random.default_rng(2).standard_normal((paths, STEPS))
    columns = step_by_step(shocks)
    runs = {"float64": replayed(columns, 1), "float32": replayed(columns.astype(numpy.float32), 1)}
    agree(runs, 1e-4)
    us = {name: 1e6 / paths * taken for name, taken in best_of(turns, runs).items()}
    return [faster("Asian option in float32, a path", "us", us["float32"], ("float64", us["float64"]), 1.7)]


def on_two_cores(quick: bool) -> list[Row]:
    """Measure two threads beside one."""
    paths, turns = (8000, 1) if quick else (64_000, 8)
    run = replayed(numpy.random.default_rng(3).standard_normal((STEPS, paths)), 1)

    def on(count: int) -> Run:
        def run_on() -> Any:
            with threads(count):
                return run()

        return run_on

    runs = {"one": on(1), "two": on(2)}
    agree(runs, 0.0)
    ms = {name: 1e3 * taken for name, taken in best_of(turns, runs).items()}
    return [faster(f"Asian option, {paths:,} paths on two threads", "ms", ms["two"], ("on one", ms["one"]), 1.9)]


def memory() -> list[Row]:
    """Measure the peak memory of a first call without its arguments, beside the kernel's stated memory per thread."""
    shocks = numpy.random.default_rng(4).standard_normal((FIRST, STEPS))
    step = stepped(0)
    lowered = step.lower(MARKET, shocks)  # recorded but not run yet
    tracemalloc.start()
    lowered(MARKET, shocks)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    stated = ("slots · lanes · 8, stated", step.kernel.memory / 1e3)
    return [within("Asian option, memory of a thread", "kB", peak / 1e3, stated, 1.1)]


def measure(quick: bool) -> list[Row]:
    """Return the rows. Two cores are measured first, because the other rows pin the process to one core."""
    rows = on_two_cores(quick)
    on_one_core()
    with threads(1):
        return [
            *paths_per_core(quick),
            *first_results(quick),
            *of_32_bits(quick),
            *rows,
            *machine_code(quick),
            *memory(),
        ]


if __name__ == "__main__":
    main(measure)
