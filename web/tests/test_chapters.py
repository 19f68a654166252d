"""The lesson: every chapter by mouse, keyboard and touch, and the feedback to mistakes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pages
import pytest
from lesson import LAB, Lesson
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

CHAPTERS = 7
SCREENS = 22

# The answer to each number question, by the number of the screen. Computed by hand.
ANSWERS = {3: "10", 6: "10", 8: "6", 12: "1", 14: "6"}
ORDER = ["d", "c", "b", "a"]

# The further chapters: their keys, and the answers to their number questions, by the number of the screen.
FURTHER = {
    "nudge": {},
    "saturation": {2: "0.5"},
    "paths": {1: "-3"},
    "check": {1: "6"},
    "training": {},
    "passes": {1: "9"},
    "own": {},
}
WINDOWS = [(1280, 800), (1366, 650), (390, 844), (800, 600)]

# Whether all of an element is in the window and nothing covers it: its corners and its middle.
UNCOVERED = """(element) => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const points = [[left + 2, top + 2], [right - 2, bottom - 2], [(left + right) / 2, (top + bottom) / 2]];
  return points.every(([x, y]) => {
    const found = element.getRootNode().elementFromPoint(x, y);
    return found !== null && (element.contains(found) || found.contains(element));
  });
}"""


class Guide:
    """The lesson's panel as a learner uses it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.panel = page.locator(".guide")
        self.title = self.panel.locator("h2").first
        self.at = self.panel.locator(".at")
        self.next = self.panel.locator(".foot button").last
        self.back = self.panel.locator(".foot button").first
        self.field = self.panel.get_by_label("Your answer")
        self.feedback = self.panel.locator(".feedback")
        self.options = self.panel.locator(".option")
        self.recap = self.panel.locator(".recap")
        self.pool = page.locator(".pool")

    @property
    def screen(self) -> int:
        """Return the number of the screen, counted from 1."""
        number = re.search(r"\d+", self.at.inner_text())
        assert number
        return int(number[0])

    def follow(self, press: Callable[[Locator], None], answers: Mapping[int, str] = ANSWERS) -> None:
        """Answer the question of a screen, if it has one; `press` presses buttons."""
        if self.field.is_visible():
            self.field.fill(answers[self.screen])
            press(self.panel.get_by_role("button", name="Check", exact=True))
        elif self.options.count():
            for option in self.options.all():
                press(option)
                if option.get_attribute("data-verdict") == "right":
                    break
                expect(self.feedback).to_have_attribute("data-verdict", "wrong")
        elif self.pool.is_visible():
            for name in ORDER:
                press(self.pool.get_by_role("button", name=name, exact=True))
            press(self.page.get_by_role("button", name="Run this order"))
        if self.feedback.count() and self.feedback.first.is_visible():
            expect(self.feedback.first).to_have_attribute("data-verdict", "right")

    def walk(self, press: Callable[[Locator], None], answers: Mapping[int, str] = ANSWERS) -> Iterator[tuple[str, int]]:
        """Go through the lesson or a further chapter; yield the title and number of each answered screen."""
        while True:
            here = self.screen
            self.follow(press, answers)
            yield self.title.inner_text(), here
            if not self.next.is_visible():
                return
            expect(self.next).not_to_have_text("Show me")
            press(self.next)
            assert self.screen == here + 1

    @property
    def told(self) -> list[Locator]:
        """Return the text of the screen, and the verdict and the sentence to keep if they are shown."""
        shown = [self.panel.locator(".words"), self.feedback, self.recap]
        return [part for part in shown if part.count() and part.inner_text()]


@pytest.fixture
def guide(guided: Lesson) -> Guide:
    return Guide(guided.page)


def by_mouse(target: Locator) -> None:
    target.click()


def by_keyboard(target: Locator) -> None:
    target.focus()
    target.press("Enter")


def by_touch(target: Locator) -> None:
    target.tap()


@pytest.mark.parametrize("press", [by_mouse, by_keyboard])
def test_whole_lesson(guide: Guide, press: Callable[[Locator], None]) -> None:
    expect(guide.panel).to_contain_text("The whole lesson: 15 min")
    seen = list(guide.walk(press))
    assert [screen for _, screen in seen] == list(range(1, SCREENS + 1))
    assert len({title for title, _ in seen}) == CHAPTERS
    expect(guide.panel.locator(".chapter[data-done]")).to_have_count(CHAPTERS)
    expect(guide.panel.get_by_role("heading", name="Go further")).to_be_visible()
    expect(guide.panel.locator(".further")).to_have_count(len(FURTHER))


