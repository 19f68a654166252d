"""`gradwalk walk script.py`: every backward() of a script, compared with the gradients that the script prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from references import jsonschema, referencing

ROOT = Path(__file__).parents[2]

LOOP = """
from micrograd.engine import Value
slope, shift = Value(0.0), Value(0.0)
for epoch in range({passes}):
    err = slope * 2.0 + shift - 5.0
    loss = err**2
    {zero}
    loss.backward()
    print("grads", slope.grad, shift.grad)
    for parameter in (slope, shift):
        parameter.data -= 0.05 * parameter.grad
"""
ZERO = "slope.grad = shift.grad = 0.0"


def walked(tmp_path: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "gradwalk", "walk", *options, "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)},
    )


def printed(output: str) -> list[list[float]]:
    """Return the gradients that the script printed after each pass."""
    return [[float(x) for x in line.split()[1:]] for line in output.splitlines() if line.startswith("grads ")]


def table(output: str) -> dict[str, list[str]]:
    """Return the rows of the table of accumulated gradients, by leaf."""
    rows = output.partition(".grad is not the gradient of this pass alone")[2].splitlines()[2:]
    return {row.split()[0]: row.split() for row in rows if row.startswith("  ")}


@pytest.mark.parametrize("number", [None, 1, 2, 7])
def test_accumulated_gradients_are_those_of_the_script(tmp_path: Path, number: int | None) -> None:
    options = () if number is None else (f"--pass={number}",)
    result = walked(tmp_path, LOOP.format(passes=7, zero="pass"), *options)
    assert result.returncode == 0, result.stderr
    grads = printed(result.stdout)
    k = (number or 7) - 1
    if k == 0:
        assert table(result.stdout) == {}
        return
    found = table(result.stdout)
    assert list(found) == ["slope", "shift"]
    for name, before, now in zip(found, grads[k - 1], grads[k], strict=True):
        assert [float(x) for x in found[name][2:4]] == [before, now]
        assert float(found[name][1]) == pytest.approx(now - before, rel=1e-9)
        assert " ".join(found[name][4:]) == "not zeroed since pass 1"


def test_zeroed_gradients_are_not_mentioned(tmp_path: Path) -> None:
    result = walked(tmp_path, LOOP.format(passes=7, zero=ZERO))
    assert ".grad is not" not in result.stdout
    assert re.search(r"^Pass 7 of 7, at train\.py:8: loss\.backward\(\)$", result.stdout, re.MULTILINE)
    assert re.search(r"^loss over 7 backward\(\) calls: 25 █▃▁▁▁▁▁ 0\.\d+$", result.stdout, re.MULTILINE)


def test_single_pass_prints_no_pass_number(tmp_path: Path) -> None:
    result = walked(tmp_path, LOOP.format(passes=1, zero=ZERO))
    assert "Pass" not in result.stdout
    assert " over " not in result.stdout


def test_function_that_calls_backward_twice(tmp_path: Path) -> None:
    text = """
from gradwalk import Value
a = Value(3.0)
def step():
    loss = a * a
    loss.backward()
    print("grads", a.grad)
step()
step()
"""
    result = walked(tmp_path, text)
    assert "loss over 2 backward() calls: 9 ▅▅ 9" in result.stdout
    assert printed(result.stdout) == [[6.0], [12.0]]
    assert table(result.stdout)["a"][:4] == ["a", "6.0", "6.0", "12.0"]


@pytest.mark.parametrize("options", [["--pass", "9"], ["--pass=9"]])
def test_missing_pass(tmp_path: Path, options: list[str]) -> None:
    result = walked(tmp_path, LOOP.format(passes=3, zero=ZERO), *options)
    assert (result.returncode, result.stderr) == (
        2,
        "gradwalk: train.py called backward() 3 times: there is no pass 9\n",
    )


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", ""])
def test_invalid_pass_number(tmp_path: Path, number: str) -> None:
    result = walked(tmp_path, LOOP.format(passes=3, zero=ZERO), f"--pass={number}")
    assert result.returncode == 2
    assert f"the number of a pass must be at least 1, got {number!r}" in result.stderr


def test_expressions_have_no_passes() -> None:
    command = [sys.executable, "-m", "gradwalk", "walk", "a*a", "a=2", "--pass", "1"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "--pass does not work with an expression" in result.stderr


ENDINGS = {
    "an exception": ("raise KeyError('later')", 1, "KeyError: 'later'"),
    "Ctrl-C": (
        "import os, signal; os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(60)",
        130,
        "KeyboardInterrupt",
    ),
    "an exit code": ("import sys; sys.exit(3)", 3, ""),
    "an exit message": ("import sys; sys.exit('given up')", 1, "given up"),
    "an exit without a code": ("import sys; sys.exit()", 0, ""),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_script_that_fails_later_is_walked(tmp_path: Path, ending: str) -> None:
    text, code, said = ENDINGS[ending]
    whole = walked(tmp_path, LOOP.format(passes=3, zero=ZERO))
    result = walked(tmp_path, LOOP.format(passes=3, zero=ZERO) + text, "--page", "out.html")
    assert (result.returncode, result.stdout) == (code, whole.stdout)
    assert said in result.stderr
    assert ("Traceback" in result.stderr) == (ending in ("an exception", "Ctrl-C"))
    assert "gradwalk/cli/" not in result.stderr
    assert (tmp_path / "out.html").exists()


def test_walk_is_printed_before_the_traceback(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOOP.format(passes=1, zero=ZERO) + "raise KeyError('later')", encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "gradwalk", "walk", "train.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)},
    )
    assert 0 < result.stdout.index("loss = err ** 2") < result.stdout.index("Traceback")


@pytest.mark.parametrize("text", ["raise KeyError('early')", "import sys; sys.exit(3)"])
def test_script_that_ends_before_backward(tmp_path: Path, text: str) -> None:
    result = walked(tmp_path, text)
    assert (result.returncode, result.stdout) == ((1, "") if "KeyError" in text else (3, ""))
    assert "backward" not in result.stderr


def test_walk_waits_for_threads_after_an_exit(tmp_path: Path) -> None:
    text = """
