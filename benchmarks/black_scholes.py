"""Black-Scholes prices of a million European calls with five derivatives each, as fast as JAX's kernel on one core.

All inputs differ between options, and all six results of each option are written to memory. JAX reads and writes JAX
arrays, gradwalk NumPy arrays. The derivatives in C++ and NumPy are handwritten.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_long
from typing import Any

import numpy
from peers import cpp, jax, on_one_core, pointers
from scipy.special import erf
from timing import Row, beside, best_of, faster, main

from gradwalk import jit, math, threads, value_and_grad, vmap

ALL = (0, 1, 2, 3, 4)
RANGES = ((80.0, 120.0), (80.0, 120.0), (0.0, 0.05), (0.1, 0.5), (0.1, 2.0))  # spot, strike, rate, volatility, years
FIRST = 1000  # options in a first result

Run = Callable[[], Any]
Function = Callable[..., Any]


def black_scholes(functions: Any) -> Function:
    """Return the price of a call, written with a module's exp, log, sqrt and erf."""

    def normal(x: Any) -> Any:
        return (1.0 + functions.erf(x / numpy.sqrt(2.0))) / 2.0

    def price(spot: Any, strike: Any, rate: Any, volatility: Any, years: Any) -> Any:
        deviation = volatility * functions.sqrt(years)
        d = (functions.log(spot / strike) + rate * years) / deviation + deviation / 2.0
        return spot * normal(d) - strike * functions.exp(-rate * years) * normal(d - deviation)

    return price


class JaxFunctions:
    """The functions of JAX under the names of `math`."""

    def __init__(self) -> None:
        numpy_like = jax().numpy
        self.exp, self.log, self.sqrt, self.erf = numpy_like.exp, numpy_like.log, numpy_like.sqrt, jax().lax.erf


def fresh(options: list[Any]) -> Run:
    """Run gradwalk, recording anew at each call."""
    return lambda: jit(vmap(value_and_grad(black_scholes(math), ALL)))(*options)


def replayed(options: list[Any]) -> Run:
    """Run gradwalk with a recorded function."""
    gradients = jit(vmap(value_and_grad(black_scholes(math), ALL)))
    return lambda: gradients(*options)


def by_jax(options: list[Any]) -> Run:
    """Run JAX, compiled."""
    gradients = jax().jit(jax().vmap(jax().value_and_grad(black_scholes(JaxFunctions()), ALL)))
    arrays = [jax().numpy.asarray(option) for option in options]
    return lambda: jax().block_until_ready(gradients(*arrays))


def by_jax_in_blocks(options: list[Any], width: int) -> Run:
    """Run JAX, compiled, with `lax.map` over blocks that fit the caches."""
    gradients = jax().vmap(jax().value_and_grad(black_scholes(JaxFunctions()), ALL))
    compiled = jax().jit(lambda *blocks: jax().lax.map(lambda block: gradients(*block), blocks))
    blocks = [jax().numpy.asarray(option.reshape(-1, width)) for option in options]
    return lambda: jax().block_until_ready(compiled(*blocks))


def by_cpp(options: list[Any]) -> Run:
    """Run `cpp/black_scholes.cpp`."""
    function = cpp("black_scholes").black_scholes

    def run() -> Any:
        value, *derivatives = (numpy.empty_like(options[0]) for _ in range(6))
        function(c_long(len(value)), *pointers([*options, value, *derivatives]))
        return value, derivatives

    return run


def by_numpy(options: list[Any], width: int) -> Run:
    """Run NumPy on blocks of `width` options."""

    def numbers(spot: Any, strike: Any, rate: Any, volatility: Any, years: Any) -> Any:
        root, discount = numpy.sqrt(years), numpy.exp(-rate * years)
        deviation = volatility * root
        d = (numpy.log(spot / strike) + rate * years) / deviation + deviation / 2
        up, down = (0.5 + 0.5 * erf(x * numpy.sqrt(0.5)) for x in (d, d - deviation))
        density = spot * numpy.exp(-d * d / 2) / numpy.sqrt(2 * numpy.pi)
        paid = strike * discount * down
        by_years = density * volatility / (2 * root) + rate * paid
        return spot * up - paid, up, -discount * down, years * paid, density * root, by_years

    def run() -> Any:
        results = [numpy.empty_like(options[0]) for _ in range(6)]
        for start in range(0, len(options[0]), width):
            part = slice(start, start + width)
            for result, its in zip(results, numbers(*(option[part] for option in options)), strict=True):
                result[part] = its
        return results[0], results[1:]

    return run


def agree(runs: dict[str, Run]) -> None:
    """Raise `AssertionError` if the peers do not compute the same numbers."""
    expected = None
    for name, run in runs.items():
        value, derivatives = run()
        numbers = numpy.array([numpy.ravel(array) for array in (value, *derivatives)])
        expected = numbers if expected is None else expected
        numpy.testing.assert_allclose(numbers, expected, rtol=1e-9, atol=1e-9, err_msg=name)


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    count, turns = (20_000, 1) if quick else (1_000_000, 5)
    on_one_core()
    rng = numpy.random.default_rng(0)
    options = [rng.uniform(*bounds, count) for bounds in RANGES]
    few = [option[:FIRST] for option in options]

    def first_by_jax() -> Any:
        jax().clear_caches()
        return by_jax(few)()

    runs = {
        "ours": replayed(options),
        "JAX": by_jax(options),
        "JAX, blocks of 1,000": by_jax_in_blocks(options, 1000),
        "NumPy, blocks of 10,000": by_numpy(options, 10_000),
        "C++": by_cpp(options),
    }
    first = {"ours": fresh(few), "JAX": first_by_jax}
    with threads(1):
        agree(runs)
        agree(first)
        ns = {name: 1e9 / count * time for name, time in best_of(turns, runs).items()}
        ms = {name: 1e3 * time for name, time in best_of(1, first).items()}
    claim = "Black-Scholes, price and five derivatives, an option"
    return [
        faster(claim, "ns", ns["ours"], ("JAX", ns["JAX"]), 1),
        faster(claim, "ns", ns["ours"], ("JAX, blocks of 1,000", ns["JAX, blocks of 1,000"]), 1),
        faster(claim, "ns", ns["ours"], ("NumPy, blocks of 10,000", ns["NumPy, blocks of 10,000"]), 1),
        beside(claim, "ns", ns["ours"], ("C++", ns["C++"])),
        beside(f"Black-Scholes, first result, of {FIRST:,} options", "ms", ms["ours"], ("JAX", ms["JAX"])),
    ]


if __name__ == "__main__":
    main(measure)