def test_whole_lesson_by_touch_on_a_phone(browser: Browser, lesson_file: Path) -> None:
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce") as phone:
        page = phone.new_page()
        page.goto(lesson_file.as_uri())
        guide = Guide(page)
        expect(guide.title).to_be_visible()
        assert len({title for title, _ in guide.walk(by_touch)}) == CHAPTERS


@pytest.mark.parametrize("key", FURTHER)
def test_further_chapter(visit: Callable[..., Lesson], key: str) -> None:
    guide = Guide(visit(f"chapter={key}").page)
    seen = list(guide.walk(by_mouse, FURTHER[key]))
    assert len({title for title, _ in seen}) == 1
    expect(guide.recap).not_to_be_empty()
    others = guide.panel.locator(".further")
    expect(others).to_have_count(len(FURTHER) - 1)
    others.first.click()
    expect(guide.at).to_have_text(re.compile("^1 of"))
    assert guide.title.inner_text() != seen[0][0]


@pytest.mark.parametrize(("width", "height"), WINDOWS)
def test_verdict_and_sentence_to_keep_are_in_the_window(guide: Guide, width: int, height: int) -> None:
    guide.page.set_viewport_size({"width": width, "height": height})
    kept = 0
    for _, screen in guide.walk(by_mouse):
        for part in guide.told[1:]:
            assert part.evaluate(UNCOVERED), (screen, part)
        assert guide.panel.locator(".words").evaluate(UNCOVERED) or guide.feedback.is_visible(), screen
        expect(guide.at).to_be_in_viewport(ratio=1)
        kept += guide.recap.is_visible()
    assert kept == CHAPTERS


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_text_on_the_stage_is_large(guide: Guide, width: int, height: int) -> None:
    guide.page.set_viewport_size({"width": width, "height": height})
    for _, screen in guide.walk(by_mouse):
        guide.page.wait_for_timeout(50)
        sizes = guide.page.locator("svg.stage .node text").evaluate_all(
            "(texts) => texts.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
        )
        assert min(sizes) >= 14, screen


def test_each_chapter_has_one_orientation(guide: Guide) -> None:
    ends = """([one, other]) => {
      const [a, b] = [one, other].map((box) => box.getBoundingClientRect());
      return Math.abs(a.x - b.x) > Math.abs(a.y - b.y);
    }"""
    found: dict[str, set[bool]] = {}
    guide.page.set_viewport_size({"width": 800, "height": 600})
    guide.page.reload()  # the first screen may not have been laid out again after the change of size
    for title, _ in guide.walk(by_mouse):
        boxes = guide.page.locator("svg.stage .node rect.hit")
        pair = [boxes.first.element_handle(), boxes.last.element_handle()]
        found.setdefault(title, set()).add(guide.page.evaluate(ends, pair))
    assert {len(orientations) for orientations in found.values()} == {1}


def test_keys_step_through_the_lesson(guide: Guide) -> None:
    guide.page.keyboard.press("n")
    assert guide.screen == 2
    guide.page.keyboard.press("PageDown")
    assert guide.screen == 3
    guide.page.keyboard.press("n")  # a question: the first press shows the answer, the second continues
    assert guide.screen == 3
    guide.page.keyboard.press("ArrowRight")
    assert guide.screen == 4
    guide.page.keyboard.press("b")
    assert guide.screen == 3


@pytest.fixture
def question(visit: Callable[..., Lesson]) -> Guide:
    """Open the first question, which asks for 10."""
    return Guide(visit("chapter=back&beat=2").page)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("1", "multiplied by c"),
        ("2", "value of a"),
        ("-10", "How fast does it change?"),
        ("0.1", "How many times faster is that?"),
        ("5", "Not 5"),
        ("x", "not a number"),
    ],
)
def test_mistake_is_explained(question: Guide, answer: str, said: str) -> None:
    question.field.fill(answer)
    question.field.press("Enter")
    expect(question.feedback).to_contain_text(said)
    expect(question.next).to_have_text("Show me")
    question.field.fill("10")
    question.field.press("Enter")
    expect(question.feedback).to_have_attribute("data-verdict", "right")


def test_wrong_order_is_explained(visit: Callable[..., Lesson]) -> None:
    guide = Guide(visit("chapter=order&beat=1").page)
    for name in ("d", "b", "a", "c"):
        guide.pool.get_by_role("button", name=name, exact=True).click()
    guide.page.get_by_role("button", name="Run this order").click()
    expect(guide.feedback.first).to_have_attribute("data-verdict", "wrong")
    expect(guide.panel).to_contain_text("c's contribution 9 to a came too late")


