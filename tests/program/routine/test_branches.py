"""A step that selects the next carry with `where` branches; its results do not change."""

from __future__ import annotations

import numpy
import pytest

from gradwalk import grad, jit, loops, vmap
from gradwalk import math as gm
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.program.routine.branches import with_branches
from gradwalk.program.routine.lower_calls import routine
from gradwalk.program.routine.statements import (
    INPUTS,
    Assign,
    Cell,
    Compute,
    Select,
    Statement,
    Store,
    flattened,
    operands_in,
)

pytest.importorskip("llvmlite")

WHERE, LESS = OPCODES["where"], OPCODES["less"]


def selecting(*extra: Statement) -> list[Statement]:
    """Return a step that selects two numbers with one condition, and one of them with another condition before."""
    return [
        Compute("b", LESS, ["m0", 1.0]),
        Compute("d", LESS, ["m1", 1.0]),
        Compute("x", WHERE, ["b", "m0", 2.0]),
        Compute("y", WHERE, ["d", "m1", "m0"]),
        Compute("z", WHERE, ["b", "y", 3.0]),
        *extra,
        Assign("m0", "x"),
        Assign("m1", "z"),
    ]


def branches(statements: list[Statement]) -> list[Select]:
    return [statement for statement in statements if isinstance(statement, Select)]


def test_instructions_with_one_condition_share_a_branch():
    found = with_branches([x for x in selecting() if not (isinstance(x, Compute) and x.result == "y")])
    assert branches(found) == [Select("b", [("x", "m0", 2.0), ("z", "y", 3.0)])]


def test_an_operand_is_selected_before_it_is_used():
    assert branches(with_branches(selecting())) == [
        Select("b", [("x", "m0", 2.0)]),
        Select("d", [("y", "m1", "m0")]),
        Select("b", [("z", "y", 3.0)]),
    ]


def test_a_number_that_is_used_elsewhere_is_selected_without_a_branch():
    found = with_branches(selecting(Store(Cell(INPUTS, 0), "x")))
    assert [name for select in branches(found) for name, _, _ in select.choices] == ["y", "z"]
    assert Compute("x", WHERE, ["b", "m0", 2.0]) in found


def test_numbers_in_memory_are_selected_without_a_branch():
    body = [Compute("x", WHERE, ["m0", Cell(INPUTS, 0), 1.0]), Assign("m0", "x")]
    assert with_branches(body) == body


def test_operands_of_all_statements_are_found():
    assert sorted(map(str, operands_in(with_branches(selecting())))) == sorted(
        ["m0", "1.0", "m1", "1.0", "b", "m0", "2.0", "d", "m1", "m0", "b", "y", "3.0", "x", "z"]
    )


def bisected(x):
    """Return the cube root of x by bisection."""

    def step(s):
        low, high = s
        middle = 0.5 * (low + high)
        is_above = middle * middle * middle > x
        return gm.where(is_above, low, middle), gm.where(is_above, middle, high)

    return loops.while_loop(lambda s: s[1] - s[0] > 1e-12 * x, step, (0.0 * x, 1.0 + x))[0]


def test_a_bisection_branches_and_gives_the_same_bits():
    code = jit(bisected).recorded(2.0).program.code
    assert branches(list(flattened(routine(code).statements)))
    values = [0.001, 0.3, 2.0, 27.0, 1e9]
    assert [jit(bisected, backend="llvm")(x) for x in values] == [jit(bisected, backend="lanes")(x) for x in values]
    for of in (grad(bisected), grad(grad(bisected))):
        assert [jit(of, backend="llvm")(x) for x in values] == [jit(of, backend="lanes")(x) for x in values]


def test_a_loop_that_all_samples_share_branches_in_a_batch():
    f = lambda x, y: bisected(x) * y  # noqa: E731
    batch = numpy.linspace(0.5, 2.0, 200)
    found = [jit(vmap(f, in_axes=(None, 0)), backend=backend)(27.0, batch) for backend in ("llvm", "lanes")]
    assert found[0].tolist() == found[1].tolist()
    assert found[0] == pytest.approx(3.0 * batch)
