"""Plot the loss of microgpt on held-out names against training time, for several rungs of the ladder."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Mapping
from itertools import cycle
from time import process_time
from typing import Any, NamedTuple

import numpy
from timing import example

from gradwalk import jit, vmap

STEPS = 1000
LONGEST = 75.0  # seconds of training
HELD_OUT = 200  # names

# The curves: (way, dtype, names per step) -> (label, style).
SHOWN = {
    ("plain Python, collector off", "float64", 1): ("plain Python", "faint"),
    ("gradwalk, on Values", "float64", 1): ("gradwalk, on Values", "orange"),
    ("gradwalk, the step as one program", "float64", 1): ("gradwalk, the step as one program", "blue"),
    ("gradwalk, batches", "float32", 16): ("gradwalk, batches of 16 names", "green"),
    ("C++, gradients by hand", "float32", 1): ("C++, gradients by hand", "faint dashed"),
    ("C++, by hand, names side by side", "float32", 16): ("C++, by hand, 16 names side by side", "faint dotted"),
}

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 420, 56, 300, 40, 52  # in pixels; the last four are margins
TIMES, LOSSES = (1e-4, 1e2), (1.6, 3.4)
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 } .quiet { fill: #59636e } .paper { fill: #ffffff }
path { fill: none; stroke-width: 2.5; stroke-linejoin: round } .grid { stroke: #d8dee4; stroke-width: 1 }
.faint { stroke: #8c959f } .orange { stroke: #c4620f } .blue { stroke: #0969da } .green { stroke: #1a7f37 }
.dashed { stroke-dasharray: 8 4 } .dotted { stroke-dasharray: 2 4 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .quiet { fill: #9198a1 } .paper { fill: #15181d } .grid { stroke: #30363d }
  .faint { stroke: #7d8590 } .orange { stroke: #f0883e } .blue { stroke: #58a6ff } .green { stroke: #3fb950 }
}
"""


class Curve(NamedTuple):
    """Points of (seconds, loss), with the name and the style of the curve."""

    name: str
    look: str
    points: list[tuple[float, float]]


def drawn(data: Any, makers: Mapping[Any, Callable[[Any, int], Any]], quick: bool) -> str:
    """Train the implementations in `SHOWN` and return the picture."""
    curves = []
    gc.disable()  # as for the table
    for key, (name, look) in SHOWN.items():
        if key in makers:
            trainer = makers[key](data.weights, STEPS)
            curves.append(Curve(name, look, trained(trainer, data, key[2], 4 if quick else STEPS)))
    gc.enable()
    return picture(curves)


def trained(trainer: Any, data: Any, batch: int, steps: int) -> list[tuple[float, float]]:
    """Return (seconds, held-out loss) after 1, 2, 3, 5, 7, 10, ... steps; evaluating the loss is not timed."""
    tokens = data.usual[:HELD_OUT].astype(float)
    known = data.usual[HELD_OUT:]
    order = numpy.random.default_rng(0).permutation(len(known))
    following = cycle(range(0, len(known) - batch, batch))
    of_held_out = jit(vmap(example("microgpt").loss, in_axes=(None, 0, 0), reduce="mean"))
    points = []
    elapsed, due = 0.0, 1.0
    for step in range(1, steps + 1):
        start = next(following)
        picked = known[order[start : start + batch]]
        began = process_time()
        trainer.train(picked if batch > 1 else picked[0])
        elapsed += process_time() - began
        if step >= due or step == steps or elapsed > LONGEST:
            weights = {name: numpy.asarray(matrix, float) for name, matrix in trainer.weights.items()}
            points.append((elapsed, float(of_held_out(weights, tokens[:, :-1], tokens[:, 1:]))))
            due = max(step + 1, 1.4 * step)
        if elapsed > LONGEST:
            break
    return points


def picture(curves: list[Curve]) -> str:
    """Draw the curves with a logarithmic time axis."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}">',
        "<title>microgpt: the loss on names that it has not seen, by seconds of training</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        *_axes(),
    ]
    for i, curve in enumerate(curves):
        line = " L".join(f"{_across(seconds):.1f} {_down(loss):.1f}" for seconds, loss in curve.points)
        y = TOP + 20 + 24 * i
        x = WIDTH - RIGHT + 16
        parts.append(f'<path class="{curve.look}" d="M{line}"/>')
        parts.append(f'<path class="{curve.look}" d="M{x} {y} h24"/><text x="{x + 32}" y="{y + 4}">{curve.name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _axes() -> list[str]:
    """Draw grid lines at powers of ten and at every 0.2 nats, with labels."""
    parts = []
    for power in range(round(math.log10(TIMES[0])), round(math.log10(TIMES[1])) + 1):
        x = _across(10.0**power)
        text = (
            f"{10**power} s" if power >= 0 else f"{10 ** (power + 3)} ms" if power >= -3 else f"{10 ** (power + 6)} µs"
        )
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP} V{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text class="quiet" x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{text}</text>')
    for tenth in range(round(10 * LOSSES[0]), round(10 * LOSSES[1]) + 1, 2):
        y = _down(tenth / 10)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f} H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="quiet" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>')
    parts.append(f'<text x="{LEFT - 40}" y="{TOP - 16}">loss on held-out names, nats a letter</text>')
    parts.append(
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 12}" text-anchor="end">time of training, recording included</text>'
    )
    return parts


def _across(seconds: float) -> float:
    """Return the x coordinate of a time."""
    share = math.log(max(seconds, TIMES[0]) / TIMES[0]) / math.log(TIMES[1] / TIMES[0])
    return LEFT + (WIDTH - RIGHT - LEFT) * min(share, 1.0)


def _down(loss: float) -> float:
    """Return the y coordinate of a loss."""
    share = (LOSSES[1] - loss) / (LOSSES[1] - LOSSES[0])
    return TOP + (HEIGHT - TOP - BOTTOM) * min(max(share, 0.0), 1.0)
