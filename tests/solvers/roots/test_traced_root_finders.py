"""Tests of Newton's and Brent's methods as traced programs against SciPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwalk import Program, grad, jit, math, vmap
from gradwalk.solvers import root_scalar

numbers = st.floats(-3.0, 3.0)


def f(x: Any, a: Any, b: Any, c: Any) -> Any:
    return ((x + a) * x + b) * x + c + math.sin(2.0 * x)


def slope(x: float, a: float, b: float, c: float) -> float:
    return (3.0 * x + 2.0 * a) * x + b + 2.0 * numpy.cos(2.0 * x)


BRENT = jit(lambda low, high, *p: root_scalar(f, p, bracket=[low, high]))
NEWTON = jit(lambda start, *p: root_scalar(f, p, x0=start))


def in_scipy(p: Any, **settings: Any) -> float:
    try:
        found = scipy.optimize.root_scalar(f, p, **settings)
    except ValueError:  # same sign at both ends
        return numpy.nan
    return found.root if found.converged else numpy.nan


@settings(max_examples=200, deadline=None)
@given(numbers, numbers, st.tuples(numbers, numbers, numbers))
def test_brent_matches_scipy(low, high, p):
    expected = in_scipy(p, bracket=[low, high])
    assert BRENT(low, high, *p) == pytest.approx(expected, abs=1e-11, nan_ok=True)


@settings(max_examples=200, deadline=None)
@given(numbers, st.tuples(numbers, numbers, numbers))
@pytest.mark.filterwarnings("ignore:Derivative was zero")
def test_newton_finds_roots_where_scipy_does(start, p):
    expected = in_scipy(p, x0=start, fprime=slope, method="newton")
    found = NEWTON(start, *p)
    if numpy.isnan(expected) or numpy.isnan(found):  # rounding decides whether a chaotic iteration converges
        return
    assert f(found, *p) == pytest.approx(0.0, abs=1e-5 * max(1.0, abs(slope(found, *p))))


def test_roots_at_an_end_and_at_the_start():
    assert jit(lambda a: root_scalar(lambda x: x - a, bracket=[a, 2.0]))(1.0) == 1.0
    assert jit(lambda a: root_scalar(lambda x: x - a, bracket=[0.0, a]))(1.0) == 1.0
    assert jit(lambda a: root_scalar(lambda x: (x - a) ** 3, x0=a))(1.0) == 1.0
    assert jit(lambda a: root_scalar(lambda x: 1e-200 * (x - a), bracket=[0.0, 3.0]))(1.0) == 1.0


def test_xtol_and_maxiter_are_respected():
    for method in ({"bracket": [0.0, 9.0]}, {"x0": 1.0}):
        few = jit(lambda a, method=method: root_scalar(lambda x: x * x - a, maxiter=3, **method))
        assert numpy.isnan(few(4.0))
        rough = jit(lambda a, method=method: root_scalar(lambda x: x * x - a, xtol=0.5, **method))
        assert 1e-9 < abs(rough(4.0) - 2.0) < 0.5


def test_unused_bracket_or_start_is_ignored():
    for method in ("newton", "brentq"):
        both = jit(lambda a, m=method: root_scalar(lambda x: x * x - a, method=m, bracket=[0.0, 9.0], x0=1.0))
        assert both(4.0) == pytest.approx(2.0)


def test_missing_roots_and_their_derivatives_are_nan():
    def found(a: Any) -> Any:
        return root_scalar(lambda x: x * x - a, x0=0.7)

    def between(a: Any) -> Any:
        return root_scalar(lambda x: x * x - a, bracket=[0.0, 3.0])

    for solve in (found, between):
        for derivative, expected in ((solve, [2.0, numpy.nan, 1.0]), (grad(solve), [0.25, numpy.nan, 0.5])):
            for recorded in (vmap(derivative), lambda xs, d=derivative: [jit(d)(x) for x in xs]):
                numpy.testing.assert_allclose(recorded(numpy.array([4.0, -1.0, 1.0])), expected, rtol=1e-7)


IN_FLOAT32 = {
    "a square": (lambda x, a: x * x - a, {"bracket": [0.0, 10.0]}, 3.0),
    "a root near zero": (lambda x, a: math.exp(x) - 1.0 - 1e-6 * a, {"bracket": [-1.0, 1.0]}, 0.5),
    "a large root": (lambda x, a: x - 1e6 * a, {"bracket": [0.0, 1e8]}, 1.0),
    "a cube, shifted": (lambda x, a: (x - 4.0) ** 3 + x - a, {"bracket": [-9.0, 99.0]}, 3.0),
}


@pytest.mark.parametrize("name", IN_FLOAT32)
def test_float32_batches_find_all_roots_and_derivatives(name):
    equation, bracket, start = IN_FLOAT32[name]
    a = numpy.linspace(1.0, 90.0, 1000)
    for given_to in (bracket, {"x0": start}):

        def solve(a: Any, given_to: Any = given_to) -> Any:
            return root_scalar(equation, a, **given_to)

        for f, least in ((solve, 2e-7), (grad(solve), 1e-6)):
            expected = vmap(f)(a)
            found = vmap(f)(a.astype(numpy.float32))
            assert found.dtype == numpy.float32
            numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=least)


def test_missing_roots_are_nan_in_float32():
    cycle = vmap(lambda a: root_scalar(lambda x: x**3 - 2.0 * x + a, x0=0.0))  # cycles: 0, 1, 0, 1, ...
    assert numpy.isnan(cycle(numpy.array([2.0], numpy.float32))).all()
    below = vmap(lambda a: root_scalar(lambda x: x * x - a, bracket=[0.0, 3.0]))
    assert numpy.isnan(below(numpy.array([-1.0, 10.0], numpy.float32))).all()


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9])
def test_float64_batches_match_scipy_bit_for_bit(scale):
    a = scale * numpy.linspace(1.0, 90.0, 200)
    in_bracket = [scipy.optimize.brentq(lambda x, a=x: x * x - a, 0.0, 10.0 * scale**0.5) for x in a]
    from_start = [scipy.optimize.newton(lambda x, a=x: x * x - a, x, lambda x: 2.0 * x) for x in a]
    assert vmap(lambda a: root_scalar(lambda x: x * x - a, bracket=[0.0, 10.0 * scale**0.5]))(a).tolist() == in_bracket
    assert vmap(lambda a: root_scalar(lambda x: x * x - a, x0=a))(a).tolist() == from_start


def test_json_and_c_of_traced_root_finders():
    recorded = jit(grad(lambda a: root_scalar(lambda x: x**3 - a, x0=1.0)))
    expected = recorded(8.0)
    assert expected == pytest.approx(1.0 / 12.0)
    assert Program.from_json(recorded.program.to_json()).run([8.0]).tolist() == [expected]
    assert "while" in recorded.program.to_c() or "for" in recorded.program.to_c()
