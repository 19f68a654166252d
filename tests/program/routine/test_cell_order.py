"""Tests of the order of numbers in arrays."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy

from gradwalk import grad, jit, loops, math
from gradwalk.program.reroll.repeats import Moving, Repeat
from gradwalk.program.routine.layout import Access, Span, indices, merged, order, table_access
from gradwalk.program.routine.lower_calls import routine
from gradwalk.program.routine.statements import Cell, For, Store, flattened, operands_in


def access(start: int, *steps: tuple[int, int]) -> Access:
    """Return an access whose loops have pairs of a stride and a number of iterations."""
    return Access(
        Moving(start, tuple([stride for stride, _ in steps])), tuple([Repeat(0, 1, times, ()) for _, times in steps])
    )


def test_columns_become_rows():
    accesses = [access(0, (3, 4)), access(1, (3, 4)), access(11, (-3, 4))]
    assert order(14, accesses).tolist() == [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 13]


def test_chains_continue_across_loops():
    # The second loop begins at the last number of the first loop, with another stride.
    assert order(8, [access(0, (3, 2)), access(3, (2, 3))]).tolist() == [0, 4, 5, 1, 6, 2, 7, 3]


def test_neighbors_keep_their_order():
    assert order(6, [access(0, (1, 6)), access(5, (-1, 4)), access(2, (0, 9))]).tolist() == list(range(6))
    assert order(0, []).tolist() == []


def test_numbers_keep_their_order_if_no_order_suits_all_accesses():
    assert order(12, [access(0, (2, 6)), access(0, (3, 4))]).tolist() == list(range(12))


def test_inner_loops_become_contiguous():
    cell_of = order(24, [access(0, (12, 2), (3, 3)), access(1, (12, 2), (3, 3))])
    assert cell_of[[0, 3, 6]].tolist() == [0, 1, 2]
    assert cell_of[[12, 15, 18]].tolist() == [12, 13, 14]


def test_outer_loops_that_continue_the_inner_loop():
    cell_of = order(24, [access(0, (12, 2), (3, 4)), access(1, (3, 6))])
    assert cell_of[::3].tolist() == list(range(8))
    assert cell_of[1:18:3].tolist() == list(range(8, 14))


def accesses_of(generator: random.Random, count: int) -> Iterator[Access]:
    while True:
        steps = [(generator.randint(-7, 7), generator.randint(2, 6)) for _ in range(generator.randint(1, 3))]
        found = access(0, *steps)
        reached = indices(*found)
        if reached.max() - reached.min() < count:
            yield found.moved(generator.randint(-reached.min(), count - 1 - reached.max()))


def test_all_accesses_stay_affine():
    generator = random.Random(0)
    moved = 0
    for _ in range(2000):
        count = generator.randint(20, 60)
        source = accesses_of(generator, count)
        accesses = [next(source) for _ in range(generator.randint(1, 4))]
        cell_of = order(count, accesses)
        assert sorted(cell_of.tolist()) == list(range(count))
        for one in accesses:
            assert one.is_affine(cell_of), accesses
        moved += cell_of.tolist() != list(range(count))
    assert moved > 500


def test_tables():
    assert table_access([4, 6, 8]).indices.tolist() == [4, 6, 8]
    assert table_access([7, 5, 9]).indices.tolist() == [5, 6, 7, 8, 9]
    assert table_access([3]).indices.tolist() == [3]


def test_spans():
    spans = merged(map(Span.of, [access(20, (2, 3)), access(0, (4, 3)), access(9, (-1, 5)), access(0, (4, 3))]))
    assert [span[:2] for span in spans] == [(0, 9), (20, 24)]
    assert [len(span.accesses) for span in spans] == [2, 1]
    assert spans[1].moved(-20).accesses[0].indices.tolist() == [0, 2, 4]


def recurrent(parameters: Any, rows: Any) -> Any:
    """Return the loss of a small recurrent network whose units use their parameters in turn."""

    def step(state: Any, row: Any) -> tuple[Any, None]:
        new = [
            math.tanh(s * a + x * b + c) for s, x, (a, b, c) in zip(state, row, parameters.reshape(-1, 3), strict=True)
        ]
        return numpy.array(new), None

    return (loops.scan(step, numpy.zeros(20), rows)[0] ** 2).sum()


def test_loops_access_neighbors():
    rows = numpy.random.default_rng(0).normal(size=(9, 20))
    program = jit(grad(lambda p: recurrent(p, rows))).recorded(numpy.linspace(-1.0, 1.0, 60)).program
    statements = list(flattened(routine(program.code).statements))
    strides = set()
    for loop in [x for x in statements if isinstance(x, For) and x.times == 20]:
        cells = [x for x in operands_in(loop.body) if isinstance(x, Cell)]
        cells += [x.cell for x in loop.body if isinstance(x, Store)]
        strides |= {abs(dict(cell.strides).get(loop.counter, 0)) for cell in cells if cell.array != "values"}
    assert strides == {1}
