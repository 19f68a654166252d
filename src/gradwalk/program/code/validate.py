"""Check that a program is well formed. The check takes about 1 ms for 100,000 instructions."""

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
    """Raise a `ProgramError` if a program is not well formed. The error message names the wrong instruction.

    In a well-formed program every instruction has a known opcode and the right number of operands; every operand is an
    input, a constant or the result of an earlier instruction; calls match the number of operands and results of their
    functions; tables exist and are not empty; and every output is a valid index.
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
        raise ProgramError("the instructions must be a contiguous 1-d int32 array with four numbers per instruction")
    if code.inputs < 0 or code.count > _LARGEST:
        raise ProgramError(
            f"a program must have at most {_LARGEST} inputs, constants and instructions, got {code.count}"
        )


def _check_constants_and_names(code: Code) -> None:
    for number in code.constants:
        if type(number) is not float:
            raise ProgramError(f"a constant must be a float, got {shown(number)}")
    for names, count, what in (
        (code.input_names, code.inputs, "input"),
        (code.output_names, len(code.outputs), "output"),
    ):
        if names and len(names) != count:
            raise ProgramError(f"the number of {what} names must be {count}, got {len(names)}")
        for name in names:
            if type(name) is not str:
                raise ProgramError(f"the name of an {what} must be a str, got {shown(name)}")


def _check_opcodes(rows: Any) -> None:
    opcodes = rows[:, 0]
    wrong = (opcodes < 0) | (opcodes >= len(_ARITIES))
    wrong |= _ARITIES[numpy.where(wrong, 0, opcodes)] < 0
    if wrong.any():
        i = int(wrong.argmax())
        raise ProgramError(f"instruction {i} has an unknown opcode, {opcodes[i]}")


def _check_operands(code: Code, rows: Any) -> None:
    """Check that each operand has a lower index than the result of its instruction.

    Unused operand fields must be 0, so that they are valid indices, too.
    """
    opcodes, fields = rows[:, :1], rows[:, 1:]
    is_operand = numpy.arange(3) < _ARITIES[opcodes]
    limit = numpy.where(is_operand, code.first + numpy.arange(len(rows))[:, None], 1)
    wrong = ((fields < 0) | (fields >= limit)) & (opcodes != CALL) & (opcodes != TAKE)
    if wrong.any():
        i, position = (int(index) for index in numpy.argwhere(wrong)[0])
        what = f"{_described(code, rows, i)} has"
        if is_operand[i, position]:
            raise ProgramError(f"{what} index {fields[i, position]} as operand; it must be below {limit[i, 0]}")
        raise ProgramError(
            f"{what} {_ARITIES[opcodes[i, 0]]} operands; other fields must be 0, got {fields[i, position]}"
        )


def _check_calls(code: Code, rows: Any) -> None:
    """Check that all operands of a call precede the first instruction that returns one of its results."""
    checked = set()
    for i in numpy.flatnonzero(rows[:, 0] == CALL).tolist():
        which, position, unused = rows[i, 1:].tolist()
        what = _described(code, rows, i)
        if not 0 <= which < len(code.calls):
            raise ProgramError(f"{what} refers to call {which}, but there are {len(code.calls)} calls")
        function, operands = code.calls[which]
        if not 0 <= position < function.outputs or unused:
            raise ProgramError(
                f"{what} is result {position} of {function.name}(), which has {function.outputs} results"
            )
        if function.inputs not in (None, len(operands)):
            raise ProgramError(
                f"{what} calls {function.name}() with {len(operands)} operands, expected {function.inputs}"
            )
        if which not in checked:
            _check_indices(operands, f"an operand of {what}", code.first + i)
            checked.add(which)


def _check_tables(code: Code, rows: Any) -> None:
    """Check that all entries of a table precede every `take` that uses it."""
    for table in code.tables:
        _check_indices(table, "an operand of a table", code.count)
        if not table:
            raise ProgramError("a table must have at least one operand")
    last = [max(table) for table in code.tables]
    for i in numpy.flatnonzero(rows[:, 0] == TAKE).tolist():
        index, which, unused = rows[i, 1:].tolist()
        what = _described(code, rows, i)
        _check_indices([index], f"the index of {what}", code.first + i)
        if not 0 <= which < len(code.tables) or unused:
            raise ProgramError(f"{what} uses table {which}, but there are {len(code.tables)} tables")
        _check_indices([last[which]], f"an operand of {what}", code.first + i)


def _check_indices(indices: Sequence[int], what: str, limit: int) -> None:
    for index in indices:
        if type(index) is not int or not 0 <= index < limit:
            raise ProgramError(f"{what} is {shown(index)}, out of range for {limit} indices")


def _described(code: Code, rows: Any, i: int) -> str:
    """Return the name of an instruction for error messages."""
    return f"instruction {i} (v{code.first + i}, {NAMES[int(rows[i, 0])]})"
