"""`LaneKernel`: runs a program on a batch in C, block by block on all cores, without a compiler at run time."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from gradwalk.backend.columns import Columns, new_columns
from gradwalk.backend.lane_count import FEWEST_LANES, lane_count
from gradwalk.backend.launch import INSTRUCTION_SETS, USES_LIBMVEC, USES_OWN_FUNCTIONS, Plan, row_functions
from gradwalk.backend.llvm.lane_machine import Compiled, Lanes, RefusedError, compiled_schedule
from gradwalk.backend.schedule.schedule import Schedule, make_schedule
from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.program.native import compile_queue, machine_code
from gradwalk.program.native.policy import Policy, compiling, current_policy
from gradwalk.program.program import Program

if not TYPE_CHECKING and cython.compiled:
    import cython

# Maximum number of shards in a batch. This is not the number of threads: each thread runs one shard after another, and
# results do not depend on the number of threads.
SHARDS = 64
# Each shard of a reduced batch keeps its own totals. Programs with many outputs get fewer shards, so that
# shards * outputs <= LARGEST_TOTALS, but at least FEWEST_SHARDS shards.
FEWEST_SHARDS = 8
LARGEST_TOTALS = 1 << 17
# If lanes * instructions is less than this, starting threads takes longer than running in the calling thread.
_LEAST_WORK = 2_000_000
# Compile a kernel to machine code once the sum of lanes * instructions over all runs is at least
# max(_HOT, _HOT_LANES * instructions).
_HOT = 5_000_000
_HOT_LANES = 30_000
# Keep the lane interpreter if machine code takes more than _TIMES times as long. Both times are the shortest of _TRIALS
# runs on at most _MOST_SAMPLES samples.
_TIMES = 1.25
_TRIALS = 5
_MOST_SAMPLES = 4096
_NEVER = 1 << 62


def chosen_instruction_set() -> str:
    """Return the value of GRADWALK_INSTRUCTION_SET or, if it is unset, the largest instruction set of this machine."""
    name = os.environ.get("GRADWALK_INSTRUCTION_SET") or INSTRUCTION_SETS[-1]
    if name not in INSTRUCTION_SETS:
        raise ValueError(
            f"GRADWALK_INSTRUCTION_SET must be {' or '.join(INSTRUCTION_SETS)} on this machine, got {name}"
        )
    return name


@cython.final
@cython.cclass
class LaneKernel:
    """A `base.Kernel` that runs each instruction of a schedule over a block of lanes, one lane per sample.

    Args:
        program: The program to run for each sample.
        varies: Whether each input has one number per sample (a column) or one number for the whole batch.
        reduced: Whether to return sums over the batch instead of the outputs.
        lanes: Number of lanes per block, a multiple of 16; None to choose it from the program and the batch.
        schedule: The schedule of a program with loops, which only machine code can run; None for other programs.
        weight: The approximate number of instructions that such a program runs for each sample.
        apart: Whether to split outputs that are sums of products, and to sum each product over the batch separately.
            This takes fewer instructions. If a sum is not finite, the kernel runs the batch again without splitting.

    Attributes:
        schedule: The schedule that the kernel runs.
        reduced: Whether the results are sums over the batch.
        lanes: Number of lanes per block, or None.
        instruction_set: Name of the instruction set that the loops over lanes are compiled for.
        policy: When and how to compile machine code.
        results: Number of results that `run` returns.

    Raises:
        ValueError: If the program calls a Python function with an argument that depends on the batch, if `lanes` is not
            a positive multiple of 16, or if this machine lacks the instruction set that GRADWALK_INSTRUCTION_SET names.
    """

    def __init__(
        self,
        program: Program,
        varies: Sequence[bool],
        *,
        reduced: bool = False,
        lanes: int | None = None,
        apart: bool = True,
        schedule: Schedule | None = None,
        weight: int = 0,
    ) -> None:
        if lanes is not None and (lanes < 1 or lanes % 16):
            raise ValueError(f"lanes must be a positive multiple of 16, got {lanes}")
        self.instruction_set = chosen_instruction_set()
        self.schedule = schedule or make_schedule(program, varies, reduced=reduced, apart=apart)
        self.reduced = reduced
        self.lanes = lanes
        self.policy = current_policy()
        self.results = len(program.outputs) if reduced else len(self.schedule.fixed)
        self._set = INSTRUCTION_SETS.index(self.instruction_set)
        self._plans = [Plan(self.schedule, self._row, self._set, single) for single in (False, True)]
        self._sizes: list[Any] = [(-1,), (-1,)]  # the latest results of `_sizes_of`, or (-1,) before the first run
        self._length = len(self.schedule) if schedule is None else weight
        self._hot = 0 if self.policy.backend == "llvm" else max(_HOT, _HOT_LANES * self._length)
        # The elements of these lists are for float64 and float32.
        self._work = [0, 0]  # lanes * instructions run so far
        due = self._hot if schedule is None else _NEVER
        self._due = [due, due]  # the work at which machine code is requested
        self._refusals = ["", ""]  # why machine code is not used
        self._whole: LaneKernel | None = None

    def install(self, found: Compiled, *, single: bool) -> None:
        """Run machine code from now on."""
        self._plans[single] = Plan(self.schedule, self._row, self._set, single, found)

    def __str__(self) -> str:
        return str(self.schedule)

    def __reduce__(self) -> Any:
        schedule = self.schedule
        return _unpickled, (schedule.program, schedule.varies, self.reduced, self.lanes, self.policy)

    @property
    def fixed(self) -> Sequence[int]:
        """Positions of the outputs that are the same for all samples."""
        return self.schedule.fixed

    @property
    def uniform_inputs(self) -> int:
        """Number of inputs that are the same for all samples."""
        return self.schedule.prologue.inputs

    @property
    def memory(self) -> int:
        """Scratch memory per thread, in bytes.

        Each slot takes lanes * 8 bytes plus a cache line. The tiles have 32 columns of lanes * 8 bytes. A block
        has 128 lanes. In large batches, it has up to 512 lanes if its slots then fit in 4 MB. Machine code has slots
        only for inputs and outputs, and 16 numbers for each sum, but its loops may need further memory. The input and
        output arrays and the totals of a reduction (16 bytes per output and shard, at most 64 shards) are not included.
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
            columns: Arrays with the other inputs, float32 if `single`, else float64.
            outputs: Arrays of the same dtype as `columns`, to which the varying outputs are written. Empty if
                `reduced`.
            count: Number of samples.
            single: Whether to compute in float32.

        Returns:
            The sums of all outputs if `reduced`, otherwise the fixed outputs; float64.
        """
        inputs, written = new_columns(single, False), new_columns(single, True)
        for array in columns:
            _add(inputs, array, count)
        for array in outputs:
            if len(array) == count:
                _add(written, array, count)
            else:  # fixed outputs are returned, not written
                written.skip(math.prod(array.shape[1:]))
        results = numpy.empty(self.results)
        if not self.launch(c_compat.doubles(uniform), inputs, written, count, c_compat.doubles(results), False):
            return self._undivided().run(uniform, columns, outputs, count, single=single)
        return results

    def launch(
        self,
        shared: cython.p_double,
        columns: Columns,
        outputs: Columns,
        count: cython.longlong,
        results: cython.p_double,
        is_mean: cython.bint,
    ) -> cython.bint:
        """Run the program on columns: see `run`.

        Args:
            shared: The inputs that are the same for all samples.
            columns: The other inputs.
            outputs: The varying outputs.
            count: Number of samples.
            results: Memory for the results. If the kernel is `reduced`, they are the sums of all outputs, or the means
                if `is_mean`; otherwise they are the fixed outputs.
            is_mean: As above.

        Returns:
            False if outputs were split into products and a sum is not finite. The caller must then run the kernel
            `_undivided`, whose sums may still be finite.
        """
        single: cython.bint = columns.single
        self._work[single] += self._length * count
        if self._work[single] >= self._due[single]:
            self._request(count, single)
        sizes: tuple[Any, ...] = self._sizes[single]
        if sizes[0] != count:
            self._sizes[single] = sizes = self._sizes_of(count, single)
        plan: Plan = self._plans[single]
        return plan.launch(shared, columns, outputs, sizes, results, is_mean) or not self.schedule.apart

    def _sizes_of(self, count: int, single: bool) -> tuple[int, int, int, bool]:
        """Return numbers of samples, lanes per block, and shards, and whether there is work for several threads."""
        width = self._width(count, single)
        return count, width, self._shards(-(-count // width)), self._length * count >= _LEAST_WORK

    def _undivided(self) -> LaneKernel:
        """Return a kernel that sums whole outputs instead of splitting them into products."""
        if self._whole is None:
            schedule = self.schedule
            with compiling(self.policy):
                self._whole = LaneKernel(schedule.program, schedule.varies, reduced=True, lanes=self.lanes, apart=False)
        return self._whole

    def _request(self, count: int, single: bool) -> None:
        """Request machine code once: before the first run if the policy is "llvm", else when the kernel is hot."""
        if not cython.compiled or self.policy.refusal:
            self._due[single] = 2 * self._work[single]  # ask again later: environment variables may change
            return
        self._due[single] = _NEVER
        if self.policy.backend == "llvm":
            machine_code.run_now(partial(self._compile, single))
        else:
            compile_queue.submit(partial(self._compile_if_faster, count, single))

    def _compile_if_faster(self, count: int, single: bool) -> None:
        """Compile the program; keep the machine code unless it takes more than `_TIMES` times as long as the lanes."""
        on_lanes = self._plans[single]
        self._compile(single)
        if self._plans[single] is on_lanes:
            return
        plans = on_lanes, self._plans[single]
        before, after = self._fastest(plans, min(count, _MOST_SAMPLES), single)
        if 0.0 < before < after / _TIMES:  # 0.0 if the clock is too coarse to measure the lanes
            self._plans[single] = on_lanes
            self._refusals[single] = f"machine code took {after / before:.1f} times as long"

    def _compile(self, single: bool) -> None:
        """Compile the program and switch to machine code, or store why it cannot be compiled."""
        functions = row_functions(self._set, single) if USES_OWN_FUNCTIONS else {}
        lanes = Lanes(self.instruction_set, USES_LIBMVEC, functions, self.lanes or FEWEST_LANES)
        refusal = "compiling it failed"
        try:
            found = compiled_schedule(self.schedule, lanes, single=single, contract=self.policy.contract)
            self.install(found, single=single)
            refusal = ""
        except RefusedError as error:
            refusal = str(error)
        finally:
            self._refusals[single] = refusal

    def _fastest(self, plans: Sequence[Plan], count: int, single: bool) -> list[float]:
        """Run each plan on inputs that are all 0.5; return its shortest time in seconds."""
        columns, outputs = new_columns(single, False), new_columns(single, True)
        kind = numpy.float32 if single else numpy.float64
        widths = sum(self.schedule.varies), 0 if self.reduced else len(self.schedule.program.outputs)
        for table, width in zip((columns, outputs), widths, strict=True):
            _add(table, numpy.full((width, count), 0.5, kind).T, count)
        fastest = [math.inf for _ in plans]
        for _ in range(_TRIALS):
            for index, plan in enumerate(plans):
                begin = perf_counter()
                plan.trial(columns, outputs, count, self._width(count, single))
                fastest[index] = min(fastest[index], perf_counter() - begin)
        return fastest

    @property
    def backends(self) -> dict[str, str]:
        """The executor of each dtype used so far: "llvm", or "lanes: " and the reason why machine code is not used."""
        used = [single for single in (False, True) if self._sizes[single][0] >= 0] or [False]
        return {"float32" if single else "float64": self._backend(single) for single in used}

    def _backend(self, single: bool) -> str:
        if self._plans[single].machine is not None:
            return "llvm"
        why = self.policy.refusal or self._refusals[single]
        if not why and not cython.compiled:
            why = "gradwalk runs uncompiled"
        if not why and self._due[single] == _NEVER:
            why = "the compilation has not finished"
        if not why:
            why = f"compiled once lanes * instructions reaches {self._hot:,}, got {self._work[single]:,} so far"
        return f"lanes: {why}"

    def _width(self, count: float, single: bool) -> int:
        """Return the number of lanes per block."""
        if self.lanes is not None:
            return self.lanes
        return lane_count(count, self.schedule.slots * (4 if single else 8))

    @property
    def _row(self) -> int:
        """Maximum size of a row, in bytes."""
        return max(self._width(math.inf, True) * 4, self._width(math.inf, False) * 8)

    def _shards(self, blocks: int) -> int:
        """Return the number of shards. It affects the rounding of sums, so it depends only on the program and batch."""
        outputs = max(1, len(self.schedule.program.outputs))
        most = max(FEWEST_SHARDS, LARGEST_TOTALS // outputs) if self.reduced else SHARDS
        return max(1, min(SHARDS, most, blocks))


def _add(columns: Columns, array: NDArray[Any], count: int) -> None:
    """Append the columns of an array; raise `ValueError` if it does not fit the batch."""
    if len(array) != count or not columns.add(array, 0, None):
        raise ValueError(
            f"arrays of this batch must be {'float32' if columns.single else 'float64'} with {count} samples along "
            f"axis 0, and outputs must be writable, got {array.dtype} of shape {array.shape}"
        )


def _unpickled(
    program: Program, varies: tuple[bool, ...], reduced: bool, lanes: int | None, policy: Policy
) -> LaneKernel:
    with compiling(policy):
        return LaneKernel(program, varies, reduced=reduced, lanes=lanes)
