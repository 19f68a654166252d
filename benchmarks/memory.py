"""Memory: a node x*y takes at most 96 bytes, and the backward pass of 20 million nodes peaks below 2.5 GB.

Neither recursion nor growing tables make large graphs slower: the time per node only grows with the cost of memory.
Small graphs stay in the cache and reuse memory. For comparison, each size shows how long the system takes to provide
96 bytes of new memory per node.
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
Times = tuple[float, ...]  # ns per node for building, backward, freeing, and getting new memory


def peak_bytes() -> int:
    """Return the peak memory of this process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def bytes_a_node(nodes: int) -> float:
    """Return the growth of the process per node of a long product, in bytes."""
    x, out = Value(1.0), Value(1.0)
    before = peak_bytes()
    for _ in range(nodes):
        out = x * out
    return (peak_bytes() - before) / nodes


def times(nodes: int) -> Times:
    """Return the shortest times for graphs of one size; small graphs are repeated more often."""
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
    """Return the time of the first write to each page of newly mapped memory of this size."""
    with mmap.mmap(-1, size) as memory:
        start = perf_counter()
        for offset in range(0, size, mmap.PAGESIZE):
            memory[offset] = 1
        return perf_counter() - start


def peak_gigabytes(nodes: int) -> float:
    """Build and differentiate one graph; return the peak of the process, interpreter and NumPy included."""
    chain(Value(X), Value(Y), nodes // 2).backward()
    return peak_bytes() / 1e9


def flatness(sizes: tuple[int, ...], repeats: int) -> list[Row]:
    """Return a row for each size; the ratio is its time per node divided by the time of the smallest size."""
    best: dict[int, Times] = dict.fromkeys(sizes, (inf,) * 4)
    for _ in range(repeats):
        for nodes in sizes:
            best[nodes] = tuple(map(min, best[nodes], in_fresh_process(times, nodes)))
    return [row_of(nodes, best[nodes], sum(best[nodes][:3]) / sum(best[sizes[0]][:3])) for nodes in sizes]


def row_of(nodes: int, parts: Times, ratio: float) -> Row:
    """Format the row of one size."""
    build, backward, free, memory = parts
    claim = f"a node of {nodes:,}: build {build:.0f} + backward {backward:.0f} + free {free:.0f} ns"
    return Row(
        claim, quantity(build + backward + free, "ns"), f"new memory {quantity(memory, 'ns')}", f"{ratio:.3g}x", "flat"
    )


def measure(quick: bool) -> list[Row]:
    """Measure bytes per node, the peak memory, and the time per node by size."""
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
