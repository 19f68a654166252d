"""What a program has to be, for it to be run: checks that take a millisecond for a hundred thousand instructions."""

from __future__ import annotations

from reprlib import repr as shown
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.program.opcodes import CALL, INSTRUCTIONS, NAMES, ProgramError

if TYPE_CHECKING:
    from gradwalk.program.program import Program

_LARGEST = 2**31 - 1  # places are int32
_ARITIES = numpy.full(max(INSTRUCTIONS) + 1, -1)
_ARITIES[list(INSTRUCTIONS)] = [instruction.arity for instruction in INSTRUCTIONS.values()]
_ARITIES[CALL] = 0


def validate(program: Program) -> None:
    """Raise `ProgramError` where the program is not well formed.

    It is when its instructions are known, and have as many operands as they take; every operand is an input, a
    constant or an earlier instruction; calls fit the functions that they call; and outputs are places that there are.
    """
    _check_parts(program)
    code = program.instructions.reshape(-1, 4)
    _check_opcodes(program, code)
    _check_operands(program, code)
    _check_calls(program, code)
    _check_places(program.outputs, "an output", _count(program))


def _check_parts(program: Program) -> None:
    instructions = program.instructions
    is_array = isinstance(instructions, numpy.ndarray) and instructions.dtype == numpy.int32
    if not is_array or instructions.ndim != 1 or not instructions.flags.c_contiguous or len(instructions) % 4:
        raise ProgramError("the instructions are not a contiguous row of int32, four for each")
    if program.inputs < 0 or _count(program) > _LARGEST:
        raise ProgramError(f"{_count(program)} inputs, constants and instructions: at most {_LARGEST} can be counted")
    for number in program.constants:
        if type(number) is not float:
            raise ProgramError(f"a constant is {shown(number)}, not a float")
    for names, count, what in (
        (program.input_names, program.inputs, "input"),
        (program.output_names, len(program.outputs), "output"),
    ):
        if names and len(names) != count:
            raise ProgramError(f"{len(names)} names are given for {count} {what}s")
        for name in names:
            if type(name) is not str:
                raise ProgramError(f"the name of an {what} is {shown(name)}, not a text")


def _check_opcodes(program: Program, code: Any) -> None:
    opcodes = code[:, 0]
    wrong = (opcodes < 0) | (opcodes >= len(_ARITIES))
    wrong |= _ARITIES[numpy.where(wrong, 0, opcodes)] < 0
    if wrong.any():
        i = int(wrong.argmax())
        raise ProgramError(f"instruction {i} has opcode {opcodes[i]}, which is that of no operation")


def _check_operands(program: Program, code: Any) -> None:
    """Operands are earlier places; fields beyond them are 0, and so never out of range either."""
    opcodes, fields = code[:, :1], code[:, 1:]
    is_operand = numpy.arange(3) < _ARITIES[opcodes]
    limit = numpy.where(is_operand, _first(program) + numpy.arange(len(code))[:, None], 1)
    wrong = ((fields < 0) | (fields >= limit)) & (opcodes != CALL)
    if wrong.any():
        i, position = (int(place) for place in numpy.argwhere(wrong)[0])
        what = f"{_called(program, code, i)} has"
        if is_operand[i, position]:
            raise ProgramError(f"{what} place {fields[i, position]} as operand, which is none before {limit[i, 0]}")
        raise ProgramError(f"{what} {_ARITIES[opcodes[i, 0]]} operands, and {fields[i, position]} where there are none")


def _check_calls(program: Program, code: Any) -> None:
    """Whichever result of a call comes first, all operands stand before it."""
    checked = set()
    for i in numpy.flatnonzero(code[:, 0] == CALL).tolist():
        which, position, unused = code[i, 1:].tolist()
        what = _called(program, code, i)
        if not 0 <= which < len(program.calls):
            raise ProgramError(f"{what} is that of call {which}, and there are {len(program.calls)} calls")
        function, operands = program.calls[which]
        if not 0 <= position < function.outputs or unused:
            raise ProgramError(f"{what} is result {position} of {function.name}(), which has {function.outputs}")
        if which not in checked:
            _check_places(operands, f"an operand of {what}", _first(program) + i)
            checked.add(which)


def _check_places(places: list[int], what: str, limit: int) -> None:
    for place in places:
        if type(place) is not int or not 0 <= place < limit:
            raise ProgramError(f"{what} is {shown(place)}, which is none of the {limit} places there")


def _first(program: Program) -> int:
    first: int = program.inputs + len(program.constants)
    return first


def _count(program: Program) -> int:
    return _first(program) + len(program.instructions) // 4


def _called(program: Program, code: Any, i: int) -> str:
    """What messages call an instruction."""
    return f"instruction {i} (v{_first(program) + i}, {NAMES[int(code[i, 0])]})"
