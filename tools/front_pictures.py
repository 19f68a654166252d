"""Draw the moving picture of the README and of the start page: docs/images/hero.svg and hero-still.svg.

usage: python tools/front_pictures.py
"""

from __future__ import annotations

from website import hero
from website.links import DOCS

if __name__ == "__main__":
    for name, moving in (("hero.svg", True), ("hero-still.svg", False)):
        (DOCS / "images" / name).write_text(hero.svg(moving=moving), encoding="utf-8")
