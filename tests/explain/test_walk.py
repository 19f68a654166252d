"""Tests of walks in any order, step by step, and as text, JSON and HTML."""

from __future__ import annotations

import itertools
import json
import math
import random
from html.parser import HTMLParser

import pytest
from graphs_of_the_lesson import (
    GRADIENTS,
    diamond,
    labeled,
    leaves,
    loss,
    neuron,
    product_of_product_and_sum,
    square,
    twice,
)

from gradwalk import Graph, Value, check, topological_order, walk
from gradwalk.explain.draw.raster import PictureError
from gradwalk.explain.node_names import with_names_as_labels
from gradwalk.explain.visit_order import OrderError


@pytest.mark.parametrize("make", GRADIENTS)
def test_gradients_of_the_lesson(make):
    walked = walk(make())
    assert walked.gradients == pytest.approx(GRADIENTS[make], abs=1e-12)
    assert walked.right_gradients == walked.gradients
    assert walked.is_legal
    assert walked.wrong == ()


def test_walk_does_not_change_values():
    root = diamond()
    nodes = topological_order(root)
    for node in nodes:
        node.grad = 7.0
    walk(root, ["d", "a", "b", "c"], overwrite=True).wrong  # noqa: B018
    assert {node.grad for node in nodes} == {7.0}


def test_overwriting_of_the_lesson():
    assert walk(twice(), overwrite=True).gradients["a"] == 1.0
    assert walk(square(), overwrite=True).gradients["a"] == 3.0
    f = product_of_product_and_sum()
    for order, expected in (("fedab", (3.0, -2.0)), ("fdeab", (-6.0, -6.0))):
        got = walk(f, list(order), overwrite=True).gradients
        assert (got["a"], got["b"]) == expected


