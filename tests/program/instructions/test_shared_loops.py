"""A loop over primals and tangents replaces the loop over primals, unless the tangents depend on the loop's results."""

from __future__ import annotations

import numpy
import pytest

from gradwalk import grad, jit, jvp, loops
from gradwalk import math as gm
from gradwalk.program.instructions.shared_loops import without_repeated_loops


def swing(x):
    """Run a scan with ys, so that the results of the loop and of its dual are at different positions."""
    carry, ys = loops.scan(lambda c, y: (c + 0.1 * gm.sin(c * y), c * y), x, numpy.linspace(0.0, 1.0, 5))
    return carry + (ys * ys).sum()


def program_of(f, *args):
    return jit(f).recorded(*args).program


def test_primals_come_from_the_dual():
    program = program_of(lambda x: jvp(swing, (x,), (1.0,)), 0.5)
    [(loop, _)] = program.calls
    assert loop.sizes.carry == 2
    assert program.run([0.5]).tolist() == [jit(swing)(0.5), pytest.approx(grad(swing)(0.5), rel=1e-14)]


def test_instructions_are_in_order_after_the_replacement():
    def f(x):
        y = gm.exp(swing(x))
        return y * gm.sin(y) + x

    program = program_of(lambda x: jvp(f, (x,), (1.0,)), 0.5)
    assert len(program.calls) == 1
    program.validate()
    assert program.run([0.5]).tolist() == [jit(f)(0.5), pytest.approx(grad(f)(0.5), rel=1e-13)]


def test_a_dual_that_depends_on_the_loop_does_not_replace_it():
    program = program_of(lambda x: jvp(swing, (x,), (swing(x),)), 0.5)
    assert len(program.calls) == 2
    assert without_repeated_loops(program.code) is program.code


def test_many_loops_are_replaced_at_once():
    def f(x):
        for _ in range(1500):
            x = loops.fori_loop(0, 2, lambda i, c: 0.9 * c + 0.01, x)
        return x

    program = program_of(lambda x: jvp(f, (x,), (1.0,)), 0.5)
    assert len(program.calls) == 1500
    assert program.run([0.5]).tolist() == [jit(f)(0.5), pytest.approx(0.81**1500, rel=1e-9)]


def test_only_the_possible_replacements_are_made():
    def f(x):
        y = swing(x)
        return y, jvp(swing, (x,), (y,))[1], jvp(swing, (2.0 * x,), (1.0,))

    program = program_of(f, 0.5)
    assert len(program.calls) == 3
    assert program.run([0.5]).tolist()[2] == jit(swing)(1.0)


def test_programs_without_a_dual_are_returned_as_they_are():
    for f in (swing, grad(swing)):
        code = program_of(f, 0.5).code
        assert without_repeated_loops(code) is code
