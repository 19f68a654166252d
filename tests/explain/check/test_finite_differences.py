"""Tests of difference quotients and their error bounds against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from references import mpmath

from gradwalk.explain.check.finite_differences import Method, Slope, quotient, slope

EPSILON = 2.3e-16


def found_by(f: Callable[[float], float], x: float, noise: float, method: Method = "central") -> Slope:
    return slope(lambda t: (f(t), noise), x, method)


FUNCTIONS = {
    "sin": math.sin,
    "exp": math.exp,
    "atan": math.atan,
    "cosh": math.cosh,
    "erf": math.erf,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(x=st.floats(-20.0, 20.0))
def test_error_is_within_the_bound(name, x):
    f = FUNCTIONS[name]
    truth = float(mpmath.diff(getattr(mpmath, name), mpmath.mpf(x)))
    found = found_by(f, x, EPSILON * abs(f(x)))
    assert found.shape == "smooth"
    assert abs(found.estimate - truth) <= 4 * found.bound + 1e-13 * abs(truth)
    assert found.bound <= 1e-5 * max(abs(truth), abs(f(x)))


@given(st.floats(1e-12, 1e12), st.sampled_from([1.0, -1.0]))
def test_steps_follow_the_scale_of_x(x, sign):
    found = found_by(lambda t: 1 / t, sign * x, EPSILON / x)
    assert found.estimate == pytest.approx(-1 / (x * x), rel=1e-8)


def test_tiny_and_huge_arguments():
    assert found_by(lambda t: 1.0 + 3.0 * t, 1e-20, EPSILON).estimate == pytest.approx(3.0)
    assert found_by(math.sin, 1e10, EPSILON).estimate == pytest.approx(math.cos(1e10), rel=1e-6)
    assert found_by(math.sin, 0.0, 0.0).estimate == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("x", [0.0, 1e-3, 1.0, 1e6])
def test_kinks(x):
    found = found_by(lambda t: 2.0 * max(t - x, 0.0) + t, x, EPSILON * abs(x))
    assert found.shape == "kink"
    assert (found.left, found.right) == pytest.approx((1.0, 3.0), rel=1e-4)


def test_small_kinks_on_large_curvature():
    assert found_by(lambda t: 100.0 * t * t + 1e-3 * abs(t), 0.0, 0.0).shape == "kink"
    assert found_by(lambda t: 100.0 * t * t, 0.0, 0.0).shape == "smooth"


@pytest.mark.parametrize("distance", [1e-1, 1e-3, 1e-5])
def test_kinks_near_x_are_not_kinks_at_x(distance):
    for side in (1.0, -1.0):
        found = found_by(lambda t, d=side * distance: abs(t - 1.0 - d), 1.0, EPSILON)
        assert found.shape == "smooth"
        assert found.estimate == pytest.approx(-side, rel=1e-6)


def test_jumps():
    assert found_by(lambda t: 1.0 if t > 0 else 0.0, 0.0, EPSILON).shape == "jump"
    assert found_by(lambda t: 5.0 if t == 0 else 0.0, 0.0, EPSILON).shape == "jump"


def root(t: float) -> float:
    return math.sqrt(t) if t >= 0 else math.nan


def test_functions_defined_on_one_side():
    found = found_by(lambda t: root(t) ** 3, 0.0, 0.0)
    assert found.estimate == pytest.approx(0.0, abs=1e-3)
    found = found_by(lambda t: t * 2 if t <= 1 else math.nan, 1.0, EPSILON)
    assert (found.estimate, found.shape) == (pytest.approx(2.0), "edge")


def test_functions_without_finite_values():
    assert found_by(lambda t: math.nan, 1.0, 0.0).shape == "undefined"
    assert found_by(lambda t: t, math.inf, 0.0).shape == "undefined"


def test_vertical_slopes():
    assert found_by(lambda t: t**t if t >= 0 else math.nan, 0.0, EPSILON).shape == "undefined"
    assert found_by(lambda t: math.copysign(abs(t) ** 0.5, t), 0.0, 0.0).shape == "undefined"


def test_given_steps_are_used_even_if_bad():
    def square(t: float) -> tuple[float, float]:
        return t * t, EPSILON * 9

    assert quotient(square, 3.0, 1e-2, "forward") == pytest.approx(6.01)
    assert quotient(square, 3.0, 1e-2, "central") == pytest.approx(6.0)
    assert math.isnan(quotient(square, 3.0, 1e-30, "central"))
    assert slope(square, 3.0, "forward").estimate == pytest.approx(6.0, rel=1e-6)


ABOVE = 1.0 + 1e-9


@pytest.mark.parametrize(
    ("f", "x", "truth"),
    [
        (lambda t: abs(t) + 1.0, 1e-8, 1.0),
        (lambda t: max(t, 1.0), 1.00000001, 1.0),
        (lambda t: math.acos(t) if abs(t) <= 1 else math.nan, 1 - 1e-9, -1 / math.sqrt(1 - (1 - 1e-9) ** 2)),
        (lambda t: math.log(1 - t) if t < 1 else math.nan, 1 - 1e-9, -1 / (1 - (1 - 1e-9))),
        (lambda t: 1 / (t - 1) if t != 1 else math.inf, ABOVE, -1 / (ABOVE - 1) ** 2),
        (math.tan, -2814.848894471886, 1 + math.tan(-2814.848894471886) ** 2),
        (math.cos, 5874227.749646353, -math.sin(5874227.749646353)),
        (lambda t: math.sin(1e6 * t), 1.0, 1e6 * math.cos(1e6)),
        (lambda t: math.tanh(1e9 * (t - 1.0)), 1.0, 1e9),
        (lambda t: math.sin(math.sinh(t)), 20.0, math.cos(math.sinh(20.0)) * math.cosh(20.0)),
    ],
)
def test_functions_that_vary_on_a_small_scale(f, x, truth):
    noise = 4 * EPSILON * max(abs(f(x)), abs(truth * x))
    found = found_by(f, x, noise)
    assert found.shape in ("smooth", "edge")
    assert abs(found.estimate - truth) <= 4 * found.bound
    assert found.bound < 0.05 * abs(truth)
