"""Maximum and argmax of recorded numbers.

Numbers that tie for the extreme share its derivative equally. The extreme is computed as a constant, its number, plus
the mean of the differences between the tied numbers and that constant: these are zeros with derivative 1. An infinite
extreme is the mean of the tied numbers themselves, since differences of infinities are nan. If any number is nan, all
derivatives are nan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwalk import math


def share(x: Any, best: Any, *, largest: bool) -> tuple[Any, Any]:
    """Return the terms of one number in two sums over all numbers.

    Args:
        x: One of the numbers.
        best: The extreme, as a constant.
        largest: Whether the extreme is the maximum.

    Returns:
        If x ties for the extreme, x - best (or x itself if the extreme is infinite) and 1; else 0 and 0.
    """
    is_beaten = math.less(x, best) if largest else math.less(best, x)  # 0 at a tie, which is thus a kink, and for nan
    is_finite = math.less(math.fabs(best), math.inf)
    return math.where(is_beaten, 0.0, math.where(is_finite, x - best, x)), 1.0 - is_beaten


def from_shares(best: Any, total: Any, count: Any) -> Any:
    """Return the extreme with its derivatives.

    Args:
        best: The extreme, as a constant.
        total: The sum of the first results of `share` over all numbers.
        count: The sum of the second results.
    """
    mean = math.where(math.equal(best, best), 1.0 / count, math.nan) * total
    return math.where(math.less(math.fabs(best), math.inf), best + mean, mean)


def extreme(numbers: Sequence[Any], *, largest: bool) -> Any:
    """Return the maximum or minimum of at least one number, nan if any is nan; ties share the derivative equally."""
    if len(numbers) == 1:
        return numbers[0]
    best = math.stop_gradient((math.maximum if largest else math.minimum)(*numbers))
    differences, counts = zip(*[share(x, best, largest=largest) for x in numbers], strict=True)
    return from_shares(best, sum(differences), sum(counts))


def place(numbers: Sequence[Any], *, largest: bool) -> Any:
    """Return the index of the first maximum or minimum, or of the first nan; a float or a Value without derivative."""
    best, index = numbers[0], 0.0
    for i, x in enumerate(numbers[1:], 1):
        is_no_better = math.less_equal(x, best) if largest else math.less_equal(best, x)
        is_better = math.where(math.equal(best, best), 1.0 - is_no_better, 0.0)  # nan counts as best, and stays
        best, index = math.where(is_better, x, best), math.where(is_better, float(i), index)
    return math.stop_gradient(index)
