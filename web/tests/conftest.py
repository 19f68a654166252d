"""Fixtures for the page's tests: one browser, the page as a file, and tabs whose errors fail the test."""

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
    assert pages.CHROMIUM, "Chromium was not found"
    browser = playwright.chromium.launch(executable_path=pages.CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def lesson_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the lesson to a file."""
    return pages.lesson(tmp_path_factory.mktemp("lesson"))


@pytest.fixture(scope="session")
def microgpt_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the microgpt page to a file."""
    return pages.microgpt(tmp_path_factory.mktemp("microgpt"))


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Yield a browser context; fail on an exception, a console error or warning, or a network request."""
    context = browser.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    context.set_default_navigation_timeout(3 * PATIENCE)  # the page computes long programs before it loads
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
    """Return `visit(fragment, path)`, which opens the lab or another page in a tab."""

    def visit(fragment: str = "", path: Path = lesson_file) -> Lesson:
        lesson = Lesson(context.new_page())
        lesson.visit(path, fragment or (LAB if path == lesson_file else ""))
        return lesson

    return visit


@pytest.fixture
def lesson(visit: Callable[..., Lesson]) -> Lesson:
    """Open the lab in its initial state."""
    return visit()


@pytest.fixture
def guided(context: BrowserContext, lesson_file: Path) -> Lesson:
    """Open the lesson in its initial state."""
    guided = Lesson(context.new_page())
    guided.visit(lesson_file)
    return guided
