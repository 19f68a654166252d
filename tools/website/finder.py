"""The names of the reference, which the search boxes find while the reader types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sphinx.application import Sphinx

from website.links import DOCS

_ENTRY = re.compile(r"^([\w.]+)[^\n]*\n(?: {5,}[^\n]*\n)* {4}(\S[^\n]*)", re.M)


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
            yield name, address, lines.get(name, "")


def first_lines() -> dict[str, str]:
    """Return the first line of the docstring of each name, from the pages of the reference."""
    found: dict[str, str] = {}
    for page in sorted((DOCS / "reference").glob("*.md")):
        for block in re.findall(r"^```\{public(?:-module)?\}[^\n]*\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
            found.update(_ENTRY.findall(block))
    return found
