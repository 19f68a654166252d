"""The names of the reference, which the search boxes find while the reader types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sphinx.application import Sphinx

from website.links import DOCS

_BLOCK = re.compile(r"^```\{(?:public|public-module|results)\}[^\n]*\n(.*?)^```", re.M | re.S)
_NAME = re.compile(r"^[\w.]+")
_METHOD = re.compile(r"^ {4}(\.\w+)[^:]*: (.*)")
_LINE = re.compile(r"^ {4}(\S.*)")


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the names, their addresses and their first lines to _static/names.js."""
    if exception is None and app.builder.format == "html":
        text = f"globalThis.gradwalkNames = {json.dumps([*_names(app)], ensure_ascii=False, separators=(',', ':'))};\n"
        (app.outdir / "_static/names.js").write_text(text, encoding="utf-8")


def _names(app: Sphinx) -> Iterator[tuple[str, str, str]]:
    lines = first_lines()
    for full, entry in sorted(app.env.domains.python_domain.objects.items()):
        if entry.objtype != "module":
            name = full.removeprefix("gradwalk.")
            address = f"{app.builder.get_target_uri(entry.docname)}#{entry.node_id}"
            yield name, address, lines.get(name, "").replace("`", "")


def first_lines() -> dict[str, str]:
    """Return the first line of the docstring of each name and method, from the pages of the reference."""
    found: dict[str, str] = {}
    for page in sorted((DOCS / "reference").glob("*.md")):
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            name = ""
            for line in block.splitlines():
                if start := _NAME.match(line):
                    name = start[0].removeprefix("gradwalk.")
                elif method := _METHOD.match(line):
                    found[name + method[1]] = method[2]
                elif text := _LINE.match(line):
                    found.setdefault(name, text[1])
    return found
