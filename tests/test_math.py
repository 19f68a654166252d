"""`gradwalk.math`: the functions of Python's math module, for numbers and Values."""

from __future__ import annotations

import math

import pytest

import gradwalk.math as gm
from gradwalk import Value
from gradwalk.ops.table import TABLE

OF_TWO = ("pow", "atan2", "hypot", "copysign", "fmod", "remainder", "isclose")
OF_SEQUENCES = {
    "dist": ([0.3, 0.1], [0.4, 0.5]),
    "fsum": ([0.3, 0.4],),
    "prod": ([0.3, 0.4],),
    "sumprod": ([0.3], [0.4]),
}


def test_has_every_function_in_the_table():
    assert {row.name for row in TABLE if row.is_function} <= set(vars(gm))
    assert {"add", "neg"}.isdisjoint(vars(gm))


@pytest.mark.parametrize("name", [name for name in dir(math) if hasattr(gm, name) and not name.startswith("_")])
def test_agrees_with_python_math(name):
    mine, pythons = getattr(gm, name), getattr(math, name)
    if mine is pythons:
        return
    if not callable(mine):
        assert math.isnan(mine)
    else:
        operands = {**OF_SEQUENCES, **dict.fromkeys(OF_TWO, (0.3, 0.4))}.get(name, (1.3 if name == "acosh" else 0.3,))
        assert mine(*operands) == pytest.approx(pythons(*operands), rel=1e-15)


def test_functions_keep_gradients():
    def f(x):
        return gm.sqrt(gm.exp(x) + gm.pi) * gm.where(x > 0, gm.maximum(x, 2), x)

    assert type(f(1.0)) is float
    v = Value(1.0)
    f(v).backward()
    h = 1e-6
    assert v.grad == pytest.approx((f(1 + h) - f(1 - h)) / (2 * h), rel=1e-8)


def test_wrong_number_of_arguments():
    with pytest.raises(TypeError):
        gm.exp(1, 2)
