"""A walk as HTML without a program, for notebooks that cannot show the widget."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

_LONGEST_LIST = 200


def static_html(picture: str, lists: Mapping[str, Sequence[str]]) -> str:
    """Put a picture and lists of sentences into a piece of HTML.

    Args:
        picture: SVG text, or "" for no picture.
        lists: Sentences by heading. Only the first 200 of each are shown, the rest is counted.

    Returns:
        The HTML, without a script. Readers can fold away every list.
    """
    parts = [f'<div style="overflow-x: auto">{picture}</div>'] if picture else []
    parts += [_list(heading, sentences) for heading, sentences in lists.items()]
    return "".join(parts)


def _list(heading: str, sentences: Sequence[str]) -> str:
    shown = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences[:_LONGEST_LIST])
    more = f"<p>and {len(sentences) - _LONGEST_LIST:,} more</p>" if len(sentences) > _LONGEST_LIST else ""
    return f"<details open><summary>{heading}: {len(sentences):,}</summary><ol>{shown}</ol>{more}</details>"
