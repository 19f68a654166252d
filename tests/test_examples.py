"""The examples run, and reach what they promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import IS_COMPILED

ROOT = Path(__file__).parents[1]
PNG = b"\x89PNG\r\n\x1a\n"


def run(name: str, *arguments: str, cwd: Path) -> str:
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": os.path.abspath(os.environ.get("PYTHONPATH", ""))}  # noqa: PTH100  may be empty
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_breast_cancer(tmp_path):
    epochs = 30 if IS_COMPILED else 3
    output = run("breast_cancer", "--epochs", str(epochs), cwd=tmp_path)
    accuracy = re.search(r"test accuracy\D*([\d.]+) ?%", output)
    assert accuracy, output
    assert float(accuracy[1]) >= (95.0 if IS_COMPILED else 90.0)
    assert (tmp_path / "breast_cancer.png").read_bytes().startswith(PNG)


def test_moons(tmp_path):
    steps = 100 if IS_COMPILED else 5
    output = run("moons", "--steps", str(steps), "--output", "picture.png", cwd=tmp_path)
    assert not IS_COMPILED or re.search("at last .* 100%", output), output
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_scalar_gpt(tmp_path):
    steps = 200 if IS_COMPILED else 1
    output = run("scalar_gpt", "--steps", str(steps), "--samples", "5", cwd=tmp_path)
    losses = [float(number) for number in re.findall(r"held-out names: (\d\.\d+)", output)]
    assert len(losses) == 2, output
    assert losses[1] < (2.5 if IS_COMPILED else 4.0)
