"""Listings: programs as text."""

from __future__ import annotations

import numpy
from hypothesis import given
from programs import EVERY, EXTREME, as_recorded, fewer, programs

from gradwalk import Value, grad, jit, math, primitive
from gradwalk.program.calls.call import Call
from gradwalk.program.code.opcodes import INSTRUCTIONS
from gradwalk.program.tape import Tape


def lines(program) -> list[str]:
    return str(program).splitlines()


def test_unnamed_values_are_shown_by_index():
    tape = Tape()
    x, y = tape.input(), tape.input()
    product = tape.append("mul", x, y)
    out = tape.append("sub", tape.append("sin", product), tape.append("mul", product, tape.constant(0.1)))
    assert lines(tape.program([out, x])) == [
        "program(v0, v1):",
        "  v3 = v0 * v1",
        "  v4 = sin(v3)",
        "  v5 = v4 - v3 * 0.1",
        "  return v5, v0",
    ]


def test_inputs_are_named_after_arguments():
    rate = Value(0.5, label="rate")
    f = jit(lambda x, p: {"y": x[1] * p["k"] + rate, "all": x})
    f(numpy.ones(2), {"k": 2.0})
    assert lines(f.program) == [
        "program(x[0], x[1], p['k'], rate):",
        "  v4 = x[1] * p['k'] + rate",
        "  out['all'][0] = x[0]",
        "  out['all'][1] = x[1]",
        "  out['y']      = v4",
    ]


def test_listing_of_a_gradient():
    slope = jit(grad(lambda x: math.log(x) / -(x**2.5)))
    slope(2.0)
    assert lines(slope.program)[0] == "program(x):"
    assert "  v9  = " in str(slope.program)


def test_ambiguous_names_are_not_used():
    program = jit(lambda v1, x: math.where(v1 > x, v1, -x))
    program(1.0, 2.0)
    assert lines(program.program) == [
        "program(v0, x):",
        "  v2 = less(x, v0)",
        "  v3 = -x",
        "  v4 = where(v2, v0, v3)",
        "  out = v4",
    ]
    assert lines(program.program.named(["x", "x"], ["out"]))[0] == "program(v0, v1):"
    assert lines(program.program.named(["", "x"], ["out"]))[0] == "program(v0, x):"


def test_newlines_in_names_are_escaped():
    program = jit(lambda x: -x)
    program(1.0)
    assert lines(program.program.named(["a\n  v7 = 1"], ["b\tc"])) == [
        r"program('a\n  v7 = 1'):",
        r"  v1 = -'a\n  v7 = 1'",
        r"  'b\tc' = v1",
    ]


def test_long_input_lists_are_wrapped():
    f = jit(lambda x: [x[0, 0], x])
    f(numpy.zeros((4, 5)))
    heading = str(f.program.named(f.program.input_names, [])).splitlines()
    assert heading[1].startswith("        x[")
    assert all(len(line) <= 100 and line.count("[") == line.count("]") for line in heading)


def test_listing_of_calls():
    @primitive
    def gamma(x):
        return x

    class Several(Call):
        name, outputs = "several", 2

    f = jit(lambda x: -gamma(x))
    f(1.0)
    assert lines(f.program)[1:3] == ["  v1 = gamma(x)", "  v2 = -v1"]
    tape = Tape()
    first = tape.call(Several(), [tape.input()])
    assert lines(tape.program([first + 1]))[1] == "  v1 = several(v0)[1]"


def test_listing_of_an_empty_program():
    assert lines(Tape().program([])) == ["program():", "  return"]


@fewer(10)
@given(programs(EXTREME, EVERY, longest=12))
def test_every_instruction_has_a_line(drawn):
    program = as_recorded(drawn)
    listed = lines(program)
    assert len(listed) == len(program) + 2
    for line, opcode in zip(listed[1:], program.instructions[::4].tolist(), strict=False):
        name = INSTRUCTIONS[opcode].name
        assert f" {name}(" in line or any(f" {symbol}" in line for symbol in "+-*/")
