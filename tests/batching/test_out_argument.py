"""Tests of `out=`: results are written to the caller's arrays and nowhere else."""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
import threading
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import fewer
from references import jax

import gradwalk.math as gm
from gradwalk import Value, debug_nans, grad, jit, no_grad, primitive, threads, value_and_grad, vmap
from gradwalk.backend.cpu.column_table import are_apart
from gradwalk.loops import while_loop
from gradwalk.nn import MLP

SEVEN = numpy.linspace(-2.0, 3.0, 7)
TABLE = SEVEN[:, None] * numpy.array([1.0, -0.5, 2.0])


@dataclasses.dataclass(frozen=True)
class Rates:
    short: Any
    long: Any


@primitive
def cube(x):
    return float(x) ** 3


def halvings(x):
    """Count halvings with a loop that no lane kernel can run."""
    return while_loop(lambda state: state[0] > 1.0, lambda state: (state[0] / 2, state[1] + 1.0), (x, 0.0))[1]


def same(found: Any, expected: Any) -> None:
    """Check that two trees have the same structure and the same bits."""
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    leaves = [map(numpy.asarray, jax.tree.leaves(tree)) for tree in (found, expected)]
    for ours, theirs in zip(*leaves, strict=True):
        assert (ours.shape, ours.dtype, ours.tobytes()) == (theirs.shape, theirs.dtype, theirs.tobytes())


def each(f: Any, *args: Any, out: Any) -> None:
    """Check that `f(*args, out=out)` fills and returns `out`, without jit, at the first and at later jit calls."""
    expected = f(*args)
    recorded = jit(f)
    for run in (f, recorded, recorded, recorded):
        for array in jax.tree.leaves(out):
            array[...] = 7
        found = run(*args, out=out)
        assert all(map(operator.is_, jax.tree.leaves(found), jax.tree.leaves(out)))
        same(found, expected)
        same(out, expected)


@st.composite
def targets(draw, shape, kind):
    """Draw a writable array and the memory around it, filled with sevens."""
    steps = [draw(st.sampled_from([1, 1, -1, 2, -3])) for _ in shape]
    margins = [draw(st.integers(0, 2)) for _ in shape]
    whole = tuple(length * abs(step) + margin for length, step, margin in zip(shape, steps, margins, strict=True))
    axes = draw(st.permutations(range(len(shape))))
    sizes = [whole[axis] for axis in axes]
    if draw(st.booleans()):
        memory = numpy.zeros(sizes, [("before", "u1"), ("it", kind), ("after", "u2")])
        array = memory["it"]
    else:
        memory = array = numpy.zeros(sizes, kind)
    array[...] = 7
    array = array.transpose(numpy.argsort(axes))
    starts = [length * abs(step) for length, step in zip(shape, steps, strict=True)]
    parts = [
        slice(None, start, step) if step > 0 else slice(start - 1 if start else 0, None, step)
        for start, step in zip(starts, steps, strict=True)
    ]
    return array[tuple(parts)][tuple(slice(length) for length in shape)], memory


