"""Difference quotients that estimate the derivative of a function of one number, with error bounds.

As the step size h shrinks, the truncation error of a quotient shrinks and its rounding error grows. Therefore several
step sizes are tried, each an eighth of the previous one, and the quotient with the smallest error bound is used. The
truncation error is estimated from the difference between consecutive quotients, and the rounding error is computed from
a bound on the rounding error of the function. The error bound of a quotient is raised if the quotient of a smaller step
contradicts this bound. (See Numerical Recipes, 3rd edition, section 5.7, on why a good step cannot be chosen in
advance.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

Method = Literal["central", "forward"]
Noisy = Callable[[float], tuple[float, float]]  # returns a value and a bound on its rounding error

_RATIO = 8.0  # ratio of consecutive step sizes
_STEPS = 9  # minimum number of steps
_MOST_STEPS = 16
_SETTLED = 1e-3  # the quotient has settled if its last relative change is smaller than this
_SHARP = 1e-5  # no more steps are tried if the relative error bound is smaller than this
_SIGNIFICANT = 20.0  # a difference of slopes is significant if it exceeds this multiple of its rounding error


class Slope(NamedTuple):
    """A derivative estimated by difference quotients.

    Attributes:
        estimate: The estimated derivative.
        bound: A bound on the error of the estimate.
        resolution: The smallest rounding error of the quotients with smaller steps than `h`. Derivatives that differ by
            less than this cannot be distinguished.
        h: The step size of the estimate.
        left: The slope to the left of x.
        right: The slope to the right of x.
        shape: "kink" if the slopes on both sides of x differ, "jump" if the function is discontinuous, "edge" if the
            function is finite on one side only, "undefined" if the function is finite on neither side or its slope is
            not finite, and otherwise "smooth".
        steepest: The largest absolute slope at the smallest step.
    """

    estimate: float
    bound: float
    resolution: float
    h: float
    left: float
    right: float
    shape: str
    steepest: float


class _Trial(NamedTuple):
    """The quotients for one step size, and a bound on their rounding error."""

    h: float
    quotient: float
    left: float
    right: float
    rounding: float

    @property
    def gap(self) -> float:
        return abs(self.right - self.left)


def slope(f: Noisy, x: float, method: Method = "central") -> Slope:
    """Estimate the derivative of f at x, bound the error of the estimate, and determine the shape of f around x.

    Example:
        >>> found = slope(lambda t: (math.sin(t), 1e-16), 1.0)
        >>> abs(found.estimate - math.cos(1.0)) < found.bound < 1e-9
        True
        >>> slope(lambda t: (abs(t), 0.0), 0.0).shape
        'kink'
    """
    middle = f(x)
    scale = abs(x) if 0.0 < abs(x) < math.inf else 1.0
    trials = []
    for k in range(1, _MOST_STEPS + 1):
        trials.append(_trial(f, x, middle, scale / _RATIO**k, method))
        if k >= _STEPS and _have_settled(trials):
            break
    best = _best(trials)
    if best.shape == "undefined" or best.bound > _SHARP * abs(best.estimate):
        others = [_trial(f, x, middle, scale / _RATIO**k, method) for k in _towards_one(scale, len(trials))]
        best = _best(sorted(trials + others, key=lambda trial: -trial.h))
    return best


def quotient(f: Noisy, x: float, h: float, method: Method) -> float:
    """Compute the difference quotient for the step size h."""
    return _trial(f, x, f(x), h, method).quotient


def _towards_one(scale: float, tried: int) -> range:
    """Return exponents k of further steps scale / 8**k, for functions that vary on the scale of 1 instead of x.

    If |x| < 1, the further steps begin near 1/8 and are larger than the steps already tried. If |x| > 1, the further
    steps are smaller.
    """
    apart = math.ceil(abs(math.log(scale, _RATIO)))
    if scale < 1.0:
        return range(1 - apart, min(1, 1 - apart + _MOST_STEPS))
    return range(tried + 1, max(tried, min(_STEPS + apart, _STEPS + _MOST_STEPS)) + 1)


def _trial(f: Noisy, x: float, middle: tuple[float, float], h: float, method: Method) -> _Trial:
    """Compute the quotients for the step size h.

    The divisors are the actual differences of the arguments, because x + h is rounded.
    """
    above, below = x + h, x - h
    (up, noise_up), (down, noise_down) = f(above), f(below) if above > x > below else (math.nan, 0.0)
    right = _divided(up - middle[0], above - x)
    left = _divided(middle[0] - down, x - below)
    noise = max(middle[1], noise_up, noise_down) + math.ulp(0.0)  # not 0, but at least the smallest float
    if method == "forward" or not (math.isfinite(left) and math.isfinite(right)):
        one_sided = right if method == "forward" or math.isfinite(right) else left
        return _Trial(h, one_sided, left, right, _divided(2 * noise, h))
    return _Trial(h, _divided(up - down, above - below), left, right, _divided(noise, h))


def _divided(difference: float, step: float) -> float:
    return difference / step if step > 0.0 else math.nan


def _have_settled(trials: Sequence[_Trial]) -> bool:
    """Return whether the last step hardly changed the quotient and the gap between the slopes shrinks."""
    if len(trials) < 3:
        return False
    before, last = trials[-2:]
    change = abs(last.quotient - before.quotient)
    if last.gap > max(before.gap / 2, 2 * _SIGNIFICANT * last.rounding):
        return False  # the slopes still differ: f may have a feature at x that is narrower than the step
    return change <= max(_SETTLED * abs(last.quotient), 4 * last.rounding)


def _best(trials: Sequence[_Trial]) -> Slope:
    """Combine the quotients, ordered from the largest step to the smallest, into one estimate."""
    trials = [trial for trial in trials if math.isfinite(trial.quotient)]
    if not trials:
        return Slope(math.nan, math.inf, math.inf, 0.0, math.nan, math.nan, "undefined", math.inf)
    bounds = _bounds(trials)
    at = min(range(len(trials)), key=bounds.__getitem__)
    kept = trials[at]
    others = trials[at + 1 :] or (trials[at:] if _have_settled(trials) else [])
    resolution = min((trial.rounding for trial in others), default=math.inf)
    shape, where = _shape(trials)
    if shape in ("smooth", "edge") and bounds[at] > _SETTLED * abs(kept.quotient) and _diverge(trials):
        shape = "undefined"
    last = trials[-1]
    steepest = max(abs(slope) for slope in (last.quotient, last.left, last.right) if math.isfinite(slope))
    return Slope(kept.quotient, bounds[at], resolution, kept.h, where.left, where.right, shape, steepest)


def _bounds(trials: Sequence[_Trial]) -> list[float]:
    """Return a bound on the error of each quotient.

    A bound is the sum of the truncation error and the rounding error. It is raised if the quotient of a smaller step
    differs from this quotient by more than the bound.
    """
    bounds = [math.inf]
    for before, trial in pairwise(trials):
        ratio = before.h / trial.h
        truncation = abs(before.quotient - trial.quotient) / (ratio - 1) if ratio > 1.0 else math.inf
        bounds.append(truncation + trial.rounding)
    for i, trial in enumerate(trials):
        for smaller in trials[i + 1 :]:
            bounds[i] = max(bounds[i], abs(smaller.quotient - trial.quotient) - 4 * smaller.rounding)
    return bounds


def _diverge(trials: Sequence[_Trial]) -> bool:
    """Return whether the quotients grow without bound as the step shrinks, as for x log x at 0."""
    changes: list[float] = []
    for before, after in pairwise(trials):
        change = abs(after.quotient - before.quotient)
        if changes and _SIGNIFICANT * after.rounding > changes[-1] / 2:
            break  # rounding errors hide any further growth
        changes.append(change)
    last = changes[-4:]
    return len(last) == 4 and last[-1] > 0.0 and all(after > 0.8 * before for before, after in pairwise(last))


def _shape(trials: Sequence[_Trial]) -> tuple[str, _Trial]:
    """Return "smooth", "kink", "jump" or "edge", and the trial that shows this shape.

    As the step shrinks, the gap between the slopes on both sides shrinks if f is smooth, stays the same at a kink, and
    grows at a jump.
    """
    finite = [trial for trial in trials if math.isfinite(trial.gap)]
    for i in range(len(finite) - 1, 0, -1):
        trial, before = finite[i], finite[i - 1]
        if trial.gap <= _SIGNIFICANT * 2 * trial.rounding or trial.gap <= 1e-9 * (abs(trial.left) + abs(trial.right)):
            continue
        if any(trial.gap / 2 > _SIGNIFICANT * 2 * smaller.rounding for smaller in finite[i + 1 :]):
            break  # smaller steps do not show the gap, so the kink is near x but not at x
        ratio = before.h / trial.h
        if trial.gap > before.gap * max(ratio / 2, 1.1):
            return "jump", trial
        return ("kink" if trial.gap > 0.4 * before.gap else "smooth"), trial
    return "smooth" if finite else "edge", trials[-1]
