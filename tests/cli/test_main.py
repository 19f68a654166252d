"""The command line, mostly run in another process."""

from __future__ import annotations

import json
import math
import os
import shlex
import signal
import subprocess
import sys

import pytest
from checkout import IS_COMPILED

from gradwalk import Graph, __version__
from gradwalk.cli.main import main

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
    """Return the lines below each heading."""
    parts = [part.splitlines() for part in output.split("\n\n")]
    return {lines[0]: lines[1:] for lines in parts}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["lesson", "--quick"], "unrecognized arguments: --quick"),
        (["lesson", "a.html", "b.html"], "unrecognized arguments: b.html"),
        (["walk", "--quick", "x", "x=1"], "unrecognized arguments: --quick"),
        (["walk"], "the following arguments are required: expression|script.py"),
        (["run"], "run needs the path of a script, or -m and the name of a module"),
    ],
)
def test_wrong_arguments_print_the_usage_of_the_command(capsys, arguments, problem):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    told = capsys.readouterr().err
    assert told.startswith(f"usage: gradwalk {arguments[0]} ")
    assert told.endswith(f"gradwalk {arguments[0]}: error: {problem}\n")


def test_walk_prints_all_sections():
    result = gradwalk("walk", *NEURON)
    assert (result.returncode, result.stderr) == (0, "")
    assert "\033" not in result.stdout
    told = sections(result.stdout)
    assert list(told) == [
        "Graph",
        "What to look at",
        "Values, in forward order",
        "Backward pass",
        "Gradients, in the order of the backward pass",
        "Check: gradients compared with finite differences",
    ]
    _, findings, forward, backward, gradients, checked = told.values()
    assert findings == ["  1  No gradient reaches w2: it is multiplied by x2 = 0."]
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


def test_json_with_nan_and_inf_is_strict():
    result = gradwalk("walk", "x*y + z", "x=nan", "y=inf", "z=-inf", "--json")
    data = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert [row["data"] for row in data["forward"]] == ["nan", "inf", "nan", "-inf", "nan"]
    assert {row["verdict"] for row in data["check"]["rows"]} == {"not finite"}


def test_force_color():
    assert "\033[1m" in gradwalk("walk", "x", "x=1", FORCE_COLOR="1").stdout


def test_special_numbers_and_labels():
    result = gradwalk("walk", "π / 日本", "π=1", "日本=0")
    assert "inf" in result.stdout
    assert "日本" in result.stdout


def test_expression_with_leading_minus():
    result = gradwalk("walk", "-x*2", "x=3")
    assert result.returncode == 0, result.stderr
    assert "-6.0" in result.stdout


