"""Recordings of functions of large arrays: their size, their numbers, and what the functions may do with an array."""

from __future__ import annotations

import copy
import importlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
import scipy.optimize
from checkout import IS_COMPILED
from numpy.exceptions import AxisError
from references import jax, jnp
from whole_arrays import calls_of
from work import count_calls

from gradwalk import (
    RecordingError,
    Value,
    adopt,
    checkpoint,
    debug,
    debug_nans,
    grad,
    hvp,
    jacobian,
    jit,
    jvp,
    linearize,
    loops,
    math,
    no_grad,
    vjp,
    vmap,
)
from gradwalk import numpy as gnp
from gradwalk.arrays import kinds, map_call, recorder
from gradwalk.arrays.functions import products
from gradwalk.arrays.run.array_program import ArrayProgram
from gradwalk.arrays.traced_array import TracedArray

x = numpy.random.default_rng(0).normal(size=7)
t = numpy.random.default_rng(1).normal(size=7)


def loss(x: Any) -> Any:
    return math.logsumexp(x) + (numpy.sin(x) * x).mean()


if IS_COMPILED:  # uncompiled lanes call Python functions for each number

    @pytest.mark.parametrize("f", [loss, grad(loss)], ids=["value", "gradient"])
    def test_work_of_recording_does_not_depend_on_the_size(f):
        few, many = numpy.linspace(-1.0, 1.0, 50_000), numpy.linspace(-1.0, 1.0, 500_000)
        jit(f).recorded(few)  # imports and caches
        assert count_calls(lambda: jit(f).recorded(many)) < 1.1 * count_calls(lambda: jit(f).recorded(few))

    def test_work_of_a_call_does_not_depend_on_the_number_of_parameters():
        f = jit(grad(lambda w, x: math.exp(w).sum() * math.sin(x * w[0] + w[1]).sum()))
        counts = []
        for size in (20, 2000):
            given = numpy.linspace(-1.0, 1.0, size), numpy.linspace(-1.0, 1.0, 20_000)
            f(*given)
            counts.append(count_calls(lambda given=given: f(*given)))
        assert "map" in "".join(f.statistics.backends)
        assert counts[1] < 1.1 * counts[0]

    def test_function_that_uses_the_elements_one_by_one_is_compiled_as_a_whole():
        pytest.importorskip("llvmlite")

        def last(m: Any, x: Any) -> Any:
            return m.scan(lambda c, row: (m.sin(c) + row.sum(), None), 0.0, 0.1 * m.exp(x))[0]

        x = numpy.linspace(-1.0, 1.0, 14_000).reshape(1000, 14)
        f = jit(grad(partial(last, SimpleNamespace(scan=loops.scan, exp=math.exp, sin=math.sin))), backend="llvm")
        found = f(x)
        assert f.statistics.backends == {"": "llvm"}
        in_jax = SimpleNamespace(scan=jax.lax.scan, exp=jnp.exp, sin=jnp.sin)
        numpy.testing.assert_allclose(found, jax.grad(partial(last, in_jax))(x), rtol=1e-12, atol=1e-200)


def test_program_of_a_large_array_has_few_instructions():
    recorded = jit(grad(loss))
    recorded(numpy.linspace(-1.0, 1.0, 20_000))
    assert isinstance(recorded.latest.program, ArrayProgram)
    assert recorded.statistics.instructions < 200
    assert recorded.statistics.backends


