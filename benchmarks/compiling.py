"""Calls do not wait for LLVM: the slowest call during a compilation takes at most 1 ms plus twice the median.

Each run is a new process with an empty cache of machine code. It calls one function repeatedly until after its
compilation. Other processes can make a call slower but never faster, so the result is the smallest of the maxima of
several runs. If the system allows it, runs have real-time priority, so that other processes do not interrupt them. The
peer is the slowest call of the same function when it is never compiled.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy
from timing import Row, at_most, beside, empty_caches, in_fresh_process, main

from gradwalk import jit, loops, math, vmap


def repeated(steps: int, x: Any) -> Any:
    """Apply operations to any kind of number in a Python loop, which is recorded step by step."""
    for _ in range(steps):
        x = math.sin(x) + x * 0.5
    return x


def loop(x: Any) -> Any:
    """Apply the same operations in a `fori_loop`."""
    return loops.fori_loop(0, 50, lambda _, y: math.sin(y) + y * 0.5, x)


def function(name: str, backend: str | None) -> Callable[[], object]:
    """Return a call of the function with this name."""
    if name == "a batch of 2,000":
        return partial(jit(vmap(partial(repeated, 50)), backend=backend), numpy.linspace(0.0, 1.0, 2000))
    functions: dict[str, Callable[[Any], Any]] = {
        "1,200 instructions": partial(repeated, 600),
        "100 instructions": partial(repeated, 50),
        "a loop": loop,
    }
    return partial(jit(functions[name], backend=backend), 0.3)


def times(name: str, backend: str | None, seconds: float) -> tuple[float, float]:
    """Return the median and the largest time of a call in ms, without the first call, which records."""
    with suppress(AttributeError, PermissionError):  # not supported or not permitted
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    with empty_caches():
        call = function(name, backend)
        call()
        calls = []
        end = perf_counter() + seconds
        while perf_counter() < end:
            start = perf_counter()
            call()
            calls.append(1e3 * (perf_counter() - start))
    return median(calls), max(calls)


def measure(quick: bool) -> list[Row]:
    """Return two rows for each function: against the limit, and beside calls that are never compiled."""
    rows = []
    for name in ("1,200 instructions", "100 instructions", "a loop", "a batch of 2,000"):
        runs: dict[str | None, list[tuple[float, float]]] = {None: [], "lanes": []}
        for _ in range(1 if quick else 7):
            for backend, found in runs.items():
                found.append(in_fresh_process(times, name, backend, 0.2 if quick else 0.8))
        middle, _ = min(runs[None])
        largest, alone = (min(largest for _, largest in found) for found in runs.values())
        claim = f"the largest call of {name} while LLVM compiles, median {middle:.3f} ms"
        rows += [
            at_most(claim, "ms", largest, 2 * middle + 1),
            beside(claim, "ms", largest, ("never compiled", alone)),
        ]
    return rows


if __name__ == "__main__":
    main(measure)