def test_typographic_minus_signs():
    result = gradwalk("walk", "a\u00b7b \u2212 a", "a=\u22122", "b=1e\u22121")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == gradwalk("walk", "a\u00b7b \u2212 a", "a=-2", "b=0.1").stdout
    dashed = gradwalk("walk", "a\u00b7b \u2013 a", "a=\u20132", "b=1e\u20131")
    assert dashed.stdout == result.stdout.replace("\u2212", "\u2013")


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
        (["x", "x"], "values must be given as name=value"),
        (["x", "2=3"], "values must be given as name=value"),
        (["x", "x=1", "y=2"], "y=2 is given, but the expression has no 'y'"),
    ],
)
def test_invalid_input(arguments, problem):
    result = gradwalk("walk", *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert problem in result.stderr
    assert "Traceback" not in result.stderr


def test_expressions_are_not_executed():
    result = gradwalk("walk", "__import__('os').system('echo owned')")
    assert result.returncode == 2
    assert "owned\n" not in result.stdout


def test_broken_pipe():
    command = [sys.executable, "-m", "gradwalk", "walk", "+".join(["x"] * 500), "x=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("Graph")
        process.stdout.close()
        assert process.stderr.read() == ""


def test_options_between_values():
    result = gradwalk("walk", "x*2", "--json", "x=1")
    assert json.loads(result.stdout)["gradients"]["x"] == 2.0


def test_output_encoding_without_a_letter():
    result = gradwalk("walk", "π*x", "π=1", "x=2", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert result.returncode == 0, result.stderr
    assert "\\u03c0" in result.stdout


def test_without_arguments_prints_the_version_and_what_to_try_first():
    result = gradwalk()
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"gradwalk {__version__}, {'compiled by' if IS_COMPILED else 'plain Python'}")
    assert [line.split()[0] for line in lines[1:3]] == ["batches", "machine"]
    tried = [shlex.split(line.split("   ")[0])[1:] for line in lines if line.startswith("  gradwalk ")]
    assert [words[0] for words in tried] == ["walk", "lesson", "lesson", "--help"]
    assert gradwalk(*tried[0]).returncode == 0


def test_without_arguments_and_with_unknown_instruction_set():
    result = gradwalk(GRADWALK_INSTRUCTION_SET="foo")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("gradwalk: GRADWALK_INSTRUCTION_SET must be baseline")


def test_about_prints_the_version():
    assert gradwalk("about").stdout.splitlines()[0].startswith("gradwalk      0.")


def test_about_with_unknown_instruction_set():
    result = gradwalk("about", GRADWALK_INSTRUCTION_SET="foo")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("gradwalk: GRADWALK_INSTRUCTION_SET must be baseline")
    assert len(result.stderr.splitlines()) == 1


def test_help_and_version():
    assert "walk" in gradwalk("--help").stdout
    assert "name=value" in gradwalk("walk", "--help").stdout
    assert gradwalk("--version").stdout.startswith("gradwalk 0.")


def test_numbers_are_printed_with_all_digits():
    result = gradwalk("walk", "exp(x)", "x=1")
    assert repr(math.exp(1.0)) in result.stdout


# Orders, pictures, steps, scripts

DIAMOND = ["(a+1)*(a*3)", "a=2"]


def test_walk_reports_what_an_order_loses():
    result = gradwalk("walk", *DIAMOND, "--order", "a+1,(a+1)*(a*3),a*3,a")
    told = sections(result.stdout)
    assert told["What was lost"][1].startswith("  2  a gets 9 and should get 15.")
    assert "This order is not legal: a node has to come after all nodes that use it. There are 2 legal orders." in told
    assert "so a misses 6 times d(a+1)/da 1 = 6" in result.stdout
    assert "The check verifies the correct gradients, not the gradients of this walk" in told
    assert "is not legal" not in gradwalk("walk", *DIAMOND, "--order", "(a+1)*(a*3),a*3,a+1,a").stdout


def test_overwrite():
    result = gradwalk("walk", "a+a", "a=3", "--overwrite")
    assert "a gets 1 and should get 2." in result.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--order", "a"], "the order omits (a+1)*(a*3), a*3, a+1"),
        (["--order", "b"], "which is not a node"),
        (["--order", "max(a, b),a"], "visits 'max(a, b)'"),
        (["--svg"], "expected one argument"),
        (["--svg="], "--svg needs a file name"),
        (["--svg", "x.bmp"], "the file name must end with .svg or .png or .dot or .gv, got 'x.bmp'"),
        (["--film", "x.webm"], "the file name must end with .svg or .gif or .mp4 or .png, got 'x.webm'"),
        (["--svg", "/nowhere/x.svg"], "/nowhere/x.svg: No such file or directory"),
        (["--page="], "--page needs a file name"),
        (["--page", "x.pdf"], "the file name must end with .html, got 'x.pdf'"),
        (["--page", "/nowhere/x.html"], "/nowhere/x.html: No such file or directory"),
    ],
)
def test_invalid_options(arguments, problem):
    result = gradwalk("walk", *DIAMOND, *arguments)
    assert result.returncode == 2
    assert problem in result.stderr
    assert "Traceback" not in result.stderr


def test_pictures(tmp_path):
    for option, name in (("--svg", "x.svg"), ("--svg", "x.dot"), ("--film", "y.svg")):
        result = gradwalk("walk", *DIAMOND, option, str(tmp_path / name))
        assert result.returncode == 0, result.stderr
        assert (tmp_path / name).stat().st_size > 300
    assert ">15.0000<" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def walk_in(path) -> dict[str, object]:
    """Return the walk that a page contains."""
    return json.loads(
        path.read_text(encoding="utf-8").partition("data-gradwalk-document>")[2].partition("</script>")[0]
    )


def test_opened_shows_the_inside_of_neurons(tmp_path):
    path = tmp_path / "neuron.py"
    path.write_text(
        "from gradwalk import Value\nfrom gradwalk.math import sumprod\n"
        "w, x, b = Value(2.0, label='w'), Value(3.0, label='x'), Value(1.0, label='b')\n"
        "sumprod([w], [x], b).backward()\n",
        encoding="utf-8",
    )
    assert "sumprod(b, w, x)" in gradwalk("walk", str(path)).stdout
    opened = gradwalk("walk", "--opened", str(path)).stdout
    assert "w * x = 6" in opened
    assert "sumprod" not in opened.partition("Backward pass")[2].partition("Check")[0]


