"""What people would pick instead: one table of four jobs in gradwalk and eight other libraries, on one core.

    python benchmarks/beside.py

The jobs are: the expression in micrograd's README, with two derivatives, for each call; the final x after 1,000 steps
of Euler's method for Lorenz's equations, with six derivatives; the Asian option of `examples/asian_option.py` with five
derivatives, on 20,000 paths; and a layer of 256 x 256 weights with tanh on 128 samples, with all derivatives. All are
in float64. Each library is tuned as its experts would: `beside_peers.py` says how. Each library runs in a process of
its own, with an empty cache, and takes turns with gradwalk. "time" is the median, "times gradwalk's" the median of the
ratios of the turns, and "first" the time from the function to its first result, after the library has run another
function. All results must agree with gradwalk's.

Libraries that are missing are listed as not installed. Two of them are not in the extra `benchmarks`: warp-lang, which
has 149 MB, and drjit, which needs a shared library of LLVM 15 or later. To measure them:

    pip install warp-lang drjit && apt-get install libllvm15
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import beside_peers
import numpy
from beside_peers import Data, Jobs, Run
from peers import on_one_core
from timing import Row, empty_caches, in_fresh_process, markdown_row, plain_table, quantity, warmed_up

JOBS = {
    "expression": "expression of two numbers",
    "loop": "loop of 1,000 steps",
    "paths": "Asian option, 20,000 paths",
    "layer": "layer of 65,536 weights",
}


class Library(NamedTuple):
    """A peer: its package, its function in `beside_peers.py`, its advantage over gradwalk, and remarks about jobs."""

    package: str
    function: str
    advantage: str
    remarks: dict[str, str]


LIBRARIES = {
    "micrograd": Library(
        "micrograd",
        "in_micrograd",
        "an engine that is short enough to read in one sitting",
        {"paths": "cannot: it has no exp", "layer": "cannot: 8 million products would be objects"},
    ),
    "PyTorch": Library(
        "torch", "in_torch", "GPUs, arrays of millions, and the models and optimizers of deep learning", {}
    ),
    "JAX": Library("jax", "in_jax", "GPUs and TPUs, arrays of millions, many machines", {}),
    "casadi": Library(
        "casadi", "in_casadi", "symbolic matrices; interfaces to many solvers and integrators of optimal control", {}
    ),
    "autograd": Library("autograd", "in_autograd", "arrays of millions in plain NumPy programs", {}),
    "Numba": Library(
        "numba",
        "in_numba",
        "compiles any loop and branch of Python; GPUs",
        dict.fromkeys(JOBS, "no derivatives: written by hand"),
    ),
    "Warp": Library(
        "warp-lang",
        "in_warp",
        "simulation and geometry on NVIDIA GPUs: meshes, volumes, textures",
        {
            "expression": "the first call compiles the kernels of all jobs",
            "loop": "states in arrays: a loop that overwrites a variable has wrong derivatives",
            "paths": "cumulated shocks, and totals in an array, for the same reason",
        },
    ),
    "Dr.Jit": Library(
        "drjit",
        "in_drjit",
        "GPUs; rendering and simulation with millions of lanes, and virtual calls",
        {"paths": "cumulated shocks, so that steps are independent"},
    ),
}


class Measured(NamedTuple):
    """The times of a job, in seconds, and the ratio."""

    ours: float
    its: float
    ratio: float
    our_first: float
    its_first: float


def first_of(jobs: Jobs, name: str) -> tuple[Run, float]:
    """Prepare a job and run it; return it with the time that this took."""
    begin = perf_counter()
    run = jobs[name]()
    run()
    return run, perf_counter() - begin


def calls_of(run: Run, budget: float) -> int:
    """Return how many calls fit into some seconds, at least 1."""
    once = timed(run, 1)
    return 1 if once > budget else max(1, int(budget / min(timed(run, 3) for _ in range(3))))


def compare(ours: Jobs, its: Jobs, name: str, quick: bool) -> Measured:
    """Measure one job: the first results, which must agree, and then turns of both libraries."""
    (run, our_first), (peer, its_first) = first_of(ours, name), first_of(its, name)
    expected, found = (numpy.hstack([numpy.ravel(part) for part in flat(each())]) for each in (run, peer))
    numpy.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    budget = 0.01 if quick else 0.03
    if not quick:
        warmed_up(run)
    counts = calls_of(run, budget), calls_of(peer, budget)
    turns = 2 if quick else 7 if min(counts) == 1 else 31
    pairs = [tuple(timed(each, count) for each, count in zip((run, peer), counts, strict=True)) for _ in range(turns)]
    our_times, its_times = zip(*pairs, strict=True)
    ratio = median(theirs / mine for mine, theirs in pairs)
    return Measured(median(our_times), median(its_times), ratio, our_first, its_first)


def flat(result: Any) -> Iterator[Any]:
    """Yield the numbers and arrays in nested tuples."""
    if isinstance(result, tuple | list):
        for part in result:
            yield from flat(part)
    else:
        yield result


def timed(run: Run, calls: int) -> float:
    """Return the seconds of a call."""
    begin = perf_counter()
    for _ in range(calls):
        run()
    return (perf_counter() - begin) / calls


def measured(name: str, quick: bool) -> dict[str, Measured] | str:
    """Return the times of all jobs that a library can do, or why there are none."""
    on_one_core()
    with empty_caches():
        inputs: Data = beside_peers.data(quick)
        try:
            its: Jobs = getattr(beside_peers, LIBRARIES[name].function)(inputs)
        except ImportError as error:
            return "not installed" if isinstance(error, ModuleNotFoundError) else str(error)
        ours = beside_peers.in_gradwalk(inputs)
        return {job: compare(ours, its, job, quick) for job in its}


def measurements(quick: bool) -> Iterator[tuple[str, dict[str, Measured] | str]]:
    """Yield the times of each library, each from a new process; with `quick`, all from this process."""
    for name in LIBRARIES:
        try:
            yield name, measured(name, quick) if quick else in_fresh_process(measured, name, quick)
        except BrokenProcessPool:
            yield name, "its process crashed"


def duration(time: float) -> str:
    """Format a time with a suitable unit."""
    unit, factor = next((u, f) for u, f in (("s", 1.0), ("ms", 1e3), ("us", 1e6)) if time * f >= 1.0 or u == "us")
    return quantity(time * factor, unit)


def measure(quick: bool) -> list[Row]:
    """Return rows in the form of the other benchmarks."""
    rows = []
    for name, times in measurements(quick):
        if isinstance(times, str):
            rows.append(Row("all jobs", "", f"{name}: {times}"))
            continue
        for job, title in JOBS.items():
            if job in times:
                one = times[job]
                rows.append(Row(title, duration(one.ours), f"{name} {duration(one.its)}", f"{one.ratio:.3g}x"))
                first = f"{one.its_first / one.our_first:.3g}x"
                rows.append(Row(f"{title}, first", duration(one.our_first), f"{name} {duration(one.its_first)}", first))
    return rows


def table(results: dict[str, dict[str, Measured] | str]) -> list[list[str]]:
    """Return rows for each job: gradwalk's median over all processes, and then all libraries."""
    rows = []
    for job, title in JOBS.items():
        all_times = [times[job] for times in results.values() if not isinstance(times, str) and job in times]
        if all_times:
            ours, first = (median(getattr(each, field) for each in all_times) for field in ("ours", "our_first"))
            rows.append([title, "gradwalk", duration(ours), "1", duration(first), ""])
        for name, times in results.items():
            remark = LIBRARIES[name].remarks.get(job, "")
            if isinstance(times, str) or job not in times:
                rows.append([title, name, "", "", "", times if isinstance(times, str) else remark])
            else:
                one = times[job]
                ratio = quantity(one.ratio, "").strip()
                rows.append([title, name, duration(one.its), ratio, duration(one.its_first), remark])
    return rows


def version_of(package: str) -> str:
    """Return the version of a package, or "" if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def main() -> None:
    """Parse the command line, measure, and print the table of jobs and the table of advantages."""
    parser = argparse.ArgumentParser(description="Compare gradwalk with the libraries that people would pick instead.")
    parser.add_argument("--quick", action="store_true", help="use small sizes, to check that the benchmark runs")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    options = parser.parse_args()
    results = {}
    for name, times in measurements(options.quick):
        print(f"{name}: {times if isinstance(times, str) else 'measured'}", file=sys.stderr)
        results[name] = times
    jobs = ("job", "library", "time", "times gradwalk's", "first", "remark"), table(results)
    advantages = (
        ("library", "version", "can do what gradwalk cannot"),
        [[name, version_of(each.package), each.advantage] for name, each in LIBRARIES.items()],
    )
    for header, rows in (jobs, advantages):
        if options.markdown:
            print(*map(markdown_row, [header, ["---"] * len(header), *rows]), sep="\n", end="\n\n")
        else:
            print(plain_table(header, rows), end="\n\n")


if __name__ == "__main__":
    main()
