"""Price a down-and-out call and compute its derivatives, ending each path when it is knocked out.

    python examples/barrier_option.py --paths 20000 --output barrier_option.png

The option pays like a call, unless the price ever touches the barrier or falls below it. On each path a `while_loop`
steps from day to day and stops early if a closing price is below the barrier. The price may also have crossed the
barrier between two closing prices above it. The payoff is therefore multiplied by the probability that it did not,
which is known for a Brownian bridge. This weight falls to 0 at the barrier, so the payoff is continuous, and the mean
of the path derivatives converges to the derivatives of the price. The exact price is Merton's formula (1973). Requires
matplotlib: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gradwalk import jit, loops, value_and_grad
from gradwalk.math import exp, expm1, log, maximum, norm_cdf, sqrt, take, where

Array = NDArray[np.float64]

MARKET = np.array([100.0, 100.0, 90.0, 0.03, 0.2, 1.0])  # spot, strike, barrier, interest rate, volatility, years
NAMES = ("price", "d spot", "d strike", "d barrier", "d rate", "d volatility", "d years")
STEPS = 252  # trading days per year
SHOWN = 40  # paths in the picture
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#888888"  # color-blind safe


def on_a_path(market: Any, shocks: Any) -> Any:
    """Return the discounted payoff of one path and the number of simulated days."""
    spot, strike, barrier, rate, volatility, years = market
    dt = years / len(shocks)
    drift, diffusion = (rate - volatility**2 / 2.0) * dt, volatility * sqrt(dt)
    numbers = list(shocks)

    def goes_on(carry: Any) -> Any:
        day, x, _ = carry
        return (day < float(len(numbers))) * (x > 0.0)

    def next_day(carry: Any) -> Any:
        day, x, weight = carry
        after = x + drift + diffusion * take(numbers, day)
        crossed = -2.0 * maximum(x, 0.0) * maximum(after, 0.0) / (diffusion * diffusion)
        return day + 1.0, after, where(after > 0.0, weight * -expm1(crossed), 0.0)

    above = log(spot / barrier)  # log(price / barrier)
    days, x, weight = loops.while_loop(goes_on, next_day, (0.0, above, 1.0), max_steps=len(numbers))
    return exp(-rate * years) * maximum(barrier * exp(x) - strike, 0.0) * weight, days


def formula(market: Any) -> Any:
    """Return Merton's price of the option for a barrier below the strike."""
    spot, strike, barrier, rate, volatility, years = market
    deviation = volatility * sqrt(years)
    power = 2.0 * rate / volatility**2 + 1.0

    def call(price: Any) -> Any:
        d = (log(price / strike) + (rate + volatility**2 / 2.0) * years) / deviation
        return price * norm_cdf(d) - strike * exp(-rate * years) * norm_cdf(d - deviation)

    return call(spot) - (barrier / spot) ** (power - 1.0) * call(barrier**2 / spot)


def simulated(paths: int, seed: int) -> tuple[Array, Array, float]:
    """Return the mean value and derivatives over all paths, their standard errors, and the mean number of days."""
    on_one = jit(value_and_grad(on_a_path, has_aux=True))
    generator = np.random.default_rng(seed)
    rows, days = [], 0.0
    for _ in range(paths):
        (value, taken), slopes = on_one(MARKET, generator.standard_normal(STEPS))
        rows.append([value, *slopes])
        days += taken
    found = np.array(rows)
    return found.mean(0), found.std(0) / np.sqrt(paths), days / paths


def draw(seed: int, output: str) -> None:
    """Save a picture of the first paths: each ends at the first closing price below the barrier."""
    spot, strike, barrier, rate, volatility, years = MARKET
    shocks = np.random.default_rng(seed).standard_normal((SHOWN, STEPS))
    drift, diffusion = (rate - volatility**2 / 2.0) * years / STEPS, volatility * np.sqrt(years / STEPS)
    prices = spot * np.exp(np.cumsum(drift + diffusion * shocks, axis=1))
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for path in prices:
        below = np.flatnonzero(path < barrier)
        end = below[0] + 1 if below.size else STEPS
        axes.plot(np.arange(1, end + 1), path[:end], color=ORANGE if below.size else BLUE, linewidth=0.8, alpha=0.7)
        if below.size:
            axes.plot(end, path[end - 1], "x", color=ORANGE, markersize=6)
    axes.axhline(barrier, color=ORANGE, label=f"barrier {barrier:g}")
    axes.axhline(strike, color=GRAY, linestyle=":", label=f"strike {strike:g}")
    axes.set(title=f"{SHOWN} paths, some of which are knocked out", xlabel="day", ylabel="price", xlim=(0, STEPS))
    axes.legend()
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, simulate, and print the comparison."""
    parser = argparse.ArgumentParser(description="Price a barrier option by simulation.")
    parser.add_argument("--paths", type=int, default=20_000, help="number of paths (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: %(default)s)")
    parser.add_argument("--output", default="barrier_option.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    price, slopes = value_and_grad(formula)(MARKET)
    means, errors, days = simulated(options.paths, options.seed)
    print(f"{options.paths:,} paths of {days:.0f} days on average (at most {STEPS})")
    print("               known  simulated  std error   z-score")
    for name, known, mean, error in zip(NAMES, [price, *slopes], means, errors, strict=True):
        print(f"{name:12}{known:8.4f}{mean:11.4f}{error:11.4f}{(mean - known) / error:10.2f}")
    draw(options.seed, options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