def test_typed_answer_is_kept_when_going_back(question: Guide) -> None:
    question.field.fill("1")
    question.field.press("Enter")
    question.field.fill("12")
    question.back.click()
    question.next.click()
    expect(question.field).to_have_value("12")
    expect(question.next).to_have_text("Show me")  # the text was not submitted


def test_decimal_comma_is_accepted(question: Guide) -> None:
    question.field.fill("10,0")
    question.field.press("Enter")
    expect(question.feedback).to_have_attribute("data-verdict", "right")


def test_a_shown_answer_does_not_count_as_right(question: Guide) -> None:
    question.next.click()
    expect(question.feedback).to_contain_text("It is 10. a rose by 0.01")
    expect(question.feedback).not_to_have_attribute("data-verdict", "right")


def test_an_answer_moves_the_stage_on(visit: Callable[..., Lesson]) -> None:
    lesson = visit("chapter=back&beat=5")
    assert "gradient" not in (lesson.box("b").get_attribute("aria-label") or "")
    Guide(lesson.page).follow(by_mouse)
    assert gradient_in(lesson.box("b")) == 10
    assert gradient_in(lesson.box("a")) == 10


def test_numbers_of_the_nodes_follow_the_nudge(visit: Callable[..., Lesson]) -> None:
    lesson = visit("chapter=nudge")
    figure = lesson.page.locator(".nudge")
    for nudge in (0.25, -1.0):
        figure.locator("input").evaluate(
            "(slider, n) => { slider.value = n; slider.dispatchEvent(new Event('input')); }", str(nudge)
        )
        assert data_in(lesson.box("a")) == 2 + nudge
        assert data_in(lesson.box("f")) == -10 + 10 * nudge
        expect(figure.locator(".quotient")).to_have_text("change of f / change of a = 10")


@pytest.mark.parametrize("fragment", ["chapter=back&beat=2", "chapter=neuron&beat=4", "chapter=sort"])
def test_question_and_answers_fit_on_a_projector(visit: Callable[..., Lesson], fragment: str) -> None:
    lesson = visit(fragment)
    lesson.page.set_viewport_size({"width": 800, "height": 600})
    guide = Guide(lesson.page)
    asked = guide.panel.locator(".ask :is(input, button)").last.bounding_box()
    foot = guide.panel.locator(".foot").bounding_box()
    assert asked
    assert foot
    assert asked["y"] + asked["height"] <= foot["y"]


def test_an_answered_question_stays_answered(question: Guide) -> None:
    question.follow(by_mouse)
    question.next.click()
    question.back.click()
    expect(question.field).to_have_value("10")
    expect(question.next).to_have_text("Continue")


def test_last_screen_completes_its_chapter(visit: Callable[..., Lesson]) -> None:
    lesson = visit("chapter=passes&beat=2")
    guide = Guide(lesson.page)
    guide.options.first.click()
    guide.next.click()
    expect(lesson.page).to_have_url(re.compile("done=passes"))
    guide.panel.locator(".further").first.click()
    assert guide.panel.locator(".chapter[data-done]").count() == 0


@pytest.mark.parametrize("fragment", ["chapter=foo", "chapter=neuron&beat=99", "chapter="])
def test_invalid_chapter_link_opens_the_lesson(visit: Callable[..., Lesson], fragment: str) -> None:
    lesson = visit(fragment)
    expect(Guide(lesson.page).title).to_be_visible()
    expect(lesson.problem).to_contain_text(fragment.rpartition("=")[0].rpartition("&")[2])


# Progress


def test_lesson_offers_to_continue(context: BrowserContext, lesson_file: Path, question: Guide) -> None:
    question.follow(by_mouse)
    for _ in range(2):
        question.next.click()
    question.page.close()
    again = context.new_page()
    again.goto(lesson_file.as_uri())
    guide = Guide(again)
    assert guide.screen == 1
    resume = guide.panel.get_by_role("button", name="Continue at \N{LEFT DOUBLE QUOTATION MARK}Forward, then back")
    resume.click()
    assert guide.screen == 5
    for _ in range(2):
        guide.back.click()
    expect(guide.field).to_have_value("10")  # the answer of the earlier visit
    expect(guide.next).to_have_text("Continue")


