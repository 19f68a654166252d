"""Loops are split only where the split does not change their results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.program.routine.independent import split_loop
from gradwalk.program.routine.statements import (
    Assign,
    Cell,
    Choose,
    Compute,
    Count,
    For,
    Read,
    Select,
    Store,
    Take,
    While,
)

ADD, MUL = OPCODES["add"], OPCODES["mul"]


def at(start: int, stride: int = 1, array: str = "a") -> Cell:
    return Cell(array, start, (("i", stride),))


def loop(*body, times=10, is_reversed=False) -> For:
    return For("i", times, body, is_reversed)


def together(*body, **options) -> list:
    split = split_loop(loop(*body, **options))
    return [] if split is None else list(split.together)


def doubled(result: str, operand) -> Compute:
    return Compute(result, ADD, [operand, operand])


def test_elementwise_statements_run_together():
    body = doubled("v1", at(0)), Store(at(100), "v1"), Count("v2", 0, (("i", 1),)), Store(at(200, 3, "b"), "v2")
    assert together(*body) == list(body)
    assert together(*body, is_reversed=True) == list(body)


def test_update_in_place_runs_together():
    body = doubled("v1", at(0)), Store(at(0), "v1"), doubled("v2", at(0)), Assign(at(0), "v2")
    assert together(*body) == list(body)


def test_sum_runs_in_order_but_its_terms_run_together():
    terms = [doubled("v1", at(0)), doubled("v2", "v1")]
    total = [Read("v3", "m0"), Compute("v4", ADD, ["v3", "v2"]), Assign("m0", "v4")]
    split = split_loop(loop(*total[:1], *terms, *total[1:]))
    assert split is not None
    assert (list(split.together), list(split.in_order), split.passed) == (terms, total, {})


def test_numbers_of_the_iteration_before_run_together():
    # Iteration i stores 2 * (2 * a[i] + what iteration i - 1 doubled before).
    reads = [Read("v1", "m1"), Read("v2", "m2")]
    first, second = doubled("v3", at(0)), Compute("v4", ADD, ["v1", "v3"])
    rest = [Compute("v5", MUL, ["v2", "v4"]), Store(at(50), "v5")]
    assigns = [Assign("m1", "v3"), Assign("m2", "v4")]
    split = split_loop(loop(*reads, first, second, *rest, *assigns))
    assert split is not None
    assert (split.in_order, split.passed) == ([], {"m1": "v3", "m2": "v4"})
    assert list(split.together) == [first, reads[0], second, reads[1], *rest, *assigns]


def test_numbers_that_depend_on_those_before_run_in_order():
    through_another = [Read("v1", "m1"), Read("v2", "m2"), doubled("v3", "v1"), doubled("v4", "v2")]
    assert not together(*through_another, Assign("m1", "v4"), Assign("m2", "v3"))
    through_memory = [Read("v1", "m1"), Store(at(0), "v1"), doubled("v2", at(0)), Assign("m1", "v2")]
    assert not together(*through_memory)
    of_the_same_iteration = [doubled("v1", at(0)), Assign("m1", "v1"), Read("v2", "m1")]
    assert together(*of_the_same_iteration) == of_the_same_iteration[:1]
    twice = [Read("v1", "m1"), doubled("v2", at(0)), doubled("v3", at(0)), Assign("m1", "v2"), Assign("m1", "v3")]
    assert [part.result for part in together(*twice)] == ["v2", "v3"]


@pytest.mark.parametrize("distance", [1, -1, 9, -9])
def test_recurrences_run_in_order(distance):
    assert not together(doubled("v1", at(20)), Store(at(20 + distance), "v1"))


@pytest.mark.parametrize("distance", [10, -10, 11])
def test_cells_beyond_the_last_iteration_are_independent(distance):
    assert len(together(doubled("v1", at(20)), Store(at(20 + distance), "v1"))) == 2


def test_interleaved_cells_are_independent():
    assert len(together(doubled("v1", at(0, 2)), Store(at(1, 2), "v1"))) == 2
    assert not together(doubled("v1", at(0, 2)), Store(at(2, 2), "v1"))
    assert not together(doubled("v1", at(0, 2)), Store(at(1, 3), "v1"))  # other strides, in the same range


def test_counters_of_outer_loops():
    outer = Cell("a", 0, (("i", 1), ("j", 5)))
    assert len(together(doubled("v1", outer), Store(outer, "v1"))) == 2
    assert not together(doubled("v1", at(0)), Store(outer, "v1"))


def test_counter_that_occurs_twice():
    twice = Cell("a", 0, (("i", 1), ("i", 1)))
    assert len(together(doubled("v1", twice), Store(at(1, 2), "v1"))) == 2
    assert not together(doubled("v1", twice), Store(at(2, 2), "v1"))


def test_cell_that_all_iterations_write_runs_in_order():
    assert together(doubled("v1", at(0)), Store(Cell("b", 0), "v1")) == [doubled("v1", at(0))]


def test_inner_loops_run_in_order_and_reach_a_range_of_cells():
    inner = For("j", 3, [Store(Cell("a", 50, (("i", 3), ("j", 1))), 1.0)])
    assert together(doubled("v1", at(0)), inner) == [doubled("v1", at(0))]
    assert not together(doubled("v1", at(50)), inner)
    assert not together(doubled("v1", at(50 + 29)), inner)
    assert together(doubled("v1", at(50 + 30)), inner)
    assert not together(doubled("v1", at(500)), inner._replace(times="steps"))


def test_tables_are_read_after_all_writes():
    store = Store(at(0), 1.0)
    assert not together(store, Take("v1", 0.0, Cell("a", 0), 1, 5))
    assert together(store, Take("v1", 0.0, Cell("a", 10), 1, 5)) == [store]
    assert not together(store, Take("v1", 0.0, Cell("a", 12), -1, 5))


def test_results_of_statements_in_order_are_not_used_together():
    select = Select("m9", [("v1", 1.0, 2.0)])
    assert not together(select, doubled("v2", "v1"))
    assert not together(Choose("m9", [[Assign("m1", 1.0)]], []), Read("v3", "m1"), doubled("v2", "v3"))


def test_loops_that_are_not_split():
    body = [doubled("v1", at(0))]
    assert together(*body * 500)
    assert not together(*body * 501)
    assert not together(*body, times=3)
    assert not together(*body, times="steps")
    assert not together(*body, While("k", [], 0.0, None, []))
    assert split_loop(For("i", 10, body, step_of=("k", ()))) is None


def ran(statements, memory: dict, names: dict, i: int) -> None:
    """Run statements of iteration `i`."""

    def place(cell: Cell) -> tuple[str, int]:
        return cell.array, cell.start + sum(stride * i for _, stride in cell.strides)

    def number(operand):
        if isinstance(operand, Cell):
            return memory.get(place(operand), hash(place(operand)) % 97)
        return names[i].get(operand, names["all"].get(operand)) if isinstance(operand, str) else operand

    for statement in statements:
        if isinstance(statement, Compute):
            x, y = map(number, statement.operands)
            names[i][statement.result] = (x + y if statement.opcode == ADD else x * y) % 1_000_003
        elif isinstance(statement, Read):
            names[i][statement.result] = number(statement.operand)
        elif isinstance(statement, Count):
            names[i][statement.result] = statement.first + i
        elif isinstance(statement, Store):
            memory[place(statement.cell)] = number(statement.operand)
        else:
            names["all"][statement.target] = number(statement.operand)


cells = st.builds(at, st.integers(0, 12), st.integers(-2, 3), st.sampled_from("ab"))


@st.composite
def loops(draw) -> For:
    """Draw a loop with sums, products, writes, and variables that change, which it may read at its start."""
    body = [Read("v90", "m"), Read("v91", "n")] if draw(st.booleans()) else []
    names = [part.result for part in body]
    for i in range(draw(st.integers(1, 7))):
        operands = st.one_of(cells, st.sampled_from([*names, 2.0]) if names else cells)
        kind = draw(st.sampled_from("ccccssram"))
        if kind == "c":
            body.append(Compute(f"v{i}", draw(st.sampled_from([ADD, MUL])), [draw(operands), draw(operands)]))
            names.append(f"v{i}")
        elif kind == "s":
            body.append(Store(draw(cells), draw(operands)))
        elif kind == "a":
            body.append(Assign(draw(st.sampled_from("mn")), draw(operands)))
        else:
            body.append(Read(f"v{i}", "m") if kind == "r" else Count(f"v{i}", 3, (("i", 1),)))
            names.append(f"v{i}")
    return For("i", draw(st.integers(4, 9)), body, draw(st.booleans()))


@given(loops(), st.integers(2, 5))
def test_split_loops_give_the_same_results(drawn, lanes):
    split = split_loop(drawn)
    if split is None:
        return
    order = list(range(drawn.times))[:: -1 if drawn.is_reversed else 1]
    plain, parted = [({}, {"all": {"m": 5, "n": 7}, **{i: {} for i in order}}) for _ in range(2)]
    for i in order:
        ran(drawn.body, *plain, i)
    for first in range(0, drawn.times, lanes):
        chunk = order[first : first + lanes]
        for statement in split.together:
            before = dict(parted[0])  # all lanes read before any lane writes
            written = {}
            for k, i in enumerate(chunk):
                memory = dict(before)
                ran([statement], memory, parted[1], i)
                if isinstance(statement, Read) and statement.operand in split.passed and k:
                    number = split.passed[statement.operand]
                    parted[1][i][statement.result] = parted[1][chunk[k - 1]][number]
                written |= {key: memory[key] for key in memory if before.get(key) != memory[key] or key not in before}
            parted[0].update(written)
        for i in chunk:
            ran(split.in_order, *parted, i)
    assert parted == plain
