"""The reader's own graphs: a script's page with its source, large networks by module, and opened files."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pages
import pytest
from lesson import Lesson
from playwright.sync_api import Locator, expect

from gradwalk import Graph, Value, source_lines, walk
from gradwalk.explain.page.page import document

Visit = Callable[..., Lesson]

SCRIPT = '''\
"""A unit by hand: what no table knows."""
from micrograd.engine import Value

a = Value(2.0)
a.label = "a"
b = Value(-3.0)
b.label = "b"
c = a * b
c.label = "c"

def cube(x):
    out = Value(x.data**3, (x,), "cube")
    def _backward():
        x.grad += 3 * x.data**2 * out.grad
    out._backward = _backward
    return out

d = cube(c)
d.label = "d"
e = Value(0.5)
e.label = "<b>e</b>"
loss = d * e
loss.label = "loss"
loss.backward()
'''


@pytest.fixture(scope="session")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a script with the command line."""
    folder = tmp_path_factory.mktemp("script")
    (folder / "unit.py").write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "gradwalk", "walk", "--page", "out.html", "unit.py"]
    paths = os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)
    subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": paths}, check=True, capture_output=True)
    return folder / "out.html"


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages.program(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages.network(tmp_path_factory.mktemp("network"))


def source(lesson: Lesson) -> Locator:
    return lesson.page.locator(".source")


def marked(lesson: Lesson) -> str:
    """Return the source line that is marked for the current step."""
    return source(lesson).locator("[aria-current=step]").inner_text().strip()


def line(lesson: Lesson, text: str) -> Locator:
    return source(lesson).get_by_role("button", name=text, exact=True)


# A script


def test_source_is_shown_beside_the_graph(visit: Visit, script: Path) -> None:
    lesson = visit("step=0", script)
    expect(lesson.page).to_have_title("unit.py · gradwalk")
    expect(lesson.page.locator("header .of")).to_have_text("unit.py")
    expect(lesson.page.locator("header form:not(dialog form)")).to_be_hidden()
    assert "Exercises" not in lesson.page.get_by_role("tab").all_inner_texts()
    expect(source(lesson).locator("h2")).to_have_text("unit.py")
    shown = source(lesson).locator("li code").all_text_contents()
    assert [text.rstrip() for text in shown] == SCRIPT.splitlines()
    expect(source(lesson).locator("[aria-current]")).to_have_count(0)


def test_source_line_of_each_step_is_marked(visit: Visit, script: Path) -> None:
    lesson = visit("step=0", script)
    made = {
        "a": "a = Value(2.0)",
        "b": "b = Value(-3.0)",
        "c": "c = a * b",
        "d": 'out = Value(x.data**3, (x,), "cube")',
        "<b>e</b>": "e = Value(0.5)",
        "loss": "loss = d * e",
    }
    for _ in range(2 * len(made)):  # both passes, and the seed between them, without the last step
        lesson.press("n")
        name = lesson.inspector.locator(".name").inner_text()
        assert marked(lesson) == made[name]
        expect(source(lesson).locator("[aria-current]")).to_have_count(1)
        expect(source(lesson).locator("[aria-current]")).to_be_in_viewport()
    lesson.press("n")
    assert lesson.gradients == {"loss": 1, "<b>e</b>": -216, "d": 0.5, "c": 54, "a": -162, "b": 108}
    lesson.inspect("a")
    assert lesson.facts["made at"] == "unit.py:4"


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_a_source_line_selects_its_node(visit: Visit, script: Path, by: str) -> None:
    lesson = visit(path=script)
    if by == "mouse":
        line(lesson, "c = a * b").click()
    else:
        line(lesson, "c = a * b").focus()
        lesson.press("Enter")
        assert lesson.focused == "c = a * b"
    expect(lesson.inspector.locator(".name")).to_have_text("c")
    expect(lesson.graph.locator(".node.selected")).to_have_count(1)
    expect(source(lesson).get_by_role("button")).to_have_count(6)


def test_hand_made_nodes_cannot_be_recomputed(visit: Visit, script: Path) -> None:
    lesson = visit("step=13", script)
    before = lesson.rows
    lesson.edit("a", "5")
    expect(lesson.problem).to_contain_text("d was made by hand: its formula is unknown")
    expect(lesson.leaf("a")).to_have_attribute("aria-invalid", "true")
    assert lesson.rows == before
    lesson.edit("<b>e</b>", "2")  # no hand-made node depends on it
    expect(lesson.problem).to_have_text("")
    assert lesson.rows["loss"].data == "-432"
    assert lesson.gradients["a"] == -648
    lesson.tab("Check").click()
    verdicts = dict(
        lesson.panel.locator(".checks tbody tr").evaluate_all(
            "(rows) => rows.map((r) => [r.cells[0].textContent, r.cells[1].textContent])"
        )
    )
    assert verdicts == {"a": "made by hand", "b": "made by hand", "c": "made by hand"} | {
        "d": "agrees",
        "<b>e</b>": "agrees",
        "loss": "agrees",
    }


def test_editing_a_leaf_recomputes(visit: Visit, program: Path) -> None:
    lesson = visit(path=program)
    lesson.edit("x1", "0")
    lesson.edit("x2", "0")
    lesson.edit("b", "0")
    lesson.end()
    assert (lesson.rows["out"].data, lesson.rows["loss"].data) == ("0", "1")
    assert {name: lesson.gradients[name] for name in ("b", "w1", "x1")} == {"b": -2, "w1": 0, "x1": -1.6}
    lesson.settled("at=x1%3A0.0%2Cx2%3A0.0%2Cb%3A0.0&step=" + str(lesson.position))
    lesson.page.reload()
    lesson.drawn()
    assert lesson.rows["loss"].data == "1"


def test_order_puzzle_and_links_of_a_program(visit: Visit, program: Path) -> None:
    lesson = visit("mode=order", program)
    lesson.button("Show a right order").click()
    lesson.button("Run this order").click()
    expect(lesson.panel.locator(".outcome")).to_contain_text("Every gradient is right.")
    other = visit("mode=exercises", program)  # programs do not have exercises
    expect(other.tab("Walk")).to_have_attribute("aria-selected", "true")
    expect(other.problem).to_have_text("The link contains mode=exercises, which is not valid here and is ignored.")
    other.end()
    assert other.gradients["loss"] == 1


def test_names_with_characters_reserved_in_links(visit: Visit, tmp_path: Path) -> None:
    x, y, z = Value(2.0, label="max(a, b)"), Value(3.0, label="t=1:0"), Value(4.0, label="100%2C")
    path = pages.written(tmp_path / "names.html", pages.page(walk(x * y + z).essence()))
    lesson = visit(path=path)
    for name, text in (("max(a, b)", "5"), ("t=1:0", "7"), ("100%2C", "1")):
        lesson.edit(name, text)
    lesson.end()
    lesson.inspect("t=1:0")
    before = lesson.rows
    lesson.page.wait_for_timeout(300)
    fragment = lesson.fragment
    again = visit(fragment, path)
    expect(again.problem).to_have_text("")
    assert again.rows == before
    expect(again.inspector.locator(".name")).to_have_text("t=1:0")


def test_walk_in_a_wrong_order(visit: Visit, tmp_path: Path) -> None:
    path = pages.written(tmp_path / "wrong.html", pages.page(walk(pages.diamond(), ["b", "d", "c", "a"]).essence()))
    lesson = visit("step=8&node=b", path)
    assert lesson.gradients == {"d": 1, "b": 6, "c": 3, "a": 9} | {"b": lesson.gradients["b"]}
    expect(lesson.inspector.locator(".why")).to_have_text("lost: d was visited after b")


# Large graphs


def test_a_large_graph_opens_by_its_modules(visit: Visit, network: Path) -> None:
    lesson = visit(path=network)
    parts = lesson.graph.locator(".part .hit")
    names = parts.evaluate_all("(all) => all.map(({ ariaLabel }) => ariaLabel)")
    assert 2 <= len(names) <= 24
    assert any(name.startswith("layers[0]") for name in names)
    assert all(re.search(r": (\d+) nodes, \1 known, \1 visited; open$", name) for name in names)
    assert sum(int(re.findall(r": (\d+) nodes", name)[0]) for name in names) > 4500
    expect(lesson.path).to_be_hidden()
    lesson.press("s")
    expect(parts.first).to_have_attribute("aria-label", re.compile(r": (\d+) nodes, 0 known, 0 visited; open"))


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_parts_open_and_breadcrumbs_return(visit: Visit, network: Path, by: str) -> None:
    lesson = visit("step=10", network)
    first = lesson.graph.locator(".part .hit[aria-label^='layers[0]']").first
    name = str(first.get_attribute("aria-label")).partition(":")[0]
    before = lesson.graph.locator(".part").count()

    def use(target: Locator) -> None:
        if by == "mouse":
            lesson.button("Show everything").click()
            target.click(position={"x": 3, "y": 3})
        else:
            target.focus()
            lesson.press("Enter")

    use(first)
    expect(lesson.path.get_by_role("button")).to_have_text(["whole graph", name])
    expect(lesson.path.locator("[aria-current=location]")).to_have_text(name)
    expect(first).not_to_have_attribute("aria-label", re.compile(f"^{re.escape(name)}:"))
    if by == "keyboard":
        assert lesson.focused != ""  # the focus stays in the graph
    inner = lesson.graph.locator(".part .hit").first
    use(inner)
    expect(lesson.path.get_by_role("button")).not_to_have_count(0)
    depth = lesson.path.get_by_role("button").count()
    use(lesson.path.get_by_role("button").first)
    expect(lesson.path).to_be_hidden()
    expect(lesson.graph.locator(".part")).to_have_count(before)
    if by == "keyboard":
        assert lesson.focused != ""
    assert depth >= 2
    assert lesson.position == 10


def test_parts_open_from_the_table(visit: Visit, network: Path) -> None:
    lesson = visit(path=network)
    table = lesson.page.locator(".twin tbody")
    part = table.locator("tr", has_text="nodes: open this part to see them").first
    part.get_by_role("button").click()
    expect(lesson.path).to_be_visible()
    lesson.page.wait_for_function("() => location.hash.includes('open=')")
    fragment = lesson.fragment
    again = visit(fragment, network)
    expect(again.path.get_by_role("button")).to_have_text(lesson.path.get_by_role("button").all_inner_texts())


def test_walk_reaches_nodes_in_closed_parts(visit: Visit, network: Path) -> None:
    lesson = visit("step=3000", network)
    expect(lesson.graph.locator(".active")).not_to_have_count(0)
    expect(lesson.sentence).not_to_have_text("")
    for _ in range(3):
        lesson.press("n")
    assert lesson.position == 3003
    lesson.press("b")
    assert lesson.position == 3002


# Opened files


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_opening_a_graph(lesson: Lesson, tmp_path: Path, by: str) -> None:
    path = pages.written(tmp_path / "diamond.json", Graph.record(pages.diamond()).to_json())
    lesson.tab("Exercises").click()
    lesson.open_file(path, by)
    expect(lesson.box("d")).to_be_attached()
    expect(lesson.tab("Walk")).to_have_attribute("aria-selected", "true")
    lesson.end()
    assert lesson.gradients == {"d": 1, "b": 6, "c": 3, "a": 15}
    expect(lesson.program).to_be_hidden()


def test_source_lines_stored_in_a_graph(lesson: Lesson, tmp_path: Path) -> None:
    """Shows the lines that made nodes, with line numbers, and never reads the file."""
    script = pages.written(tmp_path / "train.py", pages.PROGRAM)
    with source_lines():
        loss = runpy.run_path(str(script))["loss"]
    lesson.open_file(pages.written(tmp_path / "graph.json", Graph.record(loss).to_json()))
    expect(source(lesson).locator("h2")).to_have_text("train.py")
    numbers = [5, 6, 7, 12, 13, 18]
    lines = pages.PROGRAM.splitlines()
    shown = source(lesson).locator("li")
    expect(shown).to_have_text([lines[number - 1].strip() for number in numbers])
    assert shown.evaluate_all("items => items.map(item => Number(item.dataset.line))") == numbers
    line(lesson, "return n.tanh()").click()
    expect(lesson.inspector.locator(".name")).to_have_text("out")
    lesson.end()
    assert marked(lesson) in {lines[number - 1].strip() for number in numbers}


def test_opening_one_walk_after_another(lesson: Lesson, tmp_path: Path) -> None:
    for name, factor in (("one.py", 3), ("two.py", 5)):
        script = pages.written(
            tmp_path / name, f"from gradwalk import Value\nroot = Value({factor}.0, label='a') * 3\n"
        )
        with source_lines():
            root = runpy.run_path(str(script))["root"]
        path = pages.written(tmp_path / f"{name}.json", document(walk(root, overwrite=True).essence(), name))
        lesson.open_file(path)
        expect(lesson.page.locator("header .of")).to_have_text(name)
        expect(source(lesson).locator("h2")).to_have_text(name)
        expect(source(lesson).locator("li code").nth(1)).to_have_text(re.compile(rf"Value\({factor}\.0"))
        expect(lesson.page.get_by_role("radio", name="= overwrites it", exact=True)).to_be_checked()
        assert lesson.leaf("a").input_value() == f"{factor}.0"


# The passes of a training loop


@pytest.fixture(scope="session")
def training(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[float]]]:
    """Write the page of a script that never zeroes its gradients; also return what it printed after each pass."""
    folder = tmp_path_factory.mktemp("training")
    (folder / "train.py").write_text(pages.TRAINING, encoding="utf-8")
    paths = os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-m", "gradwalk", "walk", "--page", "out.html", "train.py"]
    run = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    printed = [[float(number) for number in line.split()] for line in run.stdout.splitlines()[:12]]
    return folder / "out.html", printed


