"""Runs the benchmarks, all or those named, each in a fresh process, and prints one Markdown table of all claims.

    python benchmarks/run.py [name ...] [--quick]

A process of its own, because what other peers leave on the heap would slow down those that the garbage collector
visits.
"""

from __future__ import annotations

import argparse
import importlib

from timing import HEADER, Row, in_fresh_process, markdown_row

BENCHMARKS = (
    "moons",
    "chain",
    "memory",
    "transformer",
    "microgpt",
    "networks",
    "see",
    "transforms",
    "calls",
    "compiling",
    "loops",
    "solvers",
    "folding",
    "suites",
    "gradbench",
    "asian",
    "black_scholes",
    "low_level",
    "vector_functions",
    "interop",
    "page",
    "import_time",
)


def measured(name: str, quick: bool) -> list[Row]:
    """The rows of one benchmark."""
    rows: list[Row] = importlib.import_module(name).measure(quick)
    return rows


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description="Measure gradwalk's claims against its peers.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"which of {', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="small sizes: whether they run, not how fast")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    print(markdown_row(HEADER), markdown_row(["---"] * len(HEADER)), sep="\n")
    for name in options.names or BENCHMARKS:
        for row in in_fresh_process(measured, name, options.quick):
            print(markdown_row(row.cells()), flush=True)


if __name__ == "__main__":
    main()
