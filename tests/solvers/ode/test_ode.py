"""Tests of odeint against closed forms, SciPy and JAX; stiff equations against tight tolerances."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import numpy
import pytest
from every_way import in_every_way
from hypothesis import given, settings
from hypothesis import strategies as st
from references import jax, jnp
from scipy.integrate import solve_ivp

from gradwalk import (
    RecordingError,
    Value,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    loops,
    math,
    value_and_grad,
    vmap,
)
from gradwalk.solvers import odeint, root_scalar

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def damped(y: Any, t: Any, rate: Any) -> Any:
    return -rate * y * (1.0 + 0.1 * t)


def damped_in_jax(start: Any, begin: Any, end: Any, rate: Any) -> Any:
    return start * jnp.exp(-rate * (end - begin + 0.05 * (end * end - begin * begin)))


CASES: dict[str, tuple[Any, Any]] = {
    "a start and a rate": (
        lambda a, b: odeint(damped, a, [0.0, 1.0], b, **TIGHT)[-1],
        lambda a, b: damped_in_jax(a, 0.0, 1.0, b),
    ),
    "first and last times": (
        lambda a, b: odeint(damped, 2.0, [0.1 * a, b], 0.5, **TIGHT)[1],
        lambda a, b: damped_in_jax(2.0, 0.1 * a, b, 0.5),
    ),
    "several times": (
        lambda a, b: (odeint(damped, a, [0.0, 0.2 * a, b, b + 1.0], 0.5, **TIGHT)[[0, 1, 3]] ** 2).sum(),
        lambda a, b: a * a + damped_in_jax(a, 0.0, 0.2 * a, 0.5) ** 2 + damped_in_jax(a, 0.0, b + 1.0, 0.5) ** 2,
    ),
    "back in time": (
        lambda a, b: odeint(damped, a, [b, 0.5, 0.0], 0.3, **TIGHT)[2],
        lambda a, b: damped_in_jax(a, b, 0.0, 0.3),
    ),
    "captured variables": (
        lambda a, b: odeint(lambda y, t: [y[1] * b, -y[0] * b], [a, 0.0], [0.0, 1.0], **TIGHT)[0][-1],
        lambda a, b: a * jnp.cos(b),
    ),
    "an argument that is not used": (
        lambda a, b: a * odeint(lambda y, t, b, c: c * y, 1.0, [0.0, 1.0], b, 2, **TIGHT)[-1] * b,
        lambda a, b: a * b * jnp.exp(2.0),
    ),
    "one time": (lambda a, b: odeint(damped, a, [0.0], b)[0] * b, lambda a, b: a * b),
    "a dict and arguments in one": (
        lambda a, b: odeint(
            lambda y, t, p: {"x": y["v"], "v": -p["k"] * y["x"]}, {"v": 0.0, "x": a}, [0.0, 1.0], {"k": b}, **TIGHT
        )["x"][-1],
        lambda a, b: a * jnp.cos(jnp.sqrt(b)),
    ),
    "a root in the field": (
        lambda a, b: odeint(
            lambda y, t: -root_scalar(lambda x: x * x * x - b * y * y * y, x0=1.0), a, [0.0, 1.0], **TIGHT
        )[-1],
        lambda a, b: a * jnp.exp(-jnp.cbrt(b)),
    ),
    "in a root": (
        lambda a, b: root_scalar(lambda r: odeint(lambda y, t: -r * y, a, [0.0, 1.0], **TIGHT)[-1] - 1.0 / b, x0=0.5),
        lambda a, b: jnp.log(a * b),
    ),
    "in a loop": (
        lambda a, b: loops.fori_loop(0, 2, lambda i, y: odeint(damped, y, [0.0, 1.0], b, **TIGHT)[-1], a),
        lambda a, b: damped_in_jax(damped_in_jax(a, 0.0, 1.0, b), 0.0, 1.0, b),
    ),
    "an order of one": (
        lambda a, b: odeint(lambda y, t, b: math.sin(b * t) + 0.0 * y, a, [0.0, 1.0], b, **TIGHT)[-1],
        lambda a, b: a + (1.0 - jnp.cos(b)) / b,
    ),
    **{
        method: (
            lambda a, b, method=method: odeint(damped, a, [0.0, 0.3, 1.0], b, method=method, **TIGHT)[-1] * a,
            lambda a, b: damped_in_jax(a, 0.0, 1.0, b) * a,
        )
        for method in ("DOP853", "LSODA")
    },
    **{
        method: (
            lambda a, b, method=method: odeint(damped, a, [0.0, 0.3, 1.0], b, method=method, rtol=1e-6)[-1] * a,
            lambda a, b: damped_in_jax(a, 0.0, 1.0, b) * a,
        )
        for method in ("RK23", "Radau", "BDF")
    },
}


@pytest.mark.parametrize("name", CASES)
def test_two_derivatives_in_every_transform(name):
    f, in_jax = CASES[name]
    in_every_way(f, in_jax, 2.0, 0.7, tolerance=1e-4 if name in ("RK23", "Radau", "BDF") else 1e-7)


def lotka(np: Any, y: Any, t: Any, p: Any) -> Any:
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]])


TIMES = numpy.linspace(0.0, 3.0, 5)


@functools.cache
def lotka_in_jax() -> Any:
    from jax.experimental.ode import odeint as in_jax  # noqa: PLC0415  JAX is optional

    def loss(start: Any, p: Any) -> Any:
        found = in_jax(functools.partial(lotka, jnp), start, TIMES, p, rtol=1e-10, atol=1e-10)
        return (found**2).sum()

    return jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))


LOTKA = jit(lambda start, p: (odeint(functools.partial(lotka, numpy), start, TIMES, p, **TIGHT) ** 2).sum())
LOTKA_GRADIENT = jit(
    grad(
        lambda start, p: (odeint(functools.partial(lotka, numpy), start, TIMES, p, **TIGHT) ** 2).sum(), argnums=(0, 1)
    )
)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0.5, 2.0), min_size=6, max_size=6))
def test_gradients_match_jax(numbers):
    jax.config.update("jax_enable_x64", True)
    start, p = numpy.array(numbers[:2]), numpy.array(numbers[2:])
    value, gradient = lotka_in_jax()(start, p)
    assert LOTKA(start, p) == pytest.approx(float(value), rel=1e-7)
    for found, expected in zip(LOTKA_GRADIENT(start, p), gradient, strict=True):
        scale = float(jnp.max(jnp.abs(expected)))
        numpy.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * scale)


@functools.cache
def exponential_in_jax() -> Any:
    expm = jax.scipy.linalg.expm
    return jax.jit(lambda m, y: expm(m) @ y), jax.jit(jax.jacobian(lambda m, y: expm(m) @ y, argnums=(0, 1)))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_linear_systems_match_matrix_exponentials(seed):
    random = numpy.random.default_rng(seed)
    matrix, start = random.normal(size=(3, 3)), random.normal(size=3)
    value, derivatives = exponential_in_jax()

    def last(matrix: Any, start: Any) -> Any:
        return odeint(lambda y, t, m: m @ y, start, [0.0, 1.0], matrix, **TIGHT)[-1]

    numpy.testing.assert_allclose(last(matrix, start), value(matrix, start), atol=1e-8)
    slopes = derivatives(matrix, start)
    for derivative in (jacobian, jacfwd):
        for found, known in zip(derivative(last, (0, 1))(matrix, start), slopes, strict=True):
            numpy.testing.assert_allclose(found, known, atol=1e-7)
    values = numpy.array([Value(x) for x in start.tolist()])
    last(matrix, values)[0].backward()
    numpy.testing.assert_allclose([v.grad for v in values], slopes[1][0], atol=1e-7)


def robertson(y: Any, t: Any, a: Any, b: Any, c: Any) -> Any:
    return [-a * y[0] + b * y[1] * y[2], a * y[0] - b * y[1] * y[2] - c * y[1] * y[1], c * y[1] * y[1]]


RATES = (0.04, 1e4, 3e7)


def remaining(*rates: Any, method: str, rtol: float) -> Any:
    """Return how much of the first substance remains in Robertson's reaction."""
    return odeint(robertson, [1.0, 0.0, 0.0], [0.0, 4.0, 40.0], *rates, method=method, rtol=rtol, atol=1e-12)[0][-1]


