"""Tests of gradwalk.debug, pure_callback, disable_jit and eval_shape."""

from __future__ import annotations

import copy
import itertools
import sys

import numpy
import pytest
from references import jax, jnp

import gradwalk.math as gm
from gradwalk import (
    ProgramError,
    RecordingError,
    ShapeDtypeStruct,
    Value,
    checkpoint,
    custom_jvp,
    custom_vjp,
    debug,
    disable_jit,
    eval_shape,
    grad,
    hessian,
    jacfwd,
    jit,
    jvp,
    loops,
    no_grad,
    pure_callback,
    sparse_hessian,
    stop_gradient,
    value_and_grad,
    vmap,
)

DERIVATIVES = [grad, value_and_grad, hessian, jacfwd, lambda f: grad(jit(f)), lambda f: jit(jit(f))]


def lines(capsys, f, *args):
    """Call a function, and return the lines that it prints."""
    capsys.readouterr()
    f(*args)
    return capsys.readouterr().out.splitlines()


def wave(x):
    debug.print("x = {:.1f}, trees = {trees}", x, trees=[x * 2.0, None, "text"])
    return gm.sin(x)


@pytest.mark.parametrize("transform", DERIVATIVES)
def test_each_run_prints_once(capsys, transform):
    for f in (transform(wave), jit(transform(wave))):
        for x in (1.0, 2.0):
            assert lines(capsys, f, x) == [f"x = {x}, trees = [{2 * x}, None, 'text']"]
    xs = numpy.array([1.0, 2.0])
    expected = [f"x = {x}, trees = [{2 * x}, None, 'text']" for x in (1.0, 2.0)]
    assert lines(capsys, vmap(transform(wave)), xs) == expected
    recorded = jit(vmap(transform(wave)))
    for _ in range(2):
        assert lines(capsys, recorded, xs) == expected


def test_results_are_not_changed():
    silent = gm.sin
    for transform in (lambda f: f, *DERIVATIVES):
        assert jit(transform(wave))(0.7) == jit(transform(silent))(0.7)


@pytest.mark.parametrize("transform", [lambda f: f, *DERIVATIVES])
def test_each_step_of_a_loop_prints_once(capsys, transform):
    def step(i, c):
        debug.print("step {}", i)
        return loops.cond(c > 3.0, lambda c: (debug.print("large"), c * 2.0)[1], lambda c: c * c, c)

    def looped(x):
        return loops.fori_loop(0, 3, step, x)

    def nested(x):
        def inner(total, y):
            debug.print("{}", y)
            return gm.sin(total) * y, total

        return loops.fori_loop(0, 2, lambda _, c: loops.scan(inner, c, numpy.array([1.0, 2.0]))[0], x)

    def until(x):
        shown = jit(lambda c: (debug.print("c = {}", c), 2.0 * c)[1])
        return loops.while_loop(lambda c: (debug.print("?"), c < 8.0)[1], shown, x)

    for f, expected in (
        (looped, ["step 0.0", "step 1.0", "large", "step 2.0", "large"]),
        (nested, ["1.0", "2.0", "1.0", "2.0"]),
        (until, ["?", "c = 2.0", "?", "c = 4.0", "?"]),
    ):
        recorded = jit(transform(f))
        for _ in range(2):
            assert lines(capsys, recorded, 2.0) == expected
        found = lines(capsys, transform(f), 2.0)  # on numbers, the counter is an int
        assert [line.replace(".0", "") for line in found] == [line.replace(".0", "") for line in expected]
        assert lines(capsys, vmap(transform(f)), numpy.array([2.0])) == expected


def test_prints_without_use_of_the_result(capsys):
    def f(x):
        debug.print("hello")
        debug.print("square {}", x * x)
        return 1.0 + x

    for transform in (lambda f: f, *DERIVATIVES):
        assert lines(capsys, jit(transform(f)), 2.0) == ["hello", "square 4.0"]
    assert lines(capsys, jit(lambda: debug.print("now") or 1.0)) == ["now"]


