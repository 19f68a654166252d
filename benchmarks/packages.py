"""Derivatives of functions of public packages that know nothing of gradwalk, under `gradwalk.adopt`.

    pip install ambiance astral chemicals ...   # those of package_functions.PACKAGES that are to be measured
    python benchmarks/packages.py               # or: python benchmarks/packages.py fluids ht

For each function: whether its gradient is right on Values, by `grad`, by `jit(grad)` and by
`vmap(grad)`, compared with Richardson's extrapolation of central differences of plain calls; and the times of a plain
call of the adopted function and of its gradient, relative to a plain call before.
Packages that are not installed are skipped.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy
from package_functions import Function, Point, functions
from timing import best_of, markdown_row, quantity

from gradwalk import Value, adopt, grad, jit, vmap

sys.modules["numba"] = None  # type: ignore[assignment]  # haversine and psychrolib use Numba where it is installed

WAYS = ("Values", "grad", "jit(grad)", "vmap(grad)")
HEADER = ("function", "numbers", *WAYS, "plain call", "adopted", "grad", "jit(grad)")
_TURNS = 2


class Reference(NamedTuple):
    """A gradient of plain calls, and an estimate of its error."""

    gradient: list[float]
    error: list[float]

    def agrees(self, found: Sequence[float]) -> bool:
        """Return whether a gradient is right."""
        scale = max(map(abs, self.gradient))
        return all(
            abs(float(x) - y) <= 1e-5 * abs(y) + 20.0 * error + 1e-9 * scale
            for x, y, error in zip(found, self.gradient, self.error, strict=True)
        )


def reference(f: Function, point: Point) -> Reference:
    """Compute the gradient of plain calls by Richardson's extrapolation."""
    found = [_slope(f, point, i) for i in range(len(point))]
    return Reference([slope for slope, _ in found], [error for _, error in found])


def _slope(f: Function, point: Point, i: int) -> tuple[float, float]:
    """Return the derivative with respect to argument i, and an estimate of its error."""
    rows: list[list[float]] = []
    for k in range(5):
        h = 1e-3 * (abs(point[i]) or 1.0) / 2**k
        above, below = (float(f(*point[:i], point[i] + step, *point[i + 1 :])) for step in (h, -h))
        row = [(above - below) / (2.0 * h)]
        for j in range(k):
            row.append(row[j] + (row[j] - rows[-1][j]) / (4.0 ** (j + 1) - 1.0))
        rows.append(row)
    return rows[-1][-1], abs(rows[-1][-1] - rows[-2][-1])


def on_values(f: Function, point: Point) -> list[float]:
    """Return the gradient by the backward pass of Values."""
    leaves = [Value(x) for x in point]
    f(*leaves).backward()
    return [leaf.grad for leaf in leaves]


def by_way(f: Function, point: Point) -> dict[str, Callable[[], Any]]:
    """Return functions that compute the gradient in each path. `vmap` also gets two neighboring points."""
    slopes = grad(f, argnums=tuple(range(len(point))))
    recorded, batched = jit(slopes), jit(vmap(slopes))
    columns = [x * (1.0 + 1e-4 * numpy.arange(3.0)) for x in point]
    return {
        "Values": lambda: on_values(f, point),
        "grad": lambda: slopes(*point),
        "jit(grad)": lambda: recorded(*point),
        "vmap(grad)": lambda: [column[0] for column in batched(*columns)],
    }


def measured(name: str, f: Function, point: Point, *, shows_errors: bool) -> tuple[list[str], list[bool]]:
    """Return the row of a function in the table, and whether each path is right."""
    expected = reference(f, point)
    answers: dict[str, str] = {}
    runs: dict[str, Callable[[], Any]] = {"adopted": lambda: f(*point)}
    plain = best_of(_TURNS, {"plain": lambda: f(*point)})["plain"]
    with adopt(*modules_of(name)):
        for path, run in by_way(f, point).items():
            try:
                answers[path] = "right" if expected.agrees(run()) else "wrong"
            except Exception as error:
                answers[path] = type(error).__name__
                if shows_errors:
                    print(f"{name}, {path}: {error!s:.300}")
            if answers[path] == "right":
                runs[path] = run
        times = best_of(_TURNS, runs)
    ratios = [f"{times[path] / plain:.3g}x" if path in times else "" for path in HEADER[-3:]]
    cells = [name, str(len(point)), *answers.values(), quantity(1e6 * plain, "us"), *ratios]
    return cells, [answer == "right" for answer in answers.values()]


def modules_of(name: str) -> list[str]:
    """Return the names of the packages to adopt for a function."""
    found = name.partition(":")[0].split(", ") if ":" in name else [name.partition(".")[0]]
    return [{"numpy-financial": "numpy_financial", "scikit-aero": "skaero"}.get(package, package) for package in found]


def main() -> None:
    """Parse the command line, measure, and print the table."""
    parser = argparse.ArgumentParser(description="Differentiate functions of public packages.")
    parser.add_argument("names", nargs="*", metavar="package", help="beginnings of names of functions (default: all)")
    parser.add_argument("--errors", action="store_true", help="print the messages of all errors")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(markdown_row(HEADER), markdown_row(["---"] * len(HEADER)), sep="\n")
    totals = numpy.zeros(len(WAYS), int)
    count = 0
    for name, (f, point) in functions().items():
        if options.names and not name.startswith(tuple(options.names)):
            continue
        try:
            f(*point)
        except ModuleNotFoundError as error:
            print(f"skipping {name}: {error}")
            continue
        cells, is_right = measured(name, f, point, shows_errors=options.errors)
        print(markdown_row(cells), flush=True)
        totals += is_right
        count += 1
    print(markdown_row([f"right, of {count}", "", *map(str, totals), *[""] * 4]))


if __name__ == "__main__":
    main()
