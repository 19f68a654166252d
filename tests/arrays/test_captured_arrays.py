"""Large arrays of numbers that a recorded function takes from outside are whole where they meet Values."""

from __future__ import annotations

import importlib
from collections import deque

import numpy
import pytest
from references import needs
from whole_arrays import calls_of, compare_with_numbers

from gradwalk import Value, checkpoint, debug_nans, grad, jit, loops, no_grad, stop_gradient, value_and_grad, vmap
from gradwalk import numpy as gnp
from gradwalk.arrays import recorder
from gradwalk.arrays.kinds import Constant
from gradwalk.arrays.map_call import MapCall
from gradwalk.arrays.whole_calls import Product
from gradwalk.program.program import Program
from gradwalk.value.arrays import ValueArray
from gradwalk.value.modes import RecordingError

generator = numpy.random.default_rng(7)
V = generator.normal(size=20)
M = generator.normal(size=(20, 3))
INTS = numpy.arange(20) - 7
FLAGS = V > 0.0


def assigned(a, x):
    y = a * V
    y[3] = x[0] ** 2
    y[5:9] *= x[1:5]
    y += V * x[11]
    return (y**2).sum()


def sorted_and_changed(y):
    y = numpy.sort(numpy.sin(y))
    y[1:4] = 1.0
    return y


def windows(a, x):
    y = a * V
    total = y[3] * x[0] + (y**2).sum()
    for i in range(0, 20, 4):
        total = total + y[i : i + 4].sum() ** 2
    return total + (y**3).sum()


def changed_elements(a, x):
    w = x[:1] * 1.0
    y = V * w[0]
    z = y + w * V
    w *= 3.0
    first = z[2]
    y[2] = a
    z += y
    return first * z[2] + y[2] * (z * y[::-1]).sum() + w[0]


def partly_constant(a, x):
    y = a * V * x[0]
    with no_grad():
        first = y[0]
    return (stop_gradient(first) + y[0]) * y[1] + loops.fori_loop(0, 3, lambda i, c: c * y[2] + y[3], a)


def values_along_the_rows(a, x):
    column = numpy.array(x.tolist())[:, None]
    return (a * numpy.hstack([V[:12, None] * x[:, None], M[:12] * column]) ** 2).sum()


def changed_between(a, x):
    data = V.copy()
    first = (a * data).sum()
    data[0] = 5.0
    return first * (x[0] * data).sum()


def descended(a, x):
    def loss(w):
        return ((M @ w - a * V) ** 2).mean()

    return loops.fori_loop(0, 5, lambda _, w: w - 0.1 * grad(loss)(w), x[:3]).sum()


