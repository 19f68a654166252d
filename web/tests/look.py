"""Take pictures of the page to look at. `python look.py FOLDER [WORD ...]` takes those whose names have all words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pages
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

SIZES = ((390, 844), (768, 1024), (1280, 800), (1920, 1080))
PRESETS = ("product", "neuron", "square", "double", "twice", "loss", "reuse", "diamond", "network", "softmax")
MIDDLE = {"network": 31, "neuron": 16, "softmax": 17}  # a step of the backward pass; the default is 8

LESSONS = {
    **{f"preset-{key}": f"show={key}&step={MIDDLE.get(key, 8)}" for key in PRESETS},
    "start": "",
    "edge": "show=neuron&step=21&node=n&operand=0",
    "node": "show=reuse&step=11&node=a",
    "lost": "show=twice&step=21&write=%3D&node=a",
    "order": 'show=diamond&mode=order&step=4&order=["d","c"]',
    "order-wrong": 'show=diamond&mode=order&step=9&order=["d","c","a","b"]',
    "check": "show=loss&mode=check&step=21&node=e&h=0.0001&method=forward",
    "train": "show=network&mode=train&step=99&zero=off",
    "train-points": "show=network&data=moons&mode=train&step=99",
    "exercises": "mode=exercises&exercise=2",
    "infinite": "f=log(a)*b&at=a:0,b:0&step=21",
    "help": "",
    "error": "",
}
PROGRAM = {"program": "step=21", "program-order": "mode=order&step=13", "program-check": "mode=check&step=99"}
TRAINING = {"passes": "step=31&pass=5&node=slope", "passes-check": "mode=check"}
MICROGPT = {
    "microgpt": "step=300&name=emma&place=4",
    "microgpt-number": "step=300&name=emma&place=4&node=place3.attention.head2.weight.1",
    "microgpt-gradients": "step=300&name=maximilianander&place=13&show=gradients",
}
NETWORK = {"large": "", "large-late": "step=6000", "large-open": "step=6000&node=loss", "large-check": "mode=check"}

FILES = {"lesson": LESSONS, "program": PROGRAM, "training": TRAINING, "network": NETWORK, "microgpt": MICROGPT}


def shots() -> Iterator[tuple[str, str, str]]:
    """Yield each picture's name, file and fragment."""
    for file, fragments in FILES.items():
        for name, fragment in fragments.items():
            yield name, file, fragment


def prepare(page: Page, name: str) -> None:
    """Set up states that no link can describe."""
    if name == "help":
        page.keyboard.press("?")
    if name == "error":
        page.get_by_label("Expression").fill("tanh(x*w + b))")
        page.get_by_role("button", name="Draw").click()
    if name == "large-open":
        page.locator(".part rect.hit").first.dispatch_event("click")  # it may be out of view
    if name.startswith("microgpt"):
        page.locator(".at[data-step='300']").wait_for()
        stretch(page)
    page.wait_for_timeout(250)


def stretch(page: Page) -> None:
    """Make the window as high as the page, because only visible content is painted."""
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": page.viewport_size["width"] if page.viewport_size else 1280, "height": height})
    page.wait_for_timeout(500)


def take(browser: Browser, folder: Path, words: list[str]) -> None:
    """Take the pictures, in both themes and all sizes."""
    files = {file: getattr(pages, file)(folder) for file in FILES}
    for width, height in SIZES:
        size = ViewportSize(width=width, height=height)
        for theme in ("light", "dark"):
            for name, file, fragment in shots():
                full = f"{name}-{width}-{theme}"
                if words and not all(word in full for word in words):
                    continue
                page = browser.new_page(viewport=size, color_scheme=theme, reduced_motion="reduce")
                page.goto(f"{files[file].as_uri()}#{fragment}")
                page.locator(".node, .part").first.wait_for()
                prepare(page, name)
                page.screenshot(path=folder / f"{full}.png")
                page.close()


def main(folder: Path, words: list[str]) -> None:
    """Take the pictures whose names have all the words in them."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=pages.CHROMIUM, args=["--no-sandbox"])
        take(browser, folder, words)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
