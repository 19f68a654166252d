"""The documentation site in a browser, opened from disk without network requests: layout, search, lesson, pictures."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from documentation import site_in
from playwright.sync_api import Browser, BrowserContext, Page, expect

WIDTHS = (390, 1280, 1920)

# What is wider than its place, and pictures that are missing.
MEASURED = """() => {
  const article = document.querySelector("article");
  const { left, right } = article.getBoundingClientRect();
  const wide = [...article.querySelectorAll("img, svg, iframe, .card, .hero-stage")].filter((picture) => {
    const box = picture.getBoundingClientRect();
    return box.width > 0 && (box.right > right + 1 || box.left < left - 1);
  });
  return [
    ...(document.documentElement.scrollWidth > innerWidth ? ["the page"] : []),
    ...wide.map((picture) => picture.outerHTML.slice(0, 80)),
    ...[...document.images].filter((image) => image.complete && !image.naturalWidth).map((image) => image.src),
  ];
}"""
# Links to files on the disk, and the anchors of the page.
LINKED = """() => [
  [...document.querySelectorAll("a[href]")].map((a) => a.href).filter((address) => address.startsWith("file:")),
  [...document.querySelectorAll("[id]")].map((element) => element.id),
]"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("furo")
    return site_in(tmp_path_factory.mktemp("site"))


def documents(site: Path) -> list[Path]:
    """Return all pages except for the lesson and microgpt, which have their own tests."""
    return sorted(file for file in site.rglob("*.html") if file.parent.name != "pages")


def opened(context: BrowserContext, file: Path, width: int = 1280) -> Page:
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 860})
    page.goto(file.as_uri())
    return page


def test_pages_fit_the_window_and_their_links_lead_somewhere(context, site):
    # The context fails on errors in the console and on requests to other hosts.
    page = context.new_page()
    wide: dict[tuple[str, str, int], list[str]] = {}
    links: dict[str, list[str]] = {}
    anchors: dict[str, set[str]] = {}
    for file in documents(site):
        page.goto(file.as_uri())
        links[file.as_uri()], found = page.evaluate(LINKED)
        anchors[file.as_uri()] = set(found)
        for theme, width in product(("light", "dark"), WIDTHS):
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": 860})
            wide[file.name, theme, width] = page.evaluate(MEASURED)
    assert {place: problems for place, problems in wide.items() if problems} == {}
    assert [(start, address) for start in links for address in links[start] if not leads(address, anchors)] == []


def leads(address: str, anchors: dict[str, set[str]]) -> bool:
    """Return whether a link leads to a file, and to an anchor of it if the file is a page of the site."""
    target, _, anchor = address.partition("#")
    has_file = Path(url2pathname(urlsplit(target).path)).exists()
    return has_file and (not anchor or anchor in anchors.get(target, {anchor}))


def test_film_plays_until_a_click_opens_the_lesson(browser: Browser, context, site):
    moving = browser.new_page(reduced_motion="no-preference")
    moving.goto((site / "index.html").as_uri())
    assert moving.evaluate("document.querySelector('.hero').getAnimations({ subtree: true }).length") > 20
    moving.close()
    page = opened(context, site / "index.html")  # this context prefers reduced motion
    assert page.evaluate("document.querySelector('.hero').getAnimations({ subtree: true }).length") == 0
    expect(page.locator(".hero .said").last).to_have_css("opacity", "1")
    page.get_by_role("button", name="Step through it yourself").click()
    lesson = page.frame_locator(".hero-stage iframe")
    lesson.get_by_role("button", name="Next step").click()
    expect(lesson.get_by_text("a is given: 2").first).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_search_box_finds_names_while_typing(context, site, width):
    page = opened(context, site / "guides/values.html", width)
    if width == 390:
        page.locator(".mobile-header label[for=__navigation]").click()
    page.locator("input[name=q]:visible").press_sequentially("value_and_grad")
    expect(page.locator(".finds:visible a").first).to_contain_text("value_and_grad")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/reference/transforms.html#gradwalk.value_and_grad")


def test_search_works_without_a_server(context, site):
    page = opened(context, site / "search.html")
    for name in ("softplus", "value_and_grad"):
        page.locator("input[name=q]:visible").fill(name)
        page.keyboard.press("Enter")
        expect(page.locator("ul.search li").first).to_contain_text(f".{name}")


def test_wide_pictures_open_in_full_size(context, site):
    page = opened(context, site / "tutorial.html", 390)
    picture = page.locator(".drawn svg").first
    picture.click()
    full = page.locator("dialog.enlarged svg")
    box, small = full.bounding_box(), picture.bounding_box()
    assert box
    assert small
    assert box["width"] > 2 * small["width"]
    page.keyboard.press("Escape")
    expect(full).to_have_count(0)


@pytest.mark.parametrize(("theme", "other"), [("light", "dark"), ("dark", "light")])
def test_drawings_follow_the_theme_of_the_page(context, site, theme, other):
    page = opened(context, site / "tutorial.html")
    page.evaluate("theme => { document.body.dataset.theme = theme; }", theme)
    box = page.locator(f".drawn.only-{theme} svg .fill-box").first
    expect(page.locator(f".drawn.only-{theme} svg").first).to_be_visible()
    expect(page.locator(f".drawn.only-{other} svg").first).to_be_hidden()
    expect(box).to_have_css("fill", {"light": "rgb(247, 248, 250)", "dark": "rgb(32, 37, 44)"}[theme])


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
