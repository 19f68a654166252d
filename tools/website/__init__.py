"""What the documentation has beyond Sphinx and MyST: docs/conf.py names this package as an extension."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from website import directives, lessons, links, pictures, reference


def setup(app: Sphinx) -> dict[str, Any]:
    """Add directives, roles and hooks to a build."""
    app.connect("source-read", links.rewrite_source)
    app.connect("doctree-read", pictures.show_dark_ones)
    app.connect("missing-reference", reference.resolve)
    app.connect("autodoc-process-docstring", reference.escape, priority=600)  # after napoleon
    app.connect("build-finished", lessons.write)
    app.add_role("public", reference.public_role)
    for name, directive in directives.ALL.items():
        app.add_directive(name, directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
