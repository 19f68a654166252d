"""`gradwalk.cmath`: values beside Python's cmath, derivatives beside mpmath, also next to branch cuts and on them."""

from __future__ import annotations

import cmath
import inspect
import itertools
import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwalk.cmath
from gradwalk import Complex, Value, debug_nans, grad, jacobian, jit, vmap

mpmath = pytest.importorskip("mpmath")

mp = mpmath.mp.clone()
mp.dps = 40

# The first and the second derivative of each function.
DERIVATIVES = {
    "exp": (mp.exp, mp.exp),
    "log": (lambda z: 1 / z, lambda z: -1 / z**2),
    "log10": (lambda z: 1 / z / mp.log(10), lambda z: -1 / z**2 / mp.log(10)),
    "sqrt": (lambda z: 1 / (2 * mp.sqrt(z)), lambda z: -1 / (4 * z * mp.sqrt(z))),
    "sin": (mp.cos, lambda z: -mp.sin(z)),
    "cos": (lambda z: -mp.sin(z), lambda z: -mp.cos(z)),
    "tan": (lambda z: 1 / mp.cos(z) ** 2, lambda z: 2 * mp.tan(z) / mp.cos(z) ** 2),
    "sinh": (mp.cosh, mp.sinh),
    "cosh": (mp.sinh, mp.cosh),
    "tanh": (lambda z: 1 / mp.cosh(z) ** 2, lambda z: -2 * mp.tanh(z) / mp.cosh(z) ** 2),
    "asin": (lambda z: 1 / _of_asin(z), lambda z: z / _of_asin(z) ** 3),
    "acos": (lambda z: -1 / _of_asin(z), lambda z: -z / _of_asin(z) ** 3),
    "atan": (lambda z: 1 / (1 + z * z), lambda z: -2 * z / (1 + z * z) ** 2),
    "asinh": (lambda z: 1 / _of_asin(1j * z), lambda z: -z / _of_asin(1j * z) ** 3),
    "acosh": (lambda z: 1 / _of_acosh(z), lambda z: -z / _of_acosh(z) ** 3),
    "atanh": (lambda z: 1 / (1 - z * z), lambda z: 2 * z / (1 - z * z) ** 2),
}
NAMES = sorted(DERIVATIVES)


def _of_asin(z):
    return mp.sqrt(1 - z) * mp.sqrt(1 + z)


def _of_acosh(z):
    return mp.sqrt(z - 1) * mp.sqrt(z + 1)


NEAR_CUTS = (-3.0, -1.2, -0.5, -1e-9, 1e-9, 0.3, 1.1, 2.5, 40.0)
HEIGHTS = (-2.0, -1.01, -0.7, -1e-12, 1e-12, 0.2, 1.0, 3.0)
ON_CUTS = [
    point for x in (-3.0, -0.5, 0.3, 2.5) for zero in (0.0, -0.0) for point in (complex(x, zero), complex(zero, x))
]
POINTS = [complex(x, y) for x in NEAR_CUTS for y in HEIGHTS] + ON_CUTS


def exact(z):
    """Return a number for mpmath. A signed zero becomes a tiny number, on the same side of a cut."""
    return mp.mpc(*[mp.mpf(x) if x else mp.mpf(10) ** -38 * math.copysign(1.0, x) for x in (z.real, z.imag)])


def number(z):
    return z.data if isinstance(z, (Complex, Value)) else z


def test_all_names_of_cmath():
    names = {name for name in vars(cmath) if not name.startswith("_")}
    assert names == {name for name in vars(gradwalk.cmath) if not name.startswith("_") and name != "annotations"}
    for name in names:
        ours = getattr(gradwalk.cmath, name)
        assert inspect.isfunction(ours) or ours == getattr(cmath, name) or cmath.isnan(ours)


@pytest.mark.parametrize("name", NAMES)
def test_results_of_plain_numbers_are_those_of_python(name):
    points = [
        complex(x, y) for x in (-math.inf, -2.0, -0.0, 0.0, 1.0, math.inf, math.nan) for y in (-math.inf, -0.0, 0.3)
    ]
    for z in [*POINTS, *points, 3, True, numpy.float32(0.5), numpy.complex64(1j)]:
        found = getattr(gradwalk.cmath, name)(z)
        assert type(found) is complex
        try:
            expected = getattr(cmath, name)(z)
        except (ValueError, OverflowError):
            continue
        assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [
        ("log", 0.0, complex(-math.inf, 0.0)),
        ("exp", 1000.0, complex(math.inf, 0.0)),
        ("atanh", 1.0, complex(math.inf, 0.0)),
        ("sin", complex(math.inf, 0.0), complex(math.nan, 0.0)),
        ("log10", -0.0, complex(-math.inf, math.pi / math.log(10.0))),
    ],
)
def test_infinite_and_undefined_results(name, argument, expected):
    numpy.testing.assert_equal(getattr(gradwalk.cmath, name)(argument), expected)


