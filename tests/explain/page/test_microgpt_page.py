"""Tests of the microgpt page: it runs the example's program and computes Python's numbers."""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import subprocess
from functools import cache
from typing import Any

import numpy as np
import pytest
from checkout import ROOT

from gradwalk import Graph, Value, source_lines
from gradwalk.explain.page.page import microgpt_page

WEB = ROOT / "web"
NODE = shutil.which("node")
FILE = ROOT / "src/gradwalk/explain/page/microgpt.json"
pytestmark = pytest.mark.skipif(not (ROOT / "examples").exists(), reason="the example is not in a source distribution")
in_node = pytest.mark.skipif(not NODE or not (WEB / "node_modules").exists(), reason="needs node and its packages")

NAMES = ("ada", "zoe", "maximilianjames", "bo", "quentin", "i")  # the third name has the maximum length
STEPS = 24
OPENED = ("maximilianjames", "wolf", "y")

ANSWERS = """
import { readFileSync } from "node:fs";
import { decoded } from "./src/microgpt/document.js";
import { Trainer } from "./src/microgpt/trainer.js";

const { file, names, steps, opened } = JSON.parse(await new Response(process.stdin).text());
const trainer = new Trainer(await decoded(JSON.parse(readFileSync(file, "utf8"))), names);
for (let step = 0; step < steps; step += 1) trainer.advance();
const answers = {
  losses: trainer.losses,
  weights: [...trainer.weights],
  names: trainer.lesson.program.names,
  lines: [...trainer.lesson.program.lines],
  opened: opened.map((name) => {
    const { data, grad, loss, tokens } = trainer.open(name);
    const { size } = trainer.lesson.program;
    const made = Array.from({ length: size }, (_, node) => trainer.lesson.programFor(tokens.length).has(node));
    return { loss, data: [...data.slice(0, size)], grad: [...grad.slice(0, size)], made };
  }),
};
console.log(JSON.stringify(answers));
"""


def loaded(path: str) -> Any:
    """Import a module of the checkout by its path."""
    spec = importlib.util.spec_from_file_location(f"checked_{(ROOT / path).stem}", ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def tool() -> Any:
    return loaded("tools/microgpt_document.py")


@cache
def model() -> Any:
    return tool().microgpt()


@cache
def document() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))


@cache
def answers() -> dict[str, Any]:
    """Return what the page computes."""
    questions = {"file": str(FILE), "names": NAMES, "steps": STEPS, "opened": OPENED}
    ran = subprocess.run(
        [str(NODE), "--input-type=module", "--eval", ANSWERS],
        input=json.dumps(questions),
        cwd=WEB,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def initial_weights() -> dict[str, Any]:
    return model().initial_weights(27, random.Random(tool().SEED))


@cache
def trained() -> tuple[list[float], dict[str, Any]]:
    """Train the example on Values; return its losses and its weights after `STEPS` steps."""
    tokenizer = model().Tokenizer(["abcdefghijklmnopqrstuvwxyz"])
    weights = initial_weights()
    optimizer = model().adam(tool().STEPS)
    state, step = optimizer.init(weights), model().step_of("eager", optimizer)
    losses = []
    for turn in range(STEPS):
        tokens = tokenizer.encode(NAMES[turn % len(NAMES)])
        weights, state, loss = step(weights, state, tokens[:-1], tokens[1:])
        losses.append(float(loss))
    return losses, weights


def graph_of(name: str) -> Graph:
    """Record the loss of a name, with its gradients, for the trained weights."""
    tokens = model().Tokenizer(["abcdefghijklmnopqrstuvwxyz"]).encode(name)
    _, weights = trained()
    with source_lines():
        read = [Value(float(token), label=f"token.{place}") for place, token in enumerate(tokens[:-1])]
        targets = [Value(float(token), label=f"target.{place}") for place, token in enumerate(tokens[1:])]
        root = model().loss(model().named_values(weights), read, targets)
    root.backward()
    return Graph.record(root)


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.array(found, float), np.array(expected, float), rtol=1e-12, atol=1e-12)


def test_document_is_up_to_date():
    assert tool().is_same(document(), tool().document())
    assert FILE.stat().st_size < 150_000


def test_changed_documents_are_detected():
    for part in ("program", "update"):
        changed = {**document(), part: {**document()[part], "constants": [7.0]}}
        assert not tool().is_same(document(), changed)
    moved = tool().packed_floats(tool().floats(document()) + 1e-9)
    assert not tool().is_same(document(), {**document(), "weights": moved})


@in_node
def test_losses_and_weights_match_python():
    losses, weights = trained()
    same(answers()["losses"], losses)
    same(answers()["weights"], np.concatenate([rows.ravel() for rows in weights.values()]))
    assert len(answers()["weights"]) == 4192


@in_node
@pytest.mark.parametrize("which", range(len(OPENED)), ids=OPENED)
def test_numbers_of_an_opened_step_match_python(which):
    found, graph = answers()["opened"][which], graph_of(OPENED[which])
    same(found["loss"], graph.data[graph.root])
    order = tool().arranged(graph, initial_weights(), model().PLACES)
    # For a shorter name the page keeps the longest name's other nodes before the mean, its root.
    order[-1:] = [-1] * (len(found["data"]) - len(order)) + order[-1:]
    nodes = [(slot, node) for slot, node in enumerate(order) if node >= 0]
    slots, places = (list(part) for part in zip(*nodes, strict=True))
    same([found["data"][slot] for slot in slots], graph.data[places])
    same([found["grad"][slot] for slot in slots], graph.grad[places])
    computed = {slot for slot, made in enumerate(found["made"]) if made and slot >= len(order) - 1}
    assert computed <= set(slots)


@in_node
def test_names_and_lines_of_nodes_match_python():
    graph = graph_of(OPENED[0])
    order = tool().arranged(graph, initial_weights(), model().PLACES)
    names, lines = answers()["names"], answers()["lines"]
    assert len(set(names)) == len(order)
    for slot in range(4192, len(order) - 1):
        label = graph.labels.get(order[slot], "").partition(" (")[0]
        assert not label or names[slot].endswith(label)
        if graph.opcodes[order[slot]]:
            assert lines[slot] == graph.sources[order[slot]].number
    source = document()["source"]["text"].splitlines()
    assert "softmax" in source[lines[names.index("place3.attention.head2.weight.1")] - 1]
    assert '"query"' in source[lines[names.index("query.0.0")] - 1]


def test_page_contains_the_document():
    text = microgpt_page()
    assert text.startswith("<!doctype html>")
    data = text.partition("data-gradwalk-document>")[2].partition("</script>")[0]
    assert "<" not in data
    assert json.loads(data) == document()
