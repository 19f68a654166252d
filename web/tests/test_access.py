"""Accessibility: keyboard, screen readers, both themes, forced colors, and reduced motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pages
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

AXE = Path(__file__).parent.parent / "node_modules/axe-core/axe.min.js"

# axe checks what is drawn now, so wait two frames for running animations to end.
LOOK = """async (options) => {
  await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
  const { violations } = await axe.run(options ?? {});
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target, failureSummary]));
}"""

# Return the focused element's name and how its focus is shown. The page is in a shadow root.
FOCUS = """() => {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  if (!focused || focused === document.body || focused.shadowRoot) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(focused);
  const ring = focused.closest("g")?.querySelector(".outline");
  const isRinged = ring !== null && ring !== undefined && getComputedStyle(ring).display !== "none";
  const box = focused.getBoundingClientRect();
  return {
    name: focused.ariaLabel || focused.labels?.[0]?.textContent || focused.textContent.trim() || focused.value,
    isShown: isRinged || (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2),
    isInside: box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight,
  };
}"""

MOONS = "f=h1+%3D+tanh(a*x1+%2B+b*x2)%3B+o+%3D+tanh(c*h1)%3B+L+%3D+(o+-+y)**2&at=a:1,b:1,c:1,x1:0.5,x2:1,y:1"

STATES = {
    "lesson": ("lesson", ""),
    "lesson-number": ("lesson", "chapter=pattern&beat=1"),
    "lesson-choice": ("lesson", "chapter=neuron&beat=4"),
    "lesson-plot": ("lesson", "chapter=check&beat=1"),
    "lesson-beside": ("lesson", "chapter=twice&beat=1"),
    "lesson-puzzle": ("lesson", "chapter=order&beat=1"),
    "lesson-search": ("lesson", "chapter=sort&beat=1"),
    "lesson-descent": ("lesson", "chapter=training&beat=2"),
    "lesson-end": ("lesson", "chapter=now"),
    "start": ("lesson", "show=product"),
    "forward": ("lesson", "show=neuron&step=6"),
    "backward": ("lesson", "show=neuron&step=15"),
    "end": ("lesson", "show=softmax&step=99"),
    "node": ("lesson", "show=reuse&step=11&node=a"),
    "edge": ("lesson", "show=neuron&step=21&node=n&operand=0"),
    "lost": ("lesson", "show=twice&step=21&write=%3D&node=a"),
    "not-finite": ("lesson", "f=log(a)*b&at=a:0,b:0&step=21"),
    "order": ("lesson", 'show=diamond&mode=order&step=4&order=["d","c"]'),
    "order-right": ("lesson", 'show=diamond&mode=order&step=9&order=["d","c","b","a"]'),
    "order-wrong": ("lesson", 'show=diamond&mode=order&step=9&order=["d","c","a","b"]'),
    "check": ("lesson", "show=loss&mode=check&step=21&node=e&h=0.0001&method=forward"),
    "check-differs": ("lesson", "f=abs(a)&at=a:0&mode=check&node=a"),
    "train": ("lesson", "show=network&mode=train&zero=off&step=99"),
    "train-points": ("lesson", f"{MOONS}&data=moons&rate=0.5&mode=train&step=99"),
    "exercises": ("lesson", "mode=exercises&exercise=2"),
    "question": ("lesson", "show=neuron&step=3&note=Look&ask=Why&answer=2.0123456789abc"),
    "lesson-question": ("lesson", "chapter=pattern&beat=1&ask=Why"),
    "presented": ("lesson", "show=neuron&step=15&present=1"),
    "lesson-presented": ("lesson", "chapter=pattern&beat=1&present=1"),
    "link-with-errors": ("lesson", "show=nothing&step=x"),
    "program": ("program", "step=21"),
    "passes": ("training", "step=31&pass=5&node=slope"),
    "passes-check": ("training", "mode=check"),
    "program-order": ("program", "mode=order&step=13"),
    "large": ("network", ""),
    "large-backward": ("network", "step=6000&node=loss"),
    "large-check": ("network", "mode=check"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    return {file: getattr(pages, file)(folder) for file in ("lesson", "program", "training", "network")}


Opener = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, files: dict[str, Path]) -> Iterator[Opener]:
    """Return `opened(state, width=390, forced_colors="active")`, which opens a state with browser settings."""
    contexts: list[BrowserContext] = []

    def open_(state: str, width: int = 1280, height: int = 860, **settings: Any) -> Page:
        size = {"width": width, "height": height}
        contexts.append(browser.new_context(viewport=size, **({"reduced_motion": "reduce"} | settings)))
        page = contexts[-1].new_page()
        file, fragment = STATES[state]
        page.goto(f"{files[file].as_uri()}#{fragment}")
        expect(page.locator(".node, .part").first).to_be_attached()
        return page

    yield open_
    for context in contexts:
        context.close()


def faults(page: Page, *themes: Literal["light", "dark"]) -> list[Any]:
    """List axe's violations in each theme, with their places and reasons. Only contrasts depend on the theme."""
    page.add_script_tag(path=AXE)
    found: list[Any] = []
    options: dict[str, Any] = {}
    for theme in themes or ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found += page.evaluate(LOOK, options)
        options = {"runOnly": ["color-contrast"]}
    return found


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing(opened: Opener, state: str) -> None:
    assert faults(opened(state, bypass_csp=True)) == []


