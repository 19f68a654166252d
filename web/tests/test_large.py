"""One training step of examples/microgpt.py as scalars: a graph of 90,000 nodes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import microgpt
import pages
import pytest
from lesson import Lesson

from gradwalk import Value, opened, source_lines, walk
from gradwalk.explain.page.page import page

Visit = Callable[..., Lesson]


def loss(name: str) -> Value:
    tokenizer = microgpt.Tokenizer(microgpt.NAMES.read_text(encoding="utf-8").split())
    weights = microgpt.named_values(microgpt.initial_weights(len(tokenizer), random.Random(42)))
    tokens = tokenizer.encode(name)
    with source_lines():
        result: Value = microgpt.loss(weights, tokens[:-1], tokens[1:])
    result.backward()
    return result


@pytest.fixture
def transformer(visit: Visit, tmp_path: Path) -> Lesson:
    essence = walk(opened(loss("christophe"))).essence()
    assert essence["graph"]["version"] == 2
    return visit("", pages.written(tmp_path / "transformer.html", page(essence, "microgpt")))


def names(lesson: Lesson) -> set[str]:
    """Return the labels of the closed parts."""
    return set(lesson.page.locator("svg.stage .part .label").all_text_contents())


def test_large_graph_opens_by_modules(transformer: Lesson) -> None:
    assert names(transformer) == {"embed", "attention", "mlp", "logits", "loss"}
    transformer.page.get_by_role("button", name="attention: ").click(force=True)
    transformer.page.wait_for_selector("svg.stage .part .label:text-is('attention.head0')")
    matrices = {f"attention.{name}" for name in ("norm", "query", "key", "value", "mix")}
    assert names(transformer) >= matrices | {f"attention.head{head}" for head in range(4)}


def test_large_graph_is_walked_to_the_end_and_back(transformer: Lesson) -> None:
    visited = transformer.page.locator("svg.stage .part.visited")
    transformer.page.keyboard.press("e")
    assert visited.count() == 3  # no gradient flows through the maxima subtracted in attention and loss
    assert "is a leaf: it keeps its gradient" in transformer.page.locator(".sentence").inner_text()
    transformer.page.keyboard.press("s")
    assert visited.count() == 0
