"""Tests of `take`, `one_hot`, `searchsorted`, `interp` and `pchip` with traced indices, in every way of running."""

from __future__ import annotations

import ctypes
import itertools
import json
import math
import pickle
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest
import scipy.interpolate
from c_compiler import needs_program
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import fewer
from references import jax, jnp, jsonschema

import gradwalk
import gradwalk.math as gm
from gradwalk import (
    Graph,
    Program,
    ProgramError,
    RecordingError,
    Value,
    check,
    debug_nans,
    grad,
    hessian,
    interp,
    jacfwd,
    jacrev,
    jit,
    jvp,
    loops,
    one_hot,
    pchip,
    refresh,
    searchsorted,
    sparse_jacobian,
    take,
    threads,
    value_and_grad,
    vmap,
    zero_grad,
)
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.program.code.opcodes import TAKE
from gradwalk.program.tape import Tape
from gradwalk.value.apply import apply, apply_variadic

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/program.schema.json").read_text(encoding="utf-8"))
FILLED = {"mode": "fill", "fill_value": math.nan}
BATCHES = (1, 2, 15, 16, 17, 127, 128, 129, 300)
NUMBERS = itertools.count()
FINITE = st.floats(-4.0, 4.0).map(lambda x: round(x, 3))


def same(found: Any, expected: Any) -> None:
    numpy.testing.assert_array_equal(numpy.asarray(found, float), numpy.asarray(expected, float))


def in_c(program: Program, folder: Path) -> Callable[[Any], list[float]]:
    """Compile a program with the system's C compiler, with warnings as errors."""
    path = folder / f"{next(NUMBERS)}.c"
    path.write_text(program.to_c(), encoding="ascii")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-ffp-contract=off", "-fno-builtin"]
    subprocess.run(["cc", *strict, "-shared", "-fPIC", path, "-o", path.with_suffix(".so"), "-lm"], check=True)
    function = ctypes.CDLL(str(path.with_suffix(".so"))).f

    def run(numbers: Any) -> list[float]:
        results = (ctypes.c_double * len(program.outputs))()
        function((ctypes.c_double * max(1, len(numbers)))(*numbers), results)
        return list(results)

    return run


# Semantics


@given(st.lists(FINITE, min_size=1, max_size=9), st.data())
def test_take_indexes_like_a_list(numbers, data):
    i = data.draw(st.integers(-len(numbers) - 2, len(numbers) + 1))
    leaves = [Value(x) for x in numbers]
    if not -len(numbers) <= i < len(numbers):
        for index in (i, float(i), Value(i)):
            with pytest.raises(IndexError, match=f"must be a whole number from -{len(numbers)} to {len(numbers) - 1}"):
                take(leaves, index)
        assert math.isnan(jit(take)(numbers, i))
        for transform in (grad, jacfwd):
            same(jit(transform(take))(numbers, i), [math.nan] * len(numbers))
        return
    assert take(leaves, i) is leaves[i]
    assert take(leaves, numpy.float64(i)) is leaves[i]
    index = Value(i)
    out = take(leaves, index)
    assert (out.op, out.data, out.operands) == ("take", numbers[i], (index, *leaves))
    out.backward()
    expected = [float(x is leaves[i]) for x in leaves]
    assert ([x.grad for x in leaves], index.grad) == (expected, 0.0)
    same(jit(grad(take))(numbers, i), expected)
    assert jit(take)(numbers, i) == take(numpy.array(numbers), i) == take(tuple(numbers), i) == numbers[i]


@pytest.mark.parametrize("index", [-1.0, 2.0, 3.0, -4.0, 0.5, math.nan, math.inf])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, i: take([x, 2.0 * x, x * x], i),
        lambda x, i: take([x, 2.0 * x, x * x], i) ** 2 * x,
        lambda x, i: loops.fori_loop(0, 2, lambda k, c: take([x, c, c * x], i) * c, x),
        lambda x, i: take([gm.sqrt(x), x, x * x], i),
    ],
)
def test_derivatives_out_of_range_are_nan(f, index):
    x, is_in_range = 3.0, index in (-1.0, 2.0)
    for transform in (lambda g: g, grad, jacfwd, lambda g: grad(grad(g)), lambda g: jacfwd(grad(g)), hessian):
        recorded = jit(transform(f))
        found = recorded(x, index)
        assert math.isnan(found) is not is_in_range
        same(vmap(transform(f))(numpy.array([x, x]), numpy.array([index, 1.0]))[0], found)
        same(Program.from_json(recorded.program.to_json()).run([x, index])[0], found)
        if is_in_range:
            assert transform(f)(x, int(index)) == pytest.approx(found, rel=1e-12)


@needs_program("cc")
def test_c_agrees_out_of_range(tmp_path):
    for transform in (grad, jacfwd):
        recorded = jit(transform(lambda x, i: take([x, 2.0 * x, x * x], i) ** 2))
        recorded(3.0, 1)
        run = in_c(recorded.program, tmp_path)
        for index in (-3.0, 1.0, 5.0, 0.5, math.nan):
            same(run([3.0, index]), recorded.program.run([3.0, index]))


@pytest.mark.parametrize("index", [1.0, 3.0, 5.0, math.nan])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, i: gm.where(gm.less(i, 3), take([x, 2.0 * x, x * x], i) ** 2, x),
        lambda x, i: gm.where(gm.less(i, 3), take([1.0, 2.0, 3.0], i) * x * x, x),
        lambda x, i: loops.cond(gm.less(i, 3), lambda: take([x, 2.0 * x, x * x], i) ** 2, lambda: x),
        lambda x, i: gm.where(
            gm.less(i, 3), loops.fori_loop(0, 3, lambda k, c: take([x, c, c * x], i) * c, x), 0.0 * x + x
        ),
    ],
)
def test_unselected_index_out_of_range_has_no_effect(f, index):
    x = 3.0
    for transform in (grad, jacfwd, lambda g: grad(grad(g)), lambda g: jacfwd(grad(g)), hessian):
        expected = transform(lambda x: f(x, 1) if index == 1.0 else x * 1.0)(x)
        assert jit(transform(f))(x, index) == pytest.approx(expected, rel=1e-12)
        assert vmap(transform(f))(numpy.array([x, x]), numpy.array([index, 1.0]))[0] == pytest.approx(
            expected, rel=1e-12
        )


