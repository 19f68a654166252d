"""The eleven problems of GradBench in up to three sizes, beside handwritten C++, CppAD, ADOL-C, JAX and PyTorch.

Each file of `gradbench_problems/` describes its problem and its origin. All functions compute the same derivatives from
the same numbers, in float64 and on one core, and must agree to seven digits before they are timed. The time of a first
result includes recording, tracing and compiling, if the library does so at run time; C++ is compiled in advance.

    python benchmarks/gradbench.py [--contract] [problem ...]
"""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter, process_time, sleep
from typing import Any, NamedTuple

from gradbench_problems import tapes
from gradbench_problems.base import Case, Run, by_hand
from peers import on_one_core
from suites import flat
from timing import Row, beside, best_of, in_fresh_process, markdown_row, quantity, seconds

PROBLEMS = ("gmm", "ba", "ht", "lstm", "ode", "particle", "saddle", "det", "kmeans", "llsq", "lse")
PEERS = ("C++", "CppAD", "ADOL-C", "JAX", "PyTorch")
TURNS = 7
SHORT, LONG = 1e-3, 0.5  # in seconds: shorter calls are timed together, longer calls are timed once


class Times(NamedTuple):
    """Seconds by library for a problem of one size: of the first result and of later results."""

    problem: str
    size: str
    first: dict[str, float]
    later: dict[str, float]


def difference(found: Any, expected: Any) -> float:
    """Return the largest difference of two arrays, relative to the largest number."""
    return float(abs(found - expected).max() / abs(expected).max()) if expected.any() else float(abs(found).max())


def first_results(case: Case, contract: bool) -> tuple[dict[str, Run], dict[str, float]]:
    """Return the functions and the seconds to make and call each. Raise `AssertionError` if they differ."""
    runs, times, expected = {}, {}, None
    ours = partial(case.makers["gradwalk"], contract=contract)
    for name, make in (case.makers | {"gradwalk": ours}).items():
        start = perf_counter()
        runs[name] = make()
        result = runs[name]()
        times[name] = perf_counter() - start
        found = flat(result)
        expected = found if expected is None else expected
        assert difference(found, expected) < 1e-7, (case.problem, case.size, name, difference(found, expected))
    if case.published is not None:
        assert difference(expected, flat(case.published)) < 1e-7, (case.problem, expected)
    return runs, times


def repeated(run: Run, count: int) -> Callable[[], None]:
    """Return a function that makes `count` calls."""

    def many() -> None:
        for _ in range(count):
            run()

    return many


def ready(run: Run) -> None:
    """Run for a second and then sleep for a second, so that gradwalk finishes a background compilation."""
    end = process_time() + 1.0
    while process_time() < end:
        run()
    sleep(1.0)


def later_results(runs: dict[str, Run], quick: bool) -> dict[str, float]:
    """Return the seconds per call of each function, interleaved."""
    if not quick:
        ready(runs["gradwalk"])
    once = {name: seconds(run) for name, run in runs.items()}
    if quick:
        return once
    gc.freeze()  # exclude recorded objects from the collections before each run
    counts = {name: max(1, int(SHORT / time)) for name, time in once.items()}
    many = {name: repeated(run, counts[name]) for name, run in runs.items()}
    times = best_of(TURNS, {name: run for name, run in many.items() if once[name] < LONG})
    gc.unfreeze()
    return {name: times[name] / counts[name] if name in times else once[name] for name in runs}


def of_problem(problem: str, quick: bool, contract: bool) -> list[Times]:
    """Measure all sizes of a problem."""
    on_one_core()
    found = []
    for case in importlib.import_module(f"gradbench_problems.{problem}").cases(quick):
        runs, first = first_results(case, contract)
        found.append(Times(case.problem, case.size, first, later_results(runs, quick)))
    return found


def measured(problems: Sequence[str], quick: bool, *, contract: bool = False) -> Iterator[Times]:
    """Yield the times of all sizes of these problems; C++ is compiled in advance.

    Each problem runs in a separate process, because ADOL-C slows down with the number of variables ever created.
    """
    by_hand()
    for name in tapes.HEADERS:
        if tapes.is_installed(name):
            tapes.library(name)
        else:
            print(f"skipping {name}, which is not installed: {tapes.INSTALLED_BY[name]}", file=sys.stderr)
    for problem in problems:
        yield from in_fresh_process(of_problem, problem, quick, contract, method="fork")


def measure(quick: bool) -> list[Row]:
    """Return the rows of the table of claims: each case beside its fastest peer."""
    rows = []
    for problem, size, _, later in measured(PROBLEMS, quick):
        time, name = min((time, name) for name, time in later.items() if name != "gradwalk")
        rows.append(beside(f"GradBench, {problem}, {size}", "us", 1e6 * later["gradwalk"], (name, 1e6 * time)))
    return rows


def amount(time: float) -> str:
    """Format a time in a suitable unit."""
    scale, unit = next(((s, u) for s, u in ((1.0, "s"), (1e3, "ms")) if time * s >= 1), (1e6, "us"))
    return quantity(time * scale, unit)


def cells(result: str, times: dict[str, float]) -> list[str]:
    """Return the end of a table row: gradwalk's time, and the peers' times with their ratios to it."""
    ours = times["gradwalk"]
    peers = [f"{amount(times[name])}, {times[name] / ours:.3g}x" if name in times else "" for name in PEERS]
    return [result, amount(ours), *peers]


def main() -> None:
    """Parse the command line, measure, and print the table."""
    parser = argparse.ArgumentParser(description="Measure the problems of GradBench.")
    parser.add_argument("problems", nargs="*", default=PROBLEMS, metavar="problem", help=", ".join(PROBLEMS))
    parser.add_argument("--quick", action="store_true", help="use small sizes, to check that the benchmarks run")
    parser.add_argument("--contract", action="store_true", help="let gradwalk contract operations: see jit")
    options = parser.parse_args()
    header = ["problem", "size", "result", "gradwalk", *PEERS]
    print(markdown_row(header), markdown_row(["---"] * len(header)), sep="\n", flush=True)
    for problem, size, first, later in measured(options.problems, options.quick, contract=options.contract):
        print(markdown_row([problem, size, *cells("first", first)]))
        print(markdown_row([problem, size, *cells("later", later)]), flush=True)


if __name__ == "__main__":
    main()
