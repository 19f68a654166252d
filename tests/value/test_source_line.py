"""Where in the user's program something happened."""

from __future__ import annotations

from gradwalk.value.source_line import SourceLine, users_line


def test_users_line():
    line = users_line()
    assert line.filename == __file__
    assert str(line) == f"{__file__}:{line.number}: line = users_line()"


def test_line_of_no_file():
    assert str(SourceLine("<stdin>", 3)) == "<stdin>:3"
