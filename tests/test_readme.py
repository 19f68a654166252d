"""The code and commands in the README and the guides run and print the documented output."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from checkout import IS_COMPILED, ROOT
from documentation import PAGES
from references import needs
from website import hero

from gradwalk import Value, draw, grad

README = ROOT / "README.md"
GUIDES = sorted((ROOT / "docs/guides").glob("*.md"))
DOCUMENTS = [README, *PAGES]
WITH_LINKS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "web/README.md", ROOT / "benchmarks/README.md"]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), re.M | re.S)


def commands() -> list[tuple[str, str | None]]:
    """Return every `gradwalk walk` command of an expression and the output shown below it, if any."""
    found = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for command, shown in re.findall(r"^```sh\n([^\n]*)\n```\n(?:\n```text\n(.*?)^```)?", text, re.M | re.S):
            last = command.split("&&")[-1].strip()
            if last.startswith('.venv/bin/gradwalk walk "'):
                found.append((last, shown or None))
    return found


@pytest.mark.parametrize("heading", ["Run", "Test"])
def test_run_and_test_sections_have_one_command(heading):
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", README.read_text(encoding="utf-8"), re.M | re.S)
    assert section
    [command] = re.findall(r"^```sh\n(.*?)^```", section.group(1), re.M | re.S)
    assert len(command.splitlines()) == 1


def needing(document: Path) -> Any:
    """Return a document as a parameter, marked with the packages that its blocks import."""
    packages = re.findall(r"^(?:from|import) (\w+)", "".join(blocks(document, "python")), re.M)
    return pytest.param(document, id=name(document), marks=needs(*packages))


@pytest.mark.parametrize("document", list(map(needing, DOCUMENTS)))
def test_python_blocks_print_the_documented_output(document, tmp_path, monkeypatch):
    # The blocks of a document share their names, as the cells of a notebook do.
    if not IS_COMPILED and "100_000" in document.read_text(encoding="utf-8"):
        pytest.skip("batches of 100,000 samples take minutes in uncompiled Python")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Value, "ln", Value.log, raising=False)  # undoes assignments to the class in documents
    monkeypatch.setattr(Value, "zero_grad", None, raising=False)
    names: dict[str, object] = {"__name__": "document"}
    for block in blocks(document, "python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, name(document), "exec", dont_inherit=True), names)
        assert printed.getvalue().splitlines() == list(expected(block.splitlines())), block


def expected(lines: list[str]) -> list[str]:
    """Return the output documented in comments beside or below the prints of a block."""
    found = []
    for i, line in enumerate(lines):
        if line.lstrip().startswith("print("):
            below = [textwrap.dedent(comment)[2:] for comment in itertools.takewhile(is_comment, lines[i + 1 :])]
            found += below or [line.partition("  # ")[2]]
    return found


def is_comment(line: str) -> bool:
    return line.strip() == "#" or line.lstrip().startswith("# ")


@pytest.mark.parametrize(("command", "shown"), commands())
def test_commands_print_the_documented_output(command, shown, tmp_path):
    # A line `...` in the document stands for any omitted lines.
    arguments = shlex.split(command)[1:]
    result = subprocess.run(
        [sys.executable, "-m", "gradwalk", *arguments], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    if shown is not None:
        pattern = ".*".join(re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.M))
        assert re.fullmatch(pattern, result.stdout, re.S)


def test_readme_shows_the_output_of_its_command():
    command = re.search(r"^## Run\n.*?&& ([^\n]*)\n```\n", README.read_text(encoding="utf-8"), re.M | re.S)
    assert command
    [shown] = [shown for known, shown in commands() if known == command[1].split("&&")[-1].strip()]
    assert shown


@pytest.mark.parametrize("document", WITH_LINKS, ids=name)
def test_links_are_valid(document):
    for target, heading in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", without_code(document)):
        if not target.startswith("http"):
            found = document.parent / target if target else document
            assert found.exists(), target
            assert not heading or heading in headings(found), f"{target}#{heading}"


def without_code(document: Path) -> str:
    return re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)


def headings(document: Path) -> list[str]:
    """Return the anchors that GitHub gives to the headings of a document."""
    found = re.findall(r"^#+ (.*)$", without_code(document), re.M)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found]


@pytest.mark.parametrize("document", [README, ROOT / "docs/index.md"], ids=name)
def test_root_has_the_right_slope_everywhere(document):
    # An iteration that starts at its solution stops at once, and its derivative is then that of the start.
    names: dict[str, Any] = {"__name__": "document"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(blocks(document, "python")[0], names)
    for x in (0.01, 1.0, 2.0, 9.0, 100.0):
        assert grad(names["root"])(x) == pytest.approx(0.5 / x**0.5)
        assert grad(grad(names["root"]))(x) == pytest.approx(-0.25 / x**1.5)


@pytest.mark.parametrize("document", [*GUIDES, ROOT / "docs/architecture.md"], ids=name)
def test_index_links_to_every_guide(document):
    assert f"]({document.relative_to(ROOT / 'docs')})" in (ROOT / "docs/README.md").read_text(encoding="utf-8")


def test_readme_matches_the_benchmark_results():
    # Each row has two times from one row of the benchmark results, and their ratio.
    measured = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8").splitlines()
    rows = re.findall(
        r"^\|[^|]*\| ([\d,.]+ \w+) \| .*?([\d,.]+ \w+) \| ([\d,.]+)x \|$", README.read_text("utf-8"), re.M
    )
    assert len(rows) == 6
    for ours, peers, ratio in rows:
        assert any(f"| {ours} |" in row and f" {peers} |" in row for row in measured), (ours, peers)
        quotient = number(peers) / number(ours)
        assert number(ratio) == pytest.approx(quotient, rel=0.01), (ours, peers)


def test_sentences_on_speed_match_the_benchmark_results():
    text = " ".join(README.read_text("utf-8").split())
    measured = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")
    [times] = re.findall(r"JAX is (\d+) times faster on \[a layer of 65,536 weights\]", text)
    [share] = re.findall(r"^\| layer of 65,536 weights \| JAX \| [^|]+ \| ([\d.]+) \|", measured, re.M)
    assert round(1 / float(share)) == int(times)
    [(ours, casadi, seconds)] = re.findall(
        r"in ([\d.]+ ms)\. With CasADi's .* takes ([\d.]+ ms), after (\d+) s of", text
    )
    assert f"| direct collocation, solved by IPOPT | {ours} | casadi, C by gcc {casadi} |" in measured
    [compiling] = re.findall(r"^\| direct collocation, recorded .* casadi, C by gcc ([\d,]+ ms)", measured, re.M)
    assert round(number(compiling) / 1000) == int(seconds)


def test_microgpt_guide_matches_the_benchmark_results():
    # Each row of the guide's table is a row of the benchmark results.
    measured = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8").splitlines()
    rungs = re.findall(r"^\|.*\| float\d\d \|.*$", (ROOT / "docs/guides/microgpt.md").read_text("utf-8"), re.M)
    assert len(rungs) > 10
    assert set(rungs) <= set(measured)


def number(quantity: str) -> float:
    return float(quantity.split(maxsplit=1)[0].replace(",", ""))


def test_pictures_are_up_to_date(tmp_path):
    command = next(command for command, _ in commands() if "--film" in command)
    arguments = shlex.split(command)[1:]
    subprocess.run([sys.executable, "-m", "gradwalk", *arguments], capture_output=True, check=True, cwd=tmp_path)
    assert (tmp_path / "film.svg").read_text("utf-8") == (ROOT / "docs/images/film.svg").read_text("utf-8")
    a = Value(2.0, label="a")
    b, c = a + 1, a * 3
    d = b * c
    b.label, c.label, d.label = "b", "c", "d"
    d.backward()
    assert draw(d).svg == (ROOT / "docs/images/diamond.svg").read_text("utf-8")


@pytest.mark.parametrize(("file", "moving"), [("hero.svg", True), ("hero-still.svg", False)])
def test_moving_picture_is_up_to_date(file, moving):
    # Mend with: python tools/front_pictures.py
    assert (ROOT / "docs/images" / file).read_text("utf-8") == hero.svg(moving=moving)


def test_moving_picture_shows_the_numbers_of_its_code():
    names: dict[str, object] = {"Value": Value}
    exec("\n".join(hero.CODE), names)
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", hero.svg())
    for name in "abcd":
        value = names[name]
        assert isinstance(value, Value)
        assert f"{value.data:g}" in texts
        assert f"{value.grad:g}" in texts
    assert texts[-1] == "Nudge a, and d moves 15 times as far: 9 + 6."


def test_picture_of_a_network_is_up_to_date(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    guide = (ROOT / "docs/guides/seeing.md").read_text("utf-8")
    code = next(block for block in re.findall(r"^```python\n(.*?)^```", guide, re.M | re.S) if "network.svg" in block)
    exec(f"from gradwalk import draw\n{code}", {})
    assert (tmp_path / "network.svg").read_text("utf-8") == (ROOT / "docs/images/network.svg").read_text("utf-8")
