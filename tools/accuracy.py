"""Measure how far off the operations are, and write the worst errors of each into docs/accuracy.md.

usage: python tools/accuracy.py [--points N] [--only NAME ...] [--print]

Every row of the table is computed at some thousand operands, its value and its derivatives, in every way of running,
and compared with mpmath at 60 digits. Where the checkout is not compiled, batches are left out: they are Python, too.
"""

from __future__ import annotations

import argparse
import math
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests/helpers")]

from derivatives import FIRST, FLOAT32, FLOAT64, SECOND, Format, exact, operands, ulps_off  # noqa: E402
from references import MPMATH  # noqa: E402

import gradwalk  # noqa: E402
from gradwalk.ops.table import TABLE, Operation  # noqa: E402
from gradwalk.program import interpreter  # noqa: E402
from gradwalk.value.value import apply  # noqa: E402

OPCODES = {row.name: opcode for opcode, row in enumerate(TABLE, start=1)}
IS_COMPILED = not str(interpreter.__file__).endswith(".py")
GOAL = 4.0
Numbers = Any  # a number for each operand tuple


class Worst(NamedTuple):
    """The largest error in ulp, and the operands at which it was found."""

    ulps: float
    at: tuple[float, ...]


def function(row: Operation) -> Callable[..., Any]:
    return lambda *xs: apply(OPCODES[row.name], *xs)


def quantities(row: Operation) -> Iterator[tuple[str, Callable[..., Any]]]:
    """What is measured of a row: a name for it, and the true function."""
    yield "value", MPMATH[row.name]
    for position in range(row.arity):
        if position not in row.non_differentiable:
            yield f"d/d{'xyz'[position]}", FIRST[row.name][position]
    if row.name in SECOND:
        yield "d²/dx²", SECOND[row.name]


def eager(row: Operation, points: list[tuple[float, ...]]) -> dict[str, Numbers]:
    """The numbers that Values hold; second derivatives by a program, one sample at a time."""
    found: dict[str, Numbers] = {"value": [], "d/dx": [], "d/dy": [], "d/dz": [], "d²/dx²": []}
    second = gradwalk.jit(gradwalk.grad(gradwalk.grad(function(row))))
    for xs in points:
        out = apply(OPCODES[row.name], *map(gradwalk.Value, xs))
        found["value"].append(out.data)
        for position, partial in enumerate(out.partials):
            found[f"d/d{'xyz'[position]}"].append(partial)
        if row.name in SECOND:
            found["d²/dx²"].append(float(second(*xs)))
    return found


def lanes(row: Operation, points: list[tuple[float, ...]], of: Format) -> dict[str, Numbers]:
    """The numbers that batches hold."""
    columns = [numpy.array(column, numpy.float32 if of == FLOAT32 else numpy.float64) for column in zip(*points)]
    f = function(row)
    found: dict[str, Numbers] = {"value": gradwalk.vmap(f)(*columns)}
    for position in range(row.arity):
        if position not in row.non_differentiable:
            found[f"d/d{'xyz'[position]}"] = gradwalk.vmap(gradwalk.grad(f, argnums=position))(*columns)
    if row.name in SECOND:
        found["d²/dx²"] = gradwalk.vmap(gradwalk.grad(gradwalk.grad(f)))(*columns)
    return found


def worst(row: Operation, points: list[tuple[float, ...]], found: dict[str, Numbers], of: Format) -> dict[str, Worst]:
    """The largest error of each quantity, where the operation is defined and the true number is a normal one."""
    largest = {}
    defined = [exact(MPMATH[row.name], xs) is not None for xs in points]
    for quantity, function_of in quantities(row):
        errors = [Worst(0.0, ())]
        for xs, number, inside in zip(points, found[quantity], defined, strict=True):
            off = ulps_off(float(number), exact(function_of, xs), of) if inside else None
            if off is not None:
                errors.append(Worst(off, xs))
        largest[quantity] = max(errors)
    return largest


def measured(row: Operation, count: int) -> list[dict[str, Worst]]:
    """The largest errors of a row: of Values, and where they are compiled of batches in float64 and float32."""
    points = operands(row, count)
    found = [worst(row, points, eager(row, points), FLOAT64)]
    if IS_COMPILED:
        found.append(worst(row, points, lanes(row, points, FLOAT64), FLOAT64))
        singles = operands(row, count, FLOAT32)
        found.append(worst(row, singles, lanes(row, singles, FLOAT32), FLOAT32))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=500, help="how many operands of each kind")
    parser.add_argument("--only", nargs="*", default=[], help="names of operations")
    options = parser.parse_args()
    for row in TABLE:
        if not options.only or row.name in options.only:
            for quantity, *_ in quantities(row):
                pass
            ways = measured(row, options.points)
            for quantity, _ in quantities(row):
                cells = [way[quantity] for way in ways]
                print(
                    f"{row.name:12} {quantity:7}",
                    *(f"{c.ulps:10.3g} {str(c.at if c.ulps > GOAL else ''):48}" for c in cells),
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
