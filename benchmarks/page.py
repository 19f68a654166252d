"""The page is quick: it opens in an instant, a step fits in a frame, and thousands of nodes open collapsed.

Measured inside headless Chromium, from disk, on pages of nothing but this machine. A step is what the main thread does
in the frame of a click, from the click until all is painted; steps and openings are the fastest of three walks. So are
the frames of the page of microgpt while it trains, of which the longest is told, in each of its parts.
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

# Run before the page's own module: notes when its graph is painted, in milliseconds since the navigation began.
# `painted` does some work in a frame, and tells when the frame began and when all was painted.
WATCH = """
window.root = () => document.querySelector("[data-gradwalk]")?.shadowRoot;
window.painted = (work) => new Promise((resolve) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  const start = performance.now();
  port1.onmessage = () => resolve({ start, end: performance.now() });
  work?.();
  port2.postMessage(null); // comes when this frame is painted
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

# The milliseconds of each step. A frame begins, the button is clicked, and the frame ends with all painted.
STEPS = """async () => {
  const next = root().querySelector("button[aria-label='Next step']");
  const times = [];
  while (next.getAttribute("aria-disabled") === null) {
    const { start, end } = await painted(() => next.click());
    times.push(end - start);
  }
  return times;
}"""

# The milliseconds from the click on each part, and on some parts in it, until what is in it is painted.
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

# The milliseconds of a training step, and of the longest frame meanwhile.
TRAINING = """async ([part, steps]) => {
  const find = (selector) => root().querySelector(selector);
  const frame = () => new Promise(requestAnimationFrame);
  while (!find(".transport .at[data-step='0']")) await frame();
  const step = () => Number(find(".transport .at").dataset.step);
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
    """A graph in which every operation has two operands of its own."""
    waiting = deque(Value(0.1 + i / leaves, label=f"x{i}") for i in range(leaves))
    while len(waiting) > 1:
        a, b = waiting.popleft(), waiting.popleft()
        waiting.append(a * b + 1 if len(waiting) == leaves // 2 else a * b)
    return waiting[0]


def chain(operations: int) -> Value:
    """A graph of one operation after another."""
    x = y = Value(0.5, label="x")
    for _ in range(operations):
        y = y * x + 0.25
    return y


def network(samples: int) -> Value:
    """The loss of a network whose parameters say by their labels where they belong."""
    random.seed(1337)
    model = nn.MLP(2, [16, 16, 1])
    for name, parameter in model.named_parameters():
        parameter.label = name
    outputs: list[Any] = [model([random.random(), random.random()]) for _ in range(samples)]
    loss: Value = sum(((output - 1.0) ** 2 for output in outputs), Value(0.0))
    return loss


def transformer(name: str) -> Value:
    """The loss of microgpt on a name, whose parts have names."""
    microgpt = example("microgpt")
    tokenizer = microgpt.Tokenizer(microgpt.NAMES.read_text().split())
    weights = microgpt.named_values(microgpt.initial_weights(len(tokenizer), random.Random(42)))
    tokens = tokenizer.encode(name)
    with source_lines():
        loss: Value = microgpt.loss(weights, tokens[:-1], tokens[1:])
    loss.backward()
    return loss


def measure(quick: bool) -> list[Row]:
    """The rows; none, and the reason on the standard error, where there is no browser to measure in."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415
    except ModuleNotFoundError:
        return skipped("Playwright is missing: pip install 'gradwalk[browser]'")
    if chromium is None:
        return skipped("there is no Chromium on this machine: apt-get install chromium")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        return rows(Browser(browser, Path(folder)), quick)


def skipped(reason: str) -> list[Row]:
    """No rows."""
    print(f"page.py is skipped: {reason}", file=sys.stderr)
    return []


class Browser:
    """Chromium, and the folder whose pages it opens."""

    def __init__(self, chromium: Any, folder: Path) -> None:
        self.chromium = chromium
        self.folder = folder

    def file(self, name: str, root: Value | None) -> Path:
        """A page on disk."""
        path = self.folder / f"{name}.html"
        path.write_text(page(None if root is None else walk(root).essence(), name), encoding="utf-8")
        return path

    def from_walk_to_paint(self, graph: Any, turns: int) -> float:
        """Milliseconds from walk() to its picture: the fastest of some turns in Python, and of some in the browser."""
        times = []
        for _ in range(turns):
            start = perf_counter()
            text = page(walk(graph).essence(), "microgpt")
            times.append(1000 * (perf_counter() - start))
        path = self.folder / "transformer.html"
        path.write_text(text, encoding="utf-8")
        return min(times) + min(self.paints(path, 1)[1] for _ in range(turns))

    def training(self, turns: int, steps: int) -> list[Row]:
        """The rows of the page of microgpt, while it trains."""
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
        """A new tab with a page in it."""
        tab = self.chromium.new_page(viewport={"width": 1280, "height": 800})
        tab.add_init_script(WATCH)
        tab.goto(path.as_uri())
        return tab

    def paints(self, path: Path, times: int) -> tuple[float, float]:
        """Milliseconds until the first paint, and until the graph is painted: the median of some navigations."""
        found = []
        for _ in range(times):
            tab = self.opened(path)
            found.append(tab.evaluate(PAINT))
            tab.close()
        first, drawn = zip(*found, strict=True)
        return median(first), median(drawn)

    def times(self, turns: int, path: Path, script: str, argument: object = None) -> list[float]:
        """What a script measures in a page, in milliseconds: of each, the fastest of some turns."""
        found: list[list[float]] = []
        for _ in range(turns):
            tab = self.opened(path)
            tab.locator(".node, .part, [data-step]").first.wait_for()
            found.append(tab.evaluate(script, argument))
            tab.close()
        return [min(times) for times in zip(*found, strict=True)]


def rows(browser: Browser, quick: bool) -> list[Row]:
    """What is measured."""
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
    return [
        *found,
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
