"""The page responds quickly: it opens within 300 ms, a step fits in a frame, and large graphs open as a picture.

Measured in headless Chromium, on local files. The time of a step is the time of the main thread in the frame of a
click, from the click until everything is painted. Steps and openings are the fastest of three walks. The frames of the
microgpt page are measured during training, with each of its parts in view; the longest frame is reported.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections import deque
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from timing import Row, at_most, example, main

from gradwalk import Value, nn, opened, source_lines, walk
from gradwalk.explain.page.page import microgpt_page, page

# Runs before the page's own module. `drawn` is the time when the graph is painted, in ms since the navigation began.
# `painted` does some work in a frame, and returns when the frame began and when it was painted.
WATCH = """
window.root = () => document.querySelector("[data-gradwalk]")?.shadowRoot;
window.painted = (work) => new Promise((resolve) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  const start = performance.now();
  port1.onmessage = () => resolve({ start, end: performance.now() });
  work?.();
  port2.postMessage(null); // arrives after this frame is painted
}));
window.drawn = new Promise((resolve) => {
  const look = () => {
    if (root()?.querySelector(".node, .part")) painted().then(({ end }) => resolve(end));
    else requestAnimationFrame(look);
  };
  look();
});
"""

PAINT = """async () => {
  const paint = new Promise((resolve) => {
    const note = ({ name, startTime }) => name === "first-contentful-paint" && resolve(startTime);
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type: "paint", buffered: true });
  });
  return Promise.all([paint, drawn]);
}"""

# Milliseconds of each step: from the start of a frame, through the click, until the frame is painted.
STEPS = """async () => {
  const find = (name) => root().querySelector(`button[aria-label='${name}']`);
  const times = [];
  find("To the start").click(); // programs open at the end
  while (find("Next step")) {
    const { start, end } = await painted(() => find("Next step").click());
    times.push(end - start);
  }
  return times;
}"""

# Milliseconds from the click on each part, and on one part inside it, until its content is painted.
OPENINGS = """async (most) => {
  const first = () => root().querySelector(".node, .part");
  const parts = () => [...root().querySelectorAll(".part .hit")];
  const click = async (target) => {
    const [before, start] = [first(), performance.now()];
    target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    while (first() === before) await new Promise(requestAnimationFrame);
    return (await painted()).end - start;
  };
  const back = () => click(root().querySelector(".path button"));
  const times = [];
  for (let i = 0; i < Math.min(parts().length, most); i += 1) {
    const outside = new Set(parts().map((part) => part.ariaLabel));
    times.push(await click(parts()[i]));
    const inside = parts().find((part) => !outside.has(part.ariaLabel));
    if (inside) times.push(await click(inside));
    await back();
  }
  return times;
}"""

# Milliseconds of a training step, and of the longest frame during training.
TRAINING = """async ([part, steps]) => {
  const find = (selector) => root().querySelector(selector);
  const frame = () => new Promise(requestAnimationFrame);
  while (!find(".transport .at[data-step='0']")) await frame();
  const step = () => Number(find(".transport .at").dataset.step);
  find(".transport select").value = "0"; // full speed
  find(".transport select").dispatchEvent(new Event("change"));
  find(".transport button.main").click();
  find(`#${part}`).scrollIntoView();
  while (step() < 20) await frame();
  const [start, first] = [performance.now(), step()];
  let [last, longest] = [start, 0];
  while (step() < steps) {
    const now = await frame();
    longest = Math.max(longest, now - last);
    last = now;
  }
  return [(last - start) / (step() - first), longest];
}"""


def tree(leaves: int) -> Value:
    """Build a graph in which each operation has two operands that no other operation uses."""
    waiting = deque(Value(0.1 + i / leaves, label=f"x{i}") for i in range(leaves))
    while len(waiting) > 1:
        a, b = waiting.popleft(), waiting.popleft()
        waiting.append(a * b + 1 if len(waiting) == leaves // 2 else a * b)
    return waiting[0]


def chain(operations: int) -> Value:
    """Build a graph in which operations follow one another."""
    x = y = Value(0.5, label="x")
    for _ in range(operations):
        y = y * x + 0.25
    return y


def network(samples: int) -> Value:
    """Return the loss of a network whose parameters are labeled with their modules."""
    random.seed(1337)
    model = nn.MLP(2, [16, 16, 1])
    for name, parameter in model.named_parameters():
        parameter.label = name
    outputs: list[Any] = [model([random.random(), random.random()]) for _ in range(samples)]
    loss: Value = sum(((output - 1.0) ** 2 for output in outputs), Value(0.0))
    return loss


def transformer(name: str) -> Value:
    """Return the loss of microgpt on a name, with named parts."""
    microgpt = example("microgpt")
    tokenizer = microgpt.Tokenizer(microgpt.NAMES.read_text().split())
    weights = microgpt.named_values(microgpt.initial_weights(len(tokenizer), random.Random(42)))
    tokens = tokenizer.encode(name)
    with source_lines():
        loss: Value = microgpt.loss(weights, tokens[:-1], tokens[1:])
    loss.backward()
    return loss


def measure(quick: bool) -> list[Row]:
    """Return the rows, or an empty list without a browser; the reason is printed to stderr."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415
    except ModuleNotFoundError:
        return skipped("Playwright is missing: pip install 'gradwalk[browser]'")
    if chromium is None:
        return skipped("Chromium is missing: apt-get install chromium")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        return rows(Browser(browser, Path(folder)), quick)


