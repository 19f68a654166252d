"""The page: a walk as one HTML file that needs no network.

It takes a walk as plain data, what `Walk.essence()` returns, so that walk.py can stand above it. The notebook widget
shows the same document with the same module.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from gradwalk.explain.text import one_line, shortened

_LONGEST_TITLE = 80

# Letters that would end the script element around the document. JSON has escapes for them.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}

_STYLE = "body { margin: 0 }"

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="How gradients are made: a computation, forward and backward, a step at a time.">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main data-gradwalk><noscript>This page draws itself with JavaScript, which is switched off here.</noscript></main>
{data}<script type="module">{module}</script>
</body>
</html>
"""


def page(essence: Mapping[str, Any] | None = None, of: str = "") -> str:
    """Write an HTML file that shows a walk, or the lesson if there is none.

    Everything that the file needs is inside it, the lines of the program that made the graph included, and its policy
    lets it load and run nothing else.

    Args:
        essence: What the page shows, as `Walk.essence()` returns it; None for the lesson.
        of: What was walked, such as an expression or the name of a script.

    Returns:
        The text of the file.

    Example:
        >>> page().splitlines()[0]
        '<!doctype html>'
    """
    data = ""
    if essence is not None:
        data = f'<script type="application/json" data-gradwalk-document>{document(essence, of)}</script>\n'
    title = f"{shortened(one_line(of), _LONGEST_TITLE)} · gradwalk" if of else "gradwalk: how gradients are made"
    return _PAGE.format(
        policy=_policy(module(), _STYLE), title=html.escape(title), style=_STYLE, data=data, module=module()
    )


def document(essence: Mapping[str, Any], of: str = "") -> str:
    """Write what the page reads: a walk as JSON, by docs/walk.schema.json, in letters that may stand inside HTML.

    Args:
        essence: What the page shows, as `Walk.essence()` returns it.
        of: What was walked.

    Returns:
        The JSON text, with `of` and the programs whose lines made the graph as further members.
    """
    described = {**essence, "of": of}
    text = json.dumps(described, separators=(",", ":"))
    for letter, escaped in _UNSAFE.items():
        text = text.replace(letter, escaped)
    return text


def module() -> str:
    """Return the page's program: one ES module, built from web/src by `npm run build`."""
    return resources.files("gradwalk.explain.page").joinpath("page.js").read_text(encoding="utf-8")


def _policy(script: str, style: str) -> str:
    """Return the Content-Security-Policy under which this script and this style run, and nothing else does."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
