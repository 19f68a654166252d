"""The stage alone, in Chromium. `python harness.py FOLDER [NAME ...]` writes pictures of its graphs to a folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from gradwalk import Graph, Value, nn
from gradwalk.math import maximum

WEB = Path(__file__).parent.parent.parent
BUNDLE = """
import { build } from "esbuild";
import { layoutLibrary } from "./plugins.js";
const made = await build({
  entryPoints: ["tests/stage/harness.js"],
  bundle: true,
  write: false,
  format: "iife",
  loader: { ".css": "text" },
  plugins: [layoutLibrary],
});
process.stdout.write(made.outputFiles[0].text);
"""


def bundled() -> str:
    """Bundle the harness into one script."""
    command = ["node", "--input-type=module", "-e", BUNDLE]
    return subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=True).stdout


def launched(playwright: Any) -> Browser:
    """Launch a headless browser."""
    return playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])


def opened(browser: Browser, script: str, **options: Any) -> Page:
    """Open a page with an empty stage."""
    page = browser.new_page(viewport={"width": 1100, "height": 520}, reduced_motion="reduce", **options)
    page.set_content("<!doctype html><html lang=en><title>stage</title><body style='margin:0'>")
    page.add_script_tag(content=script)
    return page


def draw(page: Page, root: Value, at: int = 0, marks: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """Draw a graph at a step of its walk."""
    document = json.loads(Graph.record(root).to_json())
    told: dict[str, Any] = page.evaluate("([json, options]) => harness.open(json, options)", [document, options])
    page.evaluate("([at, marks]) => harness.show(at, marks)", [at, marks or {}])
    return told


def neuron() -> Value:
    x1, x2, w1, w2 = (Value(v, label=n) for v, n in [(2.0, "x1"), (0.0, "x2"), (-3.0, "w1"), (1.0, "w2")])
    b = Value(6.8813735870195432, label="b")
    a, c = x1 * w1, x2 * w2
    s = a + c
    n = s + b
    o = n.tanh()
    a.label, c.label, s.label, n.label, o.label = "x1*w1", "x2*w2", "x1*w1 + x2*w2", "n", "o"
    return o


def twice() -> Value:
    a = Value(3.0, label="a")
    b = a + a
    b.label = "b"
    return b


def diamond() -> Value:
    a = Value(2.0, label="a")
    b, c = a + 1, a * 3
    d = b * c
    b.label, c.label, d.label = "b", "c", "d"
    return d


def tree() -> Value:
    """Build about fifty nodes, two of which are used far away."""
    leaves = [Value(0.1 * i - 0.7, label=f"x{i}") for i in range(16)]
    level = leaves
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [(p * q).tanh() if i % 2 else maximum(p, 0.3) + q for i, (p, q) in enumerate(pairs)]
    return level[0] + leaves[3] * leaves[9]


HOSTILE = [
    "<script>alert(1)</script>",
    "\u6df1\u5c64\u5b66\u7fd2\u306e\u52fe\u914d\u306f\u5f8c\u308d\u304b\u3089\u6d41\u308c\u308b",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    "\U0001f389" * 30,
    "x" * 500,
    "a\nb\tc",
    "Z\u0351\u036b\u0343" * 40,
    "\u202ereversed\u202c",
    "constructor",
    "__proto__",
]


def hostile() -> Value:
    """Build a graph whose labels and numbers barely fit into the boxes."""
    sizes = [10.0 ** (i * 37 % 61 - 30) for i in range(len(HOSTILE))]
    values = [Value(-1.234567 * size, label=label) for size, label in zip(sizes, HOSTILE, strict=True)]
    out = values[0]
    for value in values[1:]:
        out = out + value * 1.5
    return out.exp() * float("inf")


def network() -> Value:
    """Build the output of a perceptron, which is drawn by module."""
    model = nn.MLP(3, [8, 8, 1])
    for name, parameter in model.named_parameters():
        parameter.label = name
    out = model([Value(1.0, label="x0"), Value(-2.0, label="x1"), Value(0.5, label="x2")])
    return out[0] if isinstance(out, list) else out


GRAPHS = {make.__name__: make for make in (neuron, twice, diamond, tree, hostile, network)}


def main(folder: Path, names: list[str]) -> None:
    """Draw every graph at five steps, and the diamond in each way that a walk can go wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = launched(playwright)
        script = bundled()
        for theme in ("light", "dark"):
            page = opened(browser, script, color_scheme=theme)

            def picture(name: str, page: Page = page, theme: str = theme) -> None:
                page.screenshot(path=folder / f"{name}-{theme}.png")

            for name in names or list(GRAPHS):
                steps = draw(page, GRAPHS[name]())["steps"]
                for quarter in range(5):
                    page.evaluate("at => harness.show(at)", steps * quarter // 4)
                    picture(f"{name}-{quarter}")
            for order in ([1, 3, 2, 0], [3, 1, 0, 2]):
                badges = [[place, i + 1] for i, place in enumerate(order)]
                for at in (-3, -2, -1):
                    draw(page, diamond(), at, {"badges": badges, "selected": {"place": 2}}, order=order)
                    picture(f"order-{order[0]}{at}")
            draw(page, diamond(), -1, {"selected": {"edge": "3:1"}}, overwrite=True)
            picture("overwrite")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
