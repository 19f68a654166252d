"""Tests that streaming a batch in chunks gives the same as one call."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from references import needs
from wasm import IS_WASM

import gradwalk.math as gm
from gradwalk import Value, grad, jit, no_grad, stream, value_and_grad, vmap

ORDINARY = st.floats(-1e3, 1e3)


def loss(weights, x, y):
    return (gm.tanh(weights["slope"] * x) + weights["offset"][0] * x - y) ** 2


WEIGHTS = {"slope": 0.3, "offset": numpy.array([0.1])}
GRADIENT = value_and_grad(loss)


def data(count):
    return numpy.random.default_rng(count).normal(size=(2, count))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(1, 12))
@settings(max_examples=50)
def test_chunked_results_equal_whole_batch(sizes, rows):
    f = jit(vmap(GRADIENT, in_axes=(None, 0, 0)))
    x, y = data(sum(sizes))
    values, gradients = f(WEIGHTS, x, y)
    ends = numpy.cumsum(sizes)[:-1]
    for chunks in (
        list(stream(f, WEIGHTS, x, y, rows=rows)),
        list(stream(f, WEIGHTS, iter(numpy.split(x, ends)), iter(numpy.split(y, ends)))),
    ):
        assert_array_equal(numpy.concatenate([value for value, _ in chunks]), values)
        assert_array_equal(numpy.concatenate([gradient["slope"] for _, gradient in chunks]), gradients["slope"])
        assert_array_equal(numpy.concatenate([gradient["offset"] for _, gradient in chunks]), gradients["offset"])


@given(st.lists(st.lists(ORDINARY, max_size=5), min_size=1, max_size=8), st.sampled_from(["sum", "mean"]))
@settings(max_examples=200)
def test_chunked_sums_are_accurate(chunks, reduce):
    found = stream(jit(vmap(lambda x: x, reduce=reduce)), (numpy.array(chunk) for chunk in chunks))
    numbers = [x for chunk in chunks for x in chunk]
    if reduce == "mean" and not numbers:
        assert math.isnan(found)
        return
    count = len(numbers) if reduce == "mean" else 1
    exact = sum(map(Fraction, numbers)) / count
    magnitude = sum(map(abs, numbers)) / count
    assert abs(Fraction(found) - exact) <= Fraction(2**-51 * magnitude)


@given(st.lists(st.floats(), max_size=12), st.integers(1, 4))
def test_non_finite_samples_give_non_finite_sums(numbers, rows):
    found = stream(jit(vmap(lambda x: x, reduce="sum")), numpy.array(numbers), rows=rows)
    if all(map(math.isfinite, numbers)):
        assert math.isfinite(found) or sum(map(abs, numbers)) > 1e308
    elif any(map(math.isnan, numbers)) or {math.inf, -math.inf} <= set(numbers):
        assert math.isnan(found)
    elif sum(abs(x) for x in numbers if math.isfinite(x)) < 1e308:
        assert found == next(x for x in numbers if math.isinf(x))


def test_sums_of_many_chunks_are_exact():
    numbers = numpy.random.default_rng(0).normal(size=20_000)
    numbers[::2] += 1e9
    numbers[1::2] -= 1e9
    found = stream(jit(vmap(lambda x: [x, 0.1 + 0.0 * x], reduce="sum")), numbers, rows=1)
    assert found == [math.fsum(numbers), math.fsum([0.1] * len(numbers))]


@pytest.mark.parametrize("lowered", [False, True])
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_gradient_over_chunks_of_any_size(lowered, reduce):
    f = jit(vmap(GRADIENT, in_axes=(None, 0, 0), reduce=reduce))
    x, y = data(1000)
    value, gradient = f(WEIGHTS, x, y)
    if lowered:
        f = f.lower(WEIGHTS, x, y)
    ends = [1, 2, 700]
    for found in (
        stream(f, WEIGHTS, x, y, rows=300),
        stream(f, WEIGHTS, iter(numpy.split(x, ends)), iter(numpy.split(y, ends))),
    ):
        assert found[0] == pytest.approx(value, rel=1e-14)
        assert found[1]["slope"] == pytest.approx(gradient["slope"], rel=1e-13)
        assert found[1]["offset"] == pytest.approx(gradient["offset"], rel=1e-13)
        assert isinstance(found[1]["slope"], float)
        assert found[1]["offset"].shape == (1,)


def test_function_is_traced_once_with_or_without_jit():
    recorded = []

    def f(x):
        recorded.append(x)
        return x * x

    assert stream(vmap(f, reduce="sum"), numpy.ones(10), rows=1) == 10.0
    assert len(recorded) == 1
    jitted = jit(vmap(f, reduce="sum"))
    for _ in range(3):
        stream(jitted, numpy.ones(10), rows=3)
    assert len(recorded) == 2


def test_chunks_are_trees_along_any_axis():
    f = jit(vmap(lambda pair, rate: rate * pair["x"] @ pair["y"], in_axes=({"x": 1, "y": 0}, None), reduce="sum"))
    x, y = data(30).reshape(2, 10, 3)
    whole = f({"x": x.T, "y": y}, 2.0)
    assert stream(f, {"x": x.T, "y": y}, 2.0, rows=4) == pytest.approx(whole, rel=1e-14)
    pairs = ({"x": x[i : i + 4].T, "y": y[i : i + 4]} for i in range(0, 10, 4))
    assert stream(f, pairs, 2.0) == pytest.approx(whole, rel=1e-14)


def test_chunks_are_read_lazily():
    taken = []

    def chunks():
        for i in range(5):
            taken.append(i)
            yield numpy.full(2, float(i))

    results = stream(jit(vmap(lambda x: x + 1.0)), chunks())
    assert taken == []
    assert_array_equal(next(results), [1.0, 1.0])
    assert taken == [0]
    assert_array_equal(numpy.concatenate(list(results)), numpy.repeat([2.0, 3.0, 4.0, 5.0], 2))


def test_dtypes():
    f = jit(vmap(lambda x: x + 1.0))
    for kind, expected in ((numpy.float32, numpy.float32), (numpy.int16, numpy.float64), (">f8", numpy.float64)):
        [result] = stream(f, numpy.arange(3).astype(kind), rows=5)
        assert result.dtype == expected
        assert_array_equal(result, [1.0, 2.0, 3.0])


def test_empty_batch_has_the_structure_of_its_samples():
    assert stream(jit(vmap(lambda x: [x.sum(), x], reduce="sum")), numpy.zeros((0, 2)), rows=3)[0] == 0.0
    assert math.isnan(stream(jit(vmap(lambda x: x, reduce="mean")), numpy.zeros(0), rows=3))
    [result] = stream(jit(vmap(lambda x: x)), numpy.zeros((0, 2)), rows=3)
    assert result.shape == (0, 2)
    assert list(stream(jit(vmap(lambda x: x)), iter([]))) == []


@pytest.mark.skipif(IS_WASM, reason="WebAssembly cannot map files")
def test_memory_map_is_read_in_chunks(tmp_path):
    count = 25_000_000 if IS_COMPILED else 1_000_000  # 200 MB or 8 MB
    numbers = numpy.memmap(tmp_path / "numbers", numpy.float64, "w+", shape=(count,))
    for start in range(0, count, 1_000_000):
        numbers[start : start + 1_000_000] = numpy.arange(start, start + 1_000_000)
    numbers.flush()
    f = jit(vmap(lambda x: [x, 2.0 * x], reduce="mean"))
    tracemalloc.start()
    try:
        mean = stream(f, numpy.memmap(tmp_path / "numbers", numpy.float64, "r"), rows=count // 250)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert mean == pytest.approx([(count - 1) / 2, count - 1], rel=1e-14)
    assert peak < count  # an eighth of the file's bytes


@needs("tqdm")
def test_progress_bar_counts_samples(capsys):
    f = jit(vmap(lambda x: x, reduce="sum"))
    assert stream(f, numpy.ones(30), rows=20, progress=True) == 30.0
    assert "30.0/30.0" in capsys.readouterr().err
    assert stream(f, iter([numpy.ones(7), numpy.ones(5)]), progress=True) == 12.0
    assert "12.0 samples" in capsys.readouterr().err


@needs("tqdm")
def test_progress_bar_is_closed_after_errors_and_close(capsys):
    f = jit(vmap(lambda x: x))
    results = stream(f, iter([numpy.ones(7), numpy.ones((5, 2))]), progress=True)
    next(results)
    with pytest.raises(ValueError, match="chunk 1"):
        next(results)
    assert capsys.readouterr().err.endswith("\n")
    results = stream(f, numpy.ones(7), rows=2, progress=True)
    next(results)
    results.close()
    assert capsys.readouterr().err.endswith("\n")


SUM = vmap(lambda x, y: x * y, reduce="sum")
SHARED = vmap(lambda w, x: w * x, in_axes=(None, 0))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: stream(lambda x: x, numpy.ones(3), rows=1), TypeError, "vmapped function, such as jit"),
        (lambda: stream(grad(lambda x: x), numpy.ones(3), rows=1), TypeError, "vmapped function, such as jit"),
        (
            lambda: stream(SUM, numpy.ones(3), numpy.ones(3)),
            ValueError,
            "rows is missing: give the number of samples per chunk",
        ),
        (lambda: stream(SUM, [numpy.ones(3)], [numpy.ones(3)]), ValueError, "iterators of chunks, such as iter"),
        (lambda: stream(SUM, numpy.ones(3), numpy.ones(3), rows=0), ValueError, "rows must be at least 1, got 0"),
        (lambda: stream(SUM, numpy.ones(3), numpy.ones(3), rows=-1), ValueError, "rows must be at least 1, got -1"),
        (lambda: stream(SUM, numpy.ones(3), numpy.ones(3), rows=1.5), TypeError, "float"),
        (lambda: stream(SUM, numpy.ones(3), numpy.ones(2), rows=2), ValueError, "different sizes"),
        (lambda: stream(SUM, iter([]), iter([]), rows=2), ValueError, "rows=2 applies to arrays only"),
        (lambda: stream(SUM, iter([]), iter([])), ValueError, "there are no chunks, so the structure of the sum"),
        (lambda: stream(SUM, iter([numpy.ones(2)]), iter([])), ValueError, "y ended after 0 chunks, but x has more"),
        (
            lambda: stream(SUM, iter([numpy.ones(2)]), iter([numpy.ones(2)] * 2)),
            ValueError,
            "x ended after 1 chunks, but y has more",
        ),
        (
            lambda: stream(SUM, iter([numpy.ones(2)]), numpy.ones(2)),
            TypeError,
            "y has a batch axis and must be an iterator of chunks",
        ),
        (lambda: list(stream(SHARED, iter([1.0]), iter([numpy.ones(2)]))), TypeError, "in_axes is None for w"),
        (
            lambda: list(stream(SHARED, 1.0, iter([2.0]))),
            TypeError,
            r"chunk 0 \(counted from 0\): x is or contains a number",
        ),
        (
            lambda: list(stream(SHARED, 1.0, iter([numpy.ones(2), numpy.ones((2, 3))]))),
            ValueError,
            r"chunk 1 \(counted from 0\) of .* like a number, an array of shape \(3,\), but earlier .* a number",
        ),
        (lambda: list(stream(SHARED, 1.0, iter([{"text"}]))), TypeError, "chunk 0"),
        (
            lambda: stream(SUM, numpy.array([Value(1.0)]), numpy.ones(1), rows=1),
            TypeError,
            "are Values, whose graphs would keep all chunks in memory: stream a gradient",
        ),
    ],
)
def test_invalid_arguments_raise(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_values_are_numbers_under_no_grad():
    weight = Value(3.0)
    f = vmap(lambda x: weight * x, reduce="sum")
    with no_grad():
        assert stream(f, numpy.arange(4.0), rows=3) == 18.0


def test_errors_of_iterators_propagate():
    def chunks():
        yield numpy.ones(2)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        stream(vmap(lambda x: x, reduce="sum"), chunks())
