"""Parsing and evaluation of arithmetic expressions."""

from __future__ import annotations

import ast
import math
import random
import re
import unicodedata
import warnings

import expressions
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwalk.math
from gradwalk import Graph, Value
from gradwalk.cli.expression import _ELSEWHERE, _FUNCTIONS, ExpressionError, evaluate, parse
from gradwalk.explain.text import is_name
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.table import TABLE
from gradwalk.value.apply import apply


def value_of(text: str, **values: float) -> float:
    return evaluate(parse(text), values)[0].data


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("x + 2*y - 1", {"x": 1, "y": 3}, 6.0),
        ("-x**2", {"x": 3}, -9.0),
        ("2**-1", {}, 0.5),
        ("-7 // 2 * 2 + -7 % 2", {}, -7.0),
        ("x % 3 // 2", {"x": 8}, 1.0),
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


@pytest.mark.parametrize(
    ("typeset", "plain"),
    [
        ("a·b", "a*b"),
        ("a·a", "a*a"),
        ("a\u00d7b \u2212 c\u22c5a \u00f7 b", "a*b - c*a / b"),
        ("a \u2013 \u2013b", "a - -b"),
        ("a \u2013 b\u2013c", "a - b - c"),
        ("2·a²", "2*a**2"),
        ("-a²", "-a**2"),
        ("2**a³", "2**a**3"),
        ("a**b²", "a**b**2"),
        ("(a + b)⁻²/c¹⁰", "(a + b)**-2/c**10"),
        ("tanh(a²·b)", "tanh(a**2*b)"),
        ("(a ≤ b) + (b ≥ c)", "(a <= b) + (b >= c)"),
    ],
)
def test_typeset_operators(typeset, plain):
    values = {"a": 0.5, "b": 1.25, "c": -0.75}
    found, expected = (
        evaluate(parsed, {name: values[name] for name in parsed.names}) for parsed in map(parse, (typeset, plain))
    )
    assert found[0].data == expected[0].data
    assert list(found[1]) == list(expected[1])
    assert found[0].label == typeset


def test_every_function_in_the_table():
    draw = random.Random(0)
    for row in TABLE:
        if row.is_function:
            operands = [draw.uniform(low, high) for low, high in row.domain]
            names = "abc"[: row.arity]
            values = dict(zip(names, operands, strict=True))
            expected = getattr(gradwalk.math, row.name)(*operands)
            assert value_of(f"{row.name}({', '.join(names)})", **values) == expected


def test_labels_are_the_source_text():
    root, leaves = evaluate(parse("tanh(x1*w1 + b)"), {"x1": 2.0, "w1": -3.0, "b": 7.0})
    root.backward()
    assert root.label == "tanh(x1*w1 + b)"
    assert root.operands[0].label == "x1*w1 + b"
    assert root.operands[0].operands == (leaves_product := root.operands[0].operands[0], leaves["b"])
    assert leaves_product.operands == (leaves["x1"], leaves["w1"])
    assert leaves["x1"].grad == pytest.approx(-3 * (1 - math.tanh(1) ** 2))


def test_programs_with_several_parts():
    root, leaves = evaluate(parse("e = a + b; f = e*c"), {"a": 2.0, "b": -3.0, "c": 10.0})
    assert (root.data, root.label, list(leaves)) == (-10.0, "f", ["a", "b", "c"])
    assert root.operands[0].label == "e"
    assert [node.name for node in Graph.record(root).nodes] == ["a", "b", "e", "c", "f"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("e = a + b; f = e*c", ["a", "b", "e", "c", "f"]),
        ("e = a + b; e*c", ["a", "b", "e", "c", "e*c"]),
        ("\n e = a + b ;\r\n\n # a comment\n f = e*e;;\n", ["a", "b", "e", "f"]),
        ("e = (a +\n b)\nf = exp(\ne\n)", ["a", "b", "e", "f"]),
        ("exp = a*b; exp(exp)", ["a", "b", "exp", "exp(exp)"]),
        ("m = a < b; f = m*c", ["c", "f"]),  # a comparison gives a number, not a node
        ("u = a*b; f = a + 1", ["a", "f"]),
        ("f = a < b", ["f"]),
        ("u = a*b; 2*3", ["2*3"]),
    ],
)
def test_names_of_parts(text, names):
    parsed = parse(text)
    root, _ = evaluate(parsed, dict.fromkeys(parsed.names, 1.0))
    assert [node.name for node in Graph.record(root).nodes] == names


def test_parts_are_shared():
    root, leaves = evaluate(parse("b = a + 1; c = a*3; d = b*c; e = d + b"), {"a": 2.0})
    root.backward()
    assert len(Graph.record(root)) == 5
    assert leaves["a"].grad == 6 + 3 * 3 + 1


