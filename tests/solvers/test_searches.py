"""Newton's and Brent's methods as programs, beside SciPy's."""

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
    except ValueError:  # one sign at both ends
        return numpy.nan
    return found.root if found.converged else numpy.nan


@settings(max_examples=200, deadline=None)
@given(numbers, numbers, st.tuples(numbers, numbers, numbers))
def test_brents_steps_are_those_of_scipy(low, high, p):
    expected = in_scipy(p, bracket=[low, high])
    assert BRENT(low, high, *p) == pytest.approx(expected, abs=1e-11, nan_ok=True)


@settings(max_examples=200, deadline=None)
@given(numbers, st.tuples(numbers, numbers, numbers))
@pytest.mark.filterwarnings("ignore:Derivative was zero")
def test_newtons_steps_are_those_of_scipy(start, p):
    expected = in_scipy(p, x0=start, fprime=slope, method="newton")
    found = NEWTON(start, *p)
    if numpy.isnan(expected) or numpy.isnan(found):  # what rounding decides of chaos
        return
    assert f(found, *p) == pytest.approx(0.0, abs=1e-5 * max(1.0, abs(slope(found, *p))))


def test_roots_at_an_end_and_at_the_start():
    assert jit(lambda a: root_scalar(lambda x: x - a, bracket=[a, 2.0]))(1.0) == 1.0
    assert jit(lambda a: root_scalar(lambda x: x - a, bracket=[0.0, a]))(1.0) == 1.0
    assert jit(lambda a: root_scalar(lambda x: (x - a) ** 3, x0=a))(1.0) == 1.0
    assert jit(lambda a: root_scalar(lambda x: 1e-200 * (x - a), bracket=[0.0, 3.0]))(1.0) == 1.0


def test_tolerances_and_counts_are_heeded():
    for method in ({"bracket": [0.0, 9.0]}, {"x0": 1.0}):
        few = jit(lambda a, method=method: root_scalar(lambda x: x * x - a, maxiter=3, **method))
        assert numpy.isnan(few(4.0))
        rough = jit(lambda a, method=method: root_scalar(lambda x: x * x - a, xtol=0.5, **method))
        assert 1e-9 < abs(rough(4.0) - 2.0) < 0.5


def test_what_a_method_has_no_use_for_is_left_out():
    for method in ("newton", "brentq"):
        both = jit(lambda a, m=method: root_scalar(lambda x: x * x - a, method=m, bracket=[0.0, 9.0], x0=1.0))
        assert both(4.0) == pytest.approx(2.0)


def test_what_is_not_found_is_nan_and_so_are_its_derivatives_but_no_others():
    def found(a: Any) -> Any:
        return root_scalar(lambda x: x * x - a, x0=0.7)

    def between(a: Any) -> Any:
        return root_scalar(lambda x: x * x - a, bracket=[0.0, 3.0])

    for solve in (found, between):
        for derivative, expected in ((solve, [2.0, numpy.nan, 1.0]), (grad(solve), [0.25, numpy.nan, 0.5])):
            for recorded in (vmap(derivative), lambda xs, d=derivative: [jit(d)(x) for x in xs]):
                numpy.testing.assert_allclose(recorded(numpy.array([4.0, -1.0, 1.0])), expected, rtol=1e-7)


def test_programs_with_searches_need_no_python():
    recorded = jit(grad(lambda a: root_scalar(lambda x: x**3 - a, x0=1.0)))
    expected = recorded(8.0)
    assert expected == pytest.approx(1.0 / 12.0)
    assert Program.from_json(recorded.program.to_json()).run([8.0]).tolist() == [expected]
    assert "while" in recorded.program.to_c() or "for" in recorded.program.to_c()
