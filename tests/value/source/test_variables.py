"""Tests of the variable names given to new nodes, for each kind of statement."""

from __future__ import annotations

import linecache
import sys
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk import Graph, Value, debug_nans, source_lines
from gradwalk.value.source.variables import Target, targets

HEAD = """\
import functools, operator
import numpy
from gradwalk import Value, math, nn
"""
_files = count()


def run(text: str) -> dict[str, Any]:
    name = f"<variables {next(_files)}>"
    text = HEAD + text
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    variables: dict[str, Any] = {}
    with source_lines():
        exec(compile(text, name, "exec"), variables)
    return variables


def names(text: str, root: str = "root") -> list[str]:
    """Return the names of the nodes in the graph of a variable, without unnamed nodes."""
    graph = Graph.record(run(text)[root])
    return [graph.labels[index] for index in sorted(graph.labels)]


LEAF = "a = Value(2.0)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("root = a * a", ["a", "root"]),
        ("root: Value = a * a", ["a", "root"]),
        ("root = (a\n  * a)", ["a", "root"]),
        ("root = (\n  a\n  .tanh()\n  .exp()\n)", ["a", "root"]),
        ("root = -a", ["a", "root"]),
        ("root = a.relu()", ["a", "root"]),
        ("root = math.exp(\n  a\n)", ["a", "root"]),
        ("root = a * a + 1.0", ["a", "root"]),
        ("root = other = a * a", ["a", "root"]),
        ("root = (a * a if True else a + a)", ["a", "root"]),
        ("root = 1.0 + (h := a * a)", ["a", "h", "root"]),
        ("print(root := a * a)", ["a", "root"]),
        ("root = (h := a * a)", ["a", "root"]),
        ("root = a * a\nroot += a", ["a", "root", "root (2)"]),
        ("root = a\nfor i in range(2):\n  root = root * 2.0", ["a", "root", "root (2)"]),
        ("root = a\nfor i in range(2):\n  root = root.tanh()", ["a", "root", "root (2)"]),
        ("b, root = a + 1.0, a * a", ["a", "root"]),
        ("[b, (root, c)] = a + 1.0, (a * a, a)", ["a", "root"]),
        ("é = a * a; root = é + 1.0", ["a", "é", "root"]),
        ("π = 'é' and a * a; root = π + 1.0", ["a", "root"]),
        ("w = {}\nw[0] = a * a\nroot = w[0] * 2.0", ["a", "w[0]", "root"]),
        ("w = {}\ni, j = 1, 2\nw[i, j] = a * a\nroot = w[i, j] * 2.0", ["a", "w[i, j]", "root"]),
        ("w = {}\nw[len('x')] = a * a\nroot = w[1] * 2.0", ["a", "root"]),
        ("o = nn.Module()\no.h = a * a\nroot = o.h * 2.0", ["a", "o.h", "root"]),
        ("class C:\n  def __init__(self): self.w = a * a\nroot = C().w * 2.0", ["a", "w", "root"]),
        ("_ = a * a\nroot = _ * 2.0", ["a", "root"]),
        # The result of a function gets the name of the caller's variable.
        ("def f(x): return x * x\nroot = f(a)", ["a", "root"]),
        ("f = lambda x: x * x\nroot = f(a)", ["a", "root"]),
        ("def f(x):\n  h = x * x\n  return h\nroot = f(a) + 1.0", ["a", "h", "root"]),
        ("def f(x): return g(x)\ndef g(x): return x * x\nroot = f(a)", ["a", "root"]),
        ("def f(x): return x * x\nroot = f(f(a))", ["a", "root"]),
        ("def f(x): return x * x\nroot = a\nfor _ in range(2): root = f(root)", ["a", "root", "root (2)"]),
        ("class C:\n  def __call__(self, x): return x * x\nnet = C()\nroot = net(a)", ["a", "root"]),
        # Intermediate results are unnamed.
        ("root = sum([a, a, a])", ["a", "root"]),
        ("root = functools.reduce(lambda x, y: x + y, [a, a, a])", ["a", "root"]),
        ("root = functools.reduce(operator.mul, [a, a, a])", ["a", "root"]),
        ("root = sum(x * x for x in [a, a])", ["a", "root"]),
        ("root = sum(x * x for x in [a, a]) * 0.5", ["a", "root"]),
        ("root = math.logsumexp([a, a])", ["a", "root"]),
        ("w = numpy.array([a, a])\nroot = w @ w", ["a", "root"]),
        # Elements of a container are not named after the container.
        ("w = [Value(1.0), Value(2.0)]\nroot = w[0] * w[1]", ["root"]),
        ("w = [Value(x) for x in (1.0, 2.0)]\nroot = w[0] * w[1]", ["root"]),
        ("w = list(map(Value, (1.0, 2.0)))\nroot = w[0] * w[1]", ["root"]),
        ("w = numpy.array([Value(x) for x in (1.0, 2.0)])\nroot = w[0] * w[1]", ["root"]),
        ("w = dict(x=Value(1.0))\nroot = w['x'] * 2.0", ["root"]),
        ("w = {k: Value(1.0) for k in 'x'}\nroot = w['x'] * 2.0", ["root"]),
        ("for x in [Value(1.0)]: root = x * x", ["root"]),
    ],
)
def test_statements(text: str, expected: list[str]) -> None:
    assert names(LEAF + text) == expected