@pytest.mark.parametrize("indices", [[0, 1, -1], [0, 7], [2, math.nan], [0.5], [-6, 1], [4]])
@pytest.mark.parametrize("kind", [numpy.float64, numpy.float32])
def test_sums_of_gradients_out_of_range(indices, kind):
    """One instruction scatters the gradients over the table; an index out of range gives nan for all elements."""
    table = numpy.arange(1.0, 6.0)
    slope = grad(lambda t, i: take(t, i) ** 2)
    columns = numpy.array(indices, kind)
    each = vmap(slope, in_axes=(None, 0))(table, columns)
    same(vmap(slope, in_axes=(None, 0), reduce="sum")(table, columns), each.sum(axis=0))
    whole = grad(lambda t: vmap(lambda t, i: take(t, i) ** 2, in_axes=(None, 0), reduce="sum")(t, columns))
    same(whole(table), each.sum(axis=0))
    guarded = grad(lambda t, i: gm.where(gm.less(gm.abs(i), 5), take(t, i) ** 2, 0.0))
    expected = vmap(guarded, in_axes=(None, 0))(table, columns).sum(axis=0)
    same(vmap(guarded, in_axes=(None, 0), reduce="sum")(table, columns), expected)


def test_take_of_rows_gives_a_row():
    table = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    leaves = [[Value(x) for x in row] for row in table]
    assert take(leaves, 1) is leaves[1]
    row = take(leaves, Value(-1.0))
    assert [x.data for x in row] == [5.0, 6.0]
    row[1].backward()
    assert [[x.grad for x in row] for row in leaves] == [[0, 0], [0, 0], [0, 1]]
    array = numpy.arange(24.0).reshape(3, 4, 2)
    found = jit(take)(array, 2)
    assert isinstance(found, numpy.ndarray)
    same(found, array[2])
    same(jit(lambda i: take(array, i))(1), array[1])
    same(jit(lambda t, i: take([[t, t[::-1]], [t * 2, t]], i)[0])(array[0, :, 0], 1), array[0, :, 0] * 2)


@pytest.mark.parametrize(
    ("values", "index", "error", "message"),
    [
        ([1.0, 2.0], 1.5, IndexError, r"must be a whole number from -2 to 1 for a table of 2 entries, got 1.5"),
        ([1.0, 2.0], Value(math.nan), IndexError, "must be .* for a table of 2 entries, got nan"),
        ([1.0, 2.0], math.inf, IndexError, ", got inf"),
        ([], 0, IndexError, r"the table of take\(\) is empty, so no index is valid, got 0"),
        ([], Value(0.0), IndexError, "is empty, so no index is valid, got 0.0"),
        ([1.0], "0", TypeError, "must be a whole number or a Value, got str"),
        ([1.0], None, TypeError, "got NoneType"),
        ("abc", 0, TypeError, "a table must be a list, tuple or array of numbers or of rows, got str"),
        (3.0, Value(0.0), TypeError, "got float"),
        (numpy.array(3.0), 0, TypeError, "got ndarray"),
        ([1.0, "2"], Value(0.0), TypeError, r"take\(\) takes Values and real numbers, not str"),
        ([[1.0], [2.0, 3.0]], Value(0.0), ValueError, "rows of a table must have equal lengths, got 1 and 2"),
        ([[1.0], [2.0, 3.0]], 0, ValueError, "rows of a table must have equal lengths, got 1 and 2"),
        ([[[1.0], [2.0]], [[3.0], [4.0, 5.0]]], 0, ValueError, "rows of a table must have equal lengths, got 1 and 2"),
        ([[[1.0], [2.0]], [[3.0], [4.0, 5.0]]], Value(0.0), ValueError, "must have equal lengths, got 1 and 2"),
        ([numpy.zeros(2), numpy.zeros(3)], 0, ValueError, "rows of a table must have equal lengths, got 2 and 3"),
        ([[1.0], 2.0], 0, TypeError, "a table must be a list, tuple or array of numbers or of rows, got float"),
    ],
)
def test_invalid_tables_and_indices_are_refused(values, index, error, message):
    with pytest.raises(error, match=message):
        take(values, index)


def test_rows_of_unequal_lengths_are_refused():
    table = [[1.0], [2.0, 3.0]]
    of_lanes = vmap(lambda i: take(table, i))
    for called in (
        lambda: take(table, 0),
        lambda: take(table, Value(0.0)),
        lambda: jit(take)(table, 0),
        lambda: jit(lambda t: take(t, 0))(table),
        lambda: grad(lambda t, i: take(t, i)[0])(table, 0),
        lambda: of_lanes(numpy.array([0, 0])),
    ):
        with pytest.raises(ValueError, match="rows of a table must have equal lengths, got 1 and 2"):
            called()


def test_error_for_a_recorded_index_suggests_take():
    for f in (lambda t, i: t[i], lambda t, i: t[int(i)], lambda t, i: sum(t[: i + 0])):
        with pytest.raises(RecordingError, match=r"Use gradwalk\.take\(values, index\), which can be recorded"):
            jit(f, branches="refuse")([1.0, 2.0], 1)


def test_error_messages_show_take_as_called():
    for count, shown in ((2, "t[0], t[1]"), (9, "t[0], t[1], t[2], …, t[8]")):
        with pytest.raises(RecordingError) as refused:
            jit(lambda t, i: float(take(t, i)))([1.0] * count, 1)
        assert f"`take([{shown}], i)`" in str(refused.value)


