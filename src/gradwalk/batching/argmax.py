"""The largest or the smallest of numbers that are recorded, and which of them that is.

All numbers that are the extreme have the same share in its derivative. So it is written as its number, which is a
constant, plus the mean of what the numbers that equal it differ from it by: zeros, whose derivatives are 1. An infinite
one is the mean of these numbers themselves, as infinities differ by nan. Where one is nan, all derivatives are nan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwalk import math


def share(x: Any, best: Any, *, largest: bool) -> tuple[Any, Any]:
    """Return what is to be summed over all numbers.

    Args:
        x: One of the numbers.
        best: The extreme, without derivative.
        largest: Whether that is the largest.

    Returns:
        How x differs from the extreme if it is that, and whether it is.
    """
    is_beaten = math.less(x, best) if largest else math.less(best, x)  # 0 at a tie, which so is a kink, and for nan
    is_finite = math.less(math.fabs(best), math.inf)
    return math.where(is_beaten, 0.0, math.where(is_finite, x - best, x)), 1.0 - is_beaten


def from_shares(best: Any, total: Any, count: Any) -> Any:
    """Return the extreme, with its derivatives.

    Args:
        best: The extreme, without derivative.
        total: The sum over all numbers of the first result of `share`.
        count: The sum of the second.

    Returns:
        The extreme.
    """
    mean = math.where(math.equal(best, best), 1.0 / count, math.nan) * total
    return math.where(math.less(math.fabs(best), math.inf), best + mean, mean)


def extreme(numbers: Sequence[Any], *, largest: bool) -> Any:
    """Return the largest or the smallest of some numbers, nan where one is; equal ones share its derivative evenly.

    Args:
        numbers: Values or floats, at least one.
        largest: Whether the largest is asked for.

    Returns:
        The extreme.
    """
    if len(numbers) == 1:
        return numbers[0]
    best = math.stop_gradient((math.maximum if largest else math.minimum)(*numbers))
    differences, counts = zip(*[share(x, best, largest=largest) for x in numbers], strict=True)
    return from_shares(best, sum(differences), sum(counts))


def place(numbers: Sequence[Any], *, largest: bool) -> Any:
    """Return which of some numbers is the largest or the smallest: the first that is, or the first nan.

    Args:
        numbers: Values or floats, at least one.
        largest: Whether the largest is asked for.

    Returns:
        Its index, a Value without derivative, or a float.
    """
    best, index = numbers[0], 0.0
    for i, x in enumerate(numbers[1:], 1):
        is_no_better = math.less_equal(x, best) if largest else math.less_equal(best, x)
        is_better = math.where(math.equal(best, best), 1.0 - is_no_better, 0.0)  # nan is, and stays
        best, index = math.where(is_better, x, best), math.where(is_better, float(i), index)
    return math.stop_gradient(index)
