"""The README is a test: its Python runs, and its commands print what it shows."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gradwalk import Value, draw

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


def test_run_and_test_are_one_command_line_each():
    for heading in ("Run", "Test"):
        section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", README, re.M | re.S)
        assert section
        commands = re.findall(r"^```sh\n(.*?)^```", section.group(1), re.M | re.S)
        assert len(commands) == 1
        assert len(commands[0].splitlines()) == 1


@pytest.mark.parametrize("block", blocks("python"))
def test_python_runs_and_prints_what_its_comments_say(block):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    lines = block.splitlines()
    expected = []
    for i, line in enumerate(lines):
        if line.startswith("print(") and "  # " in line:
            expected.append(line.partition("  # ")[2])
        elif line.startswith("print("):
            expected += [below[2:] for below in itertools.takewhile(is_comment, lines[i + 1 :])]
    assert printed.getvalue().splitlines() == expected


def is_comment(line: str) -> bool:
    return line.startswith("# ")


def test_the_commands_output_is_what_is_shown():
    run = re.search(r"^## Run\n.*?^```sh\n(.*?)^```.*?^```text\n(.*?)^```", README, re.M | re.S)
    assert run
    arguments = shlex.split(run.group(1).split("&&")[-1])
    assert arguments[0].endswith("gradwalk")
    command = [sys.executable, "-m", "gradwalk", *arguments[1:]]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == run.group(2)


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target


def test_the_pictures_are_what_the_commands_draw(tmp_path):
    command = next(block for block in blocks("sh") if "--film" in block)
    arguments = shlex.split(
        command.replace("graph.svg", f"{tmp_path}/graph.svg").replace("film.svg", f"{tmp_path}/film.svg")
    )
    subprocess.run([sys.executable, "-m", "gradwalk", *arguments[1:]], capture_output=True, check=True)
    assert (tmp_path / "film.svg").read_text("utf-8") == (ROOT / "docs/images/film.svg").read_text("utf-8")
    a = Value(2.0, label="a")
    b, c = a + 1, a * 3
    d = b * c
    b.label, c.label, d.label = "b", "c", "d"
    d.backward()
    assert draw(d).svg == (ROOT / "docs/images/diamond.svg").read_text("utf-8")
