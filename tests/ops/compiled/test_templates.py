"""What rows pass back, written in rows: against the formulas themselves, bit for bit."""

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


def made(row: str, position: int = 0) -> Template | None:
    return template(OPCODES[row], position)


def run(found: Template, operands: tuple[float, ...], out: float, adjoint: float) -> float:
    """What a template gives, for numbers."""
    known = {**dict(zip(OPERANDS.values(), operands, strict=False)), OUT: out, ADJOINT: adjoint}
    results: list[float] = []
    for opcode, references, constant in found.instructions:
        parts = [results[r] if r >= 0 else known[r] for r in references]
        results.append(apply(opcode, *parts) if opcode else constant)
    return results[found.result] if found.result >= 0 else known[found.result]


def same(a: float, b: float) -> bool:
    """The same number: signed zeros told apart, all nans alike."""
    return (a != a and b != b) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


def chosen(partial: Formula, values: dict[str, float]) -> Formula:
    """The number that a choice among numbers comes to."""
    while partial.operator == "where":
        condition, yes, no = partial.arguments
        partial = yes if evaluated(condition, values, ieee) else no
    return partial


def passed(row: Operation, position: int, values: dict[str, float], adjoint: float) -> float:
    """Adjoint times partial, by the row's formula; exactly 0 from a row that selects something else."""
    partial = row.partial(position)
    if row.selects and chosen(partial, values) == number(0):
        return 0.0
    return adjoint * evaluated(partial, values, ieee)


def test_a_product_passes_on_the_other_factor():
    assert made("mul", 0) == Template((Instruction(OPCODES["mul"], (ADJOINT, OPERANDS["y"])),), 0)
    assert made("mul", 1) == Template((Instruction(OPCODES["mul"], (ADJOINT, OPERANDS["x"])),), 0)


def test_a_sum_passes_on_the_adjoint_itself():
    assert made("add", 0) == made("add", 1) == made("sub", 0) == Template((), ADJOINT)


def test_what_names_the_result_does_not_compute_it_again():
    assert made("exp") == Template((Instruction(OPCODES["mul"], (ADJOINT, OUT)),), 0)


def test_a_formula_that_is_a_row_is_one_instruction():
    assert [instruction.opcode for instruction in made("softplus").instructions] == [OPCODES["sigmoid"], OPCODES["mul"]]


def test_what_selects_passes_on_the_adjoint_or_zero():
    condition, *_ = OPERANDS.values()
    zero = Instruction(0, (), 0.0)
    assert made("where", 1) == Template((zero, Instruction(OPCODES["where"], (condition, ADJOINT, 0))), 1)


def test_derivatives_need_rows_alone():
    assert not any(missing_rows(row) for row in TABLE)
    f, x = Functions(), name("x")
    partials = [f.bessel(x) * f.airy(f.abs(x)) + f.bessel(2), number(0)]
    row = Operation("beta", "beta", f.beta(x, name("y")), partials, [], "not in the table")
    assert missing_rows(row) == ["bessel", "airy"]


@TEMPLATES
def test_there_is_one_unless_nothing_is_passed(row, position):
    assert (template(OPCODES[row.name], position) is None) == (position in row.non_differentiable)


@TEMPLATES
def test_instructions_refer_to_what_stands_before_them(row, position):
    found = template(OPCODES[row.name], position)
    for place, instruction in enumerate(found.instructions if found else ()):
        assert len(instruction.operands) == (BY_NAME[NAMES[instruction.opcode]].arity if instruction.opcode else 0)
        assert all(r in REFERENCES or 0 <= r < place for r in instruction.operands)
        assert OPERANDS["z"] not in instruction.operands or row.arity == 3
    assert found is None or len(set(found.instructions)) == len(found.instructions)


@given(st.sampled_from([(row, i) for row, i in PLACES if i not in row.non_differentiable]), *[EXTREME] * 4)
def test_they_give_adjoint_times_partial_bit_for_bit(place, x, y, z, adjoint):
    row, position = place
    operands = (x, y, z)[: row.arity]
    out = apply(OPCODES[row.name], *operands)
    values = dict(zip(("x", "y", "z", "out"), (x, y, z, out), strict=True))
    expected = passed(row, position, values, adjoint)
    assert same(run(template(OPCODES[row.name], position), operands, out, adjoint), expected)


@given(st.sampled_from([row for row in TABLE if row.selects]), *[EXTREME] * 3)
def test_what_is_left_out_gets_zero_even_of_an_infinite_adjoint(row, x, y, z):
    operands = (x, y, z)[: row.arity]
    out = apply(OPCODES[row.name], *operands)
    values = dict(zip(("x", "y", "z", "out"), (x, y, z, out), strict=True))
    for position in range(row.arity):
        if position not in row.non_differentiable and chosen(row.partial(position), values) == number(0):
            for adjoint in (math.inf, -math.inf, math.nan, 1.0):
                assert run(template(OPCODES[row.name], position), operands, out, adjoint) == 0.0


def test_every_row_that_selects_is_among_those_tested():
    assert {row.name for row in TABLE if row.selects} == {"relu", "maximum", "minimum", "where", "fmax", "fmin"}
    assert BY_NAME["stop_gradient"].non_differentiable == (0,)
