"""A walk as a page: one HTML file that needs no network. Its document and its module are the notebook widget's too."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import linecache
import re
from importlib import resources

from gradwalk.explain.text import one_line, shortened
from gradwalk.explain.walk import Walk
from gradwalk.graph.graph import Graph

_LARGEST_FILE = 1_000_000  # characters of a program that is shown beside its graph
_LONGEST_TITLE = 80

# What would end the script that the document stands in, or that no file can hold: JSON has escapes for them.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")

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


def page(walk: Walk | None = None, of: str = "") -> str:
    """The text of an HTML file that shows a walk, or the lesson where there is none.

    `of`: what was walked, such as an expression or the name of a script. All that the file needs is inside it, the
    lines of the program that made the graph included, and its policy lets it load and run nothing else.

    >>> page().splitlines()[0]
    '<!doctype html>'
    """
    data = (
        ""
        if walk is None
        else f'<script type="application/json" data-gradwalk-document>{document(walk, of)}</script>\n'
    )
    title = f"{shortened(one_line(of), _LONGEST_TITLE)} · gradwalk" if of else "gradwalk: how gradients are made"
    return _PAGE.format(
        policy=_policy(module(), _STYLE), title=html.escape(title), style=_STYLE, data=data, module=module()
    )


def document(walk: Walk, of: str = "") -> str:
    """A walk as the JSON that the page reads, by docs/walk.schema.json, in letters that may stand inside HTML."""
    described = walk.essence() | {"of": of, "files": _files(walk.graph)}
    text = json.dumps(described, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def module() -> str:
    """The page's program: one ES module, made of web/src by `npm run build`."""
    return resources.files("gradwalk.explain.page").joinpath("page.js").read_text(encoding="utf-8")


def _files(graph: Graph) -> dict[str, str]:
    """The programs whose lines made the graph, by filename: those that can be read, cells of notebooks included.

    Only Python: a graph that came from elsewhere may name any file of this machine.
    """
    names = {line.filename for line in graph.sources.values() if line.filename.endswith((".py", ">"))}
    texts = {name: "".join(linecache.getlines(name)) for name in sorted(names)}
    return {name: text for name, text in texts.items() if 0 < len(text) <= _LARGEST_FILE}


def _policy(script: str, style: str) -> str:
    """The Content-Security-Policy under which this script and this style run, and nothing else does."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