def test_branches_checkpoints_and_rules(capsys):
    @jit
    def branching(x):
        if x > 0:
            debug.print("positive {}", x)
            return x
        debug.print("negative {}", x)
        return -x

    for x in (1.0, -1.0, 2.0, -2.0):
        sign = "positive" if x > 0 else "negative"
        assert lines(capsys, branching, x) == [f"{sign} {x}"]
    block = checkpoint(wave)
    assert len(lines(capsys, jit(block), 1.0)) == 1
    assert len(lines(capsys, jit(lambda x: loops.fori_loop(0, 2, lambda _, c: block(c), x)), 1.0)) == 2
    ruled = custom_jvp(wave)
    ruled.defjvp(lambda primals, tangents: (ruled(*primals), gm.cos(primals[0]) * tangents[0]))
    assert len(lines(capsys, jit(lambda x: loops.fori_loop(0, 2, lambda _, c: ruled(c), x)), 1.0)) == 2
    looped = jit(grad(lambda x: loops.fori_loop(0, 2, lambda _, c: block(ruled(c)), x)))
    assert len(lines(capsys, looped, 1.0)) == 4


SEEN = []
LARGE = numpy.arange(5000.0)


def see(x):
    debug.callback(SEEN.append, x)


def seen_sine(x):
    see(x)
    return gm.sin(x) * x


jitted_sine, sine_block = jit(seen_sine), checkpoint(seen_sine)
ruled_sine = custom_jvp(seen_sine)
ruled_sine.defjvp(lambda primals, tangents: (ruled_sine(*primals), gm.cos(primals[0]) * tangents[0]))
sine_of_rules = custom_vjp(seen_sine)
sine_of_rules.defvjp(lambda x: (sine_of_rules(x), x), lambda x, cotangent: (gm.cos(x) * cotangent,))


def branching(x, y):
    if x > 0:
        see(x)
    return x * y


