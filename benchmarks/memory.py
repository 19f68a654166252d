"""A node for x*y takes at most 96 bytes; a graph of 20 million nodes is built and differentiated in less than 2.5 GB.

And the time for a node is the same in graphs of a thousand nodes and of 20 million: no recursion, no growing tables.
"""

from __future__ import annotations

import resource
import sys
from math import inf
from time import perf_counter

from chain import X, Y, chain
from timing import Row, at_most, in_fresh_process, main, quantity

from gradwalk import Value

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 20_000_000)
Times = tuple[float, float, float]  # nanoseconds a node to build, for backward, to free


def peak_bytes() -> int:
    """The most memory that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def bytes_a_node(nodes: int) -> float:
    """What the process grows by for every node of a long product."""
    x, out = Value(1.0), Value(1.0)
    before = peak_bytes()
    for _ in range(nodes):
        out = x * out
    return (peak_bytes() - before) / nodes


def times(nodes: int) -> Times:
    """Nanoseconds a node, of the fastest run for each of the three; small graphs run more often."""
    best = (inf, inf, inf)
    for _ in range(max(1, 1_000_000 // nodes)):
        start = perf_counter()
        out = chain(Value(X), Value(Y), nodes // 2)
        built = perf_counter()
        out.backward()
        differentiated = perf_counter()
        del out
        freed = perf_counter()
        run = (built - start, differentiated - built, freed - differentiated)
        best = (min(best[0], run[0]), min(best[1], run[1]), min(best[2], run[2]))
    return best[0] * 1e9 / nodes, best[1] * 1e9 / nodes, best[2] * 1e9 / nodes


def peak_gigabytes(nodes: int) -> float:
    """The process's peak, interpreter and NumPy included, after building and differentiating one graph."""
    chain(Value(X), Value(Y), nodes // 2).backward()
    return peak_bytes() / 1e9


def flatness(sizes: tuple[int, ...], repeats: int) -> list[Row]:
    """A row for every size; its ratio is to the smallest."""
    best = dict.fromkeys(sizes, (inf, inf, inf))
    for _ in range(repeats):
        for nodes in sizes:
            runs = zip(best[nodes], in_fresh_process(times, nodes), strict=True)
            build, backward, free = map(min, runs)
            best[nodes] = (build, backward, free)
    smallest = sum(best[sizes[0]])
    return [row_of(nodes, best[nodes], sum(best[nodes]) / smallest) for nodes in sizes]


def row_of(nodes: int, parts: Times, ratio: float) -> Row:
    """The time of one size, in parts and in all."""
    build, backward, free = parts
    claim = f"a node of {nodes:,}: build {build:.0f} + backward {backward:.0f} + free {free:.0f} ns"
    return Row(claim, quantity(sum(parts), "ns"), ratio=f"{ratio:.3g}x", target="flat")


def measure(quick: bool) -> list[Row]:
    """Bytes, the peak, and the time by size."""
    sizes = SIZES[:4] if quick else SIZES
    largest = sizes[-1]
    node_bytes = in_fresh_process(bytes_a_node, largest // 4)
    return [
        at_most("Value.__basicsize__", "bytes", Value.__basicsize__, 96),
        at_most("growth of the process for a node x*y", "bytes", node_bytes, 96),
        at_most(f"peak for a graph of {largest:,} nodes", "GB", in_fresh_process(peak_gigabytes, largest), 2.5),
        *flatness(sizes, 1 if quick else 3),
    ]


if __name__ == "__main__":
    main(measure)
