"""A walk as HTML without scripts, for notebooks that cannot show the widget."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

_LONGEST_LIST = 200


def static_html(picture: str, lists: Mapping[str, Sequence[str]]) -> str:
    """Return HTML with an SVG picture ("" for none) and a collapsible list of sentences for each heading.

    A list shows at most 200 sentences, followed by the number of omitted sentences.
    """
    parts = [scrollable(picture)] if picture else []
    parts += [_list(heading, sentences) for heading, sentences in lists.items()]
    return "".join(parts)


def hidden_beside(name: str, content: str) -> str:
    """Return HTML that is hidden while the page has an element of the class `name`."""
    rule = f":root:has(.{name}) .{name}-still {{ display: none }}"
    return f'<style>{rule}</style><div class="{name}-still">{content}</div>'


def scrollable(picture: str) -> str:
    """Return HTML with an SVG picture that can be scrolled if it is wider than the page."""
    return f'<div style="overflow-x: auto">{picture}</div>'


def _list(heading: str, sentences: Sequence[str]) -> str:
    shown = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences[:_LONGEST_LIST])
    more = f"<p>and {len(sentences) - _LONGEST_LIST:,} more</p>" if len(sentences) > _LONGEST_LIST else ""
    return f"<details open><summary>{heading}: {len(sentences):,}</summary><ol>{shown}</ol>{more}</details>"
