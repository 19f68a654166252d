"""Bad input: the page reports errors as the command line does, keeps its state, and runs none of the input."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pages
import pytest
from lesson import Lesson
from playwright.sync_api import expect

from gradwalk import Graph, Value, walk
from gradwalk.cli import expression
from gradwalk.explain.page.page import document

Visit = Callable[..., Lesson]

MARKUP = "<img src=x onerror='window.ran=1'><script>window.ran=1</script>"


def check_page_works(lesson: Lesson) -> None:
    """Check that nothing was run and that the walk still works."""
    assert lesson.page.evaluate("window.ran") is None
    assert lesson.page.locator("img").count() == 0
    lesson.tab("Walk").click()
    lesson.drawn()
    lesson.page.locator("body").click(position={"x": 2, "y": 2})
    lesson.press("s", "n", "n", "e")
    expect(lesson.phase).to_contain_text("done")


def command_line_says(program: str) -> str:
    """Return the message that Python's parser gives for a program."""
    with pytest.raises(expression.ExpressionError) as found:
        expression.evaluate(expression.parse(program), {})
    return str(found.value)


# Expressions

BROKEN = [
    "",
    "a*(b",
    "a^2",
    "a +",
    "2x",
    "sinn(a)",
    "tanh(a, b)",
    "a.data",
    "__import__('os')",
    "a < b < c",
    "x = 3",
    "a = b; a",
    "e = a*2; e = a; e",
    "e; e = a*b",
    "a + 1j",
    "[a]",
    "lambda: a",
    MARKUP,
    "(" * 300,
    "a" * 3 + "$" * 50,
    "tanh(x*w + b))",
    "a; b",
    "e = a*b\ne = c",
]


def test_invalid_expressions_are_reported(lesson: Lesson) -> None:
    lesson.end()
    before = lesson.rows
    for program in BROKEN:
        if "\n" in program:
            continue  # a single-line field cannot hold a newline
        lesson.program.fill(program)
        lesson.press("Enter")
        expect(lesson.problem).to_have_text(command_line_says(program), use_inner_text=True)
        assert lesson.problem.text_content() == command_line_says(program)
        expect(lesson.program).to_have_attribute("aria-invalid", "true")
        assert lesson.program.input_value() == program
        assert lesson.rows == before
    expect(lesson.problem).to_have_attribute("role", "alert")
    assert lesson.program.get_attribute("aria-describedby") == lesson.problem.get_attribute("id")
    lesson.draw("tanh(x)")
    expect(lesson.problem).to_have_text("")
    expect(lesson.program).not_to_have_attribute("aria-invalid", "true")
    assert list(lesson.rows) == ["x", "tanh(x)"]
    check_page_works(lesson)


def test_caret_points_at_the_error(lesson: Lesson) -> None:
    lesson.draw("a*(b + c")
    assert lesson.problem.text_content() == "syntax error: '(' was never closed\n  a*(b + c\n    ^"
    style = lesson.problem.evaluate(
        "(problem) => [getComputedStyle(problem).whiteSpace, getComputedStyle(problem).fontFamily]"
    )
    assert style[0].startswith("pre")
    assert "monospace" in style[1]


def test_walk_continues_after_an_invalid_expression(lesson: Lesson) -> None:
    lesson.press("n")
    lesson.draw("a*(")
    told = lesson.problem.text_content()
    lesson.button("Next step").click()
    assert lesson.position == 2
    assert lesson.problem.text_content() == told  # shown until the expression is corrected
    lesson.inspect("a")
    lesson.tab("Check").click()
    assert lesson.problem.text_content() == told
    expect(lesson.program).to_have_attribute("aria-invalid", "true")
    assert lesson.program.input_value() == "a*("
    lesson.draw("e = a + b; f = e*c")  # the graph that is already shown
    expect(lesson.problem).to_have_text("")
    expect(lesson.program).not_to_have_attribute("aria-invalid", "true")


def test_long_and_deep_programs(lesson: Lesson) -> None:
    lesson.draw("+".join(["a"] * 2000))
    expect(lesson.problem).to_have_text("")
    lesson.end()
    lesson.page.locator(".transport").get_by_role("button", name="A step back").click()
    lesson.draw("-" * 5000 + "a")
    expect(lesson.problem).to_have_text("")
    lesson.draw("(" * 3000 + "a*b" + ")" * 3000)
    assert list(lesson.rows) == ["a", "b", "a*b"]
    check_page_works(lesson)


# Links

