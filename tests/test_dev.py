"""tools/dev.py finds the tests that a changed file affects."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from checkout import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from dev import affected_tests, changed_files


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("src/gradwalk/value/value.py", "tests/value/test_value.py"),
        ("src/gradwalk/math.py", "tests/test_math.py"),
        ("src/gradwalk/backend/cpu/lanes.h", "tests/backend/cpu/test_lanes.py"),
        ("src/gradwalk/value/apply.py", "tests/value"),
        ("src/gradwalk/program/run/rows/row_loops.h", "tests/program/run/rows"),
        ("tests/test_size.py", "tests/test_size.py"),
        ("src/gradwalk/__init__.py", None),
        ("tests/test_that_was_deleted.py", None),
        ("docs/operations.md", None),
    ],
)
def test_affected_tests(file, tests):
    assert affected_tests(file) == (Path(tests) if tests else None)


def test_changed_files_are_relative_paths():
    if not (ROOT / ".git").exists():
        pytest.skip("this checkout has no history")
    assert all("\n" not in name and not name.startswith("/") for name in changed_files())
