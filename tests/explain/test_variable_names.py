"""Tests of the names that nodes get from the variables of the program."""

from __future__ import annotations

from networks import MLP

import gradwalk
from gradwalk import Value, draw, nn, walk
from gradwalk.explain.variable_names import names_in


def names(root: Value) -> tuple[str, ...]:
    return draw(root).graph.names


def found(**variables: object) -> dict[int, str]:
    """Return the names of ten Values that variables hold; a variable refers to them by `values`."""
    return names_in(variables, {id(value): i for i, value in enumerate(values)})


values = [Value(float(i)) for i in range(10)]


class Box:
    def __init__(self, **attributes: object) -> None:
        vars(self).update(attributes)


def test_variables_of_the_caller():
    a, w = Value(2.0), [Value(1.0), Value(3.0)]
    loss = (w[0] * a + w[1]) ** 2
    assert draw(loss).graph.names == ("w[0]", "a", "w[0] * a", "w[1]", "w[0]*a + w[1]", "loss")
    assert walk(loss).gradients["a"] == 10.0
    assert gradwalk.draw_dot(loss).graph.names[-1] == "loss"


def test_labels_are_kept():
    a = Value(2.0, label="mine")
    b = a * a
    assert draw(b).graph.names == ("mine", "b")
    assert a.label == "mine"
    assert b.label == ""


def test_parameters_of_classes_that_gradwalk_does_not_know():
    model = MLP(2, 2, 1)
    out = model([1.0, 2.0])
    graph = draw(out).graph
    assert {"layers[0].neurons[1].w[0]", "layers[0].neurons[1].b", "layers[1].neurons[0].w[1]", "out"} <= set(
        graph.names
    )
    assert "layers[0]" in draw(out, max_nodes=0).svg
    assert model.layers[0].neurons[0].b.label == ""


def test_parameters_of_modules_without_labels():
    class Scale(nn.Module):
        def __init__(self) -> None:
            self.factors = [Value(2.0), Value(3.0)]

    scale = Scale()
    out = scale.factors[0] * scale.factors[1]
    assert draw(out).graph.names == ("factors[0]", "factors[1]", "out")


def test_two_models_are_told_apart():
    encoder, decoder = Box(w=[values[0]]), Box(w=[values[1]])
    assert found(encoder=encoder, decoder=decoder) == {0: "encoder.w.0", 1: "decoder.w.0"}
    model = Box(parts=[Box(w=values[0]), Box(w=values[1])])
    assert found(part=model.parts[1], model=model) == {0: "parts.0.w", 1: "parts.1.w"}


def test_lists_of_layers_are_named_by_their_variable():
    assert found(layers=[Box(w=values[2]), Box(w=values[3])]) == {2: "layers.0.w", 3: "layers.1.w"}


def test_attributes_come_before_variables_and_variables_before_elements():
    assert found(p=values[0], model=Box(w=[values[0]])) == {0: "w.0"}
    assert found(history=[values[4]], loss=values[4]) == {4: "loss"}
    assert found(_=values[5], _hidden=values[6], In=[values[7]]) == {}


def test_containers_and_cycles():
    loop = Box(x=values[0])
    loop.me = loop
    loop.list = [loop, {"key": values[1], "other": (values[2],)}]
    assert found(loop=loop) == {0: "x", 1: "list.1.key", 2: "list.1.other.0"}
    table = {"a": values[3], 2: [values[4]], None: values[5]}
    assert found(table=table) == {3: "table['a']", 4: "table[2][0]"}


def test_deep_objects_need_no_recursion():
    top = nested = []
    for _ in range(10_000):
        nested.append([])
        nested = nested[0]
    nested.append(values[0])
    assert found(top=top) == {}  # the name would be too long


def test_gradients_are_not_searched():
    model = nn.MLP(2, [2, 1])
    gradient = gradwalk.grad(lambda model: model([1.0, 2.0]))(model)
    out = model([1.0, 2.0])
    assert draw(out).graph.names[-1] == "out"
    assert type(gradient) is nn.MLP


def test_loop_variables_do_not_hide_containers():
    layers = [values[0:2], values[2:4]]
    assert found(a=values[2], b=values[3], layers=layers, layer=layers[1]) == {
        0: "layers[0][0]",
        1: "layers[0][1]",
        2: "layers[1][0]",
        3: "layers[1][1]",
    }
    assert found(a=values[0], b=values[1], parameters=values[0:2]) == {0: "a", 1: "b"}


class Neuron:
    def __init__(self, bias: float) -> None:
        self.w = [Value(0.3), Value(-0.2)]
        self.b = Value(bias)

    def __call__(self, x: list[float]) -> Value:
        return (self.w[0] * x[0] + self.w[1] * x[1] + self.b).relu()


def test_structure_comes_before_source_lines():
    with gradwalk.source_lines():
        units = [Neuron(0.5), Neuron(-9.0), Neuron(0.4)]
        head = Value(0.7)
        loss = Value(0.0)
        for i in range(6):
            h = [unit([0.1 * i, 0.5 - 0.2 * i]) for unit in units]
            loss = loss + (head * (h[0] + h[1] + h[2]) - i) ** 2
    graph = walk(loss).graph
    assert {f"units[{i}].b" for i in range(3)} <= set(graph.names)
    assert graph.names[graph.root] == "loss"
    assert [finding.kind for finding in walk(loss).findings] == ["dead"]
    assert not {"b", "b (2)"} & set(gradwalk.Graph.record(loss).labels.values())
