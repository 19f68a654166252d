"""Newton's and Brent's methods as recorded programs, so that `jit` and `vmap` find roots without calling Python.

They take the same steps as SciPy's `newton` and `brentq` and return the same numbers. If SciPy would raise an
exception, they return nan. SciPy's tolerances assume float64; in float32, `_if_coarse` makes them larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from gradwalk.loops import while_loop
from gradwalk.math import abs as absolute
from gradwalk.math import equal, less, less_equal, sign, where
from gradwalk.program.program import Program
from gradwalk.program.tracing.trace import Recording

Function = Callable[[Any], Any]

_GOES_ON, _FOUND, _LOST = 0.0, 1.0, 2.0  # states of a search
_EPSILON = 2.0**-23  # machine epsilon of float32


def searched(
    search: Callable[..., Any], functions: Sequence[Program], starts: int, settings: Sequence[float]
) -> Program:
    """Record a search as a program whose inputs are the starting values and the parameters.

    Args:
        search: `newton` or `brentq`.
        functions: The programs that `search` calls. Their inputs are x and the parameters.
        starts: Number of starting values.
        settings: xtol, rtol and maxiter.
    """
    count = functions[0].inputs - 1

    def found(*operands: Any) -> Any:
        params = list(operands[starts:])
        at = [lambda x, f=f: f([x, *params])[0] for f in functions]
        return search(*at, *operands[:starts], *settings)

    recording = Recording(staged=True)
    outputs, _ = recording.run(found, [recording.add_inputs(1.0, "x") for _ in range(starts + count)], {})
    return recording.program(outputs)


def newton(f: Function, slope: Function, start: Any, xtol: float, rtol: float, maxiter: float) -> Any:
    """Find a root by Newton's method; return nan if the search fails. `slope` is the derivative of `f`.

    The search ends when a step is at most `xtol + rtol * |x|`.
    """

    def step(state: Any) -> Any:
        x, _, count = state
        value, by_x = f(x), slope(x)
        new = x - value / by_x
        # SciPy's default xtol, 1.48e-8, is sqrt(epsilon) of float64. In float32, sqrt(epsilon) of float32 is added.
        # After a step of this size, the error is about the square of the step.
        rounding = _if_coarse(x, math.sqrt(_EPSILON) * absolute(x) + 4.0 * _EPSILON)
        is_near = less_equal(absolute(new - x), xtol + rtol * absolute(x) + rounding)
        stands = where(equal(value, 0.0), _FOUND, where(equal(by_x, 0.0), _LOST, is_near))
        return where(equal(value, 0.0), x, new), stands, count + 1.0

    def goes_on(state: Any) -> Any:
        _, stands, count = state
        return equal(stands, _GOES_ON) & less(count, maxiter)

    first: Any = (start, _GOES_ON, 0.0)
    x, stands, _ = while_loop(goes_on, step, first)
    return where(equal(stands, _FOUND), x, math.nan)


def brentq(f: Function, low: Any, high: Any, xtol: float, rtol: float, maxiter: float) -> Any:
    """Find a root between `low` and `high` by Brent's method; return nan if the search fails.

    `f` must have different signs at `low` and `high`. The search ends when x is known to within `xtol + rtol * |x|`.
    """

    def step(state: Any) -> Any:
        (before, x, other), (f_before, f_x, f_other), (last, move), _, count = state
        # The root is between x and `other`. If f changed its sign in the last step, `other` is set to the previous x.
        changed = less(sign(f_before) * sign(f_x), 0.0)
        other, f_other = where(changed, before, other), where(changed, f_before, f_other)
        last, move = where(changed, x - before, last), where(changed, x - before, move)
        swap = less(absolute(f_other), absolute(f_x))  # make x the point with the smaller |f|
        before, x, other = where(swap, x, before), where(swap, other, x), where(swap, x, other)
        f_before, f_x, f_other = where(swap, f_x, f_before), where(swap, f_other, f_x), where(swap, f_x, f_other)
        least = (xtol + rtol * absolute(x) + _if_coarse(x, 4.0 * _EPSILON * absolute(x))) / 2.0
        half = (other - x) / 2.0
        is_found = equal(f_x, 0.0) | less(absolute(half), least)
        secant = -f_x * (x - before) / (f_x - f_before)
        by_before, by_other = (f_before - f_x) / (before - x), (f_other - f_x) / (other - x)
        inverse = -f_x * (f_other * by_other - f_before * by_before) / (by_other * by_before * (f_other - f_before))
        tried = where(equal(before, other), secant, inverse)
        is_short = less(least, absolute(last)) & less(absolute(f_x), absolute(f_before))
        is_short = is_short & less(2.0 * absolute(tried), absolute(last))
        is_short = is_short & less(2.0 * absolute(tried), 3.0 * absolute(half) - least)
        last, move = where(is_short, move, half), where(is_short, tried, half)
        moved = x + where(less(least, absolute(move)), move, where(less(0.0, half), least, -least))
        new = where(is_found, x, moved)
        return (x, new, other), (f_x, f(new), f_other), (last, move), where(is_found, _FOUND, _GOES_ON), count + 1.0

    f_low, f_high = f(low), f(high)
    is_root = equal(f_low, 0.0) | equal(f_high, 0.0)
    stands = where(is_root, _FOUND, where(less(sign(f_low) * sign(f_high), 0.0), _GOES_ON, _LOST))
    first = ((low, high, 0.0), (f_low, f_high, 0.0), (0.0, 0.0), stands, 0.0)
    last = while_loop(lambda s: equal(s[3], _GOES_ON) & less(s[4], maxiter), step, first)
    x = where(equal(f_low, 0.0), low, last[0][1])
    return where(equal(last[3], _FOUND), x, math.nan)


def _if_coarse(x: Any, tolerance: Any) -> Any:
    """Return `tolerance` in float32 arithmetic, in which 1 + 2**-30 rounds to 1. Return 0 in float64 arithmetic."""
    size = 1.0 + absolute(x)
    return where(equal(size + size * 2.0**-30, size), tolerance, 0.0)
