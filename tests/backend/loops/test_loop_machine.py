"""Machine code that runs loops on batches gives the bits of the lanes, and the same errors."""

from __future__ import annotations

import pickle
import time

import numpy
import pytest
from alarms import alarm, needs_timers
from checkout import IS_COMPILED

from gradwalk import grad, jit, loops, math, take, value_and_grad, vmap
from gradwalk.backend.loops import loop_kernel
from gradwalk.backend.thread_pool import threads

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def never_unroll(monkeypatch):
    monkeypatch.setattr(loop_kernel, "MOST_FLAT", 0)


def root(x, limit=None):
    """Return the square root of x by Newton's method; a number of steps that depends on x."""
    return loops.while_loop(lambda r: abs(r * r - x) > 1e-12 * x, lambda r: 0.5 * (r + x / r), x, max_steps=limit)


X = numpy.geomspace(1e-3, 1e5, 101)


def is_compiled(batched):
    backend = batched.statistics.backends.get("float64", "")
    return backend == "llvm" or backend == "lanes: gradwalk runs uncompiled"


@pytest.mark.parametrize("f", [root, grad(root), grad(grad(root))])
@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 101])
def test_any_number_of_samples(f, count):
    batched = jit(vmap(f), backend="llvm")
    assert batched(X[:count]).tolist() == jit(vmap(f), backend="lanes")(X[:count]).tolist()
    assert is_compiled(batched)


def test_samples_that_take_too_many_steps_are_nan():
    f = vmap(value_and_grad(lambda x: root(x, 12)))
    expected = jit(f, backend="lanes")(X)
    found = jit(f, backend="llvm")(X)
    numpy.testing.assert_array_equal(found, expected)
    assert 0 < numpy.isnan(found[1]).sum() < len(X)


def test_loops_that_are_the_same_for_all_samples_give_nan():
    def f(x, y):
        return loops.fori_loop(0, 3, lambda i, c: c + root(y, 12), x)

    for backend in ("lanes", "llvm"):
        assert numpy.isnan(jit(vmap(f, in_axes=(0, None)), backend=backend)(X, 1e9)).all()
    with pytest.raises(ValueError, match="max_steps=12"):
        jit(f)(1.0, 1e9)


def test_results_that_are_arguments_or_the_same_for_all_samples():
    f = vmap(lambda x, y, z: (root(x), y, z, 2.0 * z), in_axes=(0, 0, None))
    found = jit(f, backend="llvm")(X, -X, 3.0)
    for one, other in zip(found, jit(f, backend="lanes")(X, -X, 3.0), strict=True):
        assert numpy.asarray(one).tolist() == numpy.asarray(other).tolist()


def test_sums_over_the_batch_and_several_threads():
    def total(k):
        return vmap(lambda x: k * root(x), reduce="sum")(X)

    found = [jit(value_and_grad(total), backend=backend)(0.3) for backend in ("lanes", "llvm")]
    assert found[0] == found[1]
    with threads(3):
        assert jit(value_and_grad(total), backend="llvm")(0.3) == found[0]


def test_long_batches_are_handed_over():
    batched = jit(vmap(root))
    x = numpy.tile(X, 10)
    expected = batched(x).tolist()
    end = time.monotonic() + 60
    while not is_compiled(batched) and time.monotonic() < end:
        assert batched(x).tolist() == expected
    assert is_compiled(batched)
    assert batched(x).tolist() == expected


def test_loops_whose_trail_is_too_large_run_on_lanes():
    f = vmap(
        value_and_grad(lambda x: loops.while_loop(lambda c: c < 10.0, lambda c: c + 0.01 + 0.001 * math.sin(c), x))
    )
    x = numpy.linspace(9.0, 9.1, 20)
    batched = jit(f, backend="llvm", memory=4096)
    for _ in range(3):  # also by the fast path of calls
        numpy.testing.assert_array_equal(batched(x), jit(f, backend="lanes")(x))
    assert is_compiled(batched)


def test_reasons_are_given():
    batched = jit(vmap(grad(lambda x: loops.fori_loop(0, 9, lambda i, c: math.sin(c), x))), backend="lanes")
    batched(X)
    assert batched.statistics.backends["float64"] in (
        'lanes: the backend is "lanes"',
        "lanes: gradwalk runs uncompiled",
    )


def test_takes_of_numbers_that_vary():
    table = [math.sqrt(float(i)) for i in range(5)]

    def f(x, y):
        mixed = [x, y, x * y, *table]
        return loops.fori_loop(0, 20, lambda i, c: c + math.sin(c) * take(mixed, math.floor(c) % 8.0), x)

    y = numpy.linspace(-1.0, 2.0, len(X))
    for g in (f, grad(f), grad(f, 1)):
        found = [jit(vmap(g), backend=backend)(X, y).tolist() for backend in ("lanes", "llvm")]
        numpy.testing.assert_array_equal(*found)


@needs_timers
@pytest.mark.parametrize("count", [1, 3])
def test_infinite_loops_can_be_interrupted(count):
    endless = jit(vmap(lambda x: loops.while_loop(lambda s: s < x, math.sin, 0.5)), backend="llvm")
    x = numpy.full(20_000, 0.25)
    endless(x)
    with threads(count), alarm(0.3):
        endless(x + 2.0)
    assert endless(x).tolist() == [0.5] * len(x)


def sums_inside(n, x):
    """Run a loop whose steps run a short loop, which adds up the cotangents of x."""
    step = lambda s: (s[0] + 1.0, 0.5 * s[1] + loops.fori_loop(0, 3, lambda j, z: z * x + x, s[1]))  # noqa: E731
    return loops.while_loop(lambda s: s[0] < 5.0, step, (0.0, x), max_steps=17)[1] * n


