"""`LoopMachine`: machine code that runs a program with loops on a batch, as a lane kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy

from gradwalk.backend.lane_count import FEWEST_LANES
from gradwalk.backend.lane_kernel import LaneKernel, chosen_instruction_set
from gradwalk.backend.launch import INSTRUCTION_SETS, IS_COMPILED, USES_LIBMVEC, USES_OWN_FUNCTIONS, row_functions
from gradwalk.backend.llvm.lane_machine import Lanes, RefusedError, compiled_program
from gradwalk.backend.llvm.lane_program import LaneProgram
from gradwalk.backend.schedule.encoding import FORMS, WIDTH
from gradwalk.backend.schedule.schedule import Schedule
from gradwalk.program.code.opcodes import LOAD, MACHINE, STORE, SUM
from gradwalk.program.code.parts import Part, part, split
from gradwalk.program.native import compile_queue, machine_code
from gradwalk.program.native.policy import Policy, compiling
from gradwalk.program.program import Program, trusted
from gradwalk.program.routine.limits import why_not_lowerable

_COLD = 2  # number of the run in which machine code is requested


class LoopMachine:
    """Machine code of a program for float64 and for float32, which is compiled while other code runs the program.

    Args:
        program: The program.
        varies: Whether each input has one number per sample.
        reduced: Whether the results are summed over the batch.
        slots: The number of slots that determines the lanes per block. It affects the rounding of sums.
        weight: The approximate number of instructions that run for each sample.
        policy: When and how to compile.
    """

    def __init__(
        self,
        program: Program,
        varies: Sequence[bool],
        *,
        reduced: bool,
        slots: int,
        weight: float,
        policy: Policy,
    ) -> None:
        _, varying = split(program.code, varies)
        self._program, self._varies, self._reduced, self._policy = program, tuple(map(bool, varies)), reduced, policy
        self._slots, self._weight, self._part = slots, int(min(weight, 1 << 30)), varying
        self._runs = [0, 0]
        self._found: list[LaneKernel | None] = [None, None]
        self._refusals = ["", ""]

    def found(self, *, single: bool) -> LaneKernel | None:
        """Return the kernel that runs machine code, or None if there is none yet."""
        return self._found[single]

    def kernel(self, *, single: bool) -> LaneKernel | None:
        """Return the kernel that runs machine code, or None.

        Machine code is requested before the first run if the policy is "llvm", else when the program has run before.
        """
        if self._found[single] is None and not self._refusal(single=single):
            self._request(single=single)
        return self._found[single]

    def _request(self, *, single: bool) -> None:
        self._runs[single] += 1
        if self._policy.backend == "llvm" and self._runs[single] == 1:
            machine_code.run_now(partial(self._compile, single))
        elif self._policy.backend is None and self._runs[single] == _COLD:
            compile_queue.submit(partial(self._compile, single))

    def _refusal(self, *, single: bool) -> str:
        """Return the reason why the program is not compiled, or ""."""
        if not IS_COMPILED:
            return "gradwalk runs uncompiled"
        return self._policy.refusal or self._refusals[single] or why_not_lowerable(self._part.code)

    @property
    def backends(self) -> dict[str, str]:
        """The backend of each dtype used so far: "llvm", or "lanes: " and the reason why machine code is not used."""
        used = [single for single in (False, True) if self._runs[single]] or [False]
        return {"float32" if single else "float64": self._backend(single=single) for single in used}

    def _backend(self, *, single: bool) -> str:
        if self._found[single] is not None:
            return "llvm"
        why = self._refusal(single=single)
        if not why:
            is_due = self._runs[single] >= _COLD
            why = "the compilation has not finished" if is_due else "the program has not run twice"
        return f"lanes: {why}"

    def _compile(self, single: bool) -> None:
        """Compile the program, or store why it cannot be compiled."""
        instruction_set = chosen_instruction_set()
        at = INSTRUCTION_SETS.index(instruction_set)
        functions = row_functions(at, single) if USES_OWN_FUNCTIONS else {}
        lanes = Lanes(instruction_set, USES_LIBMVEC, functions, FEWEST_LANES)
        refusal = "compiling it failed"
        try:
            schedule, program = scheduled(self._program, self._varies, self._part, self._reduced, self._slots)
            behind = len(schedule.prologue.outputs)
            _, contract, memory = self._policy
            found = compiled_program(program, behind, lanes, single=single, contract=contract, memory=memory)
            with compiling(self._policy):
                kernel = LaneKernel(
                    self._program, self._varies, reduced=self._reduced, schedule=schedule, weight=self._weight
                )
            kernel.install(found, single=single)
            self._found[single] = kernel
            refusal = ""
        except RefusedError as error:
            refusal = str(error)
        finally:
            self._refusals[single] = refusal


def scheduled(
    program: Program, varies: tuple[bool, ...], varying: Part, reduced: bool, slots: int
) -> tuple[Schedule, LaneProgram]:
    """Return the schedule of a program that only machine code runs, and the program that is compiled."""
    code = program.code
    of_index = code.depending(varies)
    same = [i for i, does in enumerate(of_index[code.first :]) if not does]
    scalars = [index for index in varying.inputs if not of_index[index]]
    fixed = [position for position, index in enumerate(code.outputs) if not of_index[index]]
    given = [i for i, does in enumerate(varies) if not does]
    prologue = trusted(part(code, same, given, [*scalars, *(code.outputs[position] for position in fixed)]).code)
    outputs = [position for position, index in enumerate(code.outputs) if of_index[index]]
    used = varying.inputs[len(scalars) :]
    direct = {code.outputs[position] for position in outputs if code.outputs[position] < code.inputs}
    in_slots = [*used, *varying.outputs, *sorted(direct.difference(used))]
    slot = {index: i for i, index in enumerate(in_slots)}
    column = {index: i for i, index in enumerate(i for i, does in enumerate(varies) if does)}
    rows = [
        *((FORMS * LOAD, slot[index], column[index], 0, 0) for index in in_slots if index in column),
        (FORMS * MACHINE, 0, 0, 0, 0),
        *((FORMS * (SUM if reduced else STORE), position, slot[code.outputs[position]], 0, 0) for position in outputs),
    ]
    encoded = numpy.array(rows, numpy.int32).reshape(-1, WIDTH).ravel()
    nothing = numpy.empty(0, numpy.int32)
    schedule = Schedule(
        program, varies, reduced, prologue, len(scalars), tuple(fixed), encoded, nothing, nothing, slots, False
    )
    return schedule, LaneProgram(varying.code, len(scalars), encoded, len(slot))
