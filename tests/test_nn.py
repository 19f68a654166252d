"""`gradwalk.nn` against `micrograd.nn`: the same seed gives the same network."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import pickle
import random
import types
from typing import Any

import numpy as np
import pytest
from references import micrograd

from gradwalk import Value, draw, grad, jacrev, jit, nn, vmap
from gradwalk.nn import Module


def both(*arguments, seed=1337):
    random.seed(seed)
    mine = nn.MLP(*arguments)
    random.seed(seed)
    return mine, micrograd.nn.MLP(*arguments)


def test_same_weights_as_micrograd():
    mine, theirs = both(3, [16, 16, 2])
    assert [p.data for p in mine.parameters()] == [p.data for p in theirs.parameters()]
    assert repr(mine) == repr(theirs)


@pytest.mark.parametrize("sizes", [(2, [16, 16, 1]), (3, [4, 4, 2]), (1, [1]), (5, [3])])
def test_same_values_and_gradients_as_micrograd(sizes):
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


def test_activation_can_be_chosen():
    random.seed(0)
    model = nn.MLP(2, [3, 1], activation=Value.tanh)
    out = model([0.5, -0.25])
    hidden = [n([0.5, -0.25]) for n in model.layers[0].neurons]
    assert [h.op for h in hidden] == ["tanh"] * 3
    assert out.op == "sumprod"


def test_activation_must_be_a_function():
    with pytest.raises(TypeError, match=r"such as Value\.tanh, got 'tanh'"):
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


def test_user_defined_modules():
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


def test_arrays_of_values_are_parameters():
    model = nn.Module()
    model.first, model.second = (np.array([[Value(i)] for i in range(50)]) for _ in range(2))
    assert len(model.parameters()) == 100


def test_wrong_number_of_inputs():
    with pytest.raises(ValueError, match=r"ReLUNeuron\(2\) needs 2 inputs, got 3"):
        nn.Neuron(2)([1.0, 2.0, 3.0])


def test_inputs_can_be_any_sequence_of_numbers():
    model = nn.MLP(2, [2, 1])
    expected = model([0.5, 1.0]).data
    for x in ((0.5, 1), np.array([0.5, 1.0]), [np.float32(0.5), Value(1.0)]):
        assert model(x).data == expected


class TestPlainOperations:
    @pytest.mark.parametrize("sizes", [[1], [3, 1], [4, 4, 2]])
    def test_values_equal_those_of_fused_neurons(self, sizes):
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

    def test_unfused_neuron_is_drawn_with_14_edges(self):
        for fused, edges in ((True, 8), (False, 14)):
            out = nn.Neuron(2, fused=fused)([Value(1.0), Value(-2.0)])
            assert draw(out).dot.count("->") == edges

    def test_too_many_inputs(self):
        with pytest.raises(ValueError, match=r"ReLUNeuron\(2\) needs 2 inputs, got 3"):
            nn.Neuron(2, fused=False)([1.0, 2.0, 3.0])


def test_gradient_modules_can_be_called():
    model = nn.MLP(2, [3, 1])
    numbers = grad(lambda model: model([0.5, -1.0]) * 2.0)(model)
    assert isinstance(numbers([0.5, -1.0]), Value)
    assert numbers.layers[0].neurons[0]([1.0, 2.0]).data >= 0.0


# Attributes in slots, and collections that are not containers of parameters


class Slotted(Module):
    __slots__ = ("w", "b", "__scale", "unset")  # noqa: RUF023  parameters are in this order

    def __init__(self) -> None:
        self.b = Value(3.0)
        self.w = [Value(1.0), Value(2.0)]
        self.__scale = Value(0.5)

    def __call__(self, x: Any) -> Any:
        return (self.w[0] * x + self.w[1] * x * x + self.b) * self.__scale


class Derived(Slotted):
    """A subclass with slots and a `__dict__`."""

    __slots__ = ("c",)

    def __init__(self) -> None:
        self.first = Value(5.0)
        super().__init__()
        self.c = Value(4.0)

    def __call__(self, x: Any) -> Any:
        return super().__call__(x) + self.c * self.c + self.first * x


class Mixed(Derived):
    """A subclass without slots, with a submodule that has slots."""

    def __init__(self) -> None:
        super().__init__()
        self.part = Slotted()

    def __call__(self, x: Any) -> Any:
        return super().__call__(x) * self.part(x)


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen(Module):
    w: Any
    name: str = "frozen"

    def __call__(self, x: Any) -> Any:
        return self.w * self.w * x


PATHS = {
    Slotted: ["w.0", "w.1", "b", "_Slotted__scale"],
    Derived: ["w.0", "w.1", "b", "_Slotted__scale", "c", "first"],
    Mixed: [
        *["w.0", "w.1", "b", "_Slotted__scale", "c", "first"],
        *["part.w.0", "part.w.1", "part.b", "part._Slotted__scale"],
    ],
    Frozen: ["w"],
}


def made(cls: Any) -> Any:
    return Frozen(Value(2.0)) if cls is Frozen else cls()


@pytest.mark.parametrize("cls", PATHS)
class TestSlots:
    def test_parameters(self, cls):
        model = made(cls)
        assert [path for path, _ in model.named_parameters()] == PATHS[cls]
        model(2.0).backward()
        assert all(p.grad != 0.0 for p in model.parameters())
        model.zero_grad()
        assert all(p.grad == 0.0 for p in model.parameters())
        model.label_parameters()
        assert [p.label for p in model.parameters()] == PATHS[cls]

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
    def test_copies(self, cls, copied):
        model = made(cls)
        twin = copied(model)
        assert [path for path, _ in twin.named_parameters()] == PATHS[cls]
        assert [p.data for p in twin.parameters()] == [p.data for p in model.parameters()]
        assert grad(lambda m: m(2.0))(twin).parameters() == grad(lambda m: m(2.0))(model).parameters()

    def test_transforms(self, cls):
        model = made(cls)
        model(2.0).backward()
        expected = [p.grad for p in model.parameters()]
        f = lambda m: m(2.0)  # noqa: E731
        for transform in (grad(f), jit(grad(f)), grad(jit(f)), jit(grad(f), branches="record"), jacrev(f)):
            for _ in range(3):  # traced, then replayed
                gradient = transform(model)
                assert type(gradient) is cls
                assert gradient.parameters() == pytest.approx(expected, rel=1e-12)
                assert [path for path, _ in gradient.named_parameters()] == PATHS[cls]
        batched = vmap(grad(lambda m, x: m(x)), in_axes=(None, 0))(model, np.array([2.0, 2.0]))
        assert [p.tolist() for p in batched.parameters()] == [pytest.approx([e, e], rel=1e-12) for e in expected]
        assert jit(lambda m: m)(model).parameters() == [p.data for p in model.parameters()]
        in_a_dict = grad(lambda tree: tree["model"](tree["x"]))({"model": model, "x": 2.0})
        assert in_a_dict["model"].parameters() == pytest.approx(expected, rel=1e-12)

    def test_second_order(self, cls):
        model = made(cls)
        direction = [float(i + 1) for i in range(len(model.parameters()))]
        slope = lambda m: sum(  # noqa: E731
            d * g for d, g in zip(direction, grad(lambda m: m(2.0) * m(2.0))(m).parameters(), strict=True)
        )
        products = grad(slope)(model).parameters()
        for i, parameter in enumerate(model.parameters()):
            before = parameter.data
            ends = []
            for step in (1e-5, -1e-5):
                parameter.data = before + step
                ends.append(float(slope(model)))
            parameter.data = before
            assert products[i] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-6)

    def test_other_attributes_are_structure(self, cls):
        calls = []
        f = jit(lambda m: (calls.append(1), m(2.0))[1])
        f(made(cls))
        f(made(cls))
        assert len(calls) == 1
        other = made(cls)
        if cls is Frozen:
            other = Frozen(Value(2.0), "another")
        else:
            other.unset = "now set"
        f(other)
        assert len(calls) == 2


def test_traced_gradient_has_parameters():
    # These parameters are computed Values, but computed Values that the model itself stores are not parameters.
    model = Slotted()
    model.b = model.w[0] * 2.0  # a result
    f = lambda m: m.w[0] * m.w[0] * m.w[1]  # noqa: E731
    slope = lambda m: sum(grad(f)(m).parameters(), 0.0)  # noqa: E731
    for transform in (grad, lambda f: jit(grad(f)), lambda f: grad(jit(f))):
        assert transform(slope)(model).parameters() == [2.0 * 2.0 + 2.0 * 1.0, 2.0 * 1.0, 0.0]
    x = Value(3.0)
    outer = grad(lambda m: m(x))(Holder(None))
    assert [p.data for p in outer.parameters()] == [3.0]
    outer.parameters()[0].backward()
    assert x.grad == 1.0
    assert len(model.parameters()) == 3


@dataclasses.dataclass
class Pair:
    left: Any
    right: Any = None


class Plain:
    def __init__(self, held: Any) -> None:
        self.held = held

    def method(self, x: Any) -> Any:
        return x


class PlainWithSlots:
    __slots__ = ("__held", "unset")

    def __init__(self, held: Any) -> None:
        self.__held = held


class Holder(Module):
    def __init__(self, collection: Any, w: Any = None) -> None:
        self.w = Value(2.0) if w is None else w
        self.others = collection

    def __call__(self, x: Any) -> Any:
        return self.w * x


COLLECTIONS: dict[str, Any] = {
    "set": lambda v: {v},
    "frozenset": lambda v: frozenset([v]),
    "deque": lambda v: collections.deque([v]),
    "UserList": lambda v: collections.UserList([v]),
    "UserDict": lambda v: collections.UserDict(a=v),
    "ChainMap": lambda v: collections.ChainMap({"a": v}),
    "mappingproxy": lambda v: types.MappingProxyType({"a": v}),
    "dict_values": lambda v: {"a": v}.values(),
    "SimpleNamespace": lambda v: types.SimpleNamespace(a=v),
    "Pair": Pair,
    "set in a list": lambda v: [1.0, {v}],
    "list in a deque": lambda v: collections.deque([[v]]),
    "tuple in a set": lambda v: {(1.0, v)},
    "array in a deque": lambda v: collections.deque([np.array([v])]),
    "Module in a deque": lambda v: collections.deque([Holder(None, v)]),
    "dict in a Pair": lambda v: Pair(None, {"a": v}),
    "Plain": Plain,
    "PlainWithSlots": PlainWithSlots,
    "Plain in a Plain": lambda v: Plain([Plain(v)]),
    "method": lambda v: Plain(v).method,
    "partial": lambda v: functools.partial(pow, v),
    "partial with a keyword": lambda v: functools.partial(pow, exp=v),
    "partial of a method": lambda v: functools.partial(Plain(v).method),
}


@pytest.mark.parametrize("kind", COLLECTIONS)
class TestOtherCollections:
    def test_values_in_unsupported_collections_raise(self, kind):
        model = Holder(COLLECTIONS[kind](Value(1.0)))
        path = r"Holder\.others" + (r"\.1" if kind == "set in a list" else "")
        said = rf"the Values in {path} cannot be parameters, because it is a \w+: keep them in a list, tuple, dict"
        for f in (
            model.parameters,
            model.zero_grad,
            lambda: grad(lambda m: m(2.0))(model),
            lambda: jit(lambda m: m(2.0))(model),
            lambda: jit(grad(lambda m: m(2.0)))([model]),
            lambda: vmap(lambda x, m: m(x), in_axes=(0, None))(np.ones(2), model),
        ):
            with pytest.raises(TypeError, match=said):
                f()
        with pytest.raises(TypeError, match="in a set or a dict" if "set" in kind else said):
            grad(lambda x: grad(lambda m: m(x))(Holder(COLLECTIONS[kind](x))).w)(1.0)

    def test_references_to_parameters_are_allowed(self, kind):
        # In-place training works, but a transform would miss these references.
        model = Holder(None)
        model.others = COLLECTIONS[kind](model.w)
        assert model.parameters() == [model.w]
        with pytest.raises(TypeError, match="cannot be parameters"):
            grad(lambda m: m(2.0))(model)

    def test_collections_without_values_are_structure(self, kind):
        model = Holder(COLLECTIONS[kind]("relu"))
        assert model.parameters() == [model.w]
        assert grad(lambda m: m(2.0))(model).parameters() == [2.0]

    def test_computed_values_are_not_parameters(self, kind):
        model = Holder(COLLECTIONS[kind](Value(1.0) * 2.0))
        assert model.parameters() == [model.w]
        assert grad(lambda m: m(2.0))(model).parameters() == [2.0]
