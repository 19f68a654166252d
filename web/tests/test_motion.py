"""Animated steps: what moves and in which order; at rest the picture is the same as without animation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lesson import Lesson
from playwright.sync_api import Browser, BrowserContext, expect
from test_chapters import Guide, by_mouse

Visit = Callable[..., Lesson]

OBSERVE = """(layer) => {
  window.seen = [];
  const note = ({ addedNodes }) => addedNodes.forEach((token) => window.seen.push(token.textContent));
  new MutationObserver((changes) => changes.forEach(note)).observe(layer, { childList: true });
}"""
PICTURE = """(world) => {
  const copy = world.cloneNode(true);
  copy.querySelectorAll(".motion, .tag:not(.shown)").forEach((unseen) => unseen.remove());
  return copy.innerHTML.replaceAll(/tabindex="-?\\d"/g, "").replaceAll(/fill-opacity: [\\d.]+/g, "");
}"""
TIMES = "\N{MULTIPLICATION SIGN}"
MOST = 20_000  # longest playback of a walk on a busy machine, in milliseconds


@pytest.fixture
def moving(context: BrowserContext, visit: Visit) -> Visit:
    """Return `moving(fragment)`, which opens the lesson with animations and records them in `window.seen`."""

    def moving(fragment: str = "", reduced_motion: str = "no-preference") -> Lesson:
        lesson = visit(fragment)
        lesson.page.emulate_media(reduced_motion=reduced_motion)
        lesson.page.reload()
        lesson.drawn()
        lesson.graph.locator(".motion").evaluate(OBSERVE)
        return lesson

    return moving


def seen(lesson: Lesson) -> list[str]:
    """Return what has moved, in order."""
    found: list[str] = lesson.page.evaluate("window.seen")
    return found


def at_rest(lesson: Lesson) -> str:
    """Wait until nothing moves and return the picture."""
    expect(lesson.graph.locator(".motion > *")).to_have_count(0)
    lesson.page.wait_for_timeout(50)
    picture: str = lesson.world.evaluate(PICTURE)
    return picture


@pytest.mark.parametrize(
    "fragment",
    [
        *("show=product", "show=product&step=2", "show=product&step=5", "show=product&step=6", "show=square&step=3"),
        *("show=twice&step=8&write=%3D", "show=twice&step=8", "f=log(a)*b&at=a:0,b:0&step=5"),
        'show=diamond&mode=order&step=8&order=["d","b","a","c"]',
    ],
)
def test_picture_at_rest_equals_picture_without_motion(moving: Visit, fragment: str) -> None:
    lesson = moving(fragment)
    lesson.page.get_by_label("Speed").select_option("fast")
    lesson.button("Next step").click()
    expect(lesson.graph.locator(".motion > *").first).to_be_attached()
    picture = at_rest(lesson)
    assert seen(lesson)
    assert picture == at_rest(moving(lesson.fragment, "reduce"))


def test_moving_texts_of_each_step(moving: Visit) -> None:
    """Operands move into the node, then the seed; a*a passes gradient times value to each operand."""
    lesson = moving("show=square")
    lesson.page.get_by_label("Speed").select_option("fast")
    for moved in (["33"], ["33", "33"], ["11"], [f"31{TIMES} 3", f"31{TIMES} 3", "3 + 3 = 6"], []):
        lesson.page.evaluate("window.seen.length = 0")
        lesson.button("Next step").click()
        expect(lesson.graph.locator(".motion > *")).to_have_count(0, timeout=MOST)
        assert seen(lesson) == moved


def test_contributions_land_one_after_the_other(moving: Visit) -> None:
    lesson = moving("show=square&step=3")
    lesson.graph.locator(".node").first.evaluate(
        """(box) => {
          const number = [...box.querySelectorAll(".number")].at(-1);
          window.gradients = [number.textContent];
          const note = () => {
            if (window.gradients.at(-1) !== number.textContent) window.gradients.push(number.textContent);
          };
          new MutationObserver(note).observe(number, { childList: true, characterData: true, subtree: true });
        }"""
    )
    lesson.button("Next step").click()
    lesson.page.wait_for_function("() => window.gradients.length === 3", timeout=MOST)
    assert lesson.page.evaluate("window.gradients") == ["", "3", "6"]
    assert lesson.rows["a"].gradient == "6"


def test_quick_steps_finish_earlier_animations(moving: Visit) -> None:
    lesson = moving("show=product&step=5")
    for _ in range(2):
        lesson.button("Next step").click()
    assert lesson.position == 7
    expect(lesson.graph.locator(".motion > *").first).to_be_attached()
    expect(lesson.box("f")).to_have_attribute("aria-label", "f, value -10, gradient 1, this step")
    lesson.press("n", "n", "n", "n")
    assert lesson.position == 11
    assert lesson.gradients == {"a": 10, "b": 10, "c": -1, "e": 10, "f": 1}
    assert at_rest(lesson) == at_rest(moving("show=product&step=11", "reduce"))


def test_back_and_jumps_are_not_animated(moving: Visit) -> None:
    lesson = moving("show=product&step=7")
    for name in ("A step back", "To the start", "Run to the end"):
        lesson.button(name).click()
    lesson.page.evaluate("location.hash = 'show=product&step=6'")
    expect(lesson.timeline).to_have_value("6")
    lesson.show("the diamond")
    assert seen(lesson) == []
    lesson.button("Next step").click()
    assert seen(lesson)
    lesson.button("A step back").click()
    expect(lesson.graph.locator(".motion > *")).to_have_count(0)
    expect(lesson.graph.locator(".node:not(.unknown)")).to_have_count(0)


def test_selection_does_not_stop_the_animation(moving: Visit) -> None:
    lesson = moving("show=square&step=3")
    lesson.button("Next step").click()
    lesson.inspect("f")
    expect(lesson.graph.locator(".node.selected")).to_have_count(1)
    expect(lesson.graph.locator(".motion > *").first).to_be_attached()
    assert lesson.graph.locator(".motion").get_attribute("aria-hidden") == "true"


def test_playing_animates_every_step(moving: Visit) -> None:
    lesson = moving("show=double")
    lesson.page.get_by_label("Speed").select_option("fast")
    lesson.button("Play").click()
    expect(lesson.timeline).to_have_value("5", timeout=MOST)
    expect(lesson.button("Play")).to_be_attached()
    assert seen(lesson) == ["33", "33", "33", "11", f"11{TIMES} 1", f"11{TIMES} 1", "1 + 1 = 2"]


@pytest.mark.parametrize("how", ["reduced", "fastest"])
def test_no_animation_if_reduced_or_fastest(moving: Visit, how: str) -> None:
    lesson = moving("show=product", "reduce" if how == "reduced" else "no-preference")
    lesson.page.get_by_label("Speed").select_option("fastest")
    if how == "reduced":
        lesson.page.get_by_label("Speed").select_option("normal")
        for _ in range(11):
            lesson.button("Next step").click()
    else:
        lesson.button("Play").click()
    expect(lesson.timeline).to_have_value("11", timeout=MOST)
    assert seen(lesson) == []


@pytest.mark.parametrize("wait", [0, 1000], ids=["at once", "late"])
def test_edited_address_is_not_overwritten(visit: Visit, wait: int) -> None:
    """The page updates the address 200 ms after a step, unless the reader has changed it."""
    lesson = visit("show=product&step=7")
    lesson.button("Run to the end").evaluate(
        """(button, wait) => {
          button.click();
          history.replaceState(null, "", "#show=product&step=6");
          setTimeout(() => dispatchEvent(new HashChangeEvent("hashchange")), wait);
        }""",
        wait,
    )
    expect(lesson.timeline).to_have_value("6")
    lesson.page.wait_for_timeout(500)
    assert lesson.fragment == "show=product&step=6"


# The lesson

# Count the animations of a page and the changes of figures, and play animations fast.
COUNT = """(rate) => {
  window.moved = 0;
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...given) {
    const animation = animate.apply(this, given);
    animation.playbackRate = rate;
    window.moved += 1;
    return animation;
  };
}"""
OBSERVE_FIGURES = """(guide) => {
  const note = (changes) => (window.moved += changes.filter(({ target }) => target.closest?.(".plot, .code")).length);
  new MutationObserver(note).observe(guide, { subtree: true, attributes: true });
}"""
FAST = 40  # animations play this many times as fast


@pytest.fixture
def learner(browser: Browser, lesson_file: Path) -> Iterator[Callable[..., Guide]]:
    """Return `learner(reduced_motion, rate, fragment)`, which opens the lesson; `window.moved` counts what moves."""
    contexts = []

    def learner(reduced_motion: Any = "no-preference", rate: float = 1, fragment: str = "") -> Guide:
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion=reduced_motion))
        page = contexts[-1].new_page()
        page.add_init_script(f"({COUNT})({rate})")
        page.goto(f"{lesson_file.as_uri()}#{fragment}")
        guide = Guide(page)
        expect(guide.title).to_be_visible()
        guide.panel.evaluate(OBSERVE_FIGURES)
        return guide

    yield learner
    for context in contexts:
        context.close()


def test_every_screen_of_the_lesson_moves(learner: Callable[..., Guide]) -> None:
    """Each screen moves when it is entered or when its question is answered; only the first one waits."""
    guide = learner()
    counts = {}
    for _, screen in guide.walk(by_mouse):
        if screen > 1:
            guide.page.wait_for_function("() => window.moved > 0")
        counts[screen] = guide.page.evaluate("window.moved")
        guide.page.evaluate("window.moved = 0")
    assert [screen for screen, count in counts.items() if not count] == [1]


def test_lesson_is_still_if_motion_is_reduced(learner: Callable[..., Guide]) -> None:
    guide = learner("reduce")
    for _ in guide.walk(by_mouse):
        guide.page.evaluate("window.moved = 0")
        guide.page.wait_for_timeout(50)
        assert guide.page.evaluate("window.moved") == 0


def test_screens_are_the_same_without_motion(learner: Callable[..., Guide]) -> None:
    moving, still = learner(rate=FAST), learner("reduce")
    for (_, screen), _ in zip(moving.walk(by_mouse), still.walk(by_mouse), strict=True):
        pages = [Lesson(guide.page) for guide in (moving, still)]
        if screen == 10:  # wait for the sweep along the curve
            expect(moving.panel.locator(".readout")).to_have_text(still.panel.locator(".readout").inner_text())
        expect(pages[0].graph.locator(".motion > *")).to_have_count(0)
        if screen < 21:  # the search plays on
            assert at_rest(pages[0]) == at_rest(pages[1]), screen


def test_lost_contribution_falls_off(learner: Callable[..., Guide]) -> None:
    guide = learner(rate=4, fragment="chapter=order&beat=1")
    guide.page.locator(".motion").evaluate(OBSERVE)
    for name in ("d", "b", "a", "c"):
        guide.pool.get_by_role("button", name=name, exact=True).click()
    guide.page.get_by_role("button", name="Run this order").click()
    guide.page.wait_for_function("() => window.seen.includes('too late')")
    late = guide.page.evaluate("window.seen.slice(-3)")
    assert late == [f"93{TIMES} 3", "too late", "9"]  # it flies, is too late, and falls


def test_ten_steps_of_training_are_shown_one_by_one(learner: Callable[..., Guide]) -> None:
    guide = learner(fragment="chapter=training&beat=2")
    told = guide.panel.locator(".descent [role=status]").last
    told.evaluate(
        """(element) => {
          window.told = [];
          new MutationObserver(() => window.told.push(element.textContent)).observe(element, { childList: true });
        }"""
    )
    guide.page.get_by_role("button", name="Ten steps").click()
    expect(told).to_have_text("10 steps", timeout=MOST)
    assert guide.page.evaluate("window.told") == ["1 step", *(f"{count} steps" for count in range(2, 11))]
