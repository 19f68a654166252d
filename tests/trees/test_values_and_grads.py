"""`values` and `grads` give plain numbers for trees of Values."""

from __future__ import annotations

import dataclasses
import json
import random

import numpy
import pytest
from references import torch

from gradwalk import Complex, RecordingError, Value, grads, jit, nn, values


@dataclasses.dataclass
class Curve:
    rate: object
    name: str = "curve"


def tree():
    return [Value(1.0), 2, {"x": numpy.array([Value(3.0), 4.0], dtype=object), "n": None}, Curve(Value(5.0))]


def loss(t):
    return t[0] * t[1] + (t[2]["x"] ** 2).sum() + 2.0 * t[3].rate


def test_numbers_and_gradients():
    given = tree()
    loss(given).backward()
    found = values(given)
    assert found[0] == 1.0
    assert found[1] == 2
    assert type(found[1]) is int
    assert (found[2]["x"].dtype, found[2]["x"].tolist(), found[2]["n"]) == (numpy.float64, [3.0, 4.0], None)
    assert found[3] == Curve(5.0)
    slopes = grads(given)
    assert slopes[:2] == [2.0, 0.0]
    assert slopes[2]["x"].tolist() == [6.0, 0.0]
    assert slopes[3] == Curve(2.0)
    assert isinstance(given[0], Value)


def test_single_numbers_and_modules():
    assert values(Value(2.0)) == 2.0
    assert values(3) == 3
    integers = numpy.array([1, 2])  # 32 bits on some machines
    assert values(integers).dtype == integers.dtype
    model = nn.MLP(2, [2, 1])
    model([1.0, 2.0]).backward()
    slopes = grads(model)
    assert [p.grad for p in model.parameters()] == list(slopes.parameters())
    assert all(isinstance(p, Value) for p in model.parameters())


def test_complex_numbers():
    z = Complex(Value(1.0), Value(2.0))
    (z.real * z.imag).backward()
    assert values([z, 3j]) == [1 + 2j, 3j]
    assert values(z) == 1 + 2j
    assert grads({"z": z}) == {"z": 2 + 1j}
    array = values(numpy.array([z, 1.0], dtype=object))
    assert (array.dtype, array.tolist()) == (numpy.complex128, [1 + 2j, 1 + 0j])


def test_libraries_that_need_floats():
    pytest.importorskip("matplotlib").use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    points = [Value(1.0), Value(2.0)]
    [line] = pyplot.plot(values(points))
    assert line.get_ydata().tolist() == [1.0, 2.0]
    pyplot.close()
    assert random.Random(0).choices("ab", weights=values(points))[0] in "ab"
    assert json.loads(json.dumps({"p": points}, default=values)) == {"p": [1.0, 2.0]}
    assert torch.tensor(values(points)).tolist() == [1.0, 2.0]
    for use in (pyplot.plot, lambda p: random.choices("ab", weights=p), numpy.random.default_rng().poisson):
        with pytest.raises(TypeError, match=r"gradwalk\.values\(tree\) for the numbers"):
            use(points)
    pyplot.close()


def test_numbers_of_a_recorded_function_are_refused():
    with pytest.raises(RecordingError, match="data"):
        jit(lambda x: x * values(x))(2.0)


def test_invalid_trees_are_refused():
    with pytest.raises(TypeError, match=r"the tree\[1\] is a set"):
        values([1.0, {2.0}])
