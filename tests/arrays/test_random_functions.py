"""Random functions of arrays, recorded with whole arrays and number by number, to second derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk import grad, jit, loops, math, vmap
from gradwalk import numpy as gnp
from gradwalk.arrays import recorder

ROWS, WIDTH = 6, 2
ORDER = numpy.array([4, 0, 0, -1, 2, 1])
PAIRS = numpy.array([[1, 0], [2, 2], [3, 5], [-6, -1], [0, 4], [4, 3]])


def _assigned(v: Any) -> Any:
    changed = v * 1.0
    changed[1:3] = v[:2] * 2.0
    changed += 0.1
    return changed


def _transported(m: Any, v: Any) -> Any:
    u = v + 0.0
    for _ in range(2):
        u[1:-1] += 0.1 * (u[2:] - u[:-2]) * m[1:-1, 0]
        u[0] = u[-1]
    return u


def _written(m: Any, v: Any) -> Any:
    found = numpy.zeros_like(m) + 0.0
    found[:, 0] = numpy.sin(v)
    found[ORDER[2:], 1] = v[2:] * m[2:, 0]
    first = found[0]
    found[1] *= 2.0
    first += v[0]
    return found


# Functions of two arrays of the shapes (6, 2) and (6,). Each returns an array of one of these shapes.
STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda m, v: numpy.sin(m) + v[0],
    "scaled": lambda m, v: m * v[:, None] - 0.5,
    "quotient": lambda m, v: m / (2.0 + v[:, None] ** 2),
    "column": lambda m, v: m[:, 1] * v,
    "row sums": lambda m, v: m.sum(axis=1) + v,
    "centered": lambda m, v: m - m.mean(axis=0),
    "product": lambda m, v: m @ numpy.array([0.5, -1.0]),
    "projected": lambda m, v: m * (v @ m),
    "reversed": lambda m, v: v[::-1] * 2.0,
    "shifted": lambda m, v: numpy.sqrt(1.0 + (v * v)) * v[0] + v.sum(),
    "where": lambda m, v: gnp.where(v > 0.1, v, v * v),
    "larger": lambda m, v: gnp.maximum(v, 0.3) * v,
    "guarded": lambda m, v: gnp.where(gnp.less(0.5, v), gnp.log(v - 0.4), v),
    "softmax": lambda m, v: math.softmax(m, axis=0) * 3.0,
    "softmax of rows": lambda m, v: math.softmax(m, axis=1),
    "maxima": lambda m, v: gnp.max(m, axis=1) - gnp.max(v),
    "sorted": lambda m, v: gnp.sort(v) * m[:, 0],
    "transposed": lambda m, v: (m.T * v).T,
    "stacked": lambda m, v: numpy.stack([v, v * v], axis=1),
    "flat": lambda m, v: m.reshape(-1)[::2] * v,
    "gathered": lambda m, v: v[ORDER] * v,
    "neighbors": lambda m, v: (v[PAIRS] - v[:, None]) * m,
    "gathered rows": lambda m, v: numpy.sin(m[ORDER]) + m[:, [1, 0]],
    "masked": lambda m, v: v * m[ORDER % 2 == 0, 1].sum(),
    "rolled": lambda m, v: numpy.roll(v, 1) - 2.0 * v + numpy.roll(v, -1),
    "rolled rows": lambda m, v: numpy.roll(m, (2, 1), axis=(0, 1)) * v[:, None],
    "joined": lambda m, v: numpy.concatenate([v[2:], m[:2, 0] * v[0]]),
    "joined rows": lambda m, v: numpy.vstack([m[:4] * 0.5, v[:2], v[4:]]),
    "joined columns": lambda m, v: numpy.column_stack([v, numpy.cos(m[:, 1])]),
    "padded": lambda m, v: numpy.pad(v[1:-1], 1, constant_values=m[0, 1]),
    "accumulated": lambda m, v: numpy.cumsum(m, axis=0) * 0.3,
    "accumulated twice": lambda m, v: numpy.cumsum(v * numpy.cumsum(m[:, 1])) * 0.1,
    "labels": lambda m, v: m[numpy.arange(ROWS), ORDER % 2] * v,
    "one row": lambda m, v: m * m[2] + v[:, None],
    "einsum": lambda m, v: numpy.einsum("ij,i,ij->i", m, v, m),
    "convolved": lambda m, v: numpy.convolve(v, [0.5, -0.2, 0.1], "same"),
    "transported": _transported,
    "written columns": _written,
    "each row": lambda m, v: vmap(lambda row, x: row * x + row[0])(m, v) * v[1],
    "assigned": lambda m, v: _assigned(v) + 0.0 * m[:, 0],
    "loop": lambda m, v: loops.fori_loop(0, 2, lambda i, u: numpy.tanh(u) * v + 0.1 * m[:, 0] * i, v),
    "loop of both": lambda m, v: loops.fori_loop(
        0, 2, lambda i, c: (0.5 * c[0] + c[1][:, None], numpy.sin(c[1]) + c[0].mean()), (m, v)
    )[0],
    "loop of numbers": lambda m, v: v * loops.fori_loop(0, 3, lambda i, c: 0.5 * c + (m * c).mean(), 0.7),
    "while": lambda m, v: loops.while_loop(
        lambda u: (u * u).sum() > 0.5, lambda u: 0.7 * u * numpy.cos(m[:, 1]), v, checkpoint="binomial"
    ),
    "scan": lambda m, v: loops.scan(lambda u, t: (u * t + m[:, 1], u), v, numpy.arange(3.0))[1][2],
    "scan of rows": lambda m, v: loops.scan(lambda u, t: (u + t * u[0], u * 0.5), v, numpy.stack([v, m[:, 0]]))[0],
    "choice": lambda m, v: loops.cond(v.sum() > 0.1, lambda: v * m[:, 0], lambda: numpy.exp(v)),
    "choice of numbers": lambda m, v: (
        v * loops.cond(m[0, 0] > v[0], lambda: numpy.mean(m * m), lambda: numpy.cos(v[1]))
    ),
    "descent": lambda m, v: loops.fori_loop(
        0, 2, lambda i, u: u - 0.1 * grad(lambda z: (numpy.sin(m[:, 0] * z) ** 2).sum() + z[0] ** 4)(u), v
    ),
}


def composed(names: list[str]) -> Callable[[Any, Any], Any]:
    """Return a function of two arrays that applies the steps one after the other, and adds up the results."""

    def f(m: Any, v: Any) -> Any:
        total = 0.0
        for name in names:
            result = STEPS[name](m, v)
            m, v = (result, v) if numpy.ndim(result) == 2 else (m, result)
            total = total + (result * result).mean()
        return total * math.tanh(v.sum()) + math.logsumexp(m)

    return f


def derivatives(f: Callable[[Any, Any], Any], m: Any, v: Any) -> list[Any]:
    """Return the value, the gradients, and the gradient of a product of gradients, recorded and not."""
    both = grad(f, argnums=(0, 1))

    def second(m: Any, v: Any) -> Any:
        of_m, of_v = both(m, v)
        return (of_m * of_m).sum() + (of_v * of_v * numpy.arange(float(ROWS))).sum()

    again = grad(second, argnums=(0, 1))
    return [jit(f)(m, v), *both(m, v), *jit(both)(m, v), *again(m, v), *jit(again)(m, v)]


@given(names=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4), seed=st.integers(0, 1000))
def test_random_functions_agree(names, seed):
    generator = numpy.random.default_rng(seed)
    m, v = generator.uniform(-1.0, 1.0, (ROWS, WIDTH)), generator.uniform(-1.0, 1.0, ROWS)
    found = functools.partial(derivatives, composed(names), m, v)
    expected = found()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorder, "LEAST_SIZE", 1)
        for one, other in zip(found(), expected, strict=True):
            numpy.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
