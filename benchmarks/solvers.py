"""Differentiable solvers: a predator-prey equation by `odeint`, and an implied volatility by `root_scalar`.

The peers are JAX, with `jax.experimental.ode.odeint` (same method and tolerances) and `lax.custom_root` around Newton's
method, compiled and warm; and, for the values, SciPy's `solve_ivp` and `root_scalar` on compiled functions. All start
from numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
from peers import jax, on_one_core
from scipy import integrate, optimize
from timing import CALLS, Row, beside, best_of, main

from gradwalk import grad, jit, solvers, vmap
from gradwalk import math as gradwalk_math

Run = Callable[[], object]

START = numpy.array([1.0, 1.0])
RATES = numpy.array([1.5, 1.0, 3.0, 1.0])
TIMES = numpy.linspace(0.0, 10.0, 11)
TOLERANCE = 1.4e-8  # JAX's default
OPTION = (10.0, 100.0, 105.0, 0.01, 1.0)  # price, spot, strike, rate, years


def prey(array: Any, y: Any, t: Any, p: Any) -> Any:
    """Return the time derivatives of the populations of prey and predators."""
    return array([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]])


def call_price(m: Any, cdf: Any, volatility: Any, spot: Any, strike: Any, rate: Any, years: Any) -> Any:
    """Return the Black-Scholes price of a call option."""
    spread = volatility * m.sqrt(years)
    d = (m.log(spot / strike) + rate * years) / spread + spread / 2.0
    return spot * cdf(d) - strike * m.exp(-rate * years) * cdf(d - spread)


def populations() -> dict[str, Run]:
    """Return runs for the sum of squares of the solution and its gradient with respect to start and rates."""

    def total(start: Any, rates: Any) -> Any:
        return (solvers.odeint(partial(prey, numpy.array), start, TIMES, rates) ** 2).sum()

    value, gradient = jit(total), jit(grad(total, argnums=(0, 1)))
    j = jax()
    from jax.experimental.ode import odeint  # noqa: PLC0415  after float64 has been enabled

    def total_in_jax(start: Any, rates: Any) -> Any:
        found = odeint(partial(prey, j.numpy.array), start, TIMES, rates, rtol=TOLERANCE, atol=TOLERANCE)
        return (found**2).sum()

    given = j.numpy.array(START), j.numpy.array(RATES)
    value_in_jax, gradient_in_jax = j.jit(total_in_jax), j.jit(j.grad(total_in_jax, argnums=(0, 1)))
    field = jit(lambda t, y, p: prey(numpy.array, y, t, p))

    def total_in_scipy() -> Any:
        settings = {"rtol": TOLERANCE, "atol": TOLERANCE, "t_eval": TIMES}
        found = integrate.solve_ivp(field, (TIMES[0], TIMES[-1]), START, args=(RATES,), **settings)
        return (found.y**2).sum()

    return {
        "value": lambda: value(START, RATES),
        "value JAX": lambda: value_in_jax(*given).block_until_ready(),
        "value SciPy": total_in_scipy,
        "gradient": lambda: gradient(START, RATES),
        "gradient JAX": lambda: j.block_until_ready(gradient_in_jax(*given)),
    }


def volatilities(count: int) -> dict[str, Run]:
    """Return runs for an implied volatility, its gradient, and gradients of a batch of prices."""
    price = partial(call_price, gradwalk_math, gradwalk_math.norm_cdf)

    def implied(quote: Any, *others: Any) -> Any:
        return solvers.root_scalar(lambda v: price(v, *others) - quote, x0=0.3, xtol=1e-12)

    positions = tuple(range(len(OPTION)))
    value, gradient = jit(implied), jit(grad(implied, argnums=positions))
    in_batch = jit(vmap(grad(implied), in_axes=(0, None, None, None, None)))
    j = jax()
    price_in_jax = partial(call_price, j.numpy, j.scipy.stats.norm.cdf)

    def newton(f: Any, start: Any) -> Any:
        def step(state: Any) -> Any:
            x, _, count = state
            move = f(x) / j.grad(f)(x)
            return x - move, j.numpy.abs(move), count + 1

        going = lambda state: (state[1] > 1e-12) & (state[2] < 50)  # noqa: E731
        return j.lax.while_loop(going, step, (start, math.inf, 0))[0]

    def implied_in_jax(quote: Any, *others: Any) -> Any:
        residual = lambda v: price_in_jax(v, *others) - quote  # noqa: E731
        return j.lax.custom_root(residual, 0.3, newton, lambda g, y: y / g(1.0))

    value_in_jax, gradient_in_jax = j.jit(implied_in_jax), j.jit(j.grad(implied_in_jax, argnums=positions))
    batch_in_jax = j.jit(j.vmap(j.grad(implied_in_jax), in_axes=(0, None, None, None, None)))
    quotes = numpy.linspace(6.0, 14.0, count)
    quotes_in_jax = j.numpy.array(quotes)
    residual, slope = jit(lambda v, q, *others: price(v, *others) - q), jit(grad(price))

    def value_in_scipy() -> Any:
        fprime = lambda v, _, *others: slope(v, *others)  # noqa: E731
        return optimize.root_scalar(residual, OPTION, x0=0.3, fprime=fprime, method="newton", xtol=1e-12).root

    return {
        "value": lambda: value(*OPTION),
        "value JAX": lambda: value_in_jax(*OPTION).block_until_ready(),
        "value SciPy": value_in_scipy,
        "gradient": lambda: gradient(*OPTION),
        "gradient JAX": lambda: j.block_until_ready(gradient_in_jax(*OPTION)),
        "batch": lambda: in_batch(quotes, *OPTION[1:]),
        "batch JAX": lambda: j.block_until_ready(batch_in_jax(quotes_in_jax, *OPTION[1:])),
    }


def check(runs: dict[str, Run], tolerance: float) -> None:
    """Raise `AssertionError` if the results differ."""
    for name, run in runs.items():
        kind = name.split()[0]
        found, expected = (numpy.concatenate([numpy.ravel(part) for part in parts(r())]) for r in (run, runs[kind]))
        assert numpy.allclose(found, expected, rtol=tolerance), (name, found, expected)


def parts(result: Any) -> Any:
    """Return the numbers or arrays of a result as a tuple."""
    return result if isinstance(result, tuple) else (result,)


def rows_of(claim: str, runs: dict[str, Run], turns: int, calls: int) -> list[Row]:
    """Return a row for each run of a peer beside gradwalk."""

    def repeated(run: Run) -> Run:
        return lambda: [run() for _ in range(calls)]

    times = best_of(turns, {name: repeated(run) for name, run in runs.items()})
    micros = {name: 1e6 * time / calls for name, time in times.items()}
    pairs = [(name.split()[0], name) for name in runs if " " in name]
    return [beside(f"{claim}, {kind}", "us", micros[kind], (name.split()[1], micros[name])) for kind, name in pairs]


def measure(quick: bool) -> list[Row]:
    """Return the rows of the table of claims."""
    on_one_core()
    count = 10 if quick else 1000
    equations, options = populations(), volatilities(count)
    check(equations, 1e-5)
    check(options, 1e-8)
    turns, calls = (1, 2) if quick else (5, CALLS)
    alone = {name: run for name, run in options.items() if not name.startswith("batch")}
    batches = {name: run for name, run in options.items() if name.startswith("batch")}
    return [
        *rows_of("predators and prey by odeint", equations, turns, calls),
        *rows_of("an implied volatility", alone, turns, calls),
        *rows_of(f"gradients of {count:,} implied volatilities", batches, turns, max(calls // 20, 1)),
    ]


if __name__ == "__main__":
    main(measure)