class TestTargets:
    @pytest.mark.parametrize(
        "target",
        [
            numpy.zeros((7, 3)),
            numpy.zeros((7, 3), order="F"),
            numpy.zeros((7, 5))[:, 1:4],
            numpy.zeros((14, 3))[::2],
            numpy.zeros((7, 6))[::-1, ::-2],
            numpy.zeros((3, 7)).T,
            numpy.zeros((2, 7, 3))[1],
            numpy.zeros((7, 3), [("before", "u1"), ("it", "f8")])["it"],
            numpy.zeros((7, 3)).view(numpy.memmap),
        ],
    )
    def test_views_of_any_strides(self, target):
        f = jit(vmap(lambda x: x * 2))
        for _ in range(3):
            target[...] = 7.0
            assert f(TABLE, out=target) is target
            assert numpy.array_equal(target, TABLE * 2)

    def test_parts_of_one_array(self):
        whole = numpy.zeros((7, 6))
        f = jit(vmap(value_and_grad(lambda x, w: (w * x * x).sum()), in_axes=(0, None)))
        for w in (1.0, 2.0, 3.0):
            value, slopes = f(TABLE, w, out=(whole[:, 0], whole[:, 1:4]))
            same((value, slopes), f(TABLE, w))
            assert numpy.shares_memory(value, whole)
            assert not whole[:, 4:].any()

    def test_trees_with_the_structure_of_the_result(self):
        f = vmap(lambda x: {"b": x, "a": [x + 1, (x + 2, Rates(x + 3, 4.0))]})
        arrays = list(numpy.zeros((5, 7)))
        out = {"b": arrays[0], "a": [arrays[1], (arrays[2], Rates(arrays[3], arrays[4]))]}
        recorded = jit(f)
        for run in (f, recorded, recorded):
            found = run(SEVEN, out=out)
            assert found["b"] is arrays[0]
            assert found["a"][1][1].long is arrays[4]
            assert [array[0] for array in arrays] == [-2.0, -1.0, 0.0, 1.0, 4.0]

    def test_none_requests_a_new_array(self):
        f = jit(vmap(lambda x: (x, [x + 1, x + 2])))
        target = numpy.zeros(7)
        for out in (None, (None, None), (target, None), (None, [None, None])):
            found = f(SEVEN, out=out)
            same(found, f(SEVEN))
            assert (found[0] is target) == (out is not None and out[0] is target)
        assert f(SEVEN, out=(None, [target, None]))[1][0] is target

    @fewer(2)
    @given(st.data())
    def test_results_of_random_shapes_axes_and_dtypes(self, data):
        kind = data.draw(st.sampled_from([numpy.float64, numpy.float32]))
        size = data.draw(st.sampled_from([0, 1, 2, 20, 300]))
        shapes = data.draw(st.lists(st.sampled_from([(), (2,), (3, 2), (0,), (17,)]), min_size=1, max_size=3))
        axes = [data.draw(st.integers(-len(shape) - 1, len(shape))) for shape in shapes]
        make = data.draw(st.sampled_from([tuple, list, lambda items: dict(zip("bca", items, strict=False))]))
        fixed = data.draw(st.sampled_from([None, 0, 1]))  # index of a result that does not depend on the sample

        def f(x, k):
            rows = [numpy.arange(1.0, 1 + math.prod(shape)).reshape(shape) for shape in shapes]
            found = [
                gm.exp(-x * x) + x * row if shape == () else x * row + k
                for row, shape in zip(rows, shapes, strict=True)
            ]
            if fixed is not None and fixed < len(found):
                found[fixed] = k + rows[fixed]
            return make(found)

        given_axes = make(axes)
        if isinstance(given_axes, list):
            given_axes = tuple(given_axes)
        x = numpy.random.default_rng(size).normal(size=size).astype(kind)
        wholes = [
            tuple(numpy.insert(shape, axis % (len(shape) + 1), size).astype(int))
            for shape, axis in zip(shapes, axes, strict=True)
        ]
        drawn = [data.draw(targets(whole, kind)) for whole in wholes]
        each(vmap(f, (0, None), given_axes), x, 2.0, out=make([array for array, _ in drawn]))
        for array, memory in drawn:
            array[...] = 7
            around = memory if memory.dtype == kind else memory["it"]
            assert (around == 7).all()

    @pytest.mark.parametrize("size", [0, 1, 200])
    @pytest.mark.parametrize("kind", ["f4", "f8"])
    @pytest.mark.parametrize("f", [halvings, cube, lambda x: cube(2.0) * x, lambda x: 2.0])
    def test_all_ways_of_computing_a_batch(self, f, kind, size):
        x = numpy.linspace(0, 100, size).astype(kind)
        each(vmap(f), x, out=numpy.zeros((size, 3), kind)[:, 1])

    def test_result_without_a_batch_axis(self):
        f = vmap(lambda x, k: (x, k, 2 * numpy.ones(2)), (0, None), (0, None, None))
        each(f, SEVEN, 3.0, out=(numpy.zeros(7), numpy.zeros(()), numpy.zeros((2, 2))[:, 1]))

    def test_concurrent_writes_to_one_array(self):
        x = numpy.random.default_rng(0).normal(size=200_000)
        f = jit(vmap(lambda x: gm.sin(x) * gm.exp(x)))
        expected = f(x)
        whole = numpy.zeros((len(x), 4))
        callers = [threading.Thread(target=f, args=(x,), kwargs={"out": whole[:, i]}) for i in range(3)]
        for caller in callers:
            caller.start()
        with threads(2):
            f(x, out=whole[:, 3])
        for caller in callers:
            caller.join()
        assert numpy.array_equal(whole, expected[:, None] * numpy.ones(4))


