"""Tests of jit(f).lower(): text, costs and compiled functions."""

from __future__ import annotations

import functools
import json
import pickle

import numpy
import pytest

import gradwalk.math as gm
from gradwalk import ProgramError, ShapeDtypeStruct, Value, debug, grad, jit, loops


def f(xs, n, *, scale=2.0):
    return {"products": gm.exp(xs) * scale, "first": xs[:n]}


def test_lowered_functions_describe_themselves_and_run():
    xs = numpy.array([1.0, 2.0, 3.0])
    recorded = jit(f, static_argnums=1)
    lowered = recorded.lower(ShapeDtypeStruct((3,)), 2, scale=ShapeDtypeStruct(()))
    assert recorded.statistics.calls == 0
    assert lowered.out_info == {"products": ShapeDtypeStruct((3,)), "first": ShapeDtypeStruct((2,))}
    assert lowered.as_text() == str(lowered.program)
    assert "void f(" in lowered.as_text("c")
    assert json.loads(lowered.as_text("json"))["gradwalk"] == "program"
    assert "define" in lowered.as_text("llvm")
    assert lowered.cost_analysis() == {"flops": 3.0, "transcendentals": 3.0}
    assert repr(lowered) == "<lowered f(): <Program of 6 instructions from 4 inputs to 5 outputs>>"
    compiled = lowered.compile()
    for _ in range(3):
        assert compiled(xs, scale=3.0)["products"].tolist() == recorded(xs, 2, scale=3.0)["products"].tolist()
    assert pickle.loads(pickle.dumps(compiled))(xs, scale=1.0)["first"].tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match=r"f\(\) was lowered for arguments like .*, got "):
        compiled(xs[:2], scale=3.0)
    with pytest.raises(ValueError, match=r"dialect must be None, .*, got 'hlo'"):
        lowered.as_text("hlo")


def test_lowered_functions_have_derivatives_and_captured_values():
    weight = Value(2.0)
    compiled = jit(lambda x: weight * x * x).lower(1.0).compile()
    y = compiled(3.0)
    y.backward()
    assert (y.data, weight.grad) == (18.0, 9.0)
    weight.data = 1.0
    assert compiled(3.0).data == 9.0
    square = jit(lambda x: x * x).lower(1.0).compile()
    assert grad(square)(3.0) == 6.0


def test_costs_of_loops_and_refusals():
    lowered = jit(lambda x: loops.fori_loop(0, 10, lambda _, c: gm.sin(c) * x, x)).lower(1.0)
    assert lowered.cost_analysis() == {"flops": 10.0, "transcendentals": 10.0}
    with pytest.raises(ValueError, match="branches on its arguments, but a program contains only one path"):
        jit(lambda x: x if x > 0 else -x).lower(1.0)
    printing = jit(lambda x: debug.print("{}", x) or x).lower(1.0)
    for dialect in ("llvm", "c", "json"):
        with pytest.raises(ProgramError, match=r"debug.print, a Python function"):
            printing.as_text(dialect)


def test_arguments_of_jit_in_jax():
    @functools.partial(jit, static_argnames="n", donate_argnums=(0,), donate_argnames=None)
    def power(x, n):
        return x**n

    assert power(2.0, n=3) == 8.0
    assert jit(lambda x: x, static_argnums=None, static_argnames=None)(2.0) == 2.0