def test_labels_are_never_replaced() -> None:
    text = """
a = Value(2.0, label="loss")
b = Value(3.0)
b.label = "mine"
loss = a * b
loss = loss * 2.0
"""
    assert names(text, "loss") == ["loss", "mine", "loss (2)", "loss (3)"]


def test_label_set_later_is_used() -> None:
    variables = run(LEAF + "root = a * a")
    assert Graph.record(variables["root"]).names == ("a", "root")
    variables["root"].label = "r"
    assert Graph.record(variables["root"]).names == ("a", "r")
    assert (variables["a"].label, variables["a"].source.text) == ("", "a = Value(2.0)")


def test_two_statements_on_a_line() -> None:
    assert names("a = Value(1.0); b = a * a; root = b + b") == ["a", "b", "root"]


def test_no_names_without_source_lines() -> None:
    a = Value(2.0)
    root = a * a
    assert Graph.record(root).labels == {}
    with debug_nans():
        root = a * a
    assert Graph.record(root).labels == {}
    assert root.source is not None


def test_unreadable_programs() -> None:
    assert targets(["x = = 2"]) == targets([]) == targets(["\0"]) == {}
    assert targets(["(" * 5000 + ")" * 5000]) == {}
    with source_lines():
        variables: dict[str, Any] = {"Value": Value}
        exec("a = Value(2.0)\nroot = a * a", variables)
    assert Graph.record(variables["root"]).labels == {}


def test_deep_recursion() -> None:
    text = "def f(n): return f(n - 1) if n else a * a\nroot = f(300)"
    assert names(LEAF + text) == ["a", "root"]


def test_targets_have_the_positions_of_expressions() -> None:
    assert targets(["y = f(x)\n", "return_ = lambda x: -x\n"]) == {
        (1, 1, 4, 8): Target("y", "f"),
        (2, 2, 20, 22): Target("", ""),
    }


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]}\n {t[2]})"),
        inner.map(lambda text: f"-{text}"),
        inner.map(lambda text: f"math.tanh({text})"),
        inner.map(lambda text: f"({text}).relu()"),
        inner.map(lambda text: f"sum([{text}, a])"),
        inner.map(lambda text: f"(lambda x: x * {text})(b)"),
    ),
    max_leaves=6,
)


@given(st.lists(EXPRESSIONS, min_size=1, max_size=5))
def test_variable_names_only_the_node_it_holds(expressions: list[str]) -> None:
    """The expected names come from the program's variables after it has run."""
    lines = [f"v{i} = {text} * 1.5" if i % 2 else f"v{i} = {text}" for i, text in enumerate(expressions)]
    variables = run("a, b = Value(0.5), Value(-0.25)\n" + "\n".join(lines))
    bound = {name: value for name, value in variables.items() if isinstance(value, Value)}
    for name, value in bound.items():
        graph = Graph.record(value)
        for index, label in graph.labels.items():
            assert graph.data[index] == bound[label].data
        if value is not variables["a"] and value is not variables["b"]:
            assert graph.labels[graph.root] == name


@pytest.mark.skipif(sys.flags.optimize > 1, reason="positions may be left out")
def test_positions_match_this_python_version() -> None:
    """The positions from the interpreter and the parser must agree for operators, calls, methods and `+=`."""
    assert names("a = Value(1.0)\nb = (a\n  .exp())\nb += a\nroot = f'{a}' and b * 1.0\nroot = root + b") == [
        "a",
        "b",
        "b (2)",
        "root",
    ]
