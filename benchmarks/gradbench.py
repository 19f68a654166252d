"""The problems of GradBench, beside C++ by hand, CppAD, ADOL-C, JAX and PyTorch: eleven of them in up to three sizes.

Each file of `gradbench_problems/` says what its problem is and where that comes from. All functions compute the same
derivatives from the same numbers, in float64, on one core, and have to agree to seven digits before they are timed. A
first result is what recording, tracing and compiling take with it, where the library does that while the program runs;
C++ has been compiled before.

    python benchmarks/gradbench.py [problem ...]
"""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter, process_time, sleep
from typing import Any, NamedTuple

from gradbench_problems import tapes
from gradbench_problems.base import Case, Run, by_hand
from peers import on_one_core
from suites import flat
from timing import Row, beside, best_of, in_fresh_process, markdown_row, quantity, seconds

PROBLEMS = ("gmm", "ba", "ht", "lstm", "ode", "particle", "saddle", "det", "kmeans", "llsq", "lse")
PEERS = ("C++", "CppAD", "ADOL-C", "JAX", "PyTorch")
TURNS, SHORT, LONG = (
    7,
    1e-3,
    0.5,
)  # seconds below which calls are timed together, and above which three times are enough


class Times(NamedTuple):
    """Of a problem of one size, seconds by the names of the libraries: of a first result, and of a later one."""

    problem: str
    size: str
    first: dict[str, float]
    later: dict[str, float]


def difference(found: Any, expected: Any) -> float:
    """The largest difference of two arrays, relative to the largest of the numbers."""
    return float(abs(found - expected).max() / abs(expected).max()) if expected.any() else float(abs(found).max())


def first_results(case: Case) -> tuple[dict[str, Run], dict[str, float]]:
    """The functions, and how long each took to make and to call once. Raises `AssertionError` where they differ."""
    runs, times, expected = {}, {}, None
    for name, make in case.makers.items():
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
    """So many calls in a row."""

    def many() -> None:
        for _ in range(count):
            run()

    return many


def ready(run: Run) -> None:
    """Run for a second of this process, and wait as long: for machine code that gradwalk compiles beside its runs."""
    end = process_time() + 1.0
    while process_time() < end:
        run()
    sleep(1.0)


def later_results(runs: dict[str, Run], quick: bool) -> dict[str, float]:
    """Seconds of a call of each, by turns."""
    if not quick:
        ready(runs["gradwalk"])
    once = {name: seconds(run) for name, run in runs.items()}
    if quick:
        return once
    gc.freeze()  # what was recorded is not to be looked through before each run
    counts = {name: max(1, int(SHORT / time)) for name, time in once.items()}
    many = {name: repeated(run, counts[name]) for name, run in runs.items()}
    times = best_of(TURNS, {name: run for name, run in many.items() if once[name] < LONG})
    gc.unfreeze()
    return {name: times[name] / counts[name] if name in times else once[name] for name in runs}


def of_problem(problem: str, quick: bool) -> list[Times]:
    """All sizes of a problem."""
    on_one_core()
    found = []
    for case in importlib.import_module(f"gradbench_problems.{problem}").cases(quick):
        runs, first = first_results(case)
        found.append(Times(case.problem, case.size, first, later_results(runs, quick)))
    return found


def measured(problems: Sequence[str], quick: bool) -> Iterator[Times]:
    """All sizes of these problems. C++ is compiled before.

    Each problem has a process of its own: ADOL-C's numbers take longer, the more of them there have ever been.
    """
    by_hand()
    for name in tapes.HEADERS:
        if tapes.is_installed(name):
            tapes.library(name)
        else:
            print(f"{name} is left out: {tapes.INSTALLED_BY[name]}", file=sys.stderr)
    for problem in problems:
        yield from in_fresh_process(of_problem, problem, quick, method="fork")


def measure(quick: bool) -> list[Row]:
    """The rows of the table of claims: each case beside the fastest of its peers."""
    rows = []
    for problem, size, _, later in measured(PROBLEMS, quick):
        time, name = min((time, name) for name, time in later.items() if name != "gradwalk")
        rows.append(beside(f"GradBench, {problem}, {size}", "us", 1e6 * later["gradwalk"], (name, 1e6 * time)))
    return rows


def amount(time: float) -> str:
    """A time in the unit that suits it."""
    scale, unit = next(((s, u) for s, u in ((1.0, "s"), (1e3, "ms")) if time * s >= 1), (1e6, "us"))
    return quantity(time * scale, unit)


def cells(result: str, times: dict[str, float]) -> list[str]:
    """The end of a row of the table: gradwalk's time, and those of its peers with their ratios to it."""
    ours = times["gradwalk"]
    peers = [f"{amount(times[name])}, {times[name] / ours:.3g}x" if name in times else "" for name in PEERS]
    return [result, amount(ours), *peers]


def main() -> None:
    """Read the command line, measure, and print the table."""
    parser = argparse.ArgumentParser(description="Measure the problems of GradBench.")
    parser.add_argument("problems", nargs="*", default=PROBLEMS, metavar="problem", help=", ".join(PROBLEMS))
    parser.add_argument("--quick", action="store_true", help="small sizes: whether they run, not how fast")
    options = parser.parse_args()
    header = ["problem", "size", "result", "gradwalk", *PEERS]
    print(markdown_row(header), markdown_row(["---"] * len(header)), sep="\n", flush=True)
    for problem, size, first, later in measured(options.problems, options.quick):
        print(markdown_row([problem, size, *cells("first", first)]))
        print(markdown_row([problem, size, *cells("later", later)]), flush=True)


if __name__ == "__main__":
    main()
