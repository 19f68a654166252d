"""The reference: directives that document public names, and links to them."""

from __future__ import annotations

import ast
import contextlib
import inspect
import operator
import re
import sys
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import gradwalk
from website.links import DOCS, target
from website.names import HOMES, MODULES, is_numpys, public_names, source_of

# Names with another meaning in docstrings: `grad` is also an attribute, `label` also an argument.
_AMBIGUOUS = {"grad", "label", "trace", "check", "draw", "take", "threads", *MODULES}

_COLON = "\N{PRESENTATION FORM FOR VERTICAL COLON}"  # replaces colons while napoleon reads a docstring


def described(names: list[str]) -> str:
    """Return a Markdown block with the autodoc directives for public names."""
    return "\n".join(["```{eval-rst}", *(line for name in names for line in _directive(name)), "```"])


def linked(index: str) -> str:
    """Return the index of the reference, in which each name of the list of all names is a link to its description."""
    before, heading, after = index.partition("\n## All names\n")
    return before + heading + re.sub(r"`([\w.]+)`", r"{py:obj}`\1 <gradwalk.\1>`", after)


def results(paths: list[str]) -> str:
    """Return a Markdown block with the autodoc directives for classes that public functions return."""
    lines = (line for path in paths for line in (f".. autoclass:: {path}()", "   :members:", ""))
    return "\n".join(["```{eval-rst}", *lines, "```"])


def _directive(name: str) -> list[str]:
    thing = operator.attrgetter(name)(gradwalk)
    if is_numpys(name, thing) and not isinstance(thing, float):
        module, _, own = f"gradwalk.{name}".rpartition(".")
        return [f".. py:data:: {own}", f"   :module: {module}", "", "   As in NumPy.", ""]
    if inspect.isclass(thing):
        return [f".. autoclass:: gradwalk.{name}{_signature(thing)}", "   :members:", ""]
    if callable(thing):
        return [f".. autofunction:: gradwalk.{name}", ""]
    module, _, own = f"gradwalk.{name}".rpartition(".")
    return [
        f".. py:data:: {own}",
        f"   :module: {module}",
        f"   :value: {thing!r}",
        "",
        f"   {_about(name, thing)}",
        "",
    ]


def _about(name: str, thing: Any) -> str:
    """Return what the reference says about a constant or another object."""
    kind = type(thing)
    if name.startswith("stats."):
        return f"The distribution `scipy.{name}`, with the methods of :py:obj:`~{kind.__module__}.{kind.__qualname__}`."
    return "As in NumPy." if name.startswith("numpy") else "As in Python's `math`."


def _signature(cls: type) -> str:
    """Return the arguments of a compiled class from its source; "" if Python can inspect them."""
    with contextlib.suppress(ValueError):
        inspect.signature(cls)
        return ""
    for part in ast.walk(ast.parse(source_of(sys.modules[cls.__module__]).read_text(encoding="utf-8"))):
        if isinstance(part, ast.ClassDef) and part.name == cls.__name__:
            for method in part.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    del method.args.args[0]
                    return f"({ast.unparse(method.args)})"
    return ""


def public_role(
    role: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = None
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Render code in a docstring; a public name becomes a link."""
    literal = nodes.literal(rawtext, text, classes=["code"])
    name = text.removeprefix("gradwalk.")
    is_known = name in HOMES or (text != name and name in public_names())  # `math.log` is Python's
    if text in _AMBIGUOUS or not is_known:
        return [literal], []
    target = f"gradwalk.{name}"
    return [addnodes.pending_xref("", literal, refdomain="py", reftype="obj", reftarget=target)], []


def resolve(app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.Element) -> Any:
    """Resolve a class in an annotation to its public name; names from other packages stay text."""
    target = str(node.get("reftarget"))
    last = target.rpartition(".")[2]
    if node.get("refdomain") != "py":
        return None
    known = [name for name in env.domains.python_domain.objects if name.rpartition(".")[2] == last]
    if node["reftype"] == "class" and (last in HOMES or len(known) == 1):
        found = f"gradwalk.{last}" if last in HOMES else known[0]
        return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", found, node, contnode)
    return contnode if node["reftype"] in ("class", "exc") else None


def source_url(domain: str, described: dict[str, str]) -> str | None:
    """Return the repository address of the source of a documented name; None for constants such as `math.pi`."""
    thing = getattr(sys.modules[described["module"]], described["fullname"].partition(".")[0], None)
    home = sys.modules.get(getattr(thing, "__module__", ""))
    return target(str(source_of(home)), DOCS) if home and home.__name__.startswith("gradwalk.") else None


def hide_colons(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Hide colons in a property's first line, because napoleon would read the text before a colon as its type."""
    if what in ("attribute", "property"):
        lines[:1] = [line.replace(":", _COLON) for line in lines[:1]]


def escape(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape formulas in docstrings, which reStructuredText would read as markup."""
    for i, line in enumerate(lines):
        lines[i] = line.replace(_COLON, ":")
        if not line.lstrip().startswith((">>>", "..")):
            lines[i] = re.sub(r"(`[^`]*`)(s\b)?|(?<!\\)([*|])(?=\w)", _escaped, lines[i])


def skip_foreign_methods(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Skip methods that other libraries add to classes, such as scikit-learn's `set_fit_request`."""
    is_foreign = inspect.isfunction(thing) and thing.__module__.partition(".")[0] != "gradwalk"
    return True if what == "class" and is_foreign else None


def _escaped(found: re.Match[str]) -> str:
    if found[3]:
        return f"\\{found[3]}"
    return f"{found[1]}\\ s" if found[2] else found[1]  # `Value`s: code must end before whitespace
