"""Random Python functions give the same values and derivatives in each way of running, whatever branches they take."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from branching_programs import function_of, source_of
from hypothesis import given, note
from hypothesis import strategies as st
from programs import fewer

from gradwalk import Value, grad, hessian, jit, value_and_grad, vmap

POINTS = [(0.4, 1.3), (-1.2, 0.6), (2.2, -0.7), (0.45, 1.25), (-0.3, -2.4), (1.7, 3.1), (0.4, 1.3), (-1.2, 0.55)]


def answer(f: Any, point: Any) -> Any:
    """Return the result of a call as a list of numbers, or the type of the exception that it raises."""
    try:
        found = f(*point)
    except (ArithmeticError, ValueError) as error:  # ValueError: int() of nan
        return type(error)
    flat = numpy.hstack([numpy.ravel(part) for part in (found if isinstance(found, tuple) else (found,))])
    return [x.data if isinstance(x, Value) else float(x) for x in flat.tolist()]


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, list) and isinstance(found, list):
        numpy.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    else:
        assert found == expected


@pytest.mark.filterwarnings("ignore::gradwalk.ZeroDerivativeWarning", "ignore::gradwalk.RecordingWarning")
@given(st.integers(0, 2**40))
@fewer(2)
def test_all_ways_of_running_agree(seed):
    source = source_of(seed)
    note(source)
    f = function_of(source)
    pair = value_and_grad(f, (0, 1))
    plain, slopes = ([answer(function, point) for point in POINTS] for function in (f, pair))
    values = [slope if isinstance(slope, type) else slope[:1] for slope in slopes]
    for number, value in zip(plain, values, strict=True):
        if isinstance(number, list):  # round() of an infinite float raises an error, and of a Value it does not
            assert_same(number, value)
    recorded, recorded_pair, nested, slopes_of_jit = (
        jit(f),
        jit(pair),
        jit(jit(pair)),
        grad(jit(f), (0, 1)),
    )
    for point, value, slope in zip(POINTS, values, slopes, strict=True):
        assert_same(answer(recorded, point), value)
        assert_same(answer(recorded_pair, point), slope)
        assert_same(answer(nested, point), slope)
        assert_same(answer(slopes_of_jit, point), slope if isinstance(slope, type) else slope[1:])
    batch = [point for point, value in zip(POINTS, values, strict=True) if isinstance(value, list)]
    if not batch:
        return
    columns = [numpy.array(column) for column in zip(*batch, strict=True)]
    kept = [slope for slope in slopes if isinstance(slope, list)]
    for batched in (vmap(pair), jit(vmap(pair))):
        for _ in range(2):
            found, (by_x, by_y) = batched(*columns)
            assert_same(numpy.stack([found, by_x, by_y], axis=1).ravel().tolist(), numpy.ravel(kept).tolist())
    assert_same([vmap(f, reduce="sum")(*columns)], [sum(slope[0] for slope in kept)])


@pytest.mark.filterwarnings("ignore::gradwalk.ZeroDerivativeWarning")
@pytest.mark.parametrize("seed", range(20))
def test_second_derivatives_agree(seed):
    f = function_of(source_of(seed))
    second = hessian(lambda x: f(x[0], x[1]))
    recorded = jit(second)
    for point in POINTS[:4]:
        assert_same(answer(recorded, (list(point),)), answer(second, (list(point),)))
