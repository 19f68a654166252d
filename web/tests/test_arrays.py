"""The arrays of a walk: heat maps with selectable cells, attention arcs, and bars."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pages
import pytest
from lesson import Lesson

from gradwalk import Value, label, named_scope, source_lines, walk
from gradwalk.explain.page.page import page
from gradwalk.math import logsumexp, softmax, sumprod

Visit = Callable[..., Lesson]


def attention(places: int = 5, width: int = 3) -> Value:
    """Build causal attention over `places` positions and a cross-entropy loss."""
    matrix = [[Value((i - j) / 4, label=f"matrix.{i}.{j}") for j in range(width)] for i in range(width)]
    read: list[list[Value]] = []
    losses = []
    with source_lines():
        for place in range(places):
            with named_scope(f"place{place}"):
                x = label([Value(0.1 * place - 0.2 * i) for i in range(width)], "x")
                with named_scope("attention"):
                    read.append([sumprod(row, x) for row in matrix])
                    weights = label(softmax([sumprod(x, other) for other in read]), "weight")
                    logits = label([sumprod(weights, column) for column in zip(*read, strict=True)], "logit")
            losses.append(logsumexp(logits) - logits[1])
        loss = sum(losses)
    loss.backward()
    return loss


@pytest.fixture
def arrays_page(visit: Visit, tmp_path: Path) -> Lesson:
    lesson = visit("", pages.written(tmp_path / "attention.html", page(walk(attention()).essence(), "attention")))
    lesson.page.keyboard.press("e")
    lesson.page.wait_for_selector(".arcs path")
    return lesson


def choose(lesson: Lesson, name: str) -> None:
    lesson.page.get_by_label("Arrays", exact=True).first.select_option(name)


def test_attention_is_a_heat_map_and_arcs(arrays_page: Lesson) -> None:
    arrays = arrays_page.page.locator(".arrays")
    names = arrays.locator("select").first.locator("option").all_text_contents()
    assert names == ["attention.logit", "attention.weight", "x", "matrix"]
    assert arrays.locator("select").first.input_value() == "attention.weight"
    assert arrays.locator("th").all_text_contents() == [f"place{place}" for place in range(5)]
    assert [row.locator("[role=gridcell]").count() for row in arrays.locator("tr").all()] == [1, 2, 3, 4, 5]
    assert arrays.locator(".arcs path").count() == 5
    assert arrays.locator(".bars").is_hidden()


def test_click_on_a_cell_selects_its_node(arrays_page: Lesson) -> None:
    arrays = arrays_page.page.locator(".arrays")
    arrays.locator("[role=gridcell]").nth(4).click()
    assert (
        arrays.locator("[aria-selected=true]").get_attribute("aria-label").startswith("place2.attention.weight[1] = ")
    )
    assert "place2.attention.weight[1]" in arrays_page.page.locator(".inspector").inner_text()
    assert arrays.locator(".arcs path").count() == 3
    arrays_page.page.wait_for_selector("svg.stage .node.selected")


def test_arrow_keys_move_between_cells(arrays_page: Lesson) -> None:
    arrays = arrays_page.page.locator(".arrays")
    step = arrays_page.page.locator(".sentence").inner_text()
    arrays.locator("[role=gridcell][tabindex='0']").focus()
    for key, label_ in (
        ("ArrowDown", "place1.attention.weight[0]"),
        ("ArrowRight", "place1.attention.weight[1]"),
        ("ArrowRight", "place1.attention.weight[1]"),
        ("ArrowDown", "place2.attention.weight[1]"),
        ("ArrowLeft", "place2.attention.weight[0]"),
        ("ArrowUp", "place1.attention.weight[0]"),
    ):
        arrays_page.page.keyboard.press(key)
        assert arrays.locator(":focus").get_attribute("aria-label").startswith(f"{label_} = "), key
        assert arrays.locator(".read").inner_text().startswith(f"{label_} = ")
    assert arrays_page.page.locator(".sentence").inner_text() == step
    arrays_page.page.keyboard.press("Enter")
    assert arrays.locator("[aria-selected=true]").get_attribute("aria-label").startswith("place1.attention.weight[0]")


def test_logits_are_bars_with_a_mark_at_the_target(arrays_page: Lesson) -> None:
    choose(arrays_page, "attention.logit")
    arrays = arrays_page.page.locator(".arrays")
    assert arrays.locator(".bars rect").count() == 3
    assert arrays.locator(".bars .negative").count() == 1
    assert "raising place4.attention.logit[1] lowers loss the most." in arrays.locator(".note").inner_text()
    arrays.get_by_label("Numbers shown").select_option("gradient")
    assert arrays.locator("td.negative").count() == 5


def test_unknown_values_are_hatched(visit: Visit, tmp_path: Path) -> None:
    path = pages.written(tmp_path / "attention.html", page(walk(attention()).essence(), "attention"))
    arrays = visit("step=0", path).page.locator(".arrays")
    assert arrays.locator("td.unknown").count() == arrays.locator("[role=gridcell]").count() == 15
    assert arrays.locator(".arcs").is_hidden()


def test_graph_without_arrays_has_no_arrays_panel(visit: Visit, tmp_path: Path) -> None:
    path = pages.written(tmp_path / "diamond.html", page(walk(pages.diamond()).essence(), "d"))
    assert visit("", path).page.locator(".arrays").is_hidden()
