"""Heston's model: the Jacobian of 40 option prices with respect to five parameters, and a calibration, on one core.

The program is `examples/heston.py`: a characteristic function of complex numbers at 320 points, and integrals that are
products with a matrix. The peer is JAX on the CPU, with float64: prices and their Jacobian in forward mode are one
compiled function each. Reverse mode takes JAX longer, for 40 results. The calibration is SciPy's `least_squares` with
the same settings in all cases; the third way is NumPy, whose derivatives SciPy computes by differences. QuantLib, if it
is installed, calibrates its own model to the same quotes in C++, with 64 nodes and its own method of Levenberg and
Marquardt.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy
from peers import jax, on_one_core
from scipy.optimize import least_squares
from timing import CALLS, Row, beside, best_of, faster, main

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))


def written_with(jnp: Any, program: Any) -> Any:
    """Return the prices as a function of arrays of NumPy or JAX."""
    shape = len(program.YEARS), len(program.NODES)
    points, times = (jnp.asarray(each).reshape(shape) for each in (program.POINTS, program.TIMES))
    factors = jnp.asarray(program.FACTORS.swapaxes(0, 1))

    def prices(parameters: Any) -> Any:
        variance, kappa, theta, sigma, rho = parameters
        b = kappa - 1j * rho * sigma * points
        d = jnp.sqrt(b * b + sigma**2 * (points * points + 1j * points))
        g = (b - d) / (b + d)
        decay = jnp.exp(-d * times)
        drift = kappa * theta * ((b - d) * times - 2.0 * jnp.log((1.0 - g * decay) / (1.0 - g)))
        values = jnp.exp((drift + variance * (b - d) * (1.0 - decay) / (1.0 - g * decay)) / sigma**2)
        return 1.0 + jnp.einsum("tkn,tn->kt", factors, values).real.ravel()

    return prices


def in_jax(program: Any) -> tuple[Any, Any]:
    """Return the prices and their Jacobian in JAX, as functions that return NumPy arrays."""
    j = jax()
    prices = written_with(j.numpy, program)
    of_prices, of_slopes = j.jit(prices), j.jit(j.jacfwd(prices))
    return lambda x: numpy.asarray(of_prices(x)), lambda x: numpy.asarray(of_slopes(x))


def calibrated(program: Any, functions: tuple[Any, Any], quotes: Any) -> Any:
    """Return the parameters that SciPy finds, given functions for prices and their Jacobian."""
    prices, slopes = functions
    settings: dict[str, Any] = {"bounds": program.BOUNDS, "x_scale": "jac", "ftol": 1e-12, "xtol": 1e-12}
    return least_squares(lambda x: prices(x) - quotes, program.START, slopes, gtol=1e-14, **settings).x


def in_quantlib(program: Any, quotes: Any) -> Callable[[], Any] | None:
    """Return a calibration by QuantLib from the same guess, or None if it is not installed."""
    if importlib.util.find_spec("QuantLib") is None:
        return None
    ql = importlib.import_module("QuantLib")
    today, days = ql.Date(1, 1, 2026), ql.Actual365Fixed()
    ql.Settings.instance().evaluationDate = today
    flat = ql.YieldTermStructureHandle(ql.FlatForward(today, 0.0, days))
    spot = ql.QuoteHandle(ql.SimpleQuote(1.0))
    terms = []
    for row, strikes in zip(program.volatilities(quotes), numpy.exp(program.LOG_STRIKES), strict=True):
        for volatility, strike, years in zip(row, strikes, program.YEARS, strict=True):
            terms.append((ql.Period(round(365 * years), ql.Days), strike, volatility))

    def run() -> Any:
        variance, kappa, theta, sigma, rho = map(float, program.START)
        model = ql.HestonModel(ql.HestonProcess(flat, flat, spot, variance, kappa, theta, sigma, rho))
        engine, helpers = ql.AnalyticHestonEngine(model, 64), []
        for period, strike, volatility in terms:
            quote = ql.QuoteHandle(ql.SimpleQuote(float(volatility)))
            kind = ql.BlackCalibrationHelper.PriceError
            helper = ql.HestonModelHelper(period, ql.NullCalendar(), 1.0, float(strike), quote, flat, flat, kind)
            helper.setPricingEngine(engine)
            helpers.append(helper)
        model.calibrate(helpers, ql.LevenbergMarquardt(), ql.EndCriteria(500, 50, 1e-12, 1e-12, 1e-12))
        return numpy.array([model.v0(), model.kappa(), model.theta(), model.sigma(), model.rho()])

    return run


def many(function: Any, x: Any, calls: int) -> None:
    """Call a function several times."""
    for _ in range(calls):
        function(x)


def measure(quick: bool) -> list[Row]:
    """Check that both libraries agree, and compare their times."""
    on_one_core()
    import heston as program  # noqa: PLC0415  the example compiles nothing before the core is chosen

    ours, peers = (program.prices, program.slopes), in_jax(program)
    by_differences = written_with(numpy, program), "2-point"
    quotes = program.prices(program.KNOWN)
    for one, other in zip(ours, peers, strict=True):
        numpy.testing.assert_allclose(one(program.START), other(program.START), rtol=1e-9, atol=1e-12)
    for functions in (ours, peers, by_differences):
        numpy.testing.assert_allclose(calibrated(program, functions, quotes), program.KNOWN, rtol=1e-6)
    turns, calls = (1, 10) if quick else (7, CALLS)
    rows = []
    for claim, i, target in (("40 prices", 0, 3), ("Jacobian of 40 prices", 1, 5)):
        names = {"gradwalk": ours[i], "JAX": peers[i]}
        times = best_of(turns, {name: partial(many, f, program.KNOWN, calls) for name, f in names.items()})
        each = {name: 1e6 * seconds / calls for name, seconds in times.items()}
        rows.append(faster(f"Heston, {claim}", "us", each["gradwalk"], ("JAX", each["JAX"]), target))
    runs: dict[str, Callable[[], object]] = {
        name: partial(calibrated, program, functions, quotes)
        for name, functions in (("gradwalk", ours), ("JAX", peers), ("NumPy, differences", by_differences))
    }
    quantlib = in_quantlib(program, quotes)
    if quantlib:
        numpy.testing.assert_allclose(quantlib(), program.KNOWN, rtol=0.03)  # maturities are whole days
        runs["QuantLib"] = quantlib
    times = best_of(turns, runs)
    rows.append(faster("Heston, calibration by SciPy", "ms", 1e3 * times["gradwalk"], ("JAX", 1e3 * times["JAX"]), 1))
    rows += [
        beside("Heston, calibration", "ms", 1e3 * times["gradwalk"], (name, 1e3 * times[name]))
        for name in ("NumPy, differences", "QuantLib")
        if name in times
    ]
    return rows


if __name__ == "__main__":
    main(measure)
