"""The examples as cards: picture, what it does, source and guide."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from website.links import DOCS, ROOT

EXAMPLES = ROOT / "examples"


def cards(lines: list[str]) -> str:
    """Return the cards of examples, in Markdown.

    Args:
        lines: For each example its name, a colon and its guide, a path in docs/.

    Returns:
        The cards, with links that start from docs/.
    """
    body = [line for entry in lines for line in _card(*(part.strip() for part in entry.split(":", 1)))]
    return "\n".join([":::::{container} cards", "", *body, ":::::"])


def _card(name: str, guide: str) -> Iterator[str]:
    docstring = ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8")))
    first = (docstring or "").splitlines()[0]
    picture = next((DOCS / "images").glob(f"{name}.[ps][nv]g"), None)
    yield from ("::::{container} card", "")
    if picture:
        yield from (f"![{first}](images/{picture.name})", "")
    yield from (f"**{name}**", "", first, "")
    yield from (f"[Source](../examples/{name}.py) · [guide]({guide})", "", "::::", "")
