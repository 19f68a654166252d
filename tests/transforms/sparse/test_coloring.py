"""Tests of sparsity patterns against propagated Python sets, and colorings against their definitions."""

from __future__ import annotations

import itertools

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk.ops.compiled.evaluate import FUSED
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.ops.table import BY_NAME, TABLE
from gradwalk.program.calls.call import Call
from gradwalk.program.code.opcodes import CALL
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.transforms.sparse.coloring import column_coloring, star_coloring
from gradwalk.transforms.sparse.sparsity_pattern import pattern, symmetric, transposed


@st.composite
def recorded(draw: st.DrawFn) -> Program:
    """Draw a program with several outputs, reused values, fused products and calls."""
    tape = Tape()
    places = [tape.input() for _ in range(draw(st.integers(1, 12)))] + [tape.constant(2.5)]
    for _ in range(draw(st.integers(0, 40))):
        name = draw(st.sampled_from(["add", "mul", "call", *(row.name for row in TABLE)]))
        place = st.sampled_from(places) | st.sampled_from(places[-3:])
        if name == "call":
            places.append(tape.call(Call(), draw(st.lists(place, min_size=0, max_size=5))))
        else:
            places.append(tape.append(name, *[draw(place) for _ in range(BY_NAME[name].arity)]))
    return tape.program(draw(st.lists(st.sampled_from(places), max_size=10)) + places[-1:])


def dependencies(program: Program) -> list[set[int]]:
    """Return the set of inputs that each output depends on."""
    sets: list[set[int]] = [{i} for i in range(program.inputs)] + [set() for _ in program.constants]
    for opcode, *places in program.instructions.reshape(-1, 4).tolist():
        if opcode == CALL:
            operands = program.calls[places[0]][1]
        elif opcode in FUSED:
            operands = places
        else:
            row = BY_NAME[NAMES[opcode]]
            operands = [place for i, place in enumerate(places[: row.arity]) if i not in row.non_differentiable]
        sets.append(set().union(*[sets[place] for place in operands]))
    return [sets[place] for place in program.outputs]


def rows(indptr, indices) -> list[list[int]]:
    assert indptr.dtype == indices.dtype == numpy.int32
    return [indices[start:end].tolist() for start, end in itertools.pairwise(indptr)]


