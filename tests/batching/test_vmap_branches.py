"""Functions of one sample may branch: the samples of a batch are grouped by the path that they take."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy
import pytest
from checkout import IS_COMPILED
from numpy.testing import assert_array_equal

import gradwalk.math as gm
from gradwalk import (
    RecordingError,
    RecordingWarning,
    Value,
    debug_nans,
    grad,
    hessian,
    jacobian,
    jit,
    loops,
    no_grad,
    stream,
    threads,
    value_and_grad,
    vectorize,
    vmap,
)

POINTS = numpy.linspace(-3.0, 9.0, 101)


def bent(x: Any, scale: Any = 1.0) -> Any:
    """Take one of several paths: a domain, and 0 to 4 steps of a loop."""
    if x < -1.0:
        return scale * gm.sin(x)
    total, step = 0.0, x
    while step > 1.0:
        step = step / 2.0
        total = total + step * scale
    return total + x * x


def of_samples(f: Any, points: Any = POINTS) -> list[Any]:
    return [f(float(x)) for x in points]


@pytest.mark.parametrize("transform", [lambda f: f, grad, lambda f: grad(grad(f)), value_and_grad])
@pytest.mark.parametrize("wrap", [vmap, lambda f: jit(vmap(f)), vectorize])
def test_results_are_those_of_one_call_per_sample(wrap, transform):
    batched = wrap(transform(bent))
    expected = of_samples(transform(bent))
    for points in (POINTS, POINTS[::-1], POINTS[:20], POINTS[40:41], POINTS):
        found = numpy.stack(numpy.atleast_2d(batched(points)), axis=-1).squeeze()
        at = numpy.searchsorted(POINTS, points)
        numpy.testing.assert_allclose(found, numpy.array(expected)[at].squeeze(), rtol=1e-14, atol=1e-15)


def test_results_do_not_depend_on_the_other_samples():
    batched = jit(vmap(value_and_grad(bent)))
    alone = [batched(POINTS[i : i + 1]) for i in range(len(POINTS))]
    values, slopes = batched(POINTS)
    assert_array_equal(values, numpy.concatenate([value for value, _ in alone]))
    assert_array_equal(slopes, numpy.concatenate([slope for _, slope in alone]))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_threads_do_not_change_results(count):
    points = numpy.linspace(-3.0, 9.0, 40_000 if IS_COMPILED else 200)
    batched = jit(vmap(grad(bent)))
    with threads(1):
        expected = batched(points)
    with threads(count):
        assert_array_equal(batched(points), expected)


REDUCED = {
    "sum": math.fsum,
    "mean": lambda xs: math.fsum(xs) / len(xs),
    "max": max,
    "min": min,
    "prod": lambda xs: float(numpy.prod(xs)),
    "logsumexp": lambda xs: math.log(math.fsum(map(math.exp, xs))),
    "argmax": numpy.argmax,
    "argmin": numpy.argmin,
}


@pytest.mark.parametrize("points", [POINTS, POINTS[:5]], ids=["several paths", "one path"])
@pytest.mark.parametrize("reduce", REDUCED)
def test_reductions(reduce, points):
    batched = jit(vmap(bent, reduce=reduce))
    expected = REDUCED[reduce](of_samples(bent, points))
    for _ in range(2):
        assert batched(points) == pytest.approx(expected, rel=1e-14)
    out = numpy.zeros((), numpy.int64 if reduce.startswith("arg") else numpy.float64)
    assert batched(points, out=out) is out
    assert out == pytest.approx(expected, rel=1e-14)


def test_sums_of_groups_are_compensated():
    numbers = numpy.tile([1e8, 0.1, -1e8], 10_000 if IS_COMPILED else 10)
    total = vmap(lambda x: x if x > 1.0 else 2.0 * x if x > 0.0 else x + 0.0, reduce="sum")(numbers)
    assert total == pytest.approx(0.2 * len(numbers) / 3, rel=1e-14)


def test_stream():
    total = jit(vmap(grad(bent), reduce="sum"))
    assert stream(total, POINTS, rows=7) == pytest.approx(math.fsum(of_samples(grad(bent))), rel=1e-14)
    parts = list(stream(jit(vmap(bent)), POINTS, rows=30))
    numpy.testing.assert_allclose(numpy.concatenate(parts), of_samples(bent), rtol=1e-14)


class TestArrays:
    def test_out_may_overlap_with_arguments(self):
        expected = vmap(bent)(POINTS)
        for target in (slice(None), slice(None, None, -1)):
            numbers = POINTS.copy()
            out = numbers[target]
            assert jit(vmap(bent))(numbers, out=out) is out
            assert_array_equal(out, expected)

    def test_axes_trees_and_keywords(self):
        def f(point, *, scale):
            x, y = point["xy"]
            return {"a": [bent(x, scale), x * y], "b": numpy.array([x, y]) if x > y else numpy.array([y, -x])}

        batched = vmap(f, in_axes=({"xy": 1},), out_axes={"a": 0, "b": 1})
        points, scales = numpy.stack([POINTS, 2.0 - POINTS]), numpy.linspace(0.5, 2.0, 101)
        found = batched({"xy": points}, scale=scales)
        rows = [f({"xy": point}, scale=scale) for point, scale in zip(points.T, scales, strict=True)]
        numpy.testing.assert_allclose(found["a"][0], [row["a"][0] for row in rows], rtol=1e-14)
        assert_array_equal(found["a"][1], [row["a"][1] for row in rows])
        assert_array_equal(found["b"], numpy.stack([row["b"] for row in rows], axis=1))

    def test_shared_arguments_decide_for_all_samples(self):
        batched = jit(vmap(lambda x, sign: x if sign > 0 else -x, in_axes=(0, None)))
        assert_array_equal(batched(POINTS, 1.0), POINTS)
        assert_array_equal(batched(POINTS, -1.0), -POINTS)
        assert_array_equal(batched(POINTS, 2.0), POINTS)
        assert batched.statistics.recordings == 2

    def test_float32(self):
        found = jit(vmap(bent))(POINTS.astype(numpy.float32))
        assert found.dtype == numpy.float32
        numpy.testing.assert_allclose(found, of_samples(bent, POINTS.astype(numpy.float32)), rtol=1e-5)

    def test_empty_and_single_batches(self):
        batched = jit(vmap(bent))
        assert batched(POINTS[:0]).tolist() == []
        assert batched(POINTS[:1]).tolist() == pytest.approx([bent(-3.0)])
        assert vmap(bent, reduce="sum")(POINTS[:0]) == 0.0


class TestNested:
    def test_derivatives_through_a_batch(self):
        def total(w):
            return sum(vmap(lambda x: bent(w * x))(POINTS))

        def alone(w):
            return sum(bent(w * float(x)) for x in POINTS)

        recorded = jit(grad(total))
        for w in (1.0, 0.3, -2.0, 1.0):
            expected = grad(alone)(w)
            assert grad(total)(w) == pytest.approx(expected, rel=1e-12)
            assert recorded(w) == pytest.approx(expected, rel=1e-12)
        assert recorded.statistics.recordings == 3

    @pytest.mark.parametrize("reduce", ["mean", "max", "logsumexp"])
    def test_derivatives_of_reductions(self, reduce):
        def total(w):
            return vmap(lambda x: bent(w * x), reduce=reduce)(POINTS)

        step = 1e-6
        for w in (1.0, 0.37):
            slope = (total(w + step) - total(w - step)) / (2.0 * step)
            assert grad(total)(w) == pytest.approx(slope, rel=1e-5)
            assert jit(grad(total))(w) == pytest.approx(slope, rel=1e-5)

    def test_batches_of_batches(self):
        table = POINTS[:100].reshape(10, 10)
        expected = numpy.array(of_samples(bent, table.ravel())).reshape(10, 10)
        numpy.testing.assert_allclose(vmap(vmap(bent))(table), expected, rtol=1e-14)
        numpy.testing.assert_allclose(jit(vmap(vmap(bent)))(table), expected, rtol=1e-14)
        sums = jit(vmap(vmap(bent, reduce="sum")))(table)
        numpy.testing.assert_allclose(sums, expected.sum(axis=1), rtol=1e-13)

    def test_captured_values_decide(self):
        limit = Value(0.0)
        batched = jit(vmap(lambda x: x * limit if x > limit else x))
        for number in (0.0, 5.0, 0.0):
            limit.data = number
            found = batched(POINTS)
            numbers = [v.data if isinstance(v, Value) else v for v in found]
            assert numbers == [x * number if x > number else x for x in POINTS]
            limit.grad = 0.0
            sum(found).backward()
            assert limit.grad == pytest.approx(sum(x for x in POINTS if x > number))
            with no_grad():
                assert batched(POINTS).tolist() == [x * number if x > number else x for x in POINTS]

    def test_jacobians_and_hessians(self):
        def f(p):
            return p[0] * p[1] if p[0] > p[1] else p[1] ** 3 * p[0]

        points = numpy.array([[1.0, 2.0], [3.0, 2.0], [0.5, 0.1]])
        for transform in (jacobian, hessian):
            expected = [transform(f)(point) for point in points]
            numpy.testing.assert_allclose(jit(vmap(transform(f)))(points), expected, rtol=1e-14)

    def test_branches_in_loops_are_refused(self):
        def f(x):
            return loops.fori_loop(0, 3, lambda i, y: vmap(lambda z: z if z > y else y, reduce="sum")(POINTS), x)

        with pytest.raises(RecordingError, match="branches on"):
            jit(f, branches="refuse")(1.0)


class TestErrors:
    def test_results_of_different_structures_raise(self):
        with pytest.raises(
            ValueError, match=r"have different structures for different samples: .*Return results of one"
        ):
            vmap(lambda x: [x] if x > 0 else [x, x])(POINTS)

    def test_exceptions_of_a_branch_are_raised(self):
        def f(x):
            if x > 5.0:
                raise ArithmeticError("too large")
            return x

        batched = jit(vmap(f))
        assert_array_equal(batched(POINTS[:50]), POINTS[:50])
        with pytest.raises(ArithmeticError, match="too large"):
            batched(POINTS)
        assert_array_equal(batched(POINTS[:50]), POINTS[:50])

    @pytest.mark.filterwarnings("ignore::gradwalk.RecordingWarning")
    def test_too_many_paths_raise(self):
        numbers = numpy.arange(1500.0)
        batched = jit(vmap(lambda x: int(x) * x))
        assert_array_equal(batched(numbers[:300]), numbers[:300] ** 2)
        with pytest.raises(RecordingError, match="more than 1,000 paths through the branches of <lambda>"):
            batched(numbers)

    def test_many_paths_warn(self):
        with pytest.warns(RecordingWarning, match="it took another path"):
            jit(vmap(lambda x: int(x) * x))(numpy.arange(100.0))

    def test_lowering_a_function_that_branches_raises(self):
        with pytest.raises(ValueError, match="branches on its arguments, but a program contains only one path"):
            vmap(bent).lower(POINTS)
        lowered = jit(vmap(bent, in_axes=0), branches="refuse")
        with pytest.raises(RecordingError):
            lowered.lower(POINTS)

    def test_fixed_results_of_several_ways_are_refused(self):
        with pytest.raises(ValueError, match="out_axes can only be None"):
            vmap(lambda x: (x, 1.0) if x > 0 else (x, 2.0), out_axes=(0, None))(POINTS)

    def test_debug_nans_checks_the_way_that_is_taken(self):
        def f(x):
            return gm.sqrt(x) if x > 0 else 0.0

        batched = jit(vmap(f))
        batched(POINTS)
        with debug_nans():
            numpy.testing.assert_allclose(batched(POINTS), numpy.sqrt(numpy.maximum(POINTS, 0.0)))
        with debug_nans(), pytest.raises(FloatingPointError, match="log"):
            vmap(lambda x: gm.log(x) if x < 1.0 else x)(POINTS)


def test_conditions_that_are_nan():
    points = numpy.array([1.0, math.nan, -1.0, math.nan, math.inf])
    expected = [1.0, -7.0, 2.0, -7.0, 1.0]
    f = jit(vmap(lambda x: 1.0 * x / x if x > 0 else 2.0 if x <= 0 else -7.0))
    assert f(points).tolist()[:4] == expected[:4]
    assert math.isnan(f(points)[4])


def test_each_way_is_recorded_once():
    calls = []

    def f(x):
        calls.append(1)
        return bent(x)

    batched = jit(vmap(f))
    for points in (POINTS, POINTS[::-1], POINTS[10:60]):
        batched(points)
    assert len(calls) == batched.statistics.recordings == 6
    assert pickle.loads(pickle.dumps(jit(vmap(bent))))(POINTS[:3]).tolist() == vmap(bent)(POINTS[:3]).tolist()


def test_loops_and_branches():
    def f(x):
        y = loops.while_loop(lambda y: y > 1.0, lambda y: y / 2.0, x)
        return loops.fori_loop(0, 3, lambda i, z: z * y, x) if y > 0.7 else y

    expected = of_samples(f)
    for _ in range(2):
        numpy.testing.assert_allclose(jit(vmap(f))(POINTS), expected, rtol=1e-14)
    numpy.testing.assert_allclose(jit(vmap(grad(f)))(POINTS), of_samples(grad(f)), rtol=1e-14)


def test_one_sample_of_many_leaves_the_path_in_float32():
    """The mean of the guards used to be rounded to float32."""

    def f(x):
        n = 0
        while x > n:
            n += 1
        return x * 0 + n

    batched = jit(vmap(f))
    points = numpy.full(200_000 if IS_COMPILED else 20, 300.5, numpy.float32)
    for _ in range(2):
        assert batched(points)[-1] == 301.0
    points[-1] = 299.5
    assert batched(points)[-1] == 300.0


class TestRounding:
    """A kernel may round a condition differently than the recording does: the kernel decides, for all samples alike."""

    def test_results_do_not_depend_on_the_other_samples(self):
        def f(t):
            return 1.0 * int(gm.exp(gm.log(t)))

        for t in range(1, 21):
            alone = vmap(f)(numpy.array([float(t)]))[0]
            found = {float(vmap(f)(numpy.array([float(other), float(t)]))[1]) for other in range(1, 21)}
            assert found == {alone}
            assert abs(alone - t) <= 1.0

    @pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
    def test_equal_samples_take_one_path(self, dtype):
        batched = jit(vmap(lambda t: 1.0 * int(gm.exp(gm.log(t)) * 10.0)))
        count = 2000 if IS_COMPILED else 5
        found = batched(numpy.repeat(numpy.arange(0.1, 1.0, 0.1), count).astype(dtype)).reshape(9, count)
        assert (found == found[:, :1]).all()
        assert batched.statistics.recordings <= 18

    @pytest.mark.parametrize("digits", [-1, 0, 1, 2, 16])
    def test_rounded_numbers(self, digits):
        points = numpy.array([2.675, 1.005, 1.115, 1.116, -2.675, 0.285, 25.0, 35.0, 1e17, 0.0, -0.0, -1e-9, 1e-300])
        expected = [round(x, digits) + 0.0 * x for x in points.tolist()]
        assert vmap(lambda x: round(x, digits) + 0.0 * x)(points).tolist() == expected
        f = jit(lambda x: round(x, digits) + 0.0 * x)
        assert [f(x) for x in points.tolist()] == expected


def test_zeros_have_signs():
    def f(x):
        return len(f"{x:.1f}") + gm.atan2(round(x, 2), -1.0) + x

    recorded, batched = jit(f), jit(vmap(f))
    points = [0.0, -0.0, 0.001, -0.001, 0.0]
    expected = [f(x) for x in points]
    assert [recorded(x) for x in points] == expected
    assert batched(numpy.array(points)).tolist() == expected
