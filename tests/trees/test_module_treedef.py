"""Tests of flattening and unflattening Modules."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy
import pytest
from hypothesis import given
from modules import MODULES, Line, Net, written
from programs import fewer

from gradwalk import Value, grad, hessian, hvp, jacobian, jit, value_and_grad
from gradwalk.nn import MLP, Module, Neuron, Numbers
from gradwalk.trees.module_treedef import parted
from gradwalk.value.modes import RecordingError
from gradwalk.value.node import primal_of


def containers(part: Any) -> list[Any]:
    """Return all mutable parts in order."""
    parts = vars(part) if isinstance(part, Module) else part
    if isinstance(parts, dict):
        parts = list(parts.values())
    if isinstance(part, numpy.ndarray) and part.dtype != object:
        return [part]
    if isinstance(part, numpy.ndarray):
        parts = part.ravel().tolist()
    if not isinstance(parts, (list, tuple)):
        return []
    return [*([] if isinstance(part, tuple) else [part]), *(found for item in parts for found in containers(item))]


def parameter_path(path: str) -> str:
    """Convert a treedef's name to the form of `named_parameters`: x['a'][0].b becomes a.0.b."""
    return path.replace("['", ".").replace("']", "").replace("[", ".").replace("]", "").replace(", ", ".").lstrip(".")


class TestFlattening:
    @fewer(2)
    @given(MODULES)
    def test_parameters_are_those_of_the_module(self, module):
        numbers, treedef = parted(module)
        named = list(module.named_parameters())
        assert numbers == [parameter.data for _, parameter in named]
        assert [type(number) for number in numbers] == [float] * treedef.size
        assert [parameter_path(name) for name in treedef.names("")] == [path for path, _ in named]

    @fewer(2)
    @given(MODULES)
    def test_names_evaluate_to_their_parameters(self, module):
        treedef = parted(module)[1]
        for name, parameter in zip(treedef.names("net"), module.parameters(), strict=True):
            assert eval(name, {"net": module}) is parameter

    @fewer(2)
    @given(MODULES)
    def test_unflattened_module_is_equal_and_independent(self, module):
        numbers, treedef = parted(module)
        again = treedef.unflatten(numbers)
        assert written(again) == written(module)
        assert again.parameters() == numbers
        assert not {id(item) for item in containers(again)} & {id(item) for item in containers(module)}
        assert parted(again)[1] == treedef

    @fewer(2)
    @given(MODULES)
    def test_unflattened_module_holds_the_given_values(self, module):
        treedef = parted(module)[1]
        values = [Value(i) for i in range(treedef.size)]
        assert treedef.unflatten(values).parameters() == values

    @fewer(2)
    @given(MODULES, MODULES)
    def test_treedefs_do_not_depend_on_numbers(self, module, other):
        treedef, other_treedef = parted(module)[1], parted(other)[1]
        assert (treedef == other_treedef) == (written(module) == written(other))
        for parameter in module.parameters():
            parameter.data += 1.0
        assert parted(module)[1] == treedef
        assert hash(parted(module)[1]) == hash(treedef)


class TestUnflattening:
    def test_shared_parameters_and_modules(self):
        w = Value(2.0)
        layer = Net(w=w)
        again = parted(Net(a=layer, b=[w, layer]))[1].unflatten([5.0])
        assert again.parameters() == [5.0]
        assert again.a is again.b[1]
        assert again.a.w is again.b[0]

    def test_modules_in_cycles(self):
        module = Net(w=Value(2.0), parts=[])
        module.me = module
        module.parts.append((module, module.parts))
        numbers, treedef = parted(module)
        again = treedef.unflatten([3.0])
        assert (numbers, again.parameters()) == ([2.0], [3.0])
        assert again.me is again
        assert again.parts[0][0] is again
        assert again.parts[0][1] is again.parts
        assert parted(again)[1] == treedef

    def test_init_is_not_called(self):
        again = parted(Line(Value(2.0), Value(1.0)))[1].unflatten([3.0, 4.0])
        assert (again.slope, again.offset) == (3.0, 4.0)

    def test_deep_chain_of_modules(self):
        module = Net(w=Value(0.0))
        for i in range(20_000):
            module = Net(w=Value(i), inner=module)
        numbers, treedef = parted(module)
        again = treedef.unflatten(numbers)
        assert len(again.parameters()) == treedef.size == 20_001
        assert treedef.names("net")[-1].count(".inner") == 20_000
        while vars(module):  # freed in a loop, because Python frees it by recursion
            module, again = vars(module).pop("inner", Net()), vars(again).pop("inner", Net())

    def test_computed_values_are_not_parameters(self):
        w = Value(2.0)
        module = Net(w=w, square=w * w)
        numbers, treedef = parted(module)
        assert numbers == [2.0]
        assert treedef.unflatten([3.0]).square is module.square
        assert parted(module)[1] == treedef
        assert parted(Net(w=w, square=w * w))[1] != treedef