@pytest.mark.parametrize("name", NAMES)
def test_values_beside_python(name):
    function = getattr(gradwalk.cmath, name)
    for z in POINTS:
        expected = getattr(cmath, name)(z)
        for operand in (
            Complex(Value(z.real), Value(z.imag)),
            Complex(Value(z.real), z.imag),
            Complex(z.real, Value(z.imag)),
        ):
            assert abs(number(function(operand)) - expected) <= 4e-16 * abs(expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("recorded", [False, True])
def test_derivatives_beside_mpmath(name, recorded):
    function, (first, second) = getattr(gradwalk.cmath, name), DERIVATIVES[name]
    derivative = grad(function, holomorphic=True)
    both = [derivative, grad(derivative, holomorphic=True)]
    if recorded:
        both = [jit(f) for f in both]
    for z in POINTS if recorded else POINTS[::7] + ON_CUTS:
        w = exact(z)
        assert abs(mp.mpc(both[0](z)) - first(w)) <= 2e-15 * abs(first(w)), z
        assert abs(mp.mpc(both[1](z)) - second(w)) <= 2e-14 * abs(second(w)) + 1e-15, z


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_of_real_arguments(name):
    function, first = getattr(gradwalk.cmath, name), DERIVATIVES[name][0]
    points = numpy.array([-2.5, -0.5, 0.25, 1.5])
    for found in (vmap(jacobian(function))(points), [jacobian(function)(x) for x in points]):
        for x, slope in zip(points, found, strict=True):
            assert abs(complex(first(exact(complex(x)))) - slope) <= 1e-15 * max(1.0, abs(slope))


@given(r=st.floats(1e-3, 1e3), phi=st.floats(-3.0, 3.0))
def test_polar_coordinates(r, phi):
    z = gradwalk.cmath.rect(Value(r), Value(phi))
    assert z.data == pytest.approx(cmath.rect(r, phi))
    length, angle = gradwalk.cmath.polar(z)
    assert (length.data, angle.data) == pytest.approx((r, phi))
    assert gradwalk.cmath.polar(cmath.rect(r, phi)) == cmath.polar(cmath.rect(r, phi))
    assert grad(lambda r, phi: gradwalk.cmath.phase(gradwalk.cmath.rect(r, phi)), (0, 1))(r, phi) == pytest.approx(
        (0, 1), abs=1e-9
    )


def test_absolute_value_at_zero():
    for f in (abs, jit(abs)):
        assert grad(f)(0j) == 0j
        assert grad(lambda z, f=f: f(z) ** 2)(0j) == 0j


def test_powers_of_zero_and_roots():
    assert [number(Complex(Value(0.0), 0.0) ** p) for p in (2, 0, 1.5, 0.0)] == [0j, 1.0, 0j, 1.0]
    assert grad(lambda z: z**1.5, holomorphic=True)(0j) == 0j
    assert gradwalk.cmath.sqrt(Value(-4.0)).data == 2j
    assert gradwalk.cmath.sqrt(Complex(Value(-4.0), -0.0)).data == -2j


def test_logarithms_to_a_base():
    assert gradwalk.cmath.log(8.0, 2.0) == cmath.log(8.0, 2.0)
    assert gradwalk.cmath.log(Value(-8.0), 2j).data == pytest.approx(cmath.log(-8.0, 2j))
    array = gradwalk.cmath.log(numpy.array([1j, -2.0]), 3.0)
    assert array.tolist() == pytest.approx([cmath.log(1j, 3.0), cmath.log(-2.0, 3.0)])


def test_predicates():
    for name, z in itertools.product(
        ("isnan", "isinf", "isfinite"),
        (1j, complex(0.0, math.inf), complex(math.nan, 1.0), complex(-math.inf, math.nan)),
    ):
        expected = getattr(cmath, name)(z)
        function = getattr(gradwalk.cmath, name)
        assert function(z) is function(Complex(Value(z.real), Value(z.imag))) is expected
        assert jit(lambda z, f=function: f(z) * 1.0)(z) == expected
    for a, b in ((1j, 1j + 1e-12), (1j, 1j + 1e-3), (complex(math.inf, 0.0), complex(math.inf, 0.0)), (1j, math.inf)):
        assert gradwalk.cmath.isclose(a, b) is cmath.isclose(a, b)
        assert jit(lambda a, b: gradwalk.cmath.isclose(a, b) * 1.0)(a, complex(b)) == cmath.isclose(a, b)
    with pytest.raises(ValueError, match="must not be negative"):
        gradwalk.cmath.isclose(1j, 1j, rel_tol=-1.0)


def test_arrays_and_errors():
    array = numpy.array([[1j, 2.0], [-1.0, 0.5j]])
    numpy.testing.assert_allclose(gradwalk.cmath.exp(array), numpy.exp(array), rtol=1e-15)
    assert gradwalk.cmath.exp([1.0, 2.0]).dtype == complex
    assert [z.data for z in gradwalk.cmath.sqrt([Value(-4.0), Value(4.0)])] == [2j, 2.0]
    assert gradwalk.cmath.phase([1j, -1.0]).tolist() == [math.pi / 2, math.pi]
    for call in (lambda: gradwalk.cmath.exp("1"), lambda: gradwalk.cmath.phase(None), lambda: gradwalk.cmath.isnan([])):
        with pytest.raises(TypeError, match="takes complex and real numbers and Values"):
            call()
    with pytest.raises(TypeError, match=r"rect\(\) takes two Values or real numbers, got complex"):
        gradwalk.cmath.rect(1j, 0.0)
    with debug_nans(), pytest.raises(FloatingPointError):
        gradwalk.cmath.log(Value(math.nan))
