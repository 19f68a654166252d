"""Switches: one instruction that runs one of several programs."""

from __future__ import annotations

import math

import numpy
import pytest

from gradwalk import Program
from gradwalk.program.calls.switch import Switch
from gradwalk.program.program import ProgramError
from gradwalk.program.tape import Tape


def branch(name: str) -> Program:
    """Build a program that returns the result of one operation and its input."""
    tape = Tape()
    x = tape.input()
    return tape.program([tape.append(name, x), x])


NAMES = ("exp", "sin", "neg")
FUNCTIONS = (math.exp, math.sin, lambda x: -x)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("index", [-math.inf, -3.0, -0.5, 0.0, 0.99, 1.0, 1.5, 2.0, 7.0, math.inf])
def test_the_first_operand_selects_a_program(count, index):
    switch = Switch([branch(name) for name in NAMES[:count]])
    selected = min(max(int(min(max(index, -9.0), 9.0)), 0), count - 1)
    expected = [FUNCTIONS[selected](0.5), 0.5]
    assert switch.numbers(numpy.array([index, 0.5])).tolist() == pytest.approx(expected)
    if count > 1:
        assert switch.flat().run([index, 0.5]).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("count", [2, 3])
def test_a_nan_index_gives_nan_results(count):
    switch = Switch([branch(name) for name in NAMES[:count]])
    assert numpy.isnan(switch.numbers(numpy.array([math.nan, 0.5]))).all()
    assert numpy.isnan(switch.flat().run([math.nan, 0.5])).all()


def test_derivatives_come_from_the_selected_program():
    switch = Switch([branch(name) for name in NAMES])
    for which, slope in enumerate((math.exp(0.5), math.cos(0.5), -1.0)):
        tape = Tape()
        index, x = tape.input(), tape.input()
        base = tape.call(switch, [index, x])
        gradients = tape.reverse([(base, tape.constant(1.0))], [x])
        second = tape.reverse([(gradients[0], tape.constant(1.0))], [x])
        expected = [slope, (math.exp(0.5), -math.sin(0.5), 0.0)[which]]
        assert tape.program([*gradients, *second]).run([float(which), 0.5]).tolist() == pytest.approx(expected)


def test_files_with_mismatched_branches_are_refused():
    wide = Tape()
    program = wide.program([wide.input()])
    other = branch("exp")
    document = Program.from_json(call_of(Switch([other, other])).to_json())
    assert document.run([1.0, 0.5]).tolist() == pytest.approx([math.exp(0.5), 0.5])
    broken = call_of(Switch([other, program]))
    with pytest.raises(ProgramError, match="must have the same numbers of inputs and outputs"):
        Program.from_json(broken.to_json())


def call_of(switch: Switch) -> Program:
    """Build a program that only calls a switch."""
    tape = Tape()
    inputs = [tape.input() for _ in range(switch.inputs)]
    base = tape.call(switch, inputs)
    return tape.program([base + i for i in range(switch.outputs)])
