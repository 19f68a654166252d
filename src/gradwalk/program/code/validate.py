"""Checks that a program is well formed, in a millisecond for a hundred thousand instructions."""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import repr as shown
from typing import Any

import numpy

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, INSTRUCTIONS, NAMES, TAKE, ProgramError

_LARGEST = 2**31 - 1  # indices are int32
_ARITIES = numpy.full(max(NAMES) + 1, -1)
_ARITIES[list(INSTRUCTIONS)] = [instruction.arity for instruction in INSTRUCTIONS.values()]
_ARITIES[[CALL, TAKE]] = 0


def validate(code: Code) -> None:
    """Check that a program is well formed.

    It is if its instructions are known and have as many operands as they take; every operand is an input, a constant or
    the result of an earlier instruction; calls fit the functions that they call, and tables are there and not empty;
    and every output is one of these, too.

    Args:
        code: The parts of the program.

    Raises:
        ProgramError: If it is not, naming the instruction.
    """
    _check_instructions(code)
    _check_constants_and_names(code)
    rows = code.instructions.reshape(-1, 4)
    _check_opcodes(rows)
    _check_operands(code, rows)
    _check_calls(code, rows)
    _check_tables(code, rows)
    _check_indices(code.outputs, "an output", code.count)


def _check_instructions(code: Code) -> None:
    instructions = code.instructions
    is_array = isinstance(instructions, numpy.ndarray) and instructions.dtype == numpy.int32
    if not is_array or instructions.ndim != 1 or not instructions.flags.c_contiguous or len(instructions) % 4:
        raise ProgramError("the instructions are not a contiguous row of int32, four for each")
    if code.inputs < 0 or code.count > _LARGEST:
        raise ProgramError(f"{code.count} inputs, constants and instructions: at most {_LARGEST} can be counted")


def _check_constants_and_names(code: Code) -> None:
    for number in code.constants:
        if type(number) is not float:
            raise ProgramError(f"a constant is {shown(number)}, not a float")
    for names, count, what in (
        (code.input_names, code.inputs, "input"),
        (code.output_names, len(code.outputs), "output"),
    ):
        if names and len(names) != count:
            raise ProgramError(f"{len(names)} names are given for {count} {what}s")
        for name in names:
            if type(name) is not str:
                raise ProgramError(f"the name of an {what} is {shown(name)}, not a text")


def _check_opcodes(rows: Any) -> None:
    opcodes = rows[:, 0]
    wrong = (opcodes < 0) | (opcodes >= len(_ARITIES))
    wrong |= _ARITIES[numpy.where(wrong, 0, opcodes)] < 0
    if wrong.any():
        i = int(wrong.argmax())
        raise ProgramError(f"instruction {i} has opcode {opcodes[i]}, which is that of no operation")


def _check_operands(code: Code, rows: Any) -> None:
    """Check that operands have lower indices. Fields beyond them are 0, so that these can be read as indices, too."""
    opcodes, fields = rows[:, :1], rows[:, 1:]
    is_operand = numpy.arange(3) < _ARITIES[opcodes]
    limit = numpy.where(is_operand, code.first + numpy.arange(len(rows))[:, None], 1)
    wrong = ((fields < 0) | (fields >= limit)) & (opcodes != CALL) & (opcodes != TAKE)
    if wrong.any():
        i, position = (int(index) for index in numpy.argwhere(wrong)[0])
        what = f"{_described(code, rows, i)} has"
        if is_operand[i, position]:
            raise ProgramError(f"{what} index {fields[i, position]} as operand, which is none before {limit[i, 0]}")
        raise ProgramError(f"{what} {_ARITIES[opcodes[i, 0]]} operands, and {fields[i, position]} where there are none")


def _check_calls(code: Code, rows: Any) -> None:
    """Check that all operands of a call come before the first of its results, whichever that is."""
    checked = set()
    for i in numpy.flatnonzero(rows[:, 0] == CALL).tolist():
        which, position, unused = rows[i, 1:].tolist()
        what = _described(code, rows, i)
        if not 0 <= which < len(code.calls):
            raise ProgramError(f"{what} is that of call {which}, and there are {len(code.calls)} calls")
        function, operands = code.calls[which]
        if not 0 <= position < function.outputs or unused:
            raise ProgramError(f"{what} is result {position} of {function.name}(), which has {function.outputs}")
        if function.inputs not in (None, len(operands)):
            raise ProgramError(f"{what} calls {function.name}() with {len(operands)} operands, not {function.inputs}")
        if which not in checked:
            _check_indices(operands, f"an operand of {what}", code.first + i)
            checked.add(which)


def _check_tables(code: Code, rows: Any) -> None:
    """Check that all operands of a table come before whatever takes from it."""
    for table in code.tables:
        _check_indices(table, "an operand of a table", code.count)
        if not table:
            raise ProgramError("a table is empty: it has at least one operand")
    last = [max(table) for table in code.tables]
    for i in numpy.flatnonzero(rows[:, 0] == TAKE).tolist():
        index, which, unused = rows[i, 1:].tolist()
        what = _described(code, rows, i)
        _check_indices([index], f"the index of {what}", code.first + i)
        if not 0 <= which < len(code.tables) or unused:
            raise ProgramError(f"{what} takes from table {which}, and there are {len(code.tables)} tables")
        _check_indices([last[which]], f"an operand of {what}", code.first + i)


def _check_indices(indices: Sequence[int], what: str, limit: int) -> None:
    for index in indices:
        if type(index) is not int or not 0 <= index < limit:
            raise ProgramError(f"{what} is {shown(index)}, which is none of the {limit} indices there")


def _described(code: Code, rows: Any, i: int) -> str:
    """Return what messages call an instruction."""
    return f"instruction {i} (v{code.first + i}, {NAMES[int(rows[i, 0])]})"