class TestReduced:
    @pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod", "logsumexp", "argmax", "argmin"])
    @pytest.mark.parametrize("kind", ["f4", "f8"])
    def test_reductions_write_to_arrays_without_batch_axis(self, reduce, kind):
        found = "i8" if reduce.startswith("arg") else kind
        table = TABLE.astype(kind)
        f = vmap(lambda x: x * x, reduce=reduce)
        each(f, table, out=numpy.zeros((3, 2), found)[::-1, 1])
        total = numpy.zeros((), found)
        number, recorded = vmap(lambda x: x.sum(), reduce=reduce), jit(vmap(lambda x: x.sum(), reduce=reduce))
        for run in (number, recorded, recorded, recorded):
            assert run(table, out=total) is total
            assert total == number(table)

    def test_gradients(self):
        f = jit(value_and_grad(vmap(lambda w, x: (w * x).sum() ** 2, (None, 0), reduce="mean")))
        value, slopes = numpy.zeros(()), numpy.zeros((2, 3))
        for w in (SEVEN[:3], SEVEN[3:6], SEVEN[4:]):
            found = f(w, TABLE, out=(value, slopes[1]))
            assert found[0] is value
            same((float(value), slopes[1]), f(w, TABLE))
        assert not slopes[0].any()
        assert type(f(w, TABLE, out=(None, slopes[0]))[0]) is float

    @pytest.mark.parametrize("reduce", [None, "sum", "max"])
    def test_float32_overflow_gives_inf_without_a_warning(self, reduce):
        x = numpy.ones(3, "f4")
        each(
            vmap(lambda x: numpy.array([x * 1e300, 1e300]), reduce=reduce),
            x,
            out=numpy.zeros((3, 2) if reduce is None else 2, "f4"),
        )

    def test_out_may_be_an_unbatched_argument(self):
        f = jit(vmap(lambda w, x: w + x, (None, 0), reduce="sum"))
        w = numpy.ones(3)
        for _ in range(3):
            before = w.copy()
            f(w, TABLE, out=w)
            assert numpy.array_equal(w, f(before, TABLE))

    def test_non_finite_sums_of_products(self):
        f = jit(vmap(lambda x: x * x - x * x, reduce="sum"))
        x = numpy.full(3, 1e300)
        each(f, x, out=numpy.zeros(()))


class TestOverlaps:
    """Tests of results written over their own inputs: they must be right, as in NumPy."""

    @pytest.mark.parametrize("count", [1, 7, 5000])
    @pytest.mark.parametrize(
        ("read", "write"),
        [*itertools.product([slice(0, -1), slice(1, None), slice(-1, 0, -1), slice(-2, None, -1)], repeat=2)],
    )
    def test_out_overlaps_an_argument(self, count, read, write):
        memory = numpy.random.default_rng(0).normal(size=count + 1)
        f = jit(vmap(lambda x: x * x - x))
        for run in (f, f, f, vmap(lambda x: x * x - x)):
            copy = memory.copy()
            expected = f(memory[read])
            found = run(copy[read], out=copy[write])
            assert numpy.array_equal(found, expected)
            assert numpy.array_equal(copy[write], expected)

    def test_several_results_overlap_several_arguments(self):
        f = jit(vmap(lambda x, y: (x + y, x - y, y)))
        for _ in range(3):
            table = numpy.arange(30.0).reshape(10, 3)
            expected = f(table[:, 0], table[:, 1])
            f(table[:, 0], table[:, 1], out=(table[:, 1], table[:, 0], table[:, 2]))
            same((table[:, 1], table[:, 0], table[:, 2]), expected)

    def test_vectors_with_swapped_elements(self):
        turn = jit(vmap(lambda x: numpy.array([x[1], x[0] * 2])))
        for _ in range(3):
            table = numpy.arange(600.0).reshape(300, 2)
            expected = turn(table)
            same(turn(table, out=table), expected)
            same(turn(table.copy(), out=table.T.copy().T), turn(table))

    @fewer(2)
    @given(st.data())
    def test_random_views_of_one_array(self, data):
        count = data.draw(st.integers(1, 6))
        step = st.sampled_from([1, 2, 3, -1, -2])

        def view(memory):
            start, stride, other = (
                data.draw(st.integers(40, 60)),
                data.draw(step),
                data.draw(st.sampled_from([1, 2, 7])),
            )
            return lambda: numpy.lib.stride_tricks.as_strided(memory[start:], (count, 2), (8 * stride * 3, 8 * other))

        memory = numpy.arange(140.0)
        x, y = view(memory), view(memory)
        f = jit(vmap(lambda x: x[0] * x))
        before = memory.copy()
        expected = f(x())
        for _ in range(2):
            memory[:] = before
            if are_apart(y()):
                assert numpy.array_equal(f(x(), out=y()), expected)
                continue
            with pytest.raises(ValueError, match="out has elements that overlap"):
                f(x(), out=y())
            assert numpy.array_equal(memory, before)

    def test_overlapping_targets_raise(self):
        f = jit(vmap(lambda x: (x, {"twice": 2 * x})))
        whole = numpy.zeros(14)
        f(SEVEN)
        f(SEVEN, out=(whole[::2], {"twice": whole[1::2]}))
        before = whole.copy()
        for other in (whole[::2], whole[:7], whole[13:6:-1]):
            with pytest.raises(
                ValueError, match=r"out\[0\] and out\[1\]\['twice'\] overlap in memory: give separate arrays"
            ):
                f(SEVEN, out=(whole[::2], {"twice": other}))
        assert numpy.array_equal(whole, before)


