"""Types and errors that mypy and pyright report for `typing_examples.py`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT

EXAMPLES = Path(__file__).with_name("typing_examples.py")
EXPECTED = dict(re.findall(r"^reveal_type\((.*)\)  # (.*)$", EXAMPLES.read_text(), re.MULTILINE))
LINES = EXAMPLES.read_text().splitlines()
ERRORS = {number for number, line in enumerate(LINES, 1) if line.endswith("# error")}


def plain(text: str) -> str:
    """Normalize what the checkers write differently in a type: modules, brackets of parameters, and defaults."""
    text = re.sub(r"tuple\[[^\[\]]*, fallback=([\w.]+)\]", r"\1", text)  # a named tuple in mypy's notation
    text = re.sub(r"\b(?:\w+\.)+(?=[A-Za-z_])", "", text)
    text = re.sub(r"(?<=\[)\((.*?)\)(?=[,\]])", r"[\1]", text)
    text = re.sub(r" = [^,)\]]+", " =", text)
    return text.replace("def (", "(").replace("Unknown", "Any")


def by_mypy(folder: Path) -> list[tuple[int, str, str]]:
    command = [sys.executable, "-m", "mypy", "--output=json", "--cache-dir", str(folder), str(EXAMPLES)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    return [(message["line"], message["severity"], message["message"]) for message in found]


def by_pyright(folder: Path) -> list[tuple[int, str, str]]:
    (folder / EXAMPLES.name).write_text(EXAMPLES.read_text())
    (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT / "src")]}))
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", ".", "--pythonpath", sys.executable]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = json.loads(run.stdout)["generalDiagnostics"]
    return [(message["range"]["start"]["line"] + 1, message["severity"], message["message"]) for message in found]


@pytest.mark.parametrize("checker", [by_mypy, by_pyright])
def test_revealed_types_and_errors(checker, tmp_path):
    revealed, errors = {}, set()
    for line, severity, message in checker(tmp_path):
        found = re.search(r'(?:Revealed type is|^Type of ".*" is) "(.*)"$', message)
        if found:
            expression = re.match(r"reveal_type\((.*)\)  #", LINES[line - 1])[1]
            revealed[expression] = plain(found[1])
        elif severity == "error":
            errors.add(line)
    assert revealed == EXPECTED
    assert errors == ERRORS
