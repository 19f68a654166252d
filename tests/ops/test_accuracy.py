"""Tests that values and partials have an error of at most 4 ulp in every way of running: see docs/accuracy.md."""

from __future__ import annotations

import itertools
import math
import sys

import numpy
import pytest
from derivatives import (
    FIRST,
    FLOAT32,
    FLOAT64,
    OPCODES,
    SECOND,
    eager,
    exact,
    function,
    lanes,
    operands,
    quantities,
    ulps_off,
    worst,
)
from hypothesis import given
from hypothesis import strategies as st
from references import MPMATH, mpmath

from gradwalk import Value, grad, jit, vmap
from gradwalk.base import ieee
from gradwalk.ops.rows import Operation
from gradwalk.ops.table import BY_NAME, TABLE
from gradwalk.value.apply import apply

ROWS = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
SATURATING = ("tanh", "sigmoid", "softplus", "erf", "atan", "asin", "acos")

# Formulas with larger errors, listed in docs/operations.md, and the bounds that the tests use for them.
STATED = {("div", "d/dy"): math.inf, ("pow", "d/dx"): math.inf, ("pow", "d/dy"): math.inf, ("norm_ppf", "value"): 6.0}
STATED |= {("cbrt", "d/dx"): 6.0}
# Near a zero, where terms cancel, these quantities are accurate only relative to the size of their terms.
TERMS = {
    ("sinc", "d/dx"): lambda x: 1 / abs(x),
    ("silu", "d/dx"): lambda x: 1,
    ("gelu", "d/dx"): lambda x: 1,
    ("gamma", "value"): lambda x: 2 * abs(mpmath.gamma(x)),
    ("gamma", "d/dx"): lambda x: abs(mpmath.gamma(x)) * (2 + abs(mpmath.log(abs(x))) + abs(mpmath.cot(mpmath.pi * x))),
    ("lgamma", "value"): lambda x: 2 + abs(mpmath.loggamma(abs(x))) + abs(mpmath.log(abs(mpmath.sinpi(x)))),
    ("lgamma", "d/dx"): lambda x: 4 + abs(mpmath.log(abs(x))) + 4 * abs(mpmath.cot(mpmath.pi * x)),
    ("digamma", "value"): lambda x: 4 + abs(mpmath.log(abs(x))) + 4 * abs(mpmath.cot(mpmath.pi * x)),
    ("trigamma", "d/dx"): lambda x: 100 + 100 / abs(mpmath.sinpi(x)) ** 3,
}
# The regions where these quantities have the usual accuracy.
AWAY_FROM_ZEROS = {
    "sinc": lambda x: abs(x) < 1.0,
    "silu": lambda x: abs(x + 1.278) > 1.0,
    "gelu": lambda x: abs(x + 0.752) > 0.5,
}
STATED |= dict.fromkeys(TERMS, math.inf)
STATED |= {("logaddexp", "value"): math.inf}
# Second derivatives that lose accuracy because the partials cancel or are subnormal.
VAGUE = {"sigmoid": lambda x: abs(x) < 1.0, "erf": lambda x: abs(x) > 26.0}
# For these, near a zero of the second derivative.
VAGUE |= dict.fromkeys(["sinc", "silu", "gelu", "gamma", "digamma", "norm_pdf", "norm_ppf", "erfc"], lambda x: True)


def remedy(row: Operation, quantity: str, ulps: float, at: tuple[float, ...]) -> str:
    """Return the message of a failed test: the error and how a contributor can fix it."""
    return (
        f"{quantity} of {row.name} is {ulps:.1f} ulp off at {at}. Choose a second formula there by `unless` or "
        "`usually` in ops/table.py, or state the error in STATED or VAGUE of this file and in docs/operations.md"
    )


@ROWS
def test_values_and_partials_are_within_4_ulp(row):
    points = operands(row, 60)
    for quantity, (ulps, at) in worst(row, points, eager(row, points), FLOAT64).items():
        if quantity != "d²/dx²":
            assert ulps <= STATED.get((row.name, quantity), 4.0), remedy(row, quantity, ulps, at)


