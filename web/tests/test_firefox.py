"""The page in Debian's Firefox: the whole lesson, and the numbers of every graph."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lesson import Lesson
from microgpt_tab import Microgpt
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Playwright, expect
from test_chapters import CHAPTERS, Guide, by_keyboard, by_mouse

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")

# Value and gradient of nodes, by graph.
GRAPHS = {
    "product": {"f": ("-10", "1"), "e": ("-1", "10"), "c": ("10", "-1"), "a": ("2", "10"), "b": ("-3", "10")},
    "neuron": {
        "o": ("0.707107", "1"),
        "n": ("0.881374", "0.5"),
        "w1": ("-3", "1"),
        "x1": ("2", "-1.5"),
        "w2": ("1", "0"),
    },
    "square": {"f": ("9", "1"), "a": ("3", "6")},
    "double": {"b": ("6", "1"), "a": ("3", "2")},
    "twice": {"f": ("-6", "1"), "a": ("-2", "-3"), "b": ("3", "-8")},
    "loss": {"L": ("-8", "1"), "d": ("4", "-2"), "f": ("-2", "4"), "a": ("2", "6"), "b": ("-3", "-4")},
    "reuse": {"e": ("64", "1"), "d": ("8", "16"), "c": ("6", "16"), "a": ("2", "64"), "b": ("3", "32")},
    "diamond": {"d": ("18", "1"), "a": ("2", "15")},
}


@pytest.fixture(scope="module")
def firefox(playwright: Playwright) -> Iterator[Browser]:
    assert FIREFOX, "Firefox was not found"
    # Debian's Firefox supports only WebDriver BiDi; the older protocol needs Playwright's own build.
    browser = playwright.firefox.launch(channel="moz-firefox", executable_path=FIREFOX)
    yield browser
    browser.close()


@pytest.fixture
def tab(firefox: Browser) -> Iterator[Page]:
    page = firefox.new_page(viewport={"width": 1280, "height": 860})
    problems: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    page.close()
    assert problems == []


@pytest.mark.parametrize("press", [by_mouse, by_keyboard])
def test_whole_lesson(tab: Page, lesson_file: Path, press: Callable[[Locator], None]) -> None:
    tab.goto(lesson_file.as_uri())
    guide = Guide(tab)
    expect(guide.title).to_be_visible()
    assert len({title for title, _ in guide.walk(press)}) == CHAPTERS


@pytest.mark.parametrize("key", GRAPHS)
def test_numbers_of_each_graph(tab: Page, lesson_file: Path, key: str) -> None:
    lesson = Lesson(tab)
    lesson.visit(lesson_file, f"show={key}&step=99")
    table = lesson.rows
    for name, numbers in GRAPHS[key].items():
        assert (table[name].data, table[name].gradient) == numbers


def test_steps_and_an_edited_value(tab: Page, lesson_file: Path) -> None:
    lesson = Lesson(tab)
    lesson.visit(lesson_file, "show=double")
    lesson.button("Run to the end").click()
    field = tab.locator(".values [data-leaf=a]")
    field.fill("5")
    field.dispatch_event("change")  # over WebDriver BiDi, Enter does not fire the change event
    expect(lesson.box("b")).to_have_attribute("aria-label", re.compile("value 10(,|$)"))
    assert lesson.gradients == {"b": 1, "a": 2}  # the walk is still at its end


def test_microgpt_trains_and_shows_numbers(tab: Page, microgpt_file: Path) -> None:
    microgpt = Microgpt(tab)
    microgpt.visit(microgpt_file)
    microgpt.use("emma olivia ava")
    microgpt.train_to(20)
    expect(microgpt.heads.nth(2)).to_contain_text("Head 3, predicting letter 4 of “emma”, looks mostly at")
    assert microgpt.choose("Head 3", 3, 1).name == "place3.attention.head2.weight.1"
    expect(microgpt.story.locator(".sentence")).to_contain_text("The chain rule adds up these contributions")
    expect(tab.locator(".invented [data-known=false]").first).to_have_text("new")
    microgpt.speed.select_option("20 steps/s")
    microgpt.go_to(microgpt.step + 5)
