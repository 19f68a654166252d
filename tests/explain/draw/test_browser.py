"""Tests of drawings in a real browser: layout of text and boxes, colors, and independent styles."""

from __future__ import annotations

import html
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from graphs_of_the_lesson import GRADIENTS, diamond, neuron

from gradwalk import Value, draw, nn, walk

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--virtual-time-budget=1000"),
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

# Measures texts outside their boxes, overlapping boxes and the paper's color, for each drawing.
MEASURE = """
<pre id="result"></pre><script>
const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
const result = [...document.querySelectorAll("body > svg")].map(svg => {
  const paper = svg.querySelector("rect").getBoundingClientRect();
  const outside = [], boxes = [];
  for (const group of svg.querySelectorAll("g")) {
    const own = [...group.children].filter(c => c.tagName == "rect").map(c => c.getBoundingClientRect());
    if (own.length && group.querySelector(":scope > title")) boxes.push(own);
    for (const text of [...group.children].filter(c => c.tagName == "text" && own.length)) {
      const t = text.getBoundingClientRect();
      if (!own.some(r => r.left <= t.left && t.right <= r.right)) outside.push(text.textContent);
    }
  }
  const beyond = [...svg.querySelectorAll("text")].filter(text => {
    const t = text.getBoundingClientRect();
    return t.left < paper.left || t.right > paper.right || t.top < paper.top || t.bottom > paper.bottom;
  }).map(text => text.textContent);
  let crowded = 0;
  for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++)
    for (const a of boxes[i]) for (const b of boxes[j]) crowded += overlap(a, b);
  return {outside, beyond, crowded, paper: getComputedStyle(svg.querySelector("rect")).fill,
          animation: getComputedStyle(svg.querySelector("g")).animationDuration};
});
document.getElementById("result").textContent = JSON.stringify({result, ran: window.ran || 0});
</script>
"""


def measured(tmp_path: Path, drawings: list[str], *flags: str) -> dict[str, object]:
    """Return what a page with these drawings measures."""
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body dir=rtl>{''.join(drawings)}{MEASURE}", encoding="utf-8")
    command = [CHROMIUM, *FLAGS, *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8", timeout=120)
    text = result.stdout.partition('<pre id="result">')[2].partition("</pre>")[0]
    return json.loads(html.unescape(text))


def graphs() -> list[Value]:
    random.seed(1)
    model = nn.MLP(3, [3, 2])
    h = Value(0.5, label="h")
    outputs = model([h, h.tanh(), h])
    hostile = [
        "<img src=x onerror='window.ran=1'>",
        "]]><script>window.ran=1</script>",
        "\u202e\u05e9\u05dc",
        "W" * 500,
    ]
    x = Value(-1.5e-7, label="x")
    chain = x
    for _ in range(12):
        chain = (chain * 3.0).tanh() + x
    roots = [make() for make in GRADIENTS]
    roots += [outputs[0] * outputs[1], sum(Value(10.0**i, label=text) for i, text in enumerate(hostile)), chain]
    roots += [Value(3.0, [Value(float(i)) for i in range(30)], "many"), x.where(x.log(), 1 / (x - x))]
    for root in roots:
        root.backward()
    return roots


def test_texts_fit_and_boxes_do_not_overlap(tmp_path):
    drawings = [draw(root, rankdir=rankdir).svg for root in graphs() for rankdir in ("LR", "TB")]
    drawings += [draw(neuron(), max_nodes=3).svg]
    found = measured(tmp_path, drawings)
    assert found["ran"] == 0
    assert len(found["result"]) == len(drawings)
    for drawing in found["result"]:
        assert (drawing["outside"], drawing["beyond"], drawing["crowded"]) == ([], [], 0)


def test_colors_follow_theme_and_preference(tmp_path):
    drawings = [draw(diamond(), theme=theme).svg for theme in ("auto", "light", "dark")]
    light = [drawing["paper"] for drawing in measured(tmp_path, drawings)["result"]]
    assert light == ["rgb(255, 255, 255)", "rgb(255, 255, 255)", "rgb(21, 24, 29)"]
    dark = measured(tmp_path, drawings, "--blink-settings=preferredColorScheme=0")["result"]
    assert [drawing["paper"] for drawing in dark] == ["rgb(21, 24, 29)", "rgb(255, 255, 255)", "rgb(21, 24, 29)"]


def test_films_on_one_page_have_independent_durations(tmp_path):
    films = [walk(diamond()).film(seconds=seconds).svg for seconds in (1.0, 2.0)]
    assert [film["animation"] for film in measured(tmp_path, films)["result"]] == ["7s", "14s"]


def test_players_without_animation_show_the_last_picture(tmp_path):
    (film,) = measured(tmp_path, [walk(diamond()).film().svg], "--force-prefers-reduced-motion")["result"]
    assert film["animation"] == "0s"
