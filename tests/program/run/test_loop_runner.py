"""Loops and their backward passes on numbers, compared with Python loops."""

from __future__ import annotations

import math

import numpy
import pytest

from gradwalk.program.program import Program
from gradwalk.program.run.loop_runner import LoopRunner
from gradwalk.program.tape import Tape


def step_of_growth() -> Program:
    """Build a step: (count, carry, rate, row) -> (carry * rate + row + count, sin(carry))."""
    tape = Tape()
    count, carry, rate, row = [tape.input() for _ in range(4)]
    following = tape.append("add", tape.append("add", tape.append("mul", carry, rate), row), count)
    return tape.program([following, tape.append("sin", carry)])


def below(limit: float) -> Program:
    """Build a condition: (carry, rate) -> carry < limit."""
    tape = Tape()
    carry, _ = tape.input(), tape.input()
    return tape.program([tape.append("less", carry, tape.constant(limit))])


def doubling() -> Program:
    """Build a step: (count, carry, rate) -> carry * rate."""
    tape = Tape()
    _, carry, rate = [tape.input() for _ in range(3)]
    return tape.program([tape.append("mul", carry, rate)])


def in_python(carry: float, rate: float, rows: list[float], first: int) -> list[float]:
    sines = []
    for step, row in enumerate(rows, start=first):
        sines.append(math.sin(carry))
        carry = carry * rate + row + step
    return [carry, *sines]


@pytest.mark.parametrize("count", [0, 1, 2, 5, 300])
@pytest.mark.parametrize("first", [0, 3])
def test_a_counted_loop_gives_carry_and_results(count, first):
    rows = numpy.linspace(-1.0, 1.0, count).tolist()
    runner = LoopRunner(step_of_growth().interpreter, None, (1, 1, 1, 1), first, count)
    results = runner.forward(numpy.array([0.5, 0.9, *rows]))
    numpy.testing.assert_allclose(results, in_python(0.5, 0.9, rows, first), rtol=1e-14)


@pytest.mark.parametrize(("most", "expected"), [(-1, 128.0), (7, 128.0), (20, 128.0)])
def test_a_loop_ends_when_its_condition_fails(most, expected):
    runner = LoopRunner(doubling().interpreter, below(100.0).interpreter, (1, 1, 0, 0), 0, most)
    assert runner.forward(numpy.array([1.0, 2.0])).tolist() == [expected]
    assert runner.forward(numpy.array([1000.0, 2.0])).tolist() == [1000.0]


def test_exceeding_max_steps_is_an_error():
    runner = LoopRunner(doubling().interpreter, below(100.0).interpreter, (1, 1, 0, 0), 0, 6)
    with pytest.raises(ValueError, match="the condition still holds after max_steps=6 steps"):
        runner.forward(numpy.array([1.0, 2.0]))


def backward_of_doubling() -> Program:
    """Build a backward step: (count, carry, rate, carry cotangent, rate total) -> (carry cotangent, rate total)."""
    tape = Tape()
    _, carry, rate, cotangent, total = [tape.input() for _ in range(5)]
    by_rate = tape.append("add", total, tape.append("mul", cotangent, carry))
    return tape.program([tape.append("mul", cotangent, rate), by_rate])


@pytest.mark.parametrize("slots", [1, 2, 3, 30])
@pytest.mark.parametrize("steps", [0, 1, 2, 25])
@pytest.mark.parametrize("is_counted", [True, False])
def test_backward_pass_with_any_number_of_slots(slots, steps, is_counted):
    # The loop computes carry * rate**steps.
    condition = None if is_counted else below(1.5 * 1.1**steps - 1e-9).interpreter
    runner = LoopRunner(doubling().interpreter, condition, (1, 1, 0, 0), 0, steps if is_counted else -1)
    body = backward_of_doubling().interpreter
    found = runner.backward(body, numpy.array([1.5, 1.1]), numpy.array([2.0]), slots)
    expected = [2.0 * 1.1**steps, 2.0 * 1.5 * steps * 1.1 ** max(steps - 1, 0)]
    numpy.testing.assert_allclose(found, expected, rtol=1e-12)
