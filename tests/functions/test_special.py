"""Tests of the special functions: values and derivatives to third order by mpmath, corners by SciPy."""

from __future__ import annotations

import itertools
import math

import numpy
import pytest
from c_compiler import SAME_BITS, compiled
from checkout import IS_COMPILED
from hypothesis import given
from hypothesis import strategies as st
from references import jax, needs, scipy_special
from special_references import SPECIALS, draw, exact, relative_error

import gradwalk.math as gm
from gradwalk import Value, debug_nans, grad, jit, vmap

INF, NAN = math.inf, math.nan
EVERY = pytest.mark.parametrize("name", SPECIALS)
OF_ONE = ["entr", "expit", "logit", "erfcinv", "erfinv", "log_ndtr", "ndtr", "ndtri", "zeta", "exp1", "expi"]
OF_ONE += ["i0e", "i1e", "k0", "k0e", "k1", "k1e"]
OF_TWO = ["rel_entr", "xlog1py", "xlogy", "owens_t", "gammainc", "gammaincc"]
CORNERS = (NAN, -INF, -2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 30.0, 1e-300, 1e200, INF)


def orders(function, argnum):
    """Yield a function and its first three derivatives with respect to one operand."""
    for order in range(4):
        yield order, function
        function = grad(function, argnums=argnum)


@EVERY
@pytest.mark.parametrize("tails", [False, True], ids=["ordinary", "tails"])
def test_values_and_three_derivatives_agree_with_mpmath(name, tails):
    special = SPECIALS[name]
    for xs in draw(special, tails, 3 if IS_COMPILED else 1, 5):
        for argnum in range(len(xs)):
            for order, function in orders(special.function, argnum):
                true = exact(special, xs, argnum, order)
                error = relative_error(special, xs, jit(function)(*xs), true)
                assert error <= (1e-13 if order < 2 else 1e-11), (order, argnum, xs, true)


@EVERY
def test_all_ways_of_running_agree(name):
    special = SPECIALS[name]
    for xs in draw(special, True, 2, 6):
        number = special.function(*xs)
        operands = [Value(x) for x in xs]
        out = special.function(*operands)
        out.backward()
        columns = [numpy.array([x, x]) for x in xs]
        assert type(number) is float
        for found in (out.data, jit(special.function)(*xs), vmap(special.function)(*columns)[1]):
            assert found == pytest.approx(number, rel=1e-13, abs=1e-300)
        elements = special.function(*columns)
        assert elements.dtype == float
        assert elements.tolist() == [number, number]
        gradient = grad(special.function, argnums=tuple(range(len(xs))))
        slopes = gradient(*xs)
        assert [x.grad for x in operands] == pytest.approx(slopes, rel=1e-11, abs=1e-300)
        assert [float(batch[0]) for batch in vmap(gradient)(*columns)] == pytest.approx(slopes, rel=1e-11, abs=1e-300)


@needs("scipy")
@pytest.mark.parametrize("name", OF_ONE + OF_TWO)
def test_corners_agree_with_scipy(name):
    function, theirs = getattr(gm, name), getattr(scipy_special, name)
    recorded = jit(function)
    for xs in itertools.product(CORNERS, repeat=1 if name in OF_ONE else 2):
        expected = pytest.approx(float(theirs(*xs)), rel=1e-10, abs=1e-300, nan_ok=True)
        assert function(*xs) == expected, xs
        assert recorded(*xs) == expected, xs


@needs("scipy")
def test_corners_of_betainc_agree_with_scipy():
    recorded = jit(gm.betainc)
    for xs in itertools.product((NAN, -1.0, 0.0, 0.5, 1.0, 2.0, INF, 1e-200, 1e6), repeat=3):
        expected = pytest.approx(float(scipy_special.betainc(*xs)), rel=1e-9, abs=1e-300, nan_ok=True)
        assert gm.betainc(*xs) == expected, xs
        assert recorded(*xs) == expected, xs


@pytest.mark.parametrize(
    ("function", "xs", "expected"),
    [
        (gm.kl_div, (0.0, 2.0), 2.0),
        (gm.kl_div, (1.0, 0.0), INF),
        (gm.kl_div, (0.5, INF), INF),
        (gm.kl_div, (-1.0, 1.0), INF),
        (gm.betaln, (2.0, INF), -INF),
        (gm.betaln, (0.0, 1.0), INF),
        (gm.betaln, (-1.5, 2.0), math.log(4 / 3)),
        (gm.zeta, (1.0, 2.0), INF),
        (gm.zeta, (2.0, 0.0), INF),
        (gm.zeta, (2.0, INF), 0.0),
        (gm.zeta, (0.5, 2.0), NAN),
        (gm.zeta, (1e300, 1.0), 1.0),
        (gm.zeta, (-4.0,), 0.0),
        (gm.zeta, (0.0,), -0.5),
        (gm.i0, (-INF,), INF),
        (gm.i1, (-INF,), -INF),
        (gm.j0, (INF,), 0.0),
        (gm.j1, (-INF,), 0.0),
        (gm.lambertw, (INF,), INF),
        (gm.lambertw, (-0.5,), NAN),
        (gm.lambertw, (-math.exp(-1.0) + 1e-16,), -1.0 + math.sqrt(2.0 * math.e * (1e-16 - 1.3e-17))),
        (gm.polygamma, (3, 0.0), INF),
        (gm.polygamma, (0, 2.0), gm.digamma(2.0)),
        (gm.polygamma, (1, 2.0), gm.trigamma(2.0)),
    ],
)
def test_values_at_corners(function, xs, expected):
    assert function(*xs) == pytest.approx(expected, rel=1e-8, nan_ok=True)