def pass_text(lesson: Lesson) -> str:
    return lesson.page.locator(".pass-told").inner_text()


def accumulated(lesson: Lesson) -> dict[str, list[str]]:
    """Return the table of accumulated gradients, by leaf."""
    rows = lesson.page.locator(".earlier tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    return {name: cells for name, *cells in rows}


def test_every_pass_of_a_script_can_be_walked(visit: Visit, training: tuple[Path, list[list[float]]]) -> None:
    path, printed = training
    lesson = visit(path=path)
    assert pass_text(lesson) == "Pass 12 of 12: backward() at line 8"
    expect(lesson.button("The next pass")).to_have_attribute("aria-disabled", "true")
    for number in range(11, 0, -1):
        lesson.button("The pass before").click()
        assert pass_text(lesson) == f"Pass {number} of 12: backward() at line 8"
        rows = accumulated(lesson)
        if number == 1:
            expect(lesson.page.locator(".earlier")).to_be_hidden()
            break
        assert list(rows) == ["slope", "shift"]
        for row, before, now in zip(rows.values(), printed[number - 2], printed[number - 1], strict=True):
            own, was, grad = (float(cell) for cell in row[:3])
            assert (was, grad) == (pytest.approx(before, rel=1e-5), pytest.approx(now, rel=1e-5))
            assert own == pytest.approx(now - before, rel=1e-4, abs=1e-4)
            assert row[3] == "pass 1"
    lesson.end()
    assert lesson.gradients["slope"] == pytest.approx(printed[0][0], rel=1e-5)


def test_link_contains_the_pass(visit: Visit, training: tuple[Path, list[list[float]]]) -> None:
    path, _ = training
    lesson = visit("pass=4&node=slope", path)
    assert pass_text(lesson) == "Pass 4 of 12: backward() at line 8"
    expect(lesson.inspector.locator(".why")).to_contain_text("not zeroed since pass 1). So .grad is now")
    lesson.page.get_by_label("Pass of the program").focus()
    lesson.press("ArrowRight")
    assert pass_text(lesson).startswith("Pass 5 of 12")
    lesson.settled(f"step={lesson.position}&node=slope&pass=5")
    strange = visit("pass=99", path)
    expect(strange.problem).to_have_text("The link contains pass=99, which is not valid here and is ignored.")
    assert pass_text(strange).startswith("Pass 12 of 12")


def test_edited_values_hide_accumulated_gradients(visit: Visit, training: tuple[Path, list[list[float]]]) -> None:
    lesson = visit("pass=4&node=slope", training[0])
    lesson.edit("slope", "1")
    expect(lesson.page.locator(".earlier")).to_be_hidden()
    expect(lesson.inspector.locator(".why")).to_have_count(0)
    lesson.button("The next pass").click()
    expect(lesson.page.locator(".earlier")).to_be_visible()


def test_loss_curve_selects_a_pass(visit: Visit, training: tuple[Path, list[list[float]]]) -> None:
    lesson = visit(path=training[0])
    curve = lesson.page.get_by_role("img", name=re.compile("^loss over 12 passes: first 11.6667, last "))
    expect(curve).to_be_visible()
    columns = curve.locator(".column")
    expect(columns).to_have_count(12)
    assert columns.nth(0).locator("title").text_content() == "pass 1: loss = 11.666666666666666"
    columns.nth(2).locator(".hit").click()
    assert pass_text(lesson).startswith("Pass 3 of 12")
    expect(columns.nth(2)).to_have_attribute("data-current", "")
    expect(curve.locator("[data-current]")).to_have_count(1)


def test_check_mentions_gradients_of_earlier_passes(visit: Visit, training: tuple[Path, list[list[float]]]) -> None:
    lesson = visit("mode=check", training[0])
    expect(lesson.page.locator(".earlier")).to_contain_text(".grad is not the gradient of this pass alone")


@pytest.mark.parametrize("width", [390, 1280])
def test_long_source_lines_wrap(visit: Visit, training: tuple[Path, list[list[float]]], width: int) -> None:
    lesson = visit(path=training[0])
    lesson.page.set_viewport_size({"width": width, "height": 800})
    scroller = source(lesson).locator(".scroll")
    assert scroller.evaluate("(it) => it.scrollWidth <= it.clientWidth")
    long = source(lesson).locator("li", has_text="loss = sum(")
    assert long.evaluate("(it) => it.getBoundingClientRect().height") > 36
    # Wrapped lines are indented more than the first.
    starts = long.locator("code").evaluate(
        """(code) => {
            const range = document.createRange();
            range.selectNodeContents(code);
            return [...range.getClientRects()].map(({ left, width }) => left);
        }"""
    )
    assert starts[1] > starts[0]


def test_a_script_with_one_pass_has_no_timeline(visit: Visit, script: Path) -> None:
    lesson = visit(path=script)
    expect(lesson.page.get_by_label("Pass of the program")).to_be_hidden()
