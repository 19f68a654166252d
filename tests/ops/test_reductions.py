"""Tests of every reduction in every way of calling it, compared with mpmath and PyTorch; new ones are included."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import random

import numpy
import pytest
from references import MPMATH_REDUCTIONS, TORCH_REDUCTIONS, mpmath, torch, torch_leaf

import gradwalk.math
from gradwalk import Graph, Value, grad, hessian, jit, refresh, vmap
from gradwalk.base import ieee
from gradwalk.graph.node import GraphError
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.compiled.templates import expansion
from gradwalk.ops.formula import as_formula, evaluated
from gradwalk.ops.rows import Reduction
from gradwalk.ops.table import REDUCTIONS, TABLE

ROWS = pytest.mark.parametrize("row", REDUCTIONS, ids=lambda row: row.name)
LENGTHS = (1, 2, 3, 7, 40)


def operands(row: Reduction, length: int) -> list[float]:
    """Draw operands of a node from the domain, with a fixed seed."""
    draw = random.Random(f"{row.name} {length}")
    start = [draw.uniform(-2.0, 2.0)] * row.starts
    return start + [draw.uniform(low, high) for low, high in row.domain for _ in range(length)]


def called(row: Reduction, numbers: list) -> object:
    """Apply the function of gradwalk.math to the operands of a node."""
    length = (len(numbers) - row.starts) // row.groups
    groups = [list(numbers[row.starts + i * length :][:length]) for i in range(row.groups)]
    return getattr(gradwalk.math, row.name)(*groups, *numbers[: row.starts])


def folded(row: Reduction, numbers: list, of: dict) -> object:
    """Apply a reference function to the operands of a node."""
    length = (len(numbers) - row.starts) // row.groups
    groups = [numbers[row.starts + i * length :][:length] for i in range(row.groups)]
    return of[row.name](*groups, *numbers[: row.starts])


def test_references_cover_every_reduction():
    assert {row.name for row in REDUCTIONS} == set(MPMATH_REDUCTIONS) == set(TORCH_REDUCTIONS)


@ROWS
@pytest.mark.parametrize("length", LENGTHS)
def test_value_and_partials_agree_with_mpmath_and_torch(row, length):
    numbers = operands(row, length)
    leaves = [Value(x) for x in numbers]
    out = called(row, leaves)
    assert (out.op, out.operands) == (row.symbol, tuple(leaves))
    exact = folded(row, [mpmath.mpf(x) for x in numbers], MPMATH_REDUCTIONS)
    scale = max(1.0, *(abs(p * x) for p, x in zip(out.partials, numbers, strict=True)))
    assert out.data == pytest.approx(float(exact), rel=1e-13, abs=1e-13 * scale)
    assert called(row, numbers) == out.data
    assert type(called(row, numbers)) is float
    out.backward()
    theirs = [torch_leaf(x) for x in numbers]
    folded(row, theirs, TORCH_REDUCTIONS).backward()
    assert [x.grad for x in leaves] == pytest.approx([float(x.grad) for x in theirs], rel=1e-12)
    assert out.partials == tuple(x.grad for x in leaves)


@ROWS
def test_nodes_are_saved_recomputed_and_loaded(row):
    leaves = [Value(x) for x in operands(row, 4)]
    out = called(row, leaves)
    graph = Graph.record(out)
    assert len(graph) == len(leaves) + 1
    assert Graph.from_json(graph.to_json()).nodes[-1].partials == out.partials
    assert pickle.loads(pickle.dumps(out)).partials == copy.deepcopy(out).partials == out.partials
    leaves[-1].data += 0.5
    refresh(out)
    fresh = called(row, [Value(x.data) for x in leaves])
    assert (out.data, out.partials) == (fresh.data, fresh.partials)


@ROWS
def test_derivatives_and_compiled_functions(row):
    at = numpy.array(operands(row, 3))
    f = lambda x: called(row, list(x))  # noqa: E731
    leaves = [Value(x) for x in at]
    out = called(row, leaves)
    assert f(at) == jit(f)(at) == out.data
    for derivative in (grad(f), jit(grad(f)), grad(jit(f))):
        assert derivative(at).tolist() == pytest.approx(list(out.partials), rel=1e-12)
    theirs = torch.autograd.functional.hessian(
        lambda x: folded(row, list(x), TORCH_REDUCTIONS), torch.tensor(at, dtype=torch.float64)
    )
    assert numpy.allclose(hessian(f)(at), theirs.numpy(), rtol=1e-11, atol=1e-13)
    batch = numpy.array([at, at / 2, at / 3])
    assert vmap(f)(batch).tolist() == pytest.approx([f(x) for x in batch], rel=1e-14)


@ROWS
def test_error_for_wrong_operands_names_the_function(row):
    for wrong in ("2", None, 1j, [1.0], numpy.ones(2)):
        with pytest.raises(TypeError, match=rf"{row.name}\(\) takes Values and real numbers, not"):
            called(row, [*operands(row, 2)[:-1], wrong])


@ROWS
def test_operand_counts_are_checked(row):
    graph = Graph.record(called(row, [Value(x) for x in operands(row, 2)]))
    accepted = [count for count in range(12) if row.accepts(count)]
    assert accepted == [row.starts + row.groups * n for n in range(12) if 0 < row.starts + row.groups * n < 12]
    if row.groups > 1:
        offsets = graph.offsets.copy()
        offsets[-1] -= 1
        wrong = {"offsets": offsets, "operands": graph.operands[:-1], "partials": graph.partials[:-1]}
        with pytest.raises(GraphError, match=rf"\({row.name}\) takes {row.takes} operands"):
            dataclasses.replace(graph, **wrong).validate()


@ROWS
def test_elements_match_partials(row):
    count = row.starts + 5 * row.groups
    for position in range(row.starts, count):
        element = row.element(position, count)
        assert position in element
        assert len(element) == row.groups
        assert row.partial(position, count) == row.partials[element.index(position)]
    assert row.starts == 0 or row.element(0, count) == ()


@ROWS
def test_expansions_use_rows_of_the_table(row):
    for template in expansion(row):
        assert {instruction.opcode for instruction in template.instructions} <= {
            0,
            *(OPCODES[row.name] for row in TABLE),
        }


@ROWS
def test_empty_reduction_gives_the_first_total(row):
    empty = getattr(gradwalk.math, row.name)(*[[]] * row.groups)
    assert empty == evaluated(as_formula(row.first), {}, ieee)
