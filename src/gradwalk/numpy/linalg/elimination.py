"""Gaussian elimination and Cholesky factors of recorded matrices.

Pivots are chosen by `where`, because their numbers are not known.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy

from gradwalk import math
from gradwalk.functions.reductions import sumprod
from gradwalk.numpy.arrays import are_known, exchanged, numbers

Row = list[Any]


@dataclass(frozen=True)
class Stage:
    """The row operations that eliminate one column of a matrix. They are also applied to right-hand sides.

    Attributes:
        exchanges: Whether each row below the pivot row was exchanged with the pivot row, in the order of the exchanges.
        multipliers: The multiple of the pivot row that is subtracted from each row below it, after the exchanges.
    """

    exchanges: Row
    multipliers: Row


@dataclass(frozen=True)
class Factors:
    """The LU factors of a matrix, computed with partial pivoting.

    Attributes:
        stages: The stages of the elimination, one per column.
        upper: The rows of the upper triangle. Each row begins at the diagonal.
    """

    stages: list[Stage]
    upper: list[Row]

    @classmethod
    def of(cls, numbers: Iterable[Any], size: int) -> Factors:
        """Build the factors of a matrix with `size` rows from the list that their `numbers()` returned."""
        rest = iter(numbers)
        stages, upper = [], []
        for below in reversed(range(size)):
            upper.append(list(islice(rest, below + 1)))
            stages.append(Stage(list(islice(rest, below)), list(islice(rest, below))))
        return cls(stages, upper)

    def numbers(self) -> Row:
        """Return the numbers of all rows and stages in one list."""
        parts = zip(self.stages, self.upper, strict=True)
        return [x for stage, row in parts for x in (*row, *stage.exchanges, *stage.multipliers)]

    @property
    def pivots(self) -> Row:
        """The diagonal of the upper triangle."""
        return [row[0] for row in self.upper]

    def solve(self, b: Row) -> Row:
        """Return x with A x = b."""
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
        """Return x with Aᵀ x = b, by the transposed steps of `solve` in reverse order."""
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
    """Factor a square matrix, a list of rows, by elimination with partial pivoting."""
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


def log_determinant(a: Any) -> tuple[Any, Any]:
    """Compute the sign of the determinant of a matrix, and the logarithm of its absolute value, from the pivots."""
    factors = factorised(a.tolist())
    sign, logarithm, is_singular = _sign_of_exchanges(factors), 0.0, 0.0
    for pivot in factors.pivots:
        sign = sign * math.sign(pivot)
        logarithm = logarithm + math.log(math.abs(pivot))
        is_singular = math.where(pivot, is_singular, 1.0)  # after a pivot of 0, all later pivots are nan
    if a.size:
        no_slope = math.log(sumprod([0.0] * a.size, a.ravel().tolist()))  # -inf, whose derivatives are nan
        logarithm = math.where(is_singular, no_slope, logarithm)
    return math.where(is_singular, 0.0, sign), logarithm


def lower_factor(a: Any) -> list[Row]:
    """Return the rows of the lower triangular L with L Lᵀ = a, up to the diagonal. Only the lower triangle is read."""
    lower: list[Row] = [[] for _ in a]
    for j in range(len(a)):
        root = math.sqrt(a[j, j] - sumprod(lower[j], lower[j]))
        for i in range(j, len(a)):
            lower[i].append(root if i == j else (a[i, j] - sumprod(lower[i][:j], lower[j][:j])) / root)
    return lower


def substituted(a: Any, b: Sequence[Any], *, is_transposed: bool) -> Row:
    """Return x with a x = b, or aᵀ x = b, for a lower triangular `a`."""
    if is_transposed:  # the reversed system is lower triangular
        return substituted(a.T[::-1, ::-1], b[::-1], is_transposed=False)[::-1]
    found: Row = []
    for i, (row, right) in enumerate(zip(a.tolist(), b, strict=True)):
        found.append((right - sumprod(row[:i], found)) / row[i])
    return found


def determinant(matrix: list[Row]) -> Any:
    """Compute the determinant of a matrix. Elimination leaves three rows, whose determinant is a polynomial.

    With complete pivoting, a pivot is 0 only if the whole remaining matrix is 0. If that matrix has more than three
    rows, the first three derivatives of its determinant are also 0. If the pivot is 0, the result is therefore correct
    for any divisor.
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
    """Move the largest element to the first row and column by swaps; also return the sign of the swaps."""
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
    """Move the row with the largest leading entry to the front by recorded swaps; also return the sign of the swaps."""
    lines, sign = list(lines), 1.0
    for i in range(1, len(lines)):
        exchange = math.less(lines[0][0], lines[i][0])
        pairs = [exchanged(exchange, x, y) for x, y in zip(lines[0], lines[i], strict=True)]
        lines[0], lines[i] = [x for x, _ in pairs], [y for _, y in pairs]
        sign = sign * (1.0 - 2.0 * exchange)
    return lines, sign


def _first(items: list[Any], index: int) -> list[Any]:
    """Return the items with the first item and the item at `index` swapped."""
    items = list(items)
    items[0], items[index] = items[index], items[0]
    return items


def _polynomial(rows: Sequence[Sequence[Any]]) -> Any:
    """Return the determinant of up to three rows by cofactor expansion along the first row."""
    if len(rows) < 2:
        return rows[0][0] if rows else 1.0
    if len(rows) == 2:
        return rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]
    total = 0.0
    for j, x in enumerate(rows[0]):
        k, m = (j + 1) % 3, (j + 2) % 3
        total = total + x * (rows[1][k] * rows[2][m] - rows[1][m] * rows[2][k])
    return total


def _sign_of_exchanges(factors: Factors) -> Any:
    """Return 1 if rows were exchanged an even number of times, otherwise -1."""
    sign = 1.0
    for stage in factors.stages:
        for exchange in stage.exchanges:
            sign = sign * (1.0 - 2.0 * exchange)
    return sign
