"""The picture of a network: its colors follow the walk and the values, its boxes open, and findings lead to parts."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pages
import pytest
from lesson import Lesson
from playwright.sync_api import Locator, expect

from gradwalk import Value, nn, walk
from gradwalk.explain.page.page import page

Visit = Callable[..., Lesson]


@pytest.fixture(scope="session")
def moons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a network with a dead unit and 30 samples."""
    random.seed(1)
    model = nn.MLP(2, [4, 4, 1])
    model.layers[1].neurons[2].b.data = -9.0
    losses = [(1 - model([random.gauss(0, 1), random.gauss(0, 1)])).relu() for _ in range(30)]
    loss = sum(losses[1:], losses[0]) / 30
    loss.backward()
    return pages.written(tmp_path_factory.mktemp("moons") / "moons.html", page(walk(loss).essence(), "moons"))


def dots(lesson: Lesson) -> Locator:
    """Find the colored circles, squares and lines."""
    return lesson.page.locator(".picture [data-node]:is([style*=positive], [style*=negative])")


def test_colors_follow_the_walk(visit: Visit, moons: Path) -> None:
    lesson = visit(path=moons)
    expect(lesson.page.locator(".caption")).to_contain_text("Shown: sample 1 of 30.")
    assert dots(lesson).count() > 40
    expect(lesson.page.locator(".picture .selected")).to_have_count(1)  # the box with the loss
    expect(lesson.page.locator(".picture .active")).to_have_count(0)
    before = dots(lesson).evaluate_all("(all) => all.map((it) => it.style.cssText)")
    lesson.press("b")
    expect(lesson.page.locator(".picture .active")).to_have_count(1)
    lesson.press("s")
    expect(dots(lesson)).to_have_count(0)
    lesson.press("e")
    assert dots(lesson).evaluate_all("(all) => all.map((it) => it.style.cssText)") == before


def test_colors_follow_a_changed_value(visit: Visit, moons: Path) -> None:
    lesson = visit(path=moons)
    result = lesson.page.locator(".picture text[data-node]", has_text=re.compile(" = "))
    before = result.text_content()
    lesson.page.locator(".values summary").click()
    lesson.page.get_by_label("Find by name").fill("layers.2")
    expect(lesson.page.locator(".values input[data-leaf]")).to_have_count(5)
    lesson.edit("layers[2].neurons[0].b", "-3")
    expect(result).not_to_have_text(str(before))
    expect(lesson.page.locator(".summary")).to_be_hidden()  # it describes the program's own values


@pytest.mark.parametrize("by", ["keyboard", "dot"])
def test_boxes_open(visit: Visit, moons: Path, by: str) -> None:
    lesson = visit(path=moons)
    if by == "keyboard":
        lesson.press("g", "ArrowRight")
        first = lesson.focused.partition(":")[0]
        lesson.press("Enter")
        expect(lesson.path.get_by_role("button")).to_have_text(["whole graph", first])
    else:
        lesson.page.locator(".picture rect[data-node]").first.dispatch_event("click")
        expect(lesson.graph.locator(".node.selected")).to_have_count(1)
    lesson.path.get_by_role("button").first.click()
    expect(lesson.page.locator(".picture")).to_be_visible()
    expect(lesson.path).to_be_hidden()


def test_a_step_outside_of_an_open_part_marks_the_way_back(visit: Visit, moons: Path) -> None:
    lesson = visit(path=moons)
    lesson.graph.locator(".part .hit[aria-label^='layers[1]']").first.press("Enter")
    lesson.press("s")
    marked = lesson.page.locator(":is(.stage, .path) .active")
    for _ in range(3):
        lesson.press("n")
        expect(marked.first).to_be_visible()
    for _ in range(60):
        lesson.press("n")
    expect(marked.first).to_be_visible()
    lesson.path.get_by_role("button").first.click()
    expect(lesson.page.locator(".picture .active")).to_have_count(1)


def test_the_legend_explains_the_shapes_of_the_picture(visit: Visit, moons: Path, tmp_path: Path) -> None:
    expect(visit(path=moons).page.locator(".caption")).to_contain_text("Square, line: parameter. Circle: output.")
    x, y, vx, vy = map(Value, (1.0, 0.0, 0.0, 1.0))
    for _ in range(60):
        cube = (x * x + y * y) ** 1.5
        vx, vy = vx - 0.05 * x / cube, vy - 0.05 * y / cube
        x, y = x + 0.05 * vx, y + 0.05 * vy
    orbit = pages.written(tmp_path / "orbit.html", page(walk(x * x + y * y).essence(), "orbit"))
    caption = visit(path=orbit).page.locator(".caption")
    expect(caption).to_contain_text("Shown: step 2 of 60. Open a box to see inside.")


def test_samples_are_parts(visit: Visit, moons: Path) -> None:
    lesson = visit(path=moons)
    for name in ("layers[1]", "layers[1].neurons[2]", "samples 1 to ", "sample 3 of 30"):
        lesson.graph.locator(f".part .hit[aria-label^='{name}']").first.press("Enter")
        expect(lesson.path.locator("[aria-current=location]")).to_have_text(re.compile(f"^{re.escape(name)}"))
    expect(lesson.graph.locator(".node")).not_to_have_count(0)


def test_findings_lead_to_parts(visit: Visit, moons: Path) -> None:
    lesson = visit(path=moons)
    summary = lesson.page.locator(".summary")
    expect(summary).to_contain_text("parameters")
    expect(summary).to_contain_text("operations on the longest path")
    summary.get_by_role("button", name=re.compile(r"layers\[1\].neurons\[2\].*is dead")).click()
    expect(lesson.path.get_by_role("button", name="layers[1]", exact=True)).to_be_visible()
    expect(lesson.graph.locator(".node.selected")).to_have_count(1)


def test_pictures_in_files_run_no_code(lesson: Lesson, tmp_path: Path, moons: Path) -> None:
    text = re.findall(r"data-gradwalk-document>(.*?)</script>", moons.read_text(encoding="utf-8"), re.DOTALL)[0]
    evil = r"\u003cimage href='x'/\u003e\u003cscript\u003edocument.title=1\u003c/script\u003e"
    changed = text.replace(r"\u003ctitle /\u003e", evil, 1)
    assert changed != text
    lesson.open_file(pages.written(tmp_path / "evil.json", changed))
    expect(lesson.page.locator(".picture")).to_be_visible()
    expect(lesson.page.locator(".picture :is(image, script)")).to_have_count(0)
