"""Loading graphs and programs onto a tape."""

from __future__ import annotations

import math

import numpy
import pytest

from gradwalk import Value, jit
from gradwalk.math import sumprod
from gradwalk.program.calls.switch import Switch
from gradwalk.program.code.opcodes import NAMES
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape


def apply_in_sequence(*operations: str) -> Program:
    """Build a program that applies unary operations in sequence and also returns its input."""
    tape = Tape()
    x = out = tape.input()
    for operation in operations:
        out = tape.append(operation, out)
    return tape.program([out, x])


def names(program: Program) -> list[str]:
    return [NAMES[opcode] for opcode in program.instructions[::4].tolist()]


def test_inlining_replaces_the_inputs():
    tape = Tape()
    x = tape.input()
    doubled = tape.append("add", x, x)
    sine, same = tape.inline(apply_in_sequence("exp", "sin"), [doubled])
    assert same == doubled
    assert tape.program([sine]).run([0.25]).tolist() == pytest.approx([math.sin(math.exp(0.5))])


def test_equal_instructions_are_shared():
    tape = Tape()
    x = tape.input()
    first, _ = tape.inline(apply_in_sequence("exp", "sin"), [x])
    length = len(tape)
    second, _ = tape.inline(apply_in_sequence("exp", "sin"), [x])
    assert first == second
    assert len(tape) == length
    third, _ = tape.inline(apply_in_sequence("exp", "cos"), [x])
    assert names(tape.program([first, third])) == ["exp", "sin", "cos"]


def test_fused_instructions_are_split_and_differentiated():
    source = Tape()
    inputs = [source.input() for _ in range(3)]
    program = source.program([source.append("add", source.append("mul", *inputs[:2]), inputs[2])])
    assert names(program) == ["muladd"]
    tape = Tape()
    x, y, z = [tape.input() for _ in range(3)]
    [out] = tape.inline(program, [x, y, z])
    gradients = tape.reverse([(out, tape.constant(1.0))], [x, y, z])
    assert tape.program([out, *gradients]).run([3.0, 4.0, 5.0]).tolist() == [17.0, 4.0, 3.0, 1.0]


def test_calls_are_kept_or_replaced():
    switch = Switch([apply_in_sequence("exp"), apply_in_sequence("sin")])
    source = Tape()
    index, x = source.input(), source.input()
    base = source.call(switch, [index, x])
    program = source.program([base])
    for replaced, kept in ((None, 1), (lambda call: call.flat(), 0)):
        tape = Tape()
        outputs = tape.inline(program, [tape.input(), tape.input()], replaced)
        inlined = tape.program(outputs)
        assert len(inlined.calls) == kept
        numpy.testing.assert_allclose(inlined.run([1.0, 0.5]), [math.sin(0.5)])


def test_sumprod_is_expanded_in_order():
    f = jit(lambda p, q: sumprod(p, q, 1.0))
    expected = 1.0 + 2.0 * 5.0 + 3.0 * 7.0
    assert f([2.0, 3.0], [5.0, 7.0]) == expected
    assert set(names(f.program)) <= {"mul", "add", "muladd"}
    assert sumprod([Value(2.0), 3.0], [5.0, 7.0], 1.0).data == expected
