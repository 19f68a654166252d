"""Training steps of microgpt, Adam included, in all ways of gradwalk and in other languages.

The model is the model of Karpathy's microgpt.py, with 4,192 parameters. All implementations ("rungs") start from the
same weights, train on the same names, and must agree. Public ports report a speedup over microgpt.py; the result shows
which rungs reach it here. If MICROGPT names a copy of microgpt.py, its own steps are measured, too, also with
gradwalk's Value:

    MICROGPT=microgpt.py python benchmarks/microgpt.py
    python benchmarks/microgpt.py --plot docs/images/microgpt.svg
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import microgpt_curves
import microgpt_ways as ways
import numpy
from peers import on_one_core
from timing import Row, beside, example, faster, in_fresh_process, markdown_row

from gradwalk import threads

sys.setrecursionlimit(1_000_000)  # plain Values' backward recurses to the depth of the graph

STEPS = 1000  # Adam's learning rate falls to 0 over these
LENGTH = 6  # letters of a name, the most common length
SHORT, RUNS = 0.005, 5  # minimal seconds of a run, and number of consecutive runs
MIXED = 64  # number of names of all lengths
CLAIMS = {"rust-microgpt": 415, "microgpt.cpp": 600, "microgpt.c": 6_800, "EEmicroGPT": 16_333}
PLAIN = "plain Python, collector off"
HEADER = (
    "way",
    "numbers",
    "names a step",
    "letters",
    "threads",
    "us a name",
    "times as fast",
    "and if its collector is off",
)


@dataclass(frozen=True)
class Rung:
    """An implementation of training: its dtype, names per step, and microseconds per name."""

    way: str
    numbers: str
    batch: int
    us: float
    threads: int = 1
    letters: str = str(LENGTH)  # letters of the names; "all" means names of all lengths

    @property
    def is_ours(self) -> bool:
        """Whether this is a rung of gradwalk on names of one length."""
        return self.way.startswith("gradwalk") and self.letters != "all"

    def cells(self, originals: Sequence[Rung]) -> tuple[str, ...]:
        """Return the cells under `HEADER`, with the speedups over the given originals."""
        times = [digits(original.us / self.us) for original in originals]
        return self.way, self.numbers, f"{self.batch:,}", self.letters, str(self.threads), digits(self.us), *times

    @property
    def claim(self) -> str:
        """The title of its row in the table of claims."""
        batch = f", {self.batch:,} names a step" if self.batch > 1 else ""
        return f"microgpt, {self.way}, {self.numbers}{batch}" + (", two threads" if self.threads > 1 else "")


def digits(number: float) -> str:
    """Format a number with three significant digits, or with all digits before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


class Data:
    """The initial weights, and shuffled names as tokens: all names, and the names of the usual length."""

    def __init__(self) -> None:
        gpt = example("microgpt")
        self.random = random.Random(1337)
        self.names: list[str] = gpt.read_names(gpt.NAMES)
        self.random.shuffle(self.names)
        tokenizer = gpt.Tokenizer(self.names)
        self.weights = gpt.initial_weights(len(tokenizer), self.random)
        self.mixed = [numpy.array(tokenizer.encode(name)) for name in self.names]
        self.usual = numpy.array([spelling for spelling in self.mixed if len(spelling) == LENGTH + 2])

    def batches(self, size: int) -> list[Any]:
        """Return names of the usual length, one per step or in batches."""
        if size == 1:
            return list(self.usual)
        picked = numpy.random.default_rng(0).integers(len(self.usual), size=(20, size))
        return list(self.usual[picked])


Key = tuple[str, str, int]  # way, dtype, names per step
Maker = Callable[[Any, int], Any]  # makes a trainer from initial weights and number of steps


