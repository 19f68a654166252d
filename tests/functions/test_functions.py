"""Tests of functions of several operands and of sequences, compared with mpmath and JAX.

Rows of the table are included for their second derivatives and C code; tests/ops tests the rest.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import pytest
from c_compiler import SAME_BITS, compiled
from references import JAX, MPMATH, jax, jnp, mpmath, torch, torch_leaf

import gradwalk.math as gm
from gradwalk import Value, grad, hessian, jit, vmap

INF, NAN = math.inf, math.nan


class Case(NamedTuple):
    """A function with its versions in mpmath and JAX, and the intervals its operands are drawn from."""

    name: str
    function: Callable[..., Any]
    true: Callable[..., Any]
    in_jax: Callable[..., Any]
    domain: tuple[tuple[float, float], ...]


def row(name: str, *domain: tuple[float, float]) -> Case:
    return Case(name, getattr(gm, name), MPMATH[name], JAX[name], domain)


def true_clip(x: Any, low: Any, high: Any) -> Any:
    return min(max(x, low), high)


def true_logsumexp(*xs: Any) -> Any:
    return mpmath.log(sum(map(mpmath.exp, xs)))


def true_smooth_max(x: Any, y: Any, z: Any) -> Any:
    return true_logsumexp(2 * x, 2 * y, 2 * z) / 2


def norm(*xs: Any) -> Any:
    return mpmath.sqrt(sum(x * x for x in xs))


WIDE, POSITIVE = (-20.0, 20.0), (0.1, 20.0)
CASES = [
    row("mod", WIDE, POSITIVE),
    row("fmod", WIDE, POSITIVE),
    row("remainder", WIDE, POSITIVE),
    row("floor_divide", WIDE, POSITIVE),
    row("copysign", WIDE, WIDE),
    row("fmax", WIDE, WIDE),
    row("fmin", WIDE, WIDE),
    row("logaddexp", WIDE, WIDE),
    Case("%", lambda x, y: x % y, MPMATH["mod"], lambda x, y: x % y, (WIDE, (-9.0, -0.1))),
    Case("//", lambda x, y: x // y, MPMATH["floor_divide"], lambda x, y: x // y, (WIDE, (-9.0, -0.1))),
    Case("divmod", lambda x, y: divmod(x, y)[1], MPMATH["mod"], lambda x, y: jnp.divmod(x, y)[1], (WIDE, POSITIVE)),
    Case("7.5 % y", lambda y: 7.5 % y, lambda y: MPMATH["mod"](7.5, y), lambda y: 7.5 % y, (POSITIVE,)),
    Case("maximum of three", gm.maximum, max, lambda *xs: jnp.max(jnp.array(xs)), (WIDE,) * 3),
    Case("minimum of three", gm.minimum, min, lambda *xs: jnp.min(jnp.array(xs)), (WIDE,) * 3),
    Case("maximum of one", gm.maximum, lambda x: x, lambda x: x, (WIDE,)),
    Case("hypot of three", gm.hypot, norm, lambda *xs: jnp.linalg.norm(jnp.array(xs)), (WIDE,) * 3),
    Case("hypot of one", gm.hypot, abs, abs, (WIDE,)),
    Case("log to a base", gm.log, mpmath.log, lambda x, base: jnp.log(x) / jnp.log(base), (POSITIVE, (1.5, 9.0))),
    Case("fabs", gm.fabs, abs, jnp.abs, (WIDE,)),
    Case("modf", lambda x: gm.modf(x)[0], lambda x: MPMATH["fmod"](x, 1), lambda x: jnp.modf(x)[0], (WIDE,)),
    Case("degrees", gm.degrees, mpmath.degrees, jnp.degrees, (WIDE,)),
    Case("radians", gm.radians, mpmath.radians, jnp.radians, (WIDE,)),
    Case(
        "elu",
        gm.elu,
        lambda x, a: x if x > 0 else a * mpmath.expm1(x),
        lambda x, a: jax.nn.elu(x, alpha=a),
        ((-4.0, 4.0), POSITIVE),
    ),
    Case(
        "leaky_relu",
        gm.leaky_relu,
        lambda x, a: x if x > 0 else a * x,
        lambda x, a: jax.nn.leaky_relu(x, negative_slope=a),
        (WIDE, (0.1, 1.0)),
    ),
    Case("clip", gm.clip, true_clip, jnp.clip, (WIDE, (-9.0, 0.0), (1.0, 9.0))),
    Case("clip from below", lambda x: gm.clip(x, 1), lambda x: max(x, 1), lambda x: jnp.clip(x, 1), (WIDE,)),
    Case("clip from above", lambda x: gm.clip(x, max=1), lambda x: min(x, 1), lambda x: jnp.clip(x, max=1), (WIDE,)),
    Case("smooth_abs", gm.smooth_abs, norm, lambda x, w: jnp.sqrt(x * x + w * w), (WIDE, POSITIVE)),
    Case(
        "smooth_max",
        lambda *xs: gm.smooth_max(*xs, temperature=0.5),
        true_smooth_max,
        lambda *xs: jax.nn.logsumexp(2 * jnp.array(xs)) / 2,
        ((-3.0, 3.0),) * 3,
    ),
    Case(
        "smooth_max of two",
        lambda x, y, t: gm.smooth_max(x, y, temperature=t),
        lambda x, y, t: t * true_logsumexp(x / t, y / t),
        lambda x, y, t: t * jnp.logaddexp(x / t, y / t),
        ((-3.0, 3.0), (-3.0, 3.0), (0.5, 3.0)),
    ),
    Case(
        "smooth_min",
        lambda *xs: gm.smooth_min(*xs, temperature=0.5),
        lambda *xs: -true_smooth_max(*[-x for x in xs]),
        lambda *xs: -jax.nn.logsumexp(-2 * jnp.array(xs)) / 2,
        ((-3.0, 3.0),) * 3,
    ),
    Case(
        "logsumexp",
        lambda *xs: gm.logsumexp(xs),
        true_logsumexp,
        lambda *xs: jax.nn.logsumexp(jnp.array(xs)),
        ((-3.0, 3.0),) * 3,
    ),
    Case(
        "softmax",
        lambda *xs: gm.softmax(xs)[1],
        lambda *xs: mpmath.exp(xs[1] - true_logsumexp(*xs)),
        lambda *xs: jax.nn.softmax(jnp.array(xs))[1],
        ((-3.0, 3.0),) * 3,
    ),
    Case(
        "log_softmax",
        lambda *xs: gm.log_softmax(xs)[1],
        lambda *xs: xs[1] - true_logsumexp(*xs),
        lambda *xs: jax.nn.log_softmax(jnp.array(xs))[1],
        ((-3.0, 3.0),) * 3,
    ),
    Case("fsum", lambda *xs: gm.fsum(xs), lambda *xs: mpmath.fsum(xs), lambda *xs: sum(xs), (WIDE,) * 3),
    Case("prod", lambda *xs: gm.prod(xs), lambda *xs: mpmath.fprod(xs), lambda *xs: math.prod(xs), (WIDE,) * 3),
    Case(
        "dist",
        lambda a, b, c: gm.dist([a, b, 1.5], [c, 2.0, -1.0]),
        lambda a, b, c: norm(a - c, b - 2, 2.5),
        lambda a, b, c: jnp.linalg.norm(jnp.array([a - c, b - 2.0, 2.5])),
        (WIDE,) * 3,
    ),
]
EVERY = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def points(case: Case, count: int = 6) -> list[tuple[float, ...]]:
    """Draw operands from the domain, with a fixed seed."""
    draw = random.Random(case.name)
    return [tuple(draw.uniform(*interval) for interval in case.domain) for _ in range(count)]


def with_derivatives(case: Case) -> Callable[..., Any]:
    """Return a function that computes the value and all first and second derivatives."""
    every = tuple(range(len(case.domain)))
    return lambda *xs: (case.function(*xs), grad(case.function, every)(*xs), hessian(case.function, every)(*xs))


def flat(result: Any) -> list[Any]:
    """Flatten nested tuples and lists."""
    return [number for part in result for number in flat(part)] if isinstance(result, (tuple, list)) else [result]


def in_every_way(case: Case, at: list[tuple[float, ...]], folder: Any) -> dict[str, list[list[float]]]:
    """Compute values and derivatives at some points in each way of running except `Value.backward`."""
    f = with_derivatives(case)
    recorded = jit(f)
    found = {"eager": [flat(f(*xs)) for xs in at], "jit": [flat(recorded(*xs)) for xs in at]}
    columns = [numpy.array(column) for column in zip(*at, strict=True)]
    found["lanes"] = [list(sample) for sample in zip(*map(list, flat(vmap(f)(*columns))), strict=True)]
    in_c = compiled(folder, recorded.program.to_c(), *SAME_BITS)
    found["C"] = [in_c(xs, len(found["jit"][0])) for xs in at]
    return found


def by_sweep(case: Case, xs: tuple[float, ...]) -> list[float]:
    leaves = [Value(x) for x in xs]
    out = case.function(*leaves)
    out.backward()
    return [out.data, *[leaf.grad for leaf in leaves]]


def true_numbers(case: Case, xs: tuple[float, ...]) -> list[float]:
    """Compute the value and the derivatives by mpmath's difference quotients with 100 digits."""
    count = len(xs)
    with mpmath.workdps(100):
        exact = tuple(map(mpmath.mpf, xs))

        def derivative(*positions: int) -> float:
            orders = tuple(positions.count(i) for i in range(count))
            return float(
                mpmath.diff(case.true, exact, orders) if count > 1 else mpmath.diff(case.true, *exact, *orders)
            )

        seconds = [derivative(i, j) for i in range(count) for j in range(count)]
        return [float(case.true(*exact)), *map(derivative, range(count)), *seconds]


