"""Measure the errors of the special functions of `gradwalk.math`, and write docs/special_accuracy.md.

usage: python tools/special_accuracy.py [--points N] [--only NAME ...]

Values and derivatives to third order are compared with mpmath at 50 digits, at operands drawn at random from the
intervals in tests/helpers/special_references.py. With --only, errors are printed and nothing is written.
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

from gradwalk import grad, jit  # noqa: E402  needs the path above

references: Any = importlib.import_module("special_references")

TOP = """# Accuracy of the special functions

This page lists the largest relative errors of the special functions that are composed of several operations, and of
their derivatives to third order. [Accuracy](accuracy.md) lists the errors of the operations. The functions were
recorded by `jit` and compared with mpmath at 50 digits, at {points} random operands from each of two sets of intervals;
the second set reaches into the tails. Functions were differentiated with respect to each operand, and the table has the
largest error.

Errors near zeros of some functions are relative to a scale instead of the result: to sqrt(2 / (π · x)) for `j0` and
`j1`, to x for `xlogy`, `rel_entr` and `kl_div`, to 1 for `norm_logpdf`, `entr`, `betaln` and `expi`, to 20 for
`polygamma(2, x)` with x < 0, and to 0.1 for the Riemann zeta function.

`python tools/special_accuracy.py` writes this page. The numbers are from {system}.

| function | operands from | value | 1st derivative | 2nd | 3rd |
|---|---|---|---|---|---|
"""


def worst(special: Any, tails: bool, count: int) -> list[float]:
    """Return the largest relative errors of the value and of the derivatives of the orders 1, 2 and 3."""
    errors = [0.0, 0.0, 0.0, 0.0]
    points = references.draw(special, tails, count, 1)
    for argnum in range(len(special.domains[0])):
        function = special.function
        for order in range(4):
            recorded = jit(function)
            for xs in points:
                true = references.exact(special, xs, argnum, order)
                errors[order] = max(errors[order], references.relative_error(special, xs, recorded(*xs), true))
            function = grad(function, argnums=argnum)
    return errors


def intervals(domain: tuple[Any, ...]) -> str:
    """Format the intervals of the operands."""
    return ", ".join(f"[{interval.low:g}, {interval.high:g}]" for interval in domain)


def lines(count: int, only: list[str]) -> Iterator[str]:
    """Yield the rows of the table."""
    for name, special in references.SPECIALS.items():
        if only and name not in only:
            continue
        for tails in (False, True):
            cells = " | ".join(
                f"{error if error > 1e-30 else 0.0:.0e}".replace("0e+00", "0") for error in worst(special, tails, count)
            )
            yield f"| `{name}` | {intervals(special.domains[tails])} | {cells} |"


def main() -> None:
    """Measure the functions that the command line selects."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=50, help="number of operands from each set of intervals")
    parser.add_argument("--only", nargs="*", default=[], help="names of functions")
    options = parser.parse_args()
    table = []
    for line in lines(options.points, options.only):
        print(line, flush=True)
        table.append(line)
    if not options.only:
        libc = " ".join(platform.libc_ver()) or platform.system()
        top = TOP.format(points=options.points, system=f"{libc} on {platform.machine()}")
        (ROOT / "docs/special_accuracy.md").write_text(top + "\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