def test_page_of_an_expression(tmp_path):
    path = tmp_path / "x.html"
    result = gradwalk(
        "walk", *DIAMOND, "--page", str(path), "--overwrite", "--order", "(a+1)*(a*3),a+1,a*3,a", "--json"
    )
    assert result.returncode == 0, result.stderr
    told, shown = json.loads(result.stdout), walk_in(path)
    assert shown == {key: told[key] for key in ("gradwalk", "version", "graph", "order", "overwrite", "of")} | {
        "files": {}
    }
    assert (shown["of"], shown["overwrite"], len(shown["order"])) == (DIAMOND[0], True, 4)


def test_page_of_a_script_contains_the_script(tmp_path):
    path = tmp_path / "x.html"
    name = script(tmp_path)
    result = gradwalk("walk", "--page", str(path), name)
    assert result.returncode == 0, result.stderr
    shown = walk_in(path)
    assert (shown["of"], shown["files"]) == (name, {name: SCRIPT})
    assert shown["graph"]["nodes"][1]["source"] == {"file": name, "line": 7, "text": SCRIPT.splitlines()[6].strip()}


def test_lesson_is_written_and_opened(tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\necho opened $1 >{tmp_path}/told\n", encoding="utf-8")
    browser.chmod(0o755)
    path = tmp_path / "a lesson.html"
    result = gradwalk("lesson", str(path), BROWSER=f"{browser} %s")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{path}\n", "")
    assert (tmp_path / "told").read_text(encoding="utf-8") == f"opened {path.as_uri()}\n"
    assert "data-gradwalk" in path.read_text(encoding="utf-8")


def test_lesson_is_written_without_a_browser(tmp_path):
    command = [sys.executable, "-m", "gradwalk", "lesson"]
    bare = {"PATH": "/nowhere", "PYTHONPATH": os.path.abspath(os.environ.get("PYTHONPATH", ""))}  # noqa: PTH100  may be empty
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=bare)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{tmp_path / 'gradwalk-lesson.html'}\n"
    assert result.stderr == "gradwalk: no browser was found; open the file manually\n"
    assert (tmp_path / "gradwalk-lesson.html").is_file()


def test_microgpt_lesson(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for arguments, name in (([], "gradwalk-microgpt.html"), (["names.html"], "names.html")):
        assert main(["lesson", "--microgpt", "--no-open", *arguments]) == 0
        assert capsys.readouterr().out == f"{tmp_path / name}\n"
        assert "<title>gradwalk: microgpt" in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("/nowhere/x.html", "/nowhere/x.html: No such file or directory"),
        ("x.txt", "the file name must end with .html, got 'x.txt'"),
    ],
)
def test_lesson_that_cannot_be_written(name, problem):
    result = gradwalk("lesson", name, "--no-open")
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"gradwalk: {problem}\n")


def test_film_of_a_large_graph_is_rejected():
    result = gradwalk("walk", "+".join(["x"] * 100), "x=1", "--film", "x.svg")
    assert result.returncode == 2
    assert "a film can show a graph of at most 60 nodes, got 100 nodes" in result.stderr


SCRIPT = """
import sys
from micrograd.engine import Value
from micrograd.nn import MLP
a = Value(2.0)
for step in range(3):
    b = a * a
    a.grad = 0.0
    b.backward()
    a.data -= 0.1 * a.grad
print("done", sys.argv[1:])
"""


def script(tmp_path, text: str = SCRIPT) -> str:
    path = tmp_path / "script.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_script_is_walked_at_its_last_backward(tmp_path):
    result = gradwalk("walk", script(tmp_path), "--epochs", "-v", "3")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(
        "done ['--epochs', '-v', '3']\nPass 3 of 3, at script.py:9: b.backward()\n"
        "b over 3 backward() calls: 4 █▄▁ 1.6384\n"
    )
    told = sections(result.stdout.partition("\n")[2])
    assert told["Graph"][0] == "  b = a * a = 1.6384"
    check = told["Check: gradients compared with finite differences"]
    assert check[1].split()[-1] == "script.py:5"
    assert check[2].split()[-1] == "script.py:7"


def test_json_of_a_script(tmp_path):
    result = gradwalk("walk", "--json", script(tmp_path))
    data = json.loads(result.stdout)
    assert data["gradients"] == {"b": 1.0, "a": 2.56}
    assert data["graph"]["nodes"][1]["source"]["line"] == 7
    assert "done" in result.stderr


