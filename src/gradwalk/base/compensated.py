"""`Totals`: sums of many numbers without an accumulation of rounding errors."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray


class Totals:
    """Running sums, computed with Neumaier's compensated summation."""

    def __init__(self, count: int) -> None:
        self._sums = numpy.zeros(count)
        self._lost = numpy.zeros(count)

    def add(self, numbers: NDArray[Any]) -> None:
        """Add one number to each sum."""
        with numpy.errstate(all="ignore"):
            sums = self._sums + numbers
            is_larger = abs(self._sums) >= abs(numbers)
            larger, smaller = numpy.where(is_larger, (self._sums, numbers), (numbers, self._sums))
            self._lost += larger - sums + smaller
        self._sums = sums

    def rounded(self) -> NDArray[Any]:
        """Return the sums, corrected by the accumulated rounding errors."""
        with numpy.errstate(all="ignore"):  # the rounding error of an infinite sum is nan
            return numpy.where(numpy.isfinite(self._lost), self._sums + self._lost, self._sums)
