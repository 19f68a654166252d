"""Arithmetic written as text, parsed against the table."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwalk.math
from gradwalk.expression import ExpressionError, evaluate, parse
from gradwalk.ops import TABLE


def value_of(text: str, **values: float) -> float:
    return evaluate(parse(text), values)[0].data


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("x + 2*y - 1", {"x": 1, "y": 3}, 6.0),
        ("-x**2", {"x": 3}, -9.0),
        ("2**-1", {}, 0.5),
        ("+x / (y - 1)", {"x": 1, "y": 3}, 0.5),
        ("where(x > 0, x, 0)", {"x": -1}, 0.0),
        ("where(x >= y, 1, 2) + where(x < y, 10, 20) + where(x <= 1, 100, 200)", {"x": 1, "y": 1}, 121.0),
        ("1/x", {"x": 0}, math.inf),
        ("1_000 * 1e-3", {}, 1.0),
        ("π * é", {"π": 2, "é": 3}, 6.0),
        ("(a +\n b)", {"a": 1, "b": 2}, 3.0),
        ("  x", {"x": 1}, 1.0),
    ],
)
def test_values(text, values, expected):
    assert value_of(text, **values) == expected


def test_every_function_of_the_table():
    draw = random.Random(0)
    for row in TABLE:
        if row.is_function:
            operands = [draw.uniform(low, high) for low, high in row.domain]
            names = "abc"[: row.arity]
            values = dict(zip(names, operands, strict=True))
            expected = getattr(gradwalk.math, row.name)(*operands)
            assert value_of(f"{row.name}({', '.join(names)})", **values) == expected


def test_labels_are_the_text():
    root, leaves = evaluate(parse("tanh(x1*w1 + b)"), {"x1": 2.0, "w1": -3.0, "b": 7.0})
    root.backward()
    assert root.label == "tanh(x1*w1 + b)"
    assert root.operands[0].label == "x1*w1 + b"
    assert root.operands[0].operands == (leaves_product := root.operands[0].operands[0], leaves["b"])
    assert leaves_product.operands == (leaves["x1"], leaves["w1"])
    assert leaves["x1"].grad == pytest.approx(-3 * (1 - math.tanh(1) ** 2))


@pytest.mark.parametrize(
    ("text", "problem", "caret"),
    [
        ("x +", "syntax error", 3),
        ("", "is empty", None),
        ("tan(x", "syntax error", 3),
        ("x y", "syntax error", 2),
        ("x*foo(x)", "unknown function 'foo'", 2),
        ("maxmum(x, 2)", "did you mean maximum", 0),
        ("1 + exp(x, 2)", r"exp\(\) takes 1 argument, not 2", 4),
        ("where(x, 1)", "takes 3 arguments, not 2", 0),
        ("2*x.data", "attributes such as .data", 2),
        ("x.exp()", "called by name", 0),
        ("exp(*x)", "before an argument", 4),
        ("exp(x=x)", "named arguments", 6),
        ("x^2", "powers write", 1),
        ("'a'", "'a' is not a real number", 0),
        ("x*1j", "1j is not a real number", 2),
        ("True + x", "True is not a real number", 0),
        ("1 + 1" + "0" * 400, "too large", 4),
        ("[x]", "not arithmetic", 0),
        ("x if x else 1", "not arithmetic", 0),
        ("lambda: x", "not arithmetic", 0),
        ("x and y", "not arithmetic", 0),
        ("x == 1", "not arithmetic", 0),
        ("0 < x < 1", "not arithmetic", 0),
        ("x // 2", "not arithmetic", 0),
        ("~x", "not arithmetic", 0),
        ("(y := x)", "not arithmetic", 1),
        ("__import__('os').system('true')", "called by name", 0),
        ("open('/etc/passwd')", "unknown function 'open'", 0),
        ("é + x.y", "attributes", 4),
        ("a\x00b", "syntax error", None),
    ],
)
def test_errors_say_what_and_where(text, problem, caret):
    with pytest.raises(ExpressionError, match=problem) as caught:
        parse(text)
    if caret is not None:
        line = next(line for line in str(caught.value).splitlines() if line.strip() == "^")
        assert line.index("^") - 2 == caret


def test_names_without_values_and_values_without_names():
    with pytest.raises(ExpressionError, match=r"no value is given for the name 'y'\n  x\*y\n    \^\n"):
        evaluate(parse("x*y"), {"x": 1.0})
    with pytest.raises(ExpressionError, match="the expression has no 'z'; it has: x"):
        evaluate(parse("x"), {"x": 1.0, "z": 2.0})


def test_nothing_is_too_deep():
    assert value_of("+".join(["x"] * 2000), x=1.0) == 2000.0
    for text in ("(" * 5000 + "x" + ")" * 5000, "-" * 100_000 + "x", "x" + "+x" * 200_000):
        try:
            parse(text)
        except ExpressionError as error:
            assert "deep" in str(error) or "nested" in str(error)  # noqa: PT017  either outcome is fine


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        parsed = parse(text)
    except ExpressionError:
        return
    evaluate(parsed, dict.fromkeys(parsed.names, 1.0))


@given(
    st.lists(st.sampled_from(["x", "y", "2", "+", "-", "*", "/", "**", "(", ")", "exp(", ",", " ", "."]), max_size=12)
)
def test_any_tokens_are_read_or_refused(tokens):
    try:
        parsed = parse("".join(tokens))
    except ExpressionError:
        return
    evaluate(parsed, dict.fromkeys(parsed.names, 1.5))
