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

# Functions that vector_functions.h implements for C libraries without vector mathematics.
ROW_FUNCTIONS = ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh")
# Build options: whether the kernel uses libmvec, ROW_FUNCTIONS or neither, and the compiler. GLIBC is the
# version of glibc at run time.
USES_LIBMVEC = bool(lanes.USES_LIBMVEC)
USES_OWN_FUNCTIONS = bool(lanes.USES_OWN_FUNCTIONS)
COMPILER = lanes.COMPILER.decode().strip()
GLIBC = lanes.c_library().decode()
INSTRUCTION_SETS = ("baseline", "avx2", "avx512")[: lanes.instruction_sets()]


def row_functions(instruction_set: int, single: bool) -> dict[str, int]:
    """Return a dict from the names in `ROW_FUNCTIONS` to the addresses of these functions in C.

    Each function is a `void f(const void *from, void *to, int64_t lanes)`. It exists even if the kernel itself uses
    libmvec. `instruction_set` is an index into INSTRUCTION_SETS.
    """
    found = {name: lanes.row_function(name.encode(), instruction_set, single) for name in ROW_FUNCTIONS}
    return {name: address for name, address in found.items() if address}


@cython.final
@cython.cclass
class Plan:
    """The instructions that are run for each block of lanes, and a pool of scratch memory.

    Args:
        code: Instructions of a schedule.
        slots: Number of slots; each holds one row of lanes.
        row: Maximum size of a row, in bytes.
        machine: The machine code that the instructions call, or None.

    Attributes:
        code: As above.
        slots: As above.
        machine: As above.
        memory: Scratch memory per thread, in bytes.
    """

    # The field types are declared in launch.pxd.

    def __init__(self, code: NDArray[numpy.int32], slots: int, row: int, machine: LaneCode | None = None) -> None:
        self.code = code
        self.slots = slots
        self.machine = machine
        apart = row + lanes.CACHE_LINE  # distance between rows in bytes: see row_bytes in lane_loops.h
        tiles = column_table.TILE * lanes.TILES * row
        self.memory = slots * apart + tiles + (0 if machine is None else machine.memory)
        self._free: list[Scratch] = []  # unused scratch memory; append and pop are thread-safe

    def _taken(self) -> Scratch:
        """Take scratch memory for one thread from the pool, or allocate it if the pool is empty."""
        try:
            scratch: Scratch = self._free.pop()
        except IndexError:
            scratch = Scratch(self.slots, self.memory)
        return scratch


@cython.final
@cython.cclass
class Scratch:
    """Scratch memory for one thread at a time: `size` bytes, aligned to cache lines, and the addresses of all rows."""

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
    """One run of a kernel on a batch. Several threads may run different shards of the batch at the same time.

    Args:
        schedule: The schedule of the kernel.
        plan: The plan to run.
        sizes: Number of samples, number of lanes per block, and number of shards.
        computed: Results of the uniform prologue; float64.
        columns: The input columns and the output columns.
        totals: Array of shape (shards, 2 * outputs) that accumulates a sum and its rounding error for each output.
        instruction_set: Index of the instruction set.
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
        """Run all instructions on the shards `first` to `last - 1`."""
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
        """Add up the totals of all shards; write the sums over the batch (the means, if `is_mean`) to `results`."""
        shards, width = self._totals.shape
        totals: cython.p_double = c_compat.doubles(self._totals.reshape(-1))
        result: cython.p_double = c_compat.doubles(results)
        count: cython.double = self._batch.samples
        k: cython.Py_ssize_t
        lost: cython.double
        lanes.add_totals(totals, shards, width // 2)
        for k in range(width // 2):
            lost = totals[2 * k + 1]
            # If the total is inf or nan, the rounding error is not finite and must not be added.
            result[k] = totals[2 * k] + lost if lost - lost == 0.0 else totals[2 * k]
            if is_mean:
                result[k] /= count
        position: cython.Py_ssize_t = self._schedule.scalars
        computed: cython.p_double = c_compat.doubles(self._computed)
        for fixed in self._schedule.fixed:  # a fixed output is its own mean
            result[fixed] = computed[position] * (1.0 if is_mean else count) if count else 0.0
            position += 1


def _stride(width: int, count: int) -> int:
    """Return the number of lanes per row. For a small batch it is less than `width`, so that more rows fit in cache."""
    return min(width, max(16, -(-count // 16) * 16))
