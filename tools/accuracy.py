"""Measure the errors of all operations, and write the largest error of each into docs/accuracy.md.

usage: python tools/accuracy.py [--points N] [--only NAME ...]

The value and the derivatives of every operation are computed at thousands of operands, by Values and by batches in
float64 and float32, and compared with mpmath at 60 digits. Batches are skipped if the checkout is not compiled, because
they run as Python then. With --only, errors are printed and nothing is written.
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

from gradwalk.ops.rows import Operation  # noqa: E402  needs the path above
from gradwalk.ops.table import TABLE  # noqa: E402
from gradwalk.program.run import interpreter  # noqa: E402

derivatives: Any = importlib.import_module("derivatives")

IS_COMPILED = not str(interpreter.__file__).endswith(".py")
GOAL = 4.0  # ulp

# Why an error exceeds the goal, by operation and quantity.
REASONS = {
    ("div", "d/dy"): "If `out` is subnormal, it has fewer digits, and so has `-out / y`.",
    ("pow", "d/dx"): "`pow(x, y - 1)` can overflow or be subnormal even if its product with y is normal; "
    "elsewhere at most 4 + abs((y - 1) · log(x)) ulp.",
    ("pow", "d/dy"): "`out` can overflow or be subnormal even if its product with log(x) is normal.",
    ("logaddexp", "value"): "Near 0 the larger operand and the logarithm cancel.",
    ("tan", "d/dx"): "Twice the error of the tangent, which batches compute less accurately than the C library.",
    ("tan", "d²/dx²"): "Three times the error of the tangent, see d/dx.",
    ("tanh", "d²/dx²"): "The errors of d/dx and of the value.",
    ("asin", "d²/dx²"): "Several small rounding errors.",
    ("acos", "d²/dx²"): "Several small rounding errors.",
    ("sigmoid", "d²/dx²"): "`1 - 2 · out` cancels near 0, where the second derivative is 0.",
    ("erf", "d²/dx²"): "The first derivative is subnormal; its rounding error is multiplied by 2 · x.",
    ("softplus", "d²/dx²"): "Like d/dx of sigmoid: exponentials in batches have errors of up to 2 ulp.",
    ("tanh", "d/dx"): "Exponentials in batches have errors of up to 2 ulp, and their squares of up to 4 ulp.",
    ("sigmoid", "d/dx"): "Exponentials in batches have errors of up to 2 ulp, and their squares of up to 4 ulp.",
}

TOP = """# Accuracy

This page lists the largest errors of the operations and of their derivatives, in units in the last place (ulp). They
were measured against mpmath at 60 digits, at {points} operands of each kind: all magnitudes, moderate numbers, and
numbers near zeros, poles, saturation, overflow and underflow. Results are compared only if the exact result is a normal
number, neither subnormal nor too large. Operations without any error are not listed.

The goal is 4 ulp for values and partials. [Operations](operations.md) has the formulas; a formula that would be less
accurate is replaced by a mathematically equivalent one. Second derivatives follow from the partials; they do
not have a goal.

In the column "Values", first derivatives are computed by `Value` and second derivatives by `jit`; "float64" and
"float32" are batches by `vmap`. Values are as accurate as the functions of the C library, and batches as accurate as
its vector functions. If the library does not have vector functions, batches use gradwalk's own `exp`, `expm1`, `log`,
`log1p`, `sin`, `cos` and `tanh`, which are accurate to 1 ulp; `gradwalk.about()` lists them.

`python tools/accuracy.py` writes this page. The numbers are from {system}.

"""


def measured(row: Operation, count: int) -> list[dict[str, Any]]:
    """Return the largest errors of an operation: for Values and, if compiled, for batches in float64 and float32."""
    single, double = derivatives.FLOAT32, derivatives.FLOAT64
    points = derivatives.operands(row, count)
    found = [derivatives.worst(row, points, derivatives.eager(row, points), double)]
    if IS_COMPILED:
        found.append(derivatives.worst(row, points, derivatives.lanes(row, points, double), double))
        points = derivatives.operands(row, count, single)
        found.append(derivatives.worst(row, points, derivatives.lanes(row, points, single), single))
    return found


def page(results: dict[str, list[dict[str, Any]]], count: int) -> Iterator[str]:
    """Yield the lines of docs/accuracy.md."""
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
    yield from ("", f"Errors above {GOAL:g} ulp:", "")
    yield from ("| operation | of | in | ulp | at | why |", "|---|---|---|---|---|---|")
    for name, quantity, way, cell in large:
        at = ", ".join(f"{x:.6g}" for x in cell.at)
        yield f"| `{name}` | {quantity} | {way} | {shown(cell.ulps)} | {at} | {REASONS.get((name, quantity), '')} |"


def shown(ulps: float) -> str:
    """Format an error."""
    return f"{ulps:.1f}" if ulps < 1000 else f"{ulps:.0e}".replace("e+", "e")


def main() -> None:
    """Measure the operations that the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1000, help="number of operands of each kind")
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