def test_pickled_take_keeps_its_table():
    out = take([Value(1.0), 2.0, Value(3.0)], Value(-1.0))
    again = pickle.loads(pickle.dumps(out))
    assert (again.data, again.arguments[2], again.partials) == (3.0, 2.0, out.partials)


def test_functions_exist_in_gradwalk_and_math():
    for name in ("take", "one_hot", "searchsorted", "interp", "pchip"):
        assert getattr(gradwalk, name) is getattr(gm, name)


# Ways of running


def taken_twice(table: Any, i: Any, x: Any) -> Any:
    """Take from a table of arguments, computed values and constants, and from one table twice."""
    mixed = [table[0] * x, table[1], 2.5, x.sin() if isinstance(x, Value) else math.sin(x), table[2]]
    return take(mixed, i) ** 2 * take([*table, 0.5], i) + take([1.5, -2.0, 7.0], i) * x


def jax_taken_twice(table: Any, i: Any, x: Any) -> Any:
    mixed = jnp.stack([table[0] * x, table[1], 2.5, jnp.sin(x), table[2]])
    constants = jnp.array([1.5, -2.0, 7.0])
    of_table = jnp.append(table, 0.5)
    return jnp.take(mixed, i, **FILLED) ** 2 * jnp.take(of_table, i, **FILLED) + jnp.take(constants, i, **FILLED) * x


