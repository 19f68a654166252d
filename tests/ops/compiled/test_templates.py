"""Tests of the templates of adjoints, compared bit for bit with the formulas of the partials."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import EXTREME, OPCODES

from gradwalk.base import ieee
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.ops.compiled.templates import ADJOINT, OPERANDS, OUT, Instruction, Template, missing_rows, template
from gradwalk.ops.formula import Formula, Functions, evaluated, name, number
from gradwalk.ops.rows import Operation
from gradwalk.ops.table import BY_NAME, TABLE
from gradwalk.value.apply import apply

PLACES = [(row, position) for row in TABLE for position in range(row.arity)]
TEMPLATES = pytest.mark.parametrize(("row", "position"), PLACES, ids=lambda x: getattr(x, "name", x))
REFERENCES = {*OPERANDS.values(), OUT, ADJOINT}


def template_of(row: str, position: int = 0) -> Template | None:
    return template(OPCODES[row], position)


def run(found: Template, operands: tuple[float, ...], out: float, adjoint: float) -> float:
    """Evaluate a template for numbers."""
    known = {**dict(zip(OPERANDS.values(), operands, strict=False)), OUT: out, ADJOINT: adjoint}
    results: list[float] = []
    for opcode, references, constant in found.instructions:
        parts = [results[r] if r >= 0 else known[r] for r in references]
        results.append(apply(opcode, *parts) if opcode else constant)
    return results[found.result] if found.result >= 0 else known[found.result]


def same(a: float, b: float) -> bool:
    """Return whether two numbers are equal, with signed zeros distinct and all nans equal."""
    return (a != a and b != b) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


def resolved(partial: Formula, values: dict[str, float]) -> Formula:
    """Return the number that a nested `where` selects."""
    while partial.operator == "where":
        condition, yes, no = partial.arguments
        partial = yes if evaluated(condition, values, ieee) else no
    return partial


def expected_adjoint(row: Operation, position: int, values: dict[str, float], adjoint: float) -> float:
    """Return adjoint times partial by the row's formula, or exactly 0 if the row selected another operand."""
    partial = row.partial(position)
    if row.selects and resolved(partial, values) == number(0):
        return 0.0
    return adjoint * evaluated(partial, values, ieee)


def test_product_multiplies_by_the_other_factor():
    assert template_of("mul", 0) == Template((Instruction(OPCODES["mul"], (ADJOINT, OPERANDS["y"])),), 0)
    assert template_of("mul", 1) == Template((Instruction(OPCODES["mul"], (ADJOINT, OPERANDS["x"])),), 0)


def test_sum_passes_the_adjoint_unchanged():
    assert template_of("add", 0) == template_of("add", 1) == template_of("sub", 0) == Template((), ADJOINT)


def test_result_is_not_computed_again():
    assert template_of("exp") == Template((Instruction(OPCODES["mul"], (ADJOINT, OUT)),), 0)


def test_formula_that_is_a_row_is_one_instruction():
    assert [instruction.opcode for instruction in template_of("softplus").instructions] == [
        OPCODES["sigmoid"],
        OPCODES["mul"],
    ]


def test_selection_passes_the_adjoint_or_zero():
    condition, *_ = OPERANDS.values()
    zero = Instruction(0, (), 0.0)
    assert template_of("where", 1) == Template((zero, Instruction(OPCODES["where"], (condition, ADJOINT, 0))), 1)


def test_derivatives_use_only_rows_of_the_table():
    assert not any(missing_rows(row) for row in TABLE)
    f, x = Functions(), name("x")
    partials = [f.bessel(x) * f.airy(f.abs(x)) + f.bessel(2), number(0)]
    row = Operation("beta", "beta", f.beta(x, name("y")), partials, [], "not in the table")
    assert missing_rows(row) == ["bessel", "airy"]


@TEMPLATES
def test_every_differentiable_operand_has_a_template(row, position):
    assert (template(OPCODES[row.name], position) is None) == (position in row.non_differentiable)


@TEMPLATES
def test_instructions_refer_to_earlier_ones(row, position):
    found = template(OPCODES[row.name], position)
    for place, instruction in enumerate(found.instructions if found else ()):
        assert len(instruction.operands) == (BY_NAME[NAMES[instruction.opcode]].arity if instruction.opcode else 0)
        assert all(r in REFERENCES or 0 <= r < place for r in instruction.operands)
        assert OPERANDS["z"] not in instruction.operands or row.arity == 3
    assert found is None or len(set(found.instructions)) == len(found.instructions)


@given(st.sampled_from([(row, i) for row, i in PLACES if i not in row.non_differentiable]), *[EXTREME] * 4)
def test_templates_give_adjoint_times_partial(place, x, y, z, adjoint):
    row, position = place
    operands = (x, y, z)[: row.arity]
    out = apply(OPCODES[row.name], *operands)
    values = dict(zip(("x", "y", "z", "out"), (x, y, z, out), strict=True))
    expected = expected_adjoint(row, position, values, adjoint)
    assert same(run(template(OPCODES[row.name], position), operands, out, adjoint), expected)


@given(st.sampled_from([row for row in TABLE if row.selects]), *[EXTREME] * 3)
def test_unselected_operands_get_zero(row, x, y, z):
    operands = (x, y, z)[: row.arity]
    out = apply(OPCODES[row.name], *operands)
    values = dict(zip(("x", "y", "z", "out"), (x, y, z, out), strict=True))
    for position in range(row.arity):
        if position not in row.non_differentiable and resolved(row.partial(position), values) == number(0):
            for adjoint in (math.inf, -math.inf, math.nan, 1.0):
                assert run(template(OPCODES[row.name], position), operands, out, adjoint) == 0.0


def test_selecting_rows():
    assert {row.name for row in TABLE if row.selects} == {"relu", "maximum", "minimum", "where", "fmax", "fmin"}
    assert BY_NAME["stop_gradient"].non_differentiable == (0,)
