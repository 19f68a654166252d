"""Tests of SVG files element by element."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from gradwalk.explain.draw.svg import DARK, LIGHT, Canvas, arrowhead, curve


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_contrasts_meet_wcag_aa(palette):
    for paper in ("paper", "box", "operation"):
        assert contrast(palette["ink"], palette[paper]) >= 4.5
    for text in ("faint",):
        assert contrast(palette[text], palette["paper"]) >= 4.5
        assert contrast(palette[text], palette["box"]) >= 4.5
    for line in ("positive", "negative"):
        assert contrast(palette[line], palette["paper"]) >= 4.5
    assert contrast(palette["line"], palette["paper"]) >= 3.0


def test_files_have_size_title_and_own_class():
    files = []
    for text in ("one", "two"):
        canvas = Canvas.file("auto", "a <title>\n")
        canvas.text(1.0, 2.25, text)
        files.append(ElementTree.fromstring(canvas.finished(10.0, 20.55)))
    first, second = files
    assert (first.get("width"), first.get("height"), first.get("viewBox")) == ("10", "20.6", "0 0 10 20.6")
    assert first[0].text == "a <title>"
    assert first.get("class") != second.get("class")
    assert first[-1].attrib.items() >= {"x": "1", "y": "2.2", "class": "fill-ink", "fill": LIGHT["ink"]}.items()


def test_curves_follow_the_layout_direction():
    assert curve([(0, 0), (10, 4)], downward=False) == "M0,0C5,0 5,4 10,4"
    assert curve([(0, 0), (4, 10)], downward=True) == "M0,0C0,5 4,5 4,10"
    bowed = curve([(0, 0), (2, 0), (12, 4), (14, 4)], downward=False, bow=3.0)
    assert bowed == "M0,0C1,0 1,0 2,0C7,3 7,7 12,4C13,4 13,4 14,4"


def test_arrowheads_grow_with_line_width():
    assert arrowhead((10, 5), downward=False, weight=1.0) == "M10,5l-7,-3.5v7z"
    assert arrowhead((10, 5), downward=True, weight=4.0) == "M10,5l-6.5,-10h13z"
