"""Presentation mode, the first screen of a phone, and printing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from lesson import Lesson
from playwright.sync_api import Browser, Page, expect
from test_legibility import TEXTS

Visit = Callable[..., Lesson]

ROOMS = [(800, 600), (1280, 800), (1920, 1080)]


def opened(browser: Browser, file: Path, size: tuple[int, int], fragment: str) -> Lesson:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
    lesson = Lesson(page)
    lesson.visit(file, fragment)
    page.wait_for_timeout(100)
    return lesson


# Presenting


def test_presenting_begins_and_ends(visit: Visit) -> None:
    lesson = visit("show=product&step=2")
    header, leave = lesson.page.locator("header"), lesson.button("Leave (Escape)")
    expect(leave).to_be_hidden()
    lesson.open_menu()
    lesson.button("Present").click()
    for _ in range(2):
        expect(header).to_be_hidden()
        expect(lesson.panel).to_be_hidden()
        lesson.settled("show=product&step=2&present=1")
        lesson.press("PageDown", "PageUp", "PageDown")  # the keys that presentation clickers send
        assert lesson.position == 3
        lesson.press("PageUp")
        lesson.page.reload()  # the link contains the mode
        lesson.drawn()
        expect(leave).to_be_visible()
        lesson.press("Escape")
        expect(header).to_be_visible()
        lesson.settled("show=product&step=2")
        lesson.press("f")
    leave.click()
    expect(lesson.panel).to_be_visible()
    assert lesson.focused == "Menu"


def shows_all(lesson: Lesson) -> bool:
    """Return whether all boxes are in view."""
    boxes = lesson.graph.locator("svg.stage .node rect.hit")
    found: bool = boxes.evaluate_all(
        """(boxes) => {
          const room = boxes[0].ownerSVGElement.getBoundingClientRect();
          return boxes.map((box) => box.getBoundingClientRect()).every(({ left, right, top, bottom }) =>
            left >= room.left && right <= room.right && top >= room.top && bottom <= room.bottom);
        }"""
    )
    return found


@pytest.mark.parametrize("size", ROOMS)
@pytest.mark.parametrize("preset", ["product", "neuron", "network"])
def test_presented_graph_is_readable_in_a_room(
    browser: Browser, lesson_file: Path, size: tuple[int, int], preset: str
) -> None:
    lesson = opened(browser, lesson_file, size, f"show={preset}&step=12&present=1")
    stage = lesson.graph.locator("svg.stage").bounding_box()
    assert stage
    assert stage["width"] == size[0]
    assert stage["height"] >= 0.65 * size[1]
    sizes = {text: size_ for size_, text in lesson.page.evaluate(TEXTS)}
    assert sizes[lesson.sentence.inner_text()] >= 22
    numbers = [size_ for text, size_ in sizes.items() if re.fullmatch(r"-?\d+(\.\d+)?", text)]
    assert numbers
    assert min(numbers) >= (12 if shows_all(lesson) else 15.9)
    card = lesson.graph.locator(".node.active .card").bounding_box()
    assert card
    assert card["x"] >= 0
    assert card["x"] + card["width"] <= size[0]
    assert card["y"] + card["height"] <= stage["y"] + stage["height"]
    lesson.page.close()


def test_small_graph_is_enlarged_when_presenting(browser: Browser, lesson_file: Path) -> None:
    lesson = opened(browser, lesson_file, (1920, 1080), "show=square&present=1")
    large = lesson.view[2]
    lesson.press("Escape")
    lesson.page.wait_for_timeout(100)
    assert large > 1.3 * lesson.view[2]
    lesson.page.close()


@pytest.mark.parametrize("size", ROOMS)
@pytest.mark.parametrize(
    ("fragment", "least"), [("chapter=back", 22), ("chapter=pattern&beat=1", 22), ("chapter=neuron&beat=1", 13)]
)
def test_presented_lesson_is_readable_in_a_room(
    browser: Browser, lesson_file: Path, size: tuple[int, int], fragment: str, least: int
) -> None:
    """Text is large, but small enough to fit without scrolling, because a clicker cannot scroll."""
    lesson = opened(browser, lesson_file, size, f"{fragment}&present=1")
    words = lesson.page.locator(".guide .words")
    expect(words).to_be_visible()
    assert float(words.evaluate("(words) => parseFloat(getComputedStyle(words).fontSize)")) >= least
    assert lesson.page.locator(".guide .body").evaluate("(body) => body.scrollHeight <= body.clientHeight")
    stage = lesson.graph.locator("svg.stage").bounding_box()
    assert stage
    assert stage["width"] * stage["height"] >= 0.45 * size[0] * size[1]
    leave, on = lesson.button("Leave (Escape)").bounding_box(), lesson.page.locator(".foot button").last.bounding_box()
    assert leave
    assert on
    assert on["x"] + on["width"] <= leave["x"]
    assert lesson.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    lesson.page.close()


def test_clickers_scroll_to_hidden_content(browser: Browser, lesson_file: Path) -> None:
    lesson = opened(browser, lesson_file, (800, 600), "chapter=check&beat=6&present=1")
    figure = lesson.page.locator(".guide .figure")
    before = figure.bounding_box()
    lesson.press("PageDown")
    after = figure.bounding_box()
    assert before
    assert after
    assert after["y"] < before["y"]
    lesson.settled("chapter=check&beat=6&present=1")
    lesson.page.close()


def test_clickers_step_through_the_lesson(visit: Visit) -> None:
    lesson = visit("chapter=pattern&present=1")
    lesson.press("PageDown")
    lesson.settled("chapter=pattern&beat=1&present=1")
    lesson.press("PageUp")
    lesson.settled("chapter=pattern&present=1")
    lesson.press("Escape")
    lesson.settled("chapter=pattern")


# A phone


def test_walk_fits_the_first_screen_of_a_phone(browser: Browser, lesson_file: Path) -> None:
    for preset in ("product", "neuron", "network"):
        lesson = opened(browser, lesson_file, (390, 844), f"show={preset}&step=9")
        header = lesson.page.locator("header").bounding_box()
        stage = lesson.graph.locator("svg.stage").bounding_box()
        controls = lesson.page.locator(".transport").bounding_box()
        assert header
        assert stage
        assert controls
        assert header["height"] <= 180
        assert stage["height"] >= 360
        assert stage["y"] + stage["height"] <= controls["y"] + 1
        assert controls["y"] + controls["height"] <= 844
        lesson.page.close()


# Return whether two rectangles overlap.
OVER = """([one, other]) => {
  const [a, b] = [one, other].map((element) => element.getBoundingClientRect());
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}"""


@pytest.mark.parametrize("preset", ["neuron", "network", "softmax"])
def test_current_node_is_not_covered_on_a_phone(browser: Browser, lesson_file: Path, preset: str) -> None:
    lesson = opened(browser, lesson_file, (390, 844), f"show={preset}")
    minimap, zoom = lesson.graph.locator(".minimap"), lesson.page.locator(".zoom")
    for _ in range(int(lesson.timeline.get_attribute("max") or 0)):
        lesson.button("Next step").click()
        card = lesson.graph.locator(".node.active .card").element_handle()
        for other in (minimap, zoom):
            assert not lesson.page.evaluate(OVER, [card, other.element_handle()]), lesson.sentence.inner_text()
    lesson.page.set_viewport_size({"width": 844, "height": 390})
    expect(minimap).to_be_hidden()
    lesson.page.close()


# Printing


def printed(lesson: Lesson, by: Literal["menu", "key"]) -> None:
    """Print by menu or key, with the browser's print function replaced."""
    lesson.page.evaluate("() => { window.prints = 0; window.print = () => { window.prints += 1; }; }")
    if by == "menu":
        lesson.open_menu()
        lesson.button("Print").click()
    else:
        lesson.press("Control+p")
    lesson.page.wait_for_function("() => window.prints === 1")
    lesson.page.emulate_media(media="print", color_scheme="dark")