FUNCTIONS = {
    "from the left": lambda a, x: ((a * V + x[0]) ** 2).sum(),
    "from the right": lambda a, x: ((V - a) / x[1] - V * x[2]).sum() + (V / a).mean(),
    "power": lambda a, x: (a**V).sum() + ((V**2 + 1.0) ** x[0]).sum(),
    "comparison": lambda a, x: (gnp.where(a * V > x[0], V * x[1], x[2] - V) ** 3).sum() * a,
    "maximum": lambda a, x: (gnp.maximum(V, a * x[0]) ** 2).sum() + (gnp.minimum(x[1], V) ** 2).sum(),
    "ufunc": lambda a, x: numpy.hypot(a, V).sum() + numpy.arctan2(x[3], V).sum(),
    "ints": lambda a, x: (a * INTS + x[0] // 1.0 * INTS).sum(),
    "flags": lambda a, x: (a * FLAGS - FLAGS * x[2]).sum(),
    "columns": lambda a, x: (a * M[:, 0] * (x[0] * M[:, 2])).sum() + (x[1] * M.T[::2] ** 2).sum() ** 2,
    "wide": lambda a, x: (numpy.exp(-a * M.T) * x[:3, None]).sum(axis=0).max(),
    "array": lambda a, x: ((M * x[:3] - a) ** 2).sum() + (x[3:6] / (M**2 + 1.0)).sum(),
    "product": lambda a, x: ((M @ x[:3] - a * V) ** 2).mean() + (x[:3] @ M.T).max(),
    "matrix": lambda a, x: numpy.tanh(M @ (a * x).reshape(3, 4)).sum() + (V @ (M @ x[:3])) ** 2,
    "dot": lambda a, x: (numpy.dot(M, a * x[:3]) ** 2).sum() + gnp.dot(M, x[3:6]).max(),
    "matmul": lambda a, x: (gnp.matmul(M, x.reshape(3, 4)) ** 2).sum() * a,
    "einsum": lambda a, x: (numpy.einsum("ij,j->i", M, a * x[:3]) ** 2).sum(),
    "made array": lambda a, x: ((M @ gnp.array([a, x[0], 2.0]) + gnp.array([x[1]]) * V) ** 2).sum(),
    "appended": lambda a, x: ((M @ numpy.append(x[:2], a)) ** 2).sum(),
    "outer": lambda a, x: (numpy.outer(V, x[:4]) ** 2).sum() * a,
    "joined": lambda a, x: (numpy.concatenate([V, a * x]) ** 3).sum(),
    "list": lambda a, x: (gnp.exp(gnp.multiply(M, [a, x[0], 1.0])) - numpy.array([a, x[1], x[2]]) * M).sum(),
    "values along the rows": values_along_the_rows,
    "in place": assigned,
    "changed between": changed_between,
    "loop": descended,
    "branch": lambda a, x: (a * V).sum() if (a * V).sum() > 0.0 else (x[0] * V**2).sum(),
    "sums": lambda a, x: numpy.cumsum(a * V)[-1] * numpy.prod(1.0 + 0.1 * a * V) + numpy.sort(x[0] * V)[4],
    "part of a sort": lambda a, x: numpy.sort(numpy.sin(a * V))[5] ** 2 + numpy.sort(numpy.sin(x))[2:4].sum(),
    "changed sort": lambda a, x: (sorted_and_changed(a * V) * sorted_and_changed(a * x)[2]).sum(),
    "elements": lambda a, x: sum((a * V)[i] ** 2 * numpy.sin(x[0] - V * a)[i] for i in range(12)),
    "iteration": lambda a, x: sum(y * y for y in a * V) + sum(row[1] ** 2 for row in M * x[:3]),
    "windows": windows,
    "changed elements": changed_elements,
    "with and without gradient": partly_constant,
    "lanes": lambda a, x: vmap(lambda z: (z * a * V).sum())(x).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_agree_with_the_numbers(name, monkeypatch):
    """The least sizes make all arrays whole, or only those that are not arguments."""
    compare_with_numbers(FUNCTIONS[name], monkeypatch, sizes=(1, 13))


def test_calls_compute_with_them(monkeypatch):
    monkeypatch.setattr(recorder, "LEAST_SIZE", 13)
    w = numpy.array([0.5, -1.0, 2.0])
    for f in (lambda w: ((w[0] * V + w[1] - V**2) ** 2).sum(), lambda w: (M * w).sum()):
        g = jit(value_and_grad(f))
        g(w)
        assert set(calls_of(g, MapCall)) == {MapCall}
        assert len(g.latest.program) < 20
    g = jit(grad(lambda w: (numpy.exp(M @ (w * w[:, None])) ** 2).sum()))
    g(w)
    assert calls_of(g, MapCall, Product)


def test_one_operand_for_all_uses(monkeypatch):
    monkeypatch.setattr(recorder, "LEAST_SIZE", 13)
    f = jit(lambda a: (numpy.sin(a * V) * V + V / a).sum())
    assert f(0.5) == pytest.approx((numpy.sin(0.5 * V) * V + V / 0.5).sum())
    assert len(calls_of(f, Constant)) == 1


def test_later_changes_of_the_array_do_not_matter(monkeypatch):
    monkeypatch.setattr(recorder, "LEAST_SIZE", 13)
    data = V.copy()
    f = jit(lambda a: (a * data).sum())
    before = f(2.0)
    data[:] = 0.0
    assert f(2.0) == before
    assert jit(lambda a: (a * data).sum())(2.0) == 0.0


def test_values_outside_of_recordings_make_ordinary_arrays(monkeypatch):
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    factor = Value(2.0)
    found = factor * V
    assert type(found) is numpy.ndarray
    found.sum().backward()
    assert factor.grad == pytest.approx(V.sum())

    def with_parameter(a):
        assert type(factor * V) is numpy.ndarray
        return a * (factor * V)[0]

    assert grad(with_parameter)(1.0) == pytest.approx(2.0 * V[0])


def test_gradients_by_numbers_use_them_too(monkeypatch):
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    seen = []

    def f(a):
        y = a * V
        seen.append(type(y))
        return (y**2).mean()

    assert value_and_grad(f)(0.5) == pytest.approx((0.25 * (V**2).mean(), (V**2).mean()))
    assert seen[-1] is not numpy.ndarray


@pytest.mark.usefixtures("whole")
def test_elements_are_computed_one_by_one():
    f = jit(grad(lambda a: sum((a * V)[i] ** 2 for i in range(20))))
    assert f(0.5) == pytest.approx(2 * 0.5 * (V**2).sum())
    assert isinstance(f.latest.program, Program)  # of numbers


class Convertible:
    def __array__(self, dtype=None, copy=None):
        return V


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("other", [deque(V), range(20), Convertible(), numpy.ma.masked_array(V, V > 0.0)])
def test_operands_of_other_classes_are_used_as_numpy_does(other):
    expected = (0.5 * V) * other
    for f in (lambda a: (a * V) * other, lambda a: numpy.multiply(a * V, other)):
        found = grad(lambda a, f=f: f(a).sum())(0.5)
        assert found == pytest.approx(expected.sum() / 0.5)


@needs("pandas")
def test_pandas_gets_ordinary_arrays(monkeypatch):
    series = importlib.import_module("pandas").Series(V)
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    assert grad(lambda a: ((a * series) ** 2).sum())(0.5) == pytest.approx((V**2).sum())


@pytest.mark.usefixtures("whole")
def test_functions_without_a_form_for_values_get_the_numbers():
    place = numpy.digitize(0.1, numpy.sort(V))
    assert grad(lambda x: x[0] * numpy.digitize(x * 0.1, numpy.sort(V))[0])(numpy.ones(2)).tolist() == [place, 0.0]
    with pytest.raises(RecordingError, match="int"):
        jit(lambda a: INTS & a)(3.0)


@pytest.mark.usefixtures("whole")
def test_debug_nans_and_checkpoint():
    with debug_nans():
        assert grad(lambda a: (a * V).sum())(0.5) == pytest.approx(V.sum())

    def f(a):
        y = a * V
        return checkpoint(lambda z: y.sum() * z)(a)

    for way in (grad(f), jit(grad(f))):
        assert way(0.5) == pytest.approx(V.sum())


@pytest.mark.usefixtures("whole")
def test_errors_of_numpy():
    with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(20,\) \(12,\)"):
        grad(lambda x: (V * x).sum())(numpy.ones(12))

    def changed(a):
        data = V.copy()
        data += a
        return data.sum()

    with pytest.raises(RecordingError, match="Cannot cast ufunc 'add' output"):
        jit(changed)(1.0)


@pytest.mark.usefixtures("whole")
def test_shapes_that_change_in_place():
    def f(a):
        y, z = a * V, a * V
        y.shape = (4, 5)
        z.resize((4, 5))
        assert (z.shape, z.ndim, z.size) == ((4, 5), 2, 20)
        return y[1, 2] * z[2, 1]

    assert grad(f)(0.5) == pytest.approx(2 * 0.5 * V[7] * V[11])


def test_arguments_look_and_behave_like_arrays():
    seen = []

    def f(w):
        seen.append(w)
        assert isinstance(w, numpy.ndarray)
        assert repr(w).startswith("array([")
        assert isinstance(w[1:] * 2.0, ValueArray)
        assert isinstance(w * w[0], ValueArray)
        w *= 2.0
        assert w is seen[-1]
        assert isinstance(numpy.append(w, 1.0), ValueArray)
        total = numpy.add.reduce(w) + w.sum() + numpy.concatenate([w, w])[0]
        assert isinstance(total, Value)
        numpy.multiply(w, 3.0, out=w)
        return total + w.max() + (w @ w) + numpy.linalg.norm(w)

    w = numpy.array([1.0, 2.0, 3.0])
    expected = 12.0 + 12.0 + 2.0 + 18.0 + 504.0 + numpy.sqrt(504.0)
    assert jit(f)(w) == pytest.approx(expected)
    assert value_and_grad(f)(w)[0] == pytest.approx(expected)
    assert w.tolist() == [1.0, 2.0, 3.0]
