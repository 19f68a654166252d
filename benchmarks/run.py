"""Run all benchmarks or the named ones, each in a fresh process, and print one Markdown table of all claims.

    python benchmarks/run.py [name ...] [--quick]

Each benchmark has its own process because objects left on the heap by other peers would slow down garbage collection.
With `--quick`, a benchmark runs on each core at the same time, because the times are not meaningful.
"""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

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
    "arrays",
    "gradbench",
    "asian",
    "beside",
    "black_scholes",
    "exported",
    "calibration",
    "gallery",
    "optimal_control",
    "eight_schools",
    "low_level",
    "vector_functions",
    "interop",
    "page",
    "import_time",
)


def measured(name: str, quick: bool, cores: Sequence[int]) -> list[Row]:
    """Return the rows of one benchmark, which may use the given cores, or all of them if there are none."""
    if cores:
        os.sched_setaffinity(0, cores)
    rows: list[Row] = importlib.import_module(name).measure(quick)
    return rows


def print_rows(names: Iterable[str], quick: bool, cores: Sequence[int]) -> None:
    """Measure benchmarks one after another, and print a row of the table for each claim."""
    for name in names:
        for row in in_fresh_process(measured, name, quick, cores):
            print(markdown_row(row.cells()), flush=True)


def main() -> None:
    """Parse the command line, measure, and print the table."""
    parser = argparse.ArgumentParser(description="Measure gradwalk's claims against its peers.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="use small sizes, to check that the benchmarks run")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"name must be one of {', '.join(BENCHMARKS)}, got {', '.join(sorted(unknown))}")
    print(markdown_row(HEADER), markdown_row(["---"] * len(HEADER)), sep="\n")
    names = options.names or BENCHMARKS
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []  # only Linux can choose cores
    groups = [[core] for core in cores] if options.quick and cores else [cores]
    queue = iter(names)  # each group of cores takes the next benchmark
    with ThreadPoolExecutor(len(groups)) as pool:
        waiting = [pool.submit(print_rows, queue, options.quick, group) for group in groups]
        for each in waiting:
            each.result()


if __name__ == "__main__":
    main()