@pytest.mark.parametrize(
    ("function", "argnum", "xs", "expected"),
    [
        (gm.entr, 0, (0.0,), INF),
        (gm.xlogy, 0, (0.0, 0.0), -INF),
        (gm.xlogy, 1, (0.0, 0.0), 0.0),
        (gm.xlogy, 0, (0.0, 2.0), math.log(2.0)),
        (gm.xlog1py, 0, (0.0, -1.0), -INF),
        (gm.rel_entr, 0, (0.0, 1.0), -INF),
        (gm.rel_entr, 1, (0.0, 1.0), 0.0),
        (gm.kl_div, 1, (0.0, 1.0), 1.0),
        (gm.logit, 0, (0.0,), INF),
        (gm.erfinv, 0, (0.0,), math.sqrt(math.pi) / 2),
        (gm.gammainc, 1, (1.0, 0.0), 1.0),
        (gm.gammainc, 1, (0.5, 0.0), INF),
        (gm.gammainc, 1, (3.0, 0.0), 0.0),
        (gm.gammaincc, 1, (1.0, 0.0), -1.0),
        (gm.gammaincc, 0, (0.0, 1.0), gm.exp1(1.0)),
        (gm.betainc, 2, (1.0, 2.0, 0.0), 2.0),
        (gm.betainc, 2, (2.0, 1.0, 1.0), 2.0),
        (gm.betainc, 2, (9.0, 9.0, 0.0), 0.0),
        (gm.owens_t, 1, (1.0, 0.0), math.exp(-0.5) / (2 * math.pi)),
        (gm.i0e, 0, (0.0,), 0.0),
        (gm.i1, 0, (0.0,), 0.5),
        (gm.j1, 0, (0.0,), 0.5),
        (gm.lambertw, 0, (0.0,), 1.0),
    ],
)
def test_derivatives_at_corners(function, argnum, xs, expected):
    slope = grad(function, argnums=argnum)
    assert slope(*xs) == pytest.approx(expected, rel=1e-12)
    assert jit(slope)(*xs) == pytest.approx(expected, rel=1e-12)


def test_second_derivatives_at_zero():
    second = jit(grad(grad(gm.owens_t)))
    assert second(0.0, 0.7) == pytest.approx(-0.7 / (2 * math.pi), rel=1e-13)
    assert jit(grad(grad(gm.j0)))(0.0) == pytest.approx(-0.5, rel=1e-13)
    assert jit(grad(grad(gm.i0)))(0.0) == pytest.approx(0.5, rel=1e-13)


POSITIVE = st.floats(-3.0, 5.0).map(math.exp)


@given(POSITIVE, POSITIVE)
def test_derivative_of_gammainc_is_the_density(a, x):
    density = math.exp((a - 1.0) * math.log(x) - x - math.lgamma(a))
    in_batch = vmap(grad(gm.gammaincc, argnums=1))(numpy.array([a]), numpy.array([x]))[0]
    for found in (jit(grad(gm.gammainc, argnums=1))(a, x), -in_batch):
        assert float(found) == pytest.approx(density, rel=1e-11, abs=1e-280)


@given(POSITIVE, POSITIVE)
def test_incomplete_gamma_functions_add_up_to_1(a, x):
    assert gm.gammainc(a, x) + gm.gammaincc(a, x) == pytest.approx(1.0, rel=1e-13)
    recurrence = gm.gammainc(a + 1.0, x) + math.exp(a * math.log(x) - x - math.lgamma(a + 1.0))
    assert gm.gammainc(a, x) == pytest.approx(recurrence, rel=1e-11, abs=1e-280)


@given(POSITIVE, POSITIVE, st.floats(1e-3, 1.0 - 1e-3))
def test_derivative_of_betainc_is_the_density(a, b, x):
    density = math.exp((a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x) - gm.betaln(a, b))
    found = jit(grad(gm.betainc, argnums=2))(a, b, x)
    assert found == pytest.approx(density, rel=1e-10, abs=1e-280)
    assert gm.betainc(a, b, x) + gm.betainc(b, a, 1.0 - x) == pytest.approx(1.0, rel=1e-11)