def check_fits(page: Page, width: int) -> None:
    """Check that nothing is wider than the paper or clipped."""
    page.set_viewport_size({"width": width, "height": 1000})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    cut = """(all) => all.filter(({ scrollWidth, clientWidth }) => clientWidth && scrollWidth > clientWidth + 1)
      .map((element) => element.outerHTML.slice(0, 80))"""
    assert page.locator(".paper :not(svg *)").evaluate_all(cut) == []


PAPER = [703, 725]  # printable width of A4 and Letter in pixels


@pytest.mark.parametrize("by", ["menu", "key"])
def test_printed_lab(visit: Visit, by: Literal["menu", "key"]) -> None:
    lesson = visit("show=neuron&step=14&theme=dark&note=Read&ask=How+much%3F&answer=2.0123456789abc")
    sentence = lesson.sentence.inner_text()
    printed(lesson, by)
    paper = lesson.page.locator(".paper")
    expect(lesson.page.locator(".app")).to_be_hidden()
    expect(paper.locator("svg.stage .node")).to_have_count(10)
    for text in ("a neuron with tanh", "Read", "How much?", sentence):
        expect(paper).to_contain_text(text)
    expect(paper.locator("tbody tr")).to_have_count(10)
    assert paper.locator("button, input, [tabindex], [role=button]").count() == 0
    colors = "(paper) => [getComputedStyle(paper).color, getComputedStyle(paper.getRootNode().host).backgroundColor]"
    assert paper.evaluate(colors) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    for width in PAPER:
        check_fits(lesson.page, width)
    assert pages_in(lesson.page) == 1
    lesson.page.emulate_media(media="screen")
    expect(lesson.page.locator(".app")).to_be_visible()
    expect(paper.locator("*")).to_have_count(0)  # the afterprint event


