"""The Sphinx extension of the documentation site, which docs/conf.py loads."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.python import PyObject

from website import blocks, finder, lessons, pictures, reference


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the hooks and add the role."""
    app.connect("source-read", blocks.write)
    app.connect("doctree-read", pictures.show_dark_ones)
    app.connect("missing-reference", reference.resolve)
    app.connect("autodoc-skip-member", reference.skip_foreign_methods)
    app.connect("autodoc-process-docstring", reference.hide_colons, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", reference.escape, priority=600)  # after napoleon
    app.connect("build-finished", lessons.write)
    app.connect("build-finished", finder.write)
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"  # the heading in docstrings
    app.add_role("public", reference.public_role)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