@given(st.lists(FINITE, min_size=3, max_size=3), st.integers(-3, 2), FINITE)
def test_values_and_derivatives_agree_with_jax(table, i, x):
    at = (jnp.array(table), i, x)
    theirs = jax.jit(jax.grad(jax_taken_twice, (0, 2)))(*at)
    expected = [*theirs[0].tolist(), float(theirs[1])]
    leaves, end = [Value(number) for number in table], Value(x)
    out = taken_twice(leaves, Value(i), end)
    out.backward()
    assert out.data == pytest.approx(float(jax_taken_twice(*at)), rel=1e-14, abs=1e-14)
    assert [*[v.grad for v in leaves], end.grad] == pytest.approx(expected, rel=1e-13, abs=1e-13)
    slopes = grad(taken_twice, (0, 2))
    for derivative in (slopes, jit(slopes)):
        found = derivative(table, i, x)
        assert [*found[0], found[1]] == pytest.approx(expected, rel=1e-13, abs=1e-13)
    curvature = numpy.asarray(jax.jit(jax.hessian(jax_taken_twice))(*at))
    one = jvp(jit(grad(taken_twice)), (table, float(i), x), ([1.0, 0.0, 0.0], 0.0, 0.0))[1]
    for found in (
        hessian(taken_twice),
        jit(hessian(taken_twice)),
        jacfwd(jacrev(taken_twice)),
        jacrev(grad(taken_twice)),
    ):
        numpy.testing.assert_allclose(found(table, i, x), curvature, rtol=1e-12, atol=1e-12)
    numpy.testing.assert_allclose(one, curvature[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [numpy.float64, numpy.float32])
@pytest.mark.parametrize("varies", list(itertools.product((0, None), repeat=3))[:-1])
def test_lanes_agree_with_single_samples(varies, kind):
    generator = numpy.random.default_rng(5)
    for count in BATCHES:
        table = generator.normal(size=(count, 3)).astype(kind)
        index = generator.integers(-4, 5, size=count).astype(kind)  # some are out of range
        index[::7] += kind(0.5)
        args = [table, index, generator.normal(size=count).astype(kind)]
        args = [arg if axis == 0 else arg[-1] for arg, axis in zip(args, varies, strict=True)]
        samples = [[arg[k] if axis == 0 else arg for arg, axis in zip(args, varies, strict=True)] for k in range(count)]
        for f in (taken_twice, grad(taken_twice), grad(grad(taken_twice, 2))):
            found = vmap(f, in_axes=varies)(*args)
            one = jit(f)
            expected = numpy.array([one(t.astype(float).tolist(), float(i), float(x)) for t, i, x in samples])
            near = {"rtol": 1e-13, "atol": 1e-13} if kind is numpy.float64 else {"rtol": 1e-4, "atol": 1e-4}
            numpy.testing.assert_allclose(found, expected, **near)


def test_threads_and_layouts_do_not_change_results():
    generator = numpy.random.default_rng(6)
    count = 40_000
    table, index = generator.normal(size=(count, 30)), generator.integers(-30, 30, size=count)
    f = vmap(lambda t, i: take([*t, *[t[0] * x for x in t]], i))
    with threads(1):
        expected = f(table, index)
    same(expected[:50], [[*t, *(t[0] * t)][i] for t, i in zip(table[:50], index[:50], strict=True)])
    with threads(2):
        same(f(table, index), expected)
        same(f(numpy.asfortranarray(table), index), expected)
        same(f(table[:, ::-1][:, ::-1], index[::-1][::-1]), expected)


def test_sums_over_a_batch():
    generator = numpy.random.default_rng(7)
    table, index = generator.normal(size=(9, 4)), generator.integers(-9, 9, size=333)
    loss = lambda t, i: sum(x * x for x in take(t, i))  # noqa: E731
    found = vmap(value_and_grad(loss), in_axes=(None, 0), reduce="sum")(table, index)
    counts = numpy.bincount(index % 9, minlength=9)[:, None]
    assert found[0] == pytest.approx(float((counts * table**2).sum()), rel=1e-12)
    numpy.testing.assert_allclose(found[1], 2 * counts * table, rtol=1e-12)


@needs_program("cc")
@pytest.mark.parametrize("f", [taken_twice, value_and_grad(taken_twice), hessian(taken_twice)])
def test_c_gives_the_same_bits(f, tmp_path):
    recorded = jit(f)
    recorded([1.0, 2.0, 3.0], 0, 0.5)
    run = in_c(recorded.program, tmp_path)
    for i in (*range(-5, 6), 0.5, -0.0, math.nan, math.inf, -math.inf, 1e300):
        numbers = [0.5, -1.5, 3.0, i, 0.75]
        same(run(numbers), recorded.program.run(numbers))


@needs_program("c++")
def test_source_compiles_as_cpp(tmp_path):
    recorded = jit(value_and_grad(taken_twice))
    recorded([1.0, 2.0, 3.0], 0, 0.5)
    (tmp_path / "f.cpp").write_text(recorded.program.to_c(), encoding="ascii")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    subprocess.run(["c++", *flags, tmp_path / "f.cpp"], check=True)


# Random programs, whose indices are arbitrary results


@dataclass(frozen=True)
class Drawn:
    """Leaves, and steps of an operation and operand positions; the first operand of `take` is the index."""

    leaves: tuple[float, ...]
    steps: tuple[tuple[str, tuple[int | float, ...]], ...]

    def __call__(self, *leaves: Any) -> Any:
        results = list(leaves)
        for name, places in self.steps:
            operands = [results[place] if isinstance(place, int) else place for place in places]
            results.append(apply_variadic(TAKE, operands) if name == "take" else apply(OPCODES[name], *operands))
        return results[-1] + 0.0 * 1.0 if isinstance(results[-1], float) else results[-1]


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    leaves = draw(st.lists(st.one_of(FINITE, st.integers(-3, 3).map(float)), min_size=2, max_size=4))
    steps = []
    for count in range(len(leaves), len(leaves) + draw(st.integers(1, 8))):
        operand = st.one_of(st.integers(0, count - 1), st.integers(0, count - 1), FINITE, st.integers(-2, 2).map(float))
        name = draw(st.sampled_from(["take", "take", "add", "mul", "sub", "less", "where", "sign", "sin", "maximum"]))
        arity = {"sign": 1, "sin": 1, "where": 3}.get(name, 2) if name != "take" else draw(st.integers(2, 6))
        steps.append((name, tuple(draw(st.lists(operand, min_size=arity, max_size=arity)))))
    name, places = steps[-1]
    steps[-1] = (
        (name, (places[0], draw(st.integers(0, len(leaves) - 1)), *places[2:])) if len(places) > 1 else steps[-1]
    )
    return Drawn(tuple(leaves), tuple(steps))


@fewer(2)
@given(drawn())
def test_random_programs_agree_in_all_ways(program):
    leaves = [Value(x) for x in program.leaves]
    root = program(*leaves)
    expected = root.data if isinstance(root, Value) else root
    recorded = jit(program)
    same(recorded(*program.leaves), expected)
    again = Program.from_json(recorded.program.to_json())
    jsonschema.validate(json.loads(recorded.program.to_json()), SCHEMA)
    assert str(again) == str(recorded.program)
    same(again.run(program.leaves), expected)
    wrt = tuple(range(len(leaves)))
    slopes = grad(program, wrt)(*program.leaves)
    if isinstance(root, Value) and root.operands:
        root.backward()
        numpy.testing.assert_allclose([x.grad for x in leaves], slopes, rtol=1e-12, atol=1e-12)
        graph = Graph.record(root)
        assert Graph.from_json(graph.to_json()).to_json() == graph.to_json()
        refresh(root)
        same(root.data, expected)
    same(jit(grad(program, wrt))(*program.leaves), slopes)
    tangents = [jvp(program, program.leaves, tuple(float(j == k) for j in wrt))[1] for k in wrt]
    if math.isfinite(expected):  # out of range, a derivative outside the table's partials may be 0 or nan
        numpy.testing.assert_allclose(tangents, slopes, rtol=1e-12, atol=1e-12)


@fewer(2)
@given(drawn(), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_random_programs_on_lanes(program, count, seed):
    generator = numpy.random.default_rng(seed)
    columns = [generator.choice([x, -1.0, 0.0, 1.0, 2.0], size=count) for x in program.leaves]
    axes = tuple(generator.choice([0, None]) for _ in columns[1:])
    args = [columns[0], *(c if axis == 0 else c[0] for c, axis in zip(columns[1:], axes, strict=True))]
    for f in (program, grad(program, tuple(range(len(columns))))):
        one = jit(f)
        samples = [[float(a[k]) if numpy.ndim(a) else float(a) for a in args] for k in range(count)]
        expected = numpy.array([one(*sample) for sample in samples]).T
        found = vmap(f, in_axes=(0, *axes))(*args)
        numpy.testing.assert_allclose(numpy.array(found), expected, rtol=1e-13, atol=1e-13)


@needs_program("cc")
@settings(fewer(5), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(program=drawn())
def test_random_programs_in_c(program, tmp_path):
    recorded = jit(value_and_grad(program, tuple(range(len(program.leaves)))))
    recorded(*program.leaves)
    same(in_c(recorded.program, tmp_path)(program.leaves), recorded.program.run(program.leaves))


# Special numbers


def test_unselected_elements_get_zero_instead_of_nan():
    x, i = Value(0.0), Value(1.0)
    take([x * x, x], i).backward()
    assert x.grad == 1.0
    steep = lambda x, i: gm.sqrt(take([x, 3.0], i))  # noqa: E731  its slope at 0 is infinite
    other = lambda x, y, i: gm.sqrt(take([x, y], i))  # noqa: E731
    assert grad(steep)(0.0, 1) == jit(grad(steep))(0.0, 1) == 0.0
    assert grad(other, (0, 1))(0.0, 5.0, 0) == jit(grad(other, (0, 1)))(0.0, 5.0, 0) == (math.inf, 0.0)
    assert hessian(other, (0, 1))(4.0, 0.0, 0) == jit(hessian(other, (0, 1)))(4.0, 0.0, 0)
    batch = numpy.array([0.0, 1.0, 0.0])
    found = vmap(grad(other, (0, 1)), in_axes=(0, None, 0))(batch, 0.0, numpy.array([0, 1, 1]))
    same(found, [[math.inf, 0.0, 0.0], [0.0, math.inf, math.inf]])


def test_nonfinite_elements_do_not_spread():
    table = [math.inf, math.nan, 1.0]
    assert jit(lambda i: take(table, i))(2) == 1.0
    same(vmap(lambda i: take(table, i))(numpy.array([2, 0, 1])), [1.0, math.inf, math.nan])


def test_debug_nans_reports_an_index_out_of_range():
    f = jit(take)
    f([1.0, 2.0], 1)
    with (
        debug_nans(),
        pytest.raises(FloatingPointError, match=r"take\(\[v0, v1\], v2\), which gave nan"),
    ):
        f([1.0, 2.0], 2)


def test_graphs_with_take_are_checked_and_refreshed():
    leaves = [Value(x, label=f"t{i}") for i, x in enumerate((0.5, 1.5, -2.0))]
    index = Value(1.0, label="i")
    root = take([x * x for x in leaves], index) * 3.0
    assert {row.verdict for row in check(root).rows} == {"right"}
    index.data = -1.0
    refresh(root)
    assert root.data == 12.0
    root.backward()
    assert [x.grad for x in leaves] == [0.0, 0.0, -12.0]
    index.data = 5.0
    refresh(root)
    assert math.isnan(root.data)
    zero_grad(root)
    root.backward()
    same([x.grad for x in (*leaves, index)], [math.nan] * 3 + [0.0])


def test_sparse_jacobian_with_take():
    f = lambda x: [take(x[:3], x[3]) * x[0], x[1]]  # noqa: E731
    found = sparse_jacobian(f)(numpy.array([2.0, 3.0, 5.0, 1.0]))
    same(found.toarray(), [[3.0, 2.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    assert found.nnz == 4  # the derivative by the index is zero


# Untrusted programs

TABLES = {
    "gradwalk": "program",
    "version": 1,
    "inputs": ["a", "b", "i"],
    "constants": [2.0],
    "outputs": [["out", 5]],
    "tables": [[0, 4, 3]],
    "instructions": [["mul", 0, 1], ["take", 2, 0]],
}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"tables": [[0, 5, 3]]},
            r"an operand of instruction 1 \(v5, take\) is 5, out of range for 5 indices",
        ),
        ({"tables": [[0, 7, 3]]}, "an operand of a table is 7, out of range for 6 indices"),
        ({"tables": [[]]}, "a table must have at least one operand"),
        ({"tables": [[0, -1]]}, r"table 0 is \[0, -1\], not a list of indices"),
        ({"tables": [[0, True]]}, "not a list of indices"),
        ({"tables": [[0, 2**31]]}, "not a list of indices"),
        ({"tables": [3]}, "table 0 is 3, not a list of indices"),
        ({"tables": 3}, "the program needs a list of tables"),
        ({"tables": []}, "uses table 0, but there are 0 tables"),
        ({"instructions": [["mul", 0, 1], ["take", 2, 1]]}, "uses table 1, but there are 1 tables"),
        ({"instructions": [["mul", 0, 1], ["take", 2, -1]]}, "has -1 as operand, not an index"),
        ({"instructions": [["mul", 0, 1], ["take", 5, 0]]}, r"the index of instruction 1 \(v5, take\) is 5"),
        ({"instructions": [["mul", 0, 1], ["take", 2]]}, r"instruction 1 \(take\) takes 2 operands, not 1"),
        ({"instructions": [["take", 2, 0], ["mul", 0, 1]]}, r"an operand of instruction 0 \(v4, take\) is 4"),
    ],
)
def test_invalid_tables_in_documents_are_refused(parts, message):
    assert Program.from_json(json.dumps(TABLES)).run([3.0, 5.0, 1.0]).tolist() == [15.0]
    with pytest.raises(ProgramError, match=message):
        Program.from_json(json.dumps(TABLES | parts))


@given(st.integers(-1, 6), st.integers(-1, 3), st.integers(-1, 2), st.lists(st.integers(-2, 8), max_size=4))
def test_hand_made_instructions_are_validated(index, which, unused, table):
    instructions = numpy.array([OPCODES["mul"], 0, 1, 0, TAKE, index, which, unused], numpy.int32)
    is_right = 0 <= index < 5 and which == 0 and unused == 0 and bool(table) and all(0 <= x < 5 for x in table)
    if is_right:
        numbers = [3.0, 5.0, 1.0, 2.0, 15.0]
        at = numbers[index]
        expected = numbers[table[int(at)]] if at < len(table) else math.nan
        same(Program(3, [2.0], instructions, [], [5], tables=[table]).run(numbers[:3]), [expected])
    else:
        with pytest.raises(ProgramError):
            Program(3, [2.0], instructions, [], [5], tables=[table])


def test_equal_tables_are_stored_once():
    tape = Tape()
    a, b, i = tape.input(), tape.input(), tape.input()
    first = tape.take(i, [a, b])
    assert tape.take(i, [a, b]) == first
    assert tape.take(tape.constant(-1.0), [a, b]) == b
    program = tape.program([first, tape.take(a, [a, b]), tape.take(i, [b, a])])
    assert program.tables == ((0, 1), (1, 0))
    assert len(program) == 3


# One-hot vectors, sorted tables, interpolation


@fewer(5)
@given(st.integers(-3, 7), st.integers(0, 6))
def test_one_hot_agrees_with_jax(i, n):
    expected = numpy.asarray(jax.nn.one_hot(i, n))
    same(one_hot(i, n), expected)
    same(jit(lambda i: one_hot(i, n))(i), expected)
    same([x.data for x in one_hot(Value(i), n)], expected)
    same(
        vmap(lambda i: numpy.array(one_hot(i, n + 1)))(numpy.array([i, 0])), jax.nn.one_hot(numpy.array([i, 0]), n + 1)
    )


INDICES = numpy.array([[0, 2, 5], [-1, 1, 0]])


@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
def test_one_hot_of_arrays_agrees_with_jax(axis):
    expected = jax.nn.one_hot(INDICES, 4, axis=axis)
    leaves = numpy.array([Value(i) for i in INDICES.ravel()]).reshape(INDICES.shape)
    found = one_hot(leaves, 4, axis)
    same(numpy.array([v.data for v in found.ravel()]).reshape(found.shape), expected)
    for way in (one_hot(INDICES, 4, axis=axis), one_hot(INDICES.tolist(), 4, axis)):
        assert way.dtype == float
        same(way, expected)
    recorded = jit(lambda x: one_hot(x, 4, axis))
    recorded(-INDICES)
    same(recorded(INDICES), expected)
    same(vmap(lambda x: one_hot(x, 4, axis))(numpy.stack([-INDICES, INDICES]))[1], expected)


def test_one_hot_result_types():
    assert one_hot(numpy.array(1), 3) == one_hot(1.0, 3) == [0.0, 1.0, 0.0]
    assert one_hot([0, 2], 3).tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert one_hot([], 3).shape == (0, 3)
    assert one_hot([1, 2], 0).shape == (2, 0)
    with pytest.raises(TypeError, match="must be an int, because it is a shape, got float"):
        one_hot(0, 2.5)
    for x in (0, INDICES):
        with pytest.raises(ValueError, match=r"axis 3 is out of bounds for array of dimension [13]"):
            one_hot(x, 4, axis=3)
        with pytest.raises(TypeError, match="axis must be an integer"):
            one_hot(x, 4, axis=None)
    with pytest.raises(ValueError, match="must be at least 0, got -1"):
        one_hot(0, -1)
    with pytest.raises(TypeError, match=r"equal\(\) takes Values and real numbers"):
        one_hot("a", 3)


@pytest.mark.parametrize("shape", [(3,), (3, 2)], ids=["numbers", "rows"])
@pytest.mark.parametrize("index", [[2, 0, 0], [[0, -1], [1, 1]]], ids=["row", "matrix"])
def test_take_with_arrays_of_indices(index, shape):
    table, indices = numpy.linspace(0.5, 2.0, math.prod(shape)).reshape(shape), numpy.array(index)

    def loss(table, indices):
        found = take(table * table, indices)
        return sum(numpy.arange(1.0, 1.0 + found.size) * found.ravel() ** 2)

    def their_loss(table, indices):
        found = jnp.take(table * table, indices % 3, axis=0)
        return (jnp.arange(1.0, 1.0 + found.size) * found.ravel() ** 2).sum()

    expected = numpy.take(table, index, axis=0)
    leaves = numpy.array([Value(i) for i in indices.ravel()]).reshape(indices.shape)
    for of_numbers in (take(table, indices), take(table.tolist(), index), jit(take)(table, indices)):
        same(of_numbers, expected)
    same(numpy.vectorize(lambda v: v.data)(take(table.tolist(), leaves)), expected)
    same(vmap(take, in_axes=(None, 0))(table, numpy.stack([indices, indices[::-1]]))[0], expected)
    for ours, theirs in ((grad(loss), jax.grad(their_loss)), (hessian(loss), jax.hessian(their_loss))):
        recorded = jit(ours)
        recorded(table + 1.0, indices[::-1])
        for found in (ours(table, indices), recorded(table, indices)):
            numpy.testing.assert_allclose(found, theirs(table, indices), rtol=1e-13)
    root = loss(numpy.array([Value(x) for x in table.ravel()]).reshape(shape), leaves)
    assert root.data == pytest.approx(float(their_loss(table, indices)), rel=1e-13)


def test_arrays_of_indices_are_checked():
    assert take([1.0, 2.0], []).shape == (0,)
    assert take([[1.0, 2.0]], [[0], [0]]).shape == (2, 1, 2)
    for index in ([0, 2], numpy.array([[0.5]]), [Value(3.0)]):
        with pytest.raises(IndexError, match="must be a whole number from -2 to 1 for a table of 2 entries"):
            take([1.0, 2.0], index)


SORTED = st.lists(st.sampled_from([-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, math.inf]), max_size=9).map(sorted)


@given(SORTED, st.one_of(st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0, math.inf, -math.inf, math.nan]), FINITE))
def test_searchsorted_agrees_with_numpy(a, v):
    for side in ("left", "right"):
        expected = int(numpy.searchsorted(a, v, side=side))
        found = searchsorted(a, v, side)
        assert (found, type(found)) == (expected, int)
        if a:
            assert searchsorted(a, Value(v), side).data == expected
            assert jit(lambda a, v: searchsorted(a, v, side))(a, v) == expected  # noqa: B023
            same(vmap(lambda v: searchsorted(a, v, side))(numpy.array([v, 0.0]))[0], expected)  # noqa: B023
            same(jit(grad(lambda v, a: searchsorted(a, v, side) * 1.0, (0, 1)))(v, a)[1], [0.0] * len(a))  # noqa: B023