@functools.cache
def robertson_differences() -> Any:
    """Compute derivatives with respect to the logarithm of each rate from differences of tight SciPy solutions."""

    def scipy_remaining(rates: Any) -> float:
        found = solve_ivp(
            lambda t, y: robertson(y, t, *rates), (0.0, 40.0), [1.0, 0.0, 0.0], "Radau", rtol=1e-12, atol=1e-14
        )
        return float(found.y[0, -1])

    slopes = []
    for i, rate in enumerate(RATES):
        up, down = list(RATES), list(RATES)
        up[i], down[i] = rate * 1.001, rate * 0.999
        slopes.append((scipy_remaining(up) - scipy_remaining(down)) / 0.002)
    return numpy.array(slopes)


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_derivatives_of_stiff_equations_in_both_modes(method):
    f = functools.partial(remaining, method=method, rtol=1e-8)
    leaves = [Value(rate) for rate in RATES]
    f(*leaves).backward()
    for found in (grad(f, (0, 1, 2))(*RATES), jacfwd(f, (0, 1, 2))(*RATES), [leaf.grad for leaf in leaves]):
        numpy.testing.assert_allclose(numpy.array(found) * RATES, robertson_differences(), rtol=1e-5)


def test_second_derivatives_of_a_stiff_equation():
    f = functools.partial(remaining, method="Radau", rtol=1e-9)
    second = numpy.array(hessian(f, (0, 1, 2))(*RATES)) * numpy.outer(RATES, RATES)
    for i, rate in enumerate(RATES):
        up, down = list(RATES), list(RATES)
        up[i], down[i] = rate * 1.001, rate * 0.999
        slope = numpy.array([grad(f, (0, 1, 2))(*rates) for rates in (up, down)])
        numpy.testing.assert_allclose(second[i], (slope[0] - slope[1]) / 0.002 * RATES, rtol=1e-3, atol=1e-6)


