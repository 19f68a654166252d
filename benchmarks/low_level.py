"""`scipy.integrate.quad` over a recorded function that runs without Python: `low_level_callable`.

The integrand is a payoff times a density of two parts, written as plain scalar Python. It is compared with the same
Python function, with the function returned by `jit`, and with the same source compiled by Numba. The derivative with
respect to a parameter is measured as well; with Numba, users write its formula by hand.
"""

from __future__ import annotations

import math as python_math
from collections.abc import Callable
from typing import Any

import numpy
from timing import Row, beside, best_of, faster, main, peer

from gradwalk import grad, jit, low_level_callable, math

PARAMETERS = (1.1, 0.002, 0.35, 0.7)  # strike, two standard deviations, and the weight of the first: a sharp peak
RANGE = (-2.0, 2.0)


def integrand(module: Any) -> Callable[..., Any]:
    """Return the payoff times its density, written with the functions of a module."""
    exp, sqrt, pi = module.exp, module.sqrt, python_math.pi

    def payoff(x: Any, strike: Any, narrow: Any, wide: Any, weight: Any) -> Any:
        first = weight * exp(-x * x / (2.0 * narrow * narrow)) / narrow
        second = (1.0 - weight) * exp(-x * x / (2.0 * wide * wide)) / wide
        gain = exp(x) - strike
        smoothed = 0.5 * (gain + sqrt(gain * gain + 1e-4))
        return smoothed * (first + second) / sqrt(2.0 * pi)

    return payoff


def by_numba(function: Callable[..., Any]) -> Any:
    """Compile the function with Numba as a callback for SciPy."""
    numba, scipy = peer("numba", "numba"), peer("scipy", "scipy")
    compiled = numba.njit(function)

    def of_row(n: int, x: Any, _: Any) -> Any:
        return compiled(x[0], x[1], x[2], x[3], x[4])

    types = numba.types
    signature = types.double(types.intc, types.CPointer(types.double), types.voidptr)
    return scipy.LowLevelCallable(numba.cfunc(signature)(of_row).ctypes, None, "double (int, double *, void *)")


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    quad = peer("scipy.integrate", "scipy").quad
    plain = integrand(python_math)
    recorded = jit(integrand(math))
    slope = jit(grad(integrand(math), 1))
    recorded(0.0, *PARAMETERS)
    slope(0.0, *PARAMETERS)
    integrands = {
        "ours": low_level_callable(recorded.program),
        "Python": plain,
        "jit": recorded,
        "Numba": by_numba(plain),
        "slope": low_level_callable(slope.program),
        "slope by jit": slope,
    }

    def integrated(name: str) -> Callable[[], Any]:
        return lambda: quad(integrands[name], *RANGE, args=PARAMETERS, epsabs=0.0, epsrel=1e-12)

    runs = {name: integrated(name) for name in integrands}
    results = {name: run()[0] for name, run in runs.items()}
    assert numpy.allclose([results[name] for name in ("Python", "jit", "Numba")], results["ours"], rtol=1e-12)
    assert numpy.isclose(results["slope"], results["slope by jit"], rtol=1e-12)
    us = {name: 1e6 * seconds for name, seconds in best_of(3 if quick else 50, runs).items()}
    claim = f"quad of a function of {len(recorded.program)} instructions"
    return [
        faster(claim, "us", us["ours"], ("Python", us["Python"]), 2),
        faster(claim, "us", us["ours"], ("by jit, called from Python", us["jit"]), 2),
        beside(claim, "us", us["ours"], ("compiled by Numba", us["Numba"])),
        faster("quad of its derivative", "us", us["slope"], ("by jit, called from Python", us["slope by jit"]), 2),
    ]


if __name__ == "__main__":
    main(measure)
