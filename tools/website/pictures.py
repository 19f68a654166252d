"""Pictures for light and dark pages."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

from website.links import DOCS


def show_dark_ones(app: Sphinx, doctree: nodes.document) -> None:
    """Use `moons-dark.png` for `moons.png` on dark pages; without such a file, invert the colors.

    SVGs are unchanged, because their style adapts to both.
    """
    for image in [*doctree.findall(nodes.image)]:
        path = DOCS / image["uri"].lstrip("/")
        dark = path.with_name(f"{path.stem}-dark{path.suffix}")
        if dark.exists():
            copy = image.deepcopy()
            copy["uri"] = copy["candidates"]["*"] = dark.relative_to(DOCS).as_posix()
            image["classes"].append("only-light")
            copy["classes"].append("only-dark")
            image.parent.insert(image.parent.index(image) + 1, copy)
            app.env.images.add_file(app.env.current_document.docname, copy["uri"])
        elif path.suffix == ".svg":
            image["classes"].append("drawing")
        elif path.suffix == ".png":
            image["classes"].append("inverted-in-dark")


def in_both(light: str, dark: str) -> str:
    """Return HTML that shows one of two pictures, depending on the theme."""
    return f'<div class="drawn only-light">{light}</div><div class="drawn only-dark">{dark}</div>'


def by_theme(svg: str) -> str:
    """Return HTML that draws an SVG with `theme="auto"` in the theme of the page, whatever the system prefers."""
    light = re.sub(r"<style>@media \(prefers-color-scheme: dark\).*?</style>", "", svg, flags=re.S)
    [scope] = re.findall(r'<svg[^>]* class="([\w-]+)"', svg)
    return in_both(light, svg.replace(scope, f"{scope}-dark").replace("(prefers-color-scheme: dark)", "all"))
