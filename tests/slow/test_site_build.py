"""The built documentation site has no broken links and loads nothing from the network; its examples run."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from documentation import DOCS, PAGES, site_in
from test_readme import blocks, expected
from test_site import resolved
from website.names import public_names


class Page(HTMLParser):
    """The links, loaded files and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        self.ids.add(found.get("id", ""))
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and found.get("rel") not in ("index", "search", "next", "prev"):
            self.loads.append(found["href"])
        elif "src" in found:
            self.loads.append(found["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    pytest.importorskip("furo")
    return site_in(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {file: Page(file.read_text("utf-8")) for file in site.rglob("*.html")}


def test_site_has_every_page(site, pages):
    assert {site / page.relative_to(DOCS).with_suffix(".html") for page in PAGES} <= set(pages)


def test_links_and_anchors_are_valid(pages):
    broken = []
    for file, page in pages.items():
        for link in page.links:
            path, _, anchor = unquote(link).partition("#")
            if re.match(r"[a-z]+:", path):
                continue
            target = (file.parent / path).resolve() if path else file
            known = pages.get(target)
            if not target.exists() or (anchor and known and anchor not in known.ids):
                broken.append(f"{file.name}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_the_network(site, pages):
    loads = {load for page in pages.values() for load in page.loads}
    assert len(loads) > 20
    assert [load for load in loads if not load.startswith("data:") and re.match(r"(https?:)?//", load)] == []
    styles = "".join(file.read_text("utf-8") for file in site.rglob("*.css"))
    assert re.findall(r"@import|url\(\s*['\"]?(?:https?:)?//", styles) == []


def test_loaded_files_exist(pages):
    local = [(file, load) for file, page in pages.items() for load in page.loads if not load.startswith("data:")]
    assert [load for file, load in local if not (file.parent / load.partition("?")[0]).exists()] == []


def test_every_public_name_is_in_the_inventory(site):
    _, _, _, _, packed = (site / "objects.inv").read_bytes().split(b"\n", 4)
    inventory = {line.split(" ")[0] for line in zlib.decompress(packed).decode().splitlines()}
    assert {f"gradwalk.{name}" for name in public_names()} <= inventory


def test_broken_link_fails_the_build(tmp_path):
    # Build a page with a wrong anchor with the settings of docs/.
    pytest.importorskip("furo")
    (tmp_path / "index.md").write_text("# Title\n\n[wrong](#nowhere)\n", encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-c", str(DOCS), str(tmp_path), str(tmp_path / "site")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "nowhere" in result.stderr


# Code and names of other libraries


OTHERS = [
    (page, library)
    for page in PAGES
    for library in sorted(set(re.findall(r"^```python (\w+)$", page.read_text("utf-8"), re.M)))
]


@pytest.mark.parametrize(("page", "library"), OTHERS, ids=lambda part: getattr(part, "stem", part))
def test_code_of_other_libraries_prints_the_documented_output(page, library):
    pytest.importorskip(library)
    names: dict[str, object] = {"__name__": "document"}
    for block in blocks(page, f"python {library}"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, str(page), "exec", dont_inherit=True), names)
        assert printed.getvalue().splitlines() == list(expected(block.splitlines())), block


@pytest.mark.parametrize(("page", "library"), OTHERS, ids=lambda part: getattr(part, "stem", part))
def test_names_of_other_libraries_in_the_tables_exist(page, library):
    found = re.findall(r"^\| `([\w.]+)` \|", page.read_text("utf-8"), re.M)
    assert len(found) > 8
    for dotted in found:
        pytest.importorskip(dotted.partition(".")[0])
        assert resolved(dotted) is not None