def test_example_of_micrograd():
    a, b = leaves(a=-4.0, b=2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    g = labeled(e**2 / 2.0, "half")
    g = labeled(g + 10.0 / e**2, "g")
    walked = walk(g)
    assert walked.forward[-1].data == pytest.approx(24.7041, abs=1e-4)
    assert walked.gradients["a"] == pytest.approx(138.8338, abs=1e-4)
    assert walked.gradients["b"] == pytest.approx(645.5773, abs=1e-4)
    assert check(g).ok


def test_orders_of_names_and_values():
    root = diamond()
    a, b, _, d = (node for _, node in sorted((node.label, node) for node in topological_order(root)))
    by_name, by_value = walk(root, "dacb"), walk(root, [d, a, "c", b])
    assert by_name.order == by_value.order
    assert by_name.gradients == {"d": 1.0, "a": 0.0, "c": 3.0, "b": 6.0}
    assert not by_name.is_legal
    assert [w.name for w in by_name.wrong] == ["a"]
    assert by_name.legal_orders == 2


def test_is_legal_for_random_orders():
    root = neuron()
    nodes = topological_order(root)[::-1]
    rng = random.Random(0)
    seen = 0
    for _ in range(300):
        order = list(nodes)
        for _ in range(rng.randrange(6)):
            i = rng.randrange(len(order) - 1)
            order[i], order[i + 1] = order[i + 1], order[i]
        legal = all(order.index(user) < order.index(operand) for user in nodes for operand in user.operands)
        assert walk(root, order).is_legal == legal
        seen += legal
    assert 50 < seen < 250


@pytest.mark.parametrize(
    ("order", "problem"),
    [
        (["d", "d", "a", "b", "c"], "visits d twice"),
        (["d", "a"], "omits c, b; it must visit every node once"),
        ([], "omits d, c, b, a"),
        (["d", "b", "c", "a", "x"], "visits 'x', which is not a node; the nodes are: a, b, c, d"),
        ([Value(1.0, label="z")], r"visits Value\(data=1.0, grad=0.0, label='z'\), which is not part"),
    ],
)
def test_invalid_orders_raise(order, problem):
    with pytest.raises(OrderError, match=problem):
        walk(diamond(), order)


def test_similar_names_are_suggested():
    x1, w1 = leaves(weight=1.0, x=2.0)
    with pytest.raises(OrderError, match="did you mean 'weight'"):
        walk(x1 * w1, ["wieght"])


def test_orders_of_invalid_type_raise():
    for order in ([1, 2, 3], [["d"]]):
        with pytest.raises(TypeError, match="order must contain Values or their names, got"):
            walk(diamond(), order)
    with pytest.raises(TypeError, match="order must be a list of Values or their names, got int"):
        walk(diamond(), 5)
    with pytest.raises(OrderError, match="a Graph does not keep its Values"):
        walk(Graph.record(diamond()), [Value(1.0)])
    with pytest.raises(OrderError, match=r"visits 'x'.*the nodes are: v1, 0 \+ v1, .*v19, \.\.\."):
        walk(sum(Value(float(i)) for i in range(30)), ["x"])


def test_nodes_without_gradient_are_listed_last():
    a, b = leaves(a=2.5, b=3.0)
    out = labeled(labeled(a * a, "c").floor() * b, "out")
    walked = walk(out)
    assert list(walked.gradients.items()) == [("out", 1.0), ("b", 6.0), ("floor(c)", 3.0), ("c", 0.0), ("a", 0.0)]
    table = str(walked).partition("Gradients, in the order of the backward pass")[2].split("Check")[0]
    assert [line.split()[0] for line in table.split("\n")[2:] if line] == list(walked.gradients)


def test_conditions_are_not_visited():
    condition, x = leaves(condition=1.0, x=2.0)
    out = labeled(condition.where(x, 3.0), "out")
    assert walk(out).order == (2, 1)
    assert walk(out).gradients == walk(out).right_gradients == {"out": 1.0, "x": 1.0, "condition": 0.0}
    with pytest.raises(OrderError, match="visits condition, but no gradient flows to it"):
        walk(out, ["out", "condition", "x"])


@pytest.mark.parametrize("root", [3.0, None, "x"])
def test_invalid_roots_raise(root):
    with pytest.raises(TypeError, match="the root of a graph must be a Value"):
        walk(root)


def test_several_roots_raise():
    a = Value(1.0)
    with pytest.raises(ValueError, match="needs a graph with one root"):
        walk([a * 2, a * 3])


def test_nodes_with_the_same_label():
    a, b = Value(2.0, label="x"), Value(3.0, label="x")
    assert walk(labeled(a * b, "x")).gradients == {"x (3)": 1.0, "x (2)": 2.0, "x": 3.0}


def test_single_leaf():
    walked = walk(Value(2.0, label="x"))
    assert walked.gradients == {"x": 1.0}
    assert len(walked.steps) == 2


# One step at a time


def test_cursors_move_in_both_directions():
    walked = walk(loss())
    cursor = walked.start()
    taken = list(iter(cursor.next, None))
    assert taken == list(walked.steps)
    assert cursor.position == walked.end().position == 14
    assert list(iter(cursor.back, None)) == taken[::-1]
    assert cursor.position == 0
    end = walked.end()
    assert end.back() == taken[-1]
    assert end.next() == taken[-1]


def test_moments_contain_known_numbers_and_gradients():
    walked = walk(diamond())
    nothing = walked.start().moment
    assert (nothing.known, nothing.gradients, nothing.active) == (frozenset(), {}, None)
    assert walked.moment(2).known == {0, 1}
    assert walked.moment(4).gradients == {}
    root_visited = walked.moment(5)
    assert root_visited.gradients == {3: 1.0, 1: 6.0, 2: 3.0}
    assert root_visited.contributions == {(3, 0): 6.0, (3, 1): 3.0}
    assert root_visited.active == 3
    assert walked.end().moment.gradients == {3: 1.0, 1: 6.0, 2: 3.0, 0: 15.0}


def test_moments_contain_lost_contributions():
    assert walk(diamond(), "dacb").end().moment.lost == {(1, 0), (2, 0)}
    assert walk(twice(), overwrite=True).end().moment.lost == {(1, 0)}
    assert walk(diamond()).end().moment.lost == frozenset()


# As text, JSON, HTML, pictures


def test_text():
    text = str(walk(diamond(), "dacb"))
    assert "  ├─ b = a + 1 = 3\n" in text
    assert "  a      0.0       15.0  wrong\n" in text
    assert "1  a gets 0 and should get 15." in text
    assert "a node has to come after all nodes that use it. There are 2 legal orders." in text
    assert "legal" not in str(walk(diamond()))
    assert "There is 1 legal order." in str(walk(square(), "af"))


def test_text_of_a_large_graph_is_bounded():
    x = Value(1.0)
    for _ in range(3000):
        x = x * 1.0
    text = str(walk(x))
    assert len(text.splitlines()) < 1000
    assert "and 2,801 more" in text


def test_json():
    walked = walk(diamond(), "dacb")
    data = json.loads(walked.to_json(), parse_constant=pytest.fail)
    assert data["gradients"] == {"d": 1.0, "a": 0.0, "c": 3.0, "b": 6.0}
    assert data["right_gradients"]["a"] == 15.0
    assert (data["legal"], data["legal_orders"], data["overwrite"]) == (False, 2, False)
    assert data["backward"][2]["contributions"][0]["late"] is True
    assert data["wrong"][0]["losses"][0]["amount"] == 9.0
    assert data["wrong"][0]["losses"][0]["sentence"].startswith("c's contribution 9 to a came too late")
    assert walk(Graph.from_json(json.dumps(data["graph"]))).gradients["a"] == 15.0


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)


