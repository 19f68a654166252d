"""The lesson and the page of microgpt, written beside the pages that show them in a frame."""

from __future__ import annotations

from sphinx.application import Sphinx

from gradwalk.explain.page.page import microgpt_page, page


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write both pages, as `gradwalk lesson` does."""
    if exception is None and app.builder.format == "html":
        folder = app.outdir / "pages"
        folder.mkdir(exist_ok=True)
        (folder / "lesson.html").write_text(page(), encoding="utf-8")
        (folder / "microgpt.html").write_text(microgpt_page(), encoding="utf-8")
