"""Calls: functions that are one instruction on a tape and one node in a graph."""

from __future__ import annotations

import math

import numpy
import pytest

from gradwalk import Value
from gradwalk.program.calls.call import Call, append_call, instantiate_zeros
from gradwalk.program.tape import NO_INDEX, Tape


class Rotation(Call):
    """A rotation of (x, y) by an angle, with a VJP rule."""

    outputs = 2
    name = "rotation"
    times_run = 0

    def numbers(self, operands):
        x, y, angle = operands
        type(self).times_run += 1
        cosine, sine = math.cos(angle), math.sin(angle)
        return numpy.array([x * cosine - y * sine, x * sine + y * cosine])

    def vjp(self, tape, operands, base, adjoints):
        _, _, angle = operands
        first, second = instantiate_zeros(tape, adjoints)
        cosine, sine = tape.append("cos", angle), tape.append("sin", angle)
        by_x = tape.append("add", tape.append("mul", first, cosine), tape.append("mul", second, sine))
        by_y = tape.append("sub", tape.append("mul", second, cosine), tape.append("mul", first, sine))
        by_angle = tape.append("sub", tape.append("mul", second, base), tape.append("mul", first, base + 1))
        return [by_x, by_y, by_angle]


POINT = (0.75, -2.0, 0.3)


def test_a_call_runs_once_for_all_results():
    tape = Tape()
    inputs = [tape.input() for _ in range(3)]
    results = append_call(Rotation(), tape, inputs)
    program = tape.program(list(results))
    before = Rotation.times_run
    numpy.testing.assert_array_equal(program.run(POINT), Rotation().numbers(POINT))
    assert Rotation.times_run == before + 2  # once in the program and once for the expected value


def test_vjp_rule_gives_second_derivatives():
    tape = Tape()
    inputs = [tape.input() for _ in range(3)]
    first, _ = append_call(Rotation(), tape, inputs)
    gradient = tape.reverse([(first, tape.constant(1.0))], inputs)
    second = tape.reverse([(gradient[2], tape.constant(1.0))], inputs)
    x, y, angle = POINT
    by_angle = -x * math.sin(angle) - y * math.cos(angle)
    expected = [math.cos(angle), -math.sin(angle), by_angle]
    assert tape.program(gradient).run(POINT).tolist() == pytest.approx(expected)
    expected = [-math.sin(angle), -math.cos(angle), -x * math.cos(angle) + y * math.sin(angle)]
    assert tape.program(second).run(POINT).tolist() == pytest.approx(expected)


def test_missing_cotangents_become_zeros():
    tape = Tape()
    x = tape.input()
    zero = tape.constant(0.0)
    assert instantiate_zeros(tape, [x, NO_INDEX]) == [x, zero]


def test_backward_through_a_call_on_values():
    leaves = [Value(number) for number in POINT]
    first, second = Rotation().values(leaves)
    (first * 2.0 + second).backward()
    x, y, angle = POINT
    by_x = 2.0 * math.cos(angle) + math.sin(angle)
    by_angle = 2.0 * (-x * math.sin(angle) - y * math.cos(angle)) + x * math.cos(angle) - y * math.sin(angle)
    assert leaves[0].grad == pytest.approx(by_x)
    assert leaves[2].grad == pytest.approx(by_angle)


def test_defaults_of_the_base_class():
    call = Call()
    with pytest.raises(NotImplementedError):
        call.numbers(numpy.zeros(1))
    assert call.portable is None
    assert call.weight == math.inf