# Functions of two numbers, and how many calls a run makes.
SEEING = {
    "direct": (lambda x, y: see(x) or y * y + x, 1),
    "branch of one argument": (lambda x, y: loops.cond(x > 0, lambda: see(x) or y * y, lambda: y), 1),
    "branch with arrays": (lambda x, y: loops.cond(x > 0, lambda: see(x) or (LARGE * y).sum(), lambda: x), 1),
    "switch": (lambda x, y: gm.cos(loops.switch(1, [lambda: y, lambda: gm.sin(jitted_sine(y)), lambda: x])), 1),
    "branch with a batch": (
        lambda x, y: loops.cond(x > 0, lambda: vmap(lambda a: see(a) or a * y)(LARGE[:3]).sum(), lambda: x),
        3,
    ),
    "Python branch": (branching, 1),
    "jit": (lambda x, y: gm.sin(jitted_sine(y)) * x, 1),
    "jit of a constant": (lambda x, y: x * y + jitted_sine(2.0), 1),
    "checkpoint": (lambda x, y: sine_block(x) * y, 1),
    "custom_jvp": (lambda x, y: ruled_sine(y) * x, 1),
    "grad": (lambda x, y: grad(seen_sine)(y) * x, 1),
    "grad of a constant": (lambda x, y: grad(seen_sine)(1.5) * x * y, 1),
    "jacobian of a constant": (lambda x, y: x * y + jacfwd(lambda v: see(v) or v * v)(LARGE[:2]).sum(), 1),
    "whole array": (lambda x, y: see(y) or (LARGE * y).sum() * x, 1),
    "elements of a whole array": (lambda x, y: see(LARGE * y) or (LARGE * y).sum() * x, 1),
    "loop": (lambda x, y: loops.fori_loop(0, 3, lambda i, c: gm.sin(jitted_sine(c)) * x, y), 3),
    "loop without a carry": (lambda x, y: loops.fori_loop(0, 3, lambda i, c: see(i) or c, ()) or x * y, 3),
    "loop of constants": (lambda x, y: x * y + loops.fori_loop(0, 2, lambda i, c: see(c) or c * 1.5, 2.0), 2),
    "loop whose result is not used": (
        lambda x, y: loops.scan(lambda c, z: (see(z) or c, None), 0.0, LARGE[:2]) and x * y,
        2,
    ),
    "while": (lambda x, y: loops.while_loop(lambda c: c < 10.0, lambda c: see(c) or c * y, x), 4),
    "batch of data": (lambda x, y: vmap(lambda a: see(a) or x * a)(LARGE[:3]).sum() * y, 3),
    "sum over data": (lambda x, y: vmap(lambda a: see(a) or x * a, reduce="sum")(LARGE[:3]) * y, 3),
    "batch with a shared argument": (
        lambda x, y: vmap(lambda a, b: see(a) or a * b, (None, 0))(y, LARGE[:3]).sum() * x,
        3,
    ),
    "batch of loops": (
        lambda x, y: vmap(lambda a: loops.fori_loop(0, 2, lambda i, c: see(c) or c * x * a, y))(LARGE[:3]).sum(),
        6,
    ),
    "batch in a batch": (
        lambda x, y: vmap(lambda a: vmap(lambda b: see(b) or a * b * x)(LARGE[:3]).sum() * y)(LARGE[:3]).sum(),
        9,
    ),
    "long batch": (lambda x, y: vmap(lambda a: see(1.0) or a * y)(LARGE[:1200]).sum() * x, 1200),
    "batch of constants": (lambda x, y: x * y + vmap(seen_sine)(LARGE[:2]).sum(), 2),
}
# Ways of running a function of two numbers.
WAYS = {
    "plain": lambda f: f,
    "jit": jit,
    "grad": grad,
    "grad of y": lambda f: grad(f, 1),
    "jit grad": lambda f: jit(grad(f)),
    "jit grad of y": lambda f: jit(grad(f, 1)),
    "jit value_and_grad": lambda f: jit(value_and_grad(f)),
    "grad jit": lambda f: grad(jit(f)),
    "jvp": lambda f: lambda x, y: jvp(f, (x, y), (1.0, 0.0)),
    "jit jvp": lambda f: jit(lambda x, y: jvp(f, (x, y), (0.0, 1.0))),
    "jit grad grad": lambda f: jit(grad(grad(f, 1), 1)),
    "hessian": hessian,
    "jit hessian": lambda f: jit(hessian(f, (0, 1))),
    "jit jacfwd": lambda f: jit(jacfwd(f)),
    "vmap": lambda f: lambda x, y: vmap(f, (0, None))(numpy.array([x]), y),
    "jit vmap grad": lambda f: jit(lambda x, y: vmap(grad(f, 1), (0, None))(numpy.array([x]), y)),
    "sparse_hessian": lambda f: lambda x, y: sparse_hessian(lambda v: f(v[0], v[1]))(numpy.array([x, y])),
}


@pytest.mark.parametrize(
    ("name", "way"),
    [pair for pair in itertools.product(SEEING, WAYS) if pair != ("Python branch", "sparse_hessian")],  # refused
)
def test_each_call_is_made_once_per_run(name, way):
    f, count = SEEING[name]
    run = WAYS[way](f)
    for _ in range(2):
        SEEN.clear()
        run(2.0, 1.5)
        assert len(SEEN) == count


@pytest.mark.parametrize(
    "way", [jit, grad, lambda f: jit(grad(f)), lambda f: jit(value_and_grad(f)), lambda f: jit(jacfwd(grad(f), 1))]
)
def test_calls_beside_whole_arrays(way):
    def f(x, a):
        see(x[0] * a)
        return (x * x).sum() * a

    run = way(f)
    for a in (2.0, 3.0):
        SEEN.clear()
        run(LARGE + 1.0, a)
        numpy.testing.assert_array_equal(SEEN, [a])


