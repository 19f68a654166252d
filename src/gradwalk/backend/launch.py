"""`Launch`: one run of a lane kernel on a batch, prepared for C."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from gradwalk.backend.columns import Columns
from gradwalk.backend.cpu import column_table, lanes
from gradwalk.backend.llvm.lane_machine import LaneCode
from gradwalk.base import _cython as cython
from gradwalk.base import c_compat

if not TYPE_CHECKING and cython.compiled:
    import cython

# Functions that the kernel has itself, for where the C library has none for vectors: see vector_functions.h.
ROW_FUNCTIONS = ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh")
# What the kernel has been compiled with: whether functions are those of libmvec, whether they are these, and by which
# compiler; and the version of glibc that it runs with.
USES_LIBMVEC = bool(lanes.USES_LIBMVEC)
USES_OWN_FUNCTIONS = bool(lanes.USES_OWN_FUNCTIONS)
COMPILER = lanes.COMPILER.decode().strip()
GLIBC = lanes.c_library().decode()
INSTRUCTION_SETS = ("baseline", "avx2", "avx512")[: lanes.instruction_sets()]


def row_functions(instruction_set: int, single: bool) -> dict[str, int]:
    """Return the functions of the lane kernel that are its own, whether it uses them or not.

    Args:
        instruction_set: The index of the instruction set that they are compiled for.
        single: Whether their numbers are float32.

    Returns:
        Addresses by the name of the function in C, of `void f(const void *from, void *to, int64_t lanes)`.
    """
    found = {name: lanes.row_function(name.encode(), instruction_set, single) for name in ROW_FUNCTIONS}
    return {name: address for name, address in found.items() if address}


@cython.final
@cython.cclass
class Plan:
    """What is run for each block of lanes.

    Args:
        code: Instructions of a schedule.
        slots: How many rows there are.
        row: The most bytes that a row has.
        machine: The machine code that they run, or None.

    Attributes:
        code: Likewise.
        slots: Likewise.
        machine: Likewise.
        memory: Bytes that each thread works in.
    """

    # The types of its fields stand in launch.pxd.

    def __init__(self, code: NDArray[numpy.int32], slots: int, row: int, machine: LaneCode | None = None) -> None:
        self.code = code
        self.slots = slots
        self.machine = machine
        apart = row + lanes.CACHE_LINE  # so far are rows from each other: see lane_loops.h
        tiles = column_table.TILE * lanes.TILES * row
        self.memory = slots * apart + tiles + (0 if machine is None else machine.memory)
        self._free: list[Scratch] = []  # memory that no thread works in: append and pop are safe between threads

    def _taken(self) -> Scratch:
        """Memory for one thread."""
        try:
            scratch: Scratch = self._free.pop()
        except IndexError:
            scratch = Scratch(self.slots, self.memory)
        return scratch


@cython.final
@cython.cclass
class Scratch:
    """Memory that one thread at a time works in.

    Args:
        slots: How many rows there are.
        size: Bytes.
    """

    def __init__(self, slots: int, size: int) -> None:
        addresses = numpy.empty(max(1, slots), numpy.intp)
        cells = numpy.empty(size + lanes.CACHE_LINE, numpy.uint8)
        aligned = cells[-cells.__array_interface__["data"][0] % lanes.CACHE_LINE :]
        self._arrays = (addresses, aligned)
        self.rows = c_compat.cells(addresses)
        self.cells = c_compat.cells(aligned)


@cython.final
@cython.cclass
class Launch:
    """One run of a kernel on a batch: what all shards have in common. Any number of threads may run them.

    Args:
        schedule: The schedule of the kernel.
        plan: What is run.
        sizes: How many samples there are, how many of them a block has, and how many shards there are.
        computed: What the uniform prologue has computed; float64.
        columns: The columns that are read, and those that are written.
        totals: What sums are added to: two numbers for each output and shard.
        instruction_set: The index of the instruction set.
    """

    def __init__(
        self,
        schedule: Any,
        plan: Plan,
        sizes: tuple[int, int, int],
        computed: Any,
        columns: tuple[Columns, Columns],
        totals: Any,
        instruction_set: int,
    ) -> None:
        inputs: Columns = columns[0]
        outputs: Columns = columns[1]
        count, width, shards = sizes
        scalars = computed
        if inputs.single:
            with numpy.errstate(over="ignore"):  # numbers too large for float32 become inf
                scalars = computed.astype(numpy.float32)
        self._instruction_set = instruction_set
        self._single = inputs.single
        self._plan = plan
        self._schedule = schedule
        self._totals = totals
        self._computed = computed
        self._arrays = (scalars, inputs, outputs)
        self._batch = lanes.Batch(
            samples=count,
            width=width,
            shards=shards,
            totals=totals.shape[1],
            code=c_compat.integers(plan.code),
            tables=c_compat.integers(schedule.tables),
            targets=c_compat.integers(schedule.targets),
            length=len(plan.code),
            slots=plan.slots,
            lanes=_stride(width, count),
            scalars=c_compat.cells(scalars),
            columns=inputs.table[0].addresses,
            strides=inputs.table[0].strides,
            tiles=inputs.table[0].tiles,
            outputs=outputs.table[0].addresses,
            output_strides=outputs.table[0].strides,
            machine=0 if plan.machine is None else plan.machine.machine_code.address,
        )

    def run(self, first: int, last: int) -> None:
        """Run all instructions for the shards from `first` up to `last`."""
        batch: lanes.Batch = self._batch
        scratch: Scratch = self._plan._taken()
        totals: cython.p_double = c_compat.doubles(self._totals.reshape(-1))
        instruction_set: cython.int = self._instruction_set
        single: cython.bint = self._single
        begin: cython.longlong = first
        end: cython.longlong = last
        rows, cells = scratch.rows, scratch.cells
        with cython.nogil:
            lanes.run(instruction_set, single, batch, begin, end, totals, rows, cells)
        self._plan._free.append(scratch)

    def add_totals(self, results: NDArray[Any], is_mean: bool) -> None:
        """Write the sums over the batch, or the means, from the sums of the shards.

        Args:
            results: What they are written to.
            is_mean: Whether means are wanted.
        """
        shards, width = self._totals.shape
        totals: cython.p_double = c_compat.doubles(self._totals.reshape(-1))
        result: cython.p_double = c_compat.doubles(results)
        count: cython.double = self._batch.samples
        k: cython.Py_ssize_t
        lost: cython.double
        lanes.add_totals(totals, shards, width // 2)
        for k in range(width // 2):
            lost = totals[2 * k + 1]
            # It is not finite where the total is not, which absorbs every other term.
            result[k] = totals[2 * k] + lost if lost - lost == 0.0 else totals[2 * k]
            if is_mean:
                result[k] /= count
        position: cython.Py_ssize_t = self._schedule.scalars
        computed: cython.p_double = c_compat.doubles(self._computed)
        for fixed in self._schedule.fixed:  # of which the mean is themselves, without rounding
            result[fixed] = computed[position] * (1.0 if is_mean else count) if count else 0.0
            position += 1


def _stride(width: int, count: int) -> int:
    """By how many lanes rows are apart: of a batch smaller than a block by its own, so that more of them are cached."""
    return min(width, max(16, -(-count // 16) * 16))
