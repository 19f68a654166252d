"""Public names, and the names that the reference documents."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

import gradwalk
from website.links import DOCS, ROOT

MODULES = (*gradwalk._NAMES["gradwalk"], "numpy.linalg", "scipy.linalg", "scipy.special", "scipy.stats")

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
    names = dict.fromkeys(_exported(tree_of(loaded.__name__)))
    submodules = {f"{loaded.__name__}.{name}" for name in names} & sys.modules.keys()
    return [name for name in names if not name.startswith("_") and f"{loaded.__name__}.{name}" not in submodules]


def names_in(block: str) -> list[str]:
    """Return the names in a block of the reference: the first words of the lines that are not indented."""
    return re.findall(r"^[\w.]+", block, re.M)


def _exported(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.If):  # for type checkers: names that are loaded when they are first used
            yield from _exported(ast.Module(statement.body, []))
        elif isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            yield from importlib.import_module(str(statement.module)).__all__
        elif isinstance(statement, ast.ImportFrom):
            yield from (alias.name for alias in statement.names if alias.asname == alias.name)


def is_numpys(name: str, thing: Any) -> bool:
    """Return whether the object with a name of `gradwalk.numpy`, such as "numpy.linalg.outer", is NumPy's own."""
    module, _, own = name.rpartition(".")
    homes = {"numpy": numpy, "numpy.linalg": numpy.linalg}
    is_numpys = getattr(thing, "__module__", "").partition(".")[0] == "numpy"
    return module in homes and (thing is getattr(homes[module], own, None) or is_numpys)


def source_of(module: ModuleType) -> Path:
    """Return the Python file of a module that may be compiled."""
    found = Path(str(module.__file__))
    return found.with_name(f"{found.name.partition('.')[0]}.py")


@cache
def tree_of(module: str) -> ast.Module:
    """Return the syntax tree of a module of gradwalk, which need not be imported.

    Args:
        module: Its full name.
    """
    path = ROOT.joinpath("src", *module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def definition_of(module: str, name: str) -> ast.FunctionDef | ast.ClassDef | None:
    """Return the definition of a function or class, which a module defines or imports from another module of gradwalk.

    Args:
        module: The full name of the module.
        name: The name of the function or class.

    Returns:
        Its syntax tree; None for assigned names and for names from other libraries.
    """
    statements = [*tree_of(module).body]
    for conditional in [x for x in statements if isinstance(x, ast.If)]:
        statements += conditional.body
    found = [x for x in statements if isinstance(x, ast.FunctionDef | ast.ClassDef) and x.name == name]
    if found:
        return found[-1]  # the earlier ones are overloads
    for statement in statements:
        if isinstance(statement, ast.ImportFrom) and str(statement.module).startswith("gradwalk."):
            exported = [alias.name for alias in statement.names if name in (alias.asname, alias.name)]
            if exported or (statement.names[0].name == "*" and name in set(_exported(tree_of(str(statement.module))))):
                return definition_of(str(statement.module), exported[0] if exported else name)
    return None


def documented() -> set[str]:
    """Return the names that the pages of the reference document."""
    found: set[str] = set()
    for page in (DOCS / "reference").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```{public}\n(.*?)^```", text, re.M | re.S):
            found.update(names_in(block))
        for module in re.findall(r"^```{public-module} (\S+)", text, re.M):
            found.update(f"{module}.{name}" for name in names_of(module))
    return found
