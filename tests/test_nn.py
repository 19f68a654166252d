"""`nn` against micrograd's: the same network from the same seed."""

from __future__ import annotations

import random

import numpy as np
import pytest
from references import micrograd

from gradwalk import Value, draw, grad, nn


def both(*arguments, seed=1337):
    random.seed(seed)
    mine = nn.MLP(*arguments)
    random.seed(seed)
    return mine, micrograd.nn.MLP(*arguments)


def test_same_weights_bit_for_bit():
    mine, theirs = both(3, [16, 16, 2])
    assert [p.data for p in mine.parameters()] == [p.data for p in theirs.parameters()]
    assert repr(mine) == repr(theirs)


@pytest.mark.parametrize("sizes", [(2, [16, 16, 1]), (3, [4, 4, 2]), (1, [1]), (5, [3])])
def test_same_forward_values_bit_for_bit_and_gradients_to_rounding(sizes):
    mine, theirs = both(*sizes)
    draw = random.Random(0)
    for _ in range(5):
        x = [draw.uniform(-2, 2) for _ in range(sizes[0])]
        out, other = mine(x), theirs([micrograd.engine.Value(number) for number in x])
        if sizes[1][-1] > 1:
            assert [v.data for v in out] == [v.data for v in other]
            out, other = sum(out), sum(other)
        assert out.data == other.data
        mine.zero_grad()
        theirs.zero_grad()
        out.backward()
        other.backward()
        for p, q in zip(mine.parameters(), theirs.parameters(), strict=True):
            assert p.grad == pytest.approx(q.grad, rel=1e-13, abs=1e-15)


def test_same_training_as_micrograd():
    mine, theirs = both(2, [4, 4, 1])
    draw = random.Random(1)
    data = [([draw.uniform(-1, 1), draw.uniform(-1, 1)], draw.choice([-1, 1])) for _ in range(10)]
    for _ in range(5):
        losses = []
        for model, kind in ((mine, Value), (theirs, micrograd.engine.Value)):
            loss = sum((1 + -y * model([kind(number) for number in x])).relu() for x, y in data)
            loss = loss * (1.0 / len(data)) + 1e-4 * sum(p * p for p in model.parameters())
            model.zero_grad()
            loss.backward()
            for p in model.parameters():
                p.data -= 0.1 * p.grad
            losses.append(loss.data)
        assert losses[0] == pytest.approx(losses[1], rel=1e-12)


def test_repr():
    assert repr(nn.MLP(2, [2, 1])) == ("MLP of [Layer of [ReLUNeuron(2), ReLUNeuron(2)], Layer of [LinearNeuron(2)]]")
    assert repr(nn.Neuron(3, nonlin=False)) == "LinearNeuron(3)"
    assert repr(nn.Neuron(3, activation=Value.tanh)) == "TanhNeuron(3)"
    assert repr(nn.Neuron(3, activation=lambda v: v)) == "<lambda>Neuron(3)"


def test_activation_is_a_choice():
    random.seed(0)
    model = nn.MLP(2, [3, 1], activation=Value.tanh)
    out = model([0.5, -0.25])
    hidden = [n([0.5, -0.25]) for n in model.layers[0].neurons]
    assert [h.op for h in hidden] == ["tanh"] * 3
    assert out.op == "sumprod"


def test_activation_must_be_a_function():
    with pytest.raises(TypeError, match=r"such as Value\.tanh, not 'tanh'"):
        nn.MLP(2, [1], activation="tanh")


def test_named_parameters():
    model = nn.MLP(2, [2, 1])
    names = dict(model.named_parameters())
    assert list(names)[:4] == [
        "layers.0.neurons.0.w.0",
        "layers.0.neurons.0.w.1",
        "layers.0.neurons.0.b",
        "layers.0.neurons.1.w.0",
    ]
    assert list(names.values()) == model.parameters()


def test_modules_of_ones_own():
    class Shared(nn.Module):
        def __init__(self):
            self.first = Value(1.0)
            self.table = {"a": Value(2.0), "b": (Value(3.0), self.first)}
            self.part = nn.Neuron(1)
            self.computed = self.first * 2
            self.rate = 0.1
            self.me = self
            self.array = np.array([[Value(4.0)], [Value(5.0)]])
            self.numbers = np.ones(3)

    model = Shared()
    assert [name for name, _ in model.named_parameters()] == [
        "first",
        "table.a",
        "table.b.0",
        "part.w.0",
        "part.b",
        "array.0.0",
        "array.1.0",
    ]
    for p in model.parameters():
        p.grad = 5.0
    model.zero_grad()
    assert [p.grad for p in model.parameters()] == [0.0] * 7
    assert nn.Module().parameters() == []


def test_every_row_of_an_array_is_looked_at():
    model = nn.Module()
    model.first, model.second = (np.array([[Value(i)] for i in range(50)]) for _ in range(2))
    assert len(model.parameters()) == 100


def test_wrong_number_of_inputs():
    with pytest.raises(ValueError, match=r"ReLUNeuron\(2\) takes 2 inputs, not 3"):
        nn.Neuron(2)([1.0, 2.0, 3.0])


def test_inputs_can_be_anything_with_numbers():
    model = nn.MLP(2, [2, 1])
    expected = model([0.5, 1.0]).data
    for x in ((0.5, 1), np.array([0.5, 1.0]), [np.float32(0.5), Value(1.0)]):
        assert model(x).data == expected


class TestPlainOperations:
    @pytest.mark.parametrize("sizes", [[1], [3, 1], [4, 4, 2]])
    def test_the_numbers_are_those_of_fused_neurons(self, sizes):
        models = []
        for fused in (True, False):
            random.seed(3)
            models.append(nn.MLP(2, sizes, fused=fused))
        outs = [np.ravel(model([0.3, -1.2])).tolist() for model in models]
        assert [v.data for v in outs[0]] == [v.data for v in outs[1]]
        for out in outs:
            sum(out).backward()
        gradients = [[p.grad for p in model.parameters()] for model in models]
        np.testing.assert_allclose(gradients[0], gradients[1], 1e-15, 1e-15)

    def test_the_lectures_neuron_is_drawn_with_its_14_edges(self):
        for fused, edges in ((True, 8), (False, 14)):
            out = nn.Neuron(2, fused=fused)([Value(1.0), Value(-2.0)])
            assert draw(out).dot.count("->") == edges

    def test_too_many_inputs(self):
        with pytest.raises(ValueError, match=r"ReLUNeuron\(2\) takes 2 inputs, not 3"):
            nn.Neuron(2, fused=False)([1.0, 2.0, 3.0])


def test_a_module_of_numbers_can_be_called():
    model = nn.MLP(2, [3, 1])
    numbers = grad(lambda model: model([0.5, -1.0]) * 2.0)(model)
    assert isinstance(numbers([0.5, -1.0]), Value)
    assert numbers.layers[0].neurons[0]([1.0, 2.0]).data >= 0.0