@pytest.mark.parametrize(
    ("text", "code", "problem"),
    [
        ("print(1)", 2, "did not call backward()"),
        ("1/0", 1, "ZeroDivisionError"),
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('so long')", 1, "so long"),
        ("def", 1, "SyntaxError"),
    ],
)
def test_scripts_that_fail(tmp_path, text, code, problem):
    result = gradwalk("walk", script(tmp_path, text))
    assert result.returncode == code
    assert problem in result.stderr
    assert "gradwalk/cli/" not in result.stderr


def test_script_that_exits_successfully_is_walked(tmp_path):
    result = gradwalk("walk", script(tmp_path, SCRIPT + "sys.exit()"))
    assert result.returncode == 0
    assert "b = a * a" in result.stdout


def test_changed_data_before_backward_is_not_checked(tmp_path):
    text = """
from gradwalk import Value
a = Value(2.0, label="a")
b = a * a
a.data = 3.0
b.backward()
"""
    result = gradwalk("walk", script(tmp_path, text))
    assert result.returncode == 0, result.stderr
    assert "The gradients were not checked: b is 4.0, but * of its operands is 9.0" in result.stdout
    assert json.loads(gradwalk("walk", "--json", script(tmp_path, text)).stdout)["check"] is None


REPLACED = """
from gradwalk import Value
original = Value.backward
def backward(self):
    print("mine")
    original(self)
Value.backward = backward
(Value(2.0, label="a") * 3.0).backward()
"""
SUBCLASSED = """
from gradwalk import Value
class Mine(Value):
    def backward(self):
        print("mine")
        super().backward()
a = Value(2.0, label="a")
Mine(a.data * 3.0, (a,), "thrice").backward()
"""


@pytest.mark.parametrize(("text", "symbol"), [(REPLACED, "a * 3"), (SUBCLASSED, "thrice(a)")])
def test_scripts_that_override_backward_are_walked(tmp_path, text, symbol):
    result = gradwalk("walk", script(tmp_path, text))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("mine\n")
    assert symbol in result.stdout


def test_missing_script():
    result = gradwalk("walk", "nowhere.py")
    assert (result.returncode, result.stderr) == (2, "gradwalk: nowhere.py: No such file or directory\n")


def test_walk_waits_for_threads_of_the_script(tmp_path):
    text = """
import threading, time
from gradwalk import Value
def later():
    time.sleep(0.3)
    (Value(2.0, label="a") * 3).backward()
threading.Thread(target=later).start()
"""
    assert "a * 3" in gradwalk("walk", script(tmp_path, text)).stdout


def test_walk_does_not_wait_for_batch_threads(tmp_path):
    text = """
import numpy
from gradwalk import Value, threads, vmap
with threads(2):
    total = vmap(lambda x: x * x, reduce="sum")(numpy.ones(100_000))
(Value(total, label="a") * 3).backward()
"""
    assert "a * 3" in gradwalk("walk", script(tmp_path, text)).stdout


def test_large_graphs_are_summarized_by_module(tmp_path):
    text = """
from gradwalk import Value, nn
model = nn.MLP(2, [8, 8, 1])
sum((model([0.1 * i, 1.0]) for i in range(100)), Value(0.0)).backward()
"""
    result = gradwalk("walk", script(tmp_path, text))
    assert result.returncode == 0
    told = sections(result.stdout)
    assert any("layers[0]" in line for line in told[next(iter(told))])
    assert len(result.stdout.splitlines()) < 300


def test_steps_from_a_pipe():
    command = [sys.executable, "-m", "gradwalk", "walk", *DIAMOND, "--step"]
    result = subprocess.run(command, input="nnb", capture_output=True, text=True, check=True, encoding="utf-8")
    assert result.stdout.splitlines()[-3:] == [
        "1/8 a is given: 2",
        "2/8 a+1 = a + 1 = 2 + 1 = 3",
        "1/8 taken back: a+1 = a + 1 = 2 + 1 = 3",
    ]


