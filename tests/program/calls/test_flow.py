"""Derivatives of a loop that are known to be 0 are not computed: neither its reverse pass nor its tangents."""

from __future__ import annotations

import numpy
import pytest

from gradwalk import grad, hessian, jacfwd, jacobian, jit, jvp, loops
from gradwalk import math as gm
from gradwalk.program.calls.layout import layout
from gradwalk.program.code.opcodes import CALL


def loops_in(f, *args) -> list:
    """Return the loops and reverse passes that a function calls."""
    return [call for call, _ in jit(f).recorded(*args).program.calls]


def descent(x, y):
    """Minimize (a - 1)² + y, by steps that depend on x and y only through comparisons."""

    def step(state):
        a, best, size = state
        moved = a - size * (a - 1.0)
        value = (moved - 1.0) ** 2 + y
        is_good = value < best
        return gm.where(is_good, moved, a), gm.where(is_good, value, best), gm.where(is_good, size, 0.5 * size)

    return loops.while_loop(lambda s: s[2] > x, step, (5.0, 100.0, 1.5))


def test_a_loop_that_only_compares_its_operands_is_not_differentiated():
    assert loops_in(grad(lambda x, y: descent(x, y)[0], (0, 1)), 1e-3, 0.0) == []
    assert loops_in(lambda x, y: jvp(descent, (x, y), (0.0, 1.0))[1][0], 1e-3, 0.0) == []
    assert jit(grad(lambda x, y: descent(x, y)[0], (0, 1)))(1e-3, 0.0) == (0.0, 0.0)


def test_other_results_of_the_loop_are_differentiated():
    best = jit(grad(lambda x, y: descent(x, y)[1], (0, 1)))
    assert best(1e-3, 0.0) == (0.0, 1.0) == grad(lambda x, y: descent(x, y)[1], (0, 1))(1e-3, 0.0)
    assert jit(lambda x, y: jvp(descent, (x, y), (1.0, 1.0))[1])(1e-3, 0.0) == (0.0, 1.0, 0.0)


def test_tangents_that_stay_zero_are_no_part_of_the_carry():
    f = lambda x, y: jvp(descent, (x, y), (0.0, 1.0))[1][1]  # noqa: E731
    [loop] = loops_in(f, 1e-3, 0.0)
    assert loop.sizes.carry == 4  # three primals and the tangent of the smallest value
    assert jit(f)(1e-3, 0.0) == 1.0


def test_xs_without_a_tangent_stay_as_they_are():
    xs = numpy.arange(6.0)
    f = lambda a: loops.scan(lambda c, x: (c * gm.sin(a * x), c * a + x), a, xs)  # noqa: E731
    [loop] = loops_in(lambda a: jvp(f, (a,), (1.0,))[1], 0.3)
    assert loop.sizes == (2, 2, 1, 2)
    of_last, of_all = jit(lambda a: jvp(f, (a,), (1.0,))[1])(0.3)
    assert of_last == pytest.approx(jacobian(lambda a: f(a)[0])(0.3))
    assert numpy.array(of_all, float) == pytest.approx(jacobian(lambda a: numpy.array(f(a)[1]))(0.3))


@pytest.mark.parametrize("transform", [grad, lambda f: lambda x: jvp(f, (x,), (1.0,))[1], hessian])
def test_a_loop_that_takes_too_many_steps_fails_even_if_its_derivative_is_zero(transform):
    def f(x):
        return loops.while_loop(lambda s: s > x, lambda s: s - 1.0, 10.0, max_steps=3)

    for g in (transform(f), jit(transform(f))):
        assert g(8.5) == 0.0
        with pytest.raises(ValueError, match="max_steps=3"):
            g(2.0)


def test_columns_of_a_jacobian_share_the_loop():
    def f(x):
        return loops.fori_loop(0, 5, lambda i, c: (gm.sin(c[0] * x[2]), c[1] * x[3] + c[0]), (x[0], x[1]))

    found = loops_in(jacfwd(f), (0.1, 0.2, 0.3, 0.4))
    assert len(found) == 4
    assert len({id(loop) for loop in found}) == 2  # for the first two numbers, and for the constants


def test_layouts_join_and_split():
    found = layout((1, [True, False]), (2, [False, True, True]))
    assert found.length == 13
    joined = found.join(list("abcdefgh"), list("ABCDEFGH"))
    assert "".join(joined) == "abAcdeDEfghGH"
    assert found.split(joined, "-") == (list("abcdefgh"), list("A--DE-GH"))


def test_operands_of_calls_reach_all_results():
    def step(c):
        inner = loops.fori_loop(0, 2, lambda i, s: (s[0] * c[0], s[1]), (c[0], c[1]))
        return inner[0], c[1] + inner[1], c[2] - 1.0

    f = lambda x, y: loops.while_loop(lambda c: c[2] > 0.0, step, (x, y, 3.0))[0]  # noqa: E731
    calls = [row for row in jit(grad(f)).recorded(1.1, 2.0).program.code.rows if row[0] == CALL]
    assert calls
    assert jit(grad(f, (0, 1)))(1.1, 2.0) == pytest.approx((27 * 1.1**26, 0.0))
