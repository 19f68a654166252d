"""Tables for the terminal."""

from __future__ import annotations

import io

from gradwalk import Value
from gradwalk.terminal import Terminal, name_of, names


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(stream: io.StringIO, *rows: tuple[str, ...]) -> list[str]:
    Terminal(stream).table(("node", "grad"), rows)
    return stream.getvalue().splitlines()


def test_columns_are_aligned():
    lines = printed(io.StringIO(), ("a", "1.0"), ("日本", "-10.5"), ("é", "nan"))
    assert lines == ["  node   grad", "  a       1.0", "  日本  -10.5", "  é       nan"]


def test_colours_on_a_terminal_only(monkeypatch):
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\033[33m-1.0\033[0m" in printed(Tty(), ("a", "-1.0"))[1].replace(" ", "")
    assert "\033[34m1.0\033[0m" in printed(Tty(), ("a", "1.0"))[1].replace(" ", "")
    assert "\033" not in printed(Tty(), ("a", "0.0"))[1]
    assert "\033" not in "".join(printed(io.StringIO(), ("a", "-1.0")))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in "".join(printed(Tty(), ("a", "-1.0")))


def test_long_and_hostile_names(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    long = "x" * 300
    assert len(printed(Tty(), (long, "1.0"))[1]) < 100
    assert long in printed(io.StringIO(), (long, "1.0"))[1]
    assert "\033]0;owned" not in "".join(printed(io.StringIO(), ("a\n\033]0;owned\x07b", "1.0")))


def test_names():
    a = Value(2.0, label="a")
    root = a * 3 + a
    named = names(root)
    assert [named[v] for v in (a, *root.operands, root)] == ["a", "v2", "a", "v3"]
    assert list(names(Value(1.0, label="x") * Value(2.0, label="x")).values()) == ["x", "x (2)", "v3"]
    assert name_of(3, named) == "3.0"
    assert name_of(a, named) == "a"