@ROWS
@pytest.mark.parametrize("of", [FLOAT64, FLOAT32], ids=["float64", "float32"])
def test_batches_are_within_6_ulp(row, of):
    """Vector functions are less accurate than the C library by 1 or 2 ulp."""
    points = operands(row, 20, of)
    for quantity, (ulps, at) in worst(row, points, lanes(row, points, of), of).items():
        if quantity != "d²/dx²":
            assert ulps <= STATED.get((row.name, quantity), 6.0), remedy(row, quantity, ulps, at)


@pytest.mark.parametrize(("name", "quantity"), TERMS)
def test_error_near_zeros_is_relative_to_the_terms(name, quantity):
    row, terms = BY_NAME[name], TERMS[name, quantity]
    points = operands(row, 60)
    function_of = dict(quantities(row))[quantity]
    away = AWAY_FROM_ZEROS.get(name, lambda x: x > 0.0)
    for (x,), number in zip(points, eager(row, points)[quantity], strict=True):
        true = exact(function_of, (x,))
        if true is None or exact(MPMATH[name], (x,)) is None or not 1e-300 < abs(true) < 1e300:
            continue
        scale = abs(true) if away(x) else max(abs(true), terms(mpmath.mpf(x)))
        assert abs(number - true) <= (8 if name == "gamma" else 4) * 2.0**-52 * scale, x


def test_quotients_are_inaccurate_only_if_subnormal():
    points = [(x, y) for x, y in operands(BY_NAME["div"], 60) if y and abs(x / y) > sys.float_info.min]
    assert worst(BY_NAME["div"], points, eager(BY_NAME["div"], points), FLOAT64)["d/dy"].ulps <= 4.0


@given(st.floats(-3.0, 0.0), st.floats(-1e-3, 1e-3))
def test_logaddexp_rounds_like_its_larger_operand(x, near):
    y = math.log1p(-math.exp(min(x, -1e-3))) + near  # the value is near 0, where the terms cancel
    true = exact(MPMATH["logaddexp"], (x, y))
    assert abs(apply(OPCODES["logaddexp"], x, y) - true) <= 2.0 * math.ulp(max(abs(x), abs(y), 1.0))


def test_powers_are_limited_by_the_rounding_of_exponents():
    """Points where `out` or pow(x, y - 1) overflows or underflows are skipped.

    Negative bases are tested only where y - 1 is exact and so has the opposite parity of y.
    """
    row = BY_NAME["pow"]
    for x, y in operands(row, 60):
        if not x or not all(-1022 < power * math.log2(abs(x)) < 1023 for power in (y, y - 1.0)):
            continue
        if not math.isnan(ieee.pow(x, y)) and (x > 0.0 or abs(y) < 2.0**53):
            found = eager(row, [(x, y)])
            off = worst(row, [(x, y)], found, FLOAT64)
            assert off["d/dx"].ulps <= 4.0 + abs((y - 1.0) * math.log(abs(x)))
            assert off["d/dy"].ulps <= 4.0


@pytest.mark.parametrize("name", sorted({*SECOND} - {*VAGUE}))
def test_second_derivatives_are_within_10_ulp(name):
    row = BY_NAME[name]
    points = operands(row, 20)
    for found in (eager(row, points), lanes(row, points, FLOAT64)):
        ulps, at = worst(row, points, found, FLOAT64)["d²/dx²"]
        assert ulps <= 10.0, at


@given(
    st.sampled_from(SATURATING),
    st.one_of(
        st.floats(-750.0, 750.0),
        st.floats(-2.0, 2.0),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from([20.0, -37.0, 572.0, 1e154, 1e103, 1e90, 1e-300, 1e-9, 5e-324, 1 - 2**-53, 2**-53 - 1]),
    ),
)
def test_all_ways_of_running_are_accurate_to_second_order(name, x):
    row = BY_NAME[name]
    if exact(MPMATH[name], (x,)) is None:
        return
    f = function(row)
    first, second = exact(FIRST[name][0], (x,)), exact(SECOND[name], (x,))
    for found in (f(Value(x)).partials[0], jit(grad(f))(x), vmap(grad(f))(numpy.array([x]))[0]):
        assert (ulps_off(float(found), first) or 0.0) <= 6.0
    if name not in VAGUE or not VAGUE[name](x):
        for found in (jit(grad(grad(f)))(x), vmap(grad(grad(f)))(numpy.array([x]))[0]):
            assert (ulps_off(float(found), second) or 0.0) <= 10.0


