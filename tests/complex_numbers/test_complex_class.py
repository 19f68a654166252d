"""`Complex`: operators beside Python's complex, mixed operands, conversions, NumPy's object arrays."""

from __future__ import annotations

import copy
import itertools
import math
import numbers
import operator
import pickle

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwalk import Complex, Value, cmath, grad, jit
from gradwalk import math as real_math

PARTS = st.floats(-1e3, 1e3).filter(lambda x: x == 0.0 or abs(x) > 1e-3)
OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)


def forms(z):
    """Return operands with the number z: a Complex of two Values, of a Value and a float, and Python's complex."""
    return [
        Complex(Value(z.real), Value(z.imag)),
        Complex(Value(z.real), z.imag),
        Complex(z.real, Value(z.imag)),
        Complex(z.real, z.imag),
        numpy.complex128(z),
        z,
        *([Value(z.real), z.real] if str(z.imag) == "0.0" else []),
    ]


def number(x):
    return complex(x.data if isinstance(x, (Complex, Value)) else x)


@pytest.mark.parametrize("function", OPERATORS, ids=lambda f: f.__name__)
@settings(max_examples=25 if IS_COMPILED else 8, deadline=None)
@given(a=PARTS, b=PARTS, c=PARTS, d=PARTS)
def test_operators_give_what_python_gives(function, a, b, c, d):
    if function is operator.pow:
        a, b, c, d = (math.remainder(x, 3.0) for x in (a, b, c, d))
    for z, w in ((complex(a, b), complex(c, d)), (complex(a, b), complex(c)), (complex(a), complex(c, d))):
        try:
            expected = function(z, w)
        except (ZeroDivisionError, OverflowError):
            continue
        for left, right in itertools.product(forms(z), forms(w)):
            if not any(isinstance(x, Complex) or numpy.iscomplexobj(x) for x in (left, right)):
                continue  # both are real: a negative number to a fraction is nan
            found = function(left, right)
            assert isinstance(found, (Complex, complex))
            numpy.testing.assert_allclose(number(found), expected, rtol=1e-11, atol=1e-13 * max(1.0, abs(expected)))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, -1, -2, 2.0, 2 + 0j])
def test_integer_powers_are_products(exponent):
    z = 1.5 - 0.5j
    assert number(Complex(Value(1.5), -0.5) ** exponent) == z**exponent
    assert grad(lambda z: z**exponent, holomorphic=True)(z) == pytest.approx(exponent * z ** (exponent - 1))


def test_a_value_with_a_complex_number_is_a_complex():
    v = Value(2.0)
    for found, expected in (
        (v * 1j, 2j),
        (1j + v, 2 + 1j),
        (numpy.complex128(1j) * v, 2j),
        (v - numpy.complex64(2j), 2 - 2j),
        (v / 2j, -1j),
        (2j / v, 1j),
        (v**1j, 2.0**1j),
        (1j**v, 1j**2.0),
    ):
        assert isinstance(found, Complex)
        assert found.data == pytest.approx(expected)
    assert math.isnan((Value(-2.0) ** 0.5).data)
    with pytest.raises(TypeError, match="unsupported operand"):
        v % 1j
    with pytest.raises(TypeError, match=r"gradwalk\.cmath has functions of complex numbers"):
        real_math.exp(v * 1j)


def test_plain_zero_parts_stay_plain():
    product = 1j * Value(math.inf)
    assert product.real == 0.0
    assert type(product.real) is float
    assert [type(part) for part in ((Value(2.0) * (3 + 0j)).imag, cmath.exp(1j * Value(2.0)).real)] == [float, Value]


