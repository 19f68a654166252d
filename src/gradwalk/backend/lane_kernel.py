"""`LaneKernel`: runs a program on a batch, block by block, on all cores, without Python and without a compiler."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from gradwalk.backend import thread_pool
from gradwalk.backend.columns import Columns
from gradwalk.backend.lane_count import FEWEST_LANES, lane_count
from gradwalk.backend.launch import INSTRUCTION_SETS, USES_LIBMVEC, USES_OWN_FUNCTIONS, Launch, Plan, row_functions
from gradwalk.backend.llvm.lane_machine import Lanes, RefusedError, compiled_schedule
from gradwalk.backend.schedule.schedule import make_schedule
from gradwalk.base import _cython as cython
from gradwalk.base.cached import cached_property
from gradwalk.program.native import compile_queue, machine_code
from gradwalk.program.program import Program

if not TYPE_CHECKING and cython.compiled:
    import cython

# The most shards that a batch is cut into. It is no number of threads, which change no bit of a result: a thread takes
# one shard after the other.
SHARDS = 64
# Each shard of a reduced batch has totals of its own. Where there are many outputs there are fewer shards, so that all
# totals together stay below the second number, but no fewer shards than the first one.
_FEWEST_SHARDS = 8
_LARGEST_TOTALS = 1 << 17
# Lanes times instructions below which starting threads takes longer than doing the work in this one.
_LEAST_WORK = 2_000_000
# Lanes times instructions after which a kernel has earned machine code, and lanes, which count where it is long.
_HOT = 5_000_000
_HOT_LANES = 30_000
# Machine code is used unless it takes so many times as long, in the fastest of some trials for so many samples at most.
_TIMES = 1.25
_TRIALS = 5
_MOST_SAMPLES = 4096
_NOTHING = numpy.empty(0)
_NO_TOTALS = numpy.empty((1, 0))


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
        self.policy = machine_code.current_policy()
        plan = Plan(self.schedule.code, self.schedule.slots, self._row)
        self._plans = [plan, plan]  # for float64 and float32
        self._set = INSTRUCTION_SETS.index(self.instruction_set)
        self._length = len(self.schedule)
        self._outputs = len(program.outputs)
        self._prologue = self.schedule.prologue.interpreter
        self._computed = len(self.schedule.prologue.outputs)
        self._hot = 0 if self.policy.backend == "llvm" else max(_HOT, _HOT_LANES * self._length)
        self._work = [0, 0]  # lanes times instructions that have been run, likewise
        self._is_asked = [False, False]  # whether it has been asked for machine code, likewise
        self._refusals = ["", ""]  # why there is no machine code, likewise

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
        """Bytes that each thread works in: for each slot lanes · 8 and a cache line, and for 32 columns lanes · 8.

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
        inputs, written = Columns(single), Columns(single, is_written=True)
        for array in columns:
            _add(inputs, array, count)
        for array in outputs:
            if len(array) == count:
                _add(written, array, count)
            else:  # of fixed outputs, which are not written to
                written.skip(math.prod(array.shape[1:]))
        results = numpy.empty(self.results)
        if not self.launch(uniform, (inputs, written), results, count):
            return self._undivided.run(uniform, columns, outputs, count, single=single)
        return results

    @property
    def results(self) -> int:
        """How many numbers `run` returns."""
        return self._outputs if self.reduced else len(self.schedule.fixed)

    def launch(
        self,
        uniform: NDArray[Any],
        columns: tuple[Columns, Columns],
        results: NDArray[Any],
        count: int,
        *,
        is_mean: bool = False,
    ) -> bool:
        """Run the program on a batch whose columns have been found: see `run`.

        Args:
            uniform: The inputs that are the same for all samples; float64.
            columns: Those that the other inputs are in, and those that the outputs that vary are written to.
            results: What the fixed outputs or, where it is reduced, all sums are written to; float64.
            count: How many samples there are.
            is_mean: Whether means are wanted in place of sums.

        Returns:
            Whether these are right. Where sums of products are not finite, they may have been so for the outputs.
        """
        single = columns[0].single
        work = self._length * count
        self._warm(work, count, single)
        schedule = self.schedule
        computed = self._prologue.run(uniform) if self._computed else _NOTHING
        width = self._width(count, single)
        shards = self._shards(-(-count // width))
        totals = numpy.zeros((shards, 2 * self._outputs)) if self.reduced else _NO_TOTALS
        sizes = (count, width, shards)
        launch = Launch(schedule, self._plans[single], sizes, computed, columns, totals, self._set)
        if work < _LEAST_WORK:
            launch.run(0, shards)
        else:
            thread_pool.run_tasks(range(shards), lambda tasks: _run_each(launch, tasks))
        if self.reduced:
            launch.add_totals(results, is_mean)
            return not schedule.apart or bool(numpy.isfinite(results).all())
        if schedule.fixed:
            results[:] = computed[schedule.scalars :]
        return True

    @cached_property
    def _undivided(self) -> LaneKernel:
        """The kernel that sums the outputs of samples as they are."""
        schedule = self.schedule
        with machine_code.compiling(self.policy):
            return LaneKernel(schedule.program, schedule.varies, reduced=True, lanes=self.lanes, apart=False)

    def _warm(self, work: int, count: int, single: bool) -> None:
        """Ask for machine code, once: before the first run where the policy says so, else after much has been run."""
        self._work[single] += work
        if self._is_asked[single] or self._work[single] < self._hot or not cython.compiled or self.policy.refusal:
            return
        self._is_asked[single] = True
        if self.policy.backend == "llvm":
            machine_code.run_now(lambda: self._compile(single))
        else:
            compile_queue.submit(lambda: self._compile_if_faster(count, single))

    def _compile_if_faster(self, count: int, single: bool) -> None:
        """Have machine code run from now on, where there is any and it is not slower than lanes for such a batch."""
        on_lanes = self._plans[single]
        self._compile(single)
        if self._plans[single] is on_lanes:
            return
        plans = on_lanes, self._plans[single]
        before, after = self._fastest(plans, min(count, _MOST_SAMPLES), single)
        if 0.0 < before < after / _TIMES:  # a clock too coarse for lanes has nothing to say
            self._plans[single] = on_lanes
            self._refusals[single] = f"machine code took {after / before:.1f} times as long"

    def _compile(self, single: bool) -> None:
        """Have machine code run from now on, where there is any for the program."""
        functions = row_functions(self._set, single) if USES_OWN_FUNCTIONS else {}
        lanes = Lanes(self.instruction_set, USES_LIBMVEC, functions, self.lanes or FEWEST_LANES)
        refusal = "compiling it failed"
        try:
            found = compiled_schedule(self.schedule, lanes, single=single, contract=self.policy.contract)
            self._plans[single] = Plan(found.program.schedule, found.program.slots, self._row, found.code)
            refusal = ""
        except RefusedError as error:
            refusal = str(error)
        finally:
            self._refusals[single] = refusal

    def _fastest(self, plans: Sequence[Plan], count: int, single: bool) -> list[float]:
        """Return the seconds that each plan takes at its fastest, for numbers that are all the same."""
        outputs = 0 if self.reduced else self._outputs
        columns = Columns(single), Columns(single, is_written=True)
        kind = numpy.float32 if single else numpy.float64
        for table, width in zip(columns, (sum(self.schedule.varies), outputs), strict=True):
            _add(table, numpy.full((width, count), 0.5, kind).T, count)
        computed, totals = numpy.full(self._computed, 0.5), numpy.zeros((1, 2 * self._outputs))
        sizes = (count, self._width(count, single), 1)
        launches = [Launch(self.schedule, plan, sizes, computed, columns, totals, self._set) for plan in plans]
        fastest = [math.inf for _ in plans]
        for _ in range(_TRIALS):
            for index, launch in enumerate(launches):
                begin = perf_counter()
                launch.run(0, 1)
                fastest[index] = min(fastest[index], perf_counter() - begin)
        return fastest

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
        """Return how many lanes a block has."""
        if self.lanes is not None:
            return self.lanes
        return lane_count(count, self.schedule.slots * (4 if single else 8))

    @property
    def _row(self) -> int:
        """The most bytes that a row has."""
        return max(self._width(math.inf, True) * 4, self._width(math.inf, False) * 8)

    def _shards(self, blocks: int) -> int:
        """How many shards so many blocks are. Sums depend on it: it follows from the program and the batch alone."""
        outputs = max(1, len(self.schedule.program.outputs))
        most = max(_FEWEST_SHARDS, _LARGEST_TOTALS // outputs) if self.reduced else SHARDS
        return max(1, min(SHARDS, most, blocks))


def _add(columns: Columns, array: NDArray[Any], count: int) -> None:
    """Add an array to the columns of a batch. Raises `ValueError` where it cannot be one of them."""
    if len(array) != count or not columns.add(array, 0, None):
        raise ValueError(
            f"an array of {array.dtype} and shape {array.shape}, or one that is read-only, cannot be one of a batch of "
            f"{count} samples in {'float32' if columns.single else 'float64'}"
        )


def _run_each(launch: Launch, shards: Iterator[int]) -> None:
    """Run shards, one after the other."""
    for shard in shards:
        launch.run(shard, shard + 1)


def _unpickled(
    program: Program, varies: tuple[bool, ...], reduced: bool, lanes: int | None, policy: machine_code.Policy
) -> LaneKernel:
    with machine_code.compiling(policy):
        return LaneKernel(program, varies, reduced=reduced, lanes=lanes)
