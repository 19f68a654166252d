"""Tests that the page's walks, losses, sentences and checks match Python's, and that it reads Python's modules."""

from __future__ import annotations

import dataclasses
import json
import math
import random
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy
import pytest
from checkout import ROOT
from graphs_of_the_lesson import GRADIENTS, diamond, labeled, leaves, loss, neuron, power, product_of_product_and_sum
from networks import asian_option, bigram_loss, labeled_loss, mlp_loss, random_graph, rnn_loss
from programs import OPCODES

from gradwalk import Graph, Value, Walk, check, loops, nn, stop_gradient, walk
from gradwalk.explain.node_names import with_names_as_labels, with_node_names
from gradwalk.explain.passes import swept
from gradwalk.functions.reductions import sumprod
from gradwalk.graph.boxes import Boxes, boxes
from gradwalk.graph.grouping import grouping
from gradwalk.graph.paths import written
from gradwalk.ops.table import BY_NAME, TABLE
from gradwalk.program.code.opcodes import TAKE
from gradwalk.value.apply import apply, apply_variadic

WEB = ROOT / "web"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(not NODE or not (WEB / "node_modules").exists(), reason="needs node and its packages")

RANDOM_GRAPHS = 150
CHECKED_GRAPHS = 60
NAMES = ["a", "b", "w1", "x y", "a*b", "two\nlines", "\u202eturned", "\u200b", "ﬁ", "重み", "1st", "v3", "<b>", "x.y"]
VERDICTS = {"right": "agrees", "wrong": "differs"}


class Vectors(NamedTuple):
    """Inputs of the page's modules and their answers."""

    walks: list[Walk]
    checks: list[tuple[Graph, str]]
    nudges: list[tuple[Graph, int, float, str]]
    modules: list[tuple[Graph, dict[str, Any]]]
    found: dict[str, Any]


@cache
def vectors() -> Vectors:
    walks = [*lesson_walks(), *random_walks()]
    checks = [(graph, method) for graph in checked_graphs() for method in ("central", "forward")]
    lesson = [Graph.record(make()) for make in GRADIENTS]
    nudges = [(Graph.record(loss()), place, 1e-4, "forward") for place in range(7)]
    nudges += [(graph, place, 1e-5, "central") for graph in lesson for place in range(len(graph))]
    graphs = [*map(Graph.record, [*modular(), *structured()]), *random_modules()]
    modules = [(graph, walk(graph).essence()) for graph in graphs]
    given = {
        "walks": [{"graph": as_dict(item.graph), "order": item.order, "overwrite": item.overwrite} for item in walks],
        "checks": [{"graph": as_dict(graph), "method": method} for graph, method in checks],
        "nudges": [
            {"graph": as_dict(graph), "place": place, "h": h, "method": method} for graph, place, h, method in nudges
        ],
        "modules": [essence for _, essence in modules],
    }
    assert NODE
    command = [NODE, WEB / "tests" / "vectors.js"]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return Vectors(walks, checks, nudges, modules, json.loads(done.stdout))


def as_dict(graph: Graph) -> Any:
    return json.loads(with_names_as_labels(graph).to_json())


# Graphs


def lesson_walks() -> Iterable[Walk]:
    for make in GRADIENTS:
        yield walk(make())
        yield walk(make(), overwrite=True)
    yield walk(readme_of_micrograd())
    yield walk(network())
    yield walk(diamond(), ["b", "d", "c", "a"])
    yield walk(diamond(), ["a", "b", "c", "d"])
    yield walk(product_of_product_and_sum(), ["f", "e", "d", "b", "a"], overwrite=True)
    yield walk(product_of_product_and_sum(), ["f", "d", "e", "b", "a"], overwrite=True)
    yield walk(neuron(), ["o", "x1", "n", "b", "x1w1x2w2", "w1", "x2w2", "x1w1", "x2", "w2"])