class TestStructure:
    def test_treedef_includes_activations_sizes_and_classes(self):
        models = [
            lambda: MLP(2, [3, 1]),
            lambda: MLP(2, [3, 1], activation=Value.tanh),
            lambda: MLP(2, [4, 1]),
            lambda: MLP(2, [3, 1, 1]),
            lambda: MLP(2, [3, 2]),
            lambda: Neuron(2),
            lambda: Neuron(2, nonlin=False),
        ]
        treedefs = [parted(model())[1] for model in models]
        assert len(set(treedefs)) == len(models)
        assert [parted(model())[1] for model in models] == treedefs
        assert treedefs[0] != "MLP"

    def test_treedef_can_be_pickled(self):
        treedef = parted(MLP(2, [3, 1], activation=Value.tanh))[1]
        hash(treedef)
        again = pickle.loads(pickle.dumps(treedef))
        assert again._hash is None
        assert (again, hash(again)) == (treedef, hash(treedef))
        assert pickle.loads(pickle.dumps(grad(squared_error)(MLP(1, [1]), [2.0], 1.0))).parameters()

    def test_str_of_a_treedef(self):
        assert str(parted(MLP(2, [16, 16, 1]))[1]) == "MLP with 337 parameters"

    def test_hashing_an_unhashable_treedef_raises(self):
        treedef = parted(Net(parts=[Net(w=Value(1.0), seen={3})]))[1]
        assert treedef.unflatten([2.0]).parameters() == [2.0]
        with pytest.raises(TypeError, match=r"Net\.parts\[0\]\.seen is a set, which cannot be hashed"):
            hash(treedef)


def squared_error(model: Any, x: Any, y: Any) -> Any:
    return (model(x) - y) ** 2


