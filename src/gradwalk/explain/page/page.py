"""The page: a walk as one HTML file that works offline.

The functions take a walk as plain data from `Walk.essence()`, so this module does not import walk.py. The notebook
widget shows the same document with the same ES module. The microgpt page has a different document and module.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from gradwalk.explain.text import one_line, shortened

_LONGEST_TITLE = 80

# Characters that could end the script element around the document, and their JSON escapes.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}

_STYLE = "body { margin: 0 }"

_OF_GRADIENTS = "How gradients are computed: a computation, forward and backward, one step at a time."
_OF_MICROGPT = "A GPT that learns names in the page: every number in it, its gradient, and how that was computed."

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="{description}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main data-gradwalk{python}>
<noscript>This page needs JavaScript, which is disabled in this browser.</noscript>
</main>
{data}<script type="module">{module}</script>
</body>
</html>
"""


def page(essence: Mapping[str, Any] | None = None, of: str = "") -> str:
    """Return the text of an HTML file that shows a walk, or the introductory lesson if `essence` is None.

    The file is self-contained, including the source lines of the program. Its Content-Security-Policy blocks loading
    and running anything else.

    Args:
        essence: The walk, from `Walk.essence()`; None for the lesson.
        of: The subject of the walk, such as an expression or the name of a script.

    Example:
        >>> page().splitlines()[0]
        '<!doctype html>'
    """
    title = f"{shortened(one_line(of), _LONGEST_TITLE)} · gradwalk" if of else "gradwalk: how gradients are made"
    data = None if essence is None else document(essence, of)
    return _filled(title, _OF_GRADIENTS, data, module())


def served_page(packages: Sequence[str]) -> str:
    """Return the lesson with a cell for the visitor's own Python code, for a server that also serves Pyodide.

    The Content-Security-Policy is the policy of `page`, except that a worker may also load and run files from the
    page's server. `packages` are the names of the archives in the folder pyodide/ that Python loads, in this order.
    """
    return _filled("gradwalk: how gradients are made", _OF_GRADIENTS, None, module(), packages)


def microgpt_page() -> str:
    """Return an HTML file that trains microgpt on names given by the visitor and lets the visitor inspect any step.

    The file has the same Content-Security-Policy as `page`. It runs examples/microgpt.py in the form recorded by
    tools/microgpt_document.py.
    """
    data = _escaped(_resource("microgpt.json"))
    return _filled("gradwalk: microgpt, every scalar in sight", _OF_MICROGPT, data, _resource("microgpt.js"))


def document(essence: Mapping[str, Any], of: str = "") -> str:
    """Return a walk of the subject `of` as JSON in the format of docs/walk.schema.json, escaped for HTML."""
    described = {**essence, "of": of}
    return _escaped(json.dumps(described, separators=(",", ":")))


def module() -> str:
    """Return the page's ES module, which `npm run build` builds from web/src."""
    return _resource("page.js")


def _filled(title: str, description: str, data: str | None, script: str, packages: Sequence[str] = ()) -> str:
    """Fill the page template with an ES module, an optional document, and optional Python packages."""
    element = "" if data is None else f'<script type="application/json" data-gradwalk-document>{data}</script>\n'
    return _PAGE.format(
        policy=_policy(script, _STYLE, with_python=bool(packages)),
        description=description,
        title=html.escape(title),
        python=f' data-python="{html.escape(" ".join(packages))}"' if packages else "",
        style=_STYLE,
        data=element,
        module=script,
    )


def _resource(name: str) -> str:
    """Return the text of a file in this folder."""
    return resources.files("gradwalk.explain.page").joinpath(name).read_text(encoding="utf-8")


def _escaped(text: str) -> str:
    """Escape ASCII JSON for embedding in HTML."""
    for letter, escaped in _UNSAFE.items():
        text = text.replace(letter, escaped)
    return text


def _policy(script: str, style: str, *, with_python: bool) -> str:
    """Return a Content-Security-Policy that allows only `script`, `style` and, if `with_python` is true, Pyodide.

    The policy also applies to the worker that runs Python, so the worker can connect only to the page's own server.
    """
    python = (" 'self' 'wasm-unsafe-eval'", "connect-src 'self'; ") if with_python else ("", "")
    return (
        f"default-src 'none'; script-src {_hash(script)}{python[0]}; style-src {_hash(style)}; {python[1]}"
        "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
