"""GradBench's `det`, from cmpad: the gradient of a determinant, computed by expansion by minors.

This takes about n! e products; GradBench has matrices with 5 to 11 rows. The same minors occur repeatedly. Libraries
that detect this, as gradwalk's recording and CppAD's `optimize` do, compute only 2^n minors. JAX and PyTorch expand all
minors of one size at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
from peers import jax

from gradbench_problems import tapes
from gradbench_problems.base import Case, in_cpp, in_jax, recorded, slopes_in_torch
from gradwalk import grad


def expanded(a: Any, columns: tuple[int, ...] | None = None) -> Any:
    """Return the determinant of the last rows of these columns."""
    columns = columns or tuple(range(len(a)))
    row = a[len(a) - len(columns)]
    if len(columns) == 1:
        return row[columns[0]]
    total = 0.0
    for place, column in enumerate(columns):
        product = row[column] * expanded(a, columns[:place] + columns[place + 1 :])
        total = total - product if place % 2 else total + product
    return total


def all_at_once(a: Any) -> Any:
    """Return the determinant with array operations, from the last row to the first."""
    n = len(a)
    left = [numpy.arange(n)[None]]  # columns of each minor, by the number of removed rows
    for size in range(n, 1, -1):
        others = [numpy.delete(numpy.arange(size), place) for place in range(size)]
        left.append(left[-1][:, others].reshape(-1, size - 1))
    minors = a[n - 1, left[-1][:, 0]]
    for row in range(n - 2, -1, -1):
        signs = numpy.where(numpy.arange(n - row) % 2, -1.0, 1.0)
        elements = a[row, left[row].ravel()].reshape(-1, n - row)
        minors = (elements * minors.reshape(-1, n - row)) @ type_of(a)(signs)
    return minors[0]


def type_of(a: Any) -> Any:
    """Return the function that creates arrays of the same library."""
    return a.new_tensor if hasattr(a, "new_tensor") else jax().numpy.asarray


def cases(quick: bool) -> Iterator[Case]:
    """Yield all sizes."""
    generator = numpy.random.default_rng(0)
    for n in (5,) if quick else (5, 7, 9):
        a = generator.uniform(size=(n, n))
        makers = {
            "gradwalk": recorded(grad(expanded), a),
            "C++": in_cpp("det", [n, a], [(n, n)]),
            "JAX": in_jax(jax().grad(all_at_once), a),
            "PyTorch": slopes_in_torch(all_at_once, 1, a),
        }
        makers |= tapes.makers(tapes.Tapes.gradient, "det", [n], a.ravel())
        yield Case("det", f"{n} rows", makers)
