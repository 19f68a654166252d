"""An Asian option on one path of 252 and of 25,200 prices: what checkpointing costs and saves.

    python examples/long_path.py

The average of the prices of a geometric Brownian motion is a loop over them. On the way back to its derivatives the
prices are needed again, from the last to the first. `checkpoint` says how many are kept: all of them, about √(2n), or
about log₂(n)/2. What is not kept is computed again, with the same bits. Printed are the most bytes that a call has
taken besides its arguments and results, and its time as a multiple of the price's alone.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradwalk import jit, loops, value_and_grad
from gradwalk.math import exp, log, maximum, sin, sqrt

MARKET = np.array([100.0, 90.0, 0.03, 0.2, 1.0])  # spot, strike, interest rate a year, volatility, years
KEPT = (None, "sqrt", "binomial", 16)
RUNS = 7


def asian(market: Any, steps: int, kept: Any) -> Any:
    """Today's value of what the option pays on a path whose shocks are made up as it goes."""
    spot, strike, rate, volatility, years = market
    dt = years / steps
    drift, diffusion = (rate - volatility**2 / 2.0) * dt, volatility * sqrt(dt)

    def step(i: Any, carry: Any) -> Any:
        x, total = carry
        shock = 1.4 * sin(12.9898 * i + 78.233 * sin(i))  # in place of a random number
        x = x + drift + diffusion * shock
        return x, total + exp(x)

    _, total = loops.fori_loop(0, steps, step, (log(spot), 0.0), checkpoint=kept)
    return exp(-rate * years) * maximum(total / steps - strike, 0.0)


def seconds(call: Callable[[], Any]) -> float:
    """The least time of some runs."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def peak(call: Callable[[], Any]) -> int:
    """The most bytes that a call takes: the least of some runs, as machine code may be made beside one of them."""
    found = []
    for _ in range(RUNS):
        tracemalloc.start()
        call()
        found.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return min(found)


def main() -> None:
    """Read the command line, differentiate, report."""
    parser = argparse.ArgumentParser(description="Differentiate long paths in little memory.")
    parser.add_argument("--steps", type=int, nargs="+", default=[252, 25_200], help="prices (default: 252 25200)")
    options = parser.parse_args()

    print(" steps  kept           bytes   time   instructions   derivative by the volatility")
    for steps in options.steps:
        price = jit(partial(asian, steps=steps, kept=None))
        price(MARKET)
        alone = seconds(partial(price, MARKET))
        for kept in KEPT:
            slopes = jit(value_and_grad(partial(asian, steps=steps, kept=kept)))
            _, found = slopes(MARKET)
            ratio, most = seconds(partial(slopes, MARKET)) / alone, peak(partial(slopes, MARKET))
            print(f"{steps:6}  {kept or 'all'!s:9}{most:11,}{ratio:6.1f}x{len(slopes.program):11}{found[3]:28.12f}")


if __name__ == "__main__":
    main()