def test_completed_chapters_are_kept(context: BrowserContext, lesson_file: Path, visit: Callable[..., Lesson]) -> None:
    guide = Guide(visit("chapter=pattern&beat=1").page)
    guide.follow(by_mouse)
    guide.next.click()
    guide.page.close()
    again = context.new_page()
    again.goto(lesson_file.as_uri())
    expect(Guide(again).panel.locator(".chapter[data-done]")).to_have_count(1)


def test_forgotten_progress_is_not_offered(
    context: BrowserContext, lesson_file: Path, question: Guide, visit: Callable[..., Lesson]
) -> None:
    question.follow(by_mouse)
    question.page.close()
    visit("mode=exercises").button("Forget my progress").click()
    again = context.new_page()
    again.goto(lesson_file.as_uri())
    expect(Guide(again).title).to_be_visible()
    expect(again.locator(".resume")).to_be_hidden()
    again.goto("about:blank")
    again.goto(f"{lesson_file.as_uri()}#chapter=back&beat=2")
    expect(Guide(again).next).to_have_text("Show me")


def test_nothing_to_continue_at_first(guide: Guide) -> None:
    expect(guide.panel.locator(".resume")).to_be_hidden()


# Figures


def test_tangent_figure_agrees_with_tanh(visit: Callable[..., Lesson]) -> None:
    """The readout agrees with math.tanh, and moving the bias moves the graph to the same numbers."""
    lesson = visit("chapter=neuron&beat=1")
    figure = lesson.page.locator(".tangent")
    expect(figure.locator(".readout")).to_have_text("n = 0.881374; o = 0.707107; slope 0.5")
    for n in (0.88, -2.0, 0.0, 3.5):
        figure.locator("input").evaluate(
            "(slider, n) => { slider.value = n; slider.dispatchEvent(new Event('input')); }", str(n)
        )
        out = math.tanh(n)
        numbers = [float(found) for found in re.findall(r"-?\d[\d.e-]*", figure.locator(".readout").inner_text())]
        assert numbers == pytest.approx([n, out, 1 - out * out], rel=1e-5)
        for name, number in {"b": n + 6, "n": n, "o": out}.items():
            assert data_in(lesson.box(name)) == pytest.approx(number, rel=1e-5)


def test_lab_has_the_same_graph_and_returns(guided: Lesson) -> None:
    guide = Guide(guided.page)
    guide.next.click()
    guided.button("Lab").click()
    expect(guided.tab("Walk")).to_be_visible()
    expect(guided.program).to_have_value("e = a + b; f = e*c")
    guided.button("Lesson").click()
    assert guide.screen == 2


@pytest.mark.parametrize(("screen", "tab"), [(0, "Walk"), (1, "Train")])
def test_own_data_open_the_lab(visit: Callable[..., Lesson], screen: int, tab: str) -> None:
    lesson = visit(f"chapter=own&beat={screen}")
    lesson.button("Open it in the lab").click()
    expect(lesson.tab(tab)).to_have_attribute("aria-selected", "true")
    lesson.button("Lesson").click()
    expect(Guide(lesson.page).title).to_have_text("Your own data")


def test_address_keeps_beat_and_progress(guided: Lesson) -> None:
    guide = Guide(guided.page)
    while guide.title.inner_text() == "Forward, then back":
        guide.follow(by_mouse)
        guide.next.click()
    expect(guided.page).to_have_url(re.compile("done=back"))
    guided.page.reload()
    expect(guide.title).to_have_text("The pattern")
    expect(guide.panel.locator(".chapter[data-done]")).to_have_count(1)


def test_search_follows_micrograd(visit: Callable[..., Lesson]) -> None:
    """Step through the search: it must list this graph in micrograd's order a, b, c, d."""
    lesson = visit("chapter=sort&beat=1")
    step = lesson.button("Next line")
    while "self.grad" not in lesson.page.locator(".code [aria-current]").inner_text():
        step.click()
    expect(lesson.page.locator(".search .readout")).to_have_text("topo: a, b, c, d")
    while step.get_attribute("aria-disabled") is None:
        step.click()
    assert gradient_in(lesson.box("a")) == 15


