"""Cards of the examples: picture, description, source and guide."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from website.links import DOCS, ROOT

EXAMPLES = ROOT / "examples"


def cards(lines: list[str]) -> str:
    """Return cards of examples in Markdown, with links relative to docs/.

    Each line has the name of an example, the path of its guide in docs/, and a title, which are separated by colons.
    Without a title, the card shows the words of the name.
    """
    body = [line for entry in lines for line in _card(*(part.strip() for part in entry.split(":", 2)))]
    return "\n".join([":::::{container} cards", "", *body, ":::::"])


def _card(name: str, guide: str, title: str = "") -> Iterator[str]:
    docstring = ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8")))
    first = (docstring or "").splitlines()[0]
    picture = next((DOCS / "images").glob(f"{name}.[ps][nv]g"), None)
    yield from ("::::{container} card", "")
    if picture:
        yield from (f"![{first}](images/{picture.name})", "")
    yield from (f"**{title or name.replace('_', ' ').capitalize()}**", "", first, "")
    yield from (f"[{name}.py](../examples/{name}.py) · [guide]({guide})", "", "::::", "")
