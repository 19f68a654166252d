"""Choices between branches with whole arrays, compared with the same choices on numbers, to third derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from whole_arrays import calls_of, compare_with_numbers, flat, x

from gradwalk import debug, grad, jit, loops, math, vmap
from gradwalk.arrays.array_switch import ArraySwitch
from gradwalk.arrays.run.array_program import ArrayProgram
from gradwalk.loops import cond, switch


def repeated(a: Any, x: Any) -> Any:
    def step(i: Any, u: Any) -> Any:
        return cond(u.sum() > i, lambda: 0.5 * u * a, lambda: u * u + x)

    return loops.fori_loop(0, 3, step, x).sum()


def halves(a: Any, x: Any) -> Any:
    low, high = cond(a > 1, lambda u: (u, u * a), lambda u: (u * u, 2 * u), x)
    return (low * x).sum() + (high**3).sum()


WHOLE: dict[str, Callable[..., Any]] = {
    "first": lambda a, x: cond(a < 1, lambda: numpy.sum(x * x * a), lambda: numpy.sum(x)),
    "second": lambda a, x: cond(a > 1, lambda: numpy.sum(x * x * a), lambda: numpy.sum(x) ** 2),
    "arrays as results": lambda a, x: (cond(a < 1, lambda: x * a, lambda: numpy.sin(x)) ** 2).sum(),
    "several results": halves,
    "operand itself": lambda a, x: (cond(a < 1, lambda u: u, lambda u: u * a, x) * x).sum() * a,
    "constants": lambda a, x: (cond(a > 1, lambda: x * a, lambda: numpy.ones(12)) * x).sum(),
    "condition on an array": lambda a, x: cond(x.sum() > 0, lambda: (x**3).sum() * a, lambda: numpy.sum(x * x) * a),
    "three branches": lambda a, x: (switch(math.floor(a * 2), [lambda: x, lambda: x * x * a, lambda: x**3]) ** 2).sum(),
    "past the end": lambda a, x: (switch(a * 20, [lambda: x, lambda: x * x * a, lambda: x**3]) ** 2).sum(),
    "in a branch": lambda a, x: cond(
        a < 1, lambda: cond(a > 0, lambda: (x * a).sum() ** 2, lambda: numpy.sum(x)), lambda: numpy.sum(x * x)
    ),
    "loop in a branch": lambda a, x: (
        cond(a < 1, lambda: loops.fori_loop(0, 3, lambda i, u: u * numpy.sin(u) + a, x), lambda: x * 2) ** 2
    ).sum(),
    "gradient of a choice": lambda a, x: (
        grad(lambda u: cond(a < 1, lambda: numpy.sum(u**3), lambda: numpy.sum(u)))(x) * x
    ).sum(),
}
OTHERS: dict[str, Callable[..., Any]] = {
    "in a loop": repeated,
    "elements": lambda a, x: cond(a < 1, lambda: x[0] * x[1] * a, lambda: x[2] ** 2),
    "other kinds": lambda a, x: (cond(a < 1, lambda: numpy.ones(12) * a, lambda: x * x) * x).sum(),
    "printed": lambda a, x: (cond(a < 1, lambda: [x * a, debug.print("{a}", a=a)][0], lambda: x * x) ** 2).sum(),
    "in a vmap": lambda a, x: vmap(lambda t: cond(t > 0, lambda: (x * t).sum() * a, lambda: t * t))(x[:3]).sum(),
}


@pytest.mark.parametrize("name", WHOLE | OTHERS)
def test_choices_with_arrays_agree_with_choices_of_numbers(name, monkeypatch, capsys):
    compare_with_numbers((WHOLE | OTHERS)[name], monkeypatch)


@pytest.mark.parametrize("name", WHOLE)
def test_arrays_stay_whole_in_branches(name, whole):
    value, gradient = jit(WHOLE[name]), jit(grad(WHOLE[name], (0, 1)))
    value(0.7, x), gradient(0.7, x)
    assert calls_of(value, ArraySwitch)
    assert calls_of(gradient, ArraySwitch)


@pytest.mark.parametrize("name", WHOLE)
def test_choices_in_programs_of_numbers_agree(name, whole):
    recorded = jit(grad(WHOLE[name], (0, 1)))
    expected = flat(recorded(0.7, x))
    program = recorded.latest.of_numbers
    numpy.testing.assert_allclose(program.run(numpy.array([0.7, *x])), expected, rtol=1e-9, atol=1e-11)


def test_each_call_chooses_a_branch(whole):
    recorded = jit(lambda a, x: switch(a, [lambda: x, lambda: 2 * x, lambda: 3 * x]))
    for index, factor in [(-3.0, 1), (0.5, 1), (1.0, 2), (2.9, 3), (numpy.inf, 3)]:
        numpy.testing.assert_array_equal(recorded(index, x), factor * x)
    assert numpy.isnan(recorded(numpy.nan, x)).all()
    assert isinstance(recorded.latest.program, ArrayProgram)


def test_only_the_chosen_branch_runs(whole):
    recorded = jit(grad(lambda x: cond(x.sum() > 0, lambda: numpy.sum(numpy.sqrt(x)), lambda: numpy.sum(x * x))))
    numpy.testing.assert_allclose(recorded(-abs(x)), -2 * abs(x))
    numpy.testing.assert_allclose(recorded(abs(x)), 0.5 / numpy.sqrt(abs(x)))


@pytest.mark.parametrize(
    "root",
    [
        lambda x: numpy.sum(numpy.sqrt(x)),
        lambda x: numpy.sum(vmap(lambda t: t * numpy.sqrt(x).sum())(x)),
        lambda x: loops.fori_loop(0, 2, lambda i, u: numpy.sqrt(u), x).sum(),
    ],
    ids=["sum", "vmap", "loop"],
)
def test_the_other_branch_contributes_no_nan(root, whole):
    f = lambda a, x: cond(a > 0, lambda: root(x), lambda: numpy.sum(x * x))  # noqa: E731
    recorded = jit(grad(f, 1))
    numpy.testing.assert_array_equal(recorded(-1.0, -abs(x)), -2 * abs(x))
    assert numpy.isnan(recorded(1.0, -abs(x))).all()
    second = jit(grad(lambda a, x: (grad(f, 1)(a, x) ** 2).sum(), 1))
    numpy.testing.assert_array_equal(second(-1.0, -abs(x)), -8 * abs(x))


def test_results_of_branches_do_not_share_memory(whole):
    given = x.copy()
    recorded = jit(lambda a, x: (cond(a > 0, lambda u: u, lambda u: -u, x), x))
    for _ in range(2):
        first, second = recorded(1.0, given)
        first[:] = 0.0
        numpy.testing.assert_array_equal(second, x)
        numpy.testing.assert_array_equal(given, x)


def test_branches_on_large_data_have_few_instructions():
    data = numpy.linspace(-1.0, 1.0, 20_000)
    recorded = jit(grad(lambda a, data: cond(a > 0, lambda: numpy.sum(data * data * a), lambda: data.sum() * a)))
    numpy.testing.assert_allclose([recorded(1.0, data), recorded(-1.0, data)], [(data**2).sum(), data.sum()], atol=1e-9)
    assert recorded.statistics.instructions < 50
