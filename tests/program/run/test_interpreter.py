"""The interpreter on numbers and on Values, and its errors."""

from __future__ import annotations

import math

import numpy
import pytest

from gradwalk import Value, debug_nans
from gradwalk.program.program import Program
from gradwalk.program.run.interpreter import counted
from gradwalk.program.tape import Tape


def logarithm_of_product() -> Program:
    """Build the program log(x * y) + 2."""
    tape = Tape()
    x, y = tape.input(), tape.input()
    return tape.program([tape.append("add", tape.append("log", tape.append("mul", x, y)), tape.constant(2.0))])


@pytest.mark.parametrize("given", [[2.0, 3.0], (2, 3), numpy.array([2.0, 3.0]), numpy.array([2.0, 9.0, 3.0])[::2]])
def test_inputs_may_be_any_1d_sequence(given):
    assert logarithm_of_product().interpreter.run(given).tolist() == [math.log(6.0) + 2.0]


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ([1.0], ValueError, "2 inputs takes one number per input, got 1"),
        ([1.0, 2.0, 3.0], ValueError, "2 inputs takes one number per input, got 3"),
        ([[1.0, 2.0]], ValueError, "got an array of shape"),
        (["a", "b"], ValueError, "could not convert"),
        ([object(), 1.0], TypeError, "float"),
    ],
)
def test_invalid_inputs_are_refused(given, error, said):
    with pytest.raises(error, match=said):
        logarithm_of_product().interpreter.run(given)


def test_domain_errors_give_inf_or_nan():
    program = logarithm_of_product()
    assert program.run([0.0, 1.0]).tolist() == [-math.inf]
    assert math.isnan(program.run([-1.0, 1.0])[0])


def test_values_build_a_graph():
    x, y = Value(2.0), Value(3.0)
    [out] = logarithm_of_product().interpreter.on_values([x, y])
    out.backward()
    assert out.data == math.log(6.0) + 2.0
    assert (x.grad, y.grad) == pytest.approx((0.5, 1.0 / 3.0))


def test_debug_nans_names_the_instruction():
    program = logarithm_of_product()
    with debug_nans(), pytest.raises(FloatingPointError, match=r"log\(v\d+\), which gave nan"):
        program.run([-1.0, 1.0])


def test_debug_nans_ignores_unselected_nan():
    # The logarithm is nan, but `where` does not select it.
    tape = Tape()
    x = tape.input()
    logarithm = tape.append("log", x)
    out = tape.append("where", tape.append("less", tape.constant(0.0), x), logarithm, tape.constant(7.0))
    with debug_nans():
        assert tape.program([out]).run([-1.0]).tolist() == [7.0]


def test_counted_uses_the_plural_unless_one():
    assert [counted(count, "row") for count in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
