"""Blocks of pages whose contents are generated when the site is built.

A page uses a block like a directive of MyST. It is replaced by Markdown before the page is parsed, so headings in it
are headings of the page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from sphinx.application import Sphinx

from website import gallery, hero, operations, reference, tutorial
from website.links import DOCS, ROOT, rewritten
from website.names import names_in, names_of
from website.pictures import in_both

Block = Callable[[str, str], str]


def write(app: Sphinx, docname: str, content: list[str]) -> None:
    """Rewrite the source of a page before it is parsed: its links, then its blocks, which rewrite their own links."""
    text = rewritten(content[0], (DOCS / docname).parent)
    if docname == "reference/index":
        text = reference.linked(text)
    names = "|".join(map(re.escape, BLOCKS))
    content[0] = re.sub(rf"^```{{({names})}} ?([^\n]*)\n(.*?)^```$", _written, text, flags=re.M | re.S)


def _written(block: re.Match[str]) -> str:
    return BLOCKS[block[1]](block[2], block[3])


def public(argument: str, body: str) -> str:
    """Document the public names in the body, one per line, from their docstrings."""
    return reference.described(names_in(body))


def public_module(argument: str, body: str) -> str:
    """Document a public module: its docstring, then all of its names."""
    names = [f"{argument}.{name}" for name in names_of(argument)]
    return f"```{{eval-rst}}\n.. automodule:: gradwalk.{argument}\n```\n\n{reference.described(names)}"


def results(argument: str, body: str) -> str:
    """Document classes that public functions return but that are not public, by their paths, one per line."""
    return reference.results(names_in(body))


def operations_block(argument: str, body: str) -> str:
    """Write a section for each operation of the table."""
    return operations.sections()


def tutorial_block(argument: str, body: str) -> str:
    """Run the tutorial and write it with its output."""
    return rewritten(tutorial.cells(), DOCS)


def gallery_block(argument: str, body: str) -> str:
    """Write a card for each line of the body, which has the name of an example, a colon and a guide."""
    return rewritten(gallery.cards(body.splitlines()), DOCS)


def hero_block(argument: str, body: str) -> str:
    """Write the moving picture, which becomes the live lesson when the reader clicks it."""
    label = "Step through it yourself: open this graph in the lesson"
    button = f'<button aria-label="{label}">{hero.svg()}<span class="hint">{body.strip()}</span></button>'
    return f'```{{raw}} html\n<div class="hero-stage">{button}</div>\n```'


def document(argument: str, body: str) -> str:
    """Include a document from outside of docs/, or the section of it that the body names."""
    path = ROOT / argument
    text = path.read_text(encoding="utf-8")
    if body:
        text = section(text, body.strip())
    return rewritten(re.sub(r"\A# .*\n", "", text), path.parent)


def section(text: str, heading: str) -> str:
    """Return the text under a heading of the second level."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found:
        raise ValueError(f"the document must have the heading {heading!r}")
    return found[1]


def drawn(argument: str, body: str) -> str:
    """Write Python code that ends with a call of `draw`, and the picture below it, for light and dark pages."""
    *statements, last = ast.parse(body).body
    call = last.value if isinstance(last, ast.Expr) else last
    if not isinstance(call, ast.Call):
        raise TypeError(f"the last line must be a call of draw, got {body}")
    names: dict[str, Any] = {}
    exec(compile(ast.Module(statements, []), "docs", "exec"), names)
    light, dark = (_svg(call, theme, names) for theme in ("light", "dark"))
    return f"```python\n{body}```\n\n```{{raw}} html\n{in_both(light, dark)}\n```"


def _svg(call: ast.Call, theme: str, names: dict[str, Any]) -> str:
    themed = ast.Call(call.func, call.args, [*call.keywords, ast.keyword("theme", ast.Constant(theme))])
    svg: str = eval(compile(ast.fix_missing_locations(ast.Expression(themed)), "docs", "eval"), names).svg
    return svg


BLOCKS: dict[str, Block] = {
    "public": public,
    "public-module": public_module,
    "results": results,
    "operations": operations_block,
    "tutorial": tutorial_block,
    "gallery": gallery_block,
    "hero": hero_block,
    "document": document,
    "drawn": drawn,
}