def test_searchsorted_needs_few_instructions():
    f = jit(lambda v: searchsorted([float(i) for i in range(1000)], v))
    assert f(333.5) == 334.0
    assert len(f.program) < 60


@st.composite
def curves(draw: st.DrawFn, least: int) -> tuple[list[float], list[float], float]:
    steps = draw(st.lists(st.floats(0.1, 3.0).map(lambda x: round(x, 2)), min_size=least, max_size=8))
    xp = [round(x, 6) for x in itertools.accumulate(steps)]
    ordinates = st.one_of(FINITE, st.sampled_from([0.0, 1.0]))
    fp = draw(st.lists(ordinates, min_size=len(xp), max_size=len(xp)))
    x = draw(st.floats(-2.0, 26.0).map(lambda x: round(x, 3)))
    return xp, fp, draw(st.sampled_from([*xp, x, x, x]))


@fewer(5)
@given(curves(2))
def test_interp_agrees_with_numpy_and_jax(curve):
    xp, fp, x = curve
    expected = numpy.interp(x, xp, fp)
    for found in (
        interp(x, xp, fp),
        jit(interp)(x, xp, fp),
        interp(Value(x), xp, fp).data,
        interp(x, numpy.array(xp), fp),
    ):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    theirs = jax.grad(jnp.interp, (0, 1, 2))(x, jnp.array(xp), jnp.array(fp))
    for slopes in (grad(interp, (0, 1, 2)), jit(grad(interp, (0, 1, 2)))):
        for mine, their in zip(slopes(x, xp, fp), theirs, strict=True):
            numpy.testing.assert_allclose(mine, their, rtol=1e-9, atol=1e-9)
    mixed = jit(hessian(interp, (0, 2)))(x, xp, fp)
    their_mixed = jax.hessian(jnp.interp, (0, 2))(x, jnp.array(xp), jnp.array(fp))
    numpy.testing.assert_allclose(mixed[0][1], their_mixed[0][1], rtol=1e-9, atol=1e-9)
    batch = numpy.linspace(xp[0] - 1.0, xp[-1] + 1.0, 37)
    numpy.testing.assert_allclose(
        vmap(interp, in_axes=(0, None, None))(batch, xp, fp), numpy.interp(batch, xp, fp), atol=1e-12
    )