def makers(quick: bool) -> dict[Key, Maker]:
    """Return the trainers by name, dtype and names per step."""
    single, double = numpy.float32, numpy.float64

    def compiled(library: Any, dtype: Any) -> Maker:
        return lambda weights, steps: ways.Compiled(weights, steps, library, dtype)

    found: dict[Key, Maker] = {
        (PLAIN, "float64", 1): ways.OnPlainValues,
        ("gradwalk, on Values", "float64", 1): ways.EXAMPLES["eager"],
        ("gradwalk, recorded gradient", "float64", 1): ways.EXAMPLES["recorded"],
        ("gradwalk, the step as one program", "float64", 1): ways.EXAMPLES["program"],
    }
    for size in (8,) if quick else (16, 128, 1024, 4096):
        found["gradwalk, batches", "float64", size] = partial(ways.InBatches, dtype=double)
        found["gradwalk, batches", "float32", size] = partial(ways.InBatches, dtype=single)
    if (rust := ways.rust_library()) is not None:
        found["Rust, tape of numbers", "float64", 1] = compiled(rust, double)
    found["C++, tape of numbers", "float64", 1] = compiled(ways.library("microgpt_tape"), double)
    found["C++, gradients by hand", "float32", 1] = compiled(ways.library("microgpt"), single)
    found["C++, by hand, names side by side", "float32", 16] = compiled(ways.library("microgpt_lanes"), single)
    found["JAX, jitted", "float32", 1] = ways.InJax
    found["JAX, jitted", "float32", 16] = ways.InJax
    return found


def check_same(trainers: dict[Any, Any], data: Data, quick: bool) -> None:
    """Raise `AssertionError` if the losses of the first steps differ by more than float32 rounding."""
    for size in {key[2] for key in trainers}:
        batches = data.batches(size)[: 2 if quick else 5]
        losses = {key: [t.train(batch) for batch in batches] for key, t in trainers.items() if key[2] == size}
        for found in losses.values():
            numpy.testing.assert_allclose(found, next(iter(losses.values())), rtol=1e-4)


Clock = Callable[[], float]  # process time, which excludes other programs on the core


def fastest_call(run: Callable[[], object], clock: Clock = process_time) -> float:
    """Return the shortest time of a call in seconds, without garbage collection."""
    gc.collect()
    gc.disable()
    try:
        count = max(1, int(SHORT / min(seconds_of_calls(run, 1, clock) for _ in range(2))))
        return min(seconds_of_calls(run, count, clock) for _ in range(RUNS)) / count
    finally:
        gc.enable()


def seconds_of_calls(run: Callable[[], object], count: int, clock: Clock) -> float:
    """Return the seconds of `count` calls."""
    start = clock()
    for _ in range(count):
        run()
    return clock() - start


def training(trainer: Any, batches: list[Any]) -> Callable[[], float]:
    """Return a function that trains on the next batch."""
    following = cycle(batches)
    return lambda: float(trainer.train(next(following)))


def on_one_thread(data: Data, quick: bool) -> list[Rung]:
    """Measure the rungs on one core, interleaved."""
    trainers = {key: make(data.weights, STEPS) for key, make in makers(quick).items()}
    check_same(trainers, data, quick)
    if not quick:
        trainers["gradwalk, the step as one program", "float64", 1].settle(data.usual[0])
    runs = {key: training(trainer, data.batches(key[2])) for key, trainer in trainers.items()}
    best = dict.fromkeys(runs, math.inf)
    for _ in range(1 if quick else 8):
        for key, run in runs.items():
            best[key] = min(best[key], fastest_call(run))
    return [Rung(*key, us=1e6 * time / key[2]) for key, time in best.items()]


def of_all_lengths(data: Data, quick: bool) -> list[Rung]:
    """Measure rungs on names of different lengths; each length has been recorded before."""
    spellings = data.mixed[: 4 if quick else MIXED]
    chosen = PLAIN, "gradwalk, the step as one program", "C++, gradients by hand"
    trainers = {key: make(data.weights, STEPS) for key, make in makers(True).items() if key[0] in chosen}

    def run(trainer: Any) -> None:
        for spelling in spellings:
            trainer.train(spelling)

    best = dict.fromkeys(trainers, math.inf)
    for key, trainer in trainers.items():
        for _ in range(1 if quick or key[0] == PLAIN else 30):
            best[key] = min(best[key], fastest_call(partial(run, trainer)))
    return [Rung(*key, us=1e6 * best[key] / len(spellings), letters="all") for key in trainers]


def on_two_threads(size: int) -> float:
    """Return the seconds of a float32 batch step on two threads, in a process that may use all cores."""
    data = Data()
    step = training(ways.InBatches(data.weights, STEPS, numpy.float32), data.batches(size))
    with threads(2):
        return min(fastest_call(step, perf_counter) for _ in range(20))


