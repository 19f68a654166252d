"""Tests of the Dormand-Prince steps against SciPy's RK45."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import RK45, solve_ivp

from gradwalk import debug_nans, jit, math, primitive
from gradwalk.solvers.ode import tableau
from gradwalk.solvers.ode.dormand_prince import Stepper


def pendulum(t: Any, y: Any) -> Any:
    return [y[1], -math.sin(y[0]) - 0.1 * y[1] + 0.2 * math.cos(t)]


FIELD = jit(lambda y, t: pendulum(t, y))
FIELD([0.0, 0.0], 0.0)


def rows(field: Any, start: list[float], times: Any, rtol: float, atol: float, longest: float = numpy.inf) -> Any:
    size = len(start)
    stepper = Stepper(field.program.interpreter, numpy.zeros(size + 1), (0, size, size), size, (rtol, atol, longest))
    return stepper.rows(numpy.array(start), numpy.array(times, float))


def test_tableau_matches_scipy():
    assert tableau.PLACES[:-1].tolist() == RK45.C[1:].tolist()
    assert tableau.WEIGHTS.reshape(6, 6)[:5, :5].tolist() == RK45.A[1:].tolist()
    assert tableau.WEIGHTS.reshape(6, 6)[5].tolist() == RK45.B.tolist()
    assert tableau.ERROR.tolist() == RK45.E.tolist()
    assert tableau.BETWEEN.reshape(7, 4).tolist() == RK45.P.tolist()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=2),
    st.lists(st.floats(-5.0, 5.0), min_size=2, max_size=6, unique=True),
    st.booleans(),
    st.sampled_from([1e-3, 1e-5, 1e-8]),
    st.sampled_from([numpy.inf, 0.1]),
)
def test_solutions_match_scipy(start, times, backward, tolerance, longest):
    times = sorted(times, reverse=backward)
    settings = {"rtol": tolerance, "atol": tolerance, "max_step": longest}
    expected = solve_ivp(pendulum, (times[0], times[-1]), start, t_eval=times, **settings).y.T
    # Rounding has little effect, but may decide whether a step is accepted.
    numpy.testing.assert_allclose(
        rows(FIELD, start, times, tolerance, tolerance, longest), expected, atol=1e-3 * tolerance
    )


def test_field_may_call_primitives():
    @primitive
    def sine(x):
        return float(numpy.sin(x))

    field = jit(lambda y, t: [y[1], -sine(y[0]) - 0.1 * y[1] + 0.2 * math.cos(t)])
    field([0.0, 0.0], 0.0)
    times = [0.0, 1.0, 3.0]
    assert rows(field, [1.0, 0.0], times, 1e-6, 1e-6).tolist() == rows(FIELD, [1.0, 0.0], times, 1e-6, 1e-6).tolist()


def test_errors_of_the_field_propagate():
    @primitive
    def refused(x):
        if x > 2.0:
            raise LookupError(x)
        return x

    field = jit(lambda y, t: [1.0 + 0.0 * refused(y[0])])
    field([0.0], 0.0)
    with pytest.raises(LookupError):
        rows(field, [0.0], [0.0, 10.0], 1e-6, 1e-6)


def test_too_small_steps_raise_with_the_time():
    field = jit(lambda y, t: [y[0] * y[0]])
    field([0.0], 0.0)
    with pytest.raises(ArithmeticError) as error:
        rows(field, [1.0], [0.0, 2.0], 1e-6, 1e-6)
    assert error.value.args[0] == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(ArithmeticError):
        rows(field, [numpy.nan], [0.0, 2.0], 1e-6, 1e-6)


def test_nan_raises_under_debug_nans():
    field = jit(lambda y, t: [math.sqrt(1.0 - t) + 0.0 * y[0]])
    field([0.0], 0.0)
    with debug_nans(), pytest.raises(FloatingPointError):
        rows(field, [1.0], [0.0, 2.0], 1e-6, 1e-6)


def test_many_steps_in_both_directions():
    """Check more steps than the path has room for at first."""
    for times in ([0.0, 50.0], [50.0, 0.0]):
        found = rows(FIELD, [1.0, 0.0], numpy.linspace(*times, 200), 1e-9, 1e-9)
        expected = solve_ivp(pendulum, times, [1.0, 0.0], t_eval=numpy.linspace(*times, 200), rtol=1e-9, atol=1e-9).y.T
        numpy.testing.assert_allclose(found, expected, atol=1e-8, rtol=1e-8)
