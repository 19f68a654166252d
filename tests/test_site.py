"""Checks of the documentation site that do not build it: all pages and names are present."""

from __future__ import annotations

import importlib
import math as floats
import re
from pathlib import Path

import numpy
import pytest
from checkout import ROOT
from documentation import DOCS, PAGES
from website import gallery, links, names, operations, plots

from gradwalk import Value, math
from gradwalk.ops.table import TABLE, VARIADIC

COMING_FROM = sorted((DOCS / "coming-from").glob("*.md"))


def name(path: Path) -> str:
    return str(path.relative_to(DOCS))


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"^```{{{kind}}}[^\n]*\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


# Navigation


def test_every_page_is_in_the_navigation():
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for tree in blocks(page, "toctree"):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            listed |= {page.parent / f"{entry}.md" for entry in entries}
    assert listed == set(PAGES)


def test_docs_readme_links_to_every_section():
    index = (DOCS / "README.md").read_text("utf-8")
    wanted = [page for page in PAGES if page.parent in (DOCS, DOCS / "guides") or page.name == "index.md"]
    shown_elsewhere = {DOCS / page for page in links.PAGES.values()}  # documents that GitHub shows by itself
    assert [name(page) for page in wanted if page not in shown_elsewhere and f"]({name(page)})" not in index] == []


def test_every_code_block_is_run_by_a_test():
    # test_readme.py, the build of the site and slow/test_site_build.py run the code of these languages;
    # exporting/test_ship_guide.py runs "cpp" and "py".
    ours = {"python", "{drawn}", "cpp", "py"}
    others = {f"python {library}" for library in ("autograd", "casadi", "jax", "micrograd", "torch")}
    no_python = {"", "js", "sh", "text", "{toctree}", "{public}", "{public-module}", "{results}"}
    no_python |= {"{document}", "{operations}", "{tutorial}", "{gallery}", "{hero}"}
    for page in PAGES:
        fences = re.findall(r"^ *```(\{.*?\}|.*)", page.read_text("utf-8"), re.M)
        assert set(fences[1::2]) <= {""}, page
        assert set(fences[::2]) <= ours | others | no_python, page


# Links


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("../operations.md#kinks", "/operations.md#kinks"),
        ("batches.md", "/guides/batches.md"),
        ("../images/film.svg", "/images/film.svg"),
        ("../../CONTRIBUTING.md", "/contributing.md"),
        ("../README.md", "/index.md"),
        ("../tutorial.py", "/tutorial.md"),
        ("../../examples/moons.py", "{source}/blob/main/examples/moons.py"),
        ("../../src/gradwalk/ops", "{source}/tree/main/src/gradwalk/ops"),
        ("../walk.schema.json", "{source}/blob/main/docs/walk.schema.json"),
        ("https://karpathy.ai/microgpt.html", "https://karpathy.ai/microgpt.html"),
        ("#gradients", "#gradients"),
    ],
)
def test_links_point_to_pages_or_the_repository(given, expected):
    assert links.target(given, DOCS / "guides") == expected.format(source=links.urls()["Source"])


def test_links_in_code_are_not_rewritten():
    text = "[a](values.md) `[b](values.md)`\n\n```python\nx = y[0](values.md)\n```\n"
    expected = text.replace("[a](values.md)", "[a](/guides/values.md)")
    assert links.rewritten(text, DOCS / "guides") == expected


def test_repository_url_is_in_one_file():
    base = links.urls()["Source"].removeprefix("https://")
    folders = ("docs", "src", "tests", "tools", "examples", "benchmarks", "web/src")
    files = [*ROOT.glob("*.*"), *(file for folder in folders for file in (ROOT / folder).rglob("*.*"))]
    texts = [file for file in files if file.suffix in (".py", ".md", ".js", ".toml", ".css")]
    assert [file.name for file in texts if base in file.read_text("utf-8")] == ["pyproject.toml"]


# Reference


def test_reference_documents_every_public_name():
    assert names.documented() == names.public_names()


def test_names_of_a_module_exclude_its_imports():
    assert {"tanh", "clip", "pi", "take"} <= set(names.names_of("math"))
    assert not {"Value", "apply", "TypeVar"} & set(names.names_of("math"))
    assert names.names_of("nn") == ["MLP", "Layer", "Module", "Neuron"]


# Operations


def test_every_operation_is_in_one_group():
    assert [row for rows in operations.groups().values() for row in rows] == list(TABLE)


def test_operations_page_begins_with_all_operations():
    # Mend with: python tools/reference_lines.py
    text = (DOCS / "operations.md").read_text("utf-8").partition("\n## ")[0]
    rows = dict(re.findall(r"^\| (\w[^|]*) \| (`[^|]*) \|$", text, re.M))
    wanted = {heading: [row.name for row in group] for heading, group in operations.groups().items()}
    wanted["Any number of operands"] = [row.name for row in VARIADIC]
    assert {heading: re.findall(r"`(\w+)`", cell) for heading, cell in rows.items()} == wanted


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_operations_can_be_called_as_documented(row):
    special = pytest.importorskip("scipy").special
    numbers = [0.5, 0.25, 0.75][: row.arity]
    numbers[0] = -0.5 if row.name == "log1mexp" else 1.5 if row.name == "acosh" else 0.5
    value, _ = operations.at(row, *numbers)
    assert floats.isfinite(value)
    known = dict(zip("abc", map(Value, numbers), strict=False), math=math, numpy=numpy)
    for call in operations.calls(row):
        scipy = type("scipy", (), {"special": special})
        assert eval(call, {**known, "scipy": scipy}).data == value, call


def test_operation_sections_list_domains_and_kinks():
    text = operations.sections()
    log, relu, floor, maximum = (text.partition(f"\n### {name}\n")[2] for name in ("log", "relu", "floor", "maximum"))
    assert "| defined | for x >= 0 |" in log.partition("\n###")[0]
    assert "at x = 0 the derivative jumps from 0 to 1; it is 0 there" in relu.partition("\n###")[0]
    assert "the value jumps at x = -3, -2, -1, …" in floor.partition("\n###")[0]
    assert "at x = 1 the derivative jumps from 0 to 1; it is 0.5 there" in maximum.partition("\n###")[0]
    assert text.count('<svg class="plot"') == len(TABLE)


def test_plots_break_at_jumps():
    drawn = plots.plot("floor", -2.0, 2.0, [("value", floats.floor)])
    curve = re.search(r'<path class="value" d="([^"]*)"', drawn)
    assert curve
    assert curve[1].count("M") == 4  # one segment per step


# Gallery, names of other libraries, benchmarks


def test_gallery_has_every_example_and_its_guide():
    [block] = blocks(DOCS / "gallery.md", "gallery")
    entries = dict(line.split(": ")[:2] for line in block.splitlines())
    assert set(entries) == {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert all((DOCS / guide).exists() for guide in entries.values())
    assert gallery.cards(block.splitlines()).count("![") == len(entries)


@pytest.mark.parametrize("page", [page for page in COMING_FROM if page.name != "index.md"], ids=name)
def test_our_names_in_the_tables_exist(page):
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|", page.read_text("utf-8"), re.M)
    found = [name for cell in rows for name in re.findall(r"`(gradwalk\.[\w.]+)`", cell)]
    assert len(found) > 8
    for dotted in found:
        resolved(dotted)


def resolved(dotted: str) -> object:
    """Return the module, or the attribute of a module, that has a dotted name."""
    parts = dotted.split(".")
    found: object = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], start=2):
        if not hasattr(found, part):
            importlib.import_module(".".join(parts[:i]))
        found = getattr(found, part)
    return found
