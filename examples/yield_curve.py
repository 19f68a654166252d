"""Calibrate a Nelson-Siegel-Svensson yield curve to coupon bonds, and compute a hedge from its derivatives.

    python examples/yield_curve.py --noise 0.02 --output yield_curve.png

The bonds are priced with a known curve, plus noise. SciPy's `least_squares` recovers the curve's six parameters, using
the Jacobian of all prices. The implicit function theorem then gives the sensitivity of a pension's value to each bond
quote, from second derivatives of the calibration loss; each sensitivity is the number of bonds that hedges the pension.
The results are compared with the true parameters and with calibrations to bumped quotes. Requires matplotlib and scipy:
`pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import least_squares

from gradwalk import grad, hessian, jacobian, jit
from gradwalk.math import exp

Array = NDArray[np.float64]

TRUE = np.array([0.030, -0.015, -0.020, 0.025, 1.6, 9.0])  # level, slope, two humps, and their positions in years
GUESS = np.array([0.025, 0.0, 0.0, 0.0, 1.0, 6.0])
NAMES = ("level", "slope", "first hump", "second hump", "first place", "second place")
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#888888"  # color-blind safe


class Bond(NamedTuple):
    """A bond with face value 100 that pays half of its annual coupon every six months."""

    years: float
    coupon: float

    def payments(self) -> list[tuple[float, float]]:
        """Return the time and amount of each payment."""
        times = [half / 2 for half in range(1, round(2 * self.years) + 1)]
        return [(t, self.coupon / 2 + (100.0 if t == self.years else 0.0)) for t in times]


MATURITIES = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 22, 25, 28, 30)
BONDS = [Bond(years, 1.5 + i % 4) for i, years in enumerate(MATURITIES)]
PENSION = [(float(year), 1000.0) for year in range(1, 26)]


def zero_rate(p: Any, t: float) -> Any:
    """Return the continuously compounded annual zero rate at maturity t in years."""
    first, second = exp(-t / p[4]), exp(-t / p[5])
    a, b = (1.0 - first) * p[4] / t, (1.0 - second) * p[5] / t
    return p[0] + p[1] * a + p[2] * (a - first) + p[3] * (b - second)


def value(p: Any, payments: Sequence[tuple[float, float]]) -> Any:
    """Return the present value of payments."""
    return sum(amount * exp(-t * zero_rate(p, t)) for t, amount in payments)


def prices(p: Any) -> Any:
    """Return the prices of all bonds."""
    return np.array([value(p, bond.payments()) for bond in BONDS])


def loss(p: Any, quotes: Any) -> Any:
    """Return half the sum of squared pricing errors, which the calibration minimizes."""
    return sum((price - quote) ** 2 for price, quote in zip(prices(p), quotes, strict=True)) / 2.0


price_all, price_derivatives = jit(prices), jit(jacobian(prices))


def calibrated(quotes: Array) -> Array:
    """Fit the parameters to the quotes."""
    tight = {"x_scale": "jac", "xtol": 1e-14, "ftol": 1e-15, "gtol": 1e-15}
    found = least_squares(lambda p: price_all(p) - quotes, GUESS, jac=price_derivatives, **tight)
    assert found.success, found.message
    return np.asarray(found.x)


def risk(p: Array, quotes: Array) -> Array:
    """Return d(pension value) / d(quote) by the implicit function theorem: the gradient of the loss stays 0."""
    by_quotes = -np.linalg.solve(hessian(loss)(p, quotes), jacobian(grad(loss), argnums=1)(p, quotes))
    return np.asarray(grad(value)(p, PENSION) @ by_quotes)


def risk_by_bumps(quotes: Array, bump: float) -> Array:
    """Return the same sensitivities by two calibrations per quote."""
    sides = [
        [value(calibrated(quotes + side * row), PENSION) for side in (1, -1)] for row in bump * np.eye(len(quotes))
    ]
    return np.array([(up - down) / (2 * bump) for up, down in sides])


def draw(p: Array, quotes: Array, risks: Array, bumped: Array, output: str) -> None:
    """Save a picture of the curves, the pricing errors, and the risk."""
    figure = Figure(figsize=(8, 6.5), layout="constrained")
    axes = figure.subplot_mosaic([["curve", "curve"], ["errors", "risk"]], height_ratios=[1.2, 1])
    times = np.linspace(0.05, 30.0, 300)
    curves = ((GUESS, GRAY, ":", "first guess"), (TRUE, ORANGE, "-", "true"), (p, BLUE, "--", "calibrated"))
    for its, color, style, name in curves:
        rates = [100.0 * zero_rate(its, t) for t in times.tolist()]
        axes["curve"].plot(times, rates, color=color, linestyle=style, linewidth=3, label=name)
    axes["curve"].set(title=f"A yield curve from the prices of {len(BONDS)} bonds", ylabel="zero rate in % a year")
    axes["errors"].vlines(MATURITIES, 0.0, 100.0 * (quotes - price_all(p)), color=BLUE, linewidth=5)
    axes["errors"].set(title="Errors of prices", ylabel="quote - price in cents")
    axes["risk"].vlines(MATURITIES, 0.0, risks, color=BLUE, linewidth=5, label="by derivatives")
    axes["risk"].plot(MATURITIES, bumped, "D", color=ORANGE, markersize=4, label="by bumps")
    axes["risk"].set(title="Bonds that hedge the pension", ylabel="bonds, of 100 each")
    for its_axes in axes.values():
        its_axes.set_xlabel("maturity in years")
        its_axes.axhline(0.0, color="gray", linewidth=0.8)
        its_axes.grid(alpha=0.3)
    axes["curve"].set_ylim(bottom=0.0)
    axes["curve"].legend(loc="lower right")
    axes["risk"].legend(loc="upper left")
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, calibrate, and print the comparison."""
    parser = argparse.ArgumentParser(description="Calibrate a yield curve to bonds, and hedge.")
    parser.add_argument("--noise", type=float, default=0.02, help="noise of the quotes, per 100 (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    parser.add_argument("--output", default="yield_curve.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    quotes = prices(TRUE) + np.random.default_rng(options.seed).normal(0.0, options.noise, len(BONDS))
    p = calibrated(quotes)
    j = price_derivatives(p)
    deviations = options.noise * np.sqrt(np.diag(np.linalg.inv(j.T @ j)))
    print("parameter      calibrated  known answer  standard error")
    for name, *numbers in zip(NAMES, p, TRUE, deviations, strict=True):
        print(f"{name:13}" + "".join(f"{number:13.6f}" for number in numbers))
    worst = max(abs(zero_rate(p, t / 2) - zero_rate(TRUE, t / 2)) for t in range(1, 61))
    print(f"curve up to 30 years: at most {1e4 * worst:.4f} basis points from the known answer")
    risks, bumped = risk(p, quotes), risk_by_bumps(quotes, 0.001)
    print(f"pension: {value(p, PENSION):.2f}, known answer {value(TRUE, PENSION):.2f}")
    print(f"its hedge: up to {risks.max():.4f} bonds, at most {np.abs(risks - bumped).max():.1e} from the known answer")
    draw(p, quotes, risks, bumped, options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
