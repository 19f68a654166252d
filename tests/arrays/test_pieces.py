"""Tests of calls that compute arrays piece by piece, and of kernels that calls share."""

from __future__ import annotations

import gc

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_arrays import calls_of, compare_with_numbers, direction, x

from gradwalk import grad, jit, jvp
from gradwalk import numpy as gnp
from gradwalk.arrays import layout_calls, map_call, recorder
from gradwalk.arrays.run import array_program, pieces


def heat(a, x):
    """Let heat flow along a rod for three steps."""
    for _ in range(3):
        x = x.copy()
        x[1:-1] += a * (x[2:] - 2.0 * x[1:-1] + x[:-2])
    return (x * x).sum()


def with_walls(a, x):
    y = numpy.sin(x) * a
    y[0], y[-1] = 1.0, y[1]
    z = numpy.zeros_like(y)
    z[:-2] = y[1:-1] * y[2:]
    z[3:] -= y[:-3] / (2.0 + y[3:] ** 2)
    return (z * y).sum()


def in_columns(a, x):
    """Add and replace rows of a matrix, some of them by numbers."""
    m = numpy.stack([x, x * x, a * x], axis=1)
    m[2:] += m[:-2] * a
    m[:-1] = numpy.exp(m[1:]) - m[:-1]
    return (m[1:] * m[:-1]).sum() + (m * m).mean()


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Compute short arrays in pieces, too."""
    monkeypatch.setattr(pieces, "_LEAST_NUMBERS", 0)


FUNCTIONS = {"heat": heat, "walls": with_walls, "columns": in_columns}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_to_third_order(name, monkeypatch):
    """The numbers are compared by `compare_with_numbers`."""
    compare_with_numbers(FUNCTIONS[name], monkeypatch)


@pytest.mark.usefixtures("whole")
def test_a_step_of_a_stencil_is_one_call():
    recorded = jit(grad(lambda x: heat(0.1, x)))
    recorded(x)
    others = (map_call.MapCall, layout_calls.AddRows, layout_calls.Replace, layout_calls.Unslice)
    # Three steps, the slope of the sum of squares, and the three steps back.
    expected = [*[pieces.PiecesCall] * 3, map_call.MapCall, *[pieces.PiecesCall] * 3]
    assert calls_of(recorded, pieces.PiecesCall, *others) == expected


@pytest.mark.usefixtures("whole")
def test_short_arrays_are_computed_pass_by_pass(monkeypatch):
    """Test a length at which the calls of pieces would take longer."""
    monkeypatch.setattr(pieces, "_LEAST_NUMBERS", len(x) + 1)
    recorded = jit(lambda x: heat(0.1, x))
    numpy.testing.assert_allclose(recorded(x), heat(0.1, x), rtol=1e-14)
    assert calls_of(recorded, pieces.PiecesCall) == []


@pytest.mark.usefixtures("whole")
def test_few_rows_change_in_place():
    def f(x):
        y = x * x
        y[0] = 1.0
        y[-2:] += x[:2]
        return y

    recorded = jit(f)
    numpy.testing.assert_array_equal(recorded(x), [1.0, *(x * x)[1:-2], *(x * x)[-2:] + x[:2]])
    assert calls_of(recorded, pieces.PiecesCall) == []


@pytest.mark.usefixtures("whole")
def test_functions_are_not_computed_twice():
    """Test a call with a function of which two results are added to rows. Without the function, one call is enough."""
    for function, count in ((numpy.exp, 1), (numpy.square, 0)):
        recorded = jit(grad(lambda x, function=function: function(x[1:] - x[:-1]).sum()))
        slope = (numpy.exp if count else lambda d: 2.0 * d)(x[1:] - x[:-1])
        numpy.testing.assert_allclose(recorded(x), numpy.append(0.0, slope) - numpy.append(slope, 0.0), rtol=1e-14)
        assert len(calls_of(recorded, map_call.MapCall)) == count


@pytest.mark.usefixtures("whole")
def test_number_of_pieces_is_limited():
    def f(x):
        y = x * x
        for i in range(40):
            y[i : i + 60] += x[-60:] * float(i)
        return y

    u = numpy.linspace(-1.0, 1.0, 100)
    recorded = jit(f)
    numpy.testing.assert_array_equal(recorded(u), f(u))
    counts = [len(step.call.pieces) for step in recorded.latest.program._run_steps if _is_in_pieces(step)]
    assert counts
    assert max(counts) <= pieces._MOST_PIECES


def _is_in_pieces(step):
    return isinstance(getattr(step, "call", None), pieces.PiecesCall)


KEYS = st.tuples(st.integers(0, 6), st.integers(7, 12))
CHANGES = st.lists(
    st.tuples(st.sampled_from(["add", "set", "zero", "copy", "mix"]), KEYS, st.integers(0, 12)), max_size=8
)


@given(changes=CHANGES)
def test_random_changes_have_the_same_bits(changes):
    def f(x):
        y = x * 0.5
        for kind, (start, stop), shift in changes:
            rows = slice(start, stop)
            other = numpy.concatenate([x[shift:], x[:shift]])[rows]
            if kind == "add":
                y[rows] += other * y[rows]
            elif kind == "set":
                y[rows] = other + y[12 - stop : 12 - start]
            elif kind == "zero":
                y[rows] = 0.0
            elif kind == "copy":
                y = y.copy()
            else:
                y = y + gnp.roll(y, shift) * 0.25
        return (y * y * numpy.linspace(1.0, 2.0, 12)).sum() + (y[1:] * y[:-1]).sum()

    ways = [f, grad(f), lambda x: jvp(grad(f), (x,), (direction,))[1]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorder, "LEAST_SIZE", 1)
        patch.setattr(pieces, "_LEAST_NUMBERS", 0)
        found = [jit(lambda x, way=way: way(x))(x) for way in ways]
        patch.setattr(array_program, "with_pieces", lambda steps, outputs: list(steps))
        expected = [jit(lambda x, way=way: way(x))(x) for way in ways]
    for result, known in zip(found, expected, strict=True):
        numpy.testing.assert_array_equal(result, known)


@pytest.mark.usefixtures("whole")
def test_scatters_read_arrays_as_they_are_in_memory():
    neighbors = numpy.array([[1, 2], [0, 0], [3, 11], [3, 3]])
    recorded = jit(grad(lambda x: (numpy.sin(x[neighbors]) ** 2).sum()))
    expected = numpy.bincount(neighbors.ravel(), numpy.sin(2.0 * x[neighbors]).ravel(), 12)
    numpy.testing.assert_allclose(recorded(x), expected, rtol=1e-14)
    # The selected elements become rows, which is a view. Their cotangents are not reshaped.
    calls = calls_of(recorded, layout_calls.Reshape, layout_calls.Scatter, layout_calls.ScatterNumbers)
    assert calls == [layout_calls.Reshape, layout_calls.ScatterNumbers]


@pytest.mark.usefixtures("whole")
def test_earlier_results_and_arguments_stay():
    recorded = jit(grad(lambda x: heat(0.1, x)))
    u = x.copy()
    first = recorded(u)
    copy = first.copy()
    for scale in (2.0, 3.0):
        recorded(scale * u)
    numpy.testing.assert_array_equal(first, copy)
    numpy.testing.assert_array_equal(u, x)


@pytest.mark.usefixtures("whole")
class TestSharedKernels:
    def test_equal_programs_share_a_kernel(self):
        recorded = jit(lambda x: heat(0.1, x))
        recorded(x)
        steps = [step.call for step in recorded.latest.program._run_steps if _is_in_pieces(step)]
        kernels = [call._calls[1]._making for call in steps]
        assert len(kernels) == 3
        assert len(set(map(id, kernels))) == 1

    def test_other_constants_and_options_have_other_kernels(self):
        f = lambda c: lambda x: x * x * c + x * x  # noqa: E731
        made = [jit(lambda x: x * x * 0.0), jit(lambda x: x * x * -0.0), jit(f(2.0)), jit(f(2.0), contract=True)]
        results = [recorded(x) for recorded in made]
        assert numpy.signbit(results[:2]).tolist() == [[False] * len(x), [True] * len(x)]
        kernels = [recorded.latest.program._run_steps[-1].call._making for recorded in made]
        assert len(set(map(id, kernels))) == 4

    def test_kernels_are_freed_with_their_functions(self):
        gc.collect()
        before = len(map_call._KERNELS)
        recorded = jit(lambda x: x * 0.123456 + 7.25)
        recorded(x)
        assert len(map_call._KERNELS) == before + 1
        del recorded
        gc.collect()
        assert len(map_call._KERNELS) == before
