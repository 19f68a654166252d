"""Calibrate Heston's model of stochastic volatility to 40 option quotes, with exact derivatives of complex functions.

    python examples/heston.py

The characteristic function is written as in papers, with complex numbers, in the form without a discontinuity
(Albrecher, Mayer, Schoutens and Tistaert, "The little Heston trap", 2007). `vmap` computes it for all maturities and
all nodes of the integral together, and `jacobian` computes its derivatives with respect to the five parameters. Prices
are integrals of the characteristic function (Lewis, "A simple option formula for general jump-diffusion and other
exponential Lévy processes", 2001). Sums replace the integrals, and the same sums of its derivatives are the derivatives
of the prices. The quotes are synthetic, so the parameters that the calibration has to find are known. The picture shows
the volatilities that the quotes imply, and those of the calibrated model.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, least_squares
from scipy.special import ndtr

from gradwalk import cmath, jacobian, jit, vmap

Array = NDArray[np.float64]

NAMES = ("variance", "reversion", "long-run variance", "volatility of variance", "correlation")
KNOWN = np.array([0.04, 1.5, 0.06, 0.5, -0.7])
START = np.array([0.09, 3.0, 0.09, 0.3, -0.2])
BOUNDS = ([1e-4, 1e-2, 1e-4, 1e-2, -0.999], [1.0, 20.0, 1.0, 5.0, 0.999])
YEARS = np.array([0.25, 0.5, 1.0, 2.0, 3.0])
LOG_STRIKES = np.linspace(-0.35, 0.25, 8)[:, None] * np.sqrt(YEARS)  # log(strike / forward): a column per maturity
NODES, WEIGHTS = np.polynomial.laguerre.laggauss(64)


def characteristic(parameters: Any, u: Any, years: Any) -> Any:
    """Return the characteristic function of the logarithm of the asset's price, divided by its forward price."""
    variance, kappa, theta, sigma, rho = parameters
    b = kappa - 1j * rho * sigma * u
    d = cmath.sqrt(b * b + sigma**2 * (u * u + 1j * u))
    g = (b - d) / (b + d)
    decay = cmath.exp(-d * years)
    drift = kappa * theta * ((b - d) * years - 2.0 * cmath.log((1.0 - g * decay) / (1.0 - g)))
    return cmath.exp((drift + variance * (b - d) * (1.0 - decay) / (1.0 - g * decay)) / sigma**2)


POINTS, TIMES = (grid.ravel() for grid in np.meshgrid(NODES - 0.5j, YEARS))
FACTORS = -np.exp((0.5 - 1j * NODES) * LOG_STRIKES[..., None]) * WEIGHTS * np.exp(NODES) / (NODES**2 + 0.25) / np.pi
of_all = jit(vmap(characteristic, in_axes=(None, 0, 0)))
slopes_of_all = jit(vmap(jacobian(characteristic), in_axes=(None, 0, 0)))


def integrals(values: Any) -> Any:
    """Integrate functions that are given for all maturities and nodes; there is a row for each strike and maturity."""
    of_maturities = FACTORS.swapaxes(0, 1) @ values.reshape(len(YEARS), len(NODES), -1)
    return of_maturities.real.swapaxes(0, 1).reshape(LOG_STRIKES.size, -1)


def prices(parameters: Array) -> Any:
    """Return the prices of calls on a forward price of 1, for all strikes and maturities."""
    return 1.0 + integrals(of_all(parameters, POINTS, TIMES)).ravel()


def slopes(parameters: Array) -> Any:
    """Return the derivatives of all prices with respect to the parameters."""
    return integrals(slopes_of_all(parameters, POINTS, TIMES))


def calibrate(quotes: Array) -> Any:
    """Return SciPy's result of the least-squares fit of the five parameters to quoted prices."""
    settings: dict[str, Any] = {"bounds": BOUNDS, "x_scale": "jac", "ftol": 1e-12, "xtol": 1e-12, "gtol": 1e-14}
    return least_squares(lambda x: prices(x) - quotes, START, slopes, **settings)


def volatilities(quotes: Array) -> Array:
    """Return the volatilities with which the formula of Black and Scholes gives these prices, one row per strike."""

    def error(volatility: float, log_strike: float, years: float, price: float) -> float:
        width = volatility * np.sqrt(years)
        d = -log_strike / width + width / 2.0
        return float(ndtr(d) - np.exp(log_strike) * ndtr(d - width) - price)

    rows = zip(LOG_STRIKES.ravel(), np.tile(YEARS, len(LOG_STRIKES)), quotes, strict=True)
    return np.array([brentq(error, 1e-3, 3.0, row) for row in rows]).reshape(LOG_STRIKES.shape)


def draw(quotes: Array, found: Array, path: str) -> None:
    """Draw the implied volatilities of the quotes and of the calibrated model."""
    figure, axes = plt.subplots(figsize=(8.0, 4.6), layout="constrained")
    parts = [volatilities(numbers) for numbers in (quotes, found)]
    for years, strikes, quoted, fitted in zip(YEARS, LOG_STRIKES.T, *[part.T for part in parts], strict=True):
        [line] = axes.plot(np.exp(strikes), 100.0 * fitted, label=f"{years:g} years" if years != 1.0 else "1 year")
        axes.plot(np.exp(strikes), 100.0 * quoted, "o", color=line.get_color(), markersize=4.0)
    axes.set(xlabel="strike / forward price", ylabel="implied volatility, %")
    axes.set_title("Heston's model (lines), calibrated to 40 quotes (dots)", loc="left")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Parse the command line, make quotes, calibrate the model to them, and draw both."""
    parser = argparse.ArgumentParser(description="Calibrate Heston's model to synthetic option quotes.")
    parser.add_argument("--noise", type=float, default=5e-5, help="error of the quotes (default: %(default)s)")
    parser.add_argument("--output", default="heston.png", help="picture to write (default: %(default)s)")
    options = parser.parse_args()

    quotes = prices(KNOWN)
    steps = 1e-5 * np.eye(len(NAMES))
    differences = np.stack([(prices(KNOWN + step) - prices(KNOWN - step)) / 2e-5 for step in steps], axis=-1)
    print(
        f"largest difference of derivatives from central differences: {np.abs(slopes(KNOWN) - differences).max():.1e}"
    )
    exact = calibrate(quotes)
    start = time.perf_counter()
    exact = calibrate(quotes)
    duration = time.perf_counter() - start
    noisy = quotes + options.noise * np.random.default_rng(0).standard_normal(quotes.shape)
    fitted = calibrate(noisy)
    print(f"{exact.nfev} evaluations in {1e3 * duration:.0f} ms")
    print(f"{'':24}{'known':>10}{'guess':>10}{'exact quotes':>14}{'noisy quotes':>14}")
    for name, *row in zip(NAMES, KNOWN, START, exact.x, fitted.x, strict=True):
        print(f"{name:24}{row[0]:10.4f}{row[1]:10.4f}{row[2]:14.8f}{row[3]:14.4f}")
    draw(noisy, prices(fitted.x), options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