@pytest.mark.parametrize(
    ("text", "problem", "caret"),
    [
        ("x +", "syntax error: a number or a name is missing", 3),
        ("x + * y", "syntax error: a number or a name is missing", 4),
        ("x + ; y", "syntax error: a number or a name is missing", 4),
        ("e = ", "syntax error: a number or a name is missing", 3),
        ("exp(x,)", "syntax error: a number or a name is missing", 6),
        ("", "is empty", None),
        ("; # nothing", "is empty", None),
        ("tan(x", "syntax error: '\\(' was never closed", 3),
        ("(x + ", "syntax error: '\\(' was never closed", 0),
        ("(x; y)", "syntax error: '\\(' was never closed", 0),
        ("x)", "syntax error: unmatched '\\)'", 1),
        ("x y", "syntax error: an operator is missing", 2),
        ("2x", "for a product write", 1),
        ("2(x)", "for a product write", 0),
        ("x, y", "syntax error: a comma", 1),
        ("exp((x, y))", "syntax error: a comma", 6),
        ("x*foo(x)", "unknown function 'foo'", 2),
        ("maxmum(x, 2)", "did you mean maximum", 0),
        ("max(x, 2)", "did you mean maximum\\?", 0),
        ("min(x, 2)", "did you mean minimum\\?", 0),
        ("1 + round(x)", "did you mean rint\\?", 4),
        ("ln(x)", "did you mean log\\?", 0),
        ("arctan(x)", "did you mean atan, atanh or atan2\\?", 0),
        ("tahn(x)", r"unknown function .tahn.[^?]*\ndid you mean tan, tanh or atan\?$", 0),
        ("zzz(x)", "names of Python.s math module, such as exp, log or tanh$", 0),
        ("ReLU(x)", "did you mean relu\\?", 0),
        ("sigm(x)", "did you mean sigmoid\\?", 0),
        ("norm(x, y)", "did you mean hypot\\(x, y\\)\\?", 0),
        ("log_softmax(x)", "did you mean x - logaddexp\\(x, y\\)\\?", 0),
        ("interp(x)", "did you mean a \\+ \\(b - a\\)\\*t\\?", 0),
        ("1 + maximum(x, y, z)", r"takes 2 arguments, not 3[^?]*nest the calls: maximum\(maximum\(x, y\), z\)", 4),
        ("softmax(x, y)", "did you mean exp\\(x\\) / \\(exp\\(x\\) \\+ exp\\(y\\)\\)\\?", 0),
        ("logsumexp(x, y)", "did you mean logaddexp\\(x, y\\)\\?", 0),
        ("1 + exp(x, 2)", r"exp\(\) takes 1 argument, not 2", 4),
        ("exp()", r"exp\(\) takes 1 argument, not 0", 0),
        ("where(x, 1)", "takes 3 arguments, not 2", 0),
        ("2*x.data", "attributes such as .data", 2),
        ("x.exp()", "by their bare names", 0),
        ("(x)(y)", "called by name", 0),
        ("exp(*x)", "before an argument", 4),
        ("exp(x=x)", "named arguments", 5),
        ("x^2", "powers write", 1),
        ("'a'", "'a' is not a real number", 0),
        ("x*1j", "1j is not a real number", 2),
        ("True + x", "True is not a real number", 0),
        ("1 + 1" + "0" * 400, "too large", 4),
        ("[x]", "not arithmetic", 0),
        ("x if x else 1", "not arithmetic", 2),
        ("lambda: x", "not arithmetic", 0),
        ("x and y", "not arithmetic", 2),
        ("x == 1", "not arithmetic", 2),
        ("0 < x < 1", "chained", 6),
        ("x //= 2", "not arithmetic", 2),
        ("x %= 2", "not arithmetic", 2),
        ("x @ 2", "not arithmetic", 2),
        ("e += x", "not arithmetic", 2),
        ("~x", "not arithmetic", 0),
        ("(y := x)", "not arithmetic", 3),
        ("__import__('os').system('true')", "unknown function '__import__'", 0),
        ("open('/etc/passwd')", "unknown function 'open'", 0),
        ("é + x.y", "attributes", 4),
        ("名 + 'a'", "not a real number", 5),
        ("a\x00b", "not arithmetic", 1),
        ("a + b; c*2", "the result of this part is not used", 0),
        ("e = a + b; e = 2*a", "'e' is defined twice", 11),
        ("e = f*2; f = a*2", "'f' is used before it is defined", 9),
        ("a = a + 1", "'a' is used before it is defined", 0),
        ("e = 2*3; f = e*a", "'e' is computed from numbers only", 0),
        ("e = (a); f = e*a", "'e' would be a second name for 'a'", 0),
        ("a = b = c", "only a part can be given a name", 6),
        ("f(a) = b", "unknown function 'f'", 0),
    ],
)
def test_errors_name_the_problem_and_the_place(text, problem, caret):
    with pytest.raises(ExpressionError, match=problem) as caught:
        parse(text)
    if caret is not None:
        line = next(line for line in str(caught.value).splitlines() if line.strip() == "^")
        assert line.index("^") - 2 == caret


