"""Compilation of schedules to vectorized machine code with LLVM, if llvmlite is installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gradwalk.backend.llvm.lane_program import LaneProgram, lane_program
from gradwalk.backend.llvm.side_by_side import FEWEST_VECTORS
from gradwalk.backend.llvm.vector_ir import HALT, Scalars, lane_ir
from gradwalk.backend.schedule.analysis import analyse
from gradwalk.backend.schedule.prologue import make_prologue
from gradwalk.backend.schedule.schedule import Schedule
from gradwalk.backend.thread_pool import look_for_halt
from gradwalk.program.native.expressions import Type
from gradwalk.program.native.machine_code import (
    MachineCode,
    MissingFunctionError,
    addresses_in,
    assembled,
)
from gradwalk.program.native.vector_library import REGISTERS, VECTOR_FUNCTIONS, Registers, Target, Vectors, row_name
from gradwalk.program.routine.limits import MEMORY
from gradwalk.program.routine.lower_calls import MOST_ON_LANES
from gradwalk.program.routine.lower_program import TooLargeError

# Maximum number of instructions of a schedule that is searched for loops.
MOST_FLAT = 20_000


class Compiled(NamedTuple):
    """Machine code for a schedule.

    Attributes:
        program: The program that the code runs.
        machine_code: The function `int run(scalars, rows, lanes)`: see `vector_ir.lane_ir`.
    """

    program: LaneProgram
    machine_code: MachineCode


class Lanes(NamedTuple):
    """Settings of the lane interpreter. Machine code must give the same results as the interpreter, bit for bit.

    Attributes:
        instruction_set: Name of the instruction set that may be used.
        uses_libmvec: Whether functions such as `exp` come from libmvec.
        row_functions: Addresses of the lane kernel's own math functions: see `launch.row_functions`.
        lanes: Number of lanes in a block.
    """

    instruction_set: str
    uses_libmvec: bool
    row_functions: Mapping[str, int]
    lanes: int


class RefusedError(Exception):
    """Machine code cannot be compiled for a schedule; the message gives the reason."""


def compiled_program(
    program: LaneProgram, behind: int, lanes: Lanes, *, single: bool, contract: bool, memory: int = MEMORY
) -> Compiled:
    """Compile a program for lanes; see `Scalars` for `behind` and `Lowering` for `memory`.

    Raises:
        RefusedError: As `compiled_schedule`.
        CompileError: Compilation failed.
    """
    target = _target(lanes, single=single, contract=contract, memory=memory)
    try:
        source = lane_ir(program.code, Scalars(program.scalars, behind), target)
        return Compiled(program, _assembled(source, target, lanes))
    except TooLargeError as error:
        raise RefusedError(f"it has more than {MOST_ON_LANES:,} instructions, counting each loop once") from error
    except MissingFunctionError as error:
        raise RefusedError(f"the C library lacks a function: {error}") from error


def compiled_schedule(schedule: Schedule, lanes: Lanes, *, single: bool, contract: bool = False) -> Compiled:
    """Compile the instructions that a schedule runs on each block of lanes.

    Args:
        schedule: The schedule.
        lanes: Settings of the lane interpreter.
        single: Whether to compute in float32.
        contract: Whether a product and a sum may be fused, so that they round only once.

    Raises:
        RefusedError: The schedule is too long, or it needs something that the processor or the C library lacks.
        CompileError: Compilation failed.
    """
    if lanes.lanes % _lanes_of(REGISTERS[lanes.instruction_set], single=single):
        raise RefusedError(
            f"the lanes of a block must fill whole vectors of {lanes.instruction_set}, got {lanes.lanes} lanes"
        )
    if len(schedule) > MOST_FLAT:
        raise RefusedError(
            f"the number of instructions must be at most {MOST_FLAT:,} to search for loops, got {len(schedule):,}"
        )
    analysis = analyse(schedule.program, schedule.varies, schedule.reduced, schedule.apart)
    program = lane_program(analysis, make_prologue(analysis), has_sums=not single)
    return compiled_program(program, len(schedule.prologue.outputs), lanes, single=single, contract=contract)


def _lanes_of(registers: Registers, *, single: bool) -> int:
    """Return the number of lanes that are computed side by side, in float32 or float64."""
    return registers.doubles * (2 if single else 1) * FEWEST_VECTORS


def _target(lanes: Lanes, *, single: bool, contract: bool, memory: int) -> Target:
    """Return the target of code for lanes. Raises RefusedError if there is none."""
    if lanes.instruction_set == "baseline" and lanes.uses_libmvec:  # the C loops then call scalar functions, too
        raise RefusedError("the processor has no AVX2, or AVX2 is disabled")
    registers = REGISTERS[lanes.instruction_set]
    kind = Type("float" if single else "double", _lanes_of(registers, single=single))
    functions = VECTOR_FUNCTIONS if lanes.uses_libmvec else frozenset()
    vectors = Vectors(kind.lanes // FEWEST_VECTORS, registers.letter, functions, frozenset(lanes.row_functions))
    return Target(kind, vectors, contract, memory)


def _assembled(source: str, target: Target, lanes: Lanes) -> MachineCode:
    rows = {row_name(name, target.type, target.vectors): address for name, address in lanes.row_functions.items()}
    return assembled(source, _addresses(source, rows), REGISTERS[lanes.instruction_set].features)


def _addresses(source: str, rows: Mapping[str, int]) -> dict[str, int]:
    """Return a dict from the functions that a module declares to their addresses (C library, libmvec or `rows`)."""
    found = addresses_in(source)
    if f"@{HALT} " in source:
        found[HALT] = id(look_for_halt)
    return found | {name: rows[name] for name in rows if f"@{name}(" in source}
