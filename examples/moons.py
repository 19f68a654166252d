"""Classify two interleaved half moons, as in micrograd's demo, and draw the decision boundary.

    python examples/moons.py --output moons.png

The model is an MLP(2, [16, 16, 1]) with the max-margin loss of a support vector machine and weight decay, trained on
100 points with 100 steps of full-batch gradient descent. The gradient of one point's loss is recorded once and replayed
on the batch. Requires matplotlib and scikit-learn: `pip install gradwalk[examples]`.
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
BLUE, ORANGE = "#0072B2", "#D55E00"  # color-blind safe
LIGHT_BLUE, LIGHT_ORANGE = "#66AAD1", "#E69E66"


def score(model: MLP, point: Any) -> Any:
    """Return the model's score: positive for the lower moon, negative for the upper moon."""
    return model(point)


def loss_and_hit(model: MLP, point: Any, label: Any) -> tuple[Any, Any]:
    """Return the hinge loss with weight decay, and whether the point is classified correctly."""
    margin = label * score(model, point)
    parameters = model.parameters()
    return relu(1 - margin) + WEIGHT_DECAY * sumprod(parameters, parameters), margin > 0


def train(model: MLP, points: Any, labels: Any, steps: int) -> None:
    """Train with full-batch gradient descent and a decreasing learning rate."""
    step_of_all = jit(vmap(value_and_grad(loss_and_hit, has_aux=True), in_axes=(None, 0, 0), reduce="mean"))
    for step in range(steps):
        (loss, accuracy), gradient = step_of_all(model, points, labels)
        if step % 10 == 0:
            print(f"step {step:3}  loss {loss:.4f}  accuracy {accuracy:4.0%}")
        rate = 1.0 - 0.9 * step / steps
        for parameter, derivative in zip(model.parameters(), gradient.parameters(), strict=True):
            parameter.data -= rate * derivative


def draw_scores(axes: Axes, model: MLP, points: Any) -> None:
    """Color the plane by the model's score, with lines at the decision boundary and the margins."""
    xs, ys = (np.linspace(coordinates.min() - 0.5, coordinates.max() + 0.5, 120) for coordinates in points.T)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1)
    scores = vmap(score, in_axes=(None, 0))(model, grid.reshape(-1, 2)).reshape(len(ys), len(xs))
    colors = LinearSegmentedColormap.from_list("moons", [LIGHT_ORANGE, "white", LIGHT_BLUE])
    filled = axes.contourf(xs, ys, scores, levels=np.linspace(-4, 4, 17), cmap=colors, extend="both")
    axes.contour(xs, ys, scores, levels=[-1, 0, 1], colors="black", linewidths=[1, 2, 1], linestyles=["--", "-", "--"])
    axes.figure.colorbar(filled, ax=axes, label="score (boundary at 0, margins at ±1)")


def draw(model: MLP, points: Any, labels: Any, output: str) -> None:
    """Save a picture of the plane and the points."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    draw_scores(axes, model, points)
    for label, name, marker, color in ((-1, "upper moon", "^", ORANGE), (1, "lower moon", "o", BLUE)):
        xs, ys = points[labels == label].T
        axes.scatter(xs, ys, label=name, marker=marker, color=color, edgecolors="black", s=45)
    axes.set(xlabel="x", ylabel="y", title=f"Two moons, separated by {len(model.parameters())} scalars", aspect="equal")
    axes.legend(loc="upper right")
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, train, and print the results."""
    parser = argparse.ArgumentParser(description="Separate two half moons with an MLP of scalars.")
    parser.add_argument("--steps", type=int, default=100, help="steps of gradient descent (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1337, help="random seed (default: %(default)s)")
    parser.add_argument("--output", default="moons.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    random.seed(options.seed)
    points, classes = make_moons(n_samples=100, noise=0.1, random_state=options.seed)
    labels = 2.0 * classes - 1.0
    model = MLP(2, [16, 16, 1])
    train(model, points, labels, options.steps)
    loss, accuracy = vmap(loss_and_hit, in_axes=(None, 0, 0), reduce="mean")(model, points, labels)
    print(f"final     loss {loss:.4f}  accuracy {accuracy:4.0%}")
    draw(model, points, labels, options.output)
    print(f"picture   {options.output}")


if __name__ == "__main__":
    main()
