"""The guide "Ship it": its commands, its C++ program and its page give the results of its Python code."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy
import pytest
from c_compiler import needs_program
from checkout import ROOT

pytestmark = [needs_program("cmake"), needs_program("c++")]
GUIDE = (ROOT / "docs/guides/ship.md").read_text(encoding="utf-8")

FETCH = """
import { readFileSync } from "node:fs";
globalThis.fetch = async (path) => ({ arrayBuffer: async () => readFileSync(path) });
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.M | re.S)


@pytest.fixture(scope="module")
def names(tmp_path_factory) -> dict[str, Any]:
    """Run the Python code of the guide, except the part with Dask; return its names, with the folder as "here"."""
    folder = tmp_path_factory.mktemp("ship")
    found: dict[str, Any] = {"__name__": "guide", "print": lambda *_: None, "here": folder}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in blocks("python"):
            if "dask" not in block:
                exec(compile(block, "ship.md", "exec", dont_inherit=True), found)
    return found


def run(command: str, folder: Any) -> str:
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True, cwd=folder).stdout


def expected(names: dict[str, Any]) -> str:
    """Return the value and the delta of the small book that the C++ program and the page compute."""
    calls = (numpy.array([90.0, 100.0, 110.0]), numpy.array([0.5, 1.0, 1.5]), numpy.array([1.0, -2.0, 1.0]))
    value, (delta, _) = names["book"](100.0, numpy.array([0.02, 0.1, -0.3, 0.1, 0.2]), *calls)
    return f"{value:.6f} {delta:.6f}\n"


def test_cpp(names):
    build, compile_main = blocks("sh")
    assert "100% tests passed" in run(build, names["here"])
    (names["here"] / "main.cpp").write_text(blocks("cpp")[0], encoding="utf-8")
    assert run(compile_main, names["here"]) == expected(names)


def test_python_loader(names, monkeypatch):
    run(blocks("sh")[0], names["here"])
    monkeypatch.chdir(names["here"])
    monkeypatch.syspath_prepend(names["here"] / "book")
    found = {"smile": names["smile"], "calls": names["calls"]}
    exec(compile(blocks("py")[0], "ship.md", "exec", dont_inherit=True), found)
    sys.modules.pop("book")
    numbers = [found["value"], found["delta"], *found["vegas"]]
    numpy.testing.assert_allclose(numbers, [names["value"], names["delta"], *names["vegas"]], rtol=1e-12)


@needs_program("node")
@needs_program("emcc", "zig")
def test_page(names):
    run("sh book/build_wasm.sh", names["here"])
    (names["here"] / "page.mjs").write_text(FETCH + blocks("js")[0], encoding="utf-8")
    assert run("node page.mjs", names["here"]) == expected(names)