@pytest.mark.parametrize(
    "state",
    [
        *("lesson-number", "lesson-search", "backward", "node", "order-wrong", "check", "train-points", "exercises"),
        *("program", "passes", "large", "question", "lesson-question", "presented", "lesson-presented"),
    ],
)
def test_axe_finds_nothing_on_a_phone(opened: Opener, state: str) -> None:
    page = opened(state, width=390, height=844, bypass_csp=True, has_touch=True)
    assert faults(page, "light") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_axe_finds_nothing_in_errors_menus_and_dialogs(opened: Opener) -> None:
    page = opened("start", bypass_csp=True)
    page.get_by_label("Expression").fill("tanh(x*w + b))")
    page.get_by_role("button", name="Draw").click()
    expect(page.get_by_role("alert").first).to_contain_text("syntax error")
    page.locator(".values input[data-leaf]").first.fill("two")
    page.keyboard.press("Enter")
    assert faults(page) == []
    page.get_by_role("button", name="Menu").click()
    assert faults(page) == []
    page.get_by_role("button", name="Help").click()
    assert faults(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Share").click()
    page.get_by_text("Embed in a page").click()
    assert faults(page) == []


@pytest.mark.parametrize(
    "state", ["backward", "node", "lost", "order-wrong", "check", "train-points", "large-backward"]
)
def test_axe_finds_nothing_with_forced_colors(opened: Opener, state: str) -> None:
    page = opened(state, bypass_csp=True, forced_colors="active")
    assert page.evaluate("matchMedia('(forced-colors: active)').matches")
    assert faults(page) == []


def test_chosen_theme_overrides_the_system_theme(opened: Opener) -> None:
    page = opened("backward", bypass_csp=True, color_scheme="light")
    page.get_by_role("button", name="Menu").click()
    page.locator(".menu").get_by_label("Colors").select_option("dark")
    color = "getComputedStyle(document.querySelector('[data-gradwalk]')).backgroundColor"
    assert page.evaluate(color) == "rgb(23, 24, 28)"
    assert faults(page, "light") == []


def test_nothing_moves_with_reduced_motion(opened: Opener) -> None:
    moving = """(elements) => elements.filter((element) => {
      const { transitionDuration, animationDuration, scrollBehavior } = getComputedStyle(element);
      const lasts = [transitionDuration, animationDuration].some((times) => times.split(",").some(parseFloat));
      return lasts || scrollBehavior === "smooth";
    }).map((element) => element.outerHTML.slice(0, 80))"""
    page = opened("backward")
    page.get_by_role("button", name="Next step").click()
    page.get_by_role("button", name="Show everything").click()
    assert page.locator(".app *").evaluate_all(moving) == []
    assert page.evaluate("document.getAnimations().length") == 0


def tab_stops(page: Page) -> list[str]:
    """List the names of the elements that Tab reaches; each must be in view and show its focus."""
    page.evaluate("document.activeElement.blur()")
    names: list[str] = []
    while True:
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        if focus is None:
            return names
        assert focus["name"], f"the element after {names} has no name"
        assert focus["isShown"], f"{focus['name']} does not show its focus"
        assert focus["isInside"], f"{focus['name']} has the focus but is out of view"
        names.append(focus["name"])
        assert len(names) < 200, "Tab never leaves the page"


HEADER = [
    *("Lesson", "Lab"),
    "Graphs of the lesson",
    "Expression such as tanh(x*w + b), or several such as e = a + b; f = e*c",
    *("Draw", "Share", "Menu"),
]
WALK = ["To the start", "A step back", "Next step", "Run to the end", "Step of the walk", "Play", "Speed"]


def test_tab_visits_all_controls_in_reading_order(opened: Opener) -> None:
    stops = tab_stops(opened("backward"))
    zoom = ["Zoom in", "Zoom out", "Show everything"]
    assert stops[: len(HEADER)] == HEADER
    graph, rest = stops[len(HEADER)], stops[len(HEADER) + 1 :]
    assert "value" in graph  # one tab stop; the arrow keys reach the other boxes
    assert rest[: len(zoom) + len(WALK) + 1] == [*zoom, *WALK, "Walk"]
    panel = rest[len(zoom) + len(WALK) + 1 :]
    assert {"x1", "w1", "x2", "w2", "b"} <= set(panel)
    assert "All values" in panel


@pytest.mark.parametrize(
    "state", ["order-wrong", "check", "train-points", "exercises", "program", "passes", "large-backward", "edge"]
)
@pytest.mark.parametrize("width", [390, 1280])
def test_tab_reaches_every_visible_button(opened: Opener, state: str, width: int) -> None:
    page = opened(state, width=width)
    stops = tab_stops(page)
    buttons = page.locator(":is(header, .zoom, .transport, [role=tabpanel]) button").locator("visible=true")
    names = [button.evaluate("(button) => button.ariaLabel || button.textContent.trim()") for button in buttons.all()]
    assert names
    assert set(names) <= set(stops)


@pytest.mark.parametrize(
    "state",
    ["start", "node", "edge", "order-wrong", "check", "train-points", "exercises", "program", "passes", "large"],
)
def test_every_control_has_a_name(opened: Opener, state: str) -> None:
    page = opened(state)
    nameless = [line for line in page.locator("main").aria_snapshot().splitlines() if is_nameless(line)]
    assert nameless == []


def is_nameless(line: str) -> bool:
    """Return whether a line of an accessibility tree is a control without a name."""
    role, _, rest = line.strip().removeprefix("- ").partition(" ")
    return role.rstrip(":") in {"button", "textbox", "combobox", "slider", "radio", "tab", "dialog"} and '"' not in rest


def test_each_step_is_announced(opened: Opener) -> None:
    page = opened("start")
    said = page.locator(".sentence[aria-live=polite]")
    page.evaluate("""() => {
      window.said = [];
      const live = document.querySelector("[data-gradwalk]").shadowRoot.querySelector(".sentence");
      new MutationObserver(() => window.said.push(live.textContent)).observe(live, { childList: true });
    }""")
    for _ in range(11):
        page.keyboard.press("n")
    expect(said).to_have_text("a is a leaf: it keeps its gradient 10.")
    heard = page.evaluate("window.said")
    assert len(heard) == 11
    assert heard[0] == "a is given: 2"
    assert len(set(heard)) == 11


def test_box_is_announced_with_its_numbers(opened: Opener) -> None:
    page = opened("end")
    expect(page.get_by_role("button", name="z1, value 2, gradient -0.340999, this step")).to_be_attached()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("gradwalk")


def test_help_takes_and_returns_the_focus(opened: Opener) -> None:
    page = opened("start")
    page.get_by_role("button", name="Menu").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Help").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Help")).to_be_visible()
    expect(page.locator(".menu")).to_be_hidden()
    assert page.evaluate(FOCUS)["name"].strip() == "Single-letter shortcuts"  # at the beginning, which is shown
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUS)["name"] == "Close"
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Help")).to_be_hidden()
    assert page.evaluate(FOCUS)["name"] == "Menu"


