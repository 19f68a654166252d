"""The ladder of microgpt: a whole training step, Adam included, in every way of gradwalk and beside other languages.

The model is that of Karpathy's microgpt.py: 4,192 parameters, a `Value` each. All start from the same weights, train on
the same names, and have to agree. Public ports say how many times as fast as microgpt.py they are; the rungs say who
reaches that here. With a copy of microgpt.py its own steps are measured, too, also with gradwalk's Values in it:

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

sys.setrecursionlimit(1_000_000)  # the plain Values' backward recurses as deep as the graph

STEPS = 1000  # after which Adam's rate is 0
LENGTH = 6  # of the names: the usual one
SHORT, RUNS = 0.005, 5  # seconds of a run of steps, if one takes no longer, and how many runs follow one another
MIXED = 64  # names of all lengths, one after the other
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
    """A way of training: its numbers, how many names a step has, and how long one name takes."""

    way: str
    numbers: str
    batch: int
    us: float
    threads: int = 1
    letters: str = str(LENGTH)  # of the names: all have so many, or "all" lengths there are

    @property
    def is_ours(self) -> bool:
        """Whether it is one of gradwalk's, on names of one length."""
        return self.way.startswith("gradwalk") and self.letters != "all"

    def cells(self, originals: Sequence[Rung]) -> tuple[str, ...]:
        """The texts under `HEADER`: how fast it is beside the original as it comes, and without garbage collector."""
        times = [digits(original.us / self.us) for original in originals]
        return self.way, self.numbers, f"{self.batch:,}", self.letters, str(self.threads), digits(self.us), *times

    @property
    def claim(self) -> str:
        """What a row says of it."""
        batch = f", {self.batch:,} names a step" if self.batch > 1 else ""
        return f"microgpt, {self.way}, {self.numbers}{batch}" + (", two threads" if self.threads > 1 else "")


def digits(number: float) -> str:
    """Three digits, or all of them before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


class Data:
    """The initial weights, and names as tokens: shuffled ones of all lengths, and those of the usual length."""

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
        """Names of the usual length: one for each step, or a batch of them."""
        if size == 1:
            return list(self.usual)
        picked = numpy.random.default_rng(0).integers(len(self.usual), size=(20, size))
        return list(self.usual[picked])


Key = tuple[str, str, int]  # of a way: its name, the type of its numbers, and how many names a step has
Maker = Callable[[Any, int], Any]  # of a trainer, from the initial weights and the number of steps


def makers(quick: bool) -> dict[Key, Maker]:
    """Who trains: by name, type of numbers and names a step."""
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
    """Raise `AssertionError` where the losses of the first steps differ by more than float32 accounts for."""
    for size in {key[2] for key in trainers}:
        batches = data.batches(size)[: 2 if quick else 5]
        losses = {key: [t.train(batch) for batch in batches] for key, t in trainers.items() if key[2] == size}
        for found in losses.values():
            numpy.testing.assert_allclose(found, next(iter(losses.values())), rtol=1e-4)


Clock = Callable[[], float]  # of this process: other programs on the core do not make it run


def fastest_call(run: Callable[[], object], clock: Clock = process_time) -> float:
    """Seconds of a call, the fastest of some runs, without garbage collector."""
    gc.collect()
    gc.disable()
    try:
        count = max(1, int(SHORT / min(seconds_of_calls(run, 1, clock) for _ in range(2))))
        return min(seconds_of_calls(run, count, clock) for _ in range(RUNS)) / count
    finally:
        gc.enable()


def seconds_of_calls(run: Callable[[], object], count: int, clock: Clock) -> float:
    """Seconds of so many calls."""
    start = clock()
    for _ in range(count):
        run()
    return clock() - start


def training(trainer: Any, batches: list[Any]) -> Callable[[], float]:
    """A step after the other, on one batch after the other."""
    following = cycle(batches)
    return lambda: float(trainer.train(next(following)))


def on_one_thread(data: Data, quick: bool) -> list[Rung]:
    """The rungs of one core, all in turns."""
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
    """The rungs of names as they come, which differ in length: each length has been recorded before."""
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
    """Seconds of a step on a batch in float32, on two threads, in a process of its own that has all cores."""
    data = Data()
    step = training(ways.InBatches(data.weights, STEPS, numpy.float32), data.batches(size))
    with threads(2):
        return min(fastest_call(step, perf_counter) for _ in range(20))


def of_the_original(data: Data) -> list[Rung]:
    """The rung of the original as it comes: of the copy of microgpt.py that MICROGPT names, or of our plain writing."""
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
    """All rungs, the original first."""
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
    """What the others are compared with: the original as it comes, and without Python's garbage collector."""
    return rungs[0], next(rung for rung in rungs if rung.way == PLAIN)


def reached(rungs: list[Rung], original: Rung, times: float) -> Rung | None:
    """The rung of gradwalk that is so many times as fast as the original, by the fewest names and threads."""
    found = [rung for rung in rungs if rung.is_ours and original.us / rung.us >= times]
    return min(found, key=lambda rung: (rung.threads, rung.batch), default=None)


def measure(quick: bool) -> list[Row]:
    """The rungs of gradwalk as rows of the table of claims, and beside the ports that do the same."""
    rungs = ladder(quick)
    ours = [rung for rung in rungs if rung.is_ours]
    shipped, plain = originals_of(rungs)
    rows = [beside(rung.claim, "us", rung.us, (plain.way, plain.us)) for rung in ours]
    for name, times in CLAIMS.items():
        best = reached(rungs, shipped, times) or min(ours, key=lambda rung: rung.us)
        rows.append(faster(f"{best.claim}: {name}'s claim", "us", best.us, (shipped.way, shipped.us), times))
    own = {(rung.numbers, rung.batch): rung for rung in ours if rung.threads == 1}  # of one name, the last: a program
    for port in rungs:
        if port.way.startswith(("C++", "Rust", "JAX")) and port.letters != "all":
            rung = own.get((port.numbers, port.batch), own["float64", 1])
            rows.append(beside(rung.claim, "us", rung.us, (f"{port.way}, {port.numbers}", port.us)))
    return rows


def print_ladder(rungs: list[Rung]) -> None:
    """The table, and who reaches what the ports say of themselves."""
    originals = originals_of(rungs)
    print(markdown_row(HEADER), markdown_row(["---"] * len(HEADER)), sep="\n")
    for rung in rungs:
        print(markdown_row(rung.cells(originals)))
    if ways.rust_library() is None:
        print("\nRust is left out: there is no rustc (apt install rustc)")
    for name, times in CLAIMS.items():
        found = [reached(rungs, original, times) for original in originals]
        texts = ["no rung" if rung is None else rung.claim.removeprefix("microgpt, ") for rung in found]
        print(f"\n{name}, {times:,} times: {texts[0]}; if the collector of the original is off: {texts[1]}")


def main() -> None:
    """Read the command line, measure and print, or draw the curves."""
    parser = argparse.ArgumentParser(description="Measure training steps of microgpt.")
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it runs, not how fast")
    parser.add_argument("--plot", type=Path, help="draw losses against time into this .svg, in place of the table")
    options = parser.parse_args()
    if options.plot is None:
        print_ladder(ladder(options.quick))
    else:
        on_one_core()
        options.plot.write_text(microgpt_curves.drawn(Data(), makers(False), options.quick), encoding="utf-8")


if __name__ == "__main__":
    main()
