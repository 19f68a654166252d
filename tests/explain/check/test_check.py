"""Tests of numerical gradient checks: right and wrong gradients, and points where none can be told."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import shutil
import subprocess
import sys

import numpy
import pytest
from checkout import ROOT
from graphs_of_the_lesson import GRADIENTS, diamond, labeled, leaves, loss
from hypothesis import assume, given
from hypothesis import strategies as st
from programs import EVERY, ORDINARY, TAME, as_values, programs
from references import JUMPS

import gradwalk.math as gm
import gradwalk.numpy as gnp
from gradwalk import Graph, Value, check, gradcheck, nn, source_lines
from gradwalk.math import less
from gradwalk.ops.table import TABLE

# Operations without jumps: at a jump, as in -1.0 % -1.0, no difference quotient exists.
STEADY = [name for name in TAME if name not in JUMPS]


@pytest.mark.parametrize("make", GRADIENTS)
def test_gradients_of_the_lesson(make):
    found = check(make())
    assert found
    assert {row.name: row.quotient for row in found.rows} == pytest.approx(GRADIENTS[make], abs=1e-9)
    assert {row.verdict for row in found.rows} == {"right"}


def test_forward_differences_of_the_lesson():
    found = check(loss(), method="forward", h=1e-4)
    quotients = {row.name: row.quotient for row in found.rows}
    expected = {"L": 1.0, "d": -2.0, "f": 4.0, "e": -2.0, "c": -2.0, "a": 6.0, "b": -4.0}
    assert quotients == pytest.approx(expected, abs=2e-11)
    assert {row.h for row in found.rows} == {1e-4}
    assert found.ok


def test_truncation_of_forward_differences_is_not_an_error():
    (a,) = leaves(a=3.0)
    row = check(a * a, method="forward", h=0.1).rows[0]
    assert (row.quotient, row.verdict) == (pytest.approx(6.1), "right")


@pytest.mark.parametrize(("number", "verdict"), [(2.5, "right"), (2.0, "jump")])
def test_nodes_without_gradient_are_checked(number, verdict):
    a, b = leaves(a=number, b=3.0)
    found = check(a.floor() * b)
    assert [(row.name, row.backprop, row.verdict) for row in found.rows[:1]] == [("a", 0.0, verdict)]
    assert len(found.rows) == 4
    assert found.ok
    assert gradcheck(lambda a: a.floor() * 3.0, number).rows[0].verdict == verdict


@pytest.mark.parametrize(("number", "threshold"), [(2.0, 0.0), (0.0, 5.0), (0.0, -5.0)])
def test_comparison_away_from_threshold_hides_no_error(number, threshold):
    (x,) = leaves(x=number)
    graph = Graph.record(less(x, threshold).where(x * 2.0, x * 3.0))
    planted = numpy.where((graph.operands >= 0) & (graph.partials > 1.0), 1.5, 1.0) * graph.partials  # products only
    assert check(graph).rows[0].verdict == "right"
    assert check(dataclasses.replace(graph, partials=planted)).rows[0].verdict == "wrong"


def test_comparison_at_its_threshold_is_a_kink():
    (x,) = leaves(x=5.0)
    row = check(less(x, 5.0).where(x, 5.0) + less(5.0, x).where(x, 5.0)).rows[0]  # x + 5, with two kinks
    assert (row.backprop, row.quotient, row.verdict) == (0.0, pytest.approx(1.0), "kink")


def test_check_does_not_change_values():
    root = diamond()
    root.backward()
    before = [(node.data, node.grad) for node in Graph.record(root).nodes]
    check(root)
    assert [(node.data, node.grad) for node in Graph.record(root).nodes] == before


@given(programs(ORDINARY, EVERY, longest=15))
def test_right_gradients_pass(program):
    root = as_values(program)[1]
    root.backward()
    graph = Graph.record(root)
    assume(numpy.isfinite(graph.grad).all())
    found = check(graph)
    assert found.ok, str(found)


@given(programs(ORDINARY, STEADY, longest=10), st.integers(0, 1000), st.sampled_from([0.0, -1.0, 0.99, 1.001, 2.0]))
def test_wrong_gradients_are_found(program, edge, factor):
    graph = Graph.record(as_values(program)[1])
    sound = check(graph)
    assume({row.verdict for row in sound.rows} <= {"right"})
    assume(not any(graph.data[x] == 0.0 for node in graph.nodes for x in node.condition_operands))
    compared = [node.arguments for node in graph.nodes if node.symbol in ("<", "<=", "=")]
    assume(not any(len({graph.data[x] if isinstance(x, int) else x for x in pair}) == 1 for pair in compared))
    edges = numpy.flatnonzero(graph.operands >= 0)
    partials = graph.partials.copy()
    partials[edges[edge % len(edges)]] *= factor
    planted = dataclasses.replace(graph, partials=partials)
    before = {row.name: row.backprop for row in sound.rows}
    rows = check(planted).rows
    changed = [row for row in rows if abs(row.backprop - before[row.name]) > 1e-6 * abs(before[row.name])]
    assume(changed)
    assert {row.verdict for row in changed} <= {"wrong", "rounding"}
    if all(abs(row.backprop) + abs(before[row.name]) > 1e-3 for row in changed):
        assert not check(planted).ok


PLANTED = """
import sys
import gradwalk
from gradwalk import Value, check, source_lines
from gradwalk.value.apply import apply
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.table import TABLE

