"""Derivatives of a function of one number by difference quotients, with what is known of their error.

A quotient over a step h is off by truncation, which shrinks with h, and by rounding, which grows as h shrinks. So
several steps are tried, each an eighth of the one before, and the quotient with the smallest bound on both is taken:
truncation is judged by how much the quotient changed from the step before, rounding by a bound on the function's own
rounding error. (Numerical Recipes, 3rd edition, section 5.7, says why no step can be known to be good beforehand.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

Method = Literal["central", "forward"]

_RATIO = 8.0
_STEPS = 9
_SIGNIFICANT = 20.0  # how many times its rounding error a difference of slopes has to be to mean something


class Slope(NamedTuple):
    """A derivative as found: `estimate`, within `bound` of the truth; slopes to the `left` and `right`.

    `quotient`: that over the step `h`; the estimate itself, unless a step was given. `shape`: "smooth", or "kink" where
    the slopes to both sides differ, or "jump" where the function does, or "undefined" where it has no finite number on
    either side.
    """

    estimate: float
    bound: float
    quotient: float
    h: float
    left: float
    right: float
    shape: str


class _Trial(NamedTuple):
    """The quotients over one step."""

    h: float
    quotient: float
    left: float
    right: float
    rounding: float

    @property
    def gap(self) -> float:
        return abs(self.right - self.left)


def slope(f: Callable[[float], float], x: float, noise: float, method: Method = "central", h: float = 0.0) -> Slope:
    """The derivative of f at x. `noise`: a bound on the rounding error of f; `h`: the step, found by itself if 0.

    >>> found = slope(math.sin, 1.0, 1e-16)
    >>> abs(found.estimate - math.cos(1.0)) < found.bound < 1e-9
    True
    >>> slope(abs, 0.0, 0.0).shape
    'kink'
    """
    middle = f(x)
    scales = [h * _RATIO] if h else [abs(x) or 1.0]
    trials, best = _tried(f, x, middle, scales[0], noise, method)
    if not h and not _is_sharp(best) and abs(x) not in (0.0, 1.0):
        others, other = _tried(f, x, middle, 1.0, noise, method)
        if other.bound < best.bound or best.shape == "undefined":
            trials, best = others, other
    if not trials:
        return best
    return best._replace(quotient=trials[0].quotient, h=trials[0].h) if h else best


def _is_sharp(found: Slope) -> bool:
    return found.shape != "undefined" and found.bound <= 1e-6 * abs(found.estimate)


def _tried(
    f: Callable[[float], float], x: float, middle: float, scale: float, noise: float, method: Method
) -> tuple[list[_Trial], Slope]:
    """Steps from an eighth of the scale down, and the best of them."""
    trials = []
    for k in range(1, _STEPS + 1):
        trial = _trial(f, x, middle, scale / _RATIO**k, noise, method)
        if math.isfinite(trial.quotient):
            trials.append(trial)
    if not trials:
        return [], Slope(math.nan, math.inf, math.nan, 0.0, math.nan, math.nan, "undefined")
    bounds = [math.inf] + [
        abs(before.quotient - trial.quotient) / (_RATIO - 1) + trial.rounding for before, trial in pairwise(trials)
    ]
    at = min(range(len(trials)), key=bounds.__getitem__)
    kept = trials[at]
    shape, where = _shape(trials)
    return trials, Slope(kept.quotient, bounds[at], kept.quotient, kept.h, where.left, where.right, shape)


def _trial(f: Callable[[float], float], x: float, middle: float, h: float, noise: float, method: Method) -> _Trial:
    """The quotients over one step, by the steps that are really taken: x + h is rounded."""
    noise += math.ulp(0.0)  # what even the smallest numbers are rounded by
    above, below = x + h, x - h
    up, down = f(above), f(below) if above > x > below else math.nan
    right = _divided(up - middle, above - x)
    left = _divided(middle - down, x - below)
    both = math.isfinite(left) and math.isfinite(right)
    if method == "forward" or not both:
        quotient = right if method == "forward" or math.isfinite(right) else left
        return _Trial(h, quotient, left, right, _divided(2 * noise, h))
    return _Trial(h, _divided(up - down, above - below), left, right, _divided(noise, h))


def _divided(difference: float, step: float) -> float:
    return difference / step if step > 0.0 else math.nan


def _shape(trials: Sequence[_Trial]) -> tuple[str, _Trial]:
    """Whether the slopes to both sides come together as the step shrinks; and the step where that was seen.

    Where f is smooth their gap shrinks with the step, at a kink it stays, at a jump it grows.
    """
    finite = [trial for trial in trials if math.isfinite(trial.gap)]
    for i in range(len(finite) - 1, 0, -1):
        trial, before = finite[i], finite[i - 1]
        if trial.gap <= _SIGNIFICANT * 2 * trial.rounding or trial.gap <= 1e-9 * (abs(trial.left) + abs(trial.right)):
            continue
        if any(trial.gap / 2 > _SIGNIFICANT * 2 * smaller.rounding for smaller in finite[i + 1 :]):
            break  # the gap would be seen with a smaller step too, were it there: the kink lies beside x
        if trial.gap > before.gap * _RATIO / 2:
            return "jump", trial
        return ("kink" if trial.gap > 0.4 * before.gap else "smooth"), trial
    return "smooth", trials[-1]