TAMPERED = {
    "step=abc": "The link contains step=abc, which is not valid here and is ignored.",
    "step=-1": "The link contains step=-1, which is not valid here and is ignored.",
    "step=1e3&node=zz": "The link contains step=1e3, which is not valid here and is ignored.\n"
    "The link selects zz, but there is no such node.",
    "show=nothing": "The link contains show=nothing, which is not valid here and is ignored.",
    "mode=party": "The link contains mode=party, which is not valid here and is ignored.",
    "order={}": "The link contains order={}, which is not valid here and is ignored.",
    "order=[1,2]": "The link contains order=[1,2], which is not valid here and is ignored.",
    "order=%E0%A4%A": None,
    "%ZZ=%": None,
    'mode=order&order=["a","zz","a"]': "Ignored, because it is not in the graph: zz.",
    "at=a:x": "The link contains at=a:x, which is not valid here and is ignored.",
    "at=zz:1": "Ignored, because it is not in the graph: zz.",
    "at=__proto__:1&__proto__=1&constructor=2&toString=3": ""
    "The link contains __proto__=1, which is not valid here and is ignored.\n"
    "The link contains constructor=2, which is not valid here and is ignored.\n"
    "The link contains toString=3, which is not valid here and is ignored.\n"
    "Ignored, because it is not in the graph: __proto__.",
    "h=0&mode=check": "The link contains h=0, which is not valid here and is ignored.",
    "method=sideways": "The link contains method=sideways, which is not valid here and is ignored.",
    "operand=7&node=a": "",
    "step=9999999": "",
    "open=part 0%2B9": "",
    "exercise=9999999&mode=exercises": "",
    f"node={quote(MARKUP)}": f"The link selects {MARKUP}, but there is no such node.",
    f"{quote(MARKUP)}=1": f"The link contains {MARKUP}=1, which is not valid here and is ignored.",
    "x=" + "y" * 100_000: f"The link contains x={'y' * 80}, which is not valid here and is ignored.",
    "x=" + "y" * 1_000_000: "The link is 1,000,002 characters long; the limit is 1,000,000.",
    "f=a*(": "syntax error: '(' was never closed\n  a*(\n    ^",
    f"f={quote(MARKUP)}": command_line_says(MARKUP),
    "f=__proto__*constructor": "",
}


def test_tampered_links(lesson: Lesson) -> None:
    """Follow each link in a page that is already open."""
    for fragment, told in TAMPERED.items():
        lesson.page.evaluate("(hash) => { location.hash = hash; }", fragment)
        if told is None:
            expect(lesson.problem).to_contain_text("is not valid here and is ignored.")
        else:
            expect(lesson.problem).to_have_text(told, use_inner_text=True)
            assert lesson.problem.text_content() == told
        assert lesson.page.evaluate("window.ran") is None
    check_page_works(lesson)


def test_a_link_of_100_kilobytes(visit: Visit) -> None:
    """The page shows a long program by its modules."""
    lesson = visit("node=a&step=99999&f=" + "%2B".join(["a"] * 25_000))
    expect(lesson.problem).to_have_text("")
    expect(lesson.inspector.locator(".total")).to_have_text("total 25000")
    expect(lesson.inspector.locator(".sum")).to_contain_text("… 24,994 more …")
    expect(lesson.graph.locator(".part")).not_to_have_count(0)


@pytest.mark.parametrize("fragment", [f for f in TAMPERED if f.startswith(("f=", "at=__", "x=", "%ZZ", "exercise"))])
def test_page_opens_from_a_tampered_link(visit: Visit, fragment: str) -> None:
    lesson = visit(fragment)
    told = TAMPERED[fragment]
    if told is not None:
        assert lesson.problem.text_content() == told
    if fragment.startswith("f=") and told:
        assert lesson.program.input_value() == ("a*(" if "a*(" in fragment else MARKUP)  # kept, to be corrected
    check_page_works(lesson)


# Files

GRAPH = json.loads(Graph.record(pages.diamond()).to_json())
WALK = json.loads(document(walk(pages.diamond()).essence()))


def changed(json_: dict[str, Any], **changes: Any) -> str:
    return json.dumps(json_ | changes)


def two_outputs() -> str:
    a = Value(2.0, label="a")
    b, c = a * 2, a * 3
    b.label, c.label = "b", "c"
    return Graph.record([b, c]).to_json()


FILES: dict[str, tuple[str, str]] = {
    "no JSON": ("{", "The file cannot be shown. This is not JSON: "),
    "empty": ("", "The file cannot be shown. This is not JSON: "),
    "markup": (MARKUP, "The file cannot be shown. This is not JSON: "),
    "no graph": ('{"a":1}', 'this is not a graph: the entry "gradwalk": "graph" is missing'),
    "a list": ("[]", 'this is not a graph: the entry "gradwalk": "graph" is missing'),
    "null": ("null", 'this is not a graph: the entry "gradwalk": "graph" is missing'),
    "columns with invalid numbers": (
        json.dumps(Graph.record(pages.diamond()).to_columns() | {"data": "AAA"}),
        "the column data of the graph is damaged or belongs to another graph",
    ),
    "graph of version 3": (changed(GRAPH, version=3), "this graph has version 3; versions 1 and 2 can be read"),
    "walk of version 2": (changed(WALK, version=2), "This walk has version 2, but only version 1 can be read."),
    "walk without a version": (json.dumps({"gradwalk": "walk"}), "This walk has version "),
    "walk without a graph": (changed(WALK, graph=None), "this is not a graph"),
    "several outputs": (two_outputs(), "this needs a graph with one root, but this graph has 2: b, c"),
    "no output": (changed(GRAPH, outputs=[]), "the graph has no output"),
    "output outside": (changed(GRAPH, outputs=[9]), "an output refers to node 9, but the graph has 4 nodes"),
    "order twice": (changed(WALK, order=[3, 3, 2, 0]), "The order of this walk must list each node"),
    "order of other nodes": (changed(WALK, order=[3, 2, 1, 7]), "The order of this walk must list each node"),
    "operand ahead": (
        changed(GRAPH, nodes=[GRAPH["nodes"][1], *GRAPH["nodes"]]),
        "node 0 has node 0 as operand, not an earlier node",
    ),
    "invalid number": (
        changed(GRAPH, nodes=[{"data": MARKUP, "grad": 0}]),
        "the data of node 0 is ",
    ),
    "unknown operation": (
        changed(
            GRAPH, outputs=[0], nodes=[{"data": 1, "grad": 1, "operation": MARKUP, "operands": [], "partials": []}]
        ),
        "node 0 has the unknown operation ",
    ),
}