def compressed(matrix) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return the pattern of a bool matrix."""
    indptr = numpy.zeros(len(matrix) + 1, numpy.int32)
    indptr[1:] = matrix.sum(axis=1).cumsum()
    return indptr, numpy.nonzero(matrix)[1].astype(numpy.int32)


@st.composite
def matrices(draw: st.DrawFn, *, square: bool = False) -> numpy.ndarray:
    m = draw(st.integers(0, 9))
    n = m if square else draw(st.integers(0, 9))
    entries = st.lists(st.booleans(), min_size=m * n, max_size=m * n)
    return numpy.array(draw(entries), dtype=bool).reshape(m, n)


@given(recorded())
def test_pattern_has_the_dependencies_of_outputs(program):
    assert rows(*pattern(program)) == [sorted(found) for found in dependencies(program)]


@given(recorded(), st.data())
def test_pattern_of_selected_columns(program, data):
    columns = data.draw(st.lists(st.integers(0, program.inputs - 1), unique=True))
    expected = [sorted(columns.index(i) for i in found if i in columns) for found in dependencies(program)]
    assert rows(*pattern(program, columns)) == expected


def test_pattern_of_empty_programs():
    assert rows(*pattern(Tape().program([]))) == []
    tape = Tape()
    assert rows(*pattern(tape.program([tape.constant(1.0)]))) == [[]]
    assert rows(*pattern(tape.program([tape.input()]))) == [[0]]


def test_values_used_once_have_no_sets():
    """Check a sum of n inputs, which would otherwise need n sets of n / 2 inputs on average."""
    tape = Tape()
    total = tape.constant(0.0)
    inputs = [tape.input() for _ in range(20_000)]
    for place in inputs:
        total = tape.append("add", total, tape.append("sin", place))
    assert rows(*pattern(tape.program([total]))) == [list(range(20_000))]


def test_unused_sets_are_freed():
    tape = Tape()
    inputs = [tape.input() for _ in range(400)]
    state, outputs = inputs[0], []
    for place in inputs[1:]:
        state = tape.append("add", tape.append("sin", state), tape.append("mul", place, state))
        outputs.append(tape.append("mul", place, inputs[0]))
    found = rows(*pattern(tape.program([*outputs, state])))
    assert found == [*[[0, i] for i in range(1, 400)], list(range(400))]


@given(matrices())
def test_transposed(matrix):
    indptr, indices = transposed(*compressed(matrix), matrix.shape[1])
    assert rows(indptr, indices) == rows(*compressed(matrix.T))


@given(matrices(square=True))
def test_symmetric(matrix):
    assert rows(*symmetric(*compressed(matrix))) == rows(*compressed(matrix | matrix.T))


@given(matrices())
def test_columns_of_one_color_share_no_row(matrix):
    colors = column_coloring(*compressed(matrix), matrix.shape[1])
    assert sorted(set(colors.tolist())) == list(range(max(colors, default=-1) + 1))
    for row in matrix:
        assert len(set(colors[row])) == row.sum()


@given(matrices(square=True))
def test_vertices_of_two_colors_form_stars(matrix):
    adjacent = matrix | matrix.T
    colors, _ = star_coloring(*compressed(adjacent))
    numpy.fill_diagonal(adjacent, val=False)
    assert len(set(colors.tolist())) == max(colors, default=-1) + 1
    edges = list(zip(*numpy.nonzero(adjacent), strict=True))
    assert all(colors[i] != colors[j] for i, j in edges)
    for i, j in edges:
        before, after = (
            (adjacent[k] & (numpy.arange(len(colors)) != other)).nonzero()[0] for k, other in ((i, j), (j, i))
        )
        assert not any(colors[a] == colors[j] and colors[b] == colors[i] for a in before for b in after)


@given(matrices(square=True), st.integers(0, 2**32 - 1))
def test_column_sums_determine_a_symmetric_matrix(matrix, seed):
    nonzero = matrix | matrix.T
    numbers = numpy.random.default_rng(seed).normal(size=nonzero.shape)
    numbers = numpy.where(nonzero, numbers + numbers.T, 0.0)
    colors, flipped = star_coloring(*compressed(nonzero))
    sums = numpy.array([numbers[:, colors == color].sum(axis=1) for color in range(max(colors, default=-1) + 1)])
    for (i, j), is_flipped in zip(numpy.argwhere(nonzero), flipped, strict=True):
        assert numbers[i, j] == (sums[colors[i], j] if is_flipped else sums[colors[j], i])
        assert i != j or not is_flipped
    at = numpy.full(nonzero.shape, fill_value=False)
    at[nonzero] = flipped
    assert (at ^ at.T)[nonzero & ~numpy.eye(len(nonzero), dtype=bool)].all()


def arrow(n: int) -> numpy.ndarray:
    matrix = numpy.eye(n, dtype=bool)
    matrix[0] = matrix[:, 0] = True
    return matrix


def band(n: int, width: int) -> numpy.ndarray:
    places = numpy.arange(n)
    return abs(places[:, None] - places) <= width


@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize(
    ("matrix", "fewest"),
    [
        (arrow(50), 2),
        (band(50, 0), 1),
        (band(50, 1), 3),
        (band(50, 50), 50),
        (numpy.zeros((50, 50), dtype=bool), 1),
        (numpy.ones((1, 1), dtype=bool), 1),
        (numpy.zeros((0, 0), dtype=bool), 0),
    ],
    ids=["arrow", "diagonal", "tridiagonal", "dense", "zeros", "1x1", "empty"],
)
def test_star_coloring_uses_fewest_colors(matrix, fewest, permuted):
    if permuted and fewest != 3:
        order = numpy.random.default_rng(0).permutation(len(matrix))
        matrix = matrix[order][:, order]
    colors, _ = star_coloring(*compressed(matrix))
    assert len(set(colors.tolist())) == fewest


@pytest.mark.parametrize("width", [0, 1, 2, 5])
def test_number_of_colors_equals_bandwidth(width):
    colors = column_coloring(*compressed(band(60, width)), 60)
    assert len(set(colors.tolist())) == 2 * width + 1


def test_large_arrow_matrix_is_colored_quickly():
    n = 100_000
    indptr = numpy.arange(n + 1, dtype=numpy.int32) * 2 + n - 2
    indptr[0] = 0
    indices = numpy.concatenate(
        [numpy.arange(n), numpy.stack([numpy.zeros(n - 1), numpy.arange(1, n)], axis=1).ravel()]
    )
    colors, _ = star_coloring(indptr, indices)
    assert colors.tolist() == [0, *[1] * (n - 1)]


def test_invalid_patterns_raise():
    with pytest.raises(ValueError, match="symmetric"):
        star_coloring([0, 1, 1], [1])
    with pytest.raises(ValueError, match="sorted"):
        star_coloring([0, 2, 4], [1, 0, 0, 1])
    with pytest.raises(ValueError, match="not a pattern with 2 columns"):
        column_coloring([0, 1], [2], 2)
    with pytest.raises(ValueError, match="not a pattern"):
        transposed([0, 2], [0], 1)
