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
_MOST_STEPS = 15
_CHANGING = 1e-3  # of the quotient: a bound above it means that it has not settled yet
_SIGNIFICANT = 20.0  # how many times its rounding error a difference of slopes has to be to mean something


class Slope(NamedTuple):
    """A derivative as found: `estimate`, within `bound` of the truth; slopes to the `left` and `right`.

    `resolution`: the rounding error of a smaller step that agrees: what differs by less from the estimate may be as
    right. `quotient`: that over the step `h`; the estimate itself, unless a step was given. `shape`: "smooth", or
    "kink" where the slopes to both sides differ, or "jump" where the function does, or "edge" where it has finite
    numbers on one side only, or "undefined" where on none, or no finite slope.
    """

    estimate: float
    bound: float
    resolution: float
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
    trials = _tried(f, x, middle, h * _RATIO if h else abs(x) or 1.0, noise, method)
    best = _best(trials)
    if not h and not _is_sharp(best) and abs(x) not in (0.0, 1.0):
        others = _tried(f, x, middle, 1.0, noise, method)
        other = _best(others)
        if other.bound < best.bound or best.shape == "undefined":
            trials, best = others, other
    return best._replace(quotient=trials[0].quotient, h=trials[0].h) if h and trials else best


def _is_sharp(found: Slope) -> bool:
    return found.shape != "undefined" and found.bound <= 1e-5 * abs(found.estimate)


def _tried(
    f: Callable[[float], float], x: float, middle: float, scale: float, noise: float, method: Method
) -> list[_Trial]:
    """The quotients over steps from an eighth of the scale down; the more steps, the longer they go on changing."""
    trials: list[_Trial] = []
    for k in range(1, _MOST_STEPS + 1):
        trial = _trial(f, x, middle, scale / _RATIO**k, noise, method)
        if math.isfinite(trial.quotient):
            trials.append(trial)
        if k >= _STEPS and _has_settled(trials):
            break
    return trials


def _has_settled(trials: Sequence[_Trial]) -> bool:
    """Whether the last step changed the quotient by little, and by less than the one before; or there is none."""
    if len(trials) < 3:
        return not trials
    first, second, third = (trial.quotient for trial in trials[-3:])
    return abs(third - second) <= max(_CHANGING * abs(third), 4 * trials[-1].rounding) or third == second == first


def _bounds(trials: Sequence[_Trial]) -> list[float]:
    """How far off each quotient can be: by its truncation and rounding, or by what smaller steps say of it."""
    bounds = [math.inf]
    for before, trial in pairwise(trials):
        bounds.append(abs(before.quotient - trial.quotient) / (_RATIO - 1) + trial.rounding)
    for i, trial in enumerate(trials):
        for smaller in trials[i + 1 :]:
            bounds[i] = max(bounds[i], abs(smaller.quotient - trial.quotient) - 4 * smaller.rounding)
    return bounds


def _best(trials: Sequence[_Trial]) -> Slope:
    """What the quotients say together."""
    if not trials:
        return Slope(math.nan, math.inf, math.inf, math.nan, 0.0, math.nan, math.nan, "undefined")
    bounds = _bounds(trials)
    at = min(range(len(trials)), key=bounds.__getitem__)
    kept = trials[at]
    others = trials[at + 1 :] or (trials[at:] if _has_settled(trials) else [])
    resolution = min((trial.rounding for trial in others), default=math.inf)
    shape, where = _shape(trials)
    if shape in ("smooth", "edge") and bounds[at] > _CHANGING * abs(kept.quotient) and _diverges(trials):
        shape = "undefined"
    return Slope(kept.quotient, bounds[at], resolution, kept.quotient, kept.h, where.left, where.right, shape)


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


def _diverges(trials: Sequence[_Trial]) -> bool:
    """Whether the quotients tend to infinity as the step shrinks, as those of x log x at 0: ever on, by equal steps."""
    changes = [abs(after.quotient - before.quotient) for before, after in pairwise(trials)][-4:]
    grow = all(after > 0.8 * before for before, after in pairwise(changes))
    return len(changes) == 4 and grow and changes[-1] > _SIGNIFICANT * trials[-1].rounding


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
    return "smooth" if finite else "edge", trials[-1]