@pytest.mark.parametrize("written", _ELSEWHERE.values())
def test_suggested_functions_exist(written):
    assert written in _FUNCTIONS if is_name(written) else parse(written)


def test_missing_and_unused_values():
    with pytest.raises(ExpressionError, match=r"no value is given for the name 'y'\n  x\*y\n    \^\n"):
        evaluate(parse("x*y"), {"x": 1.0})
    with pytest.raises(ExpressionError, match="the expression has no 'z'; it has: x"):
        evaluate(parse("x"), {"x": 1.0, "z": 2.0})
    with pytest.raises(ExpressionError, match="e=2 is given, but the program computes e itself"):
        evaluate(parse("e = a*b; e + a"), {"a": 1.0, "b": 1.0, "e": 2.0})
    with pytest.raises(ExpressionError, match=r"give it one: pi=3\.14159265"):
        evaluate(parse("2*pi"), {})


def test_error_shows_the_line_where_it_occurs():
    with pytest.raises(ExpressionError, match=r"missing\n  f = e \+\n         \^"):
        parse("e = a + b\nf = e +\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+".join(["x"] * 100_000), 100_000.0),
        ("(" * 100_000 + "x" + ")" * 100_000, 1.0),
        ("-" * 100_000 + "x", 1.0),
        ("relu(" * 20_000 + "x" + ")" * 20_000, 1.0),
        ("x" + "**x" * 20_000, 1.0),
    ],
    ids=["sum", "brackets", "signs", "calls", "powers"],
)
def test_deeply_nested_expressions(text, expected):
    root, _ = evaluate(parse(text), {"x": 1.0})
    assert root.data == expected
    assert len(root.label) <= 1000


def by_python(text, values):
    """Evaluate with Python's parser, an independent reference for precedence and for the text of each node."""
    leaves = {unicodedata.normalize("NFKC", name): Value(value, label=name) for name, value in values.items()}
    rows = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.USub: "neg"}
    rows |= {ast.FloorDiv: "floor_divide", ast.Mod: "mod"}

    def made(node):
        match node:
            case ast.Constant(value=number):
                return float(number)
            case ast.Name(id=name):
                return leaves[name]
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return made(operand)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                left, right = made(left), made(right)
                less, equal = left < right, left <= right and left >= right  # == of Values compares identity
                return float(
                    {ast.Lt: less, ast.LtE: less or equal, ast.Gt: right < left, ast.GtE: right < left or equal}[
                        type(operator)
                    ]
                )
            case ast.Call(func=ast.Name(id=name), args=operands):
                result = apply(OPCODES[name], *map(made, operands))
            case ast.BinOp(left=left, op=operator, right=right):
                result = apply(OPCODES[rows[type(operator)]], made(left), made(right))
            case ast.UnaryOp(op=operator, operand=operand):
                result = apply(OPCODES[rows[type(operator)]], made(operand))
        if isinstance(result, Value):
            result.label = ast.get_source_segment(text, node)
        return result

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return made(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize("seed", range(200))
def test_precedence_and_labels_agree_with_python(seed):
    draw = random.Random(seed)
    text = expressions.expression(draw)
    values = {name: draw.uniform(-2, 2) for name in parse(text).names}
    expected, (root, _) = by_python(text, values), evaluate(parse(text), values)
    if isinstance(expected, Value):
        assert Graph.record(root).to_json() == Graph.record(expected).to_json()
    else:
        assert root.data == expected or math.isnan(expected)


@pytest.mark.parametrize("seed", range(300))
def test_accepted_text_is_valid_python(seed):
    draw = random.Random(seed)
    text = draw.choice((expressions.broken, expressions.soup))(draw)
    try:
        parsed = parse(text)
    except ExpressionError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        text = parsed.text.replace("\u3000", " ").replace("\x1f", " ").replace("²", "**2")
        ast.parse(re.sub("^ *;", "", text, flags=re.M))  # Python needs a statement before a semicolon
    evaluate(parsed, dict.fromkeys(parsed.names, 1.0))


@given(st.text(max_size=30))
def test_any_text_is_parsed_or_rejected(text):
    try:
        parsed = parse(text)
    except ExpressionError:
        return
    evaluate(parsed, dict.fromkeys(parsed.names, 1.0))


@given(
    st.lists(st.sampled_from(["x", "y", "2", "+", "-", "*", "/", "**", "(", ")", "exp(", ",", " ", "."]), max_size=12)
)
def test_any_tokens_are_parsed_or_rejected(tokens):
    try:
        parsed = parse("".join(tokens))
    except ExpressionError:
        return
    evaluate(parsed, dict.fromkeys(parsed.names, 1.5))


def test_long_expressions():
    names = [f"x{i}" for i in range(20_000)]
    root, _ = evaluate(parse(" + ".join(names)), dict.fromkeys(names, 1.0))
    assert root.data == 20_000.0
