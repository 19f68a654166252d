"""What the tests of the page share: one browser, the page as a file, and tabs in which nothing may go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pages
import pytest
from lesson import LAB, Lesson
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Playwright, expect, sync_playwright

LOCAL = ("file:", "blob:", "data:")
PATIENCE = 5_000  # milliseconds, on a busy machine

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    assert pages.CHROMIUM, "there is no Chromium on this machine"
    browser = playwright.chromium.launch(executable_path=pages.CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def lesson_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lesson, as a reader opens it from disk."""
    return pages.lesson(tmp_path_factory.mktemp("lesson"))


@pytest.fixture(scope="session")
def microgpt_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Microgpt, as a visitor opens it from disk."""
    return pages.microgpt(tmp_path_factory.mktemp("microgpt"))


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A reader of their own. Nothing may be thrown, complained of on the console, or asked of the network."""
    context = browser.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    context.set_default_navigation_timeout(3 * PATIENCE)  # long links are worked out before the page is there
    problems: list[str] = []
    asked: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(message.text)

    context.on("console", hear)
    context.on("weberror", lambda error: problems.append(str(error.error)))
    context.on("request", lambda request: asked.append(request.url))
    context.route(lambda url: not url.startswith(LOCAL), lambda route: route.abort())
    yield context
    context.close()
    assert problems == []
    assert [url for url in asked if not url.startswith(LOCAL)] == []


@pytest.fixture
def visit(context: BrowserContext, lesson_file: Path) -> Callable[..., Lesson]:
    """Open the lab, or another page, in a tab: `visit(fragment, path)`."""

    def visit(fragment: str = "", path: Path = lesson_file) -> Lesson:
        lesson = Lesson(context.new_page())
        lesson.visit(path, fragment or (LAB if path == lesson_file else ""))
        return lesson

    return visit


@pytest.fixture
def lesson(visit: Callable[..., Lesson]) -> Lesson:
    """The lab as it begins."""
    return visit()


@pytest.fixture
def guided(context: BrowserContext, lesson_file: Path) -> Lesson:
    """The lesson, as one opens it."""
    guided = Lesson(context.new_page())
    guided.visit(lesson_file)
    return guided
