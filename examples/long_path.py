"""Measure how checkpointing trades memory for time, on Asian options with 252 and 25,200 prices.

    python examples/long_path.py --output long_path.png

The average price of a geometric Brownian motion is computed in a loop. The backward pass needs the prices again, from
last to first. `checkpoint` sets how many are stored: all of them, about √(2n), or about log₂(n)/2. The remaining prices
are recomputed with bitwise identical results. The table shows the peak memory of a call, without arguments and results,
and its time relative to computing only the price. Requires matplotlib: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradwalk import jit, loops, value_and_grad
from gradwalk.math import exp, log, maximum, sin, sqrt

MARKET = np.array([100.0, 90.0, 0.03, 0.2, 1.0])  # spot, strike, annual interest rate, volatility, years
KEPT = (None, "sqrt", "binomial", 16)
MEASURED = 1.0  # seconds
COLORS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7")  # color-blind safe


def asian(market: Any, steps: int, kept: Any) -> Any:
    """Return the discounted payoff of an Asian call on a path with deterministic pseudo-random shocks."""
    spot, strike, rate, volatility, years = market
    dt = years / steps
    drift, diffusion = (rate - volatility**2 / 2.0) * dt, volatility * sqrt(dt)

    def step(i: Any, carry: Any) -> Any:
        x, total = carry
        shock = 1.4 * sin(12.9898 * i + 78.233 * sin(i))  # pseudo-random
        x = x + drift + diffusion * shock
        return x, total + exp(x)

    _, total = loops.fori_loop(0, steps, step, (log(spot), 0.0), checkpoint=kept)
    return exp(-rate * years) * maximum(total / steps - strike, 0.0)


def seconds(call: Callable[[], Any]) -> float:
    """Return the shortest time of the calls in a second, in which the function is compiled in the background."""
    times: list[float] = []
    end = time.perf_counter() + MEASURED
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def peak(f: Callable[..., Any]) -> int:
    """Return the peak memory of a call of a function in bytes.

    The call runs without machine code, because compiling would allocate memory, too.
    """
    compiled = jit(f, backend="lanes")
    compiled(MARKET)
    tracemalloc.start()
    compiled(MARKET)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def draw(measured: dict[tuple[int, object], tuple[float, int]], output: str) -> None:
    """Save a picture of the memory and the time of each setting, for each length of the path."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    memory, duration = figure.subplots(1, 2)
    lengths = sorted({steps for steps, _ in measured})
    for i, (kept, color) in enumerate(zip(KEPT, COLORS, strict=True)):
        places = [place + 0.2 * (i - 1.5) for place in range(len(lengths))]
        ratios, sizes = zip(*(measured[steps, kept] for steps in lengths), strict=True)
        memory.bar(places, [size / 1000.0 for size in sizes], 0.18, color=color, label=f"kept: {kept or 'all'}")
        duration.bar(places, ratios, 0.18, color=color)
    for axes, title in ((memory, "memory in kB"), (duration, "time / time of the price")):
        axes.set(title=title, xticks=range(len(lengths)), xticklabels=[f"{n:,} prices" for n in lengths])
    memory.set_yscale("log")
    memory.legend()
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, measure, and print the table."""
    parser = argparse.ArgumentParser(description="Differentiate long paths in little memory.")
    parser.add_argument("--steps", type=int, nargs="+", default=[252, 25_200], help="path lengths (default: 252 25200)")
    parser.add_argument("--output", default="long_path.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    measured: dict[tuple[int, object], tuple[float, int]] = {}
    print(" steps  kept           bytes   time   instructions   derivative w.r.t. volatility")
    for steps in options.steps:
        price = jit(partial(asian, steps=steps, kept=None))
        price(MARKET)
        alone = seconds(partial(price, MARKET))
        for kept in KEPT:
            f = value_and_grad(partial(asian, steps=steps, kept=kept))
            slopes = jit(f)
            _, found = slopes(MARKET)
            ratio, most = seconds(partial(slopes, MARKET)) / alone, peak(f)
            measured[steps, kept] = ratio, most
            print(f"{steps:6}  {kept or 'all'!s:9}{most:11,}{ratio:6.1f}x{len(slopes.program):11}{found[3]:28.12f}")
    draw(measured, options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
