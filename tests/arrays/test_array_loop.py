"""Loops with whole arrays, compared with the same loops on numbers, to third derivatives, and with JAX."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from references import jax, jnp
from whole_arrays import WAYS, calls_of, compare_with_numbers, flat, x

from gradwalk import RecordingError, debug, debug_nans, grad, jit, loops, math, vmap
from gradwalk import numpy as gnp
from gradwalk.arrays import array_loop
from gradwalk.arrays.array_loop import ArrayLoop, ArrayLoopVjp
from gradwalk.arrays.run.array_program import ArrayProgram

GENERATOR = numpy.random.default_rng(5)
WEIGHTS = numpy.arange(12.0)
ROWS = GENERATOR.normal(size=(3, 12))


def diffused(a: Any, x: Any) -> Any:
    def step(i: Any, u: Any) -> Any:
        left, right = numpy.concatenate([u[1:], u[:1]]), numpy.concatenate([u[-1:], u[:-1]])
        return u + 0.1 * a * (left - 2 * u + right)

    return (loops.fori_loop(0, 5, step, x) ** 2 * WEIGHTS).sum()


def loop_in_loop(a: Any, x: Any) -> Any:
    def outer(i: Any, c: Any) -> Any:
        inner = loops.fori_loop(0, 2, lambda k, d: d * 0.5 + (x * d).mean() * a + (x * c).mean(), c)
        return c + 0.1 * inner

    return loops.fori_loop(0, 3, outer, a)


def descended(a: Any, x: Any) -> Any:
    def objective(t: Any, x: Any) -> Any:
        return 0.5 * numpy.log(1 + numpy.exp(x * t)).mean() + 0.1 * t**4 * a

    return loops.fori_loop(0, 3, lambda i, t: t - 0.3 * grad(objective)(t, x), a)


def scaled_in_place(a: Any, x: Any) -> Any:
    def step(i: Any, u: Any) -> Any:
        u *= a
        u += x
        return u

    start = x * 1.0
    return (loops.fori_loop(0, 3, step, start) * start).sum()


def ended_by_an_array(checkpoint: Any, max_steps: int | None) -> Callable[..., Any]:
    def f(a: Any, x: Any) -> Any:
        c, u = loops.while_loop(
            lambda carry: (carry[1] * carry[1]).sum() > 0.03,
            lambda carry: (carry[0] + carry[1].mean() ** 2, 0.6 * numpy.sin(carry[1])),
            (a, x),
            checkpoint=checkpoint,
            max_steps=max_steps,
        )
        return c * (u * u).sum()

    return f


def stepped(checkpoint: Any) -> Callable[..., Any]:
    def step(a: Any, u: Any) -> Any:
        return u + 0.1 * a * numpy.sin(u)

    return lambda a, x: (loops.fori_loop(0, 7, lambda i, u: step(a, u), x, checkpoint=checkpoint) ** 2).sum()


def scanned(a: Any, x: Any) -> Any:
    def step(carry: Any, t: Any) -> Any:
        c, u = carry
        return (c + (u * t).mean(), u * numpy.sin(c)), c * t

    (c, u), ys = loops.scan(step, (a, x), numpy.array([0.1, 0.2, 0.3]))
    return c + (ys**2).sum() + (u**2).mean()


def trajectory(a: Any, x: Any) -> Any:
    last, states = loops.scan(lambda u, t: (numpy.sin(u) * a + t, u * u), x, numpy.array([0.1, 0.2, 0.3]))
    assert states.shape == (3, 12)
    return (states[0] * states[2] * last).sum() + (states**2).sum()


def coupled(a: Any, x: Any) -> Any:
    total, u = loops.fori_loop(
        0, 3, lambda i, c: (c[0] + (c[1] * x).sum(), numpy.cos(c[1]) * a + 0.1 * c[0] + i), (a, x)
    )
    return total + u.sum()


def matrices(a: Any, x: Any) -> Any:
    m = x.reshape(4, 3)
    u = loops.fori_loop(0, 3, lambda i, u: numpy.sin(u) * a + m.T @ (m @ u), m.T @ numpy.full(4, 0.1))
    return (u**2).sum() + (loops.fori_loop(0, 2, lambda i, v: v * a + v.mean(axis=0) + i, m) ** 2).sum()


WHOLE: dict[str, Callable[..., Any]] = {
    "constants": lambda a, x: loops.fori_loop(0, 4, lambda i, c: 0.5 * c + (numpy.sin(x * c) * a).mean() + i, a),
    "carry": lambda a, x: (loops.fori_loop(0, 3, lambda i, u: u + 0.1 * a * numpy.sin(u), x) ** 2).sum(),
    "numbers and arrays": coupled,
    "neighbors": diffused,
    "matrices": matrices,
    "scan": scanned,
    "rows of an array": lambda a, x: loops.scan(lambda c, t: (c + (x * t * c).mean(), c * t), a, x[:3])[0],
    "arrays as xs": lambda a, x: (
        loops.scan(lambda u, row: (u * a + numpy.sin(row * u), None), x, numpy.stack([x, x * a, -x]))[0] ** 2
    ).sum(),
    "constant arrays as xs": lambda a, x: (
        loops.scan(lambda u, row: (u * a + numpy.sin(row[0] * u), row[1]), x, (ROWS, ROWS[:, 0]))[0] ** 2
    ).sum(),
    "arrays as ys": trajectory,
    "arrays as ys, in reverse": lambda a, x: (
        loops.scan(lambda u, t: (u * a + t, (u, t * a)), x, numpy.arange(3.0), reverse=True)[1][0][1] ** 2
    ).sum(),
    "while": lambda a, x: loops.while_loop(
        lambda c: c * c * (x * x).mean() > 0.01, lambda c: 0.5 * c * numpy.cos(x * c).mean(), a
    ),
    "no step": lambda a, x: (loops.while_loop(lambda u: u[0] > 1e9, lambda u: 2 * u, x) * a).sum(),
    "loop in a loop": loop_in_loop,
    "gradient in a loop": descended,
    "unchanged": lambda a, x: (
        loops.fori_loop(0, 3, lambda i, c: (c[0] + c[1].mean(), c[1]), (a, x))[1] ** 2 * a
    ).sum(),
    "swapped": lambda a, x: numpy.prod(
        [(u * x).sum() for u in loops.fori_loop(0, 3, lambda i, c: (c[1], c[0] * a), (x, 2 * x))]
    ),
    "from zeros": lambda a, x: (loops.fori_loop(0, 3, lambda i, u: 0.5 * u + x * a, numpy.zeros(12)) ** 2).sum(),
    "in place": scaled_in_place,
    "where": lambda a, x: loops.fori_loop(0, 3, lambda i, u: gnp.where(u > 0, u * a, -u * x), x).sum(),
    "maximum and sort": lambda a, x: loops.fori_loop(
        0, 3, lambda i, c: c + 0.1 * (x * a).max() + gnp.sort(x * c)[2], a
    ),
    "vmap in a loop": lambda a, x: loops.fori_loop(
        0, 3, lambda i, c: 0.5 * c + vmap(lambda t: numpy.sin(c * t) * a)(x).mean(), a
    ),
    **{f"checkpoint={policy}": stepped(policy) for policy in (None, "sqrt", "binomial", 1, 2, 3)},
    **{f"while, checkpoint={policy}": ended_by_an_array(policy, None) for policy in (None, "binomial", 2)},
    "while, max_steps": ended_by_an_array("sqrt", 50),
}
OTHERS: dict[str, Callable[..., Any]] = {
    "elements": lambda a, x: loops.fori_loop(0, 3, lambda i, u: numpy.array([u[0] * a, *u[1:]]) * 1.1, x).sum(),
    "cond": lambda a, x: loops.fori_loop(
        0, 3, lambda i, c: loops.cond(c > 0, lambda: 0.5 * c + (x * a).mean(), lambda: c * c + 0.1 * x.sum()), a
    ),
    "int in the carry": lambda a, x: loops.fori_loop(0, 3, lambda i, c: (c[0] + 1, c[1] * a), (0, x))[1].sum() * x[0],
    "loop in a vmap": lambda a, x: vmap(
        lambda t: loops.fori_loop(0, 3, lambda i, c: 0.5 * c + (x * t * c).mean() * a, t)
    )(x[:2]).sum(),
    "printed": lambda a, x: loops.fori_loop(0, 3, lambda i, c: [c + (x * c).mean(), debug.print("{c}", c=c)][0], a),
}


@pytest.mark.parametrize("name", WHOLE | OTHERS)
def test_loops_with_arrays_agree_with_loops_on_numbers(name, monkeypatch, capsys):
    compare_with_numbers((WHOLE | OTHERS)[name], monkeypatch)


@pytest.mark.parametrize("name", WHOLE)
def test_arrays_stay_whole(name, whole):
    value, gradient = jit(WHOLE[name]), jit(grad(WHOLE[name], (0, 1)))
    value(0.7, x), gradient(0.7, x)
    assert set(calls_of(value, ArrayLoop, ArrayLoopVjp)) == {ArrayLoop}
    assert ArrayLoopVjp in calls_of(gradient, ArrayLoopVjp)


@pytest.mark.parametrize("name", WHOLE)
def test_programs_of_numbers_agree(name, whole):
    recorded = jit(grad(WHOLE[name], (0, 1)))
    expected = flat(recorded(0.7, x))
    program = recorded.latest.of_numbers
    numpy.testing.assert_allclose(program.run(numpy.array([0.7, *x])), expected, rtol=1e-9, atol=1e-11)


def test_descent_on_large_data_agrees_with_jax():
    samples = GENERATOR.normal(size=(20_000, 3))
    labels = (GENERATOR.random(20_000) < 0.5) * 1.0

    def fitted(np: Any, gradient_of: Any, repeat: Any) -> Callable[..., Any]:
        def loss(w: Any, samples: Any, labels: Any) -> Any:
            z = samples @ w
            return (np.log1p(np.exp(-z)) + (1 - labels) * z).mean()

        slope = gradient_of(loss)
        return lambda w, samples, labels: repeat(0, 20, lambda i, w: w - 0.5 * slope(w, samples, labels), w)

    ours = jit(fitted(numpy, grad, loops.fori_loop))
    theirs = jax.jit(fitted(jnp, jax.grad, jax.lax.fori_loop))
    start = numpy.ones(3)
    found = ours(start, samples, labels)
    numpy.testing.assert_allclose(found, theirs(start, samples, labels), rtol=1e-9)
    numpy.testing.assert_array_equal(found, ours(start, samples, labels))
    assert isinstance(ours.latest.program, ArrayProgram)
    assert ours.statistics.instructions < 300

    total = jit(grad(lambda w, *data: ours(w, *data).sum()))
    known = jax.jit(jax.grad(lambda w, *data: theirs(w, *data).sum()))
    numpy.testing.assert_allclose(total(start, samples, labels), known(start, samples, labels), rtol=1e-8)


def test_steps_that_do_not_run_contribute_no_nan(whole):
    f = lambda a, x: loops.while_loop(lambda c: c < 0, lambda c: c + 10 + numpy.sqrt(x).sum(), a) * a  # noqa: E731
    gradient = jit(grad(f, (0, 1)))
    of_a, of_x = gradient(2.0, -abs(x))
    assert of_a == 4.0
    numpy.testing.assert_array_equal(of_x, numpy.zeros(12))
    second = jit(grad(lambda a, x: (grad(f, 1)(a, x) ** 2).sum() + grad(f)(a, x), (0, 1)))
    of_a, of_x = second(2.0, -abs(x))
    assert of_a == 2.0
    numpy.testing.assert_array_equal(of_x, numpy.zeros(12))


def test_too_many_steps(whole):
    recorded = jit(ended_by_an_array(None, 2))
    with pytest.raises(ValueError, match="the condition still holds after max_steps=2 steps"):
        recorded(0.7, x)
    assert recorded(0.7, x / 1000) == pytest.approx(0.7 * ((x / 1000) ** 2).sum())


def test_steps_see_their_own_numbers_only(whole):
    seen: list[Any] = []

    def step(i: Any, u: Any) -> Any:
        seen.append(u)
        return u * 2

    jit(lambda x: loops.fori_loop(0, 3, step, x))(x)
    with pytest.raises(RecordingError, match="after the recording of its function has ended"):
        jit(lambda y: (y * seen[0]).sum())(x)


def test_operands_and_results_do_not_share_memory(whole):
    given = x.copy()
    recorded = jit(lambda x: (loops.while_loop(lambda u: u[0] > 1e9, lambda u: u * 2, x), x))
    for _ in range(2):
        first, second = recorded(given)
        first[:] = 0.0
        numpy.testing.assert_array_equal(second, x)
        numpy.testing.assert_array_equal(given, x)


@pytest.mark.parametrize(("checkpoint", "most"), [(None, 60), ("sqrt", 24), ("binomial", 12), (1, 9)])
def test_checkpoints_limit_the_carries_that_are_kept(checkpoint, most, whole, monkeypatch):
    alive: list[weakref.ref[Any]] = []
    peak = 0
    original = ArrayLoop.after

    class Tracked(numpy.ndarray):
        pass

    def after(self: ArrayLoop, step: int, carry: Any, operands: Any) -> Any:
        nonlocal peak
        following, of_step = original(self, step, carry, operands)
        [made] = [u.copy().view(Tracked) for u in following]
        alive[:] = [*(one for one in alive if one() is not None), weakref.ref(made)]
        peak = max(peak, len(alive))
        return [made], of_step

    def f(x: Any) -> Any:
        return (loops.fori_loop(0, 50, lambda i, u: numpy.sin(u), x, checkpoint=checkpoint) ** 2).sum()

    expected = grad(f)(x)
    recorded = jit(grad(f))
    recorded(x)
    gc.collect()
    monkeypatch.setattr(array_loop.ArrayLoop, "after", after)
    numpy.testing.assert_allclose(recorded(x), expected, rtol=1e-9)
    assert peak <= most


def test_nans_are_found_in_loops(whole):
    with debug_nans(), pytest.raises(FloatingPointError):
        jit(lambda x: loops.fori_loop(0, 3, lambda i, u: u + gnp.log(x - 100.0), x).sum())(x)


def test_carries_of_python_loops_stay_whole(whole):
    recorded = jit(lambda x: math.logsumexp(loops.fori_loop(0, 3, lambda i, u: u * 2, x, unroll=True)))
    recorded(x)
    assert isinstance(recorded.latest.program, ArrayProgram)
    assert len(recorded.latest.program) < 20


def test_arrays_of_another_shape_are_refused(whole):
    with pytest.raises(TypeError, match="as the next carry"):
        jit(lambda x: loops.fori_loop(0, 3, lambda i, u: u[1:], x))(x)


def used_by_element(a: Any, x: Any) -> Any:
    u, c, _ = loops.while_loop(
        lambda c: c[2] < 3, lambda c: (1.1 * c[0], c[1] * a + 0.1 * x[[0, 3]].sum(), c[2] + 1), (x, 2 * x, 0)
    )
    return (u * c).sum()


def constant_array_in_a_loop(a: Any, x: Any) -> Any:
    def step(c: Any) -> Any:
        return c + 1.0 + 0.1 * gnp.sum(loops.fori_loop(0, 2, lambda i, z: z + c * a, numpy.zeros(12)))

    return loops.while_loop(lambda c: c < 3.0, step, a) * x[0]


def numbers_for_all_rows(a: Any, x: Any) -> Any:
    total = loops.fori_loop(0, 2, lambda i, c: c + vmap(lambda t: c * a)(x).mean(), a)
    other = loops.cond(a > 0, lambda: vmap(lambda t: a)(x).sum(), lambda: 2 * a)
    last = loops.while_loop(lambda c: vmap(lambda t: c)(x).mean() < 3, lambda c: c + 1, a)
    return total * other * last * x[0]


@pytest.mark.parametrize("f", [used_by_element, constant_array_in_a_loop, numbers_for_all_rows])
def test_parts_whose_arrays_differ(f, monkeypatch):
    compare_with_numbers(f, monkeypatch, sizes=(1, 12))


def test_constant_arrays_in_a_loop_of_numbers():
    def step(s: Any) -> Any:
        return s + 1.0 + gnp.sum(loops.fori_loop(0, 2, lambda i, z: z + s, numpy.zeros(10_000)))

    recorded = jit(lambda s: loops.while_loop(lambda s: s < 3.0, step, s))
    assert recorded(0.5) == 0.5 + 1.0 + 10_000.0


@pytest.mark.parametrize("way", ["value", "gradient"])
def test_calls_do_not_keep_more_and_more_memory(way, whole):
    recorded = WAYS[way](lambda a, x: loops.fori_loop(0, 5, lambda i, u: numpy.sin(u) * a * x, x).sum())
    for _ in range(3):
        recorded(0.7, x)
    kept = bytes_kept(recorded)
    for _ in range(5):
        recorded(0.7, x)
    assert bytes_kept(recorded) == kept


def bytes_kept(recorded: Any) -> int:
    """Return the size of all arrays that a recorded function keeps for later calls."""
    programs = [recorded.latest.program]
    for step in recorded.latest.program._steps:
        call = getattr(step, "call", None)
        programs += [call._step] if isinstance(call, (ArrayLoop, ArrayLoopVjp)) else []
    return sum(array.nbytes for one in programs for free in one._buffers._free.values() for array in free)
