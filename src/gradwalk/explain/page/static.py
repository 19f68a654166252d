"""A walk as HTML without scripts, for notebooks that cannot show the widget."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

_LONGEST_LIST = 200


def static_html(picture: str, lists: Mapping[str, Sequence[str]]) -> str:
    """Return HTML with an SVG picture ("" for none) and a collapsible list of sentences for each heading.

    A list shows at most 200 sentences, followed by the number of omitted sentences.
    """
    parts = [f'<div style="overflow-x: auto">{picture}</div>'] if picture else []
    parts += [_list(heading, sentences) for heading, sentences in lists.items()]
    return "".join(parts)


def _list(heading: str, sentences: Sequence[str]) -> str:
    shown = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences[:_LONGEST_LIST])
    more = f"<p>and {len(sentences) - _LONGEST_LIST:,} more</p>" if len(sentences) > _LONGEST_LIST else ""
    return f"<details open><summary>{heading}: {len(sentences):,}</summary><ol>{shown}</ol>{more}</details>"
