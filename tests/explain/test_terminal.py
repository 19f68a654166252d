"""Tests of tables for the terminal."""

from __future__ import annotations

import io

from gradwalk.explain.terminal import Terminal


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(stream: io.StringIO, *rows: tuple[str, ...]) -> list[str]:
    Terminal(stream).table(("node", "grad"), rows)
    return stream.getvalue().splitlines()


def test_columns_are_aligned():
    lines = printed(io.StringIO(), ("a", "1.0"), ("日本", "-10.5"), ("é", "nan"))
    assert lines == ["  node   grad", "  a       1.0", "  日本  -10.5", "  é       nan"]


def test_colors_only_on_a_terminal(monkeypatch):
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\033[33m-1.0\033[0m" in printed(Tty(), ("a", "-1.0"))[1].replace(" ", "")
    assert "\033[34m1.0\033[0m" in printed(Tty(), ("a", "1.0"))[1].replace(" ", "")
    assert "\033" not in printed(Tty(), ("a", "0.0"))[1]
    assert "\033" not in "".join(printed(io.StringIO(), ("a", "-1.0")))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in "".join(printed(Tty(), ("a", "-1.0")))
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\033" not in "".join(printed(io.StringIO(), ("a", "-1.0")))  # not printed, but returned as text


def test_long_and_hostile_names(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    long = "x" * 300
    assert len(printed(Tty(), (long, "1.0"))[1]) < 100
    assert long in printed(io.StringIO(), (long, "1.0"))[1]
    assert "\033]0;owned" not in "".join(printed(io.StringIO(), ("a\n\033]0;owned\x07b", "1.0")))


def test_headings_are_separated_by_blank_lines():
    stream = io.StringIO()
    terminal = Terminal(stream)
    terminal.heading("One")
    terminal.heading("Two")
    assert stream.getvalue() == "One\n\nTwo\n"


def test_numbered_lines_wrap_on_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    for stream, longest in ((Tty(), 60), (io.StringIO(), 1000)):
        Terminal(stream).numbered(["word " * 30, "b"])
        lines = stream.getvalue().splitlines()
        assert max(map(len, lines)) <= longest
        assert (len(lines) > 2) == (longest == 60)
        assert lines[-1] == "  2  b"


def test_trees_keep_branch_characters():
    stream = io.StringIO()
    Terminal(stream).tree("│  └─ two\nlines")
    assert stream.getvalue() == "  │  └─ two lines\n"
