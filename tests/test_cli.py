"""The command line, as its users meet it: in another process."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import pytest

from gradwalk import Graph

NEURON = ["tanh(x1*w1 + x2*w2 + b)", "x1=2", "x2=0", "w1=-3", "w2=1", "b=6.8813735870195432"]


def gradwalk(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gradwalk", *arguments]
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        env={**clean, "PYTHONUTF8": "1", **environment},
    )


def sections(output: str) -> dict[str, list[str]]:
    """The lines under each heading."""
    parts = [part.splitlines() for part in output.split("\n\n")]
    return {lines[0]: lines[1:] for lines in parts}


def test_walk_prints_graph_values_steps_gradients_and_check():
    result = gradwalk("walk", *NEURON)
    assert (result.returncode, result.stderr) == (0, "")
    assert "\033" not in result.stdout
    told = sections(result.stdout)
    assert list(told) == [
        "Graph",
        "Values, in forward order",
        "Backward pass",
        "Gradients, in the order of the backward pass",
        "Check: gradients beside difference quotients",
    ]
    _, forward, backward, gradients, checked = told.values()
    names = [line.split("  ")[1] for line in forward[1:]]
    assert names[:4] == ["x1", "w1", "x1*w1", "x2"]
    assert names[-1] == NEURON[0]
    assert [line.split("  ")[1] for line in gradients[1:]] == names[::-1]
    assert "tanh scales" in backward[0]
    assert len(backward) == len(names)
    found = {line.split("  ")[1]: float(line.split()[-1]) for line in gradients[1:]}
    assert found["x1"] == pytest.approx(-1.5)
    assert found["w1"] == pytest.approx(1.0)
    assert [line.split()[-1] for line in checked[1:-1]] == ["right"] * 10
    assert checked[-1].startswith("worst: ")


def test_json():
    result = gradwalk("walk", *NEURON, "--json")
    data = json.loads(result.stdout)
    assert data["of"] == NEURON[0]
    assert data["forward"][2]["operands"] == ["x1", "w1"]
    assert data["backward"][0]["contributions"][0]["formula"] == "1 - out²"
    expected = {"x1": -1.5, "x2": 0.5, "w1": 1.0, "w2": 0.0, "b": 0.5, "x1*w1": 0.5, NEURON[0]: 1.0}
    assert {name: data["gradients"][name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert data["check"]["ok"] is True
    Graph.from_json(json.dumps(data["graph"])).validate()


def test_json_is_strict_even_of_nan_and_inf():
    result = gradwalk("walk", "x*y + z", "x=nan", "y=inf", "z=-inf", "--json")
    data = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert [row["data"] for row in data["forward"]] == ["nan", "inf", "nan", "-inf", "nan"]
    assert {row["verdict"] for row in data["check"]["rows"]} == {"not finite"}


def test_colour_where_it_is_asked_for():
    assert "\033[1m" in gradwalk("walk", "x", "x=1", FORCE_COLOR="1").stdout


def test_special_numbers_and_labels():
    result = gradwalk("walk", "π / 日本", "π=1", "日本=0")
    assert "inf" in result.stdout
    assert "日本" in result.stdout


def test_expression_that_begins_with_a_minus():
    result = gradwalk("walk", "-x*2", "x=3")
    assert result.returncode == 0, result.stderr
    assert "-6.0" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["x*y", "x=1"], "no value is given for the name 'y'\n  x*y\n    ^"),
        (["foo(x)", "x=1"], "unknown function 'foo'\n  foo(x)\n  ^"),
        (["x.data", "x=1"], "attributes"),
        (["exp(x, x)", "x=1"], "exp() takes 1 argument, not 2\n  exp(x, x)\n  ^"),
        (["x +", "x=1"], "syntax error"),
        (["x", "x=1", "x=2"], "the name 'x' is given twice\n  x=2\n  ^"),
        (["x", "x=one"], "the value of 'x' is not a number\n  x=one\n    ^"),
        (["x", "x"], "not a name and a value"),
        (["x", "2=3"], "not a name and a value"),
        (["x", "x=1", "y=2"], "y=2 is given, but the expression has no 'y'"),
    ],
)
def test_bad_input(arguments, problem):
    result = gradwalk("walk", *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert problem in result.stderr
    assert "Traceback" not in result.stderr


def test_expressions_are_never_run():
    result = gradwalk("walk", "__import__('os').system('echo owned')")
    assert result.returncode == 2
    assert "owned\n" not in result.stdout


def test_reader_that_stops_reading():
    program = f"{sys.executable} -m gradwalk walk '{'+'.join(['x'] * 500)}' x=1 | head -n 1"
    result = subprocess.run(program, shell=True, capture_output=True, text=True, check=True)
    assert result.stdout.startswith("Graph")
    assert result.stderr == ""


def test_options_may_stand_between_values():
    result = gradwalk("walk", "x*2", "--json", "x=1")
    assert json.loads(result.stdout)["gradients"]["x"] == 2.0


def test_terminal_that_cannot_show_a_letter():
    result = gradwalk("walk", "π*x", "π=1", "x=2", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert result.returncode == 0, result.stderr
    assert "\\u03c0" in result.stdout


def test_help_and_version():
    assert "walk" in gradwalk("--help").stdout
    assert "name=value" in gradwalk("walk", "--help").stdout
    assert gradwalk("--version").stdout.startswith("gradwalk 0.")
    assert gradwalk().returncode == 2


def test_large_numbers_keep_all_digits():
    result = gradwalk("walk", "exp(x)", "x=1")
    assert repr(math.exp(1.0)) in result.stdout
