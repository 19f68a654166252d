"""The lesson: every chapter by mouse, keyboard and touch, and the feedback to mistakes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pages
import pytest
from lesson import LAB, Lesson
from playwright.sync_api import Browser, Locator, Page, expect

CHAPTERS = 10

# The answer to each number question, by chapter and beat. Computed by hand.
ANSWERS = {
    ("What a gradient predicts", 2): "10",
    ("Forward: a graph remembers", 4): "4",
    ("Forward: a graph remembers", 6): "-8",
    ("The seed: a gradient to start from", 2): "1",
    ("The one rule", 2): "-2",
    ("The one rule", 3): "4",
    ("The one rule", 5): "-2",
    ("The one rule", 7): "6",
    ("A neuron", 4): "0.5",
    ("A neuron", 6): "1",
    ("A value used twice", 2): "2",
    ("A value used twice", 4): "1",
    ("A value used twice", 6): "-3",
    ("Trust, and check", 2): "6",
    ("Why backward?", 2): "9",
}
ORDER = ["d", "c", "b", "a"]


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
    def here(self) -> tuple[str, int]:
        """Return the chapter's title and the number of the beat, counted from 1."""
        beat = re.search(r"\d+", self.at.inner_text())
        assert beat
        return self.title.inner_text(), int(beat[0])

    def follow(self, press: Callable[[Locator], None]) -> None:
        """Answer the question of a beat, if it has one; `press` presses buttons."""
        if self.field.is_visible():
            self.field.fill(ANSWERS[self.here])
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

    def walk(self, press: Callable[[Locator], None]) -> list[tuple[str, int]]:
        """Go through the whole lesson and list the beats visited."""
        seen = []
        while True:
            here = self.here
            seen.append(here)
            self.follow(press)
            if not self.next.is_visible():
                return seen
            expect(self.next).not_to_have_text("Show me")
            press(self.next)
            assert self.here != here


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
    seen = guide.walk(press)
    assert len({title for title, _ in seen}) == CHAPTERS
    assert [here for here in seen if here in ANSWERS] == list(ANSWERS)
    expect(guide.recap).to_contain_text("Where to go from here")


def test_whole_lesson_by_touch_on_a_phone(browser: Browser, lesson_file: Path) -> None:
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce") as phone:
        page = phone.new_page()
        page.goto(lesson_file.as_uri())
        guide = Guide(page)
        expect(guide.title).to_be_visible()
        assert len({title for title, _ in guide.walk(by_touch)}) == CHAPTERS


def test_keys_step_through_the_lesson(guide: Guide) -> None:
    guide.page.keyboard.press("n")
    assert guide.here[1] == 2
    guide.page.keyboard.press("n")  # a question: the first press shows the answer, the second continues
    assert guide.here[1] == 2
    guide.page.keyboard.press("ArrowRight")
    assert guide.here[1] == 3
    guide.page.keyboard.press("b")
    assert guide.here[1] == 2


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("1", "multiplied by c"),
        ("2", "value of a"),
        ("-10", "how fast f changes"),
        ("0.01", "Divide it by 0.001"),
        ("5", "Not 5"),
        ("x", "not a number"),
    ],
)
def test_mistake_is_explained(guide: Guide, answer: str, said: str) -> None:
    guide.next.click()
    guide.field.fill(answer)
    guide.field.press("Enter")
    expect(guide.feedback).to_contain_text(said)
    expect(guide.next).to_have_text("Show me")
    guide.field.fill("10")
    guide.field.press("Enter")
    expect(guide.feedback).to_have_attribute("data-verdict", "right")


def test_wrong_order_is_explained(visit: Callable[..., Lesson]) -> None:
    guide = Guide(visit("chapter=order&beat=1").page)
    for name in ("d", "b", "a", "c"):
        guide.pool.get_by_role("button", name=name, exact=True).click()
    guide.page.get_by_role("button", name="Run this order").click()
    expect(guide.feedback.first).to_have_attribute("data-verdict", "wrong")
    expect(guide.panel).to_contain_text("c's contribution 9 to a came too late")


def test_typed_answer_is_kept_when_going_back(guide: Guide) -> None:
    guide.next.click()
    guide.field.fill("1")
    guide.field.press("Enter")
    guide.field.fill("12")
    guide.back.click()
    guide.next.click()
    expect(guide.field).to_have_value("12")
    expect(guide.next).to_have_text("Show me")  # the text was not submitted


def test_decimal_comma_is_accepted(guide: Guide) -> None:
    guide.next.click()
    guide.field.fill("10,0")
    guide.field.press("Enter")
    expect(guide.feedback).to_have_attribute("data-verdict", "right")


