"""The package's public names, for type checkers: printed by generate.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src/gradwalk/__init__.py"


def public_names() -> Iterator[str]:
    """The block of the package: the names of its table, which are loaded when they are first used, as imports."""
    text = PACKAGE.read_text(encoding="utf-8")
    table = text.partition("\n_NAMES = ")[2].partition("\n}\n")[0] + "}"
    for module, names in ast.literal_eval(table).items():
        yield from (f"    from {module} import {name} as {name}" for name in names)
