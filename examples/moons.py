"""Separate two interleaved half moons: micrograd's demo, with a picture of what the network learned.

    python examples/moons.py --output moons.png

100 points, an MLP(2, [16, 16, 1]), the max-margin loss of a support vector machine and weight decay; 100 steps of
gradient descent on all points at once: the loss of one point is differentiated and recorded, and replayed on batches.
Needs matplotlib and scikit-learn: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from gradwalk import jit, value_and_grad, vmap
from gradwalk.math import relu, sumprod
from gradwalk.nn import MLP

WEIGHT_DECAY = 1e-4
BLUE, ORANGE = "#0072B2", "#D55E00"  # told apart by colour-blind eyes too
LIGHT_BLUE, LIGHT_ORANGE = "#66AAD1", "#E69E66"


def score(model: MLP, point: Any) -> Any:
    """Which moon the point belongs to: positive for the lower one, negative for the upper one."""
    return model(point)


def loss_and_hit(model: MLP, point: Any, label: Any) -> tuple[Any, Any]:
    """The shortfall from a margin of 1, plus weight decay; and whether the point is on its right side."""
    margin = label * score(model, point)
    parameters = model.parameters()
    return relu(1 - margin) + WEIGHT_DECAY * sumprod(parameters, parameters), margin > 0


def train(model: MLP, points: Any, labels: Any, steps: int) -> None:
    """Descend the gradient of all points, in ever shorter steps."""
    step_of_all = jit(vmap(value_and_grad(loss_and_hit, has_aux=True), in_axes=(None, 0, 0), reduce="mean"))
    for step in range(steps):
        (loss, accuracy), gradient = step_of_all(model, points, labels)
        if step % 10 == 0:
            print(f"step {step:3}  loss {loss:.4f}  accuracy {accuracy:4.0%}")
        rate = 1.0 - 0.9 * step / steps
        for parameter, derivative in zip(model.parameters(), gradient.parameters(), strict=True):
            parameter.data -= rate * derivative


def draw_scores(axes: Axes, model: MLP, points: Any) -> None:
    """Colour the plane by the model's score, with lines at the boundary and at the margins around it."""
    xs, ys = (np.linspace(coordinates.min() - 0.5, coordinates.max() + 0.5, 120) for coordinates in points.T)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1)
    scores = vmap(score, in_axes=(None, 0))(model, grid.reshape(-1, 2)).reshape(len(ys), len(xs))
    colours = LinearSegmentedColormap.from_list("moons", [LIGHT_ORANGE, "white", LIGHT_BLUE])
    filled = axes.contourf(xs, ys, scores, levels=np.linspace(-4, 4, 17), cmap=colours, extend="both")
    axes.contour(xs, ys, scores, levels=[-1, 0, 1], colors="black", linewidths=[1, 2, 1], linestyles=["--", "-", "--"])
    axes.figure.colorbar(filled, ax=axes, label="score (boundary at 0, margins at ±1)")


def draw(model: MLP, points: Any, labels: Any, output: str) -> None:
    """Save a picture of the plane and the points."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    draw_scores(axes, model, points)
    for label, name, marker, colour in ((-1, "upper moon", "^", ORANGE), (1, "lower moon", "o", BLUE)):
        xs, ys = points[labels == label].T
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
    points, classes = make_moons(n_samples=100, noise=0.1, random_state=options.seed)
    labels = 2.0 * classes - 1.0
    model = MLP(2, [16, 16, 1])
    train(model, points, labels, options.steps)
    loss, accuracy = vmap(loss_and_hit, in_axes=(None, 0, 0), reduce="mean")(model, points, labels)
    print(f"at last   loss {loss:.4f}  accuracy {accuracy:4.0%}")
    draw(model, points, labels, options.output)
    print(f"picture   {options.output}")


if __name__ == "__main__":
    main()
