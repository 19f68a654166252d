"""Exported C libraries run batches about as fast as `jit(vmap(f))` with LLVM, on one thread, with the same bits."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
from asian import MARKET, STEPS
from black_scholes import ALL, RANGES, black_scholes
from peers import on_one_core
from timing import Row, best_of, main, within

from gradwalk import export, jit, loops, math, threads, value_and_grad, vmap

FLAGS = ("-std=c99", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")
ALLOWED = 1.25  # the largest ratio of the library's time and the time in this process

Run = Callable[[], Any]


class Place(ctypes.Structure):
    """An argument or a result of a library: its first number, and the distances of samples and of their numbers."""

    _fields_ = (("data", ctypes.c_void_p), ("sample", ctypes.c_ssize_t), ("number", ctypes.c_ssize_t))


def library(function: Any, name: str) -> Any:
    """Export a function, compile the library, and return the function of its batch."""
    folder = export(function, Path(tempfile.mkdtemp()) / name, name=name)
    file = folder / "library.so"
    subprocess.run(["cc", *FLAGS, folder / f"{name}.c", "-o", file, "-lm"], check=True)
    return getattr(ctypes.CDLL(str(file)), f"{name}_batch")


def places(arrays: list[Any], sample: int, number: int) -> Any:
    """Return the places of arrays."""
    return (Place * len(arrays))(*[Place(array.ctypes.data, sample, number) for array in arrays])


def asian(paths: int, axis: int, backend: str | None) -> tuple[Run, Run]:
    """Return runs of the library and of gradwalk: the mean of an Asian option and its derivatives."""
    program: Any = import_module("asian_option")
    shocks = numpy.random.default_rng(0).standard_normal((paths, STEPS) if axis == 0 else (STEPS, paths))
    step = jit(vmap(value_and_grad(program.arithmetic), in_axes=(None, axis), reduce="mean"), backend=backend)
    value, slopes = step(MARKET, shocks)
    batch, six = library(step, "asian"), numpy.empty(6)
    given = places([shocks], *((STEPS, 1) if axis == 0 else (1, paths)))

    def run() -> Any:
        batch(ctypes.c_size_t(paths), ctypes.c_void_p(MARKET.ctypes.data), given, ctypes.c_void_p(six.ctypes.data))
        return six

    if run().tolist() != [value, *slopes]:
        raise AssertionError(f"the library computes {six}, gradwalk {[value, *slopes]}")
    return run, lambda: step(MARKET, shocks)


def options(count: int, backend: str | None) -> tuple[Run, Run]:
    """Return runs of the library and of gradwalk: Black-Scholes prices and derivatives of many options."""
    rng = numpy.random.default_rng(0)
    arrays = [rng.uniform(low, high, count) for low, high in RANGES]
    prices = jit(vmap(value_and_grad(black_scholes(math), ALL)), backend=backend)
    value, slopes = prices(*arrays)
    batch, found = library(prices, "options"), [numpy.empty(count) for _ in range(6)]
    given, results = places(arrays, 1, 1), places(found, 1, 1)
    out = numpy.empty(count), tuple(numpy.empty(count) for _ in ALL)

    def run() -> Any:
        batch(ctypes.c_size_t(count), None, given, results)
        return found

    if not all(map(numpy.array_equal, run(), [value, *slopes])):
        raise AssertionError("the library and gradwalk compute different prices")
    return run, lambda: prices(*arrays, out=out)


def implied(price: Any, years: Any, spot: Any, strike: Any, rate: Any) -> Any:
    """Return the volatility at which an option has this price, by Newton's method."""
    slope = value_and_grad(lambda volatility: black_scholes(math)(spot, strike, rate, volatility, years))

    def step(state: Any) -> Any:
        found, vega = slope(state[0])
        change = (found - price) / vega
        return state[0] - change, abs(change)

    return loops.while_loop(lambda state: state[1] > 1e-9, step, (0.3, 1.0), max_steps=30)[0]


def volatilities(count: int, backend: str | None) -> tuple[Run, Run]:
    """Return runs of the library and of gradwalk: the implied volatilities of many options."""
    rng = numpy.random.default_rng(0)
    ranges = ((80.0, 120.0), (80.0, 120.0), (0.0, 0.05), (0.15, 0.5), (0.5, 2.0))
    spot, strike, rate, volatility, years = (rng.uniform(low, high, count) for low, high in ranges)
    arrays = [vmap(black_scholes(math))(spot, strike, rate, volatility, years), years, spot, strike, rate]
    search = jit(vmap(implied), backend=backend)
    expected = search(*arrays)
    batch, found, out = library(search, "volatilities"), numpy.empty(count), numpy.empty(count)
    given, results = places(arrays, 1, 1), places([found], 1, 1)

    def run() -> Any:
        batch(ctypes.c_size_t(count), None, given, results)
        return found

    if abs(expected - volatility).max() > 1e-9 or not numpy.array_equal(run(), expected):
        raise AssertionError("the library and gradwalk compute different volatilities")
    return run, lambda: search(*arrays, out=out)


def measure(quick: bool) -> list[Row]:
    """Compare the libraries with lanes and with LLVM in this process, on one core."""
    on_one_core()
    paths, count, turns = (4000, 20_000, 2) if quick else (16_000, 200_000, 10)
    cases: tuple[tuple[str, int, Callable[[str], Any]], ...] = (
        ("Asian option and five derivatives, steps in columns, a path", paths, lambda b: asian(paths, 1, b)),
        ("Asian option and five derivatives, path by path, a path", paths, lambda b: asian(paths, 0, b)),
        ("Black-Scholes and five derivatives, an option", count, lambda b: options(count, b)),
        ("implied volatility by Newton's method, an option", paths, lambda b: volatilities(paths, b)),
    )
    rows = []
    with threads(1):
        for claim, samples, make in cases:
            run, with_llvm = make("llvm")
            _, on_lanes = make("lanes")
            runs = {"library": run, "jit, LLVM": with_llvm, "jit, lanes": on_lanes}
            ns = {name: 1e9 / samples * taken for name, taken in best_of(turns, runs).items()}
            rows += [
                within(f"exported library: {claim}", "ns", ns["library"], (peer, ns[peer]), ALLOWED)
                for peer in ("jit, LLVM", "jit, lanes")
            ]
    return rows


if __name__ == "__main__":
    main(measure)
