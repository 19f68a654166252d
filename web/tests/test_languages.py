"""Translations: all text is translated and fits, and the walk has the same numbers in each language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pages
import pytest
from lesson import Lesson
from playwright.sync_api import Browser, BrowserContext, Page, expect

AXE = Path(__file__).parent.parent / "node_modules/axe-core/axe.min.js"

NAMES = {"en": "English", "de": "Deutsch", "fr": "Français"}
TITLES = {
    "en": "gradwalk: how gradients are made",
    "de": "gradwalk: wie Gradienten entstehen",
    "fr": "gradwalk\u00a0: comment naissent les gradients",
}
NEXT = {"en": "Next step", "de": "Nächster Schritt", "fr": "Étape suivante"}
SENTENCES = {
    "en": "tanh scales: n gets upstream 1 times 1 - out² (0.5), making 0.5.",
    "de": "tanh skaliert: n bekommt den ankommenden Gradienten 1, multipliziert mit 1 - out² (0.5), also 0.5.",
    "fr": "tanh multiplie\u00a0: n reçoit le gradient amont 1 multiplié par 1 - out² (0.5), soit 0.5.",
}

# English words that occur in neither German nor French.
ENGLISH = re.compile(
    r"\b(the|of|is|are|with|and|it|its|by|which|this|that|you|your|step|walk|order|check|exercises|node|nodes|leaf|root"
    r"|value|values|given|wrong|right|help|colors|language|draw|open|file|copy|next|back|speed|play|zoom)\b"
)

STATES = {
    "start": "",
    "question": "chapter=pattern&beat=1",
    "choice": "chapter=neuron&beat=4",
    "plot": "chapter=check&beat=1",
    "beside": "chapter=twice&beat=1",
    "puzzle": "chapter=order&beat=1",
    "search": "chapter=sort&beat=1",
    "descent": "chapter=training&beat=2",
    "end": "chapter=now",
    "training": "show=reuse&mode=train",
    "backward": "show=neuron&step=14",
    "lost": "show=twice&step=20&write=%3D&node=a",
    "edge": "show=neuron&step=20&node=n&operand=0",
    "order-wrong": 'show=diamond&mode=order&step=8&order=["d","c","a","b"]',
    "check": "show=loss&mode=check&step=20&node=e&h=0.0001&method=forward",
    "exercises": "mode=exercises&exercise=2",
    "wrong-link": "show=nothing&f=x%2By&at=x%3A1",
}

# All visible and accessible texts, without the reader's or Python's expressions, names and formulas. The page
TEXTS = """() => {
  const root = document.querySelector("[data-gradwalk]").shadowRoot;
  const texts = [document.title];
  for (const element of root.querySelectorAll("*")) {
    if (element.closest("style, code, math, kbd, .source, .search, [lang]")) continue;
    for (const attribute of ["aria-label", "title", "aria-valuetext", "placeholder"]) {
      if (element.hasAttribute(attribute)) texts.push(element.getAttribute(attribute));
    }
    for (const child of element.childNodes) if (child.nodeType === Node.TEXT_NODE) texts.push(child.data);
  }
  return texts.filter((text) => text.trim());
}"""

# Elements that overflow the window, or whose text is clipped and cannot be scrolled to.
SPILLED = """() => {
  const root = document.querySelector("[data-gradwalk]").shadowRoot;
  const spilled = [];
  const boxes = "button, select, legend, label, h1, h2, h3, p, dt, dd, summary, li, th, td";
  for (const element of root.querySelectorAll(boxes)) {
    const { left, right, width } = element.getBoundingClientRect();
    if (!width || element.closest("svg, dialog:not([open]), .scroll")) continue;
    const isCut = element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline";
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    if (left < -1 || right > innerWidth + 1 || (isCut && !scrolls)) spilled.push(element.outerHTML.slice(0, 200));
  }
  if (document.documentElement.scrollWidth > innerWidth) spilled.push("the page");
  return spilled;
}"""

LOOK = """async () => {
  const { violations } = await axe.run();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target, failureSummary]));
}"""


@pytest.fixture
def reader(browser: Browser, lesson_file: Path) -> Iterator[Callable[..., Lesson]]:
    """Return `reader("de-AT", fragment, width=390)`, which opens the lesson in a browser with that locale."""
    contexts: list[BrowserContext] = []

    def open_(locale: str, fragment: str = "", width: int = 1280, **settings: Any) -> Lesson:
        size = {"width": width, "height": 860}
        context = browser.new_context(locale=locale, viewport=size, reduced_motion="reduce", **settings)
        contexts.append(context)
        lesson = Lesson(context.new_page())
        lesson.page.goto(f"{lesson_file.as_uri()}#{fragment}")
        expect(lesson.page.locator(".node, .part").first).to_be_attached()
        return lesson

    yield open_
    for context in contexts:
        context.close()


def with_language(code: str, fragment: str) -> str:
    return "&".join(filter(None, [f"lang={code}", fragment]))


def page_language(page: Page) -> str:
    """Return the language of the page."""
    found: str = page.evaluate("document.documentElement.lang")
    assert page.title() == TITLES[found]
    expect(page.locator("h1 ~ .tools select[aria-label] option:checked[lang]")).to_have_text(NAMES[found])
    return found


def choose(page: Page, code: str) -> None:
    """Choose a language in the menu."""
    languages = page.locator(".menu select:has(option[lang])")
    if not languages.is_visible():
        page.locator(".tools > button").last.click()
    languages.select_option(label=NAMES[code])
    expect(page.locator("html")).to_have_attribute("lang", code)


def test_walk_is_the_same_in_every_language(reader: Callable[..., Lesson]) -> None:
    told: dict[str, list[list[str]]] = {}
    for code in NAMES:
        lesson = reader("en-US", f"lang={code}&show=neuron")
        seen = []
        for _ in range(int(lesson.timeline.get_attribute("max") or 0)):
            lesson.button(NEXT[code]).click()
            numbers = [f"{row.data} {row.gradient}" for row in lesson.rows.values()]
            seen.append([*numbers, str(lesson.position)])
            if SENTENCES[code] in lesson.sentence.inner_text():
                seen[-1].append("tanh")
        told[code] = seen
    assert told["en"] == told["de"] == told["fr"]
    assert any("tanh" in step for step in told["en"])


@pytest.mark.parametrize("code", ["de", "fr"])
@pytest.mark.parametrize("state", STATES)
def test_no_text_stays_in_english(reader: Callable[..., Lesson], code: str, state: str) -> None:
    page = reader("en-US", with_language(code, STATES[state])).page
    texts: list[str] = page.evaluate(TEXTS)
    assert len(texts) > 50
    assert [text for text in texts if ENGLISH.search(text.replace("Value", "").lower())] == []


@pytest.mark.parametrize("code", ["de", "fr"])
def test_translations_fit_on_a_phone_and_pass_axe(reader: Callable[..., Lesson], code: str) -> None:
    for fragment in STATES.values():
        page = reader("en-US", with_language(code, fragment), width=390, bypass_csp=True).page
        assert page.evaluate(SPILLED) == [], fragment
        page.add_script_tag(path=AXE)
        assert page.evaluate(LOOK) == [], fragment
        page.context.close()


@pytest.mark.parametrize("code", ["de", "fr"])
def test_help_is_translated_and_fits(reader: Callable[..., Lesson], code: str) -> None:
    page = reader(code, "show=product", width=390).page
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.evaluate(SPILLED) == []


def test_language_follows_the_browser(reader: Callable[..., Lesson]) -> None:
    assert page_language(reader("de-AT").page) == "de"
    assert page_language(reader("fr-CA").page) == "fr"
    assert page_language(reader("nl-NL").page) == "en"


def test_language_precedence_is_link_choice_browser(reader: Callable[..., Lesson], lesson_file: Path) -> None:
    lesson = reader("de-DE", "lang=fr")
    assert page_language(lesson.page) == "fr"
    choose(lesson.page, "en")
    lesson.settled("chapter=back&lang=en")
    lesson.page.goto("about:blank")
    lesson.visit(lesson_file)
    assert page_language(lesson.page) == "en"
    lesson.page.goto("about:blank")
    lesson.visit(lesson_file, "lang=fr")
    assert page_language(lesson.page) == "fr"


def test_changing_language_keeps_everything_else(reader: Callable[..., Lesson]) -> None:
    lesson = reader("en-US", "show=reuse&at=a:5,b:-3&step=9&node=a&write=%3D")
    lesson.colors().select_option("dark")
    lesson.program.fill("a*b + ")
    before = lesson.rows
    for code in ("de", "fr", "en"):
        choose(lesson.page, code)
        assert page_language(lesson.page) == code
        assert lesson.position == 9
        assert [row[1:3] for row in lesson.rows.values()] == [row[1:3] for row in before.values()]
        expect(lesson.program).to_have_value("a*b + ")
        expect(lesson.page.locator(".menu select", has=lesson.page.locator("option[value=dark]"))).to_have_value("dark")
        expect(lesson.page.locator("[data-gradwalk]")).to_have_attribute("data-theme", "dark")
        lesson.settled(f"show=reuse&at=a%3A5.0%2Cb%3A-3.0&step=9&write=%3D&node=a&lang={code}")
    assert lesson.page.locator(".app").count() == 1


def test_changing_language_keeps_focus_and_keys(reader: Callable[..., Lesson]) -> None:
    lesson = reader("en-US", "show=product")
    lesson.open_menu()
    lesson.page.locator(".menu").get_by_label("Language").focus()
    lesson.press("D")
    expect(lesson.button("Nächster Schritt")).to_be_attached()
    assert lesson.focused == "Sprache"
    lesson.page.locator("h1").click()
    lesson.press("n", "n")
    assert lesson.position == 2


def test_changing_language_keeps_the_opened_file(reader: Callable[..., Lesson], tmp_path: Path) -> None:
    lesson = reader("en-US", "show=reuse&step=3")
    path = tmp_path / "walk.json"
    path.write_text(pages.walk(pages.diamond()).to_json(), encoding="utf-8")
    lesson.open_file(path)
    expect(lesson.button("Close the file")).to_be_visible()
    nodes = list(lesson.rows)
    choose(lesson.page, "de")
    assert list(lesson.rows) == nodes
    lesson.button("Datei schließen").click()
    assert lesson.position == 3
    expect(lesson.page.get_by_label("Graphen der Lektion")).to_have_value("reuse")


def test_changing_language_keeps_the_lesson_beat(reader: Callable[..., Lesson]) -> None:
    lesson = reader("en-US", "chapter=back&beat=5&ask=Why%3F&answer=2.0123456789abc")
    lesson.page.locator(".asked input").fill("because")
    lesson.page.locator(".guide").get_by_label("Your answer").fill("10")
    lesson.page.locator(".guide").get_by_role("button", name="Check", exact=True).click()
    expect(lesson.button("Next chapter")).to_be_visible()
    choose(lesson.page, "de")
    expect(lesson.page.get_by_text("6 von 22", exact=True)).to_be_visible()
    expect(lesson.page.locator(".asked input")).to_have_value("because")
    lesson.button("Nächstes Kapitel").click()  # the question has been answered
    expect(lesson.page.get_by_text("7 von 22", exact=True)).to_be_visible()
    expect(lesson.page).to_have_url(re.compile("#chapter=pattern&done=back&lang=de&"))


def test_errors_are_translated(reader: Callable[..., Lesson]) -> None:
    lesson = reader("de-DE", "show=product")
    lesson.program.fill("tanh(x*w + b))")
    lesson.button("Zeichnen").click()
    expect(lesson.problem).to_contain_text("Syntaxfehler: zu dieser „)“ fehlt die öffnende Klammer")
    choose(lesson.page, "fr")
    lesson.button("Dessiner").click()
    expect(lesson.problem).to_contain_text("erreur de syntaxe\u00a0: cette «\u00a0)\u00a0» ne ferme rien")