def test_gradients_agree_with_jax():
    numbers = numpy.random.default_rng(2).normal(size=(3000, 4))
    weights = numpy.array([0.3, -0.2, 0.5, 0.1])

    def likelihood(m: Any, w: Any, xs: Any) -> Any:
        scores = xs @ w
        return (m.log(1.0 + m.exp(-scores)) * m.where(xs[:, 0] > 0, 1.0, 2.0)).sum() + (xs[1:] - xs[:-1]).std() * w[0]

    found = jit(grad(lambda w, xs: likelihood(gnp, w, xs), argnums=(0, 1)))(weights, numbers)
    expected = jax.grad(lambda w, xs: likelihood(jnp, w, xs), argnums=(0, 1))(weights, numbers)
    for one, other in zip(found, expected, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_forward_mode_agrees_with_single_numbers(monkeypatch):
    def results() -> list[Any]:
        cube = lambda x: x**3 * x[0]  # noqa: E731
        value, pull = vjp(cube, x)
        again, push = linearize(cube, x)
        with_aux = jvp(lambda x: (x * 2.0, {"a": x, "b": 1.0}), (x,), (t,), has_aux=True)
        return [
            *jvp(cube, (x,), (t,)),
            *(value, pull(t)[0], pull(x)[0], again, push(t), push(x)),
            *(with_aux[0], with_aux[1], with_aux[2]["a"]),
            hvp(loss, (x,), (t,)),
            jit(lambda x, t: hvp(loss, (x,), (t,)))(x, t),
            jacobian(cube)(x),
            grad(lambda x: (jvp(cube, (x,), (t,))[1] ** 2).sum())(x),
        ]

    expected = results()
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    for found, known in zip(results(), expected, strict=True):
        assert isinstance(found, numpy.ndarray)
        numpy.testing.assert_allclose(found, known, rtol=1e-10, atol=1e-12)


def test_complex_and_real_arguments_are_differentiated_together(whole):
    def f(z: Any, x: Any) -> Any:
        return abs(z) ** 2 * x.sum()

    of_z, of_x = grad(f, argnums=(0, 1))(1 + 2j, x)
    assert of_z == pytest.approx(2 * (1 - 2j) * x.sum())
    numpy.testing.assert_allclose(of_x, 5.0)
    value, pull = vjp(lambda x: (x * 2.0, x.sum() * 1j), x)
    numpy.testing.assert_allclose(pull((t, 1j))[0], 2 * t - 1.0)
    assert value[1] == pytest.approx(1j * x.sum())


def test_bits_do_not_depend_on_the_layout_of_the_argument(whole):
    recorded = jit(lambda x: numpy.exp(x) * x.sum())
    strided = numpy.zeros((7, 2))
    strided[:, 1] = x
    unaligned = numpy.frombuffer(b"." + x.tobytes(), numpy.float64, offset=1)
    for same in (strided[:, 1], x.astype(">f8"), unaligned):
        numpy.testing.assert_array_equal(recorded(same), recorded(x))


def test_constant_arrays_are_copied(whole):
    def f(x: Any) -> Any:
        scale = numpy.ones(7)
        y = x * scale
        scale[:] = 5.0
        return y.sum()

    numpy.testing.assert_array_equal(grad(f)(x), 1.0)
    scale, matrix = numpy.ones(7), numpy.ones((7, 70))
    recorded = jit(lambda x: (x * scale).sum() + (x @ matrix)[0])
    first = recorded(x)
    scale[:] = matrix[:] = 5.0
    assert recorded(x) == first == pytest.approx(2 * x.sum())


def test_views_and_copies_are_those_of_numpy(whole):
    def sorted_in_place(x: Any) -> Any:
        b = x.copy()
        assert b.sort() is None
        return (b * numpy.arange(7.0)).sum()

    def changed_row(m: Any) -> Any:
        b = m * 1.0
        row = b[0]
        b += 1.0
        b[1] += 1.0
        return row.sum() + b[1].sum()

    def changed_copy(x: Any) -> Any:
        b = numpy.clip(x, None, None)
        b += 1.0
        return x.sum()

    m = numpy.arange(6.0).reshape(3, 2)
    assert jit(sorted_in_place)(x) == pytest.approx(sorted_in_place(x))
    assert jit(changed_row)(m) == changed_row(m)
    assert jit(changed_copy)(x) == pytest.approx(x.sum())
    numpy.testing.assert_allclose(jit(lambda m: numpy.add.reduce(m, axis=1, initial=1.0))(m), m.sum(axis=1) + 1.0)
    for function in (numpy.sort, numpy.diff):
        with pytest.raises(AxisError):
            jit(lambda x, function=function: function(x, axis=3))(x)
    order = numpy.argsort(x)
    numpy.testing.assert_allclose(grad(lambda x: (x[numpy.argsort(x)] * t).sum())(x)[order], t)


def test_arrays_of_the_same_shape_leave_an_array_whole(whole):
    def f(x: Any) -> Any:
        model = numpy.ones_like(x) + numpy.full_like(x, 2.0) + numpy.zeros_like(x)
        model += numpy.full_like(numpy.empty_like(x), x[0])
        assert x.is_whole
        return model * x

    numpy.testing.assert_allclose(jit(f)(x), (3.0 + x[0]) * x)
    assert jit(lambda x: numpy.full_like(numpy.empty(7, object), x)[3])(x) == x[3]


def test_conversions_leave_an_array_whole(whole):
    def f(x: Any) -> Any:
        y = gnp.asarray(x)
        z = gnp.array(x, dtype=float)
        z += 1.0
        total = (gnp.asarray(y, float) * numpy.flip(z) * numpy.squeeze(numpy.atleast_1d(x)[:, None])).sum()
        assert y is x
        assert x.is_whole
        return total * gnp.trapezoid(x) + gnp.zeros_like(x)[0]

    assert jit(f)(x) == pytest.approx((x * (x[::-1] + 1.0) * x).sum() * numpy.trapezoid(x))
    with pytest.raises(TypeError, match="dtype of an array of Values"):
        jit(lambda x: gnp.asarray(x, int))(x)


def test_adopted_functions_convert_large_arrays(tmp_path, monkeypatch):
    lines = [
        "import numpy as np",
        "def rosenbrock(x):",
        "    x = np.asarray(x, dtype=float)",
        "    squares = np.array(x) ** 2",
        "    return np.sum(100.0 * (x[1:] - squares[:-1]) ** 2 + (1 - x[:-1]) ** 2, axis=0, dtype=x.dtype)",
    ]
    (tmp_path / "rosenbrock_of_arrays.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    numbers = numpy.random.default_rng(7).normal(size=20_000)
    with adopt("rosenbrock_of_arrays"):
        rosenbrock = importlib.import_module("rosenbrock_of_arrays").rosenbrock
        gradient = jit(grad(rosenbrock))
        numpy.testing.assert_allclose(gradient(numbers), scipy.optimize.rosen_der(numbers), rtol=1e-10, atol=1e-9)
        direction = numbers[::-1].copy()
        found = hvp(rosenbrock, (numbers,), (direction,))
    numpy.testing.assert_allclose(found, scipy.optimize.rosen_hess_prod(numbers, direction), rtol=1e-9, atol=1e-8)
    assert isinstance(gradient.latest.program, ArrayProgram)
    assert gradient.statistics.instructions < 1000


def test_elements_that_are_taken_one_by_one_become_values(whole):
    numbers = numpy.linspace(0.0, 1.0, 300)
    last = jit(grad(lambda x: loops.scan(lambda total, v: (0.9 * total + v, None), 0.0, x)[0]))
    numpy.testing.assert_allclose(last(numbers), 0.9 ** numpy.arange(299.0, -1.0, -1.0))
    assert not isinstance(last.latest.program, ArrayProgram) or last.statistics.instructions < 1000


def test_numbers_are_known_after_inner_recordings(whole):
    m = numpy.random.default_rng(6).normal(size=(5, 3))

    def after_jit(m: Any) -> Any:
        y = m - 10.0
        jit(lambda q: q * y[0, 0] + y[1:].sum())(2.0)
        return (y * 3.0).sum() if y[0, 0] > 0 else y.sum()

    def after_vmap(m: Any) -> Any:
        y = m * m
        vmap(lambda row: (row * y.sum()).sum())(y)
        loops.fori_loop(0, 2, lambda i, c: c + y[1:, 0].sum(), 0.0)
        return gnp.max(y, axis=1).sum()

    for f in (after_jit, after_vmap):
        expected = (m - 10.0).sum() if f is after_jit else (m * m).max(axis=1).sum()
        for found in (jit(f)(m), grad(lambda m, f=f: f(m) ** 2 / 2.0)(m).ravel()):
            assert numpy.abs(found).max() == pytest.approx(abs(expected), rel=0.5) or f is after_vmap
        assert jit(f)(m) == pytest.approx(expected)
        assert jit(lambda m, f=f: f(m) + grad(f)(m).sum() * 0.0)(m) == pytest.approx(expected)


def test_updates_from_views_and_in_samples(whole):
    def reversed_sum(x: Any) -> Any:
        x = x.copy()
        x += x[::-1]
        x[:] = x[::-1] * 2.0
        return x.sum()

    def first_is_zero(row: Any) -> Any:
        row[0] = 0.0
        return row.sum()

    m = numpy.arange(6.0).reshape(3, 2)
    assert jit(reversed_sum)(x) == pytest.approx(4.0 * x.sum())
    results = jit(lambda m: (vmap(first_is_zero)(m), (m * m).sum()))(m)
    assert results[0].tolist() == [1.0, 3.0, 5.0]
    assert results[1] == (m * m).sum()
    complex_matrix = numpy.ones((2, 3)) * 1j
    numpy.testing.assert_allclose(jit(lambda m: m @ complex_matrix)(m), m @ complex_matrix)


def test_results_of_earlier_calls_stay(whole):
    def f(m: Any, x: Any) -> Any:
        return m.T @ m, m * x[0], x[::-1], x[1:] * m[0, 0], gnp.sort(x)

    m = numpy.random.default_rng(4).normal(size=(50, 20))
    recorded = jit(lambda m, x: (f(m, x), grad(lambda m: sum((y * y).sum() for y in f(m, x)))(m)))
    results = [recorded(scale * m, scale * x) for scale in (1.0, 2.0, 3.0)]
    for scale, (found, gradient) in zip((1.0, 2.0, 3.0), results, strict=True):
        for one, expected in zip(found, f(scale * m, scale * x), strict=True):
            numpy.testing.assert_allclose(one, expected, rtol=1e-12)
        numpy.testing.assert_array_equal(gradient, recorded(scale * m, scale * x)[1])


@pytest.mark.parametrize("flips", range(4))
def test_products_of_large_matrices(monkeypatch, flips):
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    monkeypatch.setattr(products, "_MOST_MULTIPLICATIONS", 0)  # no product is computed row by row
    generator = numpy.random.default_rng(flips)
    a, b, v = generator.normal(size=(9, 4)), generator.normal(size=(4, 7)), generator.normal(size=4)
    first, second = a.T.copy() if flips & 1 else a, b.T.copy() if flips & 2 else b

    def product(m: Any, x: Any, y: Any) -> Any:
        x, y = x.T if flips & 1 else x, y.T if flips & 2 else y
        return ((x @ y) ** 2).sum() * (v @ y).sum() + ((x @ v) ** 3).sum() * m.dot(y.sum(axis=1), v)

    gradient = grad(lambda x, y: product(gnp, x, y), argnums=(0, 1))
    of_jax = jax.grad(lambda x, y: product(jnp, x, y), argnums=(0, 1))
    for found in (gradient(first, second), jit(gradient)(first, second)):
        for one, expected in zip(found, of_jax(first, second), strict=True):
            numpy.testing.assert_allclose(one, expected, rtol=1e-10)
    tangents = generator.normal(size=first.shape), generator.normal(size=second.shape)
    found = hvp(lambda pair: product(gnp, *pair), ((first, second),), (tangents,))
    expected = jax.jvp(jax.grad(lambda pair: product(jnp, *pair)), ((first, second),), (tangents,))[1]
    for one, other in zip(found, expected, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-10)


def test_network_of_whole_layers_agrees_with_jax():
    generator = numpy.random.default_rng(5)
    images, digits = generator.normal(size=(300, 40)), numpy.eye(40)[generator.integers(0, 40, 300)]
    weights = {"hidden": 0.1 * generator.normal(size=(40, 260)), "out": 0.1 * generator.normal(size=(260, 40))}

    def cross_entropy(m: Any, logsumexp: Any, w: Any, images: Any, digits: Any) -> Any:
        scores = m.tanh(images @ w["hidden"]) @ w["out"]
        return (logsumexp(scores, axis=1) - (scores * digits).sum(axis=1)).mean()

    found = jit(grad(lambda w, *data: cross_entropy(gnp, math.logsumexp, w, *data)))(weights, images, digits)
    of_jax = jax.grad(lambda w, *data: cross_entropy(jnp, jax.scipy.special.logsumexp, w, *data))
    for name, expected in of_jax(weights, images, digits).items():
        numpy.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-15)


def test_argument_is_not_changed_and_not_kept(whole):
    numbers = x.copy()

    def f(z: Any) -> Any:
        z += 1.0
        numbers[0] = 100.0  # the function changes its caller's array
        return (z * z).sum()

    assert grad(f)(numbers)[0] == 2 * (x[0] + 1.0)
    numpy.testing.assert_array_equal(numbers[1:], x[1:])


def test_eager_values_get_gradients(whole):
    scale = Value(3.0)
    jit(lambda scale, x: (x * scale).sum())(scale, x).backward()
    assert scale.grad == pytest.approx(x.sum())
    leaves = numpy.array([Value(number) for number in x], dtype=object)
    square = jit(lambda x: (x * x).sum())
    square(x)
    square(leaves).backward()
    assert [leaf.grad for leaf in leaves] == pytest.approx(2 * x)
    captured = Value(2.0)
    results = jit(lambda x: x * captured)(x)
    assert type(results) is numpy.ndarray
    results.sum().backward()
    assert captured.grad == pytest.approx(x.sum())


def test_values_beside_an_array_whose_elements_are_used():
    rows = numpy.sin(numpy.arange(14_000.0)).reshape(1000, 14)

    def f(scale: Any, x: Any) -> Any:
        y = numpy.sin(x) * scale
        return y[0, 0] * y[-1, -1] + y.mean() + numpy.exp(y[3]).sum()

    scale = Value(2.0)
    jit(f)(scale, rows).backward()  # would take minutes if each element passed its gradient to all operands
    assert scale.grad == pytest.approx(jax.grad(lambda scale: f_in_jax(scale, rows))(2.0))


def f_in_jax(scale: Any, x: Any) -> Any:
    y = jnp.sin(x) * scale
    return y[0, 0] * y[-1, -1] + y.mean() + jnp.exp(y[3]).sum()


def test_long_arrays_become_loops_of_numbers(monkeypatch):
    x = numpy.linspace(-1.0, 1.0, 12_000)
    f = jit(lambda x: (numpy.exp(x) * x).sum() + x[0] * x[1])
    found = f(x)
    flat = f.program.run(x)
    monkeypatch.setattr(map_call, "_MOST_FLAT", 1000)
    again = jit(lambda x: (numpy.exp(x) * x).sum() + x[0] * x[1])
    assert again(x) == found
    looped = again.program
    assert len(looped) < 100
    assert looped.run(x) == pytest.approx(flat, rel=1e-13)


def test_paths_are_recorded_for_branches(whole):
    recorded = jit(lambda x: (x * x).sum() if x.sum() > 0.0 else x.sum() * int(x[0] > 0.0))
    for _ in range(2):
        for sign in (1.0, -1.0):
            numbers = sign * numpy.abs(x)
            assert recorded(numbers) == pytest.approx((x * x).sum() if sign > 0 else 0.0)
    assert recorded.statistics.recordings == 2


def test_training_loop_with_whole_data(whole):
    data = numpy.random.default_rng(3).normal(size=(50, 2))
    targets = data @ [1.0, -2.0]

    def fit(w: Any, xs: Any, ys: Any) -> Any:
        slope = grad(lambda w: ((xs @ w - ys) ** 2).mean())
        return loops.fori_loop(0, 200, lambda i, w: w - 0.2 * slope(w), w)

    numpy.testing.assert_allclose(jit(fit)(numpy.zeros(2), data, targets), [1.0, -2.0], atol=1e-6)


def test_effects_run_once(whole):
    seen: list[float] = []

    def f(x: Any) -> Any:
        debug.callback(lambda total: seen.append(float(total)), x.sum())
        return x * 2.0

    recorded = jit(f)
    numpy.testing.assert_array_equal(recorded(x), 2.0 * x)
    numpy.testing.assert_array_equal(recorded(x), 2.0 * x)
    assert seen == pytest.approx([x.sum(), x.sum()])
    seen.clear()
    square = vmap(lambda v: [debug.callback(lambda v: seen.append(float(v)), v), v * v][1])
    each = jit(lambda x: square(x) + 0.0 * x)
    numpy.testing.assert_array_equal(each(x), x * x)
    assert sorted(seen) == sorted(x)


def test_modes_of_single_numbers_hold_for_arrays(whole):
    def f(x: Any) -> Any:
        with no_grad():
            fixed = (x * x).sum()
        return (x * fixed).sum()

    numpy.testing.assert_allclose(grad(f)(x), (x * x).sum())
    recorded = jit(lambda x: numpy.log(x).sum())
    recorded(x)
    for log in (grad(lambda x: numpy.log(x).sum()), recorded):
        with debug_nans(), pytest.raises(FloatingPointError, match="gave nan"):
            log(x)


def test_parts_without_rows(whole):
    none = jit(lambda x: ((x[3:3] * numpy.ones(0)).sum(), gnp.sum(x[7:]), x[:0] * 2.0))(x)
    assert (none[0], none[1], none[2].shape) == (0.0, 0.0, (0,))
    numpy.testing.assert_array_equal(grad(lambda x: (x[3:3] ** 2).sum() + x[0])(x), numpy.eye(7)[0])


def test_threads_share_a_recording(whole):
    recorded = jit(grad(loss))
    expected = recorded(x)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(recorded, [x] * 16):
            numpy.testing.assert_array_equal(found, expected)


def test_text_files_and_graphs_have_single_numbers(whole):
    recorded = jit(lambda x: (x * x).sum() + x[0])
    recorded(x)
    assert recorded.program.inputs == 7
    assert recorded.program.input_names[3] == "x[3]"
    assert recorded.program.run(x) == pytest.approx([(x * x).sum() + x[0]])
    assert recorded.lower(x).compile()(x) == pytest.approx((x * x).sum() + x[0])
    assert recorded.walk(x).graph.outputs


def test_array_behaves_like_an_array(whole):
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.append(x)
        assert isinstance(x, numpy.ndarray)
        assert (x.shape, x.ndim, x.size, len(x), x.dtype) == ((7,), 1, 7, 7, object)
        with pytest.raises(ValueError, match="ambiguous"):
            bool(x)
        with pytest.raises(IndexError, match="out of bounds"):
            x[7]
        with pytest.raises(ValueError, match="broadcast"):
            x + numpy.ones(3)
        with pytest.raises(AttributeError):
            _ = x.no_such_attribute
        assert x[2:3] is not None
        assert copy.deepcopy(x) is not x
        assert "being recorded" in repr(x)
        return (x + copy.copy(x)).sum()

    assert jit(f)(x) == pytest.approx(2 * x.sum())
    assert type(seen[0]) is TracedArray


def test_array_that_is_kept_cannot_be_used_later(whole):
    kept: list[Any] = []
    jit(lambda x: kept.append(x) or x.sum())(x)
    with pytest.raises(RecordingError, match="ended"):
        grad(lambda y: (y * kept[0]).sum())(x)


@pytest.mark.usefixtures("whole")
class TestJoinedCalls:
    def test_arrays_that_one_call_uses_are_not_stored(self):
        def f(x):
            most = x.max()
            return most + math.log(math.exp(x - most).sum())

        recorded = jit(grad(f))
        numpy.testing.assert_allclose(recorded(x), jax.nn.softmax(jnp.array(x)), rtol=1e-12)
        # The maximum, its share of the sum, the sum, the slope of the sum, and the slopes.
        assert calls_of(recorded, map_call.MapCall, kinds.Sum) == [map_call.Extremes, *[map_call.MapCall] * 4]

    @pytest.mark.parametrize("reused", [False, True])
    def test_joined_calls_give_the_numbers_of_eager_code(self, reused):
        def f(x, rate):
            y = numpy.exp(x) * (x * x).sum()
            z = y + rate * y.sum() if reused else y
            return numpy.sort(z * numpy.cos(x)) if reused else z + numpy.sin(x)

        for way in (f, lambda x, rate: jvp(f, (x, rate), (t, 1.0))[1]):
            found = jit(way)(x, 0.25)
            numpy.testing.assert_allclose(found, way(x, 0.25), rtol=1e-12)


@pytest.mark.parametrize(
    "transform", [grad, lambda f: jit(grad(f)), jacobian, lambda f: lambda a: vmap(grad(f))(a[None])[0]]
)
@pytest.mark.parametrize("size", [3, 70])
def test_numpy_functions_that_need_numbers_are_replaced(size, transform):
    a = numpy.random.default_rng(0).normal(size=(size, size)) + size * numpy.eye(size)
    for own, plain in ((gnp.linalg.inv, numpy.linalg.inv), (gnp.heaviside, numpy.heaviside)):
        rest = (0.5,) if plain is numpy.heaviside else ()
        found = transform(lambda a, f=plain, rest=rest: f(a, *rest).sum())(a)
        numpy.testing.assert_allclose(found, grad(lambda a, f=own, rest=rest: f(a, *rest).sum())(a), rtol=1e-9)
    numpy.testing.assert_allclose(transform(lambda a: numpy.linalg.solve(2.0 * a, a).sum())(a), 0.0 * a, atol=1e-12)


@pytest.mark.parametrize("size", [3, 5000])
def test_ufuncs_accept_floats_among_values(size):
    def f(x):
        y = x.copy()
        y[0] = 0.5
        return numpy.tanh(y).sum()

    x = numpy.linspace(-1.0, 1.0, size)
    expected = 1.0 - numpy.tanh(x) ** 2
    expected[0] = 0.0
    for g in (grad(f), jit(grad(f)), jacobian(f), lambda x: vmap(grad(f))(x[None])[0]):
        numpy.testing.assert_allclose(g(x), expected, rtol=1e-12)


def test_medians_of_large_arrays_are_recorded():
    x = numpy.random.default_rng(0).normal(size=5001)
    median = jit(grad(numpy.median))
    numpy.testing.assert_array_equal(median(x), x == numpy.median(x))
    assert median.statistics.instructions < 100


WAYS_TO_A_MATRIX = {
    "inverse": numpy.linalg.inv,
    "gnp.exp": gnp.exp,
    "math.exp": math.exp,
    "gnp.where": lambda a: gnp.where(a > 0.0, a, 0.1),
    "jit": jit(lambda a: 2.0 * a),
    "vmap": vmap(lambda row: 2.0 * row),
    "hessian": lambda a: jacobian(grad(lambda v: (v**4).sum()))(a[0]),
    "loop": lambda a: loops.fori_loop(0, 2, lambda i, c: 1.1 * c, a),
    "checkpoint": checkpoint(lambda a: 2.0 * a),
    "interp": lambda a: numpy.interp(a, [0.0, 9.0], [0.0, 7.0]) + numpy.eye(3),
    "gnp.array": lambda a: gnp.array([[a[0, 0], a[1, 0]], [a[0, 1], a[1, 1]]]),
    "fft": lambda a: numpy.fft.ifft(numpy.fft.fft(a)).real,
}


@pytest.mark.parametrize("way", WAYS_TO_A_MATRIX)
def test_arrays_computed_from_arguments_are_accepted(way):
    a = numpy.random.default_rng(0).uniform(0.5, 1.0, (3, 3)) + 2.0 * numpy.eye(3)
    made = WAYS_TO_A_MATRIX[way]
    expected = grad(lambda a: gnp.linalg.inv(made(a)).sum())(a)
    for transform in (grad, lambda f: jit(grad(f)), jacobian, lambda f: lambda a: vmap(grad(f))(a[None])[0]):
        found = transform(lambda a: numpy.linalg.inv(made(a)).sum())(a)
        numpy.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_small_results_of_large_arrays_are_accepted():
    x = numpy.random.default_rng(0).normal(size=(1000, 5))
    for product in (lambda x: x.T @ x, lambda x: numpy.einsum("ij,ik->jk", x, x), lambda x: numpy.cov(x.T)):
        found = grad(lambda x, f=product: numpy.linalg.inv(f(x)).sum())(x)
        numpy.testing.assert_allclose(found, grad(lambda x, f=product: gnp.linalg.inv(f(x)).sum())(x), rtol=1e-9)


def test_results_are_those_of_numpy_with_nan_and_names():
    gaps = numpy.array([1.0, numpy.nan, 3.0, 4.0, 9.0])
    for x in (gaps, numpy.concatenate([gaps, numpy.arange(5000.0)])):
        numpy.testing.assert_array_equal(jit(numpy.gradient)(x), numpy.gradient(x))
    found = jit(lambda a: numpy.linalg.slogdet(a).logabsdet)(2.0 * numpy.eye(2))
    assert found == pytest.approx(numpy.linalg.slogdet(2.0 * numpy.eye(2)).logabsdet)


def test_errors_and_classes_of_others_are_kept():
    calls = []

    class Duck:
        def __array_function__(self, function, types, args, kwargs):
            return "duck"

    def refuse(x):
        calls.append(x)
        raise TypeError("own error")

    for x in (numpy.ones(3), numpy.ones(5000)):
        assert grad(lambda x: x.sum() * (numpy.linalg.solve(x, Duck()) == "duck"))(x)[0] == 1.0
    with pytest.raises(TypeError, match="own error"):
        grad(lambda x: numpy.piecewise(x, [x > 0.0], [refuse]).sum())(numpy.ones(3))
    assert len(calls) == 1
    with pytest.raises(TypeError) as error:
        jit(lambda a: numpy.linalg.pinv(a, rcond=1e-9))(numpy.eye(2))
    assert "gradwalk.numpy has a pinv" in error.value.__notes__[0]


def test_refusals_are_not_replaced():
    with pytest.raises(RecordingError, match="cannot be converted to float implicitly"):
        grad(lambda x: numpy.add.reduce(x) + float(x[0]))(numpy.ones(3))
    with pytest.raises(TypeError, match=r"sum\(\) takes from"):
        jit(lambda x: numpy.sum(x, 0, None, None, False, 0.0, True, 1))(numpy.ones(3))
    with pytest.raises(numpy.linalg.LinAlgError):
        grad(lambda x: numpy.linalg.inv(x).sum())(numpy.ones(3))
