"""Public names, and the names that the reference documents."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import gradwalk
from website.links import DOCS

MODULES = (*gradwalk._NAMES["gradwalk"], "numpy.linalg")

HOMES = {name: module for module, names in gradwalk._NAMES.items() for name in names}


def public_names() -> set[str]:
    """Return all public names; names in public modules have the module as a prefix, such as `math.tanh`."""
    own = set(HOMES) - set(MODULES)
    return own.union(*({f"{module}.{name}" for name in names_of(module)} for module in MODULES))


def names_of(module: str) -> list[str]:
    """Return the public names of a public module, in the order of the module.

    These are the names in `__all__`. Without `__all__` they are the functions and classes of the file, names imported
    `as` themselves, and all names of star imports. `module` is the name without `gradwalk.`.
    """
    loaded = importlib.import_module(f"gradwalk.{module}")
    if hasattr(loaded, "__all__"):
        return [*loaded.__all__]
    names = dict.fromkeys(_exported(ast.parse(source_of(loaded).read_text(encoding="utf-8"))))
    return [name for name in names if not name.startswith("_") and not isinstance(getattr(loaded, name), ModuleType)]


def _exported(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            yield from importlib.import_module(str(statement.module)).__all__
        elif isinstance(statement, ast.ImportFrom):
            yield from (alias.name for alias in statement.names if alias.asname == alias.name)


def source_of(module: ModuleType) -> Path:
    """Return the Python file of a module that may be compiled."""
    found = Path(str(module.__file__))
    return found.with_name(f"{found.name.partition('.')[0]}.py")


def documented() -> set[str]:
    """Return the names that the pages of the reference document."""
    found: set[str] = set()
    for page in (DOCS / "reference").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```{public}\n(.*?)^```", text, re.M | re.S):
            found.update(block.split())
        for module in re.findall(r"^```{public-module} (\S+)", text, re.M):
            found.update(f"{module}.{name}" for name in names_of(module))
    return found