def readme_of_micrograd() -> Value:
    a, b = leaves(a=-4.0, b=2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    return labeled(g + 10.0 / f, "g")


def network() -> Value:
    """Return the loss of a Module, whose parameters have labels such as "layers.0.neurons.2.w.1"."""
    model = nn.MLP(2, [3, 1])
    x, y = leaves(x=2.0, y=-1.0)
    first = model.layers[0].neurons[0]
    return (model([x, y]) - 1) ** 2 + first.w[0] * first.w[1]


def random_walks() -> Iterable[Walk]:
    for seed in range(RANDOM_GRAPHS):
        dice = random.Random(seed)
        graph = Graph.record(random_root(dice, [row.name for row in TABLE]))
        order = list(swept(graph))
        yield Walk(graph, tuple(order), dice.random() < 0.3)
        for _ in range(dice.randrange(1, 4)):  # a few swaps give interesting errors
            i, j = dice.randrange(len(order)), dice.randrange(len(order))
            order[i], order[j] = order[j], order[i]
        yield Walk(graph, tuple(order), dice.random() < 0.3)
        dice.shuffle(order)
        yield Walk(graph, tuple(order), dice.random() < 0.3)


def random_root(dice: random.Random, rows: list[str], *, odd: bool = True) -> Value:
    """Return a random graph in which later nodes use earlier ones, often more than once."""
    numbers = [0.0, 1.0, -1.0, 0.5, 2.0, -3.0, *[dice.uniform(-3, 3) for _ in range(9)]]
    strange = (
        [-0.0, math.inf, -math.inf, math.nan, 1e-300, 1e300, 123456.5, 1e-5] if odd and dice.random() < 0.3 else []
    )
    nodes = [Value(dice.choice(numbers + strange)) for _ in range(dice.randrange(1, 5))]
    for _ in range(dice.randrange(1, 16)):
        operands = [dice.choice(nodes[-6:]) for _ in range(3)]
        kind = dice.random()
        if odd and kind < 0.1:
            pairs = dice.randrange(1, 4)
            factors = [[dice.choice([*nodes[-4:], dice.choice(numbers)]) for _ in range(pairs)] for _ in range(2)]
            factors[0][0] = operands[0]
            nodes.append(sumprod(factors[0], factors[1], dice.choice([0.0, operands[1]])))
        elif odd and kind < 0.15:
            size = dice.randrange(1, 12)
            table = [dice.choice([*nodes[-4:], dice.choice(numbers)]) for _ in range(size)]
            index = Value(dice.randrange(-size - 1, size + 1))  # also out of range
            nodes.append(apply_variadic(TAKE, [index, *table]))
        elif odd and kind < 0.2:
            maker = by_hand if dice.random() < 0.5 else with_derivatives
            nodes.append(maker(*operands[: dice.randrange(1, 3)]))
        else:
            row = BY_NAME[dice.choice(rows)]
            given: list[Value | float] = [*operands[: row.arity]]
            if row.arity > 1 and dice.random() < 0.3:
                given[dice.randrange(1, row.arity)] = dice.choice(numbers)
            nodes.append(apply(OPCODES[row.name], *given))
    for node in nodes:
        if dice.random() < 0.5:
            node.label = dice.choice(NAMES)
    return nodes[-1]


def with_derivatives(*operands: Value) -> Value:
    return Value(sum(operand.data for operand in operands), operands, [2.0, 3.0][: len(operands)])


def by_hand(*operands: Value) -> Value:
    out = Value(sum(operand.data for operand in operands), operands, "mine\n" if len(operands) > 1 else "it")

    def push() -> None:
        for i, operand in enumerate(operands):
            operand.grad += (i + 2) * out.grad

    out._backward = push
    return out


def checked_graphs() -> Iterable[Graph]:
    """Yield graphs with right and wrong gradients, of smooth and nonsmooth functions."""
    every = [row.name for row in TABLE]
    for seed in range(CHECKED_GRAPHS):
        dice = random.Random(seed)
        graph = Graph.record(random_root(dice, every, odd=seed % 4 == 0))
        yield graph
        edges = numpy.flatnonzero(graph.operands >= 0)
        partials = graph.partials.copy()
        with numpy.errstate(invalid="ignore"):
            partials[dice.choice(edges)] *= dice.choice([1.0001, 0.9999, 0.0, -1.0, 2.0])
        yield dataclasses.replace(graph, partials=partials)
    x = Value(0.0, label="x")
    yield Graph.record(x.relu() + 1)
    yield Graph.record(abs(x) * 2)
    yield Graph.record(x.relu() - (-x).relu())
    yield Graph.record(stop_gradient(x + 1) * x)


def modular() -> Iterable[Value]:
    random.seed(1)
    model = nn.MLP(2, [12, 12, 1])
    yield sum([(model([0.5, i]) - 1) ** 2 for i in range(3)], Value(0.0))
    yield nn.MLP(2, [1])([1.0, 2.0])
    yield neuron()
    yield loops.fori_loop(
        0, 3, lambda i, c: loops.fori_loop(0, 2, lambda j, d: (d * i).tanh() + d, c) * 2.0, Value(0.5) * 3.0
    )
    cell = nn.MLP(2, [2])
    yield loops.scan(lambda h, x: (cell([h, x])[0], None), Value(0.0) + 0.5, numpy.array([0.5, 1.0, 2.0]))[0] + 1.0
    odd = leaves(**{"one.w": 1.0, "two.w": 2.0, ".": 3.0, "one.in.b": 4.0, "p": 5.0})
    yield (odd[0] * odd[1] + odd[2] * odd[3] + odd[4] * odd[0]).tanh() + -(odd[4] + 1)


def structured() -> Iterable[Value]:
    """Yield programs whose structure is found without labels."""
    for samples in (1, 2, 30):
        yield mlp_loss(samples)
        yield mlp_loss(samples, values=True, sizes=(3, 5, 1))
        yield labeled_loss(samples)
        yield bigram_loss(samples)
    for steps in (3, 20):
        yield rnn_loss(steps)
        yield rnn_loss(steps, values=True, width=2)
        yield asian_option(steps)
    for nodes in (50, 300):
        yield random_graph(nodes)


def random_modules() -> Iterable[Graph]:
    """Yield random graphs with random module names and scopes."""
    names = ["a", "b", "layer0", "layer1", "place7", "place12", "3", "x y", "start"]
    for seed in range(40):
        dice = random.Random(seed)
        graph = Graph.record(random_root(dice, [row.name for row in TABLE], odd=seed % 2 == 0))
        labels = {
            i: ".".join(dice.choices(names, k=dice.randrange(1, 4))) for i in range(len(graph)) if dice.random() < 0.6
        }
        scopes = {
            i: ".".join(dice.choices(names, k=dice.randrange(1, 4))) for i in range(len(graph)) if dice.random() < 0.8
        }
        yield dataclasses.replace(graph, labels=labels, scopes=scopes)


# Comparisons


def same(one: Any, other: Any, tolerance: float = 1e-12) -> bool:
    """Return whether two numbers are the same; JSON numbers may be strings."""
    one, other = float(one), float(other)
    return (math.isnan(one) and math.isnan(other)) or one == other or math.isclose(one, other, rel_tol=tolerance)


def paired() -> Iterable[tuple[Walk, dict[str, Any]]]:
    return zip(vectors().walks, vectors().found["walks"], strict=True)


def test_gradients_of_the_lesson():
    """Check gradients of right, overwriting and wrong walks."""
    found = {}
    for here, there in paired():
        names = [here.graph.names[place] for place in here.order]
        key = (here.graph.names[here.graph.root], here.graph.data.tolist()[-1], tuple(names), here.overwrite)
        found[key] = dict(zip(names, there["gradients"], strict=True))
    for make, gradients in GRADIENTS.items():
        right = walk(make())
        names = tuple(right.gradients)
        assert found[names[0], make().data, names, False] == pytest.approx(gradients, abs=1e-12)
    readme = walk(readme_of_micrograd())
    gradients = found["g", readme_of_micrograd().data, tuple(readme.gradients), False]
    assert (gradients["a"], gradients["b"]) == pytest.approx((138.8338, 645.5773), abs=5e-5)
    assert found["b", 6.0, ("b", "a"), True]["a"] == 1.0
    assert found["f", 9.0, ("f", "a"), True]["a"] == 3.0
    d_first = found["f", -6.0, ("f", "d", "e", "b", "a"), True]
    e_first = found["f", -6.0, ("f", "e", "d", "b", "a"), True]
    assert [(d_first["a"], d_first["b"]), (e_first["a"], e_first["b"])] == [(-6.0, -6.0), (3.0, -2.0)]
    assert found["d", 18.0, ("b", "d", "c", "a"), False]["a"] == 9.0


def test_local_derivatives_of_the_lesson():
    """Check that c = a*b with gradient 1 passes 3 back to a and 2 to b."""
    (there,) = [there for here, there in paired() if here.graph.labels == Graph.record(power()).labels][:1]
    (c,) = [step for step in there["backward"] if step["place"] == 2]
    assert [given["local"] for given in c["contributions"]] == [3.0, 2.0]


def test_gradients_and_orders():
    for here, there in paired():
        assert there["swept"] == list(swept(here.graph))
        assert all(map(same, there["gradients"], here.gradients.values()))
        right = [there["right"][place] for place in here.order]
        assert all(map(same, right, here.right_gradients.values()))
        assert there["legal"] == here.is_legal
        assert there["legal_orders"] == (None if here.legal_orders is None else str(here.legal_orders))


def test_contributions_and_their_sentences():
    for here, there in paired():
        assert there["forward"] == [step.sentence for step in here.forward]
        for mine, theirs in zip(here.backward, there["backward"], strict=True):
            assert (theirs["place"], theirs["sentence"]) == (mine.place, mine.sentence)
            assert same(theirs["upstream"], mine.upstream)
            for one, other in zip(mine.contributions, theirs["contributions"], strict=True):
                for key in ("place", "position", "late", "formula", "sentence"):
                    assert other[key] == getattr(one, key)
                for key in ("upstream", "local", "amount", "before", "after"):
                    assert same(other[key], getattr(one, key))


def test_wrong_gradients_and_their_reasons():
    count = 0
    for here, there in paired():
        assert [wrong["sentence"] for wrong in there["wrong"]] == [wrong.sentence for wrong in here.wrong]
        for mine, theirs in zip(here.wrong, there["wrong"], strict=True):
            assert theirs["place"] == mine.place
            assert same(theirs["got"], mine.got)
            assert same(theirs["right"], mine.right)
            for one, other in zip(mine.losses, theirs["losses"], strict=True):
                count += 1
                assert other["overwrittenBy"] is None or one.reason == "overwritten"
                for key in ("giver", "taker", "position", "because", "sentence"):
                    assert other[key] == getattr(one, key)
                for key in ("amount", "derivative", "missing"):
                    assert same(other[key], getattr(one, key))
    assert count > 500


def test_moments():
    for here, there in paired():
        places = range(len(here.graph))
        for position, theirs in enumerate(there["moments"]):
            mine = here.moment(position)
            visited = {step.place for step in here.backward[: max(position - len(places), 0)]}
            assert theirs["known"] == [place in mine.known for place in places]
            assert theirs["visited"] == [place in visited for place in places]
            assert theirs["active"] == mine.active
            assert set(theirs["lost"]) == {f"{giver}:{i}" for giver, i in mine.lost}
            expected = {f"{giver}:{i}": amount for (giver, i), amount in mine.contributions.items()}
            assert [edge for edge, _ in theirs["contributions"]] == list(expected)
            assert all(same(amount, expected[edge]) for edge, amount in theirs["contributions"])
            for place, gradient in enumerate(theirs["gradients"]):
                assert (gradient is None) == (place not in mine.gradients)
                assert gradient is None or same(gradient, mine.gradients[place])


def test_nudges_of_the_lesson():
    """Check leaves and intermediate nodes; the page computes the root again."""
    roots = {"neuron": 0.7071067811865476, "twice": 6, "square": 9, "product_of_product_and_sum": -6, "sum_times": -10}
    roots |= {"diamond": 18, "power": 64, "loss": -8}
    expected = {make.__name__: gradients for make, gradients in GRADIENTS.items()}
    names = [make.__name__ for make in GRADIENTS for _ in range(len(Graph.record(make())))]
    nudges = zip(names, vectors().nudges[7:], vectors().found["nudges"][7:], strict=True)
    for of, (graph, place, _, _), nudged in nudges:
        assert nudged["base"] == pytest.approx(roots[of], rel=1e-15)
        assert nudged["quotient"] == pytest.approx(expected[of][graph.names[place]], abs=1e-8)
        assert nudged["verdict"] == "agrees"


def test_forward_differences_of_the_lesson():
    names = Graph.record(loss()).names
    found = dict(zip(names, vectors().found["nudges"][:7], strict=True))
    expected = {"L": 1.0, "d": -2.0, "f": 4.0, "e": -2.0, "c": -2.0, "a": 6.0, "b": -4.0}
    assert {name: row["quotient"] for name, row in found.items()} == pytest.approx(expected, abs=2e-11)
    assert {name: row["backprop"] for name, row in found.items()} == expected
    assert {row["verdict"] for row in found.values()} == {"agrees"}
    assert {(row["base"], row["down"]) for row in found.values()} == {(-8.0, None)}


def test_checks():
    """Check verdicts. Last-digit differences between the languages may change some, but not right to wrong."""
    verdicts = 0
    same_verdicts = 0
    for (graph, method), theirs in zip(vectors().checks, vectors().found["checks"], strict=True):
        mine = check(graph, method=method).rows
        for one, other in zip(mine, theirs, strict=True):
            assert with_node_names(graph).names[other["place"]] == one.name
            verdict = VERDICTS.get(one.verdict, one.verdict)
            verdicts += 1
            same_verdicts += other["verdict"] == verdict
            assert {other["verdict"], verdict} != {"agrees", "differs"}
    assert verdicts > 900
    assert same_verdicts > 0.99 * verdicts


def test_modules():
    for (graph, _), theirs in zip(vectors().modules, vectors().found["modules"], strict=True):
        groups = grouping(graph)
        mine = None if groups.is_trivial else [list(groups.paths[i]) for i in groups.module.tolist()]
        assert theirs["paths"] == mine


def names_of_parts(graph: Graph, divided: Boxes | None) -> list[list[str]]:
    """Return the names of the box, modules, and sample or step of each node."""
    groups = grouping(graph)
    unit = {"samples": "sample", "steps": "step"}.get(groups.kind, "term")
    found = []
    for node, (module, number) in enumerate(zip(groups.module.tolist(), groups.number.tolist(), strict=True)):
        path = groups.paths[module]
        names = [divided.names[divided.box[node]]] if divided else []
        names += [written(path[: i + 1]) for i in range(len(path))]
        found.append(names + ([f"{unit} {number + 1} of {groups.count}"] if number >= 0 and groups.count > 1 else []))
    return found


def test_parts_of_the_page_are_the_groups_of_python():
    overviews = repetitions = 0
    for (graph, essence), theirs in zip(vectors().modules, vectors().found["modules"], strict=True):
        divided = boxes(graph) if "overview" in essence else None
        names = names_of_parts(graph, divided)
        known = set(chain.from_iterable(names))
        if divided:
            overviews += 1
            first = [(part["name"], part["places"]) for part in theirs["whole"]["parts"]]
            assert sorted(name for name, _ in first) == sorted(divided.names[i] for i in set(divided.box))
            assert all({divided.names[divided.box[place]] for place in places} == {name} for name, places in first)
        pending = [theirs["whole"]]
        while pending:
            parent = pending.pop()
            pending += parent["parts"]
            for part in parent["parts"]:
                if part["name"] in known and parent is not theirs["whole"]:
                    assert part["places"] == [place for place in parent["places"] if part["name"] in names[place]]
                repetitions += part["name"].startswith(("sample ", "step "))
    assert overviews > 10
    assert repetitions > 100