AT = numpy.array([[-1.0, 0.5, 1.0], [2.25, 3.0, 9.0]])
XP, FP = [0.0, 1.0, 2.5, 3.0], [1.0, 3.0, 2.0, 2.5]


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("interp", lambda x: numpy.interp(x, XP, FP)),
        ("pchip", scipy.interpolate.PchipInterpolator(XP, FP)),
        ("searchsorted", lambda x: numpy.searchsorted(XP, x)),
    ],
)
def test_functions_apply_to_each_element(name, theirs):
    def f(x: Any) -> Any:
        return searchsorted(XP, x) if name == "searchsorted" else getattr(gm, name)(x, XP, FP)

    expected = theirs(AT)
    near = {"rtol": 1e-12, "atol": 1e-12}
    for found in (f(AT), f(AT.tolist())):
        assert found.dtype == (int if name == "searchsorted" else float)
        numpy.testing.assert_allclose(found, expected, **near)
    leaves = numpy.array([Value(x) for x in AT.ravel()]).reshape(AT.shape)
    numpy.testing.assert_allclose([v.data for v in f(leaves).ravel()], expected.ravel(), **near)
    recorded = jit(f)
    recorded(-AT)
    numpy.testing.assert_allclose(recorded(AT), expected, **near)
    numpy.testing.assert_allclose(vmap(f)(numpy.stack([-AT, AT]))[1], expected, **near)
    assert f(numpy.empty((0, 2))).shape == (0, 2)
    if name != "searchsorted":
        first = grad(lambda x: f(x).sum())
        second = grad(lambda x: first(x).sum())
        for derivative, of_number in ((first, grad(f)), (second, grad(grad(f)))):
            one_by_one = numpy.vectorize(of_number)(AT)
            numpy.testing.assert_allclose(derivative(AT), one_by_one, **near)
            numpy.testing.assert_allclose(jit(derivative)(AT), one_by_one, **near)
            numpy.testing.assert_allclose(vmap(derivative)(numpy.stack([-AT, AT]))[1], one_by_one, **near)


