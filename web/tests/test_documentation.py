"""The documentation site in a browser, opened from disk without network requests: layout, search, lesson, pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from documentation import built
from playwright.sync_api import BrowserContext, Page, expect

PAGES = [
    "index",
    "guides/seeing",
    "reference/value",
    "reference/operations",
    "coming-from/jax",
    "gallery",
    "benchmarks",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("furo")
    return built(tmp_path_factory.mktemp("site"))


def opened(context: BrowserContext, file: Path, width: int = 1280) -> Page:
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 860})
    page.goto(file.as_uri())
    return page


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_are_no_wider_than_the_window(context, site, width):
    for name in PAGES:
        page = opened(context, site / f"{name}.html", width)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


def test_search_works_without_a_server(context, site):
    page = opened(context, site / "search.html")
    page.get_by_role("textbox", name="search").or_(page.get_by_placeholder("Search")).first.fill("softplus")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="gradwalk.math.softplus")).to_be_visible()


def test_lesson_runs_in_its_frame(context, site):
    page = opened(context, site / "lesson.html")
    lesson = page.frame_locator("iframe").first
    expect(lesson.get_by_role("heading", name="Forward, then back")).to_be_visible()


def test_dark_pages_show_dark_pictures(context, site):
    page = opened(context, site / "gallery.html")
    for theme, shown, hidden in (("light", "moons.png", "moons-dark.png"), ("dark", "moons-dark.png", "moons.png")):
        page.evaluate("theme => { document.body.dataset.theme = theme }", theme)
        expect(page.locator(f"img[src$='{shown}']")).to_be_visible()
        expect(page.locator(f"img[src$='{hidden}']")).to_be_hidden()
