"""GradBench's `det`, from cmpad: the gradient of a determinant by expansion by minors.

That takes about n! e products; GradBench has matrices of 5 to 11 rows. Equal minors come up again and again: who finds
that out, as gradwalk's recording and CppAD's `optimize` do, has 2^n of them. JAX and PyTorch expand all minors of one
size at once.
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
    """The determinant of the last rows of these columns."""
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
    """The same on arrays: of each row the elements that stand before its minors, from the last row on."""
    n = len(a)
    left = [numpy.arange(n)[None]]  # of each minor the columns, by how many rows are gone
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
    """What makes an array of the same library."""
    return a.new_tensor if hasattr(a, "new_tensor") else jax().numpy.asarray


def cases(quick: bool) -> Iterator[Case]:
    """All sizes."""
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