def test_structures_and_shapes():
    start = {"x": numpy.array([[1.0, 2.0]]), "v": 3.0}
    found = odeint(lambda y, t: {"x": 0.0 * y["x"] + y["v"], "v": 0.0 * y["v"]}, start, [0.0, 1.0, 2.0])
    assert found["x"].shape == (3, 1, 2)
    assert found["v"].tolist() == [3.0, 3.0, 3.0]
    numpy.testing.assert_allclose(found["x"][2], [[7.0, 8.0]])
    values = odeint(lambda y, t: y, numpy.array([Value(1.0), Value(2.0)]), [0.0, 1.0])
    assert values.shape == (2, 2)
    assert values.dtype == object


OTHER_STRUCTURES = {
    "a list for a dict": ([1.0, 0.0], {"x": 0.0, "v": 0.0}, r"must return the structure of y0, \{.*, got \["),
    "other keys": ({"x": 1.0, "typo": 0.0}, {"x": 0.0, "v": 0.0}, "typo"),
    "another shape": (
        numpy.ones((3, 2)),
        numpy.zeros((2, 3)),
        r"the structure of y0, an array of .*, got an array of shape \(3, 2\)",
    ),
}


@pytest.mark.parametrize("name", OTHER_STRUCTURES)
def test_field_of_another_structure_raises(name):
    result, start, message = OTHER_STRUCTURES[name]
    for solve in (odeint, jit(odeint, static_argnums=0)):
        with pytest.raises(TypeError, match=message):
            solve(lambda y, t: result, start, [0.0, 1.0])


def test_field_may_return_lists_instead_of_arrays():
    for kind in (list, tuple, numpy.array):
        found = odeint(lambda y, t, kind=kind: kind([y[1], 0.0 * y[0]]), numpy.array([0.0, 1.0]), [0.0, 2.0])
        numpy.testing.assert_allclose(found, [[0.0, 1.0], [2.0, 1.0]])


def test_field_is_traced_once():
    calls = []

    def field(y: Any, t: Any, rate: Any) -> Any:
        calls.append(y)
        return -rate * y

    solve = jit(grad(lambda rate: odeint(field, 1.0, [0.0, 1.0], rate)[-1]))
    for rate in (0.5, 1.0, 2.0):
        assert solve(rate) == pytest.approx(-numpy.exp(-rate), rel=1e-6)
    assert len(calls) == 1
    in_batch = vmap(lambda rate: odeint(field, 1.0, [0.0, 1.0], rate)[-1])(numpy.array([0.5, 1.0]))
    numpy.testing.assert_allclose(in_batch, numpy.exp([-0.5, -1.0]), rtol=1e-6)


def test_programs_with_odeint_can_be_pickled():
    recorded = jit(grad(lambda rate: odeint(damped, 1.0, [0.0, 1.0], rate)[-1]))
    expected = recorded(0.5)
    assert pickle.loads(pickle.dumps(recorded.program)).run([0.5]).tolist() == [expected]


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau"])
def test_diverging_solutions_raise(method):
    with pytest.raises(
        RuntimeError, match=rf"odeint with method '{method}' stopped at t = [01][.\d]* of 2: .*may diverge"
    ):
        odeint(lambda y, t: y * y, 1.0, [0.0, 2.0], method=method)


