"""Lowering a tape to a program: unused instructions are removed and products are fused."""

from __future__ import annotations

import numpy
import pytest

from gradwalk.program.code.opcodes import NAMES
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape


def names(program: Program) -> list[str]:
    return [NAMES[opcode] for opcode in program.instructions[::4].tolist()]


def test_unused_instructions_are_removed():
    tape = Tape()
    x, y = tape.input(), tape.input()
    tape.append("exp", x)
    out = tape.append("sin", y)
    program = tape.program([out])
    assert names(program) == ["sin"]
    assert program.inputs == 2
    assert program.constants == ()


@pytest.mark.parametrize(("operation", "fused"), [("add", "muladd"), ("sub", "mulsub")])
def test_a_product_used_once_is_fused(operation, fused):
    tape = Tape()
    x, y, z = [tape.input() for _ in range(3)]
    product = tape.append("mul", x, y)
    out = tape.append(operation, product, z)
    assert names(tape.program([out])) == [fused]
    assert names(tape.program([out, product])) == ["mul", operation]  # product is an output, too
    assert (
        tape.program([out]).run([3.0, 4.0, 5.0]).tolist()
        == tape.program([out, product]).run([3.0, 4.0, 5.0])[:1].tolist()
    )


def test_a_subtracted_product_is_fused():
    tape = Tape()
    x, y, z = [tape.input() for _ in range(3)]
    out = tape.append("sub", z, tape.append("mul", x, y))
    program = tape.program([out])
    assert names(program) == ["submul"]
    assert program.run([3.0, 4.0, 5.0]).tolist() == [-7.0]


def test_equal_constants_are_stored_once():
    tape = Tape()
    x = tape.input()
    shifted = tape.append("add", x, tape.constant(2.5))
    out = tape.append("pow", shifted, tape.constant(2.5))
    unused = tape.constant(99.0)
    program = tape.program([out])
    assert program.constants == (2.5,)
    assert unused not in program.outputs


def test_outputs_may_be_inputs_constants_or_repeated():
    tape = Tape()
    x = tape.input()
    program = tape.program([x, tape.constant(4.0), x])
    assert program.run([1.5]).tolist() == [1.5, 4.0, 1.5]


def test_appending_to_a_tape_keeps_its_programs():
    tape = Tape()
    x = tape.input()
    program = tape.program([tape.append("exp", x)])
    before = program.instructions.copy()
    tape.append("sin", tape.append("exp", x))
    numpy.testing.assert_array_equal(program.instructions, before)
    assert names(program) == ["exp"]
