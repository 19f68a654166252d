"""Machine code that runs programs for lanes: by LLVM, where llvmlite is installed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradwalk.backend.llvm.lane_program import LaneProgram, lane_program
from gradwalk.backend.llvm.vector_ir import Target, Vectors, lane_ir, row_name
from gradwalk.backend.schedule.analysis import analyse
from gradwalk.backend.schedule.prologue import make_prologue
from gradwalk.backend.schedule.schedule import Schedule
from gradwalk.program.code.code import Code
from gradwalk.program.native.expressions import PREFIX, Type
from gradwalk.program.native.machine_code import C_LIBRARY, MachineCode, MissingFunctionError, address_in, assembled
from gradwalk.program.reroll.find_loops import fold
from gradwalk.program.reroll.repeats import Repeat, written

# Instructions of a program that loops are looked for in, and of what is compiled, where loops are written once.
MOST_FLAT = 20_000
_MOST_WRITTEN = 2000
# Vectors that are run side by side.
_VECTORS = 2
# Functions of which libmvec has some for vectors: those of the list in lanes.h.
_ONE_OPERAND = (
    *(
        "exp",
        "expm1",
        "exp2",
        "log",
        "log2",
        "log10",
        "log1p",
        "cbrt",
        "erf",
        "erfc",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
    ),
    *("atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
_VECTOR_FUNCTIONS = frozenset([*_ONE_OPERAND, "pow", "atan2", "hypot"])


class _Registers(NamedTuple):
    """The vectors of an instruction set.

    Attributes:
        doubles: How many numbers of double precision a vector has.
        letter: What the vector ABI of x86-64 calls the instruction set.
        features: Those of the processor that are used, as LLVM writes them.
    """

    doubles: int
    letter: str
    features: str

    def lanes(self, single: bool) -> int:
        """How many lanes are run side by side, in float32 or in float64."""
        return self.doubles * (2 if single else 1) * _VECTORS


_AVX2 = "+avx2,+fma,+bmi2"
_REGISTERS = {
    "baseline": _Registers(2, "b", ""),
    "avx2": _Registers(4, "d", _AVX2),
    "avx512": _Registers(8, "e", f"{_AVX2},+avx512f,+avx512dq,+avx512bw,+avx512vl,+avx512cd"),
}


class LaneCode(NamedTuple):
    """A function `void run(scalars, rows, memory, lanes)`: see `vector_ir.lane_ir`.

    Attributes:
        machine_code: The function.
        memory: How many bytes of memory it needs.
    """

    machine_code: MachineCode
    memory: int


class Compiled(NamedTuple):
    """Machine code for a schedule.

    Attributes:
        program: What it runs.
        code: The code.
    """

    program: LaneProgram
    code: LaneCode


class Lanes(NamedTuple):
    """How lanes are run without machine code, which has to give the same bits.

    Attributes:
        instruction_set: The name of the instruction set that may be used.
        uses_libmvec: Whether functions such as `exp` are those of libmvec.
        row_functions: Addresses of functions that are not those of the C library: see `launch.row_functions`.
        lanes: How many lanes a block has.
    """

    instruction_set: str
    uses_libmvec: bool
    row_functions: Mapping[str, int]
    lanes: int


class RefusedError(Exception):
    """There is no machine code for a schedule; the message says why."""


def compiled_schedule(schedule: Schedule, lanes: Lanes, *, single: bool, contract: bool = False) -> Compiled:
    """Compile what a schedule does for each block of lanes.

    Args:
        schedule: The schedule.
        lanes: How lanes are run without it.
        single: Whether to compute in float32.
        contract: Whether a product and a sum may be rounded once.

    Returns:
        The machine code.

    Raises:
        RefusedError: There is too much of it, or this processor or system lacks what it needs.
        CompileError: Compiling failed.
    """
    if lanes.instruction_set == "baseline" and lanes.uses_libmvec:  # C calls some of them for single numbers
        raise RefusedError("the processor has no AVX2, or may not use it")
    if lanes.lanes % _REGISTERS[lanes.instruction_set].lanes(single):
        raise RefusedError(f"a block has {lanes.lanes} lanes, too few for the vectors of {lanes.instruction_set}")
    if len(schedule) > MOST_FLAT:
        raise RefusedError(f"{len(schedule):,} instructions are too many to look for loops in: at most {MOST_FLAT:,}")
    analysis = analyse(schedule.program, schedule.varies, schedule.reduced, schedule.apart)
    program = lane_program(analysis, make_prologue(analysis))
    repeats = fold(program.code)
    size = written(len(program.code), repeats) + len(program.code.outputs)
    if size > _MOST_WRITTEN:
        raise RefusedError(f"{size:,} instructions, each loop written once, are too many: at most {_MOST_WRITTEN:,}")
    try:
        return Compiled(program, compiled(program.code, repeats, lanes, single=single, contract=contract))
    except MissingFunctionError as error:
        raise RefusedError(f"the C library lacks a function: {error}") from error


def compiled(code: Code, repeats: Sequence[Repeat], lanes: Lanes, *, single: bool, contract: bool) -> LaneCode:
    """Compile a program for lanes.

    Args:
        code: The parts of the program: see `vector_ir.lane_ir`.
        repeats: The loops that were found in it.
        lanes: How lanes are run without it.
        single: Whether to compute in float32.
        contract: Whether a product and a sum may be rounded once.

    Returns:
        The machine code.

    Raises:
        MissingFunctionError: The C library of this system lacks a function that the program calls.
        CompileError: Compiling failed.
    """
    registers = _REGISTERS[lanes.instruction_set]
    kind = Type("float" if single else "double", registers.lanes(single))
    functions = _VECTOR_FUNCTIONS if lanes.uses_libmvec else frozenset()
    vectors = Vectors(kind.lanes // _VECTORS, registers.letter, functions, frozenset(lanes.row_functions))
    source, cells = lane_ir(code, repeats, Target(kind, vectors, contract))
    rows = {row_name(name, kind, vectors): address for name, address in lanes.row_functions.items()}
    machine_code = assembled(source, _addresses(source, rows), registers.features)
    return LaneCode(machine_code, cells * kind.lanes * (4 if single else 8))


def _addresses(source: str, rows: Mapping[str, int]) -> dict[str, int]:
    """Find the addresses of the functions that a module declares, except LLVM's own. `rows` has those of rows."""
    names = re.findall(r"^declare .*@(\w+)\(", source, re.MULTILINE)
    in_c = [name for name in names if name.startswith(PREFIX)]
    of_vectors = [name for name in names if name.startswith("_ZGV")]
    found = {name: address_in(C_LIBRARY, name.removeprefix(PREFIX)) for name in in_c}
    found |= {name: address_in("libmvec.so.1", name) for name in of_vectors}
    return found | {name: rows[name] for name in names if name in rows}
