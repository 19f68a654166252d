"""gradwalk's vector functions on every instruction set, compared with mpmath and NumPy."""

from __future__ import annotations

import ctypes
import math

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given
from hypothesis import strategies as st
from kernels import same
from programs import fewer
from references import mpmath

from gradwalk.backend import launch
from gradwalk.backend.cpu import lanes
from gradwalk.backend.lane_kernel import INSTRUCTION_SETS

NAMES = launch.ROW_FUNCTIONS
KINDS = (numpy.float64, numpy.float32)
SETS = range(len(INSTRUCTION_SETS) if IS_COMPILED else 0)  # only compiled kernels have vector functions
LOG_2 = math.log(2.0)

# Boundaries between algorithms and ends of the range, in float64. For float32 they are rounded.
EDGES = {
    "exp": [709.782712893384, 88.72283905206835, -708.3964185322641, -87.3365447505531, -745.1332191019411, -103.97208],
    "expm1": [709.782712893384, 88.72283905206835, 2.0**-54, 2.0**-24, -37.42994775023705, 17.32867951399863, -104.0],
    "log": [
        1.0,
        math.sqrt(0.5),
        math.sqrt(2.0),
        2.2250738585072014e-308,
        1.1754943508222875e-38,
        1.7976931348623157e308,
    ],
    "log1p": [
        -1.0,
        1.0,
        math.sqrt(0.5) - 1.0,
        math.sqrt(2.0) - 1.0,
        2.0**-54,
        -(2.0**-54),
        2.0**-24,
        9007199254740992.0,
    ],
    "sin": [math.pi / 4, math.pi, 2.0**-27, 2.0**-12, 1048576.0, -1048576.0],
    "cos": [math.pi / 4, math.pi, 2.0**-27, 2.0**-12, 1048576.0, -1048576.0],
    "tanh": [2.0**-27, 2.0**-12, LOG_2 / 4, math.log(3.0) / 2, 19.06, 26.0, 9.01, 11.5],
}
# The float64 angle that is closest to a multiple of pi/2: J.-M. Muller, Elementary Functions, chapter 11.
NEXT_TO_A_MULTIPLE = 6381956970095103.0 * 2.0**797
SMALLEST, LARGE = "the smallest number", "a large number"
SPECIAL = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (math.inf, math.inf), (-math.inf, 0.0), (LARGE, math.inf), (-1000.0, 0.0)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (math.inf, math.inf), (-math.inf, -1.0), (LARGE, math.inf), (-1000.0, -1.0)],
    "log": [
        (1.0, 0.0),
        (0.0, -math.inf),
        (-0.0, -math.inf),
        (math.inf, math.inf),
        (-math.inf, math.nan),
        (-2.0, math.nan),
    ],
    "log1p": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (-1.0, -math.inf),
        (math.inf, math.inf),
        (-math.inf, math.nan),
        (-2.0, math.nan),
    ],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (math.inf, math.nan), (-math.inf, math.nan), (SMALLEST, SMALLEST)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (math.inf, math.nan), (-math.inf, math.nan), (SMALLEST, 1.0)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (math.inf, 1.0), (-math.inf, -1.0), (LARGE, 1.0), (SMALLEST, SMALLEST)],
}