def skipped(reason: str) -> list[Row]:
    """Print why the benchmark is skipped, and return no rows."""
    print(f"skipping page.py: {reason}", file=sys.stderr)
    return []


class Browser:
    """Chromium and a folder of pages."""

    def __init__(self, chromium: Any, folder: Path) -> None:
        self.chromium = chromium
        self.folder = folder

    def file(self, name: str, root: Value | None) -> Path:
        """Write a page to disk."""
        path = self.folder / f"{name}.html"
        path.write_text(page(None if root is None else walk(root).essence(), name), encoding="utf-8")
        return path

    def from_walk_to_paint(self, graph: Any, turns: int) -> float:
        """Return the ms from walk() to its picture, the fastest of some turns in Python and in the browser."""
        times = []
        for _ in range(turns):
            start = perf_counter()
            text = page(walk(graph).essence(), "microgpt")
            times.append(1000 * (perf_counter() - start))
        path = self.folder / "transformer.html"
        path.write_text(text, encoding="utf-8")
        return min(times) + min(self.paints(path, 1)[1] for _ in range(turns))

    def training(self, turns: int, steps: int) -> list[Row]:
        """Return the rows of the microgpt page during training."""
        path = self.folder / "microgpt.html"
        path.write_text(microgpt_page(), encoding="utf-8")
        found = []
        for part in ("train", "attention", "weights"):
            step, longest = self.times(turns, path, TRAINING, [part, steps])
            found += [
                at_most(f"a training step of microgpt in its page, the part {part} in sight", "ms", step, 50),
                at_most(f"the longest frame meanwhile, the part {part} in sight", "ms", longest, 100),
            ]
        return found

    def opened(self, path: Path) -> Any:
        """Open a page in a new tab."""
        tab = self.chromium.new_page(viewport={"width": 1280, "height": 800})
        tab.add_init_script(WATCH)
        tab.goto(path.as_uri())
        return tab

    def paints(self, path: Path, times: int) -> tuple[float, float]:
        """Return the median times in ms until the first paint and until the graph is painted."""
        found = []
        for _ in range(times):
            tab = self.opened(path)
            found.append(tab.evaluate(PAINT))
            tab.close()
        first, drawn = zip(*found, strict=True)
        return median(first), median(drawn)

    def times(self, turns: int, path: Path, script: str, argument: object = None) -> list[float]:
        """Return the times in ms that a script measures in a page, each the fastest of some turns."""
        found: list[list[float]] = []
        for _ in range(turns):
            tab = self.opened(path)
            tab.locator(".node, .part, [data-step]").first.wait_for()
            found.append(tab.evaluate(script, argument))
            tab.close()
        return [min(times) for times in zip(*found, strict=True)]


def rows(browser: Browser, quick: bool) -> list[Row]:
    """Measure everything and return the rows."""
    turns, samples, parts = (1, 2, 2) if quick else (3, 68, 99)
    lesson = browser.file("lesson", None)
    small = {"tree": browser.file("tree", tree(50)), "chain": browser.file("chain", chain(50))}
    large = browser.file("network", network(samples))
    nodes = len(walk(network(samples)).graph)
    graph = opened(transformer("jo" if quick else "christophe"))
    first, drawn = browser.paints(lesson, 3 * turns)
    _, collapsed = browser.paints(large, 3 * turns)
    openings = browser.times(turns, large, OPENINGS, parts)
    found = [
        at_most("page of the lesson, with all in it", "MB", lesson.stat().st_size / 1e6, 0.6),
        at_most("lesson from disk, first paint", "ms", first, 300),
        at_most("lesson from disk, graph painted", "ms", drawn, 300),
    ]
    for shape, path in small.items():
        steps = browser.times(turns, path, STEPS)
        found.append(at_most(f"step in a {shape} of 100 nodes, median of {len(steps)}", "ms", median(steps), 16))
        found.append(at_most(f"step in a {shape} of 100 nodes, 95th percentile", "ms", quantiles(steps, n=20)[-1], 16))
    loss = network(4 if quick else 1440)
    huge = browser.file("huge", loss)
    _, pictured = browser.paints(huge, 3 * turns)
    boxes = browser.times(turns, huge, OPENINGS, parts)
    return [
        *found,
        at_most(f"network of {len(walk(loss).graph):,} nodes from disk, its picture painted", "ms", pictured, 1000),
        at_most(f"opening a part of it, median of {len(boxes)}", "ms", median(boxes), 200),
        at_most(f"network of {nodes:,} nodes from disk, painted by module", "ms", collapsed, 2000),
        at_most(f"opening a part of it, median of {len(openings)}", "ms", median(openings), 200),
        at_most("opening a part of it, the slowest", "ms", max(openings), 200),
        at_most(
            f"a step of microgpt, {len(graph):,} nodes, from walk() to its modules painted",
            "ms",
            browser.from_walk_to_paint(graph, turns),
            1000,
        ),
        *browser.training(turns, 200 if quick else 1000),
    ]


if __name__ == "__main__":
    main(measure)
