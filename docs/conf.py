"""Sphinx configuration of the documentation, used by `python tools/build_site.py`."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from website.links import urls  # noqa: E402
from website.reference import source_url as linkcode_resolve  # noqa: E402, F401  by the name that Sphinx looks for

import gradwalk  # noqa: E402  after the path to the extension

project = "gradwalk"
author = copyright = "gradwalk's contributors"  # noqa: A001  Sphinx's name
version = release = gradwalk.__version__
html_title = "gradwalk"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.linkcode", "website.extension"]
exclude_patterns = ["README.md"]  # the index that GitHub shows; the site has a navigation bar instead

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_number_code_blocks: list[str] = []

default_role = "public"
nitpicky = True
nitpick_ignore = [("py:obj", "typing.~P")]  # parameters of a wrapped function, in the signatures of its wrapper
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
templates_path = ["_templates"]
html_static_path = ["_static", "images/mark.svg"]
html_favicon = "images/mark.svg"
html_css_files = ["look.css", "site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which browsers refuse for local files
html_search_scorer = str(ROOT / "docs/_static/scorer.js")
html_sidebars = {"**": [f"sidebar/{part}.html" for part in ("search", "scroll-start", "navigation", "scroll-end")]}
html_context = {
    "site_address": urls()["Documentation"],
    "site_description": "Exact gradients of plain Python code on numbers, every step explained, at the speed of C.",
}

_FONTS = {
    "font-stack": '"Source Sans 3", "Segoe UI", system-ui, -apple-system, Roboto, "Noto Sans", sans-serif',
    "font-stack--headings": '"Source Serif 4", "Iowan Old Style", Palatino, Georgia, "Noto Serif", serif',
    "font-stack--monospace": '"Source Code Pro", ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace',
}


def _colors(paper: str, panel: str, ink: str, faint: str, line: str, rule: str, accent: str) -> dict[str, str]:
    """Return the theme's variables for the colors of the lesson."""
    names = {
        paper: ("background-primary",),
        panel: ("background-secondary", "code-background", "sidebar-background", "inline-code-background"),
        ink: ("foreground-primary",),
        faint: ("foreground-secondary", "foreground-muted", "sidebar-link-text--top-level"),
        line: ("foreground-border",),
        rule: ("background-border", "background-hover"),
        accent: ("brand-primary", "brand-content", "brand-visited", "api-name", "api-pre-name"),
    }
    return {f"color-{name}": color for color, variables in names.items() for name in variables}


html_theme_options = {
    "light_css_variables": _FONTS
    | _colors("#fffdf9", "#f7f4ee", "#22242a", "#5f6069", "#82807c", "#e4dfd5", "#4a3fb5")
    | {"color-forward": "#0b7a75", "color-backward": "#6a3fc0", "color-highlight-on-target": "#e9e6fb"},
    "dark_css_variables": _colors("#17181c", "#1e2025", "#ebe9e4", "#a5a39c", "#85837e", "#35373d", "#b1a7ff")
    | {"color-forward": "#4cd3c8", "color-backward": "#bda0ff", "color-highlight-on-target": "#2f2b4d"},
    "source_repository": f"{urls()['Source']}/",
    "source_branch": "main",
    "source_directory": "docs/",
}
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
