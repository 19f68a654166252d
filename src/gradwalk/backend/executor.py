"""`LaneKernel`: runs a program on a batch, block by block, on all cores, without Python and without a compiler."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from gradwalk.backend import thread_pool
from gradwalk.backend.base import Ptx
from gradwalk.backend.cpu import lanes
from gradwalk.backend.llvm.lane_machine import LaneCode, Lanes, RefusedError, compiled_schedule
from gradwalk.backend.llvm.ptx import to_ptx
from gradwalk.backend.schedule.schedule import make_schedule
from gradwalk.ops import c_compat
from gradwalk.ops.cached import cached_property
from gradwalk.program import machine_code
from gradwalk.program.program import Program

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython

# Lanes per block: the first number, and for large batches twice and four times as many, while rows stay below so many
# bytes. Larger blocks amortise finding out what an instruction is; smaller ones keep more rows in the cache.
LANES = 128
_MOST_LANES = 512
_LARGEST_ROWS = 1 << 22
_FEWEST_BLOCKS = 8  # of a batch that larger ones are made for: several threads are to share them
# The most shards that a batch is cut into. It is no number of threads, which change no bit of a result: a thread takes
# one shard after the other.
SHARDS = 64
# Each shard of a reduced batch has totals of its own. Where there are many outputs there are fewer shards, so that all
# totals together stay below the second number, but no fewer shards than the first one.
_FEWEST_SHARDS = 8
_LARGEST_TOTALS = 1 << 17
# Lanes times instructions below which starting threads takes longer than doing the work in this one.
_LEAST_WORK = 2_000_000
_CACHE_LINE = 64  # bytes
# Lanes times instructions after which a kernel has earned machine code, and lanes, which count where it is long.
_HOT = 5_000_000
_HOT_LANES = 30_000

_HAS_VECTOR_FUNCTIONS = bool(lanes.HAS_VECTOR_FUNCTIONS)
INSTRUCTION_SETS = ("baseline", "avx2", "avx512")[: lanes.instruction_sets()]


def chosen_instruction_set() -> str:
    """The instruction set that kernels are made for now.

    Returns:
        What the environment variable GRADWALK_INSTRUCTION_SET says, or the largest that this machine has.

    Raises:
        ValueError: Where this machine does not have the one that it says.
    """
    name = os.environ.get("GRADWALK_INSTRUCTION_SET") or INSTRUCTION_SETS[-1]
    if name not in INSTRUCTION_SETS:
        raise ValueError(f"GRADWALK_INSTRUCTION_SET={name}: this machine has {', '.join(INSTRUCTION_SETS)}")
    return name


class LaneKernel:
    """A program for batches, run by the instructions of its schedule over blocks of lanes: see `base.Kernel`.

    Args:
        program: The program of one sample.
        varies: For each of its inputs, whether it has a number for each sample, in a column, or one for all.
        reduced: Whether the outputs are wanted as sums over the batch.
        lanes: How many lanes a block has, a multiple of 16; None for as many as suit the program and the batch.
        apart: Whether an output that is a sum of products may be reduced product by product, which takes fewer
            instructions. Where such a sum is not finite, the kernel computes all again without that.

    Attributes:
        schedule: What is run.
        reduced: Whether the results are sums over the batch.
        lanes: How many lanes a block has, or None.
        instruction_set: The name of the instruction set that the loops over lanes are compiled for.
        policy: When machine code is made, and how.

    Raises:
        ValueError: Where a call of a Python function depends on the batch, `lanes` is no multiple of 16, or the machine
            does not have the instruction set that the environment asks for.
    """

    def __init__(
        self,
        program: Program,
        varies: Sequence[bool],
        *,
        reduced: bool = False,
        lanes: int | None = None,
        apart: bool = True,
    ) -> None:
        if lanes is not None and (lanes < 1 or lanes % 16):
            raise ValueError(f"a block has a positive multiple of 16 lanes, not {lanes}")
        self.instruction_set = chosen_instruction_set()
        self.schedule = make_schedule(program, varies, reduced=reduced, apart=apart)
        self.reduced = reduced
        self.lanes = lanes
        plan = _Plan(self.schedule.code, self.schedule.slots, self._row)
        self._plans = [plan, plan]  # for float64 and float32
        self._work = [0, 0]  # lanes times instructions that have been run, likewise
        self._is_asked = [False, False]  # whether it has been asked for machine code, likewise
        self._refusals = ["", ""]  # why there is no machine code, likewise
        self.policy = machine_code.current_policy()

    def __str__(self) -> str:
        return str(self.schedule)

    def __reduce__(self) -> Any:
        schedule = self.schedule
        return _unpickled, (schedule.program, schedule.varies, self.reduced, self.lanes, self.policy)

    @property
    def fixed(self) -> Sequence[int]:
        """The positions of the outputs that are the same for all samples."""
        return self.schedule.fixed

    @property
    def uniform_inputs(self) -> int:
        """How many inputs are the same for all samples."""
        return self.schedule.prologue.inputs

    @property
    def memory(self) -> int:
        """Bytes that each thread works in: slots · lanes · 8, and as much for 32 columns more.

        Blocks have 128 lanes, and those of large batches up to 512, if that is at most 4 MB. Machine code has slots for
        inputs and outputs alone, and keeps what loops need in memory of its own. Inputs and outputs come on top, and
        where it is reduced 16 bytes for each output and shard, at most 64 shards.
        """
        return max(plan.memory for plan in self._plans)

    def run(
        self,
        uniform: NDArray[Any],
        columns: Sequence[NDArray[Any]],
        outputs: Sequence[NDArray[Any]],
        count: int,
        *,
        single: bool,
    ) -> NDArray[Any]:
        """Run the program on a batch.

        Args:
            uniform: The inputs that are the same for all samples; float64.
            columns: Arrays that hold the other inputs, float32 where `single`, else float64.
            outputs: Arrays that the outputs that vary are written to, of the same type; nothing where it is reduced.
            count: How many samples there are.
            single: Whether to compute in float32.

        Returns:
            The fixed outputs or, where it is reduced, all sums; float64.
        """
        self._warm(count, single)
        scalars = self.schedule.scalars
        computed = self.schedule.prologue.run(uniform)
        width = self._width(count, single)
        blocks = -(-count // width)
        shards = self._shards(blocks)
        totals = numpy.zeros((shards if self.reduced else 1, 2 * len(self.schedule.program.outputs)))
        plan = self._plans[single]
        launch = _Launch(self, plan, _stride(width, count), computed[:scalars], columns, outputs, single)

        def work(tasks: Iterator[int]) -> None:
            scratch = plan.scratch()
            for shard in tasks:
                first, last = [min(count, i * blocks // shards * width) for i in (shard, shard + 1)]
                launch.run(first, last, totals[shard if self.reduced else 0], scratch)
            plan.free.append(scratch)

        if len(self.schedule) * count < _LEAST_WORK:
            work(iter(range(shards)))
        else:
            thread_pool.run_tasks(range(shards), work)
        if not self.reduced:
            return computed[scalars:]
        sums = self._sums(totals, computed[scalars:], count)
        if self.schedule.apart and not numpy.isfinite(sums).all():
            # Products may overflow to inf where the output of no sample does, and inf - inf is nan.
            return self._undivided.run(uniform, columns, outputs, count, single=single)
        return sums

    @cached_property
    def _undivided(self) -> LaneKernel:
        """The kernel that sums the outputs of samples as they are."""
        schedule = self.schedule
        with machine_code.compiling(self.policy):
            return LaneKernel(schedule.program, schedule.varies, reduced=True, lanes=self.lanes, apart=False)

    def to_ptx(
        self, *, single: bool = False, target: str = "sm_70", libdevice: str | os.PathLike[str] | None = None
    ) -> Ptx:
        """Write the program for NVIDIA's graphics processors, without the sums over a batch: see `ptx.to_ptx`."""
        program, varies, contract = self.schedule.program, self.schedule.varies, self.policy.contract
        return to_ptx(program, varies, single=single, target=target, libdevice=libdevice, contract=contract)

    def _warm(self, count: int, single: bool) -> None:
        """Ask for machine code, once: before the first run where the policy says so, else after much has been run."""
        self._work[single] += len(self.schedule) * count
        if self._is_asked[single] or self._work[single] < self._hot or not cython.compiled or self.policy.refusal:
            return
        self._is_asked[single] = True
        if self.policy.backend == "llvm":
            machine_code.run_in_turn(lambda: self._compile(single))
        else:
            machine_code.later(lambda: self._compile(single))

    @property
    def _hot(self) -> int:
        """After how many lanes times instructions there is to be machine code."""
        return 0 if self.policy.backend == "llvm" else max(_HOT, _HOT_LANES * len(self.schedule))

    def _compile(self, single: bool) -> None:
        """Have machine code run from now on, where there is any for the program."""
        width = Lanes(self.instruction_set, _HAS_VECTOR_FUNCTIONS, self.lanes or LANES)
        try:
            found = compiled_schedule(self.schedule, width, single=single, contract=self.policy.contract)
        except RefusedError as error:
            self._refusals[single] = str(error)
        else:
            self._plans[single] = _Plan(found.program.schedule, found.program.slots, self._row, found.code)

    @property
    def backends(self) -> dict[str, str]:
        """What runs the program, by type of numbers: "llvm", or "lanes" and why."""
        used = [single for single in (False, True) if self._work[single]] or [False]
        return {"float32" if single else "float64": self._backend(single) for single in used}

    def _backend(self, single: bool) -> str:
        if self._plans[single].machine is not None:
            return "llvm"
        why = self.policy.refusal or self._refusals[single]
        if not why and not cython.compiled:
            why = "gradwalk is not compiled itself"
        if not why and self._is_asked[single]:
            why = "it is being compiled"
        if not why:
            why = f"{self._work[single]:,} lanes times instructions run, of {self._hot:,} that earn machine code"
        return f"lanes: {why}"

    def _width(self, count: float, single: bool) -> int:
        """How many lanes a block has. Sums depend on it: it follows from the program and the batch alone."""
        if self.lanes is not None:
            return self.lanes
        width = LANES
        row = self.schedule.slots * (4 if single else 8)
        while width < _MOST_LANES and 2 * width * row <= _LARGEST_ROWS and 2 * width * _FEWEST_BLOCKS <= count:
            width *= 2
        return width

    @property
    def _row(self) -> int:
        """The most bytes that a row has."""
        return max(self._width(math.inf, True) * 4, self._width(math.inf, False) * 8)

    def _shards(self, blocks: int) -> int:
        """How many shards so many blocks are. Sums depend on it: it follows from the program and the batch alone."""
        outputs = max(1, len(self.schedule.program.outputs))
        most = max(_FEWEST_SHARDS, _LARGEST_TOTALS // outputs) if self.reduced else SHARDS
        return max(1, min(SHARDS, most, blocks))

    def _sums(self, totals: NDArray[Any], fixed: NDArray[Any], count: int) -> NDArray[Any]:
        """The sums over the batch, from those of the shards."""
        lanes.add_totals(c_compat.doubles(totals.reshape(-1)), len(totals), totals.shape[1] // 2)
        sums, lost = totals[0].reshape(-1, 2).T
        with numpy.errstate(all="ignore"):
            sums = numpy.where(numpy.isfinite(lost), sums + lost, sums)  # inf absorbs every other term
            sums[list(self.fixed)] = fixed * count if count else 0.0  # an empty sum is 0, even of inf
        return sums


class _Plan:
    """What is run for each block of lanes.

    Attributes:
        code: Instructions of a schedule.
        slots: How many rows there are.
        machine: The machine code that they run, or None.
        memory: Bytes that each thread works in.
        free: Scratch that no thread works in at the moment. A deque, whose append and pop are safe between threads.
    """

    def __init__(self, code: NDArray[numpy.int32], slots: int, row: int, machine: LaneCode | None = None) -> None:
        self.code, self.slots, self.machine = code, slots, machine
        self.memory = (slots + lanes.TILE * lanes.TILES) * row + (0 if machine is None else machine.memory)
        self.free: deque[_Scratch] = deque()

    def scratch(self) -> _Scratch:
        """Take scratch."""
        try:
            return self.free.pop()
        except IndexError:
            return _Scratch(self.slots, self.memory)


class _Scratch:
    """Memory that one thread at a time works in."""

    def __init__(self, slots: int, size: int) -> None:
        self.rows = numpy.empty(max(1, slots), numpy.intp)  # addresses
        cells = numpy.empty(size + _CACHE_LINE, numpy.uint8)
        self.cells = cells[-cells.__array_interface__["data"][0] % _CACHE_LINE :]


class _Columns:
    """Arrays with the samples along their first axes, as C reads them: all columns that they hold."""

    def __init__(self, arrays: Sequence[NDArray[Any]], in_tiles: bool) -> None:
        self.arrays = tuple(arrays)  # which have to live as long as their addresses are used
        self.addresses: Any
        self.strides: Any
        self.tiles: Any  # by column, the first column of the tile that it is part of, or -1
        if cython.compiled:
            addresses = [_addresses(array) for array in arrays]
            strides = [numpy.full(len(found), array.strides[0]) for array, found in zip(arrays, addresses, strict=True)]
            self.addresses = _joined(addresses).astype(numpy.intp)
            self.strides = _joined(strides)
            self.tiles = _tiles(arrays, addresses) if in_tiles else None
        else:
            self.addresses = [array[:, *at] for array in arrays for at in numpy.ndindex(array.shape[1:])]
            self.strides = self.tiles = []


@cython.final
@cython.cclass
class _Launch:
    """One run of a kernel on a batch: what all shards have in common, prepared for C. It does not change."""

    _batch: lanes.Batch
    _instruction_set: cython.int
    _single: cython.bint
    _arrays: tuple  # what the pointers in the batch point into

    def __init__(
        self, kernel: LaneKernel, plan: _Plan, lanes_apart: int, uniform: Any, inputs: Any, outputs: Any, single: bool
    ) -> None:
        columns, results = _Columns(inputs, True), _Columns(outputs, False)
        schedule = kernel.schedule
        with numpy.errstate(over="ignore"):  # numbers too large for float32 become inf
            scalars = uniform.astype(numpy.float32 if single else numpy.float64)
        self._instruction_set = INSTRUCTION_SETS.index(kernel.instruction_set)
        self._single = single
        self._arrays = (schedule, plan, scalars, columns, results)
        self._batch = lanes.Batch(
            code=c_compat.integers(plan.code),
            tables=c_compat.integers(schedule.tables),
            targets=c_compat.integers(schedule.targets),
            length=len(plan.code),
            slots=plan.slots,
            lanes=lanes_apart,
            scalars=c_compat.cells(scalars),
            columns=c_compat.cells(columns.addresses),
            strides=c_compat.cells(columns.strides),
            tiles=c_compat.cells(columns.tiles),
            outputs=c_compat.cells(results.addresses),
            output_strides=c_compat.cells(results.strides),
            machine=0 if plan.machine is None else plan.machine.machine_code.address,
        )

    def run(self, first: int, last: int, totals: NDArray[Any], scratch: _Scratch) -> None:
        """Run all instructions for the samples from `first` to `last`. Several threads may do so at once."""
        batch: lanes.Batch = self._batch
        shard: lanes.Shard = lanes.Shard(
            first=first,
            last=last,
            totals=c_compat.doubles(totals),
            rows=c_compat.cells(scratch.rows),
            scratch=c_compat.cells(scratch.cells),
        )
        instruction_set: cython.int = self._instruction_set
        single: cython.bint = self._single
        with cython.nogil:
            lanes.run(instruction_set, single, batch, shard)


def _stride(width: int, count: int) -> int:
    """By how many lanes rows are apart: of a batch smaller than a block by its own, so that more of them are cached."""
    return min(width, max(16, -(-count // 16) * 16))


def _unpickled(
    program: Program, varies: tuple[bool, ...], reduced: bool, lanes: int | None, policy: machine_code.Policy
) -> LaneKernel:
    with machine_code.compiling(policy):
        return LaneKernel(program, varies, reduced=reduced, lanes=lanes)


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[numpy.int64]:
    return numpy.concatenate(parts, dtype=numpy.int64) if parts else numpy.zeros(1, numpy.int64)


def _addresses(array: NDArray[Any]) -> NDArray[numpy.int64]:
    """Where the first number of each column of an array stands in memory."""
    offsets = numpy.full((), array.__array_interface__["data"][0], numpy.int64)
    for length, stride in zip(array.shape[1:], array.strides[1:], strict=True):
        offsets = offsets[..., None] + stride * numpy.arange(length)
    return offsets.ravel()


def _tiles(arrays: Sequence[NDArray[Any]], addresses: Sequence[NDArray[numpy.int64]]) -> NDArray[numpy.int64]:
    """By column, the first column of the tile that it is part of, or -1.

    A tile is that many columns of one array which stand side by side in memory, where a column does not.
    """
    size: cython.int = lanes.TILE
    tiles = _joined([numpy.full(len(found), -1) for found in addresses])
    first = 0
    for array, found in zip(arrays, addresses, strict=True):
        whole = len(found) // size * size
        if whole and array.flags.aligned and array.strides[0] != array.itemsize:
            are_adjacent = (numpy.diff(found[:whole].reshape(-1, size)) == array.itemsize).all(axis=1)
            starts = numpy.where(are_adjacent, numpy.arange(first, first + whole, size), -1)
            tiles[first : first + whole] = numpy.repeat(starts, size)
        first += len(found)
    return tiles
