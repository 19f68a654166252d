"""Maximum and argmax of recorded numbers.

The maximum or minimum is called the extreme here. Numbers that tie for the extreme share its derivative equally. To
obtain this derivative, the extreme is computed as a constant plus the mean of x - constant over all tied numbers x.
Each difference is 0 and has the derivative 1. An infinite extreme is computed as the mean of the tied numbers, because
a difference of infinities is nan. If any number is nan, all derivatives are nan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwalk import math
from gradwalk.value.node import with_number_type
from gradwalk.value.value import Value


def share(x: Any, best: Any, *, largest: bool) -> tuple[Any, Any]:
    """Return what one number contributes to the two sums that `from_shares` takes.

    Args:
        x: One of the numbers.
        best: The extreme, as a constant.
        largest: Whether the extreme is the maximum.

    Returns:
        If x ties for the extreme: x - best (or x, if the extreme is infinite) and 1. Otherwise: 0 and 0.
    """
    is_beaten = math.less(x, best) if largest else math.less(best, x)  # 0 if x or best is nan, and at a tie
    is_finite = math.less(math.fabs(best), math.inf)
    return math.where(is_beaten, 0.0, math.where(is_finite, x - best, x)), 1.0 - is_beaten


def from_shares(best: Any, total: Any, count: Any) -> Any:
    """Return the extreme, with derivatives, from the two sums over all numbers.

    Args:
        best: The extreme, as a constant.
        total: The sum, over all numbers, of the first of the two results of `share`.
        count: The sum of the second results of `share`: the number of ties.
    """
    mean = math.where(math.equal(best, best), 1.0 / count, math.nan) * total
    return math.where(math.less(math.fabs(best), math.inf), best + mean, mean)


def extreme(numbers: Sequence[Any], *, largest: bool) -> Any:
    """Return the maximum or minimum of one or more numbers, or nan if any number is nan.

    Numbers that tie share the derivative equally.
    """
    if len(numbers) == 1:
        return numbers[0]
    best = math.stop_gradient((math.maximum if largest else math.minimum)(*numbers))
    differences, counts = zip(*[share(x, best, largest=largest) for x in numbers], strict=True)
    return from_shares(best, sum(differences), sum(counts))


def place(numbers: Sequence[Any], *, largest: bool) -> Any:
    """Return the index of the first maximum or minimum, or of the first nan if any number is nan.

    The index is an int, or a Value without derivative.
    """
    best, index = numbers[0], 0.0
    for i, x in enumerate(numbers[1:], 1):
        is_no_better = math.less_equal(x, best) if largest else math.less_equal(best, x)
        is_better = math.where(math.equal(best, best), 1.0 - is_no_better, 0.0)  # nan beats any number
        best, index = math.where(is_better, x, best), math.where(is_better, float(i), index)
    return with_number_type(math.stop_gradient(index), int) if isinstance(index, Value) else int(index)