LOOPS_OF_ARRAYS = {
    "fori_loop": lambda x, v: loops.fori_loop(0, 2, lambda i, c: see(i) or c * x, v).sum(),
    "while_loop": lambda x, v: loops.while_loop(
        lambda c: c[0] < 2, lambda c: see(c[0]) or (c[0] + 1, c[1] * x, c[2]), (0.0, x, v)
    )[1],
    "scan": lambda x, v: loops.scan(lambda c, z: (see(z) or c * x, None), v, LARGE[:2])[0].sum(),
}


@pytest.mark.parametrize("way", [jit, grad, lambda f: jit(grad(f)), lambda f: jit(value_and_grad(f)), hessian])
@pytest.mark.parametrize("name", LOOPS_OF_ARRAYS)
def test_calls_in_loops_with_large_arrays(name, way):
    f = LOOPS_OF_ARRAYS[name]
    for run, arguments in ((way(f), (0.4, LARGE)), (way(lambda x: f(x, LARGE)), (0.4,))):
        for _ in range(2):
            SEEN.clear()
            run(*arguments)
            assert list(map(float, SEEN)) == [0.0, 1.0]


def test_calls_beside_arrays_are_made_in_program_order_in_each_run():
    @jit
    def f(x, v):
        for argument in (3.0, v.sum(), x, v[1], 4.0):
            see(argument)
        return x + v.sum()

    for x in (0.4, 0.5):
        SEEN.clear()
        f(x, LARGE)
        numpy.testing.assert_allclose(SEEN, [3.0, LARGE.sum(), x, 1.0, 4.0])
    batched = jit(grad(lambda x: (vmap(seen_sine)(LARGE[:9]), (x * LARGE).sum())[1]))
    for _ in range(2):
        SEEN.clear()
        batched(0.3)
        assert len(SEEN) == 9


def test_arrays_as_results_depend_on_calls():
    doubled = jit(lambda x: see(x[0]) or 2.0 * x)
    for x in (LARGE, LARGE + 1.0):
        SEEN.clear()
        numpy.testing.assert_array_equal(doubled(x), 2.0 * x)
        numpy.testing.assert_array_equal(SEEN, [x[0]])


def test_rules_do_not_repeat_the_calls_of_their_function():
    for way in ("jit", "jit grad", "jit grad of y", "jit value_and_grad", "grad jit", "jit vmap grad"):
        for f in (sine_of_rules, ruled_sine):
            run = WAYS[way](lambda x, y, f=f: f(y) * x)
            SEEN.clear()
            run(2.0, 1.5)
            assert len(SEEN) == 1


def test_callbacks_get_numbers(capsys):
    seen = []

    @jit
    def f(xs):
        debug.callback(lambda *args, **kwargs: seen.append((args, kwargs)), xs, key={"sum": xs.sum(), "n": 3})
        return xs.sum()

    f(numpy.array([1.0, 2.0]))
    [((xs,), keywords)] = seen
    assert xs.tolist() == [1.0, 2.0]
    assert xs.dtype == numpy.float64
    assert keywords == {"key": {"sum": 3.0, "n": 3}}
    with pytest.raises(ProgramError, match=r"debug.callback of <lambda>\(\), a Python function"):
        f.program.to_json()
    with pytest.raises(TypeError, match="callback must be a function, got int"):
        debug.callback(3)
    x = Value(2.0)
    assert lines(capsys, debug.print, "{}", x) == ["2.0"]
    y = jit(wave)(x)
    y.backward()
    assert x.grad == gm.cos(2.0)
    copy.deepcopy(y).backward()


