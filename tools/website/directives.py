"""What pages of the documentation may ask for, besides what Sphinx and MyST have."""

from __future__ import annotations

import ast
import re
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from website import gallery, operations, reference, tutorial
from website.links import ROOT, rewritten
from website.pictures import in_both


class Written(SphinxDirective):
    """A directive that is replaced by Markdown, which a subclass writes."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def markdown(self) -> str:
        """Return what the directive stands for."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Parse it, headings included."""
        return self.parse_text_to_nodes(self.markdown(), allow_section_headings=True)


class Public(Written):
    """Public names, one or several a line, from their docstrings."""

    def markdown(self) -> str:
        """Return the directives of autodoc."""
        return reference.described(" ".join(self.content).split())


class PublicModule(Written):
    """A public module: its docstring, then all of its names."""

    def markdown(self) -> str:
        """Return the directives of autodoc."""
        module = self.arguments[0]
        names = [f"{module}.{name}" for name in reference.names_of(module)]
        return f"```{{eval-rst}}\n.. automodule:: gradwalk.{module}\n```\n\n{reference.described(names)}"


class Operations(Written):
    """A section for each row of the table of operations."""

    def markdown(self) -> str:
        """Return the sections."""
        return operations.sections()


class Tutorial(Written):
    """The tutorial, run."""

    def markdown(self) -> str:
        """Return its cells."""
        self.env.note_dependency(str(ROOT / "docs/tutorial.py"))
        return tutorial.cells()


class Gallery(Written):
    """The examples in the order of the lines, each of which has a name, a colon and a guide."""

    def markdown(self) -> str:
        """Return a card for each."""
        return rewritten(gallery.cards([*self.content]), ROOT / "docs")


class Document(Written):
    """A document of the repository that stands outside of docs/, or one section of it, named below."""

    def markdown(self) -> str:
        """Return its text, with links that start from its folder, and without its title."""
        path = ROOT / self.arguments[0]
        self.env.note_dependency(str(path))
        text = path.read_text(encoding="utf-8")
        if self.content:
            text = section(text, self.content[0])
        return rewritten(re.sub(r"\A# .*\n", "", text), path.parent)


class Measured(Written):
    """Rows of the benchmarks' results, by their claims, one a line."""

    def markdown(self) -> str:
        """Return the rows as a table."""
        path = ROOT / "benchmarks/README.md"
        self.env.note_dependency(str(path))
        rows = [line.strip("| ").split(" | ") for line in path.read_text(encoding="utf-8").splitlines()]
        lines = ["| what | gradwalk | peer | ratio |", "|---|---|---|---|"]
        for claim in self.content:
            found = [row for row in rows if row[0] == claim]
            if not found:
                raise self.error(f"benchmarks/README.md has no row {claim!r}")
            lines += [f"| {' | '.join(row[:4])} |" for row in found]
        return "\n".join(lines)


class Drawn(SphinxDirective):
    """Python whose last expression is a drawing: the code is shown, and below it the picture, light and dark."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Run the code."""
        source = "\n".join(self.content)
        *statements, last = ast.parse(source).body
        if not isinstance(last, ast.Expr):
            raise self.error("the last line has to be an expression")
        names: dict[str, Any] = {}
        exec(compile(ast.Module(statements, []), "docs", "exec"), names)
        light, dark = (_drawing(last.value, theme, names) for theme in ("light", "dark"))
        code = nodes.literal_block(source, source, language="python")
        return [code, nodes.raw("", in_both(light, dark), format="html")]


def _drawing(expression: ast.expr, theme: str, names: dict[str, Any]) -> str:
    """The SVG of a call of `draw`, with a theme."""
    call = ast.parse(ast.unparse(expression), mode="eval")
    assert isinstance(call.body, ast.Call), "a drawing is made by draw(...)"
    call.body.keywords.append(ast.keyword("theme", ast.Constant(theme)))
    drawing = eval(compile(ast.fix_missing_locations(call), "docs", "eval"), names)
    svg: str = drawing.svg
    return svg


def section(text: str, heading: str) -> str:
    """Return what stands under a heading of the second level."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found:
        raise ValueError(f"there is no heading {heading!r}")
    return found[1]


ALL: dict[str, type[SphinxDirective]] = {
    "public": Public,
    "public-module": PublicModule,
    "operations": Operations,
    "tutorial": Tutorial,
    "gallery": Gallery,
    "document": Document,
    "measured": Measured,
    "drawn": Drawn,
}