@EVERY
def test_values_and_derivatives_agree_with_mpmath(case, tmp_path):
    at = points(case)
    expected = [true_numbers(case, xs) for xs in at]
    for found in in_every_way(case, at, tmp_path).values():
        numpy.testing.assert_allclose(found, expected, 1e-12, 1e-14)
    for xs, numbers in zip(at, expected, strict=True):
        numpy.testing.assert_allclose(by_sweep(case, xs), numbers[: 1 + len(xs)], 1e-13, 1e-15)


@EVERY
def test_values_and_derivatives_agree_with_jax(case):
    every = tuple(range(len(case.domain)))
    f = case.in_jax
    for xs in points(case, 2):
        arrays = [jnp.float64(x) for x in xs]
        found = flat(with_derivatives(case)(*xs))
        expected = [f(*arrays), *jax.grad(f, every)(*arrays)]
        numpy.testing.assert_allclose(found[: len(expected)], expected, 1e-12, 1e-14)
        numpy.testing.assert_allclose(found[len(expected) :], flat(jax.hessian(f, every)(*arrays)), 1e-11, 1e-13)


@EVERY
def test_floats_give_floats(case):
    for xs in points(case, 2):
        result = case.function(*xs)
        assert type(result) is float
        assert result == case.function(*map(Value, xs)).data


