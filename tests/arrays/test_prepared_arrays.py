"""Tests of the fast call of functions of large arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy
import pytest

from gradwalk import Value, debug_nans, grad, jit, loops, math, vmap
from gradwalk.transforms.jit.array_trace import PreparedArrays
from gradwalk.transforms.jit.jit_class import Jit

pytestmark = pytest.mark.usefixtures("whole")

x = numpy.linspace(0.5, 2.0, 12)


@dataclass
class Model:
    weights: Any
    bias: Any


def total(x: Any, scale: Any = 2.0, *, model: Any = None, power: int = 2) -> Any:
    found = (numpy.sin(x) * scale) ** power
    if model is not None:
        found = found * model.weights + model.bias
    return {"sum": found.sum(), "all": [found, x.shape[0]]}


MODEL = Model(x + 1.0, 0.5)
ARGUMENTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "array": ((x,), {}),
    "array and number": ((x, 3.0), {}),
    "keyword": ((x,), {"scale": 3.0}),
    "matrix": ((x.reshape(3, 4),), {}),
    "model": ((x,), {"model": MODEL}),
    "static": ((x,), {"model": MODEL, "power": 3}),
    "two arrays": ((x, x * 2.0), {}),
}


def is_fast(f: Any, *args: Any, **kwargs: Any) -> bool:
    """Return whether a recorded function computes a result without the general path."""
    with mock.patch.object(Jit, "_computed", side_effect=AssertionError):
        try:
            f(*args, **kwargs)
        except AssertionError:
            return False
    return True


def changed(tree: Any) -> Any:
    """Return other arguments with the same structure."""
    if isinstance(tree, Model):
        return Model(changed(tree.weights), changed(tree.bias))
    return tree * 1.5 if isinstance(tree, (float, numpy.ndarray)) else tree


@pytest.mark.parametrize("name", ARGUMENTS)
def test_results_are_those_of_the_function(name):
    args, kwargs = ARGUMENTS[name]
    recorded = jit(total, static_argnames="power")
    recorded(*args, **kwargs)
    [prepared] = recorded._cache.prepared
    assert isinstance(prepared, PreparedArrays)
    args, kwargs = tuple(map(changed, args)), {key: changed(arg) for key, arg in kwargs.items()}
    assert is_fast(recorded, *args, **kwargs)
    found, expected = recorded(*args, **kwargs), total(*args, **kwargs)
    numpy.testing.assert_allclose(found["sum"], expected["sum"], rtol=1e-14)
    numpy.testing.assert_allclose(found["all"][0], expected["all"][0], rtol=1e-14)
    assert found["all"][1] == expected["all"][1]


@pytest.mark.parametrize(
    "other",
    [
        x.astype(numpy.float32),
        numpy.arange(12),
        numpy.asfortranarray(x.reshape(3, 4)),
        x[::-1],
        x[:6],
        x.reshape(12, 1),
        list(x),
        1.5,
    ],
    ids=["float32", "int", "Fortran order", "view", "shorter", "other shape", "list", "number"],
)
def test_other_arguments_take_the_general_path(other):
    recorded = jit(lambda x: numpy.sum(numpy.sin(x)))
    recorded(x)
    assert not is_fast(recorded, other)
    assert recorded(other) == pytest.approx(float(numpy.sin(numpy.asarray(other, float)).sum()), rel=1e-14)


def test_results_do_not_share_memory():
    recorded = jit(lambda x: (x, x + 1.0, x))
    results = [*recorded(x), *recorded(x), *recorded(x)]
    assert not any(numpy.shares_memory(a, b) for i, a in enumerate(results) for b in [x, *results[:i]])


def test_each_path_through_the_branches():
    recorded = jit(lambda x, y: (x * y).sum() if y > 0.0 else y - x.sum())
    for y in (2.0, -2.0, 3.0, 2.0, -3.0, -2.0):
        assert recorded(x, y) == pytest.approx((x * y).sum() if y > 0.0 else y - x.sum())
    assert is_fast(recorded, x, -3.0)
    assert not is_fast(recorded, x, 3.0)


@pytest.mark.parametrize("start", [0.0, (0.0, x)], ids=["number", "array"])
def test_a_loop_of_a_path_that_is_not_taken_does_not_run(start):
    def f(x: Any, n: Any) -> Any:
        if n <= 0:
            return x - n
        carry = loops.while_loop(
            lambda c: (c[0] if isinstance(c, tuple) else c) != n,
            lambda c: (c[0] + 1.0, c[1] * 0.5) if isinstance(c, tuple) else c + 1.0,
            start,
        )
        return x * (carry[1] if isinstance(carry, tuple) else carry)

    recorded = jit(f)
    for n in (3.0, -1.0, 2.0, -2.0, 3.0):  # with a negative number, the loop never ends
        expected = x - n if n < 0.0 else x * (x * 0.5**n if isinstance(start, tuple) else n)
        numpy.testing.assert_allclose(recorded(x, n), expected)


def test_a_captured_value_is_read_in_each_call():
    outside = Value(2.0)
    recorded = jit(lambda x: (x * outside).sum())
    assert recorded(x).data == pytest.approx(2.0 * x.sum())
    outside.data = 3.0
    assert recorded(x).data == pytest.approx(3.0 * x.sum())


def test_values_get_gradients():
    recorded = jit(lambda x, y: (x * y).sum())
    recorded(x, 2.0)
    y = Value(2.0)
    recorded(x, y).backward()
    assert y.grad == pytest.approx(x.sum())
    numpy.testing.assert_allclose(grad(lambda x: recorded(x, 2.0) ** 2)(x), 8.0 * x.sum())


def test_nans_are_refused():
    recorded = jit(lambda x: numpy.log(x).sum())
    recorded(x)
    with debug_nans(), pytest.raises(FloatingPointError, match="log"):
        recorded(-x)


@pytest.mark.parametrize("options", [{"contract": True}, {"backend": "lanes"}])
def test_the_policy_holds_for_parts_that_are_made_later(options):
    def f(x: Any) -> Any:
        return vmap(math.exp, reduce="sum")(x)

    recorded = jit(f, **options)
    recorded(x)
    assert is_fast(recorded, x)
    made = [step.call._summing for step in recorded.latest.program._steps]
    assert [kernel.policy for kernel in made] == [recorded._policy]