INFINITE = st.one_of(st.sampled_from([math.inf, -math.inf, 0.0, 1.0]), FINITE)


@given(st.lists(INFINITE, min_size=1, max_size=5), st.one_of(st.sampled_from([0.0, 1.0, 2.0, math.nan]), FINITE))
def test_interp_agrees_with_numpy_at_infinite_ordinates(fp, x):
    xp = [float(i) for i in range(len(fp))]
    if len(fp) == 1 and math.isnan(x):
        return
    expected = numpy.interp(x, xp, fp)
    for found in (
        interp(x, xp, fp),
        interp(Value(x), xp, fp).data if len(fp) > 1 else expected,
        jit(interp)(x, xp, fp),
        vmap(lambda x: interp(x, xp, fp))(numpy.array([0.5, x]))[1],
    ):
        numpy.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("way", [lambda f: f, jit, lambda f: lambda *xs: vmap(f)(*[numpy.array([x]) for x in xs])[0]])
def test_interp_slopes_ignore_infinite_neighbors(way):
    xp, fp = [0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 1.5, math.inf, 2.0, 5.0]
    f = lambda x: interp(x, xp, fp)  # noqa: E731
    of_table = lambda x, y: interp(x, xp, [fp[0], y, *fp[2:]])  # noqa: E731
    for x, slope in ((-1.0, 0.0), (0.0, 1.5), (0.75, 1.5), (3.0, 3.0), (3.5, 3.0), (4.0, 3.0), (5.0, 0.0), (1.0, 0.0)):
        assert way(grad(f))(x) == slope
        assert way(grad(grad(f)))(x) == 0.0
        if x < 2.0:
            assert way(grad(of_table, 1))(x, 1.5) == max(x, 0.0)
            assert way(grad(grad(of_table), 1))(x, 1.5) == (1.0 if 0.0 <= x < 1.0 else 0.0)


