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
html_title = f"gradwalk {version}"

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
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("lesson.js", {"defer": "defer"})]
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which browsers refuse for local files
html_theme_options = {
    "source_repository": f"{urls()['Source']}/",
    "source_branch": "main",
    "source_directory": "docs/",
}
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