def test_nudges_and_backward_pass_agree(visit: Callable[..., Lesson]) -> None:
    """Nudges and backpropagation give the textbook gradients of v1*tanh(w1*x + b1) + v2*tanh(w2*x + b2) + c."""
    lesson = visit("chapter=passes&beat=1")
    lesson.button("Nudge them all").click()
    expect(lesson.page.locator(".cost").first).to_contain_text("9 runs", timeout=10_000)
    lesson.button("Run backward").click()
    expect(lesson.page.locator(".cost").last).to_contain_text("1 backward pass")
    h1, h2, v1, v2 = math.tanh(0.9), math.tanh(-0.4), 1.2, -0.7
    s1, s2 = v1 * (1 - h1 * h1), v2 * (1 - h2 * h2)
    right = {"w1": s1, "x": 0.8 * s1 - 0.6 * s2, "b1": s1, "w2": s2, "b2": s2, "v1": h1, "v2": h2, "c": 1}
    rows = lesson.page.locator(".count tbody tr").all()
    for row in rows:
        numbers = [float(cell) for cell in row.locator("td").all_inner_texts()]
        assert numbers == pytest.approx([right[row.locator("th").inner_text()]] * 2, abs=6e-5)
    assert len(rows) == len(right)


def test_each_method_keeps_the_results_of_the_other(visit: Callable[..., Lesson]) -> None:
    """The backward pass completes interrupted nudges; nudging again clears only its own column."""
    lesson = visit("chapter=passes&beat=1")
    nudges, backward = lesson.page.locator(".cost").all()
    columns = [lesson.page.locator(f".count td:nth-of-type({i})") for i in (1, 2)]
    lesson.button("Nudge them all").click()
    expect(nudges).to_contain_text("2 runs")
    lesson.button("Run backward").click()
    expect(nudges).to_contain_text("9 runs")
    for column in columns:
        expect(column.filter(has_text=re.compile(r"\d"))).to_have_count(8)
    lesson.button("Nudge them all").click()
    expect(columns[0].filter(has_text=re.compile(r"\d"))).not_to_have_count(8)
    expect(columns[1].filter(has_text=re.compile(r"\d"))).to_have_count(8)
    expect(backward).to_contain_text("1 backward pass")


def test_late_contribution_is_reported_and_not_added(visit: Callable[..., Lesson]) -> None:
    ledger = visit("chapter=paths&beat=3").page.locator(".beside")
    expect(ledger.locator("li").last).to_have_text("from d, too late16")
    expect(ledger.get_by_role("heading", name="with +=")).to_be_hidden()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 640)])
def test_current_line_of_the_search_stays_visible(visit: Callable[..., Lesson], width: int, height: int) -> None:
    lesson = visit("chapter=sort&beat=1")
    lesson.page.set_viewport_size({"width": width, "height": height})
    step = lesson.button("Next line")
    while step.get_attribute("aria-disabled") is None:
        step.click()
        line = lesson.page.locator(".code [aria-current]").bounding_box()
        foot = lesson.page.locator(".guide .foot").bounding_box()
        assert line
        assert foot
        assert line["y"] + line["height"] <= foot["y"]
        expect(step).to_be_in_viewport(ratio=1)


def data_in(box: Locator) -> float:
    """Return the value in a box's accessible name."""
    told = re.search(r"value (-?[\d.e-]+)", box.get_attribute("aria-label") or "")
    assert told
    return float(told[1])


def gradient_in(box: Locator) -> float:
    """Return the gradient in a box's accessible name."""
    told = re.search(r"gradient (-?[\d.e-]+)", box.get_attribute("aria-label") or "")
    assert told
    return float(told[1])


def test_stage_shows_accumulated_gradient_without_zero_grad(visit: Callable[..., Lesson]) -> None:
    lesson = visit("chapter=training&beat=6")
    w, b, stored = -0.6, 0.2, 0.0

    def gradient() -> float:
        """Return d(o - y)**2/dn, where o = tanh(n)."""
        o = math.tanh(1.5 * w + b)
        return 2 * (o - 0.2) * (1 - o * o)

    for _ in range(3):
        lesson.button("Step").click()
        stored += gradient()
        w, b = w - 0.3 * 1.5 * stored, b - 0.3 * stored
    assert gradient_in(lesson.box("w")) == pytest.approx(1.5 * (stored + gradient()), rel=1e-5)
    lesson.button("Step").click()
    told = lesson.page.locator(".moves li").first.inner_text()
    assert f"{1.5 * stored:.4f}"[:5] in told
    guide = Guide(lesson.page)
    guide.back.click()  # a beat with its own stage
    assert gradient_in(lesson.box("w")) == pytest.approx(-1.53169, rel=1e-5)


def test_own_programs_have_no_lesson(visit: Callable[..., Lesson], tmp_path: Path) -> None:
    lesson = visit("", pages.program(tmp_path))
    expect(lesson.button("Lesson")).to_be_hidden()


def test_old_links_open_the_lab(visit: Callable[..., Lesson]) -> None:
    expect(visit(LAB).tab("Walk")).to_be_visible()
