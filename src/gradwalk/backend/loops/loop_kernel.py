"""`LoopKernel`: runs a program with loops and switches on a batch; lane kernels run the instructions between them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.backend import thread_pool
from gradwalk.backend.base import Kernel, MachineCodeError, PythonCallError
from gradwalk.backend.lane_kernel import LaneKernel
from gradwalk.backend.llvm.lane_program import LaneProgram
from gradwalk.backend.loops.loop_lanes import (
    CHECKPOINT_BYTES,
    LoopLanes,
    LoopVjpLanes,
    Part,
    SwitchLanes,
    likely_steps,
)
from gradwalk.backend.loops.loop_machine import LoopMachine, scheduled
from gradwalk.backend.loops.stages import CallStage, Segment, split
from gradwalk.backend.schedule.schedule import Schedule
from gradwalk.program.calls.call import append_call
from gradwalk.program.calls.loop import Loop, LoopVjp
from gradwalk.program.calls.program_derivatives import MOST_UNROLLED
from gradwalk.program.calls.switch import Switch
from gradwalk.program.code.checkpoint_plan import slots_for
from gradwalk.program.code.parts import split as split_code
from gradwalk.program.native.policy import Policy, compiling, current_policy, prefix_keys
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape

# Calls of at most this many instructions are inlined, because lane kernels are fastest with flat programs.
MOST_FLAT = 20_000
# The same for calls in the steps of loops and in branches. Machine code has a maximum number of instructions.
_MOST_FLAT_INSIDE = 256
# A loop with a condition and a larger maximum number of steps is not inlined, because it may end after a few steps.
_MOST_STEPS = 16
# Maximum number of samples that run through all steps together. It is large enough to outweigh the cost of starting a
# step, and small enough for the cache.
_SAMPLES = 8192
_FEWEST_SAMPLES = 256

_KINDS: dict[type[Any], Any] = {Loop: LoopLanes, LoopVjp: LoopVjpLanes, Switch: SwitchLanes}


def make_kernel(program: Program, varies: Sequence[bool], *, reduced: bool = False, is_part: bool = False) -> Kernel:
    """Make a `LoopKernel` if loops or switches remain after inlining, otherwise a `LaneKernel`: see `base.Backend`."""
    program = written_out(program, most=0) if is_part else _Batched().program(written_out(program))
    if any(isinstance(call, tuple(_KINDS)) for call, _ in program.calls):
        return LoopKernel(program, varies, reduced=reduced, is_part=is_part)
    return LaneKernel(program, varies, reduced=reduced)


_make_part = partial(make_kernel, is_part=True)


def written_out(program: Program, *, keeps_rules: bool = False, most: int | None = None) -> Program:
    """Inline short loops, short switches and batched calls; a batched call becomes a loop if it has no maximum length.

    If the inlined instructions are too many, all batched calls become loops.

    Args:
        program: The program.
        keeps_rules: Whether to keep calls with derivatives that the user defined.
        most: The maximum number of instructions of a short loop or switch; None for `MOST_FLAT`.
    """
    longest = MOST_FLAT if most is None else most
    calls = [call for call, _ in program.calls if _is_written_out(call, longest, keeps_rules=keeps_rules)]
    fits = sum(call.weight for call in calls if call.weight < math.inf) <= MOST_UNROLLED
    replaced = {id(call): call.flat() if fits and call.weight < math.inf else call.portable for call in calls}
    if all(other is None for other in replaced.values()):
        return program
    # The inlined programs may contain batched calls.
    return written_out(_replaced(program, replaced), keeps_rules=keeps_rules, most=most)


def _replaced(program: Program, others: Mapping[int, Program | None]) -> Program:
    """Replace calls by programs; `others` has the program for the id of a call."""
    tape = Tape()
    inputs = [tape.input() for _ in range(program.inputs)]
    outputs = tape.inline(program, inputs, lambda call: others.get(id(call)))
    return tape.program(outputs).named(list(program.input_names), list(program.output_names))


def _is_written_out(call: Any, longest: int, *, keeps_rules: bool) -> bool:
    """Return whether to inline a call: a short loop, a short switch, or a batched call, which no kernel can run."""
    if type(call) not in _KINDS:
        return not (keeps_rules and call.has_rules)
    return bool(call.weight <= longest) and (bool(call.refusal) or not _may_end_early(call))


def _may_end_early(call: Any) -> bool:
    """Return whether a call, or a call inside it, has a loop whose condition may hold for few of many steps."""
    waiting = [call]
    while waiting:
        call = waiting.pop()
        loop = call.loop if isinstance(call, LoopVjp) else call
        if isinstance(loop, Loop) and loop.condition is not None and (loop.steps is None or loop.steps > _MOST_STEPS):
            return True
        waiting += [inner for part in call.parts for inner, _ in part.calls]
    return False


class _Batched:
    """Rewrites the loops and switches of a program for a kernel.

    Lanes and machine code run the rewritten program, so that they add cotangents in the same order, and compute the
    same numbers once for all samples. Short loops inside the loops and switches are inlined. A loop that takes too many
    steps gives nan.
    """

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}  # id of a call -> the call and its replacement

    def program(self, program: Program) -> Program:
        """Rewrite the calls of a program."""
        made = {id(call): self._call(call) for call, _ in program.calls}
        others = {id(call): _calling(made[id(call)]) for call, _ in program.calls if made[id(call)] is not call}
        return _replaced(program, others) if others else program

    def _call(self, call: Any) -> Any:
        if type(call) not in _KINDS:
            return call
        if id(call) not in self._made:
            self._made[id(call)] = call, self._rewritten(call)
        return self._made[id(call)][1]

    def _rewritten(self, call: Any) -> Any:
        if isinstance(call, LoopVjp):
            loop = self._call(call.loop)
            return call if loop is call.loop else loop.back(call.wanted)
        most = min(MOST_FLAT, _MOST_FLAT_INSIDE)
        parts = [self.program(written_out(part, most=most)) for part in call.parts]
        if parts == list(call.parts) and not getattr(call, "may_fail", False):
            return call
        if isinstance(call, Switch):
            return Switch(parts)
        condition = None if call.condition is None else parts[1]
        return Loop(parts[0], call.sizes, call.first, call.steps, condition, call.memory, in_batch=True)


def _calling(call: Any) -> Program:
    """Return a program that makes a call."""
    tape = Tape()
    return tape.program(append_call(call, tape, [tape.input() for _ in range(call.inputs)]))


class LoopKernel:
    """A kernel for a program with loops and switches: see `base.Kernel`.

    Args:
        program: The program to run for each sample.
        varies: Whether each input has one number per sample, instead of one number for the whole batch.
        reduced: Whether the outputs are summed over the batch.
        is_part: Whether the program is a part of a program that is compiled as a whole.

    Raises:
        PythonCallError: The program calls a Python function with an argument that depends on the batch.
    """

    def __init__(
        self, program: Program, varies: Sequence[bool], *, reduced: bool = False, is_part: bool = False
    ) -> None:
        self._program, self._given, self._reduced = program, tuple(varies), reduced
        self._policy = current_policy()
        self._stages = split(program, varies)
        of_index = self._stages.varies
        self._parts = [self._part(stage) for stage in self._stages.varying]
        self._outputs = [index for index in program.outputs if of_index[index]]
        self.fixed = [i for i, index in enumerate(program.outputs) if not of_index[index]]
        self._varying = [i for i, index in enumerate(program.outputs) if of_index[index]]
        self.samples = min((_samples(stage) for stage in self._stages.varying), default=_SAMPLES)
        identity = Tape()
        self._sums = LaneKernel(
            identity.program([identity.input() for _ in self._outputs]), [True] * len(self._outputs), reduced=True
        )
        self._machine: LoopMachine | None = None
        if not is_part:
            weight = len(program) + sum(call.weight for call, _ in program.calls)
            self._machine = LoopMachine(
                program, varies, reduced=reduced, slots=self._sums.schedule.slots, weight=weight, policy=self._policy
            )

    def __str__(self) -> str:
        lines = [f"for {self.samples} samples at a time:"]
        for part in self._parts:
            lines += [f"  {line}" for line in str(part).splitlines()]
        return "\n".join(lines)

    def __reduce__(self) -> Any:
        return _unpickled, (self._program, self._given, self._reduced, self._policy)

    def scheduled(self) -> tuple[Schedule, LaneProgram]:
        """Return the schedule of the program for a compiler, and the program that is compiled."""
        _, varying = split_code(self._program.code, self._given)
        return scheduled(self._program, self._given, varying, self._reduced, self._sums.schedule.slots)

    def lane_kernel(self, *, single: bool) -> LaneKernel | None:
        """Return the kernel that runs machine code instead of this kernel, or None if there is none yet."""
        return None if self._machine is None else self._machine.found(single=single)

    def _compiled(self, *, single: bool) -> LaneKernel | None:
        """Return the same as `lane_kernel`, and request machine code: see `LoopMachine.kernel`."""
        return None if self._machine is None else self._machine.kernel(single=single)

    @property
    def backends(self) -> dict[str, str]:
        """The backend of each dtype used so far, and the backends of all parts if these run: see `base.Kernel`."""
        used = self._machine.backends if self._machine is not None else {}
        if used and all(backend == "llvm" for backend in used.values()):
            return used
        named = [(f"part {i}", part) for i, part in enumerate(self._parts)]
        parts = {name: text for part, found in named for name, text in prefix_keys(part, found.backends).items()}
        return used | parts

    @property
    def uniform_inputs(self) -> int:
        """Number of inputs that are the same for all samples."""
        return len(self._given) - sum(self._given)

    @property
    def memory(self) -> int:
        """Scratch memory in bytes, for the values of the samples that run together and the checkpoints of loops."""
        kept = [part.memory(self.samples) for part in self._parts if isinstance(part, LoopVjpLanes)]
        return 8 * self.samples * self._program.code.count + sum(kept)

    def run(
        self,
        uniform: NDArray[Any],
        columns: Sequence[NDArray[Any]],
        outputs: Sequence[NDArray[Any]],
        count: int,
        *,
        single: bool,
    ) -> NDArray[Any]:
        """Run the program on a batch: see `base.Kernel`."""
        compiled = self._compiled(single=single)
        if compiled is not None:
            with contextlib.suppress(MachineCodeError):
                return compiled.run(uniform, columns, outputs, count, single=single)
        kind = numpy.float32 if single else numpy.float64
        given = [array[:, *at] for array in columns for at in numpy.ndindex(array.shape[1:])]
        same = self._uniform(uniform)
        if self._reduced:
            found = numpy.empty((len(self._outputs), count), kind)
            written = list(found)
        else:
            places = [array[:, *at] for array in outputs for at in numpy.ndindex(array.shape[1:])]
            written = [places[i] for i in self._varying]
        samples = min(self.samples, max(_FEWEST_SAMPLES, -(-count // thread_pool.available())))

        def work(tasks: Iterator[int]) -> None:
            for first in tasks:
                last = min(count, first + samples)
                results = self._results(same, [column[first:last] for column in given], last - first, kind)
                for place, result in zip(written, results, strict=True):
                    place[first:last] = result

        thread_pool.run_tasks(range(0, count, samples), work)
        fixed = numpy.array([same[self._program.outputs[i]] for i in self.fixed])
        if not self._reduced:
            return fixed
        sums = numpy.empty(len(self._program.outputs))
        sums[self.fixed] = fixed * count if count else 0.0
        sums[self._varying] = self._sums.run(numpy.empty(0), [found.T], [], count, single=single)
        return sums

    def _part(self, stage: Segment | CallStage) -> Any:
        """Make the object that runs a stage."""
        of_index = self._stages.varies
        if isinstance(stage, Segment):
            return Part(_make_part, stage.program, [of_index[index] for index in stage.inputs])
        if type(stage.call) not in _KINDS:
            raise PythonCallError(f"cannot run {stage.call.name} on a batch: it is a Python function")
        return _KINDS[type(stage.call)](_make_part, stage.call, [of_index[index] for index in stage.operands])

    def _uniform(self, uniform: NDArray[Any]) -> dict[int, float]:
        """Return a dict from indices to the values that are the same for all samples."""
        code, stage = self._program.code, self._stages.uniform
        numbers = dict(zip(stage.inputs, uniform.tolist(), strict=True))
        numbers |= dict(enumerate(code.constants, code.inputs))
        return numbers | dict(zip(stage.outputs, stage.program.run(uniform).tolist(), strict=True))

    def _results(
        self, same: dict[int, float], columns: Sequence[NDArray[Any]], samples: int, kind: type[Any]
    ) -> list[NDArray[Any]]:
        """Compute the varying outputs for a range of samples."""
        varying = [i for i, does in enumerate(self._given) if does]
        numbers: dict[int, Any] = {**same, **dict(zip(varying, columns, strict=True))}
        for stage, part in zip(self._stages.varying, self._parts, strict=True):
            if isinstance(stage, CallStage):
                results = part.run([numbers[index] for index in stage.operands], samples, kind)
                numbers |= {index: results[position] for index, position in stage.results.items()}
            else:
                taken = [(index, self._stages.varies[index]) for index in stage.inputs]
                uniform = [numbers[index] for index, does in taken if not does]
                rows = [numbers[index][None] for index, does in taken if does]
                numbers |= dict(zip(stage.outputs, part(uniform, rows, samples, kind), strict=True))
        return [numbers[index] for index in self._outputs]


def _samples(stage: Segment | CallStage) -> int:
    """Return the number of samples that run through a stage together.

    In a reverse pass, the checkpoints of these samples must fit in `CHECKPOINT_BYTES`. If the loop has checkpoint=None,
    the number of samples is chosen so that the checkpoints of checkpoint="sqrt" would fit. No step then runs more than
    twice.
    """
    if isinstance(stage, Segment) or not isinstance(stage.call, LoopVjp):
        return _SAMPLES
    loop = stage.call.loop
    kept = slots_for("sqrt" if loop.memory is None else loop.memory, likely_steps(loop))
    fits = CHECKPOINT_BYTES // (8 * max(1, loop.sizes.carry) * kept)
    return min(_SAMPLES, max(_FEWEST_SAMPLES, fits))


def _unpickled(program: Program, varies: tuple[bool, ...], reduced: bool, policy: Policy) -> LoopKernel:
    with compiling(policy):
        return LoopKernel(program, varies, reduced=reduced)
