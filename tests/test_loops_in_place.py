"""gradwalk.loops: steps and branches that update their arrays in place, as in `x += 1`, give JAX's results."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from references import jax, jnp

from gradwalk import grad, jit, loops, vmap


def doubled_in_place(x: Any) -> Any:
    x *= 2.0
    return x


def added_in_place(x: Any, y: Any) -> Any:
    x += y
    return x


def step_in_place(carry: Any, row: Any) -> tuple[Any, Any]:
    position, others = carry
    position += row
    others["speed"] += position
    row *= 3.0
    return (position, others), (position, row)


def scanned(lax: Any, x: Any) -> Any:
    (position, others), outputs = lax.scan(step_in_place, (x[0], {"speed": x[1]}), x)
    return position, others["speed"], *outputs, x


CASES = {
    "fori_loop": lambda lax, x: (lax.fori_loop(0, 3, lambda _, y: doubled_in_place(y), x), x),
    "while_loop": lambda lax, x: (lax.while_loop(lambda y: y[0, 0] < 50.0, doubled_in_place, x), x),
    "scan": scanned,
    "map": lambda lax, x: (lax.map(doubled_in_place, x), x),
    "associative_scan": lambda lax, x: (lax.associative_scan(added_in_place, x), x),
    "cond": lambda lax, x: (lax.cond(x[0, 0] > 0.0, doubled_in_place, lambda y: y, x), x),
    "cond, false": lambda lax, x: (lax.cond(x[0, 0] < 0.0, doubled_in_place, lambda y: y, x), x),
    "switch": lambda lax, x: (lax.switch(2, [doubled_in_place, lambda y: y, doubled_in_place], x), x),
    "loop in a loop": lambda lax, x: (
        lax.fori_loop(0, 2, lambda _, y: y + lax.fori_loop(0, 2, lambda _, z: doubled_in_place(z), y), x),
        x,
    ),
}


@pytest.fixture
def rows() -> Any:
    return numpy.array([[1.5, -2.0], [0.5, 3.0], [-1.0, 4.0]])


def total(results: Any) -> Any:
    """Weight the results, so that each has another derivative."""
    return sum((i + 1.0) * (result * result).sum() for i, result in enumerate(results))


@pytest.mark.parametrize("case", CASES)
def test_results_and_gradients_are_those_of_jax(case, rows):
    f = CASES[case]
    before = rows.copy()
    expected = f(jax.lax, jnp.asarray(rows))
    for run in (f, jit(f, static_argnums=0)):
        for x, y in zip(run(loops, rows), expected, strict=True):
            numpy.testing.assert_allclose(x, y, rtol=1e-14)
    slopes = jax.jacfwd(lambda x: total(f(jax.lax, x)))(jnp.asarray(rows))
    for transform in (grad, lambda g: jit(grad(g))):
        found = transform(lambda x: total(f(loops, x)))(rows)
        numpy.testing.assert_allclose(found, slopes, rtol=1e-13)
    numpy.testing.assert_array_equal(rows, before)


@pytest.mark.parametrize("case", CASES)
def test_batches_give_the_results_of_single_calls(case, rows):
    stack = numpy.stack([rows, rows + 0.25])
    found = vmap(lambda x: CASES[case](loops, x))(stack)
    for i, single in enumerate(stack):
        for x, y in zip(found, CASES[case](loops, single), strict=True):
            numpy.testing.assert_allclose(x[i], y, rtol=1e-13)


def test_branches_of_a_recorded_condition_do_not_see_updates_of_each_other(rows):
    f = jit(lambda x, p: loops.cond(p > 0.0, doubled_in_place, lambda y: 10.0 * y, x))
    g = jit(lambda x, i: loops.switch(i, [doubled_in_place, lambda y: 10.0 * y, doubled_in_place], x))
    numpy.testing.assert_allclose(f(rows, 1.0), 2.0 * rows)
    numpy.testing.assert_allclose(f(rows, -1.0), 10.0 * rows)
    for index, factor in enumerate((2.0, 10.0, 2.0)):
        numpy.testing.assert_allclose(g(rows, float(index)), factor * rows)


def test_a_scan_of_length_zero_leaves_the_carry(rows):
    loops.scan(lambda carry, x: (added_in_place(carry, x), x), rows[0], rows[:0])
    numpy.testing.assert_array_equal(rows[0], [1.5, -2.0])


def test_a_carry_of_ints_becomes_floats_if_a_step_changes_a_part_of_it(rows):
    def step(carry: Any, x: Any) -> tuple[Any, Any]:
        carry[0] += x[0]
        return carry, x

    first = jnp.zeros(3)
    for start in (numpy.zeros_like(rows, dtype=object).ravel()[:3], numpy.zeros(3, int)):
        found = jit(lambda x, start=start: loops.scan(step, start, x)[0])(rows)
        numpy.testing.assert_allclose(found, first.at[0].add(rows[:, 0].sum()))
        loop = jit(lambda x, start=start: loops.fori_loop(0, 2, lambda i, z: step(z, x[1])[0], start))
        numpy.testing.assert_allclose(loop(rows), first.at[0].add(2.0 * rows[1, 0]))
