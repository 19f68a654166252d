"""What every benchmark here shares: measuring by turns, the rows of the table of claims, and peers that must be there.

A benchmark is a module with a docstring that states its claim and a function `measure(quick) -> list[Row]`.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import inf
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, TypeVar

Result = TypeVar("Result")
CALLS = 100  # in a row, where one is too short to be timed
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
HEADER = ("claim", "gradwalk", "peer", "ratio", "target", "met")


@dataclass(frozen=True)
class Row:
    """One claim as measured. `peer` and `ratio` are "" where nothing is compared; `met` is None without a target."""

    claim: str
    gradwalk: str
    peer: str = ""
    ratio: str = ""
    target: str = ""
    met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        """The texts under `HEADER`."""
        met = {True: "yes", False: "no", None: ""}[self.met]
        return self.claim, self.gradwalk, self.peer, self.ratio, self.target, met


def faster(claim: str, unit: str, gradwalk: float, peer: tuple[str, float], times: float) -> Row:
    """The claim that gradwalk takes at most 1/times of what the peer, a name and a number, takes."""
    ratio = peer[1] / gradwalk
    return _compared(claim, unit, gradwalk, peer, (ratio, f">= {times:g}x", ratio >= times))


def within(claim: str, unit: str, gradwalk: float, peer: tuple[str, float], times: float) -> Row:
    """The claim that gradwalk takes at most `times` as much as the peer, a name and a number."""
    ratio = gradwalk / peer[1]
    return _compared(claim, unit, gradwalk, peer, (ratio, f"<= {times:g}x", ratio <= times))


def at_most(claim: str, unit: str, gradwalk: float, limit: float) -> Row:
    """The claim that a number of gradwalk's own is no larger than a limit."""
    return Row(claim, quantity(gradwalk, unit), target=f"<= {quantity(limit, unit)}", met=gradwalk <= limit)


def beside(claim: str, unit: str, gradwalk: float, peer: tuple[str, float]) -> Row:
    """A number of gradwalk's and that of a peer, without a target."""
    return _compared(claim, unit, gradwalk, peer, (peer[1] / gradwalk, "", None))


def _compared(
    claim: str, unit: str, gradwalk: float, peer: tuple[str, float], verdict: tuple[float, str, bool | None]
) -> Row:
    ratio, target, met = verdict
    name, amount = peer
    return Row(claim, quantity(gradwalk, unit), f"{name} {quantity(amount, unit)}", f"{ratio:.3g}x", target, met)


def quantity(amount: float, unit: str) -> str:
    """Three digits, or all of them before the point, and the unit."""
    return f"{amount:,.0f} {unit}" if amount >= 100 else f"{amount:.3g} {unit}"


def best_of(turns: int, runs: dict[str, Callable[[], object]], collector: bool = False) -> dict[str, float]:
    """Seconds that the fastest run of each took. They take turns; a turn is three runs, so that caches are warm.

    `collector`: whether Python's cyclic garbage collector is on, with its default thresholds, while they run. All
    earlier garbage is collected before each run, untimed.
    """
    best = dict.fromkeys(runs, inf)
    for _ in range(turns):
        for name, run in runs.items():
            best[name] = min(best[name], *(seconds(run, collector) for _ in range(3)))
    return best


def seconds(run: Callable[[], object], collector: bool = False) -> float:
    """How long one call takes. What it returns is freed afterwards, untimed."""
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
    """Run for half a second, and wait as long: for what gradwalk compiles beside its runs, be there one core only."""
    end = perf_counter() + 0.5
    while perf_counter() < end:
        run()
    sleep(0.5)


def fastest(turns: int, runs: dict[str, Callable[[], object]], calls: int = CALLS) -> dict[str, float]:
    """Seconds a call of each, as `best_of` has them, made many times in a row; for several turns, when all are warm."""

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
    """The same run, with the time to free what it returns."""

    def freed() -> None:
        run()

    return freed


def in_fresh_process(function: Callable[..., Result], *arguments: object, method: str = "spawn") -> Result:
    """What a function of a module returns, called in a new Python process; or in a copy of this one, by "fork"."""
    with ProcessPoolExecutor(1, mp_context=get_context(method)) as process:
        return process.submit(function, *arguments).result()


def peer(module: str, package: str) -> Any:
    """The module of a peer. Raises `ModuleNotFoundError` with the command that installs it where it is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"this benchmark compares with {module}: pip install {package}") from error


def example(name: str) -> Any:
    """A program of `examples/` as a module, under a name that no benchmark has."""
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
    """Columns padded to their widest cell."""
    table = [header, *rows]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(header))]
    return "\n".join("  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table)


def markdown_row(cells: Sequence[str]) -> str:
    """One line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def main(measure: Callable[[bool], list[Row]]) -> None:
    """Run one benchmark from the command line and print its rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it runs, not how fast")
    rows = measure(parser.parse_args().quick)
    print(plain_table(HEADER, [row.cells() for row in rows]))