def test_reference_derivatives_agree_with_mpmath():
    for row in [row for row in TABLE if row.is_exact]:
        xs = tuple(0.29 * low + (0.7 - 0.1 * i) * high for i, (low, high) in enumerate(row.domain))  # not at a jump
        for position in range(row.arity):

            def along(t: mpmath.mpf, xs: tuple = xs, i: int = position, name: str = row.name) -> mpmath.mpf:
                return MPMATH[name](*xs[:i], t, *xs[i + 1 :])

            at = mpmath.mpf(xs[position])
            assert mpmath.almosteq(mpmath.diff(along, at), exact(FIRST[row.name][position], xs), 1e-15, 1e-20)
            if row.name in SECOND:
                assert mpmath.almosteq(mpmath.diff(along, at, 2), exact(SECOND[row.name], xs), 1e-12)


def test_errors_are_measured_in_ulp():
    assert ulps_off(1.0 + 2**-52, mpmath.mpf(1)) == 1.0
    assert ulps_off(1.0 + 2**-23, mpmath.mpf(1), FLOAT32) == 1.0
    assert ulps_off(math.nan, mpmath.mpf(1)) == math.inf
    assert ulps_off(1.0, mpmath.mpf(2) ** -1023) is ulps_off(1.0, mpmath.mpf(0)) is ulps_off(1.0, None) is None
    assert ulps_off(0.0, mpmath.mpf(2) ** -127, FLOAT32) is ulps_off(math.inf, mpmath.mpf(2) ** 1024) is None


@pytest.mark.parametrize(
    ("name", "xs"),
    [
        ("tanh", (20.0,)),
        ("sigmoid", (572.0,)),
        ("erf", (23.6,)),
        ("hypot", (5e-324, 5e-324)),
        ("hypot", (1.7e308, -1.7e308)),
        ("atan2", (7.1776903566221e-310, 1.88935625343641e-309)),
        ("atan2", (5e-324, 1e-10)),
    ],
)
def test_points_where_the_usual_formula_lost_digits(name, xs):
    out = apply(OPCODES[name], *map(Value, xs))
    for position, partial in enumerate(out.partials):
        assert (ulps_off(partial, exact(FIRST[name][position], xs)) or 0.0) <= 4.0


# Formulas that are not selected contribute nothing, whether or not the condition is constant.
EDGES = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 0.3, -2.0, 1e-300, 1e-160, 1e300, math.inf, -math.inf)


@pytest.mark.parametrize("row", [row for row in TABLE if row.arity == 2], ids=lambda row: row.name)
def test_constant_operands_change_no_derivative(row):
    f = function(row)
    for kept in [i for i in range(row.arity) if i not in row.non_differentiable]:
        whole = jit(grad(f, argnums=kept)), jit(grad(grad(f, argnums=kept), argnums=kept))
        for xs in itertools.product(EDGES, repeat=row.arity):

            def of_one(t: Value, kept: int = kept, xs: tuple = xs) -> Value:
                return f(*[t if i == kept else x for i, x in enumerate(xs)])

            folded = jit(grad(of_one))(xs[kept]), jit(grad(grad(of_one)))(xs[kept])
            assert numpy.array_equal([g(*xs) for g in whole], folded, equal_nan=True), xs
            batches = [vmap(g)(*[numpy.array([x]) for x in xs])[0] for g in whole]
            numpy.testing.assert_allclose(batches, folded, 1e-14, 0.0)


def test_power_of_zero_has_finite_derivatives():
    second = jit(grad(grad(lambda x, y: x**y)))
    assert [second(0.0, y) for y in (2.0, 3.0, 4.0)] == [2.0, 0.0, 0.0]
    assert jit(grad(grad(lambda y, x: x**y)))(2.0, 0.0) == 0.0
