"""The lesson and the microgpt page, written to the site as separate files that pages show in a frame."""

from __future__ import annotations

from sphinx.application import Sphinx

from gradwalk.explain.page.page import microgpt_page, page


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write both files, as `gradwalk lesson` does."""
    if exception is None and app.builder.format == "html":
        folder = app.outdir / "pages"
        folder.mkdir(exist_ok=True)
        (folder / "lesson.html").write_text(page(), encoding="utf-8")
        (folder / "microgpt.html").write_text(microgpt_page(), encoding="utf-8")