class TestInvalidTargets:
    """Tests that invalid targets raise before anything is written, at the first and at later calls."""

    @staticmethod
    def refused(error, text, f, *args, out):
        before = [array.tobytes() for array in jax.tree.leaves(out) if isinstance(array, numpy.ndarray)]
        recorded = jit(f)
        recorded(*args)
        for run in (f, recorded, jit(f)):
            with pytest.raises(error) as raised:
                run(*args, out=out)
            assert str(raised.value) == text
        assert before == [array.tobytes() for array in jax.tree.leaves(out) if isinstance(array, numpy.ndarray)]

    @pytest.mark.parametrize(
        ("error", "target", "text"),
        [
            (ValueError, numpy.zeros(6), "out has shape (6,), but the result has shape (7,)"),
            (ValueError, numpy.zeros((7, 1)), "out has shape (7, 1), but the result has shape (7,)"),
            (TypeError, numpy.zeros(7, "f4"), "out has dtype float32, but the result has dtype float64"),
            (TypeError, numpy.zeros(7, ">f8"), "out has dtype >f8, but the result has dtype float64"),
            (TypeError, numpy.zeros(7, object), "out has dtype object, but the result has dtype float64"),
            (ValueError, numpy.broadcast_to(numpy.zeros(7), 7), "out is read-only"),
            (
                ValueError,
                numpy.lib.stride_tricks.as_strided(numpy.zeros(7), (7,), (0,)),
                "out has elements that overlap, because its strides are (0,)",
            ),
            (
                ValueError,
                numpy.lib.stride_tricks.as_strided(numpy.zeros(7), (7,), (4,)),
                "out has elements that overlap, because its strides are (4,)",
            ),
            (TypeError, [0.0] * 7, "out is of type list, but must be a NumPy array"),
            (TypeError, (numpy.zeros(7),), "out is of type tuple, but must be a NumPy array"),
            (TypeError, 7.0, "out is of type float, but must be a NumPy array"),
            (TypeError, numpy.ma.zeros(7), "out is of type MaskedArray, but must be a NumPy array"),
        ],
    )
    def test_arrays(self, error, target, text):
        cure = ": give an array such as numpy.empty((7,), numpy.float64)"
        self.refused(error, text + cure, vmap(lambda x: x * 2), SEVEN, out=target)

    def test_float64_target_for_float32_result(self):
        text = (
            "out has dtype float64, but the result has dtype float32: give an array such as "
            "numpy.empty((7,), numpy.float32)"
        )
        self.refused(TypeError, text, vmap(lambda x: x * 2), SEVEN.astype("f4"), out=numpy.zeros(7))

    @pytest.mark.parametrize(
        ("target", "what"),
        [
            (numpy.zeros((7, 2)), "out is an array of shape (7, 2)"),
            ((numpy.zeros(7),), "out is of type tuple"),
            ({"a": numpy.zeros(7)}, "out is of type dict"),
        ],
    )
    def test_trees(self, target, what):
        text = (
            f"{what}, but the result is (array of shape (7,), {{'a': array of shape (7, 3)}}): give a tree of "
            "the same structure with arrays to write to, or None for new arrays"
        )
        self.refused(ValueError, text, vmap(lambda x: (x[0], {"a": x})), TABLE, out=target)

    def test_parts_of_trees(self):
        f = vmap(lambda x: (x[0], {"a": x}))
        text = (
            "out[1]['a'] has shape (3, 7), but the result has shape (7, 3): give an array such as "
            "numpy.empty((7, 3), numpy.float64)"
        )
        self.refused(ValueError, text, f, TABLE, out=(numpy.zeros(7), {"a": numpy.zeros((3, 7))}))
        text = (
            "out[1] is of type list, but the result is {'a': array of shape (7, 3)}: give a tree of the same "
            "structure with arrays to write to, or None for new arrays"
        )
        self.refused(ValueError, text, f, TABLE, out=(numpy.zeros(7), [numpy.zeros((7, 3))]))

    def test_targets_of_reductions(self):
        text = "out has shape (1,), but the result has shape (): give an array such as numpy.empty((), numpy.float64)"
        for reduce in ("sum", "max"):
            self.refused(ValueError, text, vmap(lambda x: x, reduce=reduce), SEVEN, out=numpy.zeros(1))
        text = (
            "out has dtype float64, but the result has dtype int64: give an array such as numpy.empty((), numpy.int64)"
        )
        self.refused(TypeError, text, vmap(lambda x: x, reduce="argmax"), SEVEN, out=numpy.zeros(()))

    def test_modules(self):
        model = MLP(3, [1])
        f = vmap(grad(lambda m, x: m(list(x)) ** 2), (None, 0), reduce="sum")
        with pytest.raises(ValueError, match=r"out is of type MLP, but the result is an? MLP"):
            f(model, TABLE, out=model)

    def test_values(self):
        x = numpy.array([Value(1.0), Value(2.0)])
        for f in (vmap(lambda x: x * x), vmap(lambda x: x * x, reduce="sum"), vmap(lambda x: x * x, reduce="max")):
            target = numpy.zeros(()) if f.batching.reduce else numpy.zeros(2)
            with pytest.raises(
                TypeError, match=r"the results of <lambda>\(\) are Values here: .*vmap\(value_and_grad\(f\)\)"
            ):
                f(x, out=target)
            with no_grad():
                assert f(x, out=target) is target
        with pytest.raises(TypeError, match="are Values here"):
            grad(lambda w: vmap(lambda x: w * x)(SEVEN, out=numpy.zeros(7)).sum())(1.0)

    def test_debug_nans_leaves_the_target_unchanged(self):
        target = numpy.full(3, 7.0)
        with debug_nans(), pytest.raises(FloatingPointError):
            jit(vmap(gm.sqrt))(numpy.array([1.0, -1.0, 2.0]), out=target)
        assert target.tolist() == [7.0] * 3


