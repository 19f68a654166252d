"""A Value gives the rounded numbers that programs ask for, and has the methods of a float."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import numpy
import pytest

from gradwalk import RecordingError, Value, grad, hessian, jit, jvp, vmap
from gradwalk import math as gm

ROUNDED = {
    "int": (int, 2),
    "round to digits": (lambda x: round(x, 1), 2.7),
    "is_integer": (lambda x: x.is_integer(), False),
    "floor division": (lambda x: int(x // 1), 2),
    "int of a result": (lambda x: int(x * x), 7),
    "index": (lambda x: [10.0, 20.0, 30.0, 40.0][round(abs(x) % 3.0)], 40.0),
    "count": (lambda x: sum(0.5 for _ in range(math.ceil(abs(x) % 5.0))), 1.5),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_numbers_have_no_derivative(name):
    ask, expected = ROUNDED[name]
    assert ask(Value(2.71)) == expected
    assert type(ask(Value(2.71))) is type(expected)
    assert grad(lambda x: ask(x) * x)(2.71) == expected
    assert hessian(lambda x: ask(x) * x * x)(2.71) == 2 * expected
    assert jvp(lambda x: ask(x) * x, (2.71,), (1.0,)) == (expected * 2.71, expected)


@pytest.mark.parametrize("name", ROUNDED)
@pytest.mark.parametrize("transform", [lambda f: f, grad, hessian])
def test_recordings_know_the_rounded_numbers_that_they_depend_on(name, transform):
    ask = ROUNDED[name][0]
    f = transform(lambda x: ask(x) * x * x)
    points = [2.71, 2.74, 2.76, -2.71, 3.0, 2.71, 1e17, 2.75]
    recorded = jit(f)
    assert [recorded(x) for x in points] == [as_number(f(x)) for x in points]
    assert vmap(f)(numpy.array(points)).tolist() == [as_number(f(x)) for x in points]


def as_number(x):
    return x.data if isinstance(x, Value) else float(x)


@pytest.mark.parametrize("name", ROUNDED)
@pytest.mark.parametrize("transform", [lambda f: f, grad, vmap])
def test_rounded_numbers_are_refused_where_branches_are(name, transform):
    with pytest.raises(RecordingError):
        jit(transform(lambda x: ROUNDED[name][0](x) * x), branches="refuse")(2.71 if transform is not vmap else A)


A = numpy.array([2.71])


def test_int_of_infinity_and_nan_raises_as_for_floats():
    with pytest.raises(OverflowError):
        int(Value(math.inf))
    with pytest.raises(ValueError, match="NaN"):
        int(Value(math.nan))
    assert int(Value(-2.5)) == -2


def test_parts_of_a_real_number():
    x = Value(-2.5)
    assert x.real is x
    assert x.imag == 0.0
    assert x.conjugate() is x


@pytest.mark.parametrize("name", ["radians", "degrees", "deg2rad", "rad2deg", "fabs"])
def test_numpy_calls_methods(name):
    function = getattr(numpy, name)
    expected = function(30.0)
    assert function(Value(30.0)).data == pytest.approx(expected, rel=1e-15)
    assert grad(lambda x: function(numpy.array([x]))[0])(30.0) == pytest.approx(function(1.0))
    assert jit(lambda x: function(numpy.array([x, 2.0 * x])))(30.0) == pytest.approx([expected, 2.0 * expected])


@pytest.mark.parametrize("x", [0.5, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("ask", [numpy.isnan, numpy.isinf, numpy.isfinite])
def test_predicates_of_numpy(ask, x):
    assert ask(Value(x)) is ask(x)
    assert grad(lambda v: 2.0 * v if ask(v) else v)(x) == (2.0 if ask(x) else 1.0)
    assert jit(lambda v: gm.where(ask(v), 2.0, 1.0))(x) == (2.0 if ask(x) else 1.0)
    assert vmap(lambda v: gm.where(ask(v), 2.0, 1.0))(numpy.array([x, 0.5])).tolist()[0] == (2.0 if ask(x) else 1.0)


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
def test_fractions_work_with_all_operators(operation):
    third = Fraction(1, 3)
    for f in (lambda x: operation(x, third), lambda x: operation(third, x)):
        assert grad(f)(0.7) == jit(grad(f))(0.7)
        assert f(Value(0.7)).data == pytest.approx(f(0.7), rel=1e-15)
    assert operation(Value(0.7), third).operands[0].data == 0.7


def test_fractions_compare_with_values():
    assert Value(0.5) == Fraction(1, 2)
    assert Value(0.5) != Fraction(1, 3)
    assert Fraction(1, 3) < Value(0.5) <= Fraction(1, 2)
    assert grad(lambda x: x * x)(Fraction(1, 2)) == 1.0
