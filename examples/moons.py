"""Separate two interleaved half moons: micrograd's demo, with a picture of what the network learned.

    python examples/moons.py --output moons.png

100 points, an MLP(2, [16, 16, 1]), the max-margin loss of a support vector machine and weight decay; 100 steps of
gradient descent on all points at once. Needs matplotlib and scikit-learn: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from gradwalk import Value, no_grad
from gradwalk.math import relu, sumprod
from gradwalk.nn import MLP

Point = tuple[float, float]

WEIGHT_DECAY = 1e-4
BLUE, ORANGE = "#0072B2", "#D55E00"  # told apart by colour-blind eyes too
LIGHT_BLUE, LIGHT_ORANGE = "#66AAD1", "#E69E66"


def score(model: MLP, point: Point) -> Value:
    """Which moon the point belongs to: positive for the lower one, negative for the upper one."""
    output = model([Value(coordinate) for coordinate in point])
    assert isinstance(output, Value)  # not a list, for the last layer is a single neuron
    return output


def loss_and_accuracy(model: MLP, points: Sequence[Point], labels: Sequence[int]) -> tuple[Value, float]:
    """The mean shortfall from a margin of 1, plus weight decay; and the share of points on their right side."""
    scores = [score(model, point) for point in points]
    shortfalls = [relu(1 - label * s) for label, s in zip(labels, scores, strict=True)]
    parameters = model.parameters()
    loss = sum(shortfalls, Value(0)) / len(points) + WEIGHT_DECAY * sumprod(parameters, parameters)
    hits = sum((s > 0) == (label > 0) for label, s in zip(labels, scores, strict=True))
    return loss, hits / len(points)


def train(model: MLP, points: Sequence[Point], labels: Sequence[int], steps: int) -> None:
    """Descend the gradient of all points, in ever shorter steps."""
    for step in range(steps):
        loss, accuracy = loss_and_accuracy(model, points, labels)
        if step % 10 == 0:
            print(f"step {step:3}  loss {loss:.4f}  accuracy {accuracy:4.0%}")
        model.zero_grad()
        loss.backward()
        rate = 1.0 - 0.9 * step / steps
        for parameter in model.parameters():
            parameter.data -= rate * parameter.grad


def draw_scores(axes: Axes, model: MLP, points: Sequence[Point]) -> None:
    """Colour the plane by the model's score, with lines at the boundary and at the margins around it."""
    xs, ys = (np.linspace(min(c) - 0.5, max(c) + 0.5, 120).tolist() for c in zip(*points, strict=True))
    with no_grad():
        scores = [[score(model, (x, y)).data for x in xs] for y in ys]
    colours = LinearSegmentedColormap.from_list("moons", [LIGHT_ORANGE, "white", LIGHT_BLUE])
    filled = axes.contourf(xs, ys, scores, levels=np.linspace(-4, 4, 17), cmap=colours, extend="both")
    axes.contour(xs, ys, scores, levels=[-1, 0, 1], colors="black", linewidths=[1, 2, 1], linestyles=["--", "-", "--"])
    axes.figure.colorbar(filled, ax=axes, label="score (boundary at 0, margins at ±1)")


def draw(model: MLP, points: Sequence[Point], labels: Sequence[int], output: str) -> None:
    """Save a picture of the plane and the points."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    draw_scores(axes, model, points)
    for label, name, marker, colour in ((-1, "upper moon", "^", ORANGE), (1, "lower moon", "o", BLUE)):
        xs, ys = zip(*[point for point, its in zip(points, labels, strict=True) if its == label], strict=True)
        axes.scatter(xs, ys, label=name, marker=marker, color=colour, edgecolors="black", s=45)
    axes.set(xlabel="x", ylabel="y", title=f"Two moons, separated by {len(model.parameters())} scalars", aspect="equal")
    axes.legend(loc="upper right")
    figure.savefig(output, dpi=150)


def main() -> None:
    """Read the command line, train, report."""
    parser = argparse.ArgumentParser(description="Separate two half moons with an MLP of scalars.")
    parser.add_argument("--steps", type=int, default=100, help="of gradient descent (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1337, help="of points and weights (default: %(default)s)")
    parser.add_argument("--output", default="moons.png", help="where the picture goes (default: %(default)s)")
    options = parser.parse_args()

    random.seed(options.seed)
    coordinates, classes = make_moons(n_samples=100, noise=0.1, random_state=options.seed)
    points = [(x, y) for x, y in coordinates.tolist()]
    labels = [2 * c - 1 for c in classes.tolist()]
    model = MLP(2, [16, 16, 1])
    train(model, points, labels, options.steps)
    loss, accuracy = loss_and_accuracy(model, points, labels)
    print(f"at last   loss {loss:.4f}  accuracy {accuracy:4.0%}")
    draw(model, points, labels, options.output)
    print(f"picture   {options.output}")


if __name__ == "__main__":
    main()
