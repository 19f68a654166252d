"""`Plan`: the instructions of a lane kernel, which run on a batch in C."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.backend import thread_pool
from gradwalk.backend.base import MachineCodeError
from gradwalk.backend.columns import Columns
from gradwalk.backend.cpu import column_table, lanes
from gradwalk.backend.llvm.lane_machine import Compiled
from gradwalk.backend.schedule.schedule import Schedule
from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.program.run import scratch

if not TYPE_CHECKING and cython.compiled:
    import cython

# Functions that vector_functions.h implements for C libraries without vector mathematics.
ROW_FUNCTIONS = ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh")
IS_COMPILED = bool(cython.compiled)
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
        schedule: The schedule to run.
        row: Maximum size of a row, in bytes.
        instruction_set: Index of the instruction set.
        single: Whether to compute in float32.
        compiled: Machine code that replaces the instructions of the schedule, or None.

    Attributes:
        machine: The machine code, or None.
        memory: Scratch memory per thread, in bytes.
    """

    # The field types are declared in launch.pxd.

    def __init__(
        self, schedule: Schedule, row: int, instruction_set: int, single: bool, compiled: Compiled | None = None
    ) -> None:
        code = schedule.code if compiled is None else compiled.program.schedule
        self.machine = None if compiled is None else compiled.machine_code
        self._slots = schedule.slots if compiled is None else compiled.program.slots
        apart = row + lanes.CACHE_LINE  # distance between rows in bytes: see row_bytes in lane_loops.h
        tiles = column_table.TILE * lanes.TILES * row
        self._sums = 0 if compiled is None else compiled.program.sums
        self.memory = (self._slots - self._sums) * apart + 8 * lanes.PARTIAL_SUMS * self._sums + tiles
        self._arrays = (code, schedule.tables, schedule.targets)  # owns the memory that the pointers point into
        self._code = c_compat.integers(code)
        self._tables = c_compat.integers(schedule.tables)
        self._targets = c_compat.integers(schedule.targets)
        self._length = len(code)
        self._address = 0 if compiled is None else compiled.machine_code.address
        self._instruction_set = instruction_set
        self._single = single
        self._prologue = schedule.prologue.interpreter
        self._computed = len(schedule.prologue.outputs)
        self._scalars = schedule.scalars
        self._fixed = schedule.fixed
        self._totals = 2 * len(schedule.program.outputs) if schedule.reduced else 0
        self._free: list[Scratch] = []  # unused scratch memory; append and pop are thread-safe

    def launch(
        self,
        shared: cython.p_double,
        columns: Columns,
        outputs: Columns,
        sizes: tuple[Any, ...],
        results: cython.p_double,
        is_mean: cython.bint,
    ) -> cython.bint:
        """Run the instructions on a batch: see `LaneKernel.launch`. `sizes` is from `LaneKernel._sizes_of`."""
        few = cython.declare(scratch.few_doubles)
        memory: object = None  # owns the numbers if they are not on the stack, which other threads may outlive
        computed: cython.p_double = few
        i: cython.Py_ssize_t
        begin: cython.Py_ssize_t = 2 * self._computed
        end: cython.Py_ssize_t = begin + sizes[2] * self._totals
        if sizes[3] or end >= scratch.FEW:
            memory = numpy.empty(end)
            computed = c_compat.doubles(memory)
        if begin:
            self._prologue._run(shared, computed)
        for i in range(begin, end):
            computed[i] = 0.0
        self._execute(columns, outputs, sizes, computed, memory)
        if self._totals:
            return self._add_totals(lanes.totals_of(computed, self._computed), sizes, computed, results, is_mean)
        for i in range(len(self._fixed)):
            results[i] = computed[self._scalars + i]
        return True

    def trial(self, columns: Columns, outputs: Columns, count: cython.longlong, width: cython.longlong) -> object:
        """Run the instructions on one shard with scalars that are 0.5."""
        numbers = numpy.zeros(2 * self._computed + self._totals)
        numbers[: self._computed] = 0.5
        self._execute(columns, outputs, (count, width, 1, False), c_compat.doubles(numbers), numbers)
        return None

    def _execute(
        self, columns: Columns, outputs: Columns, sizes: tuple[Any, ...], computed: cython.p_double, memory: object
    ) -> object:
        """Run the instructions on all shards.

        Args:
            columns: The columns to read.
            outputs: The columns to write.
            sizes: See `launch`.
            computed: Results of the uniform prologue, memory of the same length, and zeros, to which a sum and its
                rounding error are added for each shard and output.
            memory: The owner of `computed`, or None.
        """
        totals: cython.p_double = lanes.totals_of(computed, self._computed)
        count: cython.longlong = sizes[0]
        width: cython.longlong = sizes[1]
        batch: lanes.Batch = lanes.Batch(
            samples=count,
            width=width,
            shards=sizes[2],
            totals=self._totals,
            code=self._code,
            tables=self._tables,
            targets=self._targets,
            length=self._length,
            slots=self._slots,
            sums=self._sums,
            # In a small batch, rows are shorter than blocks, so that more rows fit in cache.
            lanes=min(width, max(16, (count + 15) // 16 * 16)),
            scalars=lanes.scalars_of(computed, self._computed, self._single),
            columns=columns.table[0].addresses,
            strides=columns.table[0].strides,
            tiles=columns.table[0].tiles,
            outputs=outputs.table[0].addresses,
            output_strides=outputs.table[0].strides,
            machine=self._address,
        )
        if not sizes[3]:
            return self._run(batch, 0, sizes[2], totals)
        launch: Launch = Launch()
        return launch.run(self, batch, totals, (memory, columns, outputs))

    def _run(
        self, batch: lanes.Batch, first: cython.longlong, last: cython.longlong, totals: cython.p_double
    ) -> object:
        """Run the instructions on the shards `first` to `last - 1`. Raises MachineCodeError if machine code fails."""
        status: cython.int
        memory: Scratch = self._taken()
        instruction_set: cython.int = self._instruction_set
        single: cython.bint = self._single
        rows, cells = memory.rows, memory.cells
        with cython.nogil:
            status = lanes.run(instruction_set, single, batch, first, last, totals, rows, cells)
        if lanes.checked(status):
            raise MachineCodeError
        self._free.append(memory)
        return None

    def _add_totals(
        self,
        totals: cython.p_double,
        sizes: tuple[Any, ...],
        computed: cython.p_double,
        results: cython.p_double,
        is_mean: cython.bint,
    ) -> cython.bint:
        """Write the sums over the batch (the means, if `is_mean`) to `results`; return whether all are finite."""
        count: cython.double = sizes[0]
        k: cython.Py_ssize_t
        position: cython.Py_ssize_t = self._scalars
        lost: cython.double
        are_finite: cython.bint = True
        lanes.add_totals(totals, sizes[2], self._totals // 2)
        for k in range(self._totals // 2):
            lost = totals[2 * k + 1]
            # If the total is inf or nan, the rounding error is not finite and must not be added.
            results[k] = totals[2 * k] + lost if lost - lost == 0.0 else totals[2 * k]
            if is_mean:
                results[k] /= count
        for k in self._fixed:  # a fixed output is its own mean
            results[k] = computed[position] * (1.0 if is_mean else count) if count else 0.0
            position += 1
        for k in range(self._totals // 2):
            are_finite = are_finite and results[k] - results[k] == 0.0
        return are_finite

    def _taken(self) -> Scratch:
        """Take scratch memory for one thread from the pool, or allocate it if the pool is empty."""
        try:
            memory: Scratch = self._free.pop()
        except IndexError:
            memory = Scratch(self._slots, self.memory)
        return memory


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
    """A batch whose shards are run by several threads."""

    def run(self, plan: Plan, batch: lanes.Batch, totals: cython.p_double, owners: Any) -> object:
        """Run all shards; `owners` are the owners of the memory that the batch and `totals` point into."""
        self._plan = plan
        self._batch = batch
        self._totals = totals
        self._owners = owners
        thread_pool.run_tasks(range(batch.shards), self._run_each)
        return None

    def _run_each(self, shards: Iterator[int]) -> None:
        """Run shards one after another."""
        for shard in shards:
            self._plan._run(self._batch, shard, shard + 1, self._totals)
