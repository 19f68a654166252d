"""Derivatives of a function of one number by difference quotients, with what is known of their error.

A quotient over a step h is off by truncation, which shrinks with h, and by rounding, which grows as h shrinks. So many
steps are tried, each an eighth of the one before, and the quotient with the smallest bound on both is taken: truncation
is judged by how much the quotient changed from the step before, rounding by a bound on the function's own rounding
error; and no quotient is believed that smaller steps contradict. (Numerical Recipes, 3rd edition, section 5.7, says why
no step can be known to be good beforehand.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

Method = Literal["central", "forward"]
Noisy = Callable[[float], tuple[float, float]]  # a function's number, and a bound on its rounding error

_RATIO = 8.0
_STEPS = 9
_MOST_STEPS = 16
_SETTLED = 1e-3  # of the quotient: what changes by less from step to step has settled
_SHARP = 1e-5  # of the quotient: a bound that needs no more steps
_SIGNIFICANT = 20.0  # how many times its rounding error a difference of slopes has to be to mean something


class Slope(NamedTuple):
    """A derivative as found: `estimate`, within `bound` of the truth; slopes to the `left` and `right`.

    `resolution`: the rounding error of a smaller step that agrees: what differs by less from the estimate may be as
    right. `h`: the step of the estimate. `shape`: "smooth", or "kink" where the slopes to both sides differ, or "jump"
    where the function does, or "edge" where it has finite numbers on one side only, or "undefined" where on none, or no
    finite slope. `steepest`: the largest slope that the smallest step showed.
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
    """The quotients over one step, and a bound on the error that rounding makes in them."""

    h: float
    quotient: float
    left: float
    right: float
    rounding: float

    @property
    def gap(self) -> float:
        return abs(self.right - self.left)


def slope(f: Noisy, x: float, method: Method = "central") -> Slope:
    """The derivative of f at x.

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
    """The difference quotient over a step h, which is taken as it is even where it is a bad one."""
    return _trial(f, x, f(x), h, method).quotient


def _towards_one(scale: float, tried: int) -> range:
    """Powers of more steps, for functions that do not change on the scale of x but on that of 1.

    Larger steps for a small x, down from an eighth; smaller ones for a large x.
    """
    apart = math.ceil(abs(math.log(scale, _RATIO)))
    if scale < 1.0:
        return range(1 - apart, min(1, 1 - apart + _MOST_STEPS))
    return range(tried + 1, max(tried, min(_STEPS + apart, _STEPS + _MOST_STEPS)) + 1)


def _trial(f: Noisy, x: float, middle: tuple[float, float], h: float, method: Method) -> _Trial:
    """The quotients over one step, by the steps that are really taken: x + h is rounded."""
    above, below = x + h, x - h
    (up, noise_up), (down, noise_down) = f(above), f(below) if above > x > below else (math.nan, 0.0)
    right = _divided(up - middle[0], above - x)
    left = _divided(middle[0] - down, x - below)
    noise = max(middle[1], noise_up, noise_down) + math.ulp(0.0)  # the least that anything is rounded by
    if method == "forward" or not (math.isfinite(left) and math.isfinite(right)):
        one_sided = right if method == "forward" or math.isfinite(right) else left
        return _Trial(h, one_sided, left, right, _divided(2 * noise, h))
    return _Trial(h, _divided(up - down, above - below), left, right, _divided(noise, h))


def _divided(difference: float, step: float) -> float:
    return difference / step if step > 0.0 else math.nan


def _have_settled(trials: Sequence[_Trial]) -> bool:
    """Whether the last step changed the quotient by little, or by no more than rounding does; the slopes likewise."""
    if len(trials) < 3:
        return False
    before, last = trials[-2:]
    change = abs(last.quotient - before.quotient)
    if last.gap > max(before.gap / 2, 2 * _SIGNIFICANT * last.rounding):
        return False  # left and right do not come together: x may lie on something narrower than the step
    return change <= max(_SETTLED * abs(last.quotient), 4 * last.rounding)


def _best(trials: Sequence[_Trial]) -> Slope:
    """What the quotients, from the largest step to the smallest, say together."""
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
    """How far off each quotient can be: by its truncation and rounding, or by what smaller steps say of it."""
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
    """Whether the quotients tend to infinity as the step shrinks, as those of x log x at 0: ever on, by equal steps."""
    changes: list[float] = []
    for before, after in pairwise(trials):
        change = abs(after.quotient - before.quotient)
        if changes and _SIGNIFICANT * after.rounding > changes[-1] / 2:
            break  # from here on, rounding would hide it
        changes.append(change)
    last = changes[-4:]
    return len(last) == 4 and last[-1] > 0.0 and all(after > 0.8 * before for before, after in pairwise(last))


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
        ratio = before.h / trial.h
        if trial.gap > before.gap * max(ratio / 2, 1.1):
            return "jump", trial
        return ("kink" if trial.gap > 0.4 * before.gap else "smooth"), trial
    return "smooth" if finite else "edge", trials[-1]