def test_invalid_files_are_reported(lesson: Lesson, tmp_path: Path) -> None:
    lesson.end()
    before = lesson.rows
    for name, (text, told) in FILES.items():
        path = pages.written(tmp_path / f"{name}.json", text)
        lesson.open_file(path)
        expect(lesson.problem).to_contain_text(told)
        assert lesson.problem.inner_text().startswith("The file cannot be shown. ")
        assert lesson.rows == before
        lesson.button("A step back").click()  # the next step clears the message
        expect(lesson.problem).to_have_text("")
        lesson.button("Next step").click()
    check_page_works(lesson)


def test_labels_are_text(lesson: Lesson, tmp_path: Path) -> None:
    """Names, symbols, the file's name and its lines are text, not markup."""
    labels = [MARKUP, "</title><svg onload=window.ran=1>", "{{7*7}}", "\u202egnp.exe", "__proto__", "\n\n"]
    leaves = [Value(float(i + 1), label=label) for i, label in enumerate(labels)]
    root = Value(3.0, leaves[:2], MARKUP)
    for leaf in leaves[2:]:
        root = root * leaf
    root.label = "toString"
    described = json.loads(document(walk(root).essence(), MARKUP))
    described["files"] = {f"{MARKUP}.py": f"x = 1\n{MARKUP}\n"}
    described["graph"]["nodes"][0]["source"] = {"file": f"{MARKUP}.py", "line": 2}
    lesson.open_file(pages.written(tmp_path / "labels.json", json.dumps(described)))
    expect(lesson.page.locator("header .of")).to_have_text(MARKUP)
    expect(lesson.page.locator(".source h2")).to_contain_text("script>.py")
    names = list(lesson.rows)
    assert names[:2] == labels[:2]
    assert {"{{7*7}}", "__proto__", "toString"} <= set(names)
    for name in (MARKUP, "__proto__"):
        lesson.inspect(name)
        expect(lesson.inspector.locator(".name")).to_have_text(name)
    lesson.end()
    for mode in ("Order", "Check", "Walk"):
        lesson.tab(mode).click()
        assert lesson.page.evaluate("window.ran") is None
    expect(lesson.graph.locator(f".hit[aria-label^='{MARKUP[:8]}']").first).to_be_attached()
    check_page_works(lesson)


def test_labels_are_text_in_a_page_from_python(visit: Visit, tmp_path: Path) -> None:
    root = Value(2.0, label=MARKUP) * Value(3.0, label="</script><script>window.ran=1</script>")
    path = pages.written(tmp_path / "markup.html", pages.page(walk(root).essence(), MARKUP))
    lesson = visit(path=path)
    assert list(lesson.rows)[:2] == [MARKUP, "</script><script>window.ran=1</script>"]
    expect(lesson.page).to_have_title(re.compile("<img src=x"))
    check_page_works(lesson)


def test_page_with_an_invalid_walk_shows_the_lesson(visit: Visit, tmp_path: Path, lesson_file: Path) -> None:
    data = '<script type="application/json" data-gradwalk-document>{"gradwalk":"walk","version":7}</script>'
    text = lesson_file.read_text(encoding="utf-8").replace("</main>\n", f"</main>\n{data}\n")
    lesson = visit(path=pages.written(tmp_path / "broken.html", text))
    problem = "The file cannot be shown. This walk has version 7, but only version 1 can be read."
    expect(lesson.problem).to_contain_text(problem)
    expect(lesson.page.locator(".guide h2").first).to_have_text("Forward, then back")
    expect(lesson.graph.locator(".node")).to_have_count(5)


def test_an_opened_file_can_be_closed(lesson: Lesson, tmp_path: Path) -> None:
    lesson.open_file(pages.written(tmp_path / "diamond.json", json.dumps(GRAPH)))
    expect(lesson.program).to_be_hidden()
    lesson.button("Close the file").click()
    expect(lesson.program).to_be_visible()
    expect(lesson.button("Close the file")).to_be_hidden()
    assert list(lesson.rows) == ["a", "b", "e", "c", "f"]
    check_page_works(lesson)