def same_inside(n, x):
    """Run a loop whose steps run a short loop, in whose carry one number is the same for all samples."""

    def step(s):
        short = lambda j, z: (0.5 * z[0] * x + z[1], 1.1 * math.exp(-z[1]))  # noqa: E731
        return s[0] + 1.0, 0.5 * s[1] + loops.fori_loop(0, 3, short, (s[1], n))[0]

    return loops.while_loop(lambda s: s[0] < 5.0, step, (0.0, x), max_steps=17)[1]


@pytest.mark.parametrize("f", [sums_inside, same_inside])
@pytest.mark.parametrize("order", [lambda f: f, lambda f: grad(f, (0, 1)), lambda f: grad(grad(f, 1), 1)])
def test_short_loops_inside_other_loops(f, order, monkeypatch):
    monkeypatch.setattr(loop_kernel, "MOST_FLAT", 20_000)
    x = numpy.linspace(0.2, 1.0, 300)
    for n in numpy.linspace(0.1, 2.0, 12 if IS_COMPILED else 2).tolist():
        found = [jit(vmap(order(f), in_axes=(None, 0)), backend=backend)(n, x) for backend in ("lanes", "llvm")]
        numpy.testing.assert_array_equal(*found)


@pytest.mark.parametrize("steps", [16, 17])
@pytest.mark.parametrize("backend", ["lanes", "llvm"])
def test_loops_that_take_too_many_steps_for_all_samples(backend, steps, monkeypatch):
    monkeypatch.setattr(loop_kernel, "MOST_FLAT", 20_000)

    def shared(n):
        step = lambda t: (t[0] + 1.0, 0.9 * t[1] + 0.1 * n)  # noqa: E731
        return loops.while_loop(lambda t: t[0] < n, step, (0.0, 1.0), max_steps=steps)[1]

    def f(n, x):
        inside = loops.while_loop(lambda s: s < x, lambda s: s + shared(n), 0.0, max_steps=40)
        return inside, loops.cond(x > 0.0, lambda: shared(n), lambda: x), x * x

    x = numpy.array([0.0, 1.0, -2.0])
    batched = jit(vmap(f, in_axes=(None, 0)), backend=backend)
    batched(2.0, x)
    lowered = pickle.loads(pickle.dumps(vmap(f, in_axes=(None, 0)).lower(2.0, x)))
    for found in (batched(61.0, x), vmap(f, in_axes=(None, 0))(61.0, x), lowered(61.0, x)):
        numpy.testing.assert_array_equal(found, [[0.0, numpy.nan, 0.0], [0.0, numpy.nan, -2.0], x * x])
    slopes = jit(vmap(grad(lambda n, x: f(n, x)[1]), in_axes=(None, 0)), backend=backend)(61.0, x)
    numpy.testing.assert_array_equal(slopes, [0.0, numpy.nan, 0.0])
    assert numpy.isfinite(batched(2.0, x)).all()


def invariant_step(x, y):
    """Run a loop whose steps compute sigmoid(x) again; only `y` has a number per sample."""
    first, second = loops.fori_loop(0, 4, lambda i, c: (math.sigmoid(x), c[1] + 0.0 * y), (x, y))
    return first + second


def weighted_sum(x, y):
    """Run a loop whose cotangents of ys are the same for all samples."""
    _, (first, second) = loops.scan(lambda c, _: (c + 0.0 * y, (math.sigmoid(1.1 * x), c * x)), y, None, length=4)
    return sum(0.1 * (i + 1) * out for i, out in enumerate([*first, *second]))


@pytest.mark.parametrize("f", [invariant_step, weighted_sum])
def test_numbers_of_steps_that_are_the_same_for_all_samples_stay_in_float64(f):
    y = numpy.ones(3, numpy.float32)
    for order in (grad(f), grad(grad(f))):
        batched = [jit(vmap(order, in_axes=(None, 0)), backend=backend) for backend in ("lanes", "llvm")]
        for x in numpy.linspace(-1.9, 1.9, 25 if IS_COMPILED else 3).tolist():
            lanes, llvm = (g(x, y).tolist() for g in batched)
            assert lanes == llvm


def test_loops_without_steps_around_a_loop_without_a_maximum():
    def halved(x):
        return loops.while_loop(lambda x: x > 1.0, lambda x: 0.5 * x, x)

    found = vmap(lambda x: loops.while_loop(lambda x: x > 9.0, halved, x, max_steps=0))(numpy.array([0.5, 1.5]))
    assert found.tolist() == [0.5, 1.5]


def chain_over_constants(x, t):
    """Run Horner's method, whose chain of steps runs on groups of two sizes, with a table of constants."""
    return loops.scan(lambda c, k: (c * t + k, None), t, numpy.sqrt(numpy.arange(50.0)))[0] + x


def chain_beside_a_helper(x, t):
    """Run chains between calls of a helper function, lgamma, with an argument that all samples share."""

    def step(i, c):
        k = math.lgamma(x + i)
        return loops.fori_loop(0, 50, lambda _, c: c * t + k, c)

    return loops.fori_loop(0, 3, step, t)


@pytest.mark.parametrize("f", [chain_over_constants, chain_beside_a_helper])
@pytest.mark.parametrize("kind", [numpy.float64, numpy.float32])
def test_groups_of_two_sizes_share_constants_and_helpers(f, kind):
    batched = [jit(vmap(f, in_axes=(None, 0)), backend=backend) for backend in ("lanes", "llvm")]
    for count in (1, 17, 100):
        t = numpy.linspace(0.1, 0.9, count, dtype=kind)
        lanes, llvm = (g(0.5, t).tolist() for g in batched)
        assert lanes == llvm
    if IS_COMPILED:
        assert batched[1].statistics.backends[kind.__name__] == "llvm"
