"""Tests of operators between Values and other types: the result is the same as for a float, or an error."""

from __future__ import annotations

import functools
import importlib
import math
import operator
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
from references import needs

from gradwalk import Complex, RecordingError, Value, grad, hessian, jit, jvp, value_and_grad, vmap

ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
OTHERS = {
    "int": 2,
    "bool": True,
    "float32": numpy.float32(2.0),
    "array": numpy.array([1.0, 2.0, 3.0]),
    "integers": numpy.array([[1, 2], [3, 4]]),
    "array of one": numpy.array(2.0),
    "objects": numpy.array([1.0, Fraction(2)], dtype=object),
    "Fraction": Fraction(2),
    "Decimal": Decimal(2),
    "complex": 2 + 0j,
    "complexes": numpy.array([2 + 0j, 1j]),
    "str": "2",
    "strings": numpy.array(["2"]),
    "None": None,
    "list": [2.0, 3.0],
    "tuple": (2.0, 3.0),
    "dict": {2.0: 3.0},
    "range": range(3),
}
OF_LIBRARIES = {
    "torch": lambda torch: torch.tensor([1.0, 2.0]),
    "pandas": lambda pandas: pandas.Series([1.0, 2.0]),
    "polars": lambda polars: polars.Series([1.0, 2.0]),
}
EACH = [pytest.param(lambda other=other: other, id=name) for name, other in OTHERS.items()] + [
    pytest.param(lambda name=name, make=make: make(importlib.import_module(name)), id=name, marks=needs(name))
    for name, make in OF_LIBRARIES.items()
]


def plain(x):
    """Convert a result to an array of numbers, with booleans as 0 and 1."""
    found = numpy.asarray(x, dtype=object)
    numbers = [complex(v.data if isinstance(v, (Complex, Value)) else v) for v in found.ravel()]
    return numpy.array(numbers).reshape(found.shape)


def outcome(function, *operands):
    """Return the numbers of a result, or None if the operation is refused."""
    try:
        result = function(*operands)
    except (TypeError, ArithmeticError):
        return None
    except Exception as error:
        if type(error).__module__.startswith("polars"):
            return None
        raise
    return plain(result)


def under_grad(function, x):
    """Return what a function gives for the argument of `grad`."""
    found = []

    def f(v):
        found.append(plain(function(v)))
        return v * 1.0

    grad(f)(x)
    return found[0]


@pytest.mark.filterwarnings("ignore")  # NumPy warns about comparisons of strings
@pytest.mark.parametrize("function", [*ARITHMETIC, *COMPARISONS], ids=lambda function: function.__name__)
@pytest.mark.parametrize("make", EACH)
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("x", [2.0, 1.5])
def test_result_is_the_same_as_for_a_float(make, function, side, x):
    other = make()

    def applied(v):
        return function(v, other) if side == "left" else function(other, v)

    expected = outcome(applied, x)
    ways = [lambda v: under_grad(applied, v), jit(applied)]
    if function not in (operator.eq, operator.ne):  # eager Values compare by identity
        ways.append(lambda v: applied(Value(v)))
    for found in [outcome(way, x) for way in ways]:
        if found is not None:
            assert expected is not None
            assert found.shape == expected.shape
            numpy.testing.assert_allclose(found, expected, 1e-6)  # the tolerance of float32


def test_arrays_are_compared_element_by_element():
    """The result used to be one bool for the whole array."""
    a = numpy.array([1.0, 2.0, 3.0, 4.0])
    for equal in (lambda x: x == a, lambda x: a == x):
        assert value_and_grad(lambda x, e=equal: numpy.sum(numpy.where(e(x), 10 * x, x)))(2.0) == (26.0, 13.0)
    for unequal in (lambda x: x != a, lambda x: a != x):
        assert value_and_grad(lambda x, u=unequal: numpy.sum(numpy.where(u(x), 10 * x, x)))(2.0) == (62.0, 31.0)

    def f(x):
        return numpy.sum(numpy.where(x == a, 10 * x, x))

    with pytest.raises(RecordingError, match="branches on `x == 1`"):
        jit(f, branches="refuse")(2.0)
    recorded = jit(f)
    assert [recorded(x) for x in (2.0, 5.0, 3.0)] == [26.0, 20.0, 39.0]
    assert vmap(f)(numpy.array([2.0, 5.0, 3.0])).tolist() == [26.0, 20.0, 39.0]
    v = Value(2.0)
    assert (v == a).tolist() == [False, True, False, False]
    assert (v == numpy.array([v, Value(2.0), 2.0], dtype=object)).tolist() == [True, False, True]


