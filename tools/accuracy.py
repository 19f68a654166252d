"""Measure how far off the operations are, and write the worst errors of each into docs/accuracy.md.

usage: python tools/accuracy.py [--points N] [--only NAME ...]

Every row of the table is computed at some thousand operands, its value and its derivatives, in every way of running,
and compared with mpmath at 60 digits. Where the checkout is not compiled, batches are left out: they are Python, too.
With --only, errors are printed and nothing is written.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests/helpers")]

from gradwalk.ops.rows import Operation  # noqa: E402  these need the line above
from gradwalk.ops.table import TABLE  # noqa: E402  these need the line above
from gradwalk.program.run import interpreter  # noqa: E402

derivatives: Any = importlib.import_module("derivatives")

IS_COMPILED = not str(interpreter.__file__).endswith(".py")
GOAL = 4.0

# Why an error is larger than the goal, by row and quantity.
REASONS = {
    ("div", "d/dy"): "`-out / y` has the few digits of an `out` that is subnormal.",
    ("pow", "d/dx"): "`pow(x, y - 1)` overflows or is subnormal where its product with y is not; "
    "elsewhere at most 4 + abs((y - 1) · log(x)) ulp.",
    ("pow", "d/dy"): "`out` overflows or is subnormal where its product with log(x) is not.",
    ("logaddexp", "value"): "Next to 0 the larger operand and the logarithm cancel.",
    ("tan", "d/dx"): "Twice the error of the tangent itself, which batches compute less exactly than the C library.",
    ("tan", "d²/dx²"): "As for d/dx, three times.",
    ("tanh", "d²/dx²"): "As for d/dx, and the error of the value.",
    ("asin", "d²/dx²"): "Several roundings, each of them small.",
    ("acos", "d²/dx²"): "Several roundings, each of them small.",
    ("sigmoid", "d²/dx²"): "`1 - 2 · out` cancels next to 0, where the second derivative is 0.",
    ("erf", "d²/dx²"): "The first derivative is subnormal, and 2 · x times what it lacks is lost.",
    ("softplus", "d²/dx²"): "As d/dx of sigmoid: the exponentials of batches are 2 ulp off.",
    ("tanh", "d/dx"): "The exponentials of batches are 2 ulp off, and their squares 4.",
    ("sigmoid", "d/dx"): "The exponentials of batches are 2 ulp off, and their squares 4.",
}

TOP = """# Accuracy

How far off the operations and their derivatives are, in units of the last place (ulp) of the true number: the worst
that was found at {points} operands of each kind (of all magnitudes, moderate ones, and next to zeros, poles,
saturation, overflow and underflow), compared with mpmath at 60 digits. Only true numbers that are normal, neither
subnormal nor too large, are compared. What is always exact is left out.

The goal is 4 ulp for values and partials. [Operations](operations.md) has the formulas; where one of them would be
further off, another that is mathematically the same is computed. Second derivatives follow from the partials, and
have no goal.

"Values" are those of `Value`, and second derivatives those of `jit`; "float64" and "float32" are batches through
`vmap`. Values are as exact as the functions of the C library are, and batches as exact as its vector functions. Where
it has none, `exp`, `expm1`, `log`, `log1p`, `sin`, `cos` and `tanh` of batches are gradwalk's own, within 1 ulp;
`gradwalk.about()` says which these are.

`python tools/accuracy.py` writes this page, here with {system}.

"""


def measured(row: Operation, count: int) -> list[dict[str, Any]]:
    """The largest errors of a row: of Values, and where they are compiled of batches in float64 and float32."""
    single, double = derivatives.FLOAT32, derivatives.FLOAT64
    points = derivatives.operands(row, count)
    found = [derivatives.worst(row, points, derivatives.eager(row, points), double)]
    if IS_COMPILED:
        found.append(derivatives.worst(row, points, derivatives.lanes(row, points, double), double))
        points = derivatives.operands(row, count, single)
        found.append(derivatives.worst(row, points, derivatives.lanes(row, points, single), single))
    return found


def page(results: dict[str, list[dict[str, Any]]], count: int) -> Iterator[str]:
    """The lines of docs/accuracy.md."""
    libc = " ".join(platform.libc_ver()) or platform.system()
    yield from TOP.format(points=count, system=f"{libc} on {platform.machine()}").splitlines()
    ways = ("Values", "float64", "float32")[: 3 if IS_COMPILED else 1]
    yield f"| operation | of | {' | '.join(ways)} |"
    yield f"|---|---|{'---|' * len(ways)}"
    large = []
    for name, found in results.items():
        for quantity in found[0]:
            cells = [way[quantity] for way in found]
            if not any(cell.ulps for cell in cells):
                continue
            yield f"| `{name}` | {quantity} | {' | '.join(shown(cell.ulps) for cell in cells)} |"
            large += [(name, quantity, way, cell) for way, cell in zip(ways, cells, strict=True) if cell.ulps > GOAL]
    yield from ("", f"Where it is more than {GOAL:g} ulp:", "")
    yield from ("| operation | of | in | ulp | at | why |", "|---|---|---|---|---|---|")
    for name, quantity, way, cell in large:
        at = ", ".join(f"{x:.6g}" for x in cell.at)
        yield f"| `{name}` | {quantity} | {way} | {shown(cell.ulps)} | {at} | {REASONS.get((name, quantity), '')} |"


def shown(ulps: float) -> str:
    """An error as text."""
    return f"{ulps:.1f}" if ulps < 1000 else f"{ulps:.0e}".replace("e+", "e")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1000, help="how many operands of each kind")
    parser.add_argument("--only", nargs="*", default=[], help="names of operations")
    options = parser.parse_args()
    results = {}
    for row in [row for row in TABLE if not options.only or row.name in options.only]:
        results[row.name] = measured(row, options.points)
        for quantity in results[row.name][0]:
            cells = [way[quantity] for way in results[row.name]]
            errors = "".join(f"{c.ulps:10.3g} {c.at if c.ulps > GOAL else ''!s:48}" for c in cells)
            print(f"{row.name:13} {quantity:6} {errors}".rstrip(), flush=True)
    if not options.only:
        (ROOT / "docs/accuracy.md").write_text("\n".join(page(results, options.points)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
