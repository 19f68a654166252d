"""Draw the pictures that strangers see first: the moving picture, the card of links to the site, and the icon.

usage: python tools/front_pictures.py

The pictures of the README and the start page, docs/images/hero.svg and hero-still.svg, need nothing. The card and the
icon in docs/_static are screenshots of Chromium, and need `pip install ".[browser]"`.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from website import hero
from website.links import DOCS

STATIC = DOCS / "_static"
MARK = DOCS / "images/mark.svg"
CARD = f"""<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="{(STATIC / "look.css").as_uri()}">
<style>
  body {{ margin: 0; width: 1200px; height: 630px; box-sizing: border-box; padding: 64px 40px 0 64px; display: grid;
    grid-template-columns: 470px 1fr; gap: 24px; background: #fffdf9; color: #22242a; font: 34px/1.35 "Source Sans 3";
    border-top: 12px solid; border-image: linear-gradient(90deg, #0b7a75, #6a3fc0) 1 }}
  h1 {{ font: 600 72px/1.05 "Source Serif 4"; letter-spacing: -0.02em; margin: 44px 0 28px }}
  p {{ margin: 0 }}
  b {{ display: flex; gap: 16px; align-items: center; font: 600 40px "Source Serif 4" }}
  .hero {{ width: 620px; margin-top: 48px }}
</style>
<div><b><img src="{MARK.as_uri()}" width="60">gradwalk</b><h1>Write the maths once</h1>
<p>Exact gradients of plain Python, every step explained, at the speed of C.</p></div>
{hero.svg(moving=False)}
"""
ICON = f"""<!doctype html><body style="margin: 0; background: #fffdf9"><img src="{MARK.as_uri()}" width="140"
style="margin: 20px">"""


def screenshot(html: str, size: tuple[int, int], target: Path) -> None:
    """Save a page as a PNG file."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        source = Path(folder, "page.html")
        source.write_text(html, encoding="utf-8")
        path = next(filter(None, map(shutil.which, names)), None)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme="light")
        page.goto(source.as_uri())
        page.evaluate("document.fonts.ready")
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    for name, moving in (("hero.svg", True), ("hero-still.svg", False)):
        (DOCS / "images" / name).write_text(hero.svg(moving=moving), encoding="utf-8")
    screenshot(CARD, (1200, 630), STATIC / "card.png")
    screenshot(ICON, (180, 180), STATIC / "icon.png")