def test_equality_hash_and_truth():
    x, y = Value(3.0), Value(4.0)
    z = Complex(x, y)
    assert z == Complex(x, y)
    assert z == 3 + 4j
    assert operator.eq(3 + 4j, z)
    assert z != 3 - 4j
    assert z != "z"
    assert Complex(x, 0.0) == 3.0
    assert x == 3 + 0j
    assert x != 3 + 1j
    assert hash(z) == hash(Complex(x, y))
    assert hash(Complex(3.0, 4.0)) == hash(3 + 4j)
    assert [bool(Complex(Value(a), b)) for a, b in ((0.0, 0.0), (0.0, 2.0), (1.0, 0.0))] == [False, True, True]
    same = jit(lambda z, w: 1.0 if z == w else 2.0)
    assert [same(1j, 1j), same(1j, 2j), same(1j, 1j)] == [1.0, 2.0, 1.0]


def test_conversions():
    z = Complex(Value(3.0), 4.0)
    assert z.data == complex(Complex(3.0, 4.0)) == 3 + 4j
    with pytest.raises(TypeError, match=r"a Value cannot be converted to float implicitly"):
        complex(z)
    assert repr(z) == "Complex(Value(data=3.0, grad=0.0), 4.0)"
    assert (f"{z:.2f}", f"{z}") == ("3.00+4.00j", repr(z))
    assert isinstance(z, numbers.Complex)
    assert (+z, (-z).data, z.conjugate().data, abs(z).data) == (z, -3 - 4j, 3 - 4j, 5.0)
    assert Complex(2j) == 2j
    assert Complex(z) == z
    assert copy.deepcopy(z).data == pickle.loads(pickle.dumps(z)).data == z.data
    with pytest.raises(AttributeError):
        z.real = 1.0
    for wrong in ("1", None, [1.0]):
        with pytest.raises(TypeError, match="the real part of a Complex must be a Value or a real number, got"):
            Complex(wrong, 1.0)
    with pytest.raises(
        TypeError, match="the imaginary part of a Complex must be a Value or a real number, got complex"
    ):
        Complex(1.0, 1j)


@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "log",
        "log10",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "arcsinh",
        "arccosh",
        "arctanh",
        "conjugate",
        "negative",
        "absolute",
        "square",
        "reciprocal",
    ],
)
def test_numpy_calls_methods_of_elements(name):
    function = getattr(numpy, name)
    numbers = numpy.array([0.3 + 0.4j, -2 + 1j])
    for argument, expected in (
        (numpy.array([Complex(Value(z.real), Value(z.imag)) for z in numbers.tolist()], object), function(numbers)),
        (Complex(Value(0.3), 0.4), function(0.3 + 0.4j)),
    ):
        found = numpy.asarray(function(argument), object)
        numpy.testing.assert_allclose([number(x) for x in found.ravel()], numpy.ravel(expected), rtol=1e-13)


def test_arrays_of_numbers_and_values():
    v, z = Value(2.0), Complex(Value(1.0), 3.0)
    array = numpy.array([1j, 2.0])
    for found, expected in (
        (array * v, [2j, 4.0]),
        (v + array, [2 + 1j, 4.0]),
        (array * z, [-3 + 1j, 2 + 6j]),
        (z - array, [1 + 2j, -1 + 3j]),
        (numpy.array([z, v, 1.0], object) * 2j, [-6 + 2j, 4j, 2j]),
        (numpy.multiply(1j, [z, v]), [-3 + 1j, 2j]),
        (numpy.array([z, v], object) @ array, [-3 + 1j + 4.0]),
    ):
        assert [number(x) for x in numpy.ravel(found)] == expected


def test_where_selects_complex_numbers():
    z = Complex(Value(1.0), 3.0)
    assert real_math.where(Value(1.0), z, 2j).data == 1 + 3j
    assert [number(x) for x in real_math.where([1.0, 0.0], z, 2j)] == [1 + 3j, 2j]
    with pytest.raises(TypeError, match=r"where\(\) takes Values"):
        real_math.where(Value(1.0), z, "2j")

    def f(x):
        return real_math.where(x > 0.0, cmath.log(x) / x, 1j * x).imag

    assert [grad(f)(0.0), jit(grad(f))(0.0)] == [1.0, 1.0]
