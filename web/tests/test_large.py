"""One training step of examples/microgpt.py as scalars: a graph of 90,000 nodes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import microgpt
import pages
import pytest
from lesson import Lesson
from playwright.sync_api import expect

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
    """Return the names of the closed parts."""
    labels = lesson.page.locator("svg.stage .part .hit").evaluate_all("(all) => all.map(({ ariaLabel }) => ariaLabel)")
    return {label.partition(":")[0] for label in labels}


def test_large_graph_opens_by_modules(transformer: Lesson) -> None:
    matrices = {f"attention.{name}" for name in ("norm", "query", "key", "value", "mix")}
    assert names(transformer) >= matrices | {"attention.head0…3", "embed", "mlp.widen", "loss"}
    transformer.box("attention.head0…3").press("Enter")
    transformer.page.wait_for_selector("svg.stage .part .label:text-is('step 3 of 11')")
    assert "attention.mix" in names(transformer)
    assert "mlp.widen" not in names(transformer)  # no edge leads to it


def test_large_graph_is_walked_to_the_end_and_back(transformer: Lesson) -> None:
    colored = transformer.page.locator("svg.stage .picture [data-node]:is([style*=positive], [style*=negative])")
    expect(transformer.sentence).to_have_text(re.compile("^Done: every node"))
    assert colored.count() > 1000
    transformer.press("s")
    assert colored.count() == 0
