"""Tests of gradwalk.math as a replacement for Python's math."""

from __future__ import annotations

import functools
import math
import operator

import pytest

import gradwalk.math as gm
from gradwalk import Value, grad, jit

# Functions without a derivative: of integers, or that decompose a float. They are Python's own.
PYTHONS = {
    "comb": (5, 2),
    "factorial": (3,),
    "frexp": (0.75,),
    "gcd": (4, 6),
    "isqrt": (9,),
    "lcm": (4, 6),
    "ldexp": (0.5, 2),
    "nextafter": (1.0, 2.0),
    "perm": (5, 2),
    "ulp": (2.0,),
}
NEWER = {"fma", "fmax", "fmin", "integer", "isnormal", "issubnormal", "signbit"}  # functions added after Python 3.12


def test_all_functions_of_math_exist():
    names = {name for name in dir(math) if not name.startswith("_")}
    assert names - {*dir(gm)} <= NEWER


@pytest.mark.parametrize("name", PYTHONS)
def test_functions_without_a_derivative_refuse_values(name):
    call, given = getattr(gm, name), PYTHONS[name]
    assert call is getattr(math, name)
    call(*given)
    with pytest.raises(TypeError, match=r"needs a plain number, got a Value|cannot be converted to float"):
        call(Value(given[0]), *given[1:])


def test_sequences_may_be_iterators():
    numbers = (0.1, 0.2, 0.7)
    for f in (gm.fsum, gm.prod, gm.logsumexp):
        assert f(iter(numbers)) == f([*numbers])
    assert gm.softmax(iter(numbers)) == gm.softmax([*numbers])
    assert gm.dist(iter(numbers), iter(numbers)) == 0.0


def test_sequences_may_be_empty():
    assert (gm.fsum([]), gm.prod([]), gm.prod([], start=2), gm.logsumexp([])) == (0.0, 1.0, 2.0, -math.inf)
    assert gm.softmax([]) == gm.log_softmax([]) == []
    assert gm.dist([], []) == gm.hypot() == math.hypot() == 0.0
    for f in (gm.maximum, gm.minimum, gm.smooth_max, gm.smooth_min):
        with pytest.raises(TypeError, match=r"at least one operand"):
            f()


def test_points_must_have_equal_dimensions():
    with pytest.raises(ValueError, match=r"got 2 and 1 coordinates"):
        gm.dist([1.0, 2.0], [1.0])


def test_fsum_of_values_has_twice_the_digits():
    numbers = [0.1] * 10 + [1e100, 1.0, -1e100, 1e-20]
    assert functools.reduce(operator.add, numbers) != math.fsum(numbers)
    for numbers in ([0.1] * 10, [1e16, 1.0, -1e16], [1e8, 1e-8, -1e8], [1.0, 1e-17] * 50):
        expected = math.fsum(numbers)
        assert gm.fsum(numbers) == gm.fsum([Value(x) for x in numbers]).data == expected
        assert jit(gm.fsum)(numbers) == expected
    assert gm.fsum([1e308, 1e308]) == math.inf
    assert gm.fsum([True, 2]) == 3.0


def test_operands_may_be_integers():
    for result in (gm.maximum(2), gm.maximum(1, 2, 3), gm.prod([2, 3]), gm.clip(3, 0, 1), gm.clip(3), gm.log(8, 2)):
        assert type(result) is float
    assert gm.maximum(1, 2, 3) == 3.0
    for wrong in ("a", None):
        with pytest.raises(TypeError, match=r"takes Values and real numbers"):
            gm.maximum(wrong)
        with pytest.raises(TypeError, match=r"takes Values and real numbers"):
            gm.maximum(1.0, wrong)


def test_maximum_of_one_operand_returns_it():
    v = Value(2.0)
    assert gm.maximum(v) is gm.minimum(v) is v


def test_operators_take_numbers_on_either_side():
    v = Value(-7.5)
    for left, right in ((v, 2.0), (7.5, v), (v, v), (7, v), (v, True)):
        quotient, remainder = divmod(left, right)
        x, y = (float(getattr(operand, "data", operand)) for operand in (left, right))
        assert (quotient.data, remainder.data) == divmod(x, y)
        assert (left // right).data == x // y
        assert (left % right).data == x % y
    for operation in (lambda: v % "a", lambda: v // None, lambda: divmod(v, []), lambda: divmod("a", v)):
        with pytest.raises(TypeError):
            operation()


def test_nested_derivatives_of_remainders():
    def sawtooth(x, period):
        return (x % period) ** 2

    assert grad(grad(sawtooth))(7.5, 2.0) == grad(jit(grad(sawtooth)))(7.5, 2.0) == 2.0
    assert grad(grad(sawtooth, 1), 1)(7.5, 2.0) == 2 * 3.0**2