@given(curves(2))
def test_pchip_agrees_with_scipy(curve):
    xp, fp, x = curve
    theirs = scipy.interpolate.PchipInterpolator(xp, fp)
    f = lambda x: pchip(x, xp, fp)  # noqa: E731
    scale = 1.0 + abs(x) ** 3
    ways = [f, jit(f), lambda x: f(Value(x)).data, lambda x: jit(pchip)(x, xp, fp)]
    ways += [lambda x: float(vmap(f)(numpy.array([0.0, x]))[1])]
    for way in ways:
        assert way(x) == pytest.approx(float(theirs(x)), rel=1e-9, abs=1e-9 * scale)
    if x in xp:  # the first derivative is continuous, the second is not
        assert grad(f)(x) == pytest.approx(float(theirs(x, 1)), rel=1e-8, abs=1e-8)
        return
    for order, derivative in ((1, grad(f)), (1, jit(grad(f))), (2, grad(grad(f))), (2, jit(grad(grad(f))))):
        assert derivative(x) == pytest.approx(float(theirs(x, order)), rel=1e-7, abs=1e-7 * scale)


@given(curves(3))
def test_pchip_derivatives_by_its_points_are_finite(curve):
    xp, fp, x = curve
    assert all(map(math.isfinite, jit(grad(pchip, 2))(x, xp, fp)))
    assert all(map(math.isfinite, jit(grad(pchip, 1))(x, xp, fp)))
    assert numpy.isfinite(jit(hessian(pchip, 2))(x, xp, fp)).all()


def test_pchip_derivatives_by_its_points():
    xp, fp = [0.0, 1.0, 2.5, 3.0, 4.0], [0.0, 1.0, 1.5, 4.0, 3.0]
    for x in (0.5, 1.7, 2.9, 3.5, 5.0):
        slopes = grad(pchip, (1, 2))(x, xp, fp)
        for which, points in enumerate((xp, fp)):
            for i in range(5):
                ends = []
                for h in (1e-6, -1e-6):
                    moved = [list(xp), list(fp)]
                    moved[which][i] = points[i] + h
                    ends.append(float(scipy.interpolate.PchipInterpolator(*moved)(x)))
                assert slopes[which][i] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(
    ("called", "message"),
    [
        (lambda: interp(0.0, [], []), r"interp\(\) needs at least 1 point, got 0"),
        (lambda: pchip(0.0, [1.0], [1.0]), r"pchip\(\) needs at least 2 points, got 1"),
        (lambda: interp(0.0, [1.0, 2.0], [1.0]), r"xp and fp of interp\(\) must have the same length, got 2 and 1"),
        (lambda: searchsorted([1.0], 0.0, "middle"), r"must be \"left\" or \"right\", got 'middle'"),
    ],
)
def test_invalid_points_are_refused(called, message):
    with pytest.raises(ValueError, match=message):
        called()


def test_interp_of_one_point_is_constant():
    assert interp(7.0, [1.0], [3.0]) == 3.0
    assert searchsorted([], 1.0) == 0


# An embedding model


def test_embedding_trains_as_in_jax():
    generator = numpy.random.default_rng(8)
    parameters = {"embedding": generator.normal(size=(7, 3)), "weights": generator.normal(size=(7, 3))}
    tokens = generator.integers(0, 7, size=(20, 2))

    def loss(p: Any, token: Any, target: Any) -> Any:
        hidden = [gm.tanh(x) for x in take(p["embedding"], token)]
        logits = [gm.sumprod(row, hidden) for row in p["weights"]]
        largest = gm.stop_gradient(logits[0])
        for x in logits[1:]:
            largest = gm.maximum(largest, gm.stop_gradient(x))
        return gm.log(sum(gm.exp(x - largest) for x in logits)) + largest - take(logits, target)

    def their_loss(p: Any, token: Any, target: Any) -> Any:
        logits = p["weights"] @ jnp.tanh(jnp.take(p["embedding"], token, axis=0))
        return -jax.nn.log_softmax(logits)[target]

    step = jit(value_and_grad(loss))
    their_step = jax.jit(jax.value_and_grad(their_loss))
    theirs = {name: jnp.array(p) for name, p in parameters.items()}
    for token, target in tokens:
        mine, slopes = step(parameters, token, target)
        value, their_slopes = their_step(theirs, token, target)
        assert mine == pytest.approx(float(value), rel=1e-11)
        parameters = {name: p - 0.3 * slopes[name] for name, p in parameters.items()}
        theirs = {name: p - 0.3 * their_slopes[name] for name, p in theirs.items()}
    for name, p in parameters.items():
        numpy.testing.assert_allclose(p, theirs[name], rtol=1e-10, atol=1e-12)
    assert step.statistics.recordings == 1
    batched = jit(vmap(value_and_grad(loss), in_axes=(None, 0, 0), reduce="mean"))
    mean, slopes = batched(parameters, tokens[:, 0], tokens[:, 1])
    value, their_slopes = jax.value_and_grad(
        lambda p: jnp.mean(jax.vmap(their_loss, (None, 0, 0))(p, tokens[:, 0], tokens[:, 1]))
    )(theirs)
    assert mean == pytest.approx(float(value), rel=1e-10)
    for name in parameters:
        numpy.testing.assert_allclose(slopes[name], their_slopes[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("xp", [(0.0, 1.0, 1.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)])
@pytest.mark.parametrize("x", [-1.0, 0.0, 0.25, 1.0, 1.5])
def test_interp_with_repeated_points(x, xp):
    fp = [1.0, 4.0, 9.0]
    expected = numpy.interp(x, xp, fp)
    assert (interp(x, xp, fp), interp(Value(x), xp, fp).data, jit(interp)(x, [*xp], fp)) == (expected,) * 3
    gradient = jit(grad(interp, argnums=2))(x, [*xp], fp)
    assert sum(gradient) == pytest.approx(1.0)
    assert sum(g * y for g, y in zip(gradient, fp, strict=True)) == pytest.approx(expected)