def test_menu_takes_and_returns_the_focus(opened: Opener) -> None:
    page = opened("start")
    menu = page.get_by_role("button", name="Menu")
    menu.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".menu")).to_be_visible()
    assert page.locator(".menu").evaluate("(menu) => menu.getBoundingClientRect().right <= innerWidth")
    names = []
    for _ in range(6):
        page.keyboard.press("Tab")
        names.append(page.evaluate(FOCUS)["name"])
    assert names == ["Open a file", "Present", "Print", "Language", "Colors", "Help"]
    page.keyboard.press("Escape")
    expect(page.locator(".menu")).to_be_hidden()
    assert page.evaluate(FOCUS)["name"] == "Menu"
    menu.click()
    page.locator(".sentence").click()
    expect(page.locator(".menu")).to_be_hidden()


@pytest.mark.parametrize("state", ["backward", "order-wrong", "program", "passes"])
def test_page_can_be_read_at_400_percent(opened: Opener, state: str) -> None:
    """1280 pixels at 400 % are 320 pixels."""
    page = opened(state, width=320, height=256)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    wide = """(elements) => elements
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1)
      .filter((element) => !element.closest(".scroll")).map((element) => element.outerHTML.slice(0, 80))"""
    assert page.locator(".app :is(button, input, select, p, h2)").evaluate_all(wide) == []


@pytest.mark.parametrize("state", ["backward", "order-wrong", "check", "train-points", "exercises", "passes"])
def test_touch_targets_are_large_enough(opened: Opener, state: str) -> None:
    """A target must be at least 24 pixels wide and high."""
    page = opened(state, width=390, height=844, has_touch=True)
    small = """(elements) => elements
      .filter((element) => element.checkVisibility() && !element.matches(".link, .lines *"))
      .filter((element) => element.offsetWidth < 24 || element.offsetHeight < 24)
      .map((element) => element.outerHTML.slice(0, 80))"""
    assert page.locator(".app :is(button, select, input[type=text])").evaluate_all(small) == []
