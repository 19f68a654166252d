"""The page: a walk as one HTML file that needs no network.

It takes a walk as plain data, what `Walk.essence()` returns, so that walk.py can stand above it. The notebook widget
shows the same document with the same module. The page of microgpt has a module and a document of its own.
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

# Letters that would end the script element around the document. JSON has escapes for them.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}

_STYLE = "body { margin: 0 }"

_OF_GRADIENTS = "How gradients are made: a computation, forward and backward, a step at a time."
_OF_MICROGPT = "A GPT that learns names in the page: every number of it, its gradient, and where that comes from."

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
<noscript>This page draws itself with JavaScript, which is switched off here.</noscript>
</main>
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
    title = f"{shortened(one_line(of), _LONGEST_TITLE)} · gradwalk" if of else "gradwalk: how gradients are made"
    data = None if essence is None else document(essence, of)
    return _filled(title, _OF_GRADIENTS, data, module())


def served_page(packages: Sequence[str]) -> str:
    """Write the lesson with a cell for the visitor's own Python, for a server that has Pyodide beside it.

    Its policy is that of `page`, and lets a worker load and run what is in the page's own folder, besides.

    Args:
        packages: The names of the archives in the folder pyodide/ that Python needs, in order.

    Returns:
        The text of the file.
    """
    return _filled("gradwalk: how gradients are made", _OF_GRADIENTS, None, module(), packages)


def microgpt_page() -> str:
    """Write an HTML file in which microgpt trains on the visitor's names, and any step of it can be opened.

    Its policy is that of `page`. What it runs is examples/microgpt.py as tools/microgpt_document.py has recorded it.

    Returns:
        The text of the file.
    """
    data = _escaped(_resource("microgpt.json"))
    return _filled("gradwalk: microgpt, every scalar in sight", _OF_MICROGPT, data, _resource("microgpt.js"))


def document(essence: Mapping[str, Any], of: str = "") -> str:
    """Write what the page reads: a walk as JSON, by docs/walk.schema.json, in letters that may stand inside HTML.

    Args:
        essence: What the page shows, as `Walk.essence()` returns it.
        of: What was walked.

    Returns:
        The JSON text, with `of` and the programs whose lines made the graph as further members.
    """
    described = {**essence, "of": of}
    return _escaped(json.dumps(described, separators=(",", ":")))


def module() -> str:
    """Return the page's program: one ES module, built from web/src by `npm run build`."""
    return _resource("page.js")


def _filled(title: str, description: str, data: str | None, script: str, packages: Sequence[str] = ()) -> str:
    """Return a page with a program, the document that it shows, if any, and Python, if packages for it are named."""
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
    """Return the text of a file that stands beside this one."""
    return resources.files("gradwalk.explain.page").joinpath(name).read_text(encoding="utf-8")


def _escaped(text: str) -> str:
    """Return JSON of ASCII in letters that may stand inside HTML."""
    for letter, escaped in _UNSAFE.items():
        text = text.replace(letter, escaped)
    return text


def _policy(script: str, style: str, *, with_python: bool) -> str:
    """Return the Content-Security-Policy under which this script and this style run, and nothing else does but Python.

    The worker that runs Python is under the page's policy, too: it reaches the page's own server and no other.
    """
    python = (" 'self' 'wasm-unsafe-eval'", "connect-src 'self'; ") if with_python else ("", "")
    return (
        f"default-src 'none'; script-src {_hash(script)}{python[0]}; style-src {_hash(style)}; {python[1]}"
        "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