def test_invalid_arguments_raise():
    with pytest.raises(ValueError, match="must return 2 numbers, as many as there are unknowns, got 1"):
        odeint(lambda y, t: y[0], [1.0, 2.0], [0.0, 1.0])
    for method in ("RK45", "BDF"):
        with pytest.raises(
            ValueError, match=r"t of odeint must be in ascending or descending order, got \[0.0, 1.0, 1.0, 0.5\]"
        ):
            odeint(lambda y, t: y, 1.0, [0.0, 1.0, 1.0, 0.5], method=method)
    with pytest.raises(ValueError, match="`method` must be one of"):
        odeint(lambda y, t: y, 1.0, [0.0, 1.0], method="Euler")
    with pytest.raises(RecordingError, match="branches on"):
        odeint(lambda y, t: y if y > 0 else -y, 1.0, [0.0, 1.0])


@pytest.mark.parametrize("method", ["RK45", "DOP853", "BDF"])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"atol": -1.0}, "atol must be >= 0, got -1.0"),
        ({"rtol": -1}, "rtol must be >= 0, got -1"),
        ({"rtol": numpy.nan}, "rtol must be >= 0, got nan"),
        ({"hmax": 0}, "hmax must be > 0, got 0"),
        ({"hmax": numpy.nan}, "hmax must be > 0, got nan"),
    ],
)
def test_invalid_tolerances_raise(method, settings, message):
    def solved(start: Any) -> Any:
        return odeint(lambda y, t: -y, start, [0.0, 1.0], method=method, **settings)

    for solve in (solved, jit(solved), vmap(solved)):
        with pytest.raises(ValueError, match=message):
            solve(numpy.ones(1))


def test_tolerances_must_be_concrete_numbers():
    with pytest.raises(TypeError, match=r"atol must be a concrete number, got list: \[1e-08\]"):
        odeint(lambda y, t: -y, 1.0, [0.0, 1.0], atol=[1e-8])
    with pytest.raises(TypeError, match=r"rtol must be a concrete number, got "):
        jit(lambda rtol: odeint(lambda y, t: -y, 1.0, [0.0, 1.0], rtol=rtol))(1e-8)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "BDF"])
@pytest.mark.parametrize(
    ("t", "message"),
    [
        ([], "t of odeint must be a nonempty list or one-dimensional array of numbers, got "),
        (numpy.array([]), "must be a nonempty list or one-dimensional array"),
        (5.0, "must be a nonempty list or one-dimensional array"),
        ({"a": 0.0, "b": 1.0}, "must be a nonempty list or one-dimensional array"),
        (numpy.ones((2, 2)), r"t of odeint must be .*, got an array of shape \(2, 2\)"),
        ([0.0, numpy.inf], r"t of odeint must be finite, got \[0.0, inf\]"),
    ],
)
def test_invalid_times_raise(method, t, message):
    with pytest.raises(ValueError, match=message):
        odeint(lambda y, t: -y, 1.0, t, method=method)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "BDF"])
def test_empty_y0_raises(method):
    for nothing in ([], numpy.zeros(0)):
        with pytest.raises(ValueError, match=r"y0 must contain at least one number to solve for, got "):
            odeint(lambda y, t: y, nothing, [0.0, 1.0], method=method)
    with pytest.raises(TypeError, match="expected a function, got int: 3"):
        odeint(3, 1.0, [0.0, 1.0], method=method)


# Equal times


def several(start: Any, *times: Any) -> Any:
    return odeint(damped, start, times, 0.7, **TIGHT) @ numpy.arange(1.0, 1.0 + len(times))


def several_in_jax(start: Any, *times: Any) -> Any:
    return sum((1.0 + i) * damped_in_jax(start, times[0], time, 0.7) for i, time in enumerate(times))


@pytest.mark.parametrize(
    "times",
    [(0.5,), (0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 0.4, 0.4)],
    ids=lambda times: "-".join(map(str, times)),
)
def test_equal_times_in_every_transform(times):
    in_every_way(several, several_in_jax, 2.0, *times)


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853", "BDF", "Radau", "LSODA"])
def test_equal_times_have_equal_states(method):
    def solve(start: Any, times: Any) -> Any:
        return odeint(damped, start, times, 0.7, method=method, rtol=1e-8, atol=1e-9)

    distinct = solve(2.0, [0.0, 0.5, 1.0])
    assert solve(2.0, [0.0, 0.0, 0.5, 1.0, 1.0, 1.0]).tolist() == distinct[[0, 0, 1, 2, 2, 2]].tolist()
    assert solve(2.0, [0.0, 0.0]).tolist() == solve(2.0, [-0.0, 0.0]).tolist() == [2.0, 2.0]
    assert solve(2.0, [1.0, 1.0, 0.0, 0.0]).tolist() == solve(2.0, [1.0, 0.0])[[0, 0, 1, 1]].tolist()
    # Shifting one of several equal times separates its state from the other states.
    for jacobian_of in (jacfwd, jacrev, jacobian):
        by_times = jacobian_of(lambda times: solve(2.0, times))(numpy.zeros(3))
        assert by_times.tolist() == [[0.0, 0.0, 0.0], [1.4, -1.4, 0.0], [1.4, 0.0, -1.4]]


