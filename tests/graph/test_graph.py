"""Tests of recording graphs, validating them, and converting them to JSON."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy
import pytest
from checkout import ROOT
from hypothesis import given
from programs import EVERY, EXTREME, ORDINARY, as_values, fewer, programs
from references import jsonschema
from wasm import deeply_nested

from gradwalk import Graph, Value, named_scope, nn, no_grad, source_lines, topological_order
from gradwalk.functions.reductions import sumprod
from gradwalk.graph.node import GraphError
from gradwalk.ops.compiled.opcodes import OPCODES

SUMPROD = OPCODES["sumprod"]
SCHEMA = json.loads((ROOT / "docs/graph.schema.json").read_text(encoding="utf-8"))


def everything() -> list[Value]:
    """Return two roots over all kinds of nodes."""
    with source_lines():
        a, b = Value(2.0, label="a"), Value(-3.0, label="<b>\n")
        c = (a * b + 10.0).where(a, math.inf)
        with named_scope("sum"):
            s = sumprod([a, b, 1.0], [c, 2.0, a])
    with no_grad():
        detached = a * 2
    h = Value(3.0, (a, a, s, detached), "by hand")

    def push() -> None:
        a.grad += 2 * h.grad
        s.grad += h.grad

    h._backward = push
    return [h * math.nan, c]


def test_arrays_of_a_graph():
    a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    root = a * b + 10.0
    root.backward()
    graph = Graph.record(root)
    assert graph.opcodes.tolist() == [0, 0, 3, 1]
    assert graph.offsets.tolist() == [0, 0, 0, 2, 4]
    assert graph.operands.tolist() == [0, 1, 2, -1]
    assert graph.partials.tolist() == [-3.0, 2.0, 1.0, 10.0]
    assert graph.data.tolist() == [2.0, -3.0, -6.0, 4.0]
    assert graph.grad.tolist() == [-3.0, 2.0, 1.0, 1.0]
    assert graph.labels == {0: "a", 1: "b"}
    assert graph.outputs == (3,)
    assert graph.root == 3
    assert graph.names == ("a", "b", "v3", "v4")
    assert repr(graph) == "<Graph of 4 nodes to v4>"


def test_all_kinds_of_nodes():
    graph = Graph.record(everything())
    graph.validate()
    by_name = {node.name: node for node in graph.nodes}
    assert by_name["a"].source.number == everything.__code__.co_firstlineno + 3
    assert by_name["a"].source.text == 'a, b = Value(2.0, label="a"), Value(-3.0, label="<b>\\n")'
    hand_made = next(node for node in graph.nodes if node.symbol == "by hand")
    assert hand_made.partials == (2.0, 0.0, 1.0, 0.0)  # a is used twice: its total partial comes first
    assert hand_made.row is None
    where = next(node for node in graph.nodes if node.symbol == "where")
    assert where.non_differentiable == (0,)
    assert where.arguments[2] == math.inf
    assert where.partials[:2] == (0.0, 1.0)
    assert math.isnan(where.partials[2])
    total = next(node for node in graph.nodes if node.symbol == "sumprod")
    assert len(total.arguments) == 7
    assert graph.scopes == {total.place: "sum"}
    assert (total.scope, where.scope) == ("sum", "")


def test_nodes_are_in_topological_order():
    root = everything()[0]
    order = topological_order(root)
    graph = Graph.record(root)
    assert [node.data for node in graph.nodes] == pytest.approx([v.data for v in order], nan_ok=True)
    assert graph.root == len(order) - 1


def test_recording_changes_nothing():
    roots = everything()
    nodes = topological_order(roots[0])
    for node in nodes:
        node.grad = 7.0
    before = [(node.data, node.grad, node.partials) for node in nodes]
    Graph.record(roots)
    assert repr([(node.data, node.grad, node.partials) for node in nodes]) == repr(before)


def test_several_roots_share_their_nodes():
    a = Value(2.0)
    b, c = a + 1, a * 3
    graph = Graph.record([b, c, b, a])
    assert len(graph) == 3
    assert graph.outputs == (1, 2, 1, 0)
    with pytest.raises(ValueError, match="needs a graph with one root, but this graph has 4: v2, v3, v2, v1"):
        graph.root  # noqa: B018


def test_arrays_are_read_only():
    graph = Graph.record(Value(2.0) * 3)
    for name in ("opcodes", "offsets", "operands", "partials", "data", "grad"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(graph, name)[0] = 1


def test_names_are_unique():
    labels = ["a", "a", "a (2)", "v5", "", "a"]
    graph = Graph.record([Value(float(i), label=label) for i, label in enumerate(labels)])
    assert graph.names == ("a", "a (3)", "a (2)", "v5", "v5 (2)", "a (4)")
    assert len(set(graph.names)) == len(labels)


@pytest.mark.parametrize("root", [3.0, None, [3.0], [Value(1.0), "x"]])
def test_roots_must_be_values(root):
    with pytest.raises(TypeError, match="the root of a graph must be a Value"):
        Graph.record(root)


def test_empty_list_of_roots():
    with pytest.raises(ValueError, match="roots must not be empty"):
        Graph.record([])


def test_cycles_are_refused_and_leave_no_marks():
    a = Value(1.0)
    b = Value(2.0, (a,), "b")
    a._prev = {b}
    for _ in range(2):
        with pytest.raises(ValueError, match="has a cycle"):
            Graph.record([Value(3.0), b])


def test_failing_rules_raise_and_leave_no_marks():
    a = Value(1.0)
    b = Value(2.0, (a,), "b")
    b._backward = lambda: 1 / 0
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            Graph.record(b)
    b._backward = lambda: None
    assert len(Graph.record(b)) == 2


# Validation


def changed(**fields: object) -> Graph:
    a = Value(2.0, label="a")
    graph = Graph.record(a * a + sumprod([a], [3.0]))
    return dataclasses.replace(
        graph,
        **{
            name: numpy.array(value, getattr(graph, name).dtype) if isinstance(value, list) else value
            for name, value in fields.items()
        },
    )


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"data": [1.0]}, "data must have 4 entries .*, got 1"),
        ({"data": numpy.zeros(4, numpy.float32)}, "data must be a contiguous one-dimensional array of float64"),
        ({"operands": numpy.zeros(7, numpy.int64)}, "operands must be a contiguous one-dimensional array of int32"),
        ({"offsets": [0, 0, 2, 5]}, "offsets must have 5 entries .*, got 4"),
        ({"offsets": [0, 2, 0, 5, 7]}, "offsets must increase"),
        ({"offsets": [1, 1, 2, 5, 7]}, "offsets must increase"),
        ({"opcodes": [0, 99, SUMPROD, 1]}, "node 1 has the unknown opcode 99"),
        ({"opcodes": [0, -1, SUMPROD, 1]}, "node 1 has the unknown opcode -1"),
        ({"opcodes": [0, 7, SUMPROD, 1]}, r"node 1 \(abs\) takes 1 operands, not 2"),
        ({"opcodes": [0, 0, SUMPROD, 1]}, r"node 1 has operands \(2\) but no operation"),
        ({"opcodes": [0, SUMPROD, SUMPROD, 1]}, r"node 1 \(sumprod\) takes an odd number of operands, not 2"),
        ({"operands": [0, 1, -1, 0, -1, 1, 2]}, "node 1 has node 1 as operand"),
        ({"operands": [0, -2, -1, 0, -1, 1, 2]}, "node 1 has node -2 as operand"),
        ({"labels": {9: "a"}}, "label refers to node 9, but the graph has 4 nodes"),
        ({"outputs": (4,)}, "output refers to node 4"),
        ({"outputs": ()}, "the graph has no output"),
        ({"by_hand": frozenset([-1])}, "rule set by hand refers to node -1"),
        ({"scopes": {4: "sum"}}, "scope refers to node 4, but the graph has 4 nodes"),
    ],
)
def test_invalid_graphs_are_reported(fields, problem):
    changed().validate()
    with pytest.raises(GraphError, match=problem):
        changed(**fields).validate()


# JSON


def same(left: Graph, right: Graph) -> bool:
    """Return whether all fields that JSON stores are equal, bit for bit except for nan."""
    for field in dataclasses.fields(Graph):
        if field.name == "files":
            continue
        ours, theirs = getattr(left, field.name), getattr(right, field.name)
        if isinstance(ours, numpy.ndarray):
            if not numpy.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f"):
                return False
        elif ours != theirs:
            return False
    return True


def round_trip(graph: Graph) -> None:
    text = graph.to_json()
    jsonschema.validate(json.loads(text, parse_constant=pytest.fail), SCHEMA)
    assert same(graph, Graph.from_json(text))
    columns = json.dumps(graph.to_columns())
    jsonschema.validate(json.loads(columns, parse_constant=pytest.fail), SCHEMA)
    assert same(graph, Graph.from_json(columns))


def test_json_of_all_kinds_of_nodes():
    round_trip(Graph.record(everything()))
    round_trip(Graph.record(Value(1.0)))


@fewer(4)
@given(programs(EXTREME, EVERY, longest=8))
def test_json_of_random_graphs(program):
    _, root = as_values(program)
    root.backward()
    round_trip(Graph.record(root))


def test_same_distinguishes_graphs():
    a = Graph.record(Value(1.0))
    assert same(a, Graph.record(Value(1.0)))
    assert not same(a, Graph.record(Value(2.0)))
    assert not same(a, Graph.record(Value(1.0, label="a")))


LEAF = '{"data": 1.0, "grad": 0.0}'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "this is not JSON"),
        deeply_nested,
        ('{"gradwalk": NaN}', "NaN is not a JSON number"),
        ("[]", "this is not a graph"),
        ('{"gradwalk": "graph", "version": true}', "version True"),
        (
            '{"gradwalk": "graph", "version": 1, "nodes": [], "outputs": [], "x": 1}',
            "the graph has the unknown key 'x'",
        ),
        ('{"gradwalk": "walk"}', "this is not a graph"),
        ('{"gradwalk": "graph", "version": 3}', "version 3; versions 1 and 2 can be read"),
        (
            '{"gradwalk": "graph", "version": 2, "nodes": []}',
            "the graph has the unknown key 'nodes'; known keys: by_hand, data",
        ),
        ('{"gradwalk": "graph", "version": 1}', "the graph needs a list of nodes"),
        ('{"gradwalk": "graph", "version": 1, "nodes": [1], "outputs": [0]}', "node 0 is 1, not an object"),
        ('{"gradwalk": "graph", "version": 1, "nodes": [], "outputs": []}', "the graph has no output"),
        ('{"gradwalk": "graph", "version": 1, "nodes": [{}], "outputs": [0]}', "the data of node 0 is None"),
        (
            '{"gradwalk": "graph", "version": 1, "nodes": [{"daat": 1}], "outputs": [0]}',
            "node 0 has the unknown key 'daat'; known keys: by_",
        ),
        (f'{{"gradwalk": "graph", "version": 1, "nodes": [{LEAF}], "outputs": [1]}}', "output refers to node 1"),
        (
            f'{{"gradwalk": "graph", "version": 1, "nodes": [{LEAF}], "outputs": [true]}}',
            "an output must be an integer .*, got True",
        ),
    ],
)
def test_json_that_is_not_a_graph(text, problem):
    with pytest.raises(GraphError, match=problem):
        Graph.from_json(text)


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        ({"operation": "grow"}, "unknown operation 'grow'"),
        ({"operation": []}, "unknown operation"),
        ({"operation": "exp", "operands": [0]}, "1 operands and 0 partials"),
        ({"operation": "exp", "operands": [1], "partials": [1.0]}, "node 1 has node 1 as operand"),
        (
            {"operation": "exp", "operands": [0.5], "partials": [1.0]},
            "an operand of node 1 must be an integer .*, got 0.5",
        ),
        ({"operation": "exp", "operands": [{"constant": "1"}], "partials": [None]}, "a constant of node 1 is '1'"),
        ({"operation": "exp", "operands": [0], "partials": ["NaN"]}, "a partial of node 1 is 'NaN'"),
        ({"operands": [0], "partials": [1.0]}, "node 1 has operands"),
        ({"label": 3}, "the label of node 1 is 3"),
        ({"source": "x.py:1"}, "the source of node 1"),
        ({"source": {"file": "x.py", "line": -1}}, "the line of node 1 must be an integer .*, got -1"),
        ({"source": {"file": "x.py", "text": "y = x"}}, "the source of node 1"),
        ({"source": {"file": "x.py", "line": 1, "column": 2}}, "the source of node 1"),
        ({"source": {"file": "x.py", "line": 1, "text": 3}}, "the text of node 1 is 3"),
        (
            {"source": {"file": "x.py", "line": 1, "text": "x" * 201}},
            "the text of node 1 must have at most 200 characters, got 201",
        ),
        ({"data": 10**400}, "the data of node 1 is too large"),
        ({"operation": "exp", "symbol": "x"}, "both an operation"),
        ({"label": ""}, "the label of node 1 is empty"),
        ({"scope": 3}, "the scope of node 1 is 3"),
        ({"scope": ""}, "the scope of node 1 is empty"),
        ({"by_hand": "no"}, "by_hand of node 1 must be true, got 'no'"),
        (
            {"operation": "exp", "operands": [{"constant": 1.0, "x": 1}], "partials": [None]},
            "has the unknown key 'x'; known keys: constant",
        ),
        ({"operation": "exp", "operands": [{"constant": 1.0}], "partials": ["x"]}, "the partial 'x', not null"),
    ],
)
def test_json_with_a_bad_node(node, problem):
    nodes = [{"data": 1.0, "grad": 0.0}, {"data": 1.0, "grad": 0.0} | node]
    with pytest.raises(GraphError, match=problem):
        Graph.from_json(json.dumps({"gradwalk": "graph", "version": 1, "nodes": nodes, "outputs": [1]}))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"data": "AAA"}, "data of the graph must be base64-encoded numbers"),
        ({"data": "AAAA"}, "data of the graph must be base64-encoded numbers"),
        ({"data": [1.0]}, "data of the graph must be base64-encoded numbers"),
        ({"data": ""}, "data must have 2 entries .*, got 0"),
        ({"operations": ["grow", "tanh"]}, "the graph has the unknown operation 'grow'"),
        ({"operations": [""]}, "opcodes refer to an item out of range for 1 items"),
        ({"labels": None}, "labels of the graph must be an object"),
        (
            {"labels": {"nodes": "AAAAAA==", "which": "", "items": []}},
            "labels must have one item per node, got 1 nodes and 0 items",
        ),
        (
            {"labels": {"nodes": "AAAAAA==", "which": "AAAAAA==", "items": []}},
            "labels refer to an item out of range for 0 items",
        ),
        ({"labels": {"nodes": "AAAAAA==", "which": "AAAAAA==", "items": [3]}}, "item 0 of labels is 3, not a string"),
        ({"scopes": {"nodes": "AAAAAA==", "which": "AAAAAA==", "items": [""]}}, "item 0 of scopes is empty"),
        ({"labels": {"nodes": "CQAAAA==", "which": "AAAAAA==", "items": ["a"]}}, "label refers to node 9"),
        ({"by_hand": "CQAAAA=="}, "rule set by hand refers to node 9"),
        ({"strange": 1}, "the graph has the unknown key 'strange'"),
    ],
)
def test_columns_that_are_not_a_graph(changes, problem):
    document = Graph.record(Value(1.0, label="a").tanh()).to_columns()
    with pytest.raises(GraphError, match=problem):
        Graph.from_json(json.dumps(document | changes))


def test_json_of_source_lines():
    """Earlier versions did not store the text of source lines."""
    for text in ("", "y = x", "é" * 200, "\U0001f600" * 200, "\ud800\n\0"):
        source = {"file": "x.py", "line": 3} | ({"text": text} if text else {})
        node = {"data": 1.0, "grad": 0.0, "source": source}
        given = json.dumps({"gradwalk": "graph", "version": 1, "nodes": [node], "outputs": [0]})
        jsonschema.validate(json.loads(given), SCHEMA)
        graph = Graph.from_json(given)
        assert graph.sources == {0: ("x.py", 3, text)}
        assert json.loads(graph.to_json())["nodes"] == [node]
        round_trip(graph)


def test_parameters_of_networks_are_labeled():
    model = nn.MLP(2, [2, 1])
    labels = Graph.record(model([1.0, 2.0])).labels.values()
    assert {"layers.0.neurons.1.w.1", "layers.1.neurons.0.b"} <= set(labels)


@fewer(4)
@given(programs(ORDINARY, EVERY, longest=15))
def test_random_graphs_are_well_formed(program):
    Graph.record(as_values(program)[1]).validate()


def test_numbering_of_many_equal_labels_is_fast():
    """Counting from the start for each label would take minutes."""
    values = [Value(0.0, label=label) for i in range(2, 60_002) for label in ("a", f"a ({i})")]
    names = Graph.record(values).names
    assert len(set(names)) == len(names) == 120_000
    assert names[2] == "a (60002)"