position = int(sys.argv[1])
for row in TABLE:
    opcode = OPCODES[row.name]
    if position >= row.arity or position in row.non_differentiable:
        continue
    points = [sum(interval) / 2 + (interval[1] - interval[0]) / 7 for interval in row.domain]
    if row.name == "where":
        points[0] = float(position == 1)
    if row.name in ("relu", "maximum", "minimum", "fmax", "fmin"):  # select this operand
        points = [0.0] * row.arity
        points[position] = -3.0 if row.name in ("minimum", "fmin") else 3.0
    with source_lines():
        operands = [Value(x, label=name) for x, name in zip(points, "xyz")]
        out = apply(opcode, *operands)
    found = check(out)
    assert not found.ok, (row.name, str(found))
    assert found.worst.name == "xyz"[position], row.name
    (culprit,) = found.culprits
    assert (culprit.operation, culprit.operand) == (row.symbol, "xyz"[position]), row.name
    assert culprit.source.number == found.worst.source.number + 1
    assert f"the derivative of {row.symbol} is wrong" in str(found)
    print(row.name)
"""


@pytest.mark.parametrize("position", [0, 1, 2])
def test_wrong_derivatives_of_every_operation_are_found(tmp_path, position):
    """Check a copy of the package in which one derivative of every operation is off by 0.1 %."""
    for folder in ("src", "tools", "docs", "web/src"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    table = tmp_path / "src/gradwalk/ops/table.py"
    plant = (
        "\nfor row in TABLE:\n"
        f"    if {position} < row.arity and {position} not in row.non_differentiable:\n"
        f"        row.partials[{position}] = 1.001 * row.partial({position})\n"
    )
    text = table.read_text(encoding="utf-8")
    end = text.index("\nBY_NAME")
    table.write_text(text[:end] + plant + text[end:], encoding="utf-8")
    clean = {**os.environ, "PYTHONPATH": "src"}
    subprocess.run([sys.executable, "tools/generate.py"], cwd=tmp_path, check=True, env=clean)
    command = [sys.executable, "-c", PLANTED, str(position)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=clean)
    assert result.returncode == 0, result.stderr
    expected = [row.name for row in TABLE if position < row.arity and position not in row.non_differentiable]
    assert result.stdout.split() == expected


def test_culprit_is_the_wrong_operation_itself():
    x, y = leaves(x=0.5, y=2.0)
    product = labeled(x * y, "product")
    product._backward = lambda: None
    root = labeled((product + x).tanh(), "root")
    found = check(root)
    assert {row.name for row in found.rows if row.verdict == "wrong"} == {"x", "y"}
    assert [(c.name, c.operand, c.local, c.quotient) for c in found.culprits] == [
        ("product", "x", 0.0, pytest.approx(2.0)),
        ("product", "y", 0.0, pytest.approx(0.5)),
    ]


# Cases that are not failures


def verdicts(root: Value) -> dict[str, str]:
    return {row.name: row.verdict for row in check(root).rows}


def test_kinks_are_recognized():
    for make in (gm.relu, abs, lambda x: x.maximum(0.0), lambda x: x.minimum(0.0) * 3 + x):
        (x,) = leaves(x=0.0)
        found = check(make(x))
        assert {row.name: row.verdict for row in found.rows}["x"] == "kink"
        assert found.ok


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.relu() - (-x).relu(),  # equals x; at its two kinks the rules choose 0
        lambda x: x.minimum(x.maximum(0.0)),
        lambda x: (2 * x).where(2 * x, x),
        lambda x: (x * 3.0).relu() - (x * -3.0).relu(),
    ],
)
def test_kinks_that_cancel_are_recognized(f):
    (x,) = leaves(x=0.0)
    assert verdicts(f(x))["x"] == "kink"
    assert gradcheck(f, 0.0).rows[0].verdict == "kink"


def test_wrong_gradients_at_kinks_are_wrong():
    (x,) = leaves(x=0.0)
    out = x.relu()

    def push() -> None:
        x.grad += 1.5 * out.grad

    out._backward = push
    assert verdicts(out)["x"] == "wrong"


def test_jumps_are_recognized():
    (x,) = leaves(x=0.0)
    assert verdicts(x.where(3.0, 2.0) * 2 + x)["x"] == "jump"


def test_cancellation_is_recognized():
    (x,) = leaves(x=1e-5)
    assert verdicts((1 - x.cos()) / x**2)["x"] == "rounding"
    (x,) = leaves(x=1.0)
    assert verdicts((x + 1e8) - 1e8)["x"] == "right"


def test_nonfinite_numbers():
    (x,) = leaves(x=0.0)
    assert verdicts(x.sqrt())["x"] == "not finite"
    assert verdicts(x.log())["x"] == "not finite"
    assert set(verdicts(Value(math.nan, label="x") * 2).values()) == {"not finite"}
    assert check(Value(math.inf, label="x") * 2).ok


def test_saturated_functions():
    for number in (20.0, 800.0, -800.0):
        (x,) = leaves(x=number)
        for saturated in (x.tanh(), x.sigmoid()):
            assert set(verdicts(saturated).values()) <= {"right", "rounding"}  # a slope of 1e-17 cannot be measured


def test_custom_nodes():
    (x,) = leaves(x=3.0)
    square = Value(9.0, (x,), "square", label="s")

    def push() -> None:
        x.grad += 6 * square.grad

    square._backward = push
    found = check(labeled(square * 2, "out"))
    assert {row.name: row.verdict for row in found.rows} == {"x": "by hand", "s": "right", "out": "right"}
    assert "not checked: 1 with a path to the root through hand-made nodes; gradcheck" in str(found)
    assert found.ok


def test_nodes_with_stored_derivatives():
    values = numpy.array(leaves(a=2.0, b=1.0, c=0.5, d=4.0), dtype=object)
    right = labeled(Value(3.0), "right")
    found = check(labeled(gnp.linalg.solve(values.reshape(2, 2), [right, 4.0])[0], "out"))
    verdicts = {row.name: row.verdict for row in found.rows}
    assert {verdicts[name] for name in ("a", "b", "c", "d", "right")} == {"stored"}
    assert verdicts["out"] == "right"
    told = "7 with a path to the root through nodes with stored local derivatives, which cannot be recomputed; "
    assert f"{told}gradcheck(f, ...)" in str(found)


def test_fsum_with_compensated_rounding():
    found = check(gm.fsum(leaves(a=1.0, b=2.5, c=0.1)))
    assert {row.name: row.verdict for row in found.rows if row.name in "abc"} == dict.fromkeys("abc", "right")
    assert {row.verdict for row in found.rows} == {"right", "stopped"}  # partial sums; fsum adds their errors again


def test_networks():
    model = nn.MLP(3, [4, 4, 1], activation=Value.tanh)
    root = model([0.5, -1.0, 2.0])
    found = check(root)
    assert found.ok
    assert {row.verdict for row in found.rows} == {"right"}


ABOVE_1 = 1.0 + 1e-9


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: abs(x) + 1.0, 1e-8),
        (lambda x: x.maximum(1.0), 1.00000001),
        (gm.acos, 1 - 1e-9),
        (gm.log1p, -1 + 1e-12),
        (lambda x: gm.sqrt(1.0 - x), 1 - 1e-9),
        (lambda x: 1 / (x - 1), ABOVE_1),
        (gm.tan, -2814.848894471886),
        (gm.sin, -461030185.26116633),
        (lambda x: gm.sin(1e6 * x), 1.0),
        (lambda x: gm.tanh(1e9 * (x - 1.0)), 1.0),
        (lambda x: gm.exp(-(((x - 1.0) * 1e9) ** 2)), ABOVE_1),
        (lambda x: gm.sin(x) - x, -3.187621052785119e-10),
        (gm.sigmoid, -720.0),
        (lambda x: gm.where(1.0, x * x, gm.log(-x)), 2.0),
    ],
)
def test_functions_that_vary_on_a_small_scale(f, x):
    (row,) = gradcheck(f, x).rows
    assert row.verdict == "right", str(row)


def test_numbers_too_coarse_to_resolve_the_function():
    for f in (gm.sin, gm.cos, gm.tan):
        assert gradcheck(f, 1e99).ok


def test_nan_gradient_of_a_smooth_root_is_wrong():
    (x,) = leaves(x=2.0)
    out = gm.tanh(x * math.inf) + x * x  # tanh passes back 0 * inf
    assert verdicts(out)["x"] == "wrong"


def test_unselected_nan_hides_no_error():
    (x,) = leaves(x=2.0)
    square = x * x
    square._backward = lambda: None
    assert verdicts(gm.where(1.0, square, gm.log(-x)))["x"] == "wrong"


# Invalid input


def test_stale_numbers_raise():
    (a,) = leaves(a=2.0)
    root = labeled(a * a, "b")
    a.data = 3.0
    with pytest.raises(ValueError, match=r"b is 4.0, but \* of its operands is 9.0.*Call refresh\(root\) first"):
        check(root)


@pytest.mark.parametrize("h", ["1", True, [1.0], Value(1.0)])
def test_steps_of_invalid_type_raise(h):
    with pytest.raises(TypeError, match="the step h must be a positive number, got"):
        check(diamond(), h=h)


def test_extreme_steps_hide_no_error():
    (x,) = leaves(x=1.0)
    y = x * x
    y._backward = lambda: None
    for h in (1e-30, 1e300):
        assert not check(y, h=h)


@pytest.mark.parametrize("h", [0.0, -1.0, math.nan, math.inf])
def test_invalid_steps_raise(h):
    with pytest.raises(ValueError, match="the step h must be positive and finite"):
        check(diamond(), h=h)


def test_invalid_methods_raise():
    with pytest.raises(ValueError, match="'central' or 'forward', got 'backward'"):
        check(diamond(), method="backward")


def test_invalid_roots_raise():
    with pytest.raises(TypeError, match="the root of a graph must be a Value"):
        check(3.0)
    with pytest.raises(ValueError, match="one root"):
        check([Value(1.0), Value(2.0)])


# As text and JSON


def test_text_names_worst_node_operation_and_line():
    with source_lines():
        x = Value(2.0, label="x")
        y = labeled(x * x, "y")
    y._backward = lambda: None
    text = str(check(y))
    line = test_text_names_worst_node_operation_and_line.__code__.co_firstlineno + 3
    assert f"test_check.py:{line - 1}" in text
    assert "worst: x, wrong, off by 1.0e+00 of its gradient" in text
    assert "to blame: d y / d x is 0.0 and should be about 4: the derivative of * is wrong" in text
    assert f"test_check.py:{line}: y = labeled(x * x, " in text


def test_json():
    data = json.loads(check(loss()).to_json(), parse_constant=pytest.fail)
    assert data["ok"] is True
    assert data["rows"][0]["name"] == "a"
    assert json.loads(check(Value(math.nan) * 2).to_json(), parse_constant=pytest.fail)["rows"][0]["backprop"] == 2.0


def test_repr_and_notebooks():
    found = check(loss())
    assert repr(found) == "<Check of 7 gradients: none wrong>"
    assert found._repr_mimebundle_() == {"text/plain": str(found)}
    assert found.worst is not None
    assert check(Value(1.0)).worst is not None


# gradcheck


def test_gradcheck_of_numbers_and_structures():
    def f(x, weights, options):
        total = gm.sumprod(x, weights) + options["rate"].exp()
        return total * sum(row.sum() for row in options["matrix"])

    found = gradcheck(f, [0.5, 2.0], (1.0, -3), {"rate": 0.1, "matrix": numpy.array([[1.0, 2.0], [3.0, 4.0]])})
    assert found.ok
    assert [row.name for row in found.rows] == [
        *("x[0]", "x[1]", "weights[0]", "weights[1]"),
        *("options['matrix'][0, 0]", "options['matrix'][0, 1]", "options['matrix'][1, 0]", "options['matrix'][1, 1]"),
        "options['rate']",
    ]
    assert found.rows[0].backprop == pytest.approx(10.0)


def test_gradcheck_finds_wrong_backward_rules():
    def wrong(x):
        out = Value(x.data**3, (x,), "cube")

        def push() -> None:
            x.grad += 2 * x.data**2 * out.grad

        out._backward = push
        return out

    found = gradcheck(wrong, 2.0)
    assert not found
    assert found.rows[0].verdict == "wrong"


def test_gradcheck_finds_overwriting_backward_rules():
    def overwriting(x):
        out = Value(x.data**2, (x,), "square")

        def push() -> None:
            x.grad = 2 * x.data * out.grad  # = instead of +=

        out._backward = push
        return out

    assert gradcheck(overwriting, 1.5)
    (row,) = gradcheck(lambda x: overwriting(x) + overwriting(x), 1.5).rows
    assert (row.backprop, row.quotient, row.verdict) == (3.0, pytest.approx(6.0), "wrong")


def test_gradcheck_of_unused_arguments_and_kinks():
    found = gradcheck(lambda x, unused: abs(x), 0.0, 1.0)
    assert [row.verdict for row in found.rows] == ["kink", "right"]


def test_gradcheck_does_not_change_other_gradients():
    weight = Value(3.0)
    assert gradcheck(lambda x: x * weight, 2.0)
    assert weight.grad == 0.0


def test_gradcheck_of_a_plain_result():
    """The function has lost its derivatives, which the quotients show."""

    def root(a):
        low, high = 0.0, 10.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if middle * middle > a else (middle, high)
        return low

    [row] = gradcheck(root, 2.0).rows
    assert (row.verdict, row.backprop) == ("wrong", 0.0)
    assert row.quotient == pytest.approx(0.5 / 2**0.5)
    [row] = gradcheck(lambda x: x.data, 2.0).rows
    assert (row.verdict, row.backprop, row.quotient) == ("wrong", 0.0, 1.0)


def test_gradcheck_with_invalid_arguments_raises():
    with pytest.raises(TypeError, match="must return a number, got list"):
        gradcheck(lambda x: [x], 2.0)
    with pytest.raises(TypeError, match="must return a number, got str"):
        gradcheck(lambda x: x * 2, "2")
    assert gradcheck(lambda x, kind: x * x if kind == "square" else x, 2.0, "square")
    with pytest.raises(ZeroDivisionError):
        gradcheck(lambda x: 1 / 0, 2.0)
    with pytest.raises(TypeError, match="must be a function, followed by its arguments; got float"):
        gradcheck(2.0, 3.0)
