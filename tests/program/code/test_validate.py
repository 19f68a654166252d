"""Validation of programs, and its error messages."""

from __future__ import annotations

import dataclasses

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import EVERY, EXTREME, as_recorded, fewer, programs
from work import count_calls

from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.table import BY_NAME
from gradwalk.program.calls.call import Call
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, INSTRUCTIONS
from gradwalk.program.code.validate import validate
from gradwalk.program.program import Program, ProgramError, trusted

SUMPROD = OPCODES["sumprod"]
ADD, SIN = [next(code for code, row in INSTRUCTIONS.items() if row.name == name) for name in ("add", "sin")]


class Pair(Call):
    """A call with two results."""

    name, outputs = "pair", 2

    def numbers(self, operands):
        return numpy.array([sum(operands), 1.0])


def build_code(*rows, inputs=1, constants=(0.5,), calls=(), outputs=(0,), **names) -> Code:
    instructions = numpy.array(rows, numpy.int32).ravel()
    return Code(inputs, list(constants), instructions, list(calls), list(outputs), **names)


@fewer(4)
@given(programs(EXTREME, EVERY, longest=12), programs(EXTREME, EVERY, longest=12))
def test_recorded_programs_are_valid(one, another):
    as_recorded(one, another).validate()


def test_calls_and_names_are_valid():
    calls = [(Pair(), [0, 1]), (Pair(), [3, 2])]
    rows = [(CALL, 0, 1, 0), (CALL, 0, 0, 0), (CALL, 1, 1, 0)]
    validate(build_code(*rows, calls=calls, outputs=[4], input_names=["x"], output_names=["y"]))
    validate(build_code(inputs=0, constants=[], outputs=[]))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (build_code((0, 0, 0, 0)), "instruction 0 has an unknown opcode, 0"),
        (build_code((SIN, 0, 0, 0), (-7, 0, 0, 0)), "instruction 1 has an unknown opcode, -7"),
        (build_code((SUMPROD, 0, 0, 0)), f"opcode, {SUMPROD}"),
        (build_code((2**31 - 1, 0, 0, 0)), f"opcode, {2**31 - 1}"),
        (build_code((SIN, 2, 0, 0)), r"instruction 0 \(v2, sin\) has index 2 as operand; it must be below 2"),
        (build_code((SIN, 0, 0, 0), (ADD, 2, -1, 0)), r"instruction 1 \(v3, add\) has index -1 as operand"),
        (build_code((OPCODES["muladd"], 0, 1, 3)), r"\(v2, muladd\) has index 3 as operand"),
        (build_code((SIN, 0, 1, 0)), r"\(v2, sin\) has 1 operands; other fields must be 0, got 1"),
        (build_code((CALL, 0, 0, 0)), r"instruction 0 \(v2, call\) refers to call 0, but there are 0 calls"),
        (build_code((CALL, -1, 0, 0), calls=[(Pair(), [0])]), "refers to call -1"),
        (build_code((CALL, 0, 2, 0), calls=[(Pair(), [0])]), r"is result 2 of pair\(\), which has 2 results"),
        (build_code((CALL, 0, 0, 0), calls=[(Pair(), [2])]), r"an operand of instruction 0 \(v2, call\) is 2"),
        (build_code((SIN, 0, 0, 0), outputs=[3]), "an output is 3, out of range for 3 indices"),
        (build_code(outputs=[-1]), "an output is -1"),
        (build_code(outputs=[True]), "an output is True"),
        (build_code(constants=[2]), "a constant must be a float, got 2"),
        (build_code(input_names=["a", "b"]), "the number of input names must be 1, got 2"),
        (build_code(output_names=[b"x"]), "the name of an output must be a str, got b'x'"),
        (Code(1, [], numpy.zeros(3, numpy.int32), [], []), "must be a contiguous 1-d int32 array"),
        (Code(1, [], numpy.zeros(4, numpy.int64), [], []), "must be a contiguous 1-d int32 array"),
        (Code(1, [], numpy.zeros((1, 4), numpy.int32), [], []), "must be a contiguous 1-d int32 array"),
        (Code(1, [], [SIN, 0, 0, 0], [], []), "must be a contiguous 1-d int32 array"),
    ],
)
def test_invalid_programs_are_refused(code, message):
    with pytest.raises(ProgramError, match=message):
        validate(code)
    with pytest.raises(ProgramError, match=message):
        Program(*[getattr(code, field.name) for field in dataclasses.fields(code)])


NEAR = st.integers(-1, 6)
ROW = st.tuples(st.sampled_from([*INSTRUCTIONS, CALL, SUMPROD, 0]), NEAR, NEAR, st.sampled_from([0, 0, 1]))


@fewer(1)
@given(st.lists(ROW, max_size=4), st.lists(NEAR, max_size=3), st.lists(NEAR, max_size=2))
def test_validate_agrees_with_a_check_per_instruction(rows, outputs, operands):
    code = build_code(*rows, inputs=2, calls=[(Pair(), operands)], outputs=outputs)
    expected = all(is_valid(row, 3 + i, operands) for i, row in enumerate(rows))
    expected &= all(0 <= index < 3 + len(rows) for index in outputs)
    try:
        validate(code)
    except ProgramError:
        assert not expected
    else:
        assert expected
        assert len(trusted(code).run([0.5, -0.5])) == len(outputs)


def is_valid(row, index, operands):
    opcode, *fields = row
    if opcode == CALL:
        which, position, unused = fields
        return which == unused == 0 and position in (0, 1) and all(0 <= operand < index for operand in operands)
    if opcode not in INSTRUCTIONS:
        return False
    name = INSTRUCTIONS[opcode].name
    arity = BY_NAME[name].arity if name in BY_NAME else 3
    return all(0 <= field < index for field in fields[:arity]) and not any(fields[arity:])


def test_validation_is_vectorized():
    def calls(count):
        rows = numpy.zeros((count, 4), numpy.int32)
        rows[:, 0] = ADD
        rows[:, 1] = numpy.arange(count)
        program = Program(1, [0.5], rows.ravel(), [], [count + 1])
        return count_calls(program.validate)

    assert calls(1_000_000) == calls(10)
