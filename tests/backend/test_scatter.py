"""Scatters: gradients of tables summed over a batch, compared with sums over single samples."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import fewer

from gradwalk import grad, jit, take, threads, value_and_grad, vmap
from gradwalk import math as gm


def listing(f: Any, *args: Any) -> list[str]:
    """Run a function and return the lines of its kernel's listing."""
    f(*args)
    return [line.strip() for line in str(f.kernel).splitlines()]


def sum_over_samples(f: Any, table: Any, *columns: Any) -> Any:
    one = jit(grad(f))
    return numpy.sum([one(table, *map(float, sample)) for sample in zip(*columns, strict=True)], axis=0)


def test_one_instruction_adds_the_gradient_of_a_table():
    generator = numpy.random.default_rng(1)
    f = lambda t, i: take(t, i) ** 3  # noqa: E731
    table, index = generator.normal(size=50), generator.integers(-50, 50, size=300)
    total = jit(vmap(grad(f), in_axes=(None, 0), reduce="sum"))
    found = listing(total, table, index)
    assert [line for line in found if "+=" in line] == [f"outputs {[*range(50)]}[r2] += r1"]
    assert not any("equal" in line for line in found)
    numpy.testing.assert_allclose(total(table, index), sum_over_samples(f, table, index), rtol=1e-12)


def test_several_takes_from_a_table_are_added_separately():
    generator = numpy.random.default_rng(2)
    f = lambda t, i, j, x: take(t, i) * take(t, j) * x + t[0] * x  # noqa: E731
    table = generator.normal(size=5)
    columns = [*generator.integers(-5, 5, size=(2, 200)), generator.normal(size=200)]
    total = jit(vmap(value_and_grad(f), in_axes=(None, 0, 0, 0), reduce="sum"))
    found = [line for line in listing(total, table, *columns) if line.startswith("outputs")]
    assert [line.split("[r")[0] for line in found] == ["outputs [1, 2, 3, 4, 5]"] * 2
    numpy.testing.assert_allclose(total(table, *columns)[1], sum_over_samples(f, table, *columns), rtol=1e-12)


@pytest.mark.parametrize("kind", [numpy.float64, numpy.float32])
@fewer(2)
@given(st.integers(0, 2**32 - 1), st.integers(1, 400), st.integers(1, 3))
def test_totals_equal_sums_over_the_samples(kind, seed, count, used):
    generator = numpy.random.default_rng(seed)
    table = generator.normal(size=4).astype(kind)
    index = generator.integers(-5, 5, size=(used, count)).astype(kind)  # some are out of range
    index[:, ::5] += kind(0.5)
    weights = generator.normal(size=count).astype(kind)

    def f(t: Any, x: Any, *indices: Any) -> Any:
        whole = [*t, 2.0, x]
        return sum(gm.where(gm.equal(i, i), take(whole, i), 0.0) * x for i in indices)

    axes = (None, *[0] * (1 + used))
    found = vmap(grad(f), in_axes=axes, reduce="sum")(table, weights, *index)
    each = vmap(grad(f), in_axes=axes)(table, weights, *index)
    near = {"rtol": 1e-12, "atol": 1e-12} if kind is numpy.float64 else {"rtol": 1e-4, "atol": 1e-4}
    numpy.testing.assert_allclose(found, numpy.sum(each, axis=0, dtype=float), **near)
    numpy.testing.assert_allclose(found, sum_over_samples(f, table, weights, *index), **near)


def test_the_number_of_threads_changes_no_bits():
    generator = numpy.random.default_rng(3)
    table, index = generator.normal(size=30), generator.integers(0, 30, size=300_000)
    total = jit(vmap(grad(lambda t, i: gm.exp(take(t, i))), in_axes=(None, 0), reduce="sum"))
    with threads(1):
        expected = total(table, index)
    with threads(2):
        assert total(table, index).tolist() == expected.tolist()
    numpy.testing.assert_allclose(expected, numpy.bincount(index) * numpy.exp(table), rtol=1e-12)


def test_unselected_entries_get_no_infinite_gradient():
    total = jit(vmap(grad(lambda t, i: gm.sqrt(take(t, i))), in_axes=(None, 0), reduce="sum"))
    assert total([0.0, 4.0, 0.0], numpy.array([1, 1, 0])) == [math.inf, 0.5, 0.0]


def test_comparisons_with_invalid_indices_are_summed():
    index = numpy.arange(-3.0, 4.0)
    chosen = lambda i: [gm.where(gm.equal(i, k), i + 2, 0.0) for k in (1.0, 1.5, -2.0, 1e18, math.nan, math.inf)]  # noqa: E731
    found = vmap(lambda i: numpy.array([*chosen(i), *chosen(i), gm.where(gm.equal(i, 2.0), i, 1.0)]), reduce="sum")(
        index
    )
    assert found.tolist() == [*[3.0, 0.0, 0.0, 0.0, 0.0, 0.0] * 2, 8.0]


def test_equal_gradients_go_to_every_output():
    f = lambda t, i: (take([t[0], t[1]], i), t[0])  # noqa: E731
    total = vmap(
        lambda t, i: (grad(lambda t, i: f(t, i)[0])(t, i), grad(lambda t, i: f(t, i)[0])(t, i)),
        in_axes=(None, 0),
        reduce="sum",
    )
    first, second = total([1.0, 2.0], numpy.array([0, 1, 1]))
    assert [*first] == [*second] == [1.0, 2.0]


def test_overflowing_partial_sums_are_summed_again():
    big = 1.7e308
    f = lambda t, i, j: (take(t, i) - take(t, j)) * big  # noqa: E731
    columns = [numpy.zeros(4), numpy.zeros(4)]
    found = vmap(grad(f), in_axes=(None, 0, 0), reduce="sum")([1.0, 2.0], *columns)
    assert [*found] == [0.0, 0.0]


def test_handwritten_selects_may_have_any_order():
    for count, order in itertools.product((3, 20), (1, -1)):
        picked = vmap(
            lambda i, n=count, o=order: numpy.array([gm.where(gm.equal(i, k), 1.0, 0.0) for k in range(n)][::o]),
            reduce="sum",
        )
        index = numpy.arange(100.0) % 7
        expected = [float(numpy.count_nonzero(index == k)) for k in range(count)][::order]
        assert picked(index).tolist() == expected
