"""Write signatures and first lines into the blocks of docs/reference/*.md, for readers of the repository itself.

The site shows the whole docstrings there instead (tools/website/blocks.py). The index gets a list of the names on each
page, and docs/operations.md a table of all operations.

usage: python tools/reference_lines.py [--check]

With --check nothing is written, and the exit code is 1 if a page is out of date.
"""

from __future__ import annotations

import ast
import copy
import inspect
import operator
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from website.links import DOCS
from website.names import HOMES, definition_of, is_numpys, names_in, names_of
from website.operations import groups

import gradwalk
from gradwalk.ops.table import VARIADIC

BLOCK = re.compile(r"^```\{(public|public-module|results)\} ?([^\n]*)\n(.*?)^```$", re.M | re.S)
WIDTH = 100
INDEX = DOCS / "reference/index.md"
HEADING = "## All names\n"


def page(text: str) -> str:
    """Return the text of a page with its blocks filled."""
    return BLOCK.sub(_filled, text)


def index(text: str) -> str:
    """Return the text of the index with the names on each page at its end, in the order of the navigation."""
    [tree] = re.findall(r"^```{toctree}\n(?::[^\n]*\n|\n)*(.*?)^```", text, re.M | re.S)
    lines = [line for name in tree.split() for line in _names_on(DOCS / "reference" / f"{name}.md")]
    return text.partition(HEADING)[0] + HEADING + "\n" + "\n".join(lines) + "\n"


def operations(text: str) -> str:
    """Return the text of the page about operations with the table of all operations at its beginning."""
    rows = {**groups(), "Any number of operands": VARIADIC}
    lines = [f"| {heading} | {', '.join(f'`{row.name}`' for row in group)} |" for heading, group in rows.items()]
    start = "| group | operations |\n|---|---|\n"
    before, _, after = text.partition(start)
    return before + start + "\n".join(lines) + "\n\n" + after.partition("\n\n")[2]


def _names_on(path: Path) -> Iterator[str]:
    """Yield the lines of the index for one page."""
    text = path.read_text(encoding="utf-8")
    blocks = [body for kind, _, body in BLOCK.findall(page(text)) if kind != "results"]
    names = [f"`{name}`" for body in blocks for name in names_in(body)]
    if names:
        title = text.partition("\n")[0].removeprefix("# ").removeprefix("Reference: ")
        item = f"- [{title}]({path.name}): {', '.join(names)}"
        yield from textwrap.wrap(item, 150, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def _filled(block: re.Match[str]) -> str:
    kind, argument, body = block.groups()
    names = [f"{argument}.{name}" for name in names_of(argument)] if kind == "public-module" else names_in(body)
    lines = [line for name in names for line in _entry(name, is_path=kind == "results")]
    return "\n".join([f"```{{{kind}}} {argument}".rstrip(), *lines, "```"])


def _entry(name: str, *, is_path: bool) -> Iterator[str]:
    """Yield the lines for one name: its signature, the first line of its docstring, and the methods of a class."""
    module, _, attribute = name.rpartition(".")
    home = module if is_path else f"gradwalk.{module}" if module else HOMES[name]
    definition = definition_of(home, attribute)
    if definition is None:
        yield from _assigned(name)
        return
    signature = name if is_path else name + _signature(definition)
    yield from textwrap.wrap(signature, WIDTH, subsequent_indent="        ", break_on_hyphens=False)
    yield f"    {_first_line(definition)}"
    if isinstance(definition, ast.ClassDef):
        for method in _methods(definition):
            is_property = any(isinstance(x, ast.Name) and x.id == "property" for x in method.decorator_list)
            called = "" if is_property else _signature(method)
            yield f"    .{method.name}{called}: {_first_line(method)}"


def _assigned(name: str) -> Iterator[str]:
    """Yield the lines for a name that gradwalk does not define: a constant, or a function of Python's `math`."""
    thing = operator.attrgetter(name)(gradwalk)
    if isinstance(thing, float) or not (callable(thing) or is_numpys(name, thing)):
        yield f"{name} = {thing!r}"
    elif name.startswith("math."):
        yield from (name, "    As in the `math` module of Python.")
    elif is_numpys(name, thing):
        yield from (name, "    As in NumPy.")
    elif hasattr(thing, "__wrapped__"):
        yield from (name, "    As in NumPy, for arrays of numbers only.")
    else:
        yield from textwrap.wrap(f"{name}{_parameters(thing)}", WIDTH, subsequent_indent="        ")
        yield f"    {_doc(thing)}"


def _parameters(function: Any) -> str:
    """Return the parameters of a function that an assignment defines, in parentheses, without types."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # a class that is written in C
        return ""
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(inspect.Signature(parameters))


def _doc(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _first_line(definition: ast.FunctionDef | ast.ClassDef) -> str:
    return (ast.get_docstring(definition) or "").partition("\n")[0]


def _methods(definition: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Yield the public methods and properties of a class that have a docstring."""
    methods = (x for x in definition.body if isinstance(x, ast.FunctionDef))
    yield from (x for x in methods if not x.name.startswith("_") and ast.get_docstring(x))


def _signature(definition: ast.FunctionDef | ast.ClassDef) -> str:
    """Return the parameters of a function or class in parentheses, with defaults and without types."""
    if isinstance(definition, ast.ClassDef):
        methods = [x for x in definition.body if isinstance(x, ast.FunctionDef) and x.name == "__init__"]
        return _signature(methods[0]) if methods else ""
    arguments = copy.deepcopy(definition.args)
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    return f"({re.sub(r'^(self|cls)(, )?', '', ast.unparse(arguments))})"


def main() -> int:
    """Write the pages, or check them; return the exit code."""
    stale = []
    writers = dict.fromkeys(sorted((DOCS / "reference").glob("*.md")), page)
    writers |= {INDEX: index, DOCS / "operations.md": operations}
    for path, write in writers.items():
        old = path.read_text(encoding="utf-8")
        new = write(old)
        if new != old:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(new, encoding="utf-8")
    if stale and "--check" in sys.argv:
        print("out of date:", ", ".join(stale), "- run: python tools/reference_lines.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
