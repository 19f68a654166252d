"""Gaussian elimination of recorded matrices, whose pivots are chosen by `where`, for their numbers are not known."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy

from gradwalk import math
from gradwalk.numpy.arrays import are_known, exchanged, numbers

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


def factorised(matrix: list[Row]) -> Factors:
    """Eliminate what is below the diagonal, with the largest pivot of each column.

    Args:
        matrix: The rows of a square matrix.

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
        multipliers = [row[k] / pivot_row[k] for row in rows[k + 1 :]]
        for row, multiplier in zip(rows[k + 1 :], multipliers, strict=True):
            for j in range(k + 1, len(rows)):
                row[j] = row[j] - multiplier * pivot_row[j]
        stages.append(Stage(exchanges, multipliers))
    return Factors(stages, [row[k:] for k, row in enumerate(rows)])


def determinant(matrix: list[Row]) -> Any:
    """Return the determinant of a matrix, by complete pivoting down to three rows, whose determinant is a polynomial.

    A pivot is then 0 only where all that is left is 0. If that is more than three rows, the first three derivatives are
    0 as well, whatever is divided by.

    Args:
        matrix: The rows.

    Returns:
        The determinant.
    """
    rows, product = matrix, 1.0
    while len(rows) > 3:
        rows, sign = _largest_first(rows)
        [pivot, *pivot_row] = rows[0]
        product = product * (sign * pivot)
        divisor = math.where(pivot, pivot, 1.0)
        rows = [[x - first / divisor * y for x, y in zip(rest, pivot_row, strict=True)] for first, *rest in rows[1:]]
    return product * _polynomial(rows)


def _largest_first(rows: list[Row]) -> tuple[list[Row], Any]:
    """The rows and columns with the largest element first, and the sign of these exchanges."""
    if are_known(numpy.array(rows, dtype=object)):
        known = numpy.abs(numbers(numpy.array(rows, dtype=object)))
        row, column = numpy.unravel_index(numpy.argmax(known), known.shape)
        rows = [_first(line, int(column)) for line in _first(rows, int(row))]
        return rows, (-1.0) ** (int(row > 0) + int(column > 0))
    columns = [[functools.reduce(math.maximum, map(math.abs, line)), *line] for line in zip(*rows, strict=True)]
    columns, sign_of_columns = _exchanged_first(columns)
    lines = [[math.abs(line[0]), *line] for line in zip(*[column[1:] for column in columns], strict=True)]
    lines, sign_of_lines = _exchanged_first(lines)
    return [line[1:] for line in lines], sign_of_columns * sign_of_lines


def _exchanged_first(lines: list[Row]) -> tuple[list[Row], Any]:
    """Recorded lines, of which the one that begins with the largest number is first, and the sign of the exchanges."""
    lines, sign = list(lines), 1.0
    for i in range(1, len(lines)):
        exchange = math.less(lines[0][0], lines[i][0])
        pairs = [exchanged(exchange, x, y) for x, y in zip(lines[0], lines[i], strict=True)]
        lines[0], lines[i] = [x for x, _ in pairs], [y for _, y in pairs]
        sign = sign * (1.0 - 2.0 * exchange)
    return lines, sign


def _first(items: list[Any], index: int) -> list[Any]:
    """The items, with one of them exchanged with the first."""
    items = list(items)
    items[0], items[index] = items[index], items[0]
    return items


def _polynomial(rows: Sequence[Sequence[Any]]) -> Any:
    """The determinant of up to three rows, by the elements of the first one and their cofactors."""
    if len(rows) < 2:
        return rows[0][0] if rows else 1.0
    if len(rows) == 2:
        return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]
    total = 0.0
    for j, x in enumerate(rows[0]):
        k, m = (j + 1) % 3, (j + 2) % 3
        total = total + x * (rows[1][k] * rows[2][m] - rows[1][m] * rows[2][k])
    return total