import sys, threading, time
from gradwalk import Value
def later():
    time.sleep(0.3)
    (Value(2.0) * 3.0).backward()
threading.Thread(target=later).start()
sys.exit(4)
"""
    result = walked(tmp_path, text)
    assert result.returncode == 4
    assert "* 3 = 6" in result.stdout


OWN = """
class Value:
    def __init__(self, data, children=(), grads=()):
        self.data, self.grad, self.children, self.grads = data, 0.0, children, grads
    def __add__(self, other): return Value(self.data + other.data, (self, other), (1.0, 1.0))
    def __mul__(self, other): return Value(self.data * other.data, (self, other), (other.data, self.data))
    def backward(self): {own}
Value(2.0).backward()
"""


def test_message_for_a_backward_of_another_class(tmp_path: Path) -> None:
    said = (
        "gradwalk: train.py did not call backward() of a gradwalk Value. It defines its own class Value, whose "
        "backward() cannot be walked through. To replace Value by gradwalk's Value: gradwalk walk --replace Value "
        "train.py\n"
    )
    result = walked(tmp_path, OWN.format(own="pass"))
    assert (result.returncode, result.stderr.endswith(said)) == (2, True)
    other = "class Engine:\n    def backward(self): pass\nEngine().backward()\n"
    result = walked(tmp_path, other)
    assert (result.returncode, result.stderr) == (
        2,
        "gradwalk: train.py did not call backward() of a gradwalk Value\n",
    )


def schema() -> jsonschema.Draft202012Validator:
    graph, walk = (
        json.loads((ROOT / "docs" / f"{name}.schema.json").read_text(encoding="utf-8")) for name in ("graph", "walk")
    )
    resource = referencing.Resource.from_contents(graph)
    registry = referencing.Registry().with_resource("graph.schema.json", resource)
    return jsonschema.Draft202012Validator(walk, registry=registry)


@pytest.mark.parametrize("zero", ["pass", ZERO])
def test_json_contains_every_pass(tmp_path: Path, zero: str) -> None:
    result = walked(tmp_path, LOOP.format(passes=5, zero=zero), "--json", "--pass", "2")
    document = json.loads(result.stdout)
    schema().validate(document)
    assert (document["pass"], document["calls"]) == (2, 5)
    passes = document["passes"]
    assert [one["number"] for one in passes] == [1, 2, 3, 4, 5]
    assert ["graph" in one for one in passes] == [True, False, True, True, True]
    grads = printed(result.stderr)
    for one, (slope, shift) in zip(passes, grads, strict=True):
        graph = one.get("graph", document["graph"])
        named = {node.get("label"): node for node in graph["nodes"]}
        assert (named["slope"]["grad"], named["shift"]["grad"]) == (slope, shift)
        assert named["loss"]["data"] == one["data"]
        assert one["line"] == {"file": "train.py", "line": 8, "text": "loss.backward()"}
        assert one["root"] == {"file": "train.py", "line": 6, "text": "loss = err**2"}
        before = [] if zero == ZERO or one["number"] == 1 else grads[one["number"] - 2]
        assert [kept["grad"] for kept in one["earlier"]] == before


def test_variable_names_in_an_order(tmp_path: Path) -> None:
    result = walked(tmp_path, LOOP.format(passes=1, zero=ZERO), "--order", "loss,err,v4,v2,slope,shift")
    assert result.returncode == 0, result.stderr
    assert "  loss = err ** 2 = 25" in result.stdout


def test_subscript_in_an_order(tmp_path: Path) -> None:
    text = "from gradwalk import Value\nw = {}\nw[0, 1] = Value(2.0)\nw[1, 1] = w[0, 1] * 3.0\nw[1, 1].backward()\n"
    result = walked(tmp_path, text, "--order", "w[1, 1],w[0, 1]")
    assert result.returncode == 0, result.stderr
    assert "w[1, 1] = (w[0, 1]) * 3 = 6" in result.stdout


def test_ten_thousand_passes_and_a_large_graph(tmp_path: Path) -> None:
    text = """
from gradwalk import Value
a = Value(2.0)
for k in range(10_000):
    loss = a * a
    loss.backward()
    a.grad = 0.0
chain = a
for _ in range(100_000):
    chain = chain + 1e-6
chain.backward()
"""
    result = walked(tmp_path, text, "--page", "out.html")
    assert result.returncode == 0, result.stderr
    assert "Pass 10,001 of 10,001" in result.stdout
    small = walked(tmp_path, text.replace("100_000", "10"), "--pass", "5000", "--page", "out.html")
    assert "Pass 5,000 of 10,001" in small.stdout
    assert "loss over 10,000 backward() calls" in small.stdout
    assert (tmp_path / "out.html").stat().st_size < 2_000_000


def test_options_after_the_script_are_not_ignored_in_silence(tmp_path: Path) -> None:
    text = LOOP.format(passes=1, zero=ZERO)
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    path = os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-m", "gradwalk", "walk", "train.py", "--page", "x.html", "--svg=x.svg", "--mine"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    warning = "gradwalk: {} after the script is an argument of the script; write it before the script"
    assert done.stderr.splitlines() == [warning.format("--page"), warning.format("--svg")]
    assert not list(tmp_path.glob("x.*"))
