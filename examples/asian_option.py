"""Price an Asian call, and its five derivatives, by averages over a million simulated paths.

    python examples/asian_option.py --paths 1000000 --output asian_option.png

The option pays what the average of 252 daily prices is above a strike. No formula knows what it is worth, so paths of
the price are drawn at random; the function of one path is differentiated, and `vmap` runs it on all of them. Known
answer: the same for the geometric average, which has a formula. What the geometric option's estimates are off by then
corrects the arithmetic ones, drawn from the same paths: a control variate. Needs matplotlib: `pip install
gradwalk[examples]`.
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

MARKET = np.array([100.0, 100.0, 0.03, 0.2, 1.0])  # spot, strike, interest rate a year, volatility, years
NAMES = ("price", "d spot", "d strike", "d rate", "d volatility", "d years")
STEPS = 252  # trading days of a year
BATCH = 1000  # paths whose random numbers are in memory at a time
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#888888"  # told apart by colour-blind eyes too


def log_prices(market: Any, shocks: Any) -> list[Any]:
    """The logarithms of the prices after every step of a geometric Brownian motion with these normal numbers."""
    spot, _, rate, volatility, years = market
    dt = years / len(shocks)
    drift, diffusion = (rate - volatility**2 / 2.0) * dt, volatility * sqrt(dt)
    x, path = log(spot), []
    for shock in shocks:
        x = x + (drift + diffusion * shock)
        path.append(x)
    return path


def call(market: Any, average: Any) -> Any:
    """Today's value of what a call pays in the end."""
    _, strike, rate, _, years = market
    return exp(-rate * years) * maximum(average - strike, 0.0)


def arithmetic(market: Any, shocks: Any) -> Any:
    """The Asian call on one path."""
    return call(market, sum(exp(x) for x in log_prices(market, shocks)) / len(shocks))


def geometric(market: Any, shocks: Any) -> Any:
    """The call on the geometric average on one path."""
    return call(market, exp(sum(log_prices(market, shocks)) / len(shocks)))


def known_answer(market: Any, steps: int) -> Any:
    """The price of the geometric option: the average is log-normal (A. Kemna and A. Vorst, 1990)."""
    spot, strike, rate, volatility, years = market
    mean = log(spot) + (rate - volatility**2 / 2.0) * years * (steps + 1) / (2 * steps)
    deviation = volatility * sqrt(years * (steps + 1) * (2 * steps + 1) / (6 * steps**2))
    d = (mean - log(strike)) / deviation
    return exp(-rate * years) * (exp(mean + deviation**2 / 2.0) * normal(d + deviation) - strike * normal(d))


def normal(x: Any) -> Any:
    """The probability that a standard normal number is less."""
    return (1.0 + erf(x / np.sqrt(2.0))) / 2.0


def numbers(f: Any, *args: Any) -> Any:
    """A function's value and its derivatives, in the order of `NAMES`."""
    value, gradient = value_and_grad(f)(*args)
    return np.array([value, *gradient])


def products(market: Any, shocks: Any) -> Any:
    """The numbers of both options on one path, their squares and products: averages, variances and covariance."""
    a, g = numbers(arithmetic, market, shocks), numbers(geometric, market, shocks)
    return a, g, a * a, g * g, a * g


averages = jit(vmap(products, in_axes=(None, 0), reduce="mean"))


def simulate(paths: int, seed: int) -> tuple[Array, Array]:
    """Numbers of paths, a batch more each time; and the averages of `products` over so many."""
    rng = np.random.default_rng(seed)
    batches = [averages(MARKET, rng.standard_normal((BATCH, STEPS))) for _ in range(0, paths, BATCH)]
    counts = np.arange(1.0, len(batches) + 1.0)
    return BATCH * counts, np.cumsum(batches, axis=0) / counts[:, None, None]


def estimates(paths: Array, means: Array, answer: Array) -> dict[str, tuple[Array, Array]]:
    """Of each option after so many paths: its numbers and their standard errors. With a control, the third."""
    a, g, aa, gg, ag = means.swapaxes(0, 1)
    variance, variance_of_control, covariance = aa - a * a, gg - g * g, ag - a * g
    slope = covariance / variance_of_control
    found = {
        "geometric": (g, variance_of_control),
        "arithmetic": (a, variance),
        "arithmetic, with control": (a - slope * (g - answer), variance - slope * covariance),
    }
    return {name: (its, np.sqrt(spread / paths[:, None])) for name, (its, spread) in found.items()}


def band(axes: Axes, paths: Array, found: tuple[Array, Array], i: int, colour: str, name: str) -> None:
    """An estimate and twice its standard error to both sides, against the number of paths."""
    its, error = found[0][:, i], found[1][:, i]
    axes.fill_between(paths, its - 2 * error, its + 2 * error, color=colour, alpha=0.25, linewidth=0)
    axes.plot(paths, its, color=colour, linewidth=2, label=name)


def draw(paths: Array, found: dict[str, tuple[Array, Array]], answer: Array, output: str) -> None:
    """Save a picture: the geometric option beside its known answers, the arithmetic one without and with control."""
    figure = Figure(figsize=(9, 9), layout="constrained")
    axes = figure.subplot_mosaic([list(NAMES[:3]), list(NAMES[3:]), ["arithmetic"] * 3], height_ratios=[1, 1, 1.4])
    for i, name in enumerate(NAMES):
        band(axes[name], paths, found["geometric"], i, BLUE, "estimated, ± 2 standard errors")
        axes[name].axhline(answer[i], color=ORANGE, linestyle="--", label="known answer")
        axes[name].set_title(name)
    axes["price"].legend(fontsize="small")
    for name, colour in (("arithmetic", GREY), ("arithmetic, with control", BLUE)):
        band(axes["arithmetic"], paths, found[name], 0, colour, f"{name}, ± 2 standard errors")
    axes["arithmetic"].set(title="The Asian call itself, of the arithmetic average: price", xlabel="paths")
    axes["arithmetic"].legend()
    for its_axes in axes.values():
        its_axes.set_xscale("log")
        its_axes.grid(alpha=0.3)
    figure.suptitle("A call on the geometric average of a price, by simulation")
    figure.savefig(output, dpi=150)


def row(name: str, cells: list[str]) -> str:
    """A line of the table."""
    return f"{name:40}" + "".join(cells)


def main() -> None:
    """Read the command line, simulate, report."""
    parser = argparse.ArgumentParser(description="Price an Asian option and its derivatives by simulation.")
    parser.add_argument("--paths", type=int, default=1_000_000, help=f"in batches of {BATCH} (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: %(default)s)")
    parser.add_argument("--output", default="asian_option.png", help="where the picture goes (default: %(default)s)")
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
    print(f"geometric: {worst:.2f} standard errors from the known answer at worst")
    draw(paths, found, answer, options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