def test_a_shown_answer_does_not_count_as_right(guide: Guide) -> None:
    guide.next.click()
    guide.next.click()
    expect(guide.feedback).to_have_text("It is 10.")
    expect(guide.feedback).not_to_have_attribute("data-verdict", "right")


@pytest.mark.parametrize("fragment", ["chapter=nudge&beat=1", "chapter=nudge&beat=3", "chapter=seed&beat=3"])
def test_question_and_answers_fit_on_a_projector(visit: Callable[..., Lesson], fragment: str) -> None:
    lesson = visit(fragment)
    lesson.page.set_viewport_size({"width": 800, "height": 600})
    guide = Guide(lesson.page)
    asked = guide.panel.locator(".ask :is(input, button)").last.bounding_box()
    foot = guide.panel.locator(".foot").bounding_box()
    assert asked
    assert foot
    assert asked["y"] + asked["height"] <= foot["y"]


def test_an_answered_question_stays_answered(guide: Guide) -> None:
    guide.next.click()
    guide.follow(by_mouse)
    guide.next.click()
    guide.back.click()
    expect(guide.field).to_have_value("10")
    expect(guide.next).to_have_text("Continue")


def test_last_beat_completes_its_chapter(visit: Callable[..., Lesson]) -> None:
    lesson = visit("chapter=passes&beat=3")
    guide = Guide(lesson.page)
    guide.options.first.click()
    guide.next.click()
    guide.next.click()
    expect(lesson.page).to_have_url(re.compile("done=passes"))
    expect(guide.panel.locator(".chapter[data-done]")).to_have_count(1)


@pytest.mark.parametrize("fragment", ["chapter=foo", "chapter=rule&beat=99", "chapter="])
def test_invalid_chapter_link_opens_the_lesson(visit: Callable[..., Lesson], fragment: str) -> None:
    lesson = visit(fragment)
    expect(Guide(lesson.page).title).to_be_visible()
    expect(lesson.problem).to_contain_text(fragment.rpartition("=")[0].rpartition("&")[2])


def test_tangent_figure_agrees_with_tanh(visit: Callable[..., Lesson]) -> None:
    """The readout agrees with math.tanh, and moving the bias moves the graph to the same numbers."""
    lesson = visit("chapter=neuron&beat=1")
    figure = lesson.page.locator(".tangent")
    expect(figure.locator(".readout")).to_have_text("n = -1; o = -0.761594; slope 0.419974")
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
    for _ in range(2):
        guide.next.click()
        guide.next.click()
    here = guide.here
    guided.button("Lab").click()
    expect(guided.tab("Walk")).to_be_visible()
    expect(guided.program).to_have_value("e = a + b; f = e*c")
    guided.button("Lesson").click()
    assert guide.here == here


def test_address_keeps_beat_and_progress(guided: Lesson) -> None:
    guide = Guide(guided.page)
    while guide.here[0] == "What a gradient predicts":
        guide.follow(by_mouse)
        guide.next.click()
    expect(guided.page).to_have_url(re.compile("done=nudge"))
    guided.page.reload()
    expect(guide.title).to_have_text("Forward: a graph remembers")
    expect(guide.panel.locator(".chapter[data-done]")).to_have_count(1)


def test_search_follows_micrograd(visit: Callable[..., Lesson]) -> None:
    """Step through the search: it must list this graph in micrograd's order a, b, c, d, e."""
    lesson = visit("chapter=order&beat=6")
    step = lesson.button("Next line")
    while "self.grad" not in lesson.page.locator(".code [aria-current]").inner_text():
        step.click()
    expect(lesson.page.locator(".search dd").last).to_have_text("a, b, c, d, e")
    while step.get_attribute("aria-disabled") is None:
        step.click()
    expect(lesson.phase).to_have_text("Backward: step 5 of 5, done")


def test_nudges_and_backward_pass_agree(visit: Callable[..., Lesson]) -> None:
    """Nudges and backpropagation give the textbook gradients of v1*tanh(w1*x + b1) + v2*tanh(w2*x + b2) + c."""
    lesson = visit("chapter=passes&beat=2")
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
    lesson = visit("chapter=passes&beat=2")
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
    ledger = visit("chapter=order&beat=3").page.locator(".beside")
    expect(ledger.locator("li").last).to_have_text("from d, too late16")
    expect(ledger.get_by_role("heading", name="with +=")).to_be_hidden()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 640)])
def test_current_line_of_the_search_stays_visible(visit: Callable[..., Lesson], width: int, height: int) -> None:
    lesson = visit("chapter=order&beat=6")
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
