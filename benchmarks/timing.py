"""Shared tools of the benchmarks: interleaved timing, rows of the table of claims, and imports of peers.

A benchmark is a module with a docstring that states its claim and a function `measure(quick) -> list[Row]`.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, TypeVar
from unittest.mock import patch

Result = TypeVar("Result")
CALLS = 100  # calls per timing, where one call is too short to time
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
HEADER = ("claim", "gradwalk", "peer", "ratio", "target", "met")


@dataclass(frozen=True)
class Row:
    """One measured claim. `peer` and `ratio` are "" without a peer, and `met` is None without a target."""

    claim: str
    gradwalk: str
    peer: str = ""
    ratio: str = ""
    target: str = ""
    met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the cells under `HEADER`."""
        met = {True: "yes", False: "no", None: ""}[self.met]
        return self.claim, self.gradwalk, self.peer, self.ratio, self.target, met


def faster(claim: str, unit: str, gradwalk: float, peer: tuple[str, float], times: float) -> Row:
    """Compare with a peer (name, number), which must take at least `times` as long as gradwalk."""
    ratio = peer[1] / gradwalk
    return _compared(claim, unit, gradwalk, peer, (ratio, f">= {times:g}x", ratio >= times))


def within(claim: str, unit: str, gradwalk: float, peer: tuple[str, float], times: float) -> Row:
    """Compare with a peer (name, number): gradwalk must take at most `times` as long."""
    ratio = gradwalk / peer[1]
    return _compared(claim, unit, gradwalk, peer, (ratio, f"<= {times:g}x", ratio <= times))


def at_most(claim: str, unit: str, gradwalk: float, limit: float) -> Row:
    """Compare a measurement of gradwalk with a limit."""
    return Row(claim, quantity(gradwalk, unit), target=f"<= {quantity(limit, unit)}", met=gradwalk <= limit)


def beside(claim: str, unit: str, gradwalk: float, peer: tuple[str, float]) -> Row:
    """Compare gradwalk with a peer (name, number), without a target."""
    return _compared(claim, unit, gradwalk, peer, (peer[1] / gradwalk, "", None))


def _compared(
    claim: str, unit: str, gradwalk: float, peer: tuple[str, float], verdict: tuple[float, str, bool | None]
) -> Row:
    ratio, target, met = verdict
    name, amount = peer
    return Row(claim, quantity(gradwalk, unit), f"{name} {quantity(amount, unit)}", f"{ratio:.3g}x", target, met)


def quantity(amount: float, unit: str) -> str:
    """Format a number with three significant digits, or all digits before the point, and its unit."""
    return f"{amount:,.0f} {unit}" if amount >= 100 else f"{amount:.3g} {unit}"


def best_of(turns: int, runs: dict[str, Callable[[], object]], collector: bool = False) -> dict[str, float]:
    """Return the shortest time of each run in seconds. Runs are interleaved; a turn repeats each run three times.

    With `collector`, Python's cyclic garbage collector is enabled during the runs, with its default thresholds. Earlier
    garbage is collected before each run and not timed.
    """
    best = dict.fromkeys(runs, inf)
    for _ in range(turns):
        for name, run in runs.items():
            best[name] = min(best[name], *(seconds(run, collector) for _ in range(3)))
    return best


def seconds(run: Callable[[], object], collector: bool = False) -> float:
    """Return the time of one call in seconds, without the time to free its result."""
    gc.collect()
    if not collector:
        gc.disable()
    try:
        start = perf_counter()
        result = run()
        stop = perf_counter()
    finally:
        gc.enable()
    del result
    return stop - start


def warmed_up(run: Callable[[], object]) -> None:
    """Run for half a second and then sleep for half a second, so that a background compilation finishes on one core."""
    end = perf_counter() + 0.5
    while perf_counter() < end:
        run()
    sleep(0.5)


def fastest(turns: int, runs: dict[str, Callable[[], object]], calls: int = CALLS) -> dict[str, float]:
    """Return the seconds per call of each run, averaged over `calls` calls; warm up first if `turns` > 1."""

    def repeated(run: Callable[[], object]) -> Callable[[], None]:
        def many() -> None:
            for _ in range(calls):
                run()

        return many

    for run in runs.values() if turns > 1 else ():
        warmed_up(run)
    times = best_of(turns, {name: repeated(run) for name, run in runs.items()})
    return {name: time / calls for name, time in times.items()}


def and_freed(run: Callable[[], object]) -> Callable[[], None]:
    """Wrap a run so that its time includes freeing its result."""

    def freed() -> None:
        run()

    return freed


def in_fresh_process(function: Callable[..., Result], *arguments: object, method: str = "spawn") -> Result:
    """Call a function in a new Python process ("spawn") or in a copy of this one ("fork")."""
    with ProcessPoolExecutor(1, mp_context=get_context(method)) as process:
        return process.submit(function, *arguments).result()


@contextmanager
def empty_caches() -> Iterator[None]:
    """Let libraries keep their caches, which are empty at first, in a new folder."""
    # Threads that compile in the background may still write there while the folder is removed.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        names = ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "DRJIT_CACHE_DIR", "WARP_CACHE_PATH")
        with patch.dict(os.environ, dict.fromkeys(names, folder)):
            yield


def peer(module: str, package: str) -> Any:
    """Import the module of a peer. If it is missing, the `ModuleNotFoundError` says how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"this benchmark needs {module}: pip install {package}") from error


def example(name: str) -> Any:
    """Import a program of `examples/` as a module named `example_<name>`, which no benchmark uses."""
    own = f"example_{name}"
    if own not in sys.modules:
        path = EXAMPLES / f"{name}.py"
        spec = importlib.util.spec_from_file_location(own, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[own] = module
        spec.loader.exec_module(module)
    return sys.modules[own]


def plain_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table with columns padded to their widest cell."""
    table = [header, *rows]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(header))]
    return "\n".join("  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table)


def markdown_row(cells: Sequence[str]) -> str:
    """Format a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def main(measure: Callable[[bool], list[Row]]) -> None:
    """Run one benchmark from the command line and print its rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="use small sizes, to check that the benchmark runs")
    rows = measure(parser.parse_args().quick)
    print(plain_table(HEADER, [row.cells() for row in rows]))
