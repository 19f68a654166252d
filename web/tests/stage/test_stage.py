"""The stage in a browser: drawing, selection, keyboard and panning."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import GRAPHS, WEB, bundled, diamond, draw, hostile, network, neuron, opened, twice
from playwright.sync_api import Browser, Page

BOXES = """() => [...harness.shadow.querySelectorAll(".node")].map((node) => {
  const rect = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { left, right, top, bottom };
  };
  const card = node.querySelector(".card");
  const window = node.querySelector(".window");
  const texts = [...node.querySelectorAll(".number, .key")].map(rect);
  return { card: rect(card), window: rect(window), label: node.querySelector(".label").textContent, texts };
})"""


@pytest.fixture(scope="module")
def script() -> str:
    return bundled()


@pytest.fixture
def page(browser: Browser, script: str) -> Iterator[Page]:
    page = opened(browser, script)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    page.close()
    assert not problems


def boxes(page: Page) -> list[dict[str, Any]]:
    return page.evaluate(BOXES)


def told(page: Page) -> list[list[Any]]:
    return page.evaluate("harness.said.splice(0)")


def focused(page: Page) -> str | None:
    return page.evaluate("harness.shadow.activeElement?.ariaLabel ?? null")


def middle(box: dict[str, Any]) -> tuple[float, float]:
    card = box["card"]
    return (card["left"] + card["right"]) / 2, (card["top"] + card["bottom"]) / 2


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_boxes_do_not_overlap_and_contain_their_texts(page: Page, make: Any) -> None:
    draw(page, make(), -1)
    found = boxes(page)
    for i, box in enumerate(found):
        card = box["card"]
        for text in box["texts"]:
            assert card["left"] <= text["left"]
            assert text["right"] <= card["right"] + 0.5
        for other in (b["card"] for b in found[:i]):
            apart_across = card["left"] > other["right"] or other["left"] > card["right"]
            apart_down = card["top"] > other["bottom"] or other["top"] > card["bottom"]
            assert apart_across or apart_down


def test_labels_are_text_and_clipped_to_their_box(page: Page) -> None:
    draw(page, hostile(), -1)
    leaves = boxes(page)
    labels = [box["label"] for box in leaves]
    assert "a b c" in labels
    assert "reversed" in labels
    assert "__proto__" in labels
    assert any("…" in label for label in labels)
    assert page.evaluate("harness.shadow.querySelector('script') === null")
    for box in leaves:
        assert box["card"]["left"] <= box["window"]["left"]
        assert box["window"]["right"] <= box["card"]["right"]


def test_operands_are_in_the_order_of_the_expression(page: Page) -> None:
    draw(page, neuron())
    height = {box["label"]: box["card"]["top"] for box in boxes(page)}
    assert height["x1"] < height["w1"] < height["x2"] < height["w2"]
    assert height["x1*w1"] < height["x2*w2"]
    assert height["x1*w1 + x2*w2"] < height["b"]


def test_value_used_twice_has_two_lines_and_tags(page: Page) -> None:
    draw(page, twice(), 4)
    tags = page.evaluate("""[...harness.shadow.querySelectorAll(".tag.shown")].map((tag) => {
      const { top, bottom } = tag.getBoundingClientRect(); return [tag.textContent, top, bottom]; })""")
    assert [text for text, _, _ in tags] == ["+1", "+1"]
    assert tags[0][2] <= tags[1][1] + 3


def test_lost_contributions_are_crossed_out(page: Page) -> None:
    draw(page, diamond(), -1, order=[1, 3, 2, 0])
    crosses = "[...harness.shadow.querySelectorAll('.cross')].map((cross) => getComputedStyle(cross).display)"
    assert sorted(page.evaluate(crosses)) == ["inline", "none", "none", "none"]


def test_arrow_keys_follow_the_lines(page: Page) -> None:
    draw(page, neuron(), -1)
    page.keyboard.press("Tab")
    names = [focused(page)]
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown", "d", "d", "Escape"):
        page.keyboard.press(key)
        names.append(focused(page))
    assert [str(name).split(" = ")[0] for name in names[:6]] == [
        "x1",
        "x1*w1",
        "x1*w1 + x2*w2",
        "n",
        "x1*w1 + x2*w2",
        "b",
    ]
    assert str(names[6]).startswith("edge 8:1")
    assert names[8] == names[5]
    page.keyboard.press("Enter")
    page.keyboard.press("d")
    page.keyboard.press(" ")
    assert [kind for kind, _ in told(page)] == ["node", "edge"]
    assert page.evaluate("harness.shadow.querySelectorAll('[tabindex=\"0\"]').length") == 1


def test_a_part_opens(page: Page) -> None:
    parts = draw(page, network())["parts"]
    page.evaluate(
        "harness.shadow.querySelector('.part [role=button]').dispatchEvent(new MouseEvent('click', { bubbles: true }))"
    )
    ((kind, key),) = told(page)
    assert kind == "part"
    assert key in parts


def test_drag_pans_and_wheel_scrolls_the_page(page: Page) -> None:
    draw(page, neuron())
    place = "harness.shadow.querySelector('.world').style.transform"
    x, y = middle(boxes(page)[3])
    page.mouse.click(x, y)
    before = page.evaluate(place)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 50, y + 20, steps=4)
    page.mouse.up()
    assert told(page) == [["node", 3]]
    dragged = page.evaluate(place)
    assert dragged != before
    page.mouse.wheel(0, 120)
    assert page.evaluate(place) == dragged
    page.keyboard.down("Control")
    page.mouse.wheel(0, -120)
    page.keyboard.up("Control")
    page.wait_for_function(f"before => {place} !== before", arg=dragged)


def test_boxes_are_reused_when_only_numbers_change(page: Page) -> None:
    draw(page, neuron())
    page.evaluate("harness.node = harness.shadow.querySelector('.node')")
    other = neuron()
    draw(page, other, -1)
    assert page.evaluate("harness.node === harness.shadow.querySelector('.node')")


def test_axe_finds_nothing(page: Page) -> None:
    draw(page, neuron(), 14, {"badges": [[0, 1]], "selected": {"place": 2}})
    page.add_script_tag(path=WEB / "node_modules/axe-core/axe.min.js")
    found = page.evaluate("axe.run()")["violations"]
    assert [violation["id"] for violation in found] == [
        "landmark-one-main",
        "page-has-heading-one",
    ]  # the harness has neither


def test_layout_works_without_workers(browser: Browser, script: str, tmp_path: Path) -> None:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'"
    head = f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    (tmp_path / "page.html").write_text(f"{head}<body><script>{script}</script>", encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    draw(page, neuron(), -1)
    assert len(boxes(page)) == 10
    page.close()
