"""A node for x*y takes at most 96 bytes; a graph of 20 million nodes is built and differentiated in less than 2.5 GB.

And the time for a node is the same in graphs of a thousand nodes and of 20 million: no recursion, no growing tables.
What grows is the price of memory: small graphs stay in the cache and are made of memory that is used again. For
comparison each size shows what the system takes to hand out 96 bytes of new memory a node.
"""

from __future__ import annotations

import mmap
import resource
import sys
from math import inf
from time import perf_counter

from chain import X, Y, chain
from timing import Row, at_most, in_fresh_process, main, quantity

from gradwalk import Value

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 20_000_000)
Times = tuple[float, ...]  # nanoseconds a node to build, for backward, to free, and to get as much new memory


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
    """Of the fastest run for each; small graphs run more often."""
    best: Times = (inf,) * 4
    for _ in range(max(1, 1_000_000 // nodes)):
        start = perf_counter()
        out = chain(Value(X), Value(Y), nodes // 2)
        built = perf_counter()
        out.backward()
        differentiated = perf_counter()
        del out
        freed = perf_counter()
        run = (built - start, differentiated - built, freed - differentiated, new_memory_seconds(96 * nodes))
        best = tuple(map(min, best, run))
    return tuple(1e9 * part / nodes for part in best)


def new_memory_seconds(size: int) -> float:
    """What the first write to every page of so many bytes takes."""
    with mmap.mmap(-1, size) as memory:
        start = perf_counter()
        for offset in range(0, size, mmap.PAGESIZE):
            memory[offset] = 1
        return perf_counter() - start


def peak_gigabytes(nodes: int) -> float:
    """The process's peak, interpreter and NumPy included, after building and differentiating one graph."""
    chain(Value(X), Value(Y), nodes // 2).backward()
    return peak_bytes() / 1e9


def flatness(sizes: tuple[int, ...], repeats: int) -> list[Row]:
    """A row for every size; its ratio is to the smallest."""
    best: dict[int, Times] = dict.fromkeys(sizes, (inf,) * 4)
    for _ in range(repeats):
        for nodes in sizes:
            best[nodes] = tuple(map(min, best[nodes], in_fresh_process(times, nodes)))
    return [row_of(nodes, best[nodes], sum(best[nodes][:3]) / sum(best[sizes[0]][:3])) for nodes in sizes]


def row_of(nodes: int, parts: Times, ratio: float) -> Row:
    """The time of one size, in parts and in all."""
    build, backward, free, memory = parts
    claim = f"a node of {nodes:,}: build {build:.0f} + backward {backward:.0f} + free {free:.0f} ns"
    return Row(
        claim, quantity(build + backward + free, "ns"), f"new memory {quantity(memory, 'ns')}", f"{ratio:.3g}x", "flat"
    )


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
