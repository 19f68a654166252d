"""Tests of pictures of arrays: their names, shapes, numbers and colors."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy
import pytest

from gradwalk import Value, draw, grad, nn
from gradwalk.explain.draw.arrays import arrays_of

SVG = "{http://www.w3.org/2000/svg}"


def shapes(item: object, name: str = "") -> dict[str, list[int]]:
    found = arrays_of(item, name)
    assert found is not None
    return {array.name: [len(row) for row in array.rows] for array in found}


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(SVG + "text")]


def test_parameters_of_a_network_are_matrices():
    assert shapes(nn.MLP(2, [4, 3, 1])) == {
        "layers[0].neurons.w": [2] * 4,
        "layers[0].neurons.b": [4],
        "layers[1].neurons.w": [4] * 3,
        "layers[1].neurons.b": [3],
        "layers[2].neurons.w": [3],
        "layers[2].neurons.b": [1],
    }
    assert shapes(nn.Layer(2, 3)) == {"neurons.w": [2] * 3, "neurons.b": [3]}


def test_attributes_that_are_arrays():
    class Model(nn.Module):
        def __init__(self) -> None:
            self.W = numpy.array([[Value(float(i + j)) for i in range(3)] for j in range(2)])
            self.b = [Value(0.0), Value(1.0)]
            self.scale = Value(2.0)

    assert shapes(Model()) == {"W": [3, 3], "b": [2], "scale": [1]}


def test_containers():
    matrix = [[Value(1.0), Value(2.0)], [Value(3.0), Value(4.0)]]
    assert shapes(matrix, "W") == {"W": [2, 2]}
    assert shapes(numpy.array(matrix), "W") == {"W": [2, 2]}
    assert shapes({"W": matrix, "b": [Value(0.0)]}) == {"W": [2, 2], "b": [1]}
    assert shapes([matrix, matrix], "T") == {"T[0]": [2, 2], "T[1]": [2, 2]}
    assert shapes([Value(1.0), Value(2.0)], "b") == {"b": [2]}
    assert arrays_of([matrix[0][0] * 2.0], "roots") is None
    assert arrays_of(matrix[0][0], "w") is None
    assert arrays_of([1.0, 2.0], "") is None
    assert arrays_of([], "") is None


def test_values_and_gradients_are_drawn():
    weights = [[Value(1.5), Value(-2.0)], [Value(0.0), Value(4.0)]]
    (weights[0][0] * 3.0 - weights[1][1]).backward()
    shown = texts(draw(weights).svg)
    assert shown[:2] == ["weights", "2 by 2"]
    assert {"1.5", "-2", "4", "3", "-1"} <= set(shown)
    assert {"value", "gradient"} <= set(shown)
    titles = [element.text for element in ElementTree.fromstring(draw(weights).svg).iter(SVG + "title")]
    assert "weights[0][0]: gradient 3.0" in titles


def test_gradients_of_transforms_have_only_values():
    model = nn.MLP(2, [3, 1])
    gradient = grad(lambda model: model([1.0, 2.0]))(model)
    shown = texts(draw(gradient).svg)
    assert "value" in shown
    assert "gradient" not in shown


def test_large_arrays_are_cut():
    weights = [[Value(float(i)) for i in range(200)] for _ in range(3)]
    svg = draw(weights).svg
    assert any("the first of which are shown" in text for text in texts(svg))
    assert float(ElementTree.fromstring(svg).get("width")) < 800


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -0.0])
def test_numbers_that_have_no_color(number):
    ElementTree.fromstring(draw([[Value(number), Value(1.0)]], theme="dark").svg)


def test_files(tmp_path):
    drawing = draw([[Value(1.0)]])
    drawing.save(tmp_path / "w.svg")
    assert (tmp_path / "w.svg").read_text(encoding="utf-8") == drawing.svg
    assert drawing._repr_mimebundle_() == {"image/svg+xml": drawing.svg, "text/plain": "<Drawing of arrays>"}


def test_notebooks_show_modules():
    model = nn.MLP(2, [3, 1])
    html = model._repr_html_()
    assert html.startswith("<code>MLP of [")
    assert "layers[0].neurons.w" in html
    assert nn.MLP(70, [80])._repr_html_() is None
    assert nn.Module()._repr_html_() is None
