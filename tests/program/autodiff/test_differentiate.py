"""Reverse and forward mode on a tape."""

from __future__ import annotations

import math

import numpy
import pytest

from gradwalk.program.calls.switch import Switch
from gradwalk.program.tape import NO_INDEX, Tape


def product_and_sine() -> tuple[Tape, int, int, int]:
    """Record x * y + sin(x)."""
    tape = Tape()
    x, y = tape.input(), tape.input()
    return tape, x, y, tape.append("add", tape.append("mul", x, y), tape.append("sin", x))


def test_reverse_mode_gives_partials_for_all_inputs():
    tape, x, y, out = product_and_sine()
    gradients = tape.reverse([(out, tape.constant(1.0))], [x, y])
    assert tape.program(gradients).run([0.5, 2.0]).tolist() == pytest.approx([2.0 + math.cos(0.5), 0.5])


def test_forward_mode_gives_tangents_of_all_results():
    tape, x, _, out = product_and_sine()
    double = tape.append("mul", out, tape.constant(2.0))
    tangents = tape.forward([(x, tape.constant(1.0))], [out, double])
    slope = 2.0 + math.cos(0.5)
    assert tape.program(tangents).run([0.5, 2.0]).tolist() == pytest.approx([slope, 2.0 * slope])


def test_a_second_pass_gives_second_derivatives():
    tape, x, y, out = product_and_sine()
    [by_x] = tape.reverse([(out, tape.constant(1.0))], [x])
    second = tape.reverse([(by_x, tape.constant(1.0))], [x, y])
    assert tape.program(second).run([0.5, 2.0]).tolist() == pytest.approx([-math.sin(0.5), 1.0])


def test_seeds_weight_results_and_add_up():
    tape = Tape()
    x = tape.input()
    square, cube = tape.append("mul", x, x), tape.append("mul", tape.append("mul", x, x), x)
    gradients = tape.reverse([(square, tape.constant(10.0)), (cube, tape.constant(1.0))], [x])
    assert tape.program(gradients).run([2.0]).tolist() == [40.0 + 12.0]


def test_reverse_mode_skips_inputs_that_are_not_requested():
    tape, x, y, out = product_and_sine()
    one = tape.constant(1.0)
    before = len(tape)
    assert tape.reverse([(out, one)], [y]) == [x]  # the derivative is x, which is already on the tape
    assert len(tape) == before


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_independent_results_have_zero_derivative(mode):
    tape = Tape()
    x, y = tape.input(), tape.input()
    out, one = tape.append("exp", y), tape.constant(1.0)
    [index] = tape.reverse([(out, one)], [x]) if mode == "reverse" else tape.forward([(x, one)], [out])
    assert index == NO_INDEX or tape.program([index]).run([1.0, 2.0]).tolist() == [0.0]


def test_both_modes_differentiate_calls():
    branch = Tape()
    z = branch.input()
    squared = branch.program([branch.append("mul", z, z)])
    tape = Tape()
    which, x = tape.input(), tape.input()
    base = tape.call(Switch([squared, squared]), [which, x])
    one = tape.constant(1.0)
    found = [*tape.reverse([(base, one)], [x]), *tape.forward([(x, one)], [base])]
    numpy.testing.assert_array_equal(tape.program(found).run([1.0, 3.0]), [6.0, 6.0])
