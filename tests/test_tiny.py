"""Smoke tests that take a second: run these first."""

from __future__ import annotations

import pytest

from gradwalk import Value


def test_micrograd_readme_example():
    a = Value(-4.0)
    b = Value(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    assert f"{g.data:.4f}" == "24.7041"
    g.backward()
    assert f"{a.grad:.4f}" == "138.8338"
    assert f"{b.grad:.4f}" == "645.5773"


def test_neuron():
    x1, x2, w1, w2 = Value(2.0), Value(0.0), Value(-3.0), Value(1.0)
    b = Value(6.8813735870195432)
    n = x1 * w1 + x2 * w2 + b
    o = n.tanh()
    o.backward()
    assert (n.data, o.data) == pytest.approx((0.8813735870195432, 0.7071067811865476), abs=1e-12)
    grads = (o.grad, n.grad, b.grad, x1.grad, w1.grad, x2.grad, w2.grad)
    assert grads == pytest.approx((1.0, 0.5, 0.5, -1.5, 1.0, 0.5, 0.0), abs=1e-12)


def test_repr():
    assert repr(Value(-6)) == "Value(data=-6.0, grad=0.0)"
    assert repr(Value(-6, label="e")) == "Value(data=-6.0, grad=0.0, label='e')"