@given(st.floats(-0.367, 1e6))
def test_lambertw_solves_its_equation(x):
    w = gm.lambertw(x)
    assert w * math.exp(w) == pytest.approx(x, rel=1e-12, abs=1e-15)


@given(st.floats(-37.0, 8.0))
def test_log_ndtr_agrees_with_ndtr(x):
    assert gm.log_ndtr(x) == pytest.approx(math.log(gm.ndtr(x)), rel=1e-13, abs=1e-15)
    slope = jit(grad(gm.log_ndtr))(x)
    assert slope == pytest.approx(math.exp(gm.norm_logpdf(x) - gm.log_ndtr(x)), rel=1e-12, abs=1e-290)


@given(st.floats(-40.0, 40.0))
def test_bessel_functions_satisfy_their_equations(x):
    zeroth, first = jit(grad(grad(gm.j0))), jit(grad(gm.j0))
    assert x * x * zeroth(x) + x * first(x) + x * x * gm.j0(x) == pytest.approx(0.0, abs=1e-12 * (1.0 + x * x))
    assert jit(grad(gm.i0))(x) == pytest.approx(gm.i1(x), rel=1e-12)
    assert first(x) == pytest.approx(-gm.j1(x), abs=1e-14)


@needs("jax")
def test_derivatives_of_gammainc_agree_with_jax():
    theirs = jax.grad(jax.scipy.special.gammainc)
    for a, x in [(0.5, 0.3), (2.0, 3.5), (7.0, 6.0), (20.0, 30.0)]:
        assert grad(gm.gammainc)(a, x) == pytest.approx(float(theirs(a, x)), rel=1e-9)


@needs("scipy")
@pytest.mark.parametrize("a", [1e4, 1e7, 9e9, 1.1e10, 1e13])
@pytest.mark.parametrize("deviations", [-9.0, -1.0, 0.0, 2.5, 20.0])
def test_large_shapes(a, deviations):
    x = a + deviations * math.sqrt(a)
    for mine, theirs in [(gm.gammainc, scipy_special.gammainc), (gm.gammaincc, scipy_special.gammaincc)]:
        assert mine(a, x) == pytest.approx(float(theirs(a, x)), rel=1e-8)
    slope = grad(gm.gammainc, argnums=1)(a, x)
    assert slope == pytest.approx(
        math.exp(gm.norm_logpdf(deviations)) / math.sqrt(a), rel=(1.0 + abs(deviations) ** 3) / math.sqrt(a)
    )


def test_mixed_derivatives_are_symmetric():
    for f, xs in [(gm.gammainc, (2.5, 1.7)), (gm.zeta, (2.5, 1.7)), (gm.owens_t, (0.5, 1.7))]:
        one, other = grad(grad(f), argnums=1), grad(grad(f, argnums=1))
        assert jit(one)(*xs) == pytest.approx(jit(other)(*xs), rel=1e-12)


@pytest.mark.parametrize(
    ("function", "xs"), [(gm.gammainc, (2.5, 1.7)), (gm.log_ndtr, (-9.0,)), (gm.j0, (3.0,)), (gm.k1, (0.5,))]
)
def test_derivatives_in_c(tmp_path, function, xs):
    slope = jit(grad(function))
    expected = slope(*xs)
    in_c = compiled(tmp_path, slope.program.to_c(), *SAME_BITS)
    assert in_c(xs, 1)[0] == pytest.approx(expected, rel=1e-13)


def test_lists_and_arrays_of_values():
    found = gm.xlogy([Value(2.0), 3.0], [[1.0], [2.0]])
    assert found.shape == (2, 2)
    assert found[1, 0].data == 2.0 * math.log(2.0)
    assert found[1, 1] == 3.0 * math.log(2.0)
    assert gm.polygamma(2, numpy.array([1.0, 2.0])).shape == (2,)
    assert type(gm.gammainc(numpy.float32(2.0), numpy.array(3.0))) is float


@pytest.mark.parametrize("name", SPECIALS)
def test_unselected_branches_have_no_nan(name):
    special = SPECIALS[name]
    with debug_nans():
        for tails in (False, True):
            for xs in draw(special, tails, 4, 7):
                special.function(*map(Value, xs)).backward()
                jit(special.function)(*xs)


def test_unselected_branches_of_xlogy_have_no_nan():
    with debug_nans():
        for xs in [(-2.0, 0.5), (0.0, 0.0), (0.0, -1.0), (0.0, INF)]:
            jit(lambda x, y: gm.xlogy(x, y) + gm.xlog1py(x, y))(*xs)


def test_wrong_operands():
    with pytest.raises(TypeError, match=r"xlogy\(\) takes Values and real numbers, not \(str, float\)"):
        gm.xlogy("2", 1.0)
    with pytest.raises(TypeError, match="the order n of polygamma\\(\\) must be an int, got float"):
        gm.polygamma(1.5, 2.0)
    with pytest.raises(ValueError, match="must be at least 0, got -1"):
        gm.polygamma(-1, 2.0)