def test_disable_jit(capsys):
    recorded = jit(lambda x: sys.stdout.write(f"{type(x).__name__}\n") and 2.0 * x)
    recorded(1.0)
    with disable_jit():
        assert lines(capsys, recorded, 3.0) == ["float"]
        with disable_jit(False):
            assert lines(capsys, recorded, 3.0) == []
        seen = []
        assert grad(lambda x: loops.fori_loop(0, 2, lambda i, c: seen.append(i) or c * x, x))(2.0) == 12.0
        assert seen == [0, 1]
        assert vmap(lambda x: loops.fori_loop(0, 2, lambda i, c: c * x, x))(numpy.array([2.0])) == [8.0]
    assert lines(capsys, recorded, 3.0) == []
    assert disable_jit()(recorded)(3.0) == 6.0


def test_eval_shape_is_as_in_jax():
    def f(x, y, *, z):
        return {"product": x @ y, "pair": (z, x.sum())}

    shape = ShapeDtypeStruct((3, 4))
    found = eval_shape(f, numpy.ones((2, 3)), shape, z=1.0)
    expected = jax.eval_shape(f, jnp.ones((2, 3)), jax.ShapeDtypeStruct((3, 4), jnp.float64), z=1.0)
    as_ours = jax.tree.map(lambda leaf: ShapeDtypeStruct(leaf.shape, leaf.dtype), expected)
    assert found == as_ours
    assert repr(found["product"]) == "ShapeDtypeStruct(shape=(2, 4), dtype=float64)"
    assert (shape.ndim, shape.size) == (2, 12)
    assert len({shape, ShapeDtypeStruct((3, 4))}) == 1
    with pytest.raises(RecordingError, match="branch"):
        eval_shape(lambda x: x if x > 0 else -x, 1.0)
    with pytest.raises(TypeError, match="takes a function, not int"):
        eval_shape(3)


def test_pure_callback():
    shape = {"sorted": ShapeDtypeStruct((3,)), "top": 0.0}

    def f(xs, scale):
        found = pure_callback(lambda xs, k: {"sorted": numpy.sort(xs), "top": k * xs.max()}, shape, xs, k=scale)
        return found["sorted"][1] + found["top"]

    xs = numpy.array([3.0, 1.0, 2.0])
    recorded = jit(f)
    for x in (xs, -xs, xs + 1.0):
        expected = float(numpy.sort(x)[1] + 2.0 * x.max())
        assert f(x, 2.0) == recorded(x, 2.0) == expected
        assert vmap(f, (0, None))(numpy.stack([x, 2.0 * x]), 2.0).tolist() == [expected, f(2.0 * x, 2.0)]
    assert grad(lambda x: x[0] * f(stop_gradient(x), 1.0))(xs)[0] == 5.0
    for g in (grad(f), jit(grad(f)), jacfwd(f)):
        with pytest.raises(TypeError, match="which has no derivative: call it in a function of custom_jvp"):
            g(xs, 1.0)
    with pytest.raises(TypeError, match="which has no derivative"):
        f(numpy.array([Value(1.0), 2.0, 3.0], dtype=object), 1.0).backward()
    with no_grad():
        assert f(numpy.array([Value(1.0), 2.0, 3.0], dtype=object), 1.0).data == 5.0
    with pytest.raises(TypeError, match=r"must return a number, the structure in result_shape_dtypes, got an array"):
        pure_callback(lambda x: numpy.ones(2), 0.0, 1.0)
    ruled = custom_jvp(lambda x: pure_callback(numpy.sin, 0.0, x))
    ruled.defjvp(lambda primals, tangents: (ruled(*primals), gm.cos(primals[0]) * tangents[0]))
    assert jit(hessian(ruled))(0.5) == pytest.approx(-gm.sin(0.5))


def test_eval_shape_gives_types():
    found = eval_shape(lambda x: {"is": x > 1.0, "n": 3, "z": 1j * x, "text": "text"}, 1.0)
    assert {name: getattr(leaf, "dtype", leaf) for name, leaf in found.items()} == {
        "is": numpy.bool_,
        "n": numpy.int64,
        "z": numpy.complex128,
        "text": "text",
    }