NUMBERS = [0.0, -0.0, 1.0, 0.1, math.nan, math.inf, 1, 0, True, False, 2**53 + 1, 10**400, -(10**400)]
NUMPYS = [
    numpy.float64(0.1),
    numpy.float32(0.1),
    numpy.int64(2**53 + 1),
    numpy.uint8(1),
    numpy.bool_(True),
    numpy.longdouble(0.1),
]


class TestPlainNumber:
    """Solvers test `if f(x) == 0.0`."""

    @pytest.mark.parametrize("number", [*NUMBERS, *NUMPYS], ids=repr)
    @pytest.mark.parametrize("x", [0.0, 1.0, 0.1, 2.0**53, math.nan, math.inf])
    def test_value_compares_by_number(self, x, number):
        """NumPy scalars are compared as float64."""
        expected = x == (float(number) if isinstance(number, numpy.generic) else number)
        v = Value(x)
        assert [v == number, number == v] == [expected, expected]
        assert [v != number, number != v] == [not expected, not expected]
        assert type(v == number) is bool
        assert type(v != number) is bool

    def test_two_values_are_equal_by_identity(self):
        a, b = Value(1.0), Value(1.0)
        assert (a == a, a == b, a != b, a in [b], a in [b, a], len({a, b, a})) == (True, False, True, False, True, 2)
        assert {a: "a", b: "b"}[b] == "b"
        assert 1.0 in [a]
        assert a in [1.0]

    def test_value_is_not_the_same_dict_key(self):
        assert 1.0 not in {Value(1.0)}
        assert hash(Value(1.0)) != hash(1.0)

    @pytest.mark.parametrize("x", [1.0, Value(1.0)], ids=["float", "Value"])
    def test_comparison_in_a_solver(self, x):
        """The secant method used to return nan: its difference quotient was 0 / 0."""

        def secant(f, a, b):
            for _ in range(100):
                fa, fb = f(a), f(b)
                if fb == 0.0 or fa == fb:
                    return b
                a, b = b, b - fb * (b - a) / (fb - fa)
            return b

        root = secant(lambda r: r * r - 4.0 * x, 1.0 * x, 3.0 * x)
        assert float(getattr(root, "data", root)) == pytest.approx(2.0)

    def test_comparison_inside_transforms(self):
        f = lambda x: x * 5.0 if x == 2.0 else x * x  # noqa: E731
        v = Value(2.0)
        f(v).backward()
        assert v.grad == grad(f)(2.0) == jit(grad(f), branches="record")(2.0) == 5.0
        assert grad(grad(f))(2.0) == 0.0
        assert grad(grad(f))(3.0) == 2.0


LOOKUPS = {
    "set": lambda x: 3.0 * x if x in {1.0, 2.0} else x,
    "dict": lambda x: x * {2.0: 5.0}.get(x, 1.0),
    "members": lambda x: len({x, x * 1.0}) * x,
    "counter": lambda x: Counter([x, x * 1.0])[x] * x,
    "cache": functools.cache(lambda x: x * x),
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_lookups_are_refused_inside_transforms(name):
    """Equal Values have different hashes, so that lookups would not find them."""
    f = LOOKUPS[name]
    for transformed in (grad(f), value_and_grad(f), hessian(f), grad(grad(f)), lambda x: jvp(f, (x,), (1.0,)), jit(f)):
        with pytest.raises(RecordingError, match="in a set or a dict"):
            transformed(2.0)
    assert f(Value(2.0)).data in (2.0, 4.0)


def test_keys_that_are_numbers_are_found_inside_transforms():
    f = lambda x: x**2 * {1: 2.0, 2: 3.0}[int(x)]  # noqa: E731
    assert [grad(f)(2.5), grad(grad(f))(2.5), jit(grad(f))(2.5)] == [15.0, 6.0, 15.0]


def test_unsupported_types_are_refused_while_recording():
    for other in (Decimal(2), Decimal(3)):
        for compared in (lambda x, o=other: x == o, lambda x, o=other: o == x, lambda x, o=other: x != o):
            assert compared(Value(2.0)) in (False, True)
            with pytest.raises(TypeError, match=rf"a recorded Value cannot be compared with a {type(other).__name__}"):
                grad(lambda x, c=compared: x if c(x) else -x)(2.0)
    for other in (None, "2", [2.0], object()):
        assert grad(lambda x, o=other: -x if x == o else x)(2.0) == 1.0
