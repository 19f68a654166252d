"""Price an Asian call option and compute its five derivatives by Monte Carlo simulation.

    python examples/asian_option.py --paths 1000000 --output asian_option.png

The option pays the amount by which the average of 252 daily prices exceeds the strike. Its price has no closed form, so
it is estimated by averaging over random paths: `value_and_grad` differentiates the payoff of one path, and `vmap` runs
it on all paths. The option on the geometric average does have a formula, which checks the simulation. Its estimation
error also serves as a control variate: it corrects the estimates of the arithmetic option, which use the same paths.
Requires matplotlib: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gradwalk import jit, value_and_grad, vmap
from gradwalk.math import erf, exp, log, maximum, sqrt

Array = NDArray[np.float64]

MARKET = np.array([100.0, 100.0, 0.03, 0.2, 1.0])  # spot, strike, annual interest rate, volatility, years
NAMES = ("price", "d spot", "d strike", "d rate", "d volatility", "d years")
STEPS = 252  # trading days per year
BATCH = 1000  # paths simulated at a time, which limits memory
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#888888"  # color-blind safe


def log_prices(market: Any, shocks: Any) -> list[Any]:
    """Return the logarithm of the price after each step of a geometric Brownian motion driven by normal shocks."""
    spot, _, rate, volatility, years = market
    dt = years / len(shocks)
    drift, diffusion = (rate - volatility**2 / 2.0) * dt, volatility * sqrt(dt)
    x, path = log(spot), []
    for shock in shocks:
        x = x + (drift + diffusion * shock)
        path.append(x)
    return path


def call(market: Any, average: Any) -> Any:
    """Return the discounted payoff of a call on an average price."""
    _, strike, rate, _, years = market
    return exp(-rate * years) * maximum(average - strike, 0.0)


def arithmetic(market: Any, shocks: Any) -> Any:
    """Return the discounted payoff of the Asian call on one path."""
    return call(market, sum(exp(x) for x in log_prices(market, shocks)) / len(shocks))


def geometric(market: Any, shocks: Any) -> Any:
    """Return the discounted payoff of the call on the geometric average of one path."""
    return call(market, exp(sum(log_prices(market, shocks)) / len(shocks)))


def known_answer(market: Any, steps: int) -> Any:
    """Return the exact price of the geometric option, whose average is log-normal (Kemna and Vorst, 1990)."""
    spot, strike, rate, volatility, years = market
    mean = log(spot) + (rate - volatility**2 / 2.0) * years * (steps + 1) / (2 * steps)
    deviation = volatility * sqrt(years * (steps + 1) * (2 * steps + 1) / (6 * steps**2))
    d = (mean - log(strike)) / deviation
    return exp(-rate * years) * (exp(mean + deviation**2 / 2.0) * normal(d + deviation) - strike * normal(d))


def normal(x: Any) -> Any:
    """Return the standard normal cumulative distribution function."""
    return (1.0 + erf(x / np.sqrt(2.0))) / 2.0


def numbers(f: Any, *args: Any) -> Any:
    """Return a function's value and derivatives as one array, in the order of `NAMES`."""
    value, gradient = value_and_grad(f)(*args)
    return np.array([value, *gradient])


def products(market: Any, shocks: Any) -> Any:
    """Return the results of both options on one path, their squares and their product."""
    a, g = numbers(arithmetic, market, shocks), numbers(geometric, market, shocks)
    return a, g, a * a, g * g, a * g


averages = jit(vmap(products, in_axes=(None, 0), reduce="mean"))


def simulate(paths: int, seed: int) -> tuple[Array, Array]:
    """Return the number of paths after each batch, and the averages of `products` over these paths."""
    rng = np.random.default_rng(seed)
    batches = [averages(MARKET, rng.standard_normal((BATCH, STEPS))) for _ in range(0, paths, BATCH)]
    counts = np.arange(1.0, len(batches) + 1.0)
    return BATCH * counts, np.cumsum(batches, axis=0) / counts[:, None, None]


def estimates(paths: Array, means: Array, answer: Array) -> dict[str, tuple[Array, Array]]:
    """Return the estimates of both options with standard errors, with and without the control variate."""
    a, g, aa, gg, ag = means.swapaxes(0, 1)
    variance, variance_of_control, covariance = aa - a * a, gg - g * g, ag - a * g
    slope = covariance / variance_of_control
    found = {
        "geometric": (g, variance_of_control),
        "arithmetic": (a, variance),
        "arithmetic, with control": (a - slope * (g - answer), variance - slope * covariance),
    }
    return {name: (its, np.sqrt(spread / paths[:, None])) for name, (its, spread) in found.items()}


def band(axes: Axes, paths: Array, found: tuple[Array, Array], i: int, color: str, name: str) -> None:
    """Plot an estimate with a band of two standard errors against the number of paths."""
    its, error = found[0][:, i], found[1][:, i]
    axes.fill_between(paths, its - 2 * error, its + 2 * error, color=color, alpha=0.25, linewidth=0)
    axes.plot(paths, its, color=color, linewidth=2, label=name)


def draw(paths: Array, found: dict[str, tuple[Array, Array]], answer: Array, output: str) -> None:
    """Save a picture of the geometric option with its exact values, and of the arithmetic option."""
    figure = Figure(figsize=(9, 9), layout="constrained")
    axes = figure.subplot_mosaic([list(NAMES[:3]), list(NAMES[3:]), ["arithmetic"] * 3], height_ratios=[1, 1, 1.4])
    for i, name in enumerate(NAMES):
        band(axes[name], paths, found["geometric"], i, BLUE, "estimated, ± 2 standard errors")
        axes[name].axhline(answer[i], color=ORANGE, linestyle="--", label="known answer")
        axes[name].set_title(name)
    axes["price"].legend(fontsize="small")
    for name, color in (("arithmetic", GRAY), ("arithmetic, with control", BLUE)):
        band(axes["arithmetic"], paths, found[name], 0, color, f"{name}, ± 2 standard errors")
    axes["arithmetic"].set(title="The Asian call itself, of the arithmetic average: price", xlabel="paths")
    axes["arithmetic"].legend()
    for its_axes in axes.values():
        its_axes.set_xscale("log")
        its_axes.grid(alpha=0.3)
    figure.suptitle("A call on the geometric average of a price, by simulation")
    figure.savefig(output, dpi=150)


def row(name: str, cells: list[str]) -> str:
    """Format a line of the table."""
    return f"{name:40}" + "".join(cells)


def main() -> None:
    """Parse the command line, simulate, and print the results."""
    parser = argparse.ArgumentParser(description="Price an Asian option and its derivatives by simulation.")
    parser.add_argument("--paths", type=int, default=1_000_000, help="number of paths (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    parser.add_argument("--output", default="asian_option.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    paths, means = simulate(options.paths, options.seed)
    answer = numbers(known_answer, MARKET, STEPS)
    found = estimates(paths, means, answer)
    print(row(f"{paths[-1]:,.0f} paths", [f"{name:>13}" for name in NAMES]))
    for name, (its, errors) in found.items():
        print(row(name, [f"{number:13.6f}" for number in its[-1]]))
        print(row(f"{name}, standard error", [f"{number:13.6f}" for number in errors[-1]]))
    print(row("geometric, known answer", [f"{number:13.6f}" for number in answer]))
    its, errors = found["geometric"]
    worst = np.abs((its - answer) / errors)[-1].max()
    print(f"geometric: at most {worst:.2f} standard errors from the known answer")
    draw(paths, found, answer, options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
