"""Tests of source lines: the line of the user's program that created a node."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys

import pytest
from wasm import IS_WASM

from gradwalk.value.source.source_line import SourceLine, files_of, users_line

PROGRAM = "from gradwalk.value.source.source_line import users_line\nline = users_line()  # é\n"


def run(name: str, text: str = PROGRAM) -> SourceLine:
    """Run a program under this filename and return the line it recorded."""
    names: dict[str, SourceLine] = {}
    exec(compile(text, name, "exec"), names)
    return names["line"]


def test_users_line():
    line = users_line()
    assert line.filename == __file__
    assert line.text == "line = users_line()"
    assert str(line) == f"{__file__}:{line.number}: line = users_line()"


def test_line_without_a_file():
    assert str(SourceLine("<stdin>", 3)) == "<stdin>:3"


def test_str_shows_the_recorded_text():
    assert str(SourceLine(__file__, 1)) == f"{__file__}:1"
    assert str(SourceLine("/dev/zero", 1, "x = 1")) == "/dev/zero:1: x = 1"


def test_edited_file_shows_the_line_that_ran(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(PROGRAM, encoding="utf-8")
    line = run(str(path))
    path.write_text("# all\n# new\n", encoding="utf-8")
    linecache.checkcache(str(path))
    assert str(line) == f"{path}:2: line = users_line()  # é"
    assert files_of([line]) == {}


def test_edited_file_that_runs_again_shows_new_lines(tmp_path):
    path = tmp_path / "train.py"
    edited = f"# longer\n{PROGRAM}"
    for text, number in ((PROGRAM, 2), (edited, 3)):
        path.write_text(text, encoding="utf-8")
        line = run(str(path), text)
        assert line == (str(path), number, "line = users_line()  # é")
        assert files_of([line]) == {str(path): text}


def test_lines_of_one_code_object_share_one_version(tmp_path):
    path = tmp_path / "train.py"
    text = f"{PROGRAM}def lines():\n    yield users_line()\n    yield users_line()\n"
    path.write_text(text, encoding="utf-8")
    names: dict[str, object] = {}
    exec(compile(text, str(path), "exec"), names)
    lines = names["lines"]()
    before = next(lines)
    path.write_text("# all\n# new\n# and\n# longer\n", encoding="utf-8")
    assert next(lines) == (str(path), 5, "yield users_line()")
    assert before.text == "yield users_line()"


def test_lines_of_notebook_cells(monkeypatch):
    name = "<ipython-input-1-0123456789ab>"
    monkeypatch.setitem(linecache.cache, name, (len(PROGRAM), None, PROGRAM.splitlines(keepends=True), name))
    line = run(name)
    assert line == (name, 2, "line = users_line()  # é")
    assert files_of([line]) == {name: PROGRAM}


def test_long_lines_are_cut(tmp_path):
    path = tmp_path / "long.py"
    text = PROGRAM.replace("# é", "#" + "é" * 1000)
    path.write_text(text, encoding="utf-8")
    line = run(str(path), text)
    assert line.text == text.splitlines()[1][:200]
    assert files_of([line]) == {str(path): text}


def test_lines_of_large_files_are_not_read(tmp_path):
    path = tmp_path / "large.py"
    path.write_text(PROGRAM + "#" * 1_000_000, encoding="utf-8")
    line = run(str(path))
    assert line == (str(path), 2, "")
    assert files_of([line]) == {}


@pytest.mark.parametrize("name", ["a\0b.py", "x" * 5_000, "\ud800.py", "gone.py", "", "/", "/proc/self/environ"])
def test_filenames_that_are_not_programs(name):
    line = run(name) if "\0" not in name else SourceLine(name, 2)
    assert line == (name, 2, "")
    assert files_of([line]) == {}


@pytest.mark.skipif(IS_WASM, reason="WebAssembly has no pipes")
def test_devices_and_pipes_are_not_read(tmp_path):
    """The test runs in a subprocess, which runs out of memory or time if a device or pipe is read."""
    os.mkfifo(tmp_path / "pipe.py")
    program = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (2**32, 2**32))\n"
        f"text = {PROGRAM!r}\n"
        f"for name in ('/dev/zero', {str(tmp_path / 'pipe.py')!r}):\n"
        "    exec(compile(text, name, 'exec'))\n"
        "    print(line)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert result.stdout == f"/dev/zero:2\n{tmp_path / 'pipe.py'}:2\n"