def test_interrupt_prints_no_traceback():
    command = [sys.executable, "-m", "gradwalk", "walk", *DIAMOND, "--step"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (130, b"")


def test_closed_streams_print_no_traceback():
    for closed in (">&-", "<&-", "2>&-"):
        command = f"{sys.executable} -m gradwalk walk 'a*b' a=1 b=2 --step {closed}"
        result = subprocess.run(
            command, shell=True, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        assert (result.returncode, result.stderr) == (0, "")


def test_carets_point_at_the_error():
    lines = gradwalk("walk", "abc ^ 2", "abc=1").stderr.splitlines()
    assert lines[1:3] == ["  abc ^ 2", "      ^"]
    lines = gradwalk("walk", "日本*foo", "日本=1").stderr.splitlines()
    assert lines[2] == "  " + " " * 5 + "^"
    long = gradwalk("walk", "+".join(["a"] * 400) + "+foo", "a=1").stderr.splitlines()
    assert max(map(len, long)) < 200
    assert long[1][long[2].index("^") :].startswith("foo")


def test_ligatures_are_normalized_as_in_python():
    result = gradwalk("walk", "\ufb01*2", "\ufb01=1")
    assert result.returncode == 0, result.stderr


# The numbers of a lesson

LESSON = {
    "a+a": ({"a": 3}, {"a": 2}, 6),
    "(a*b)*(a+b)": ({"a": -2, "b": 3}, {"a": -3, "b": -8}, -6),
    "(a+b)*c": ({"a": 2, "b": -3, "c": 10}, {"a+b": 10, "c": -1, "a": 10, "b": 10}, -10),
    "a*a": ({"a": 3}, {"a": 6}, 9),
    "(a+1)*(a*3)": ({"a": 2}, {"a": 15}, 18),
    "(a*b + a)**2": ({"a": 2, "b": 3}, {"a*b + a": 16, "a*b": 16, "a": 64, "b": 32}, 64),
    "(a*b + c)*f": (
        {"a": 2, "b": -3, "c": 10, "f": -2},
        {"a*b + c": -2, "f": 4, "a*b": -2, "c": -2, "a": 6, "b": -4},
        -8,
    ),
}


@pytest.mark.parametrize("expression", LESSON)
def test_numbers_of_the_lesson(expression):
    values, gradients, result = LESSON[expression]
    data = json.loads(gradwalk("walk", expression, *(f"{n}={v}" for n, v in values.items()), "--json").stdout)
    assert data["forward"][-1]["data"] == result
    found = data["gradients"]
    assert {name: found[name] for name in gradients} == pytest.approx(gradients, abs=1e-12)
    rows = {row["name"]: row for row in data["check"]["rows"]}
    assert {name: rows[name]["quotient"] for name in gradients} == pytest.approx(gradients, abs=1e-9)
    assert {row["verdict"] for row in rows.values()} == {"right"}


@pytest.mark.parametrize(
    ("arguments", "gradients"),
    [
        (["a+a", "a=3", "--overwrite"], {"a": 1}),
        (["a*a", "a=3", "--overwrite"], {"a": 3}),
        (["(a*b)*(a+b)", "a=-2", "b=3", "--overwrite", "--order", "(a*b)*(a+b),a+b,a*b,a,b"], {"a": 3, "b": -2}),
        (["(a*b)*(a+b)", "a=-2", "b=3", "--overwrite", "--order", "(a*b)*(a+b),a*b,a+b,a,b"], {"a": -6, "b": -6}),
        (["(a+1)*(a*3)", "a=2", "--order", "(a+1)*(a*3),a,a+1,a*3"], {"a": 0}),
        (["(a+1)*(a*3)", "a=2", "--order", "(a+1)*(a*3),a+1,a,a*3"], {"a": 6}),
        (["(a+1)*(a*3)", "a=2", "--order", "(a+1)*(a*3),a*3,a,a+1"], {"a": 9}),
    ],
)
def test_wrong_gradients_of_the_lesson(arguments, gradients):
    data = json.loads(gradwalk("walk", *arguments, "--json").stdout)
    assert {name: data["gradients"][name] for name in gradients} == gradients
    for wrong in data["wrong"]:
        assert wrong["right"] - wrong["got"] == sum(loss["missing"] for loss in wrong["losses"])


@pytest.mark.parametrize("command", ["run", "walk"])
def test_script_can_close_standard_output(command, tmp_path):
    script = tmp_path / "script.py"
    text = "import sys\nfrom micrograd.engine import Value\nValue(2.0).backward()\nprint('said')\nsys.stdout.close()\n"
    script.write_text(text, encoding="utf-8")
    result = gradwalk(command, str(script))
    assert result.stdout == "said\n"
    told = f"gradwalk: {script} closed standard output, so the walk cannot be printed\n"
    assert (result.returncode, result.stderr) == ((0, "") if command == "run" else (2, told))
