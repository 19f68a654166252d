"""Programs written in the page, run as the page's web worker runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradwalk.cli import cell

LOOP = """\
from micrograd.engine import Value

slope = Value(0.5)
for _ in range(3):
    loss = (slope * 2.0 - 3.0) ** 2
    slope.grad = 0.0
    loss.backward()
    print(slope.grad)
    slope.data -= 0.1 * slope.grad
"""


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test in a temporary folder and restore `__main__`, sys.path and the micrograd modules."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "micrograd"]:
        monkeypatch.delitem(sys.modules, name)


def answer(program: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cell.answer(program))
    return found


def test_passes_are_the_same_as_in_gradwalk_walk(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    document = answer(LOOP)["document"]
    printed = capsys.readouterr().out
    (tmp_path / "program.py").write_text(LOOP, encoding="utf-8")
    code = "import sys, gradwalk.cli.main as m; sys.exit(m.main(['walk', '--json', 'program.py']))"
    path = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, env=path
    )
    expected = json.loads(run.stdout)
    assert printed == run.stderr
    assert document["calls"] == 3
    assert document["passes"] == expected["passes"]
    assert document["graph"]["nodes"] == expected["graph"]["nodes"]
    assert document["of"] == "program.py"


@pytest.mark.parametrize("ending", ["", "y\n", "print('done')\n", "z = 3.0\n"])
def test_last_value_is_walked_without_backward(ending: str):
    document = answer(f"from gradwalk import Value\nx = Value(3.0, label='x')\ny = x * x + 1.0\n{ending}")["document"]
    assert [node["data"] for node in document["graph"]["nodes"]] == [3.0, 9.0, 10.0]


def test_final_expression_is_walked():
    document = answer("from gradwalk import Value\nx = Value(3.0)\ny = x * x\nx + 1.0\n")["document"]
    assert [node["data"] for node in document["graph"]["nodes"]] == [3.0, 4.0]


@pytest.mark.parametrize("program", ["", "# nothing\n", "x = 1 + 1\n", "raise SystemExit(3)\n"])
def test_program_without_values_has_no_document(program: str):
    assert answer(program) == {"document": None}


def test_exit_message_is_printed(capsys: pytest.CaptureFixture[str]):
    assert answer("import sys\nsys.exit('no data')\n") == {"document": None}
    assert capsys.readouterr().err == "no data\n"


@pytest.mark.parametrize(
    ("program", "line", "told"),
    [
        ("def f(x):\n    return x / 0\n\nf(1)\n", 2, "ZeroDivisionError: division by zero"),
        ("x = 1\nif x\n    y = 2\n", 2, "SyntaxError: expected ':'"),
        ("from gradwalk import Value\nValue('three')\n", 2, "TypeError"),
        ("import json\n\njson.loads('{')\n", 3, "JSONDecodeError"),
        ("raise KeyboardInterrupt\n", 1, "KeyboardInterrupt"),
    ],
)
def test_error_names_the_line_of_the_program(program: str, line: int, told: str):
    found = answer(program)
    assert found["line"] == line
    assert told in found["error"]
    assert cell.__file__ not in found["error"]


def test_calls_of_input_raise():
    found = answer("print('begun')\nname = input('name? ')\n")
    assert found["line"] == 2
    assert "write the answer in place of input('name? ')" in found["error"]


def test_programs_do_not_share_names():
    answer("secret = 1\n")
    assert "NameError" in answer("secret\n")["error"]
