"""Tests of equal parts of a picture that are shown once."""

from __future__ import annotations

from gradwalk import Graph, nn
from gradwalk.graph.boxes import boxes
from gradwalk.graph.folding import folds
from gradwalk.graph.paths import path_of, with_brackets, written


def test_equal_layers_of_a_deep_network_are_shown_once():
    model = nn.MLP(3, [8] * 40)
    divided = boxes(Graph.record(model([1.0, 2.0, 3.0])[0]))
    assert [box.name for box in divided.boxes] == ["layers[0]", "layers[1…38]", "layers[39]"]
    assert [len(box.alike) for box in divided.boxes] == [0, 38, 0]
    assert divided.boxes[1].part == "layers"
    assert all(len(leaves) == 72 for leaves in divided.boxes[1].alike)
    assert set(divided.edges) == {(0, 1), (1, 2)}
    assert divided.edges[0, 1] == 64
    assert len(divided.links[0, 1]) == 64


def test_few_layers_are_shown_one_by_one():
    model = nn.MLP(2, [4, 4, 4, 4, 1])
    divided = boxes(Graph.record(model([1.0, 2.0])))
    assert [box.name for box in divided.boxes] == [f"layers[{i}]" for i in range(5)]


def test_heads_are_shown_once():
    paths = [("attention", "query"), *[("attention", f"head{i}") for i in range(4)], ("attention", "mix")]
    (fold,) = folds(paths, ["matrix", *["head"] * 4, "matrix"])
    assert (fold.name, fold.unit, fold.members) == ("attention.head0…3", "heads", [1, 2, 3, 4])


def test_blocks_of_several_boxes_are_shown_once():
    paths = [("blocks", str(i), name) for i in range(6) for name in ("attention", "mlp")]
    found = folds(paths, ["a", "m"] * 6)
    assert [(fold.name, len(fold.members)) for fold in found] == [
        ("blocks[0…5].attention", 6),
        ("blocks[0…5].mlp", 6),
    ]
    assert found[0].run == found[1].run


def test_different_parts_are_not_folded():
    paths = [("layers", str(i)) for i in range(4)] + [("", "after")]
    assert folds(paths, [1, 2, 1, 2, 0]) == []
    assert folds([("layers", "0"), ("layers", "2"), ("layers", "4")], [1, 1, 1]) == []


def test_paths_are_written_as_in_python():
    assert written(("layers", "0", "neurons", "12", "b")) == "layers[0].neurons[12].b"
    assert path_of("layers[0].neurons.12.w[1][2]") == ("layers", "0", "neurons", "12", "w", "1", "2")
    for text in ("x * 0.5", "b/.25", "a.b", "0.5", "two\nlines", "f(x.1)", ""):
        assert with_brackets(text) == text
    assert with_brackets("W.3.4") == "W[3][4]"