def test_labels_are_escaped_in_notebook_html():
    x = Value(2.0, label="<script>alert(1)</script>")
    bundle = walk(x * x)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    parser = Tags()
    parser.feed(bundle["text/html"])
    assert "script" not in parser.tags
    assert {"svg", "li"} <= set(parser.tags)
    assert repr(walk(x)) == "<Walk over <Graph of 1 nodes to <script>alert(1)</script>>>"


def test_large_graphs_show_steps_and_a_picture_of_modules():
    x = Value(1.0)
    for _ in range(500):
        x = x * 1.0
    html = walk(x)._repr_mimebundle_()["text/html"]
    assert html.count("<svg") == 1
    assert html.count("<rect") < 60
    assert html.count("<li>") == 400
    assert "and 301 more" in html


def test_films_have_a_picture_per_computing_step():
    film = walk(loss()).film(seconds=0.5)
    assert [moment.active for moment in film.moments] == [2, 4, 6, 6, 4, 2, 0]
    assert film.seconds == 0.5


def test_films_of_large_graphs_raise():
    x = Value(1.0)
    for _ in range(60):
        x = x * 1.0
    with pytest.raises(PictureError, match="a film can show a graph of at most 60 nodes, got 61 nodes"):
        walk(x).film()


def test_drawings_show_gradients_of_the_walk():
    assert ">15.0000<" in walk(diamond()).draw().svg
    wrong = walk(diamond(), "dacb").draw().svg
    assert ">15.0000<" not in wrong
    assert "lost" in wrong


def test_all_orders_of_a_small_graph():
    root = square()
    for order in itertools.permutations("fa"):
        walked = walk(root, order)
        assert walked.is_legal == (order == ("f", "a")) == (walked.gradients["a"] == 6.0)


def test_to_dict_matches_to_json():
    for walked in (walk(diamond(), "dacb"), walk(Value(math.inf, label="a") * 0.0)):
        assert json.loads(walked.to_json()) == walked.to_dict()
        assert walked.essence().items() <= walked.to_dict().items()
        assert json.loads(walked.graph.to_json()) == walked.graph.to_dict()
        assert with_names_as_labels(walked.graph).to_dict() == walked.essence()["graph"]
    found = check(diamond())
    assert json.loads(found.to_json()) == found.to_dict()