def of_the_original(data: Data) -> list[Rung]:
    """Measure the original: the copy of microgpt.py named by MICROGPT, or else plain_microgpt.py."""
    names = [name for name in data.names if len(name) == LENGTH]
    if not (given := os.environ.get("MICROGPT")):
        plain = Path(__file__).with_name("plain_microgpt.py")
        return [Rung("plain Python", "float64", 1, 1e6 * ways.seconds_of(plain, names))]
    path = Path(given)
    of_values = 1e6 * ways.seconds_of(path, names, change=ways.on_gradwalk)
    return [
        Rung("microgpt.py", "float64", 1, 1e6 * ways.seconds_of(path, names)),
        Rung("microgpt.py, with gradwalk's Value", "float64", 1, of_values),
    ]


def ladder(quick: bool) -> list[Rung]:
    """Measure all rungs; the original comes first."""
    sizes = () if quick else (16, 1024, 4096)
    on_two = {size: in_fresh_process(on_two_threads, size) for size in sizes}
    affinity = os.sched_getaffinity(0)
    data = Data()
    on_one_core()
    try:
        rungs = [*of_the_original(data), *on_one_thread(data, quick)]
        for size, time in on_two.items():
            rungs.append(Rung("gradwalk, batches", "float32", size, 1e6 * time / size, threads=2))
        return [*rungs, *of_all_lengths(data, quick)]
    finally:
        os.sched_setaffinity(0, affinity)


def originals_of(rungs: list[Rung]) -> tuple[Rung, Rung]:
    """Return the baselines: the original as shipped, and plain Python without garbage collection."""
    return rungs[0], next(rung for rung in rungs if rung.way == PLAIN)


def reached(rungs: list[Rung], original: Rung, times: float) -> Rung | None:
    """Return the gradwalk rung that reaches a speedup with the fewest threads and names per step."""
    found = [rung for rung in rungs if rung.is_ours and original.us / rung.us >= times]
    return min(found, key=lambda rung: (rung.threads, rung.batch), default=None)


def measure(quick: bool) -> list[Row]:
    """Return the rows of the table of claims: the rungs of gradwalk, alone and beside comparable ports."""
    rungs = ladder(quick)
    ours = [rung for rung in rungs if rung.is_ours]
    shipped, plain = originals_of(rungs)
    rows = [beside(rung.claim, "us", rung.us, (plain.way, plain.us)) for rung in ours]
    for name, times in CLAIMS.items():
        best = reached(rungs, shipped, times) or min(ours, key=lambda rung: rung.us)
        rows.append(faster(f"{best.claim}: {name}'s claim", "us", best.us, (shipped.way, shipped.us), times))
    # For one name per step, this keeps the last rung, which is the step as one program.
    own = {(rung.numbers, rung.batch): rung for rung in ours if rung.threads == 1}
    for port in rungs:
        if port.way.startswith(("C++", "Rust", "JAX")) and port.letters != "all":
            rung = own.get((port.numbers, port.batch), own["float64", 1])
            rows.append(beside(rung.claim, "us", rung.us, (f"{port.way}, {port.numbers}", port.us)))
    return rows


def print_ladder(rungs: list[Rung]) -> None:
    """Print the table, and the rungs that reach the speedups reported by the ports."""
    originals = originals_of(rungs)
    print(markdown_row(HEADER), markdown_row(["---"] * len(HEADER)), sep="\n")
    for rung in rungs:
        print(markdown_row(rung.cells(originals)))
    if ways.rust_library() is None:
        print("\nskipping Rust: rustc is missing (apt install rustc)")
    for name, times in CLAIMS.items():
        found = [reached(rungs, original, times) for original in originals]
        texts = ["no rung" if rung is None else rung.claim.removeprefix("microgpt, ") for rung in found]
        print(f"\n{name}, {times:,} times: {texts[0]}; without garbage collection in the original: {texts[1]}")


def main() -> None:
    """Parse the command line, then print the table or draw the curves."""
    parser = argparse.ArgumentParser(description="Measure training steps of microgpt.")
    parser.add_argument("--quick", action="store_true", help="use small sizes, to check that the benchmark runs")
    parser.add_argument("--plot", type=Path, help="draw losses against time to this .svg instead of printing the table")
    options = parser.parse_args()
    if options.plot is None:
        print_ladder(ladder(options.quick))
    else:
        on_one_core()
        options.plot.write_text(microgpt_curves.drawn(Data(), makers(False), options.quick), encoding="utf-8")


if __name__ == "__main__":
    main()