def apply_function(name, numbers, which):
    """Apply the vector function of an instruction set to numbers, padded to a multiple of 16."""
    count = len(numbers)
    row = numpy.resize(numbers, -(-count // 16) * 16)
    address = launch.row_functions(which, row.dtype == numpy.float32)[name]
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, ctypes.c_int64)(address)(row.ctypes.data, row.ctypes.data, len(row))
    return row[:count]


def edges(name, kind):
    """Return the edges of a function that are finite and nonzero in this dtype."""
    with numpy.errstate(all="ignore"):
        found = [kind(edge) for edge in EDGES[name]]
    return [edge for edge in found if edge != 0.0 and math.isfinite(edge)]


def neighbors(number, kind, count=40):
    """Return a number with `count` neighbors on each side."""
    bits = numpy.asarray(number, kind).view(f"i{numpy.dtype(kind).itemsize}")
    return (bits + numpy.arange(-count, count + 1, dtype=bits.dtype)).view(kind)


def ulps(found, true):
    """Return the error of a result in units in the last place of the true number."""
    kind = found.dtype.type
    with numpy.errstate(over="ignore"):
        nearest = kind(true)
    if math.isinf(nearest) or math.isinf(found):
        return 0.0 if found == nearest else math.inf
    return float(abs(mpmath.mpf(float(found)) - true) / mpmath.mpf(float(numpy.spacing(abs(nearest)))))


def assert_near(name, numbers):
    """Check that all instruction sets give the same bits, with errors of at most 1 ulp."""
    results = [apply_function(name, numbers, which) for which in SETS]
    for found in results:
        assert same(found, results[0]).all()
    for x, found in zip(numbers.tolist(), results[0] if results else [], strict=bool(results)):
        if not math.isfinite(x) or (name == "log" and x <= 0.0) or (name == "log1p" and x <= -1.0):
            continue  # see SPECIAL
        assert ulps(found, getattr(mpmath, name)(mpmath.mpf(x))) <= 1.0, x


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
@fewer(2)
@given(data=st.data())
def test_functions_are_within_1_ulp(name, kind, data):
    of = {"width": 8 * numpy.dtype(kind).itemsize, "allow_nan": False}
    size = st.floats(0.0009765625, 1024.0, **of)
    drawn = st.lists(st.one_of(st.floats(**of), size, size.map(lambda x: -x)), min_size=16, max_size=48)
    assert_near(name, numpy.array(data.draw(drawn), kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_functions_are_within_1_ulp_at_edges(name, kind):
    for edge in edges(name, kind):
        assert_near(name, neighbors(edge, kind))
        if name not in ("log", "log1p"):
            assert_near(name, neighbors(-edge, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["exp", "expm1", "tanh"])
def test_exponentials_are_within_1_ulp_between_powers_of_2(name, kind):
    halves = [(k + 0.5) * LOG_2 / (2 if name == "tanh" else 1) for k in range(-30, 40)]
    assert_near(name, numpy.concatenate([neighbors(x, kind, 2) for x in halves]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_angles_of_any_size_are_within_1_ulp(name, kind):
    multiples = [k * math.pi / 4 for k in [*range(1, 60), *[3**i for i in range(4, 26)]]]
    powers = [2.0**i for i in range(15, 128 if kind is numpy.float32 else 1024, 13)]
    assert_near(name, numpy.concatenate([neighbors(x, kind, 1) for x in [*multiples, *powers]]))
    if kind is numpy.float64:
        assert_near(name, neighbors(NEXT_TO_A_MULTIPLE, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_special_numbers(name, kind):
    meant = {SMALLEST: numpy.finfo(kind).smallest_subnormal, LARGE: numpy.finfo(kind).max}
    for which in SETS:
        assert numpy.isnan(apply_function(name, numpy.array([math.nan, -math.nan], kind), which)).all()
        for x, expected in SPECIAL[name]:
            found = apply_function(name, numpy.array([meant.get(x, x)], kind), which)
            assert same(found, numpy.array([meant.get(expected, expected)], kind)).all(), (x, which)


@pytest.mark.parametrize("name", NAMES)
def test_float32_agrees_with_float64_over_its_range(name):
    # Every 9,973rd bit pattern of float32.
    numbers = numpy.arange(0, 2**32, 9973, dtype=numpy.uint32).view(numpy.float32)
    with numpy.errstate(all="ignore"):
        true = getattr(numpy, name)(numbers.astype(float))
        nearest = true.astype(numpy.float32)
        for which in SETS:
            found = apply_function(name, numbers, which)
            off = abs(found.astype(float) - true) / numpy.spacing(abs(nearest)).astype(float)
            assert ((off <= 1.0) | same(found, nearest)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "tanh"])
def test_functions_are_monotonic(name, kind):
    # The steps are large enough to change results by several ulps, except where the function is constant.
    step = 64 * float(numpy.finfo(kind).eps)
    for edge in [x for x in edges(name, kind) if name != "tanh" or x < 2.0]:
        with numpy.errstate(over="ignore"):
            numbers = numpy.sort((float(edge) * (1.0 + step * numpy.arange(-50, 51))).astype(kind))
        for which in SETS:
            found = apply_function(name, numbers[numbers > -1.0] if name == "log1p" else numbers, which)
            assert (found[1:] >= found[:-1]).all(), edge


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_a_huge_angle_does_not_affect_other_lanes(name, kind):
    numbers = numpy.random.default_rng(0).normal(size=64).astype(kind) * 100
    for which in SETS:
        alone = apply_function(name, numbers, which)
        for huge in (1e22, -3e7, math.inf, math.nan):
            beside = numbers.copy()
            beside[11] = huge
            assert same(apply_function(name, beside, which), alone)[numpy.arange(64) != 11].all()


def test_only_compiled_kernels_have_vector_functions():
    assert set(launch.row_functions(0, False)) == set(NAMES if IS_COMPILED else ())
    assert lanes.row_function(b"exp", 0, False) == 0  # the kernel in Python