class TestParameters:
    def test_parameter_named_out_belongs_to_the_function(self):
        f = jit(vmap(lambda x, out: x * out))
        own = SEVEN.copy()
        for _ in range(3):
            assert numpy.array_equal(f(SEVEN, out=own), SEVEN * SEVEN)
            assert numpy.array_equal(f(SEVEN, own), SEVEN * SEVEN)
        assert numpy.array_equal(own, SEVEN)
        only = vmap(lambda x, *, out=1.0: x + out)
        assert numpy.array_equal(only(SEVEN, out=own), SEVEN + SEVEN)

    def test_out_is_not_passed_to_var_keywords(self):
        target = numpy.zeros(7)
        f = jit(vmap(lambda x, **rates: x * rates["k"]))
        for _ in range(3):
            assert f(SEVEN, k=SEVEN, out=target) is target
            assert numpy.array_equal(target, SEVEN * SEVEN)

    def test_positional_only_parameter_may_be_named_out(self):
        def f(out, /):
            return 2 * out

        target = numpy.zeros(7)
        assert vmap(f)(SEVEN, out=target) is target

    def test_lowered_functions_accept_out(self):
        f = vmap(lambda x: (x * x, x)).lower(SEVEN)
        whole = numpy.zeros((7, 2))
        found = f(SEVEN, out=(whole[:, 0], None))
        same(found, f(SEVEN))
        assert numpy.array_equal(whole[:, 0], SEVEN * SEVEN)