class TestInFunctions:
    def test_gradient_is_a_module_equal_to_backward(self):
        random.seed(0)
        model = MLP(3, [4, 4, 1])
        gradient = grad(squared_error)(model, [0.5, -1.0, 2.0], 0.25)
        squared_error(model, [0.5, -1.0, 2.0], 0.25).backward()
        assert type(gradient) is MLP
        assert repr(gradient) == repr(model)
        assert gradient.parameters() == [parameter.grad for parameter in model.parameters()]
        assert all(isinstance(number, float) for number in gradient.parameters())
        assert gradient.layers[0].neurons[1].w[2] == model.layers[0].neurons[1].w[2].grad

    def test_one_recording_serves_all_equal_structures(self):
        step = jit(value_and_grad(squared_error))
        for seed in range(3):
            random.seed(seed)
            model = MLP(2, [3, 1])
            value, gradient = step(model, [0.5, -1.0], 0.25)
            loss = squared_error(model, [0.5, -1.0], 0.25)
            loss.backward()
            assert value == pytest.approx(loss.data, rel=1e-14)
            assert gradient.parameters() == pytest.approx([p.grad for p in model.parameters()], rel=1e-14)
        assert step.statistics.recordings == 1
        step(MLP(2, [3, 1], activation=Value.tanh), [0.5, -1.0], 0.25)
        assert step.statistics.recordings == 2

    def test_training_matches_backward(self):
        random.seed(2)
        model = MLP(2, [4, 1])
        random.seed(2)
        eager = MLP(2, [4, 1])
        step = jit(value_and_grad(squared_error))
        for i in range(20):
            x, y = [0.1 * i, 1.0 - 0.2 * i], 0.5
            _, gradient = step(model, x, y)
            for p, g in zip(model.parameters(), gradient.parameters(), strict=True):
                p.data -= 0.1 * g
            eager.zero_grad()
            squared_error(eager, x, y).backward()
            for p in eager.parameters():
                p.data -= 0.1 * p.grad
        assert [p.data for p in model.parameters()] == pytest.approx([p.data for p in eager.parameters()], rel=1e-12)

    def test_recorded_step_returns_a_module(self):
        @jit
        def descended(model, x, y):
            gradient = grad(squared_error)(model, x, y)
            return Line(model.slope - 0.1 * gradient.slope, model.offset - 0.1 * gradient.offset)

        line = Line(Value(1.0), Value(0.0))
        for _ in range(200):
            line = descended(descended(line, 1.0, 5.0), 2.0, 8.0)
        assert (line.slope, line.offset) == (pytest.approx(3.0, rel=1e-4), pytest.approx(2.0, rel=1e-4))
        assert descended.statistics.recordings == 1

    def test_gradient_with_computed_parameters(self):
        def after_a_step(model, x, y):
            gradient = grad(squared_error)(model, x, y)
            return squared_error(Line(model.slope - 0.1 * gradient.slope, model.offset), x, y)

        line = Line(Value(1.0), Value(0.0))
        gradient = grad(after_a_step)(line, 2.0, 5.0)
        error, shrunk = 2.0 - 5.0, 1.0 - 0.1 * 2.0 * 2.0**2
        assert gradient.slope == pytest.approx(2.0 * error * shrunk * 2.0 * shrunk)
        inner = grad(lambda w: grad(squared_error)(Line(w * w, 1.0), 2.0, 5.0).slope)
        assert inner(3.0) == pytest.approx(2.0 * 2.0**2 * 2.0 * 3.0)

    def test_second_derivatives(self):
        def f(model):
            return model.slope**2 * model.offset

        line = Line(Value(2.0), Value(5.0))
        both = hessian(f)(line)
        assert (both.slope.slope, both.slope.offset, both.offset.slope, both.offset.offset) == (10.0, 4.0, 4.0, 0.0)
        product = hvp(f, (line,), (grad(f)(line),))
        assert (product.slope, product.offset) == (10.0 * 20.0 + 4.0 * 4.0, 4.0 * 20.0)
        assert grad(lambda model: grad(f)(model).slope)(line).parameters() == [10.0, 4.0]

    def test_jacobians_with_modules(self):
        line = Line(Value(2.0), Value(5.0))
        as_list = jacobian(lambda model: [model(x) for x in (1.0, 3.0)])(line)
        assert [part.parameters() for part in as_list] == [[1.0, 1.0], [3.0, 1.0]]
        as_array = jacobian(lambda model: model(numpy.array([1.0, 3.0])))(line)
        assert isinstance(as_array.slope, Numbers)
        assert [part.tolist() for part in as_array.parameters()] == [[1.0, 3.0], [1.0, 1.0]]
        doubled = jit(lambda model: model.slope * 2.0)(as_array)
        assert doubled.tolist() == [2.0, 6.0]

    def test_modules_in_other_trees(self):
        tree = {"line": Line(Value(2.0), Value(5.0)), "x": 3.0}
        gradient = grad(lambda tree: tree["line"](tree["x"]))(tree)
        assert gradient["line"].parameters() == [3.0, 1.0]
        assert gradient["x"] == 2.0
        step = jit(lambda tree: tree["line"](tree["x"]))
        assert step(tree) == 11.0
        assert step.program.input_names == ("tree['line'].slope", "tree['line'].offset", "tree['x']")

    def test_captured_parameters_are_not_constants(self):
        line = Line(Value(2.0), Value(5.0))
        slope = jit(lambda x: grad(lambda model: model(x) ** 2)(line).slope)
        assert primal_of(slope(3.0)) == 2 * 11.0 * 3.0
        line.offset.data = 0.0
        assert primal_of(slope(3.0)) == 2 * 6.0 * 3.0

    def test_module_from_a_finished_recording_is_refused(self):
        kept = []
        jit(lambda model: kept.append(model) or model(1.0))(Line(Value(2.0), Value(5.0)))
        with pytest.raises(RecordingError, match="after the recording of its function has ended"):
            grad(kept[0])(1.0)

    def test_error_message_names_the_module(self):
        with pytest.raises(TypeError, match="returned a Line with 2 parameters: use jacobian"):
            grad(lambda model: model)(Line(Value(2.0), Value(5.0)))
