"""Difference quotients and what is known of their error, against mpmath."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk.quotients import slope

EPSILON = 2.3e-16
FUNCTIONS = {
    "sin": math.sin,
    "exp": math.exp,
    "atan": math.atan,
    "cosh": math.cosh,
    "erf": math.erf,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(x=st.floats(-20.0, 20.0))
def test_the_bound_holds(name, x):
    f = FUNCTIONS[name]
    truth = float(mpmath.diff(getattr(mpmath, name), mpmath.mpf(x)))
    found = slope(f, x, EPSILON * abs(f(x)))
    assert found.shape == "smooth"
    assert abs(found.estimate - truth) <= 4 * found.bound + 1e-13 * abs(truth)
    assert found.bound <= 1e-5 * max(abs(truth), abs(f(x)))


@given(st.floats(1e-12, 1e12), st.sampled_from([1.0, -1.0]))
def test_steps_follow_the_scale_of_x(x, sign):
    found = slope(lambda t: 1 / t, sign * x, EPSILON / x)
    assert found.quotient == pytest.approx(-1 / (x * x), rel=1e-8)


def test_tiny_and_huge_arguments_of_functions_of_scale_one():
    assert slope(lambda t: 1.0 + 3.0 * t, 1e-20, EPSILON).quotient == pytest.approx(3.0)
    assert slope(math.sin, 1e10, EPSILON).quotient == pytest.approx(math.cos(1e10), rel=1e-6)
    assert slope(math.sin, 0.0, 0.0).quotient == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("x", [0.0, 1e-3, 1.0, 1e6])
def test_kinks(x):
    found = slope(lambda t: 2.0 * max(t - x, 0.0) + t, x, EPSILON * abs(x))
    assert found.shape == "kink"
    assert (found.left, found.right) == pytest.approx((1.0, 3.0), rel=1e-4)


def test_small_kinks_on_large_curvature():
    assert slope(lambda t: 100.0 * t * t + 1e-3 * abs(t), 0.0, 0.0).shape == "kink"
    assert slope(lambda t: 100.0 * t * t, 0.0, 0.0).shape == "smooth"


@pytest.mark.parametrize("distance", [1e-1, 1e-3, 1e-5])
def test_kinks_beside_x_are_not_kinks_at_x(distance):
    for side in (1.0, -1.0):
        found = slope(lambda t, d=side * distance: abs(t - 1.0 - d), 1.0, EPSILON)
        assert found.shape == "smooth"
        assert found.quotient == pytest.approx(-side, rel=1e-6)


def test_jumps():
    assert slope(lambda t: 1.0 if t > 0 else 0.0, 0.0, EPSILON).shape == "jump"
    assert slope(lambda t: 5.0 if t == 0 else 0.0, 0.0, EPSILON).shape == "jump"


def root(t: float) -> float:
    return math.sqrt(t) if t >= 0 else math.nan


def test_one_side_only():
    found = slope(lambda t: root(t) ** 3, 0.0, 0.0)
    assert found.quotient == pytest.approx(0.0, abs=1e-3)
    found = slope(lambda t: t * 2 if t <= 1 else math.nan, 1.0, EPSILON)
    assert (found.quotient, found.shape) == (pytest.approx(2.0), "edge")


def test_nowhere_finite():
    assert slope(lambda t: math.nan, 1.0, 0.0).shape == "undefined"
    assert slope(lambda t: t, math.inf, 0.0).shape == "undefined"


def test_vertical_slopes():
    assert slope(lambda t: t**t if t >= 0 else math.nan, 0.0, EPSILON).shape == "undefined"
    assert slope(lambda t: math.copysign(abs(t) ** 0.5, t), 0.0, 0.0).shape == "undefined"


def test_a_given_step_is_taken():
    found = slope(lambda t: t * t, 3.0, EPSILON * 9, "forward", 1e-2)
    assert (found.quotient, found.h) == (pytest.approx(6.01), 1e-2)
    assert found.estimate == pytest.approx(6.0)
    assert slope(lambda t: t * t, 3.0, EPSILON * 9, "central", 1e-2).quotient == pytest.approx(6.0)
    assert slope(math.exp, 0.0, EPSILON, "forward").quotient == pytest.approx(1.0, rel=1e-6)
