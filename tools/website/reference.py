"""The reference: which names are public, how they are documented, and what links to them."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import operator
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import gradwalk
from website.links import DOCS

MODULES = ("loops", "math", "nn", "numpy", "numpy.linalg", "optim")

_HOMES = {name: module for module, names in gradwalk._NAMES.items() for name in names}

# Names that docstrings mean otherwise, too: `grad` is an attribute, `label` an argument.
_AMBIGUOUS = {"grad", "label", "trace", "check", "draw", "take", "threads", *MODULES}


def public_names() -> set[str]:
    """Return all public names, those in modules with the module before them, such as `math.tanh`."""
    own = set(_HOMES) - set(MODULES)
    return own.union(*({f"{module}.{name}" for name in names_of(module)} for module in MODULES))


def names_of(module: str) -> list[str]:
    """Return the public names of a public module, in the order in which it has them.

    Args:
        module: The module, without gradwalk before it.

    Returns:
        What `__all__` names; where there is none, the functions and classes that the file defines, and what it
        imports under the same name again, as type checkers understand it.
    """
    loaded = importlib.import_module(f"gradwalk.{module}")
    if hasattr(loaded, "__all__"):
        return [*loaded.__all__]
    names = dict.fromkeys(_exported(ast.parse(_source(loaded).read_text(encoding="utf-8"))))
    return [name for name in names if not name.startswith("_") and not isinstance(getattr(loaded, name), ModuleType)]


def _exported(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.ImportFrom):
            yield from (alias.name for alias in statement.names if alias.asname == alias.name)


def _source(module: ModuleType) -> Path:
    """The Python file of a module, which may be compiled."""
    found = Path(str(module.__file__))
    return found.with_name(f"{found.name.partition('.')[0]}.py")


def documented() -> set[str]:
    """Return the names that the pages of the reference say they document."""
    found: set[str] = set()
    for page in (DOCS / "reference").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```{public}\n(.*?)^```", text, re.M | re.S):
            found.update(block.split())
        for module in re.findall(r"^```{public-module} (\S+)", text, re.M):
            found.update(f"{module}.{name}" for name in names_of(module))
    return found


def described(names: list[str]) -> str:
    """Return the directives of autodoc for public names, as a block of Markdown."""
    return "\n".join(["```{eval-rst}", *(line for name in names for line in _directive(name)), "```"])


def _directive(name: str) -> list[str]:
    thing = operator.attrgetter(name)(gradwalk)
    if inspect.isclass(thing):
        return [f".. autoclass:: gradwalk.{name}{_signature(thing)}", "   :members:", ""]
    return [f".. {'autofunction' if callable(thing) else 'autodata'}:: gradwalk.{name}", ""]


def _signature(cls: type) -> str:
    """The arguments of a compiled class, from its source, since it keeps none; "" where Python knows them."""
    with contextlib.suppress(ValueError):
        return "" if inspect.signature(cls) else ""
    for part in ast.walk(ast.parse(_source(sys.modules[cls.__module__]).read_text(encoding="utf-8"))):
        if isinstance(part, ast.ClassDef) and part.name == cls.__name__:
            for method in part.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    del method.args.args[0]
                    return f"({ast.unparse(method.args)})"
    return ""


def public_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = None
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Set code in a docstring; a public name is a link to it."""
    literal = nodes.literal(rawtext, text, classes=["code"])
    if text in _AMBIGUOUS or text.removeprefix("gradwalk.").partition(".")[0] not in _HOMES:
        return [literal], []
    target = f"gradwalk.{text.removeprefix('gradwalk.')}"
    return [addnodes.pending_xref("", literal, refdomain="py", reftype="obj", reftarget=target, refwarn=False)], []


def resolve(app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.Element) -> Any:
    """Lead from a class that an annotation names to the public name; what is not gradwalk's stays text."""
    target = str(node.get("reftarget"))
    last = target.rpartition(".")[2]
    if node.get("refdomain") != "py":
        return None
    if last in _HOMES and node["reftype"] == "class":
        return env.domains["py"].resolve_xref(
            env, node["refdoc"], app.builder, "obj", f"gradwalk.{last}", node, contnode
        )
    return None if node.get("refwarn") else contnode


def escape(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep reStructuredText from reading formulas in docstrings as markup."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "..")):
            lines[i] = re.sub(r"(`[^`]*`)(s\b)?|(?<!\\)([*|])(?=\w)", _escaped, line)


def _escaped(found: re.Match[str]) -> str:
    if found[3]:
        return f"\\{found[3]}"
    return f"{found[1]}\\ s" if found[2] else found[1]  # `Value`s: code ends before a blank
