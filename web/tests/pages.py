"""Pages for the tests and pictures: the lesson, microgpt, and graphs of programs and networks."""

from __future__ import annotations

import contextlib
import io
import random
import runpy
import shutil
from pathlib import Path
from typing import Any

from gradwalk import Value, nn, walk
from gradwalk.explain.page.page import microgpt_page, page
from gradwalk.explain.timeline import Recorder
from gradwalk.value.modes import source_lines
from gradwalk.value.sweep.backward import observed

# The first one has no windows, so it needs less time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, _NAMES)), None)

PROGRAM = '''\
"""A step of gradient descent."""

from gradwalk import Value

x1, x2 = Value(1.0, label="x1"), Value(-2.0, label="x2")
w1, w2 = Value(0.8, label="w1"), Value(0.3, label="w2")
b = Value(0.1, label="b")


def neuron():
    """A weighted sum, squashed."""
    n = x1 * w1 + x2 * w2 + b
    return n.tanh()


out = neuron()
out.label = "out"
loss = (out - 1.0) ** 2
loss.label = "loss"
loss.backward()
'''

TRAINING = """\
from gradwalk import Value

points = [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]
slope, shift = Value(0.0), Value(0.0)
for epoch in range(12):
    errors = [(slope * x + shift - y) ** 2 for x, y in points]
    loss = sum(errors, Value(0.0)) * (1.0 / len(points))  # the mean of the squares, which least squares makes small
    loss.backward()
    print(slope.grad, shift.grad)
    for parameter in (slope, shift):
        parameter.data -= 0.02 * parameter.grad
"""


def lesson(folder: Path) -> Path:
    """Write the page of the lesson."""
    return written(folder / "lesson.html", page())


def microgpt(folder: Path) -> Path:
    """Write the microgpt page, which trains in the browser."""
    return written(folder / "microgpt.html", microgpt_page())


def program(folder: Path) -> Path:
    """Write a page with a program's graph and source."""
    script = written(folder / "train.py", PROGRAM)
    with source_lines():
        loss = runpy.run_path(str(script))["loss"]
    return written(folder / "program.html", page(walk(loss).essence(), "train.py"))


def training(folder: Path) -> Path:
    """Write a page with the passes and source of a training loop that never zeroes its gradients."""
    script = written(folder / "loop.py", TRAINING)
    recorder = Recorder()
    with observed(recorder), source_lines(), contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(script))
    timeline = recorder.timeline()
    assert timeline is not None
    return written(folder / "training.html", page(walk(timeline.graph).essence() | timeline.to_dict(), "loop.py"))


def network(folder: Path) -> Path:
    """Write a page with a loss of about 5,000 nodes, whose parameters' labels name their modules."""
    return written(
        folder / "network.html", page(walk(loss_of_network(samples=68)).essence(), "the loss of a perceptron")
    )


def loss_of_network(samples: int) -> Value:
    """Compute the loss of a perceptron with two hidden layers of 16 neurons."""
    random.seed(1337)
    model = nn.MLP(2, [16, 16, 1])
    for name, parameter in model.named_parameters():
        parameter.label = name
    outputs: list[Any] = [model([random.random(), random.random()]) for _ in range(samples)]
    loss: Value = sum(((output - 1.0) ** 2 for output in outputs), Value(0.0))
    loss.label = "loss"
    return loss


def diamond() -> Value:
    """Build d = (a + 1) * (3*a) at a = 2, where two paths lead from a to d."""
    a = Value(2.0, label="a")
    b, c = a + 1, a * 3
    d = b * c
    b.label, c.label, d.label = "b", "c", "d"
    return d


def written(path: Path, text: str) -> Path:
    """Write a text to a path and return the path."""
    path.write_text(text, encoding="utf-8")
    return path