# Values, first and second derivatives at special points: ties, zeros, infinities, nan and extremes.
QUARTERS = [0.25, -0.25, -0.25, 0.25]
THIRD, NINTH = 1 / 3, 1 / 9
ALIKE = [2 * NINTH, -NINTH, -NINTH, -NINTH, 2 * NINTH, -NINTH, -NINTH, -NINTH, 2 * NINTH]
NOTHING = [0.0] * 9
CORNERS = [
    ("mod", (1e300, 3.0), [1e300 % 3.0, 1.0, -1e300 / 3.0, *NOTHING[:4]]),
    ("mod", (6.0, 3.0), [0.0, 1.0, -2.0, *NOTHING[:4]]),
    ("mod", (-1e-20, 3.0), [3.0, 1.0, 1.0, *NOTHING[:4]]),
    ("mod", (1.0, INF), [1.0, 1.0, 0.0, *NOTHING[:4]]),
    ("mod", (-1.0, INF), [INF, 1.0, 1.0, *NOTHING[:4]]),
    ("mod", (INF, 3.0), [NAN, 1.0, NAN, *NOTHING[:4]]),
    ("mod", (1.0, 0.0), [NAN, 1.0, -INF, *NOTHING[:4]]),
    ("fmod", (-7.5, 2.0), [-1.5, 1.0, 3.0, *NOTHING[:4]]),
    ("fmod", (1.0, INF), [1.0, 1.0, 0.0, *NOTHING[:4]]),
    ("remainder", (5.0, 2.0), [1.0, 1.0, -2.0, *NOTHING[:4]]),
    ("remainder", (7.0, 2.0), [-1.0, 1.0, -4.0, *NOTHING[:4]]),
    ("remainder", (1.7e308, 1.1e308), [1.7e308 - 1.1e308 - 1.1e308, 1.0, -2.0, *NOTHING[:4]]),
    ("remainder", (1e300, 1e-300), [math.remainder(1e300, 1e-300), 1.0, -INF, *NOTHING[:4]]),
    ("floor_divide", (6.0, 3.0), [2.0, 0.0, 0.0, *NOTHING[:4]]),
    ("floor_divide", (-1.0, INF), [-1.0, 0.0, 0.0, *NOTHING[:4]]),
    ("floor_divide", (1.0, 0.0), [INF, 0.0, 0.0, *NOTHING[:4]]),
    ("copysign", (0.0, -1.0), [-0.0, 0.0, 0.0, *NOTHING[:4]]),
    ("copysign", (-3.0, -0.0), [-3.0, 1.0, 0.0, *NOTHING[:4]]),
    ("copysign", (INF, -1.0), [-INF, -1.0, 0.0, *NOTHING[:4]]),
    ("fmax", (2.0, 2.0), [2.0, 0.5, 0.5, *NOTHING[:4]]),
    ("fmax", (NAN, 2.0), [2.0, 0.0, 1.0, *NOTHING[:4]]),
    ("fmin", (2.0, NAN), [2.0, 1.0, 0.0, *NOTHING[:4]]),
    ("fmin", (-INF, 2.0), [-INF, 1.0, 0.0, *NOTHING[:4]]),
    ("logaddexp", (0.0, 0.0), [math.log(2.0), 0.5, 0.5, *QUARTERS]),
    ("logaddexp", (1e10, 1e10), [1e10 + math.log(2.0), 0.5, 0.5, *QUARTERS]),
    ("logaddexp", (INF, INF), [INF, 0.5, 0.5, *NOTHING[:4]]),
    ("logaddexp", (-INF, -INF), [-INF, 0.5, 0.5, *NOTHING[:4]]),
    ("logaddexp", (-INF, 1.0), [1.0, 0.0, 1.0, *NOTHING[:4]]),
    ("logaddexp", (INF, -INF), [INF, 1.0, 0.0, *NOTHING[:4]]),
    ("logaddexp", (1e300, -1e300), [1e300, 1.0, 0.0, *NOTHING[:4]]),
    ("maximum of three", (2.0, 2.0, 1.0), [2.0, 0.5, 0.5, 0.0, *NOTHING]),
    ("maximum of three", (2.0, 2.0, 2.0), [2.0, 0.25, 0.25, 0.5, *NOTHING]),
    ("maximum of three", (1.0, INF, -INF), [INF, 0.0, 1.0, 0.0, *NOTHING]),
    ("minimum of three", (NAN, 1.0, 2.0), [NAN, 1.0, 1.0, 1.0, *NOTHING]),
    ("maximum of one", (NAN,), [NAN, 1.0, 0.0]),
    ("hypot of three", (0.0, 0.0, 3.0), [3.0, 0.0, 0.0, 1.0, THIRD, 0.0, 0.0, 0.0, THIRD, 0.0, 0.0, 0.0, 0.0]),
    ("hypot of three", (1e300, 0.0, 0.0), [1e300, 1.0, 0.0, 0.0, *NOTHING[:4], 1e-300, 0.0, 0.0, 0.0, 1e-300]),
    ("hypot of three", (0.0, 0.0, 0.0), [0.0, *[NAN] * 12]),
    ("hypot of three", (NAN, INF, 0.0), [INF, 0.0, 0.0, 0.0, *NOTHING]),
    ("elu", (0.0, 2.0), [0.0, 2.0, 0.0, 2.0, 1.0, 1.0, 0.0]),
    ("elu", (INF, 2.0), [INF, 1.0, 0.0, *NOTHING[:4]]),
    ("elu", (1000.0, 2.0), [1000.0, 1.0, 0.0, *NOTHING[:4]]),
    ("elu", (-INF, 2.0), [-2.0, 0.0, -1.0, *NOTHING[:4]]),
    ("leaky_relu", (0.0, 0.1), [0.0, 0.1, 0.0, 0.0, 1.0, 1.0, 0.0]),
    ("leaky_relu", (INF, 0.1), [INF, 1.0, 0.0, *NOTHING[:4]]),
    ("clip", (1.0, 0.0, 1.0), [1.0, 0.5, 0.0, 0.5, *NOTHING]),
    ("clip", (INF, 0.0, 1.0), [1.0, 0.0, 0.0, 1.0, *NOTHING]),
    ("modf", (-0.0,), [-0.0, 1.0, 0.0]),
    ("modf", (-INF,), [-0.0, 0.0, 0.0]),
    ("smooth_abs", (0.0, 0.5), [0.5, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0]),
    ("logsumexp", (2.0, 2.0, 2.0), [2.0 + math.log(3.0), *[THIRD] * 3, *ALIKE]),
    ("logsumexp", (1e300, 1.0, 1e4), [1e300, 1.0, 0.0, 0.0, *NOTHING]),
    ("logsumexp", (-INF, 5.0, -INF), [5.0, 0.0, 1.0, 0.0, *NOTHING]),
    ("logsumexp", (-INF, -INF, -INF), [-INF, 0.0, 0.0, 0.0, *NOTHING]),
    ("softmax", (1e300, -INF, 0.0), [0.0, 0.0, 0.0, 0.0, *NOTHING]),
    ("log_softmax", (0.0, -1000.0, -INF), [-1000.0, -1.0, 1.0, 0.0, *NOTHING]),
    ("fsum", (1e16, 1.0, -1e16), [1.0, 1.0, 1.0, 1.0, *NOTHING]),
    ("fsum", (INF, 1.0, 2.0), [INF, 1.0, 1.0, 1.0, *NOTHING]),
    ("fsum", (INF, -INF, 2.0), [NAN, 1.0, 1.0, 1.0, *NOTHING]),
    ("prod", (0.0, 0.0, 2.0), [0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ("prod", (0.0, 3.0, 2.0), [0.0, 6.0, 0.0, 0.0, 0.0, 2.0, 3.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0]),
]
BY_NAME = {case.name: case for case in CASES}


@pytest.mark.parametrize("name", sorted({name for name, *_ in CORNERS}))
def test_corners(name, tmp_path):
    case = BY_NAME[name]
    at = [xs for other, xs, _ in CORNERS if other == name]
    expected = [numbers for other, _, numbers in CORNERS if other == name]
    for way, found in in_every_way(case, at, tmp_path).items():
        numpy.testing.assert_allclose(found, expected, 1e-14, 1e-300, err_msg=way)
        assert [math.copysign(1.0, numbers[0]) for numbers in found if numbers[0] == 0.0] == [
            math.copysign(1.0, numbers[0]) for numbers in expected if numbers[0] == 0.0
        ]


# Subgradients of JAX at ties; docs/operations.md lists the differences from gradwalk.
@pytest.mark.parametrize(
    ("name", "xs", "others"),
    [
        ("maximum of three", (2.0, 2.0, 2.0), [THIRD] * 3),  # shared evenly
        ("fmax", (2.0, 2.0), [0.0, 1.0]),  # the second operand gets all
        ("leaky_relu", (0.0, 0.1), [1.0, 0.0]),  # as for x > 0
        ("elu", (0.0, 2.0), [2.0, 0.0]),  # as in gradwalk
        ("clip", (1.0, 0.0, 1.0), [0.5, 0.0, 0.5]),  # as in gradwalk
        ("maximum of three", (2.0, 2.0, 1.0), [0.5, 0.5, 0.0]),  # as in gradwalk
    ],
)
def test_subgradients_of_jax_at_ties(name, xs, others):
    found = jax.grad(BY_NAME[name].in_jax, tuple(range(len(xs))))(*map(jnp.float64, xs))
    numpy.testing.assert_allclose(flat(found), others, 1e-15)


@pytest.mark.parametrize(
    ("name", "in_torch"),
    [
        ("mod", lambda x, y: torch.remainder(x, other=y)),
        ("fmod", lambda x, y: torch.fmod(x, other=y)),
        ("copysign", lambda x, y: torch.copysign(x, other=y)),
        ("logaddexp", lambda x, y: torch.logaddexp(x, other=y)),
        ("hypot of three", lambda *xs: torch.stack(xs).norm()),
        ("elu", lambda x, a: torch.where(x > 0, x, a * torch.expm1(x))),
        ("logsumexp", lambda *xs: torch.stack(xs).logsumexp(0)),
        ("log_softmax", lambda *xs: torch.stack(xs).log_softmax(0)[1]),
        ("prod", lambda *xs: torch.stack(xs).prod()),
    ],
)
def test_gradients_agree_with_torch(name, in_torch):
    case = BY_NAME[name]
    for xs in [*points(case), *([(0.0, 3.0, 0.0)] if name == "prod" else [])]:
        leaves = [torch_leaf(x) for x in xs]
        out = in_torch(*leaves)
        out.backward()
        numpy.testing.assert_allclose(by_sweep(case, xs), [out.item(), *[x.grad.item() for x in leaves]], 1e-13)
