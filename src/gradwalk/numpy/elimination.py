"""Gaussian elimination of recorded matrices, whose pivots are chosen by `where`, for their numbers are not known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gradwalk import math
from gradwalk.numpy.arrays import exchanged

Row = list[Any]


@dataclass(frozen=True)
class Stage:
    """What was done to the rows to eliminate a column, and is to be done to a right-hand side.

    Attributes:
        exchanges: For each row below the pivot, whether it was exchanged with the pivot's row, one after the other.
        multipliers: For each row below the pivot, by how many pivot rows it was then reduced.
    """

    exchanges: Row
    multipliers: Row


@dataclass(frozen=True)
class Factors:
    """A matrix by partial pivoting: the stages of the elimination, and the upper triangle that is left.

    Attributes:
        stages: A stage for each column.
        upper: The rows of the triangle, each from the diagonal on.
    """

    stages: list[Stage]
    upper: list[Row]

    @classmethod
    def of(cls, numbers: Iterable[Any], size: int) -> Factors:
        """Return the factors of which these are the `numbers()`.

        Args:
            numbers: The numbers.
            size: How many rows the matrix has.

        Returns:
            The factors.
        """
        rest = iter(numbers)
        stages, upper = [], []
        for below in reversed(range(size)):
            upper.append(list(islice(rest, below + 1)))
            stages.append(Stage(list(islice(rest, below)), list(islice(rest, below))))
        return cls(stages, upper)

    def numbers(self) -> Row:
        """Return all numbers in a list."""
        parts = zip(self.stages, self.upper, strict=True)
        return [x for stage, row in parts for x in (*row, *stage.exchanges, *stage.multipliers)]

    @property
    def pivots(self) -> Row:
        """The diagonal of the triangle."""
        return [row[0] for row in self.upper]

    def solve(self, b: Row) -> Row:
        """Return x of A x = b.

        Args:
            b: The right-hand side.

        Returns:
            The solution.
        """
        x = list(b)
        for k, stage in enumerate(self.stages):
            for i, exchange in enumerate(stage.exchanges, k + 1):
                x[k], x[i] = exchanged(exchange, x[k], x[i])
            for i, multiplier in enumerate(stage.multipliers, k + 1):
                x[i] = x[i] - multiplier * x[k]
        for i in reversed(range(len(x))):
            for element, known in zip(self.upper[i][1:], x[i + 1 :], strict=True):
                x[i] = x[i] - element * known
            x[i] = x[i] / self.upper[i][0]
        return x

    def solve_transposed(self, b: Row) -> Row:
        """Return x of Aᵀ x = b: the transposes of the steps of `solve`, in reverse order.

        Args:
            b: The right-hand side.

        Returns:
            The solution.
        """
        x = list(b)
        for i, row in enumerate(self.upper):
            x[i] = x[i] / row[0]
            for j, element in enumerate(row[1:], i + 1):
                x[j] = x[j] - element * x[i]
        for k, stage in reversed(list(enumerate(self.stages))):
            for i, multiplier in enumerate(stage.multipliers, k + 1):
                x[k] = x[k] - multiplier * x[i]
            for i, exchange in reversed(list(enumerate(stage.exchanges, k + 1))):
                x[k], x[i] = exchanged(exchange, x[k], x[i])
        return x


def factorised(matrix: list[Row], divisor: Callable[[Any], Any] = lambda pivot: pivot) -> Factors:
    """Eliminate what is below the diagonal, with the largest pivot of each column.

    Args:
        matrix: The rows of a square matrix.
        divisor: What rows are divided by for a pivot, if not by the pivot itself.

    Returns:
        The factors.
    """
    rows = [list(row) for row in matrix]
    stages = []
    for k, pivot_row in enumerate(rows):
        exchanges = []
        for row in rows[k + 1 :]:
            exchanges.append(math.less(math.abs(pivot_row[k]), math.abs(row[k])))
            for j in range(k, len(rows)):
                pivot_row[j], row[j] = exchanged(exchanges[-1], pivot_row[j], row[j])
        multipliers = [row[k] / divisor(pivot_row[k]) for row in rows[k + 1 :]]
        for row, multiplier in zip(rows[k + 1 :], multipliers, strict=True):
            for j in range(k + 1, len(rows)):
                row[j] = row[j] - multiplier * pivot_row[j]
        stages.append(Stage(exchanges, multipliers))
    return Factors(stages, [row[k:] for k, row in enumerate(rows)])