def test_nearly_equal_times():
    for begin, end in ((0.0, 5e-324), (1.0, math.nextafter(1.0, 2.0)), (0.0, -5e-324)):
        found, by_end = value_and_grad(lambda end, begin=begin: odeint(damped, 1.0, [begin, end], 0.5)[-1])(end)
        assert found == pytest.approx(1.0, abs=1e-15)
        assert by_end == pytest.approx(-0.5 * (1.0 + 0.1 * begin))


TRANSFORMS = {
    "value": lambda f: f,
    "by time": grad,
    "by start": lambda f: grad(f, 1),
    "by time, twice": lambda f: grad(grad(f)),
    "by both": lambda f: grad(grad(f), 1),
    "forward": lambda f: jacfwd(f, 1),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
def test_batch_of_times(transform):
    """Check that samples with no step, a backward step or nan do not affect the other samples."""
    f = transform(lambda time, start: odeint(damped, start, [0.0, 0.0, time, time], 0.7)[-1])
    times, starts = numpy.array([1.0, 0.0, numpy.nan, -0.5, 0.0, 2.0]), numpy.linspace(1.0, 2.0, 6)
    expected = numpy.array([f(time, start) for time, start in zip(times, starts, strict=True)])
    assert numpy.isnan(expected).tolist() == numpy.isnan(times).tolist()
    for batched in (vmap(f), jit(vmap(f)), vmap(jit(f))):
        numpy.testing.assert_array_equal(batched(times, starts), expected)


def test_nan_times():
    def solve(start: Any, times: Any) -> Any:
        return odeint(damped, start, times, 0.5)

    assert numpy.isnan(solve(1.0, [numpy.nan])).all()
    assert numpy.isnan(solve(1.0, [0.0, numpy.nan, 1.0])).tolist() == [False, True, True]
    times = [0.0, 1.0, numpy.nan]
    for derivative in (grad, jacfwd):
        assert derivative(lambda y: solve(y, times)[1])(2.0) == derivative(lambda y: solve(y, times[:2])[1])(2.0)
        assert numpy.isnan(derivative(lambda y: solve(y, times)[2])(2.0))


# Events


def falls_to(height: Any, start: Any) -> Any:
    """Return the time at which a falling body reaches a height; the bracket starts at time 0."""

    def above(time: Any) -> Any:
        y, _ = odeint(lambda y, t: [y[1], -2.0], [start, 0.0], [0.0, time], **TIGHT)
        return y[-1] - height

    return root_scalar(above, bracket=[0.0, 5.0])


def falls_to_in_jax(height: Any, start: Any) -> Any:
    return jnp.sqrt(start - height)


def test_event_searches_in_every_transform():
    in_every_way(falls_to, falls_to_in_jax, 1.0, 5.0)


def test_event_at_the_start():
    assert falls_to(3.0, 3.0) == jit(falls_to)(3.0, 3.0) == 0.0
    decayed = lambda to, y: root_scalar(  # noqa: E731
        lambda time: odeint(lambda y, t: -y, y, [0.0, time])[-1] - to, bracket=[0.0, 5.0]
    )
    ends, starts = numpy.array([0.5, 0.5, 1.0]), numpy.array([2.0, 0.5, 2.0])  # the second is reached at time 0
    numpy.testing.assert_allclose(vmap(decayed)(ends, starts), numpy.log(starts / ends), atol=1e-7)
    numpy.testing.assert_allclose(vmap(grad(decayed))(ends, starts), -1.0 / ends, atol=1e-7)
    numpy.testing.assert_allclose(vmap(grad(grad(decayed, 1), 1))(ends, starts), -1.0 / starts**2, atol=1e-7)


def test_nan_propagates_backward():
    """Check that a nonfinite adjoint gives a nonfinite derivative and no error."""
    found = grad(lambda a: math.log(0.0 * odeint(damped, a, [0.0, 1.0], 1.0)[-1]))(1.0)
    assert not numpy.isfinite(found)