def pages_in(page: Page) -> int:
    return page.pdf(format="A4").count(b"/Type /Page\n")


@pytest.mark.parametrize(("chapter", "passages"), [("back", 4), ("twice", 1), ("order", 2), ("training", 4)])
def test_printed_chapter(guided: Lesson, chapter: str, passages: int) -> None:
    """A printed chapter has its introduction and its questions."""
    guided.page.evaluate("(hash) => { location.hash = hash; }", f"chapter={chapter}&beat=1")
    expect(guided.page.locator(".guide h2[data-again]")).to_be_visible()
    printed(guided, "menu")
    paper = guided.page.locator(".paper")
    assert paper.locator(".scene > div > p:not(.line)").count() == passages
    assert paper.locator("svg.stage").count() >= 1
    assert paper.locator(".line, .options").count() >= 1
    assert "Right" not in paper.inner_text()
    questions = paper.locator("p.line, ul.options").count() - 1  # the first line is for the student's name
    assert paper.locator(".answers li").count() == questions
    for width in PAPER:
        check_fits(guided.page, width)
    assert 1 <= pages_in(guided.page) <= 5
    assert guided.page.locator(".unseen").count() == 0


def test_handout_hides_the_gradients_in_question(guided: Lesson) -> None:
    guided.page.evaluate("() => { location.hash = 'chapter=neuron&beat=4'; }")
    expect(guided.page.locator(".guide .option").first).to_be_visible()
    printed(guided, "menu")
    pictures = guided.page.locator(".paper svg.stage")
    assert pictures.count() == 1
    texts = pictures.locator(".node text").all_text_contents()
    shown = [after for before, after in itertools.pairwise(texts) if before == "grad" and after]
    assert shown == ["0.5"] * 5 + ["1"]  # 1 is the root's; the gradient of w1, also 1, is in question
    answers = guided.page.locator(".paper .answers")
    assert answers.locator("li").all_inner_texts() == ["1", "Its input x2 is 0"]
    assert answers.evaluate("(part) => getComputedStyle(part).breakBefore") == "page"


def test_printing_from_the_browser_menu(visit: Visit) -> None:
    lesson = visit("show=product&step=3")
    assert pages_in(lesson.page) == 1
    lesson.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    expect(lesson.page.locator(".paper tbody tr")).to_have_count(5)
    lesson.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    expect(lesson.page.locator(".paper *")).to_have_count(0)
