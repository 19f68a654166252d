"""Classify breast tumors as malignant or benign with a multi-layer perceptron in which every number is a `Value`.

    python examples/breast_cancer.py --epochs 30 --output breast_cancer.png

The data is the Wisconsin data set from scikit-learn: 569 tumors with 30 measurements each. A fixed quarter of them is
the test set; the constants below were chosen by cross-validation on the remaining tumors. The gradient of one tumor's
loss is recorded once and replayed on batches. With `--eager`, each batch builds a graph of Values, which can be
inspected, and calls `backward()`; the results are the same. Requires matplotlib, scikit-learn and tqdm:
`pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from gradwalk import Value, grad, jit, vmap
from gradwalk.math import softplus, sumprod
from gradwalk.nn import MLP

BATCH_SIZE = 16
LEARNING_RATE = 0.02
MOMENTUM = 0.9
WEIGHT_DECAY = 0.01
BLUE, ORANGE = "#0072B2", "#D55E00"  # color-blind safe


class Tumors(NamedTuple):
    """Standardized measurements, one row per tumor, and labels: 1.0 if malignant, -1.0 if benign."""

    measurements: Any
    signs: Any


class Momentum:
    """Gradient descent with momentum."""

    def __init__(self, parameters: Sequence[Value]) -> None:
        self.parameters = parameters
        self.velocities = [0.0] * len(parameters)

    def step(self, rate: float, gradient: Sequence[float]) -> None:
        """Update the parameters with one step."""
        for i, (parameter, derivative) in enumerate(zip(self.parameters, gradient, strict=True)):
            self.velocities[i] = MOMENTUM * self.velocities[i] - rate * derivative
            parameter.data += self.velocities[i]


def load() -> tuple[Tumors, Tumors]:
    """Return the training set and the test set, both standardized with statistics of the training set."""
    data = load_breast_cancer()
    signs = np.where(data.target == 0, 1.0, -1.0)
    train, test, *both = train_test_split(data.data, signs, test_size=0.25, stratify=signs, random_state=0)
    scaler = StandardScaler().fit(train)
    return Tumors(scaler.transform(train), both[0]), Tumors(scaler.transform(test), both[1])


def score(model: MLP, measurements: Any) -> Any:
    """Return the log-odds that the tumor is malignant."""
    return model(measurements)


def loss(model: MLP, measurements: Any, sign: Any) -> Any:
    """Return -log(probability of the label), computed with softplus to avoid overflow."""
    return softplus(-sign * score(model, measurements))


def penalty(model: MLP) -> Any:
    """Return the weight decay term of the loss."""
    parameters = model.parameters()
    return WEIGHT_DECAY * sumprod(parameters, parameters)


def gradient_eagerly(model: MLP, batch: Tumors) -> list[float]:
    """Return the gradient of the mean loss with penalty, by `backward()` on a graph of Values."""
    model.zero_grad()
    losses = [loss(model, *tumor) for tumor in zip(batch.measurements.tolist(), batch.signs.tolist(), strict=True)]
    (sum(losses, Value(0)) / len(losses) + penalty(model)).backward()
    return [parameter.grad for parameter in model.parameters()]


gradients = jit(
    vmap(grad(lambda model, x, sign: loss(model, x, sign) + penalty(model)), in_axes=(None, 0, 0), reduce="mean")
)
mean_loss = jit(vmap(loss, in_axes=(None, 0, 0), reduce="mean"))
scores = jit(vmap(score, in_axes=(None, 0)))


def gradient_replayed(model: MLP, batch: Tumors) -> list[float]:
    """Return the same gradient by replaying the recorded gradient of one tumor."""
    gradient: list[float] = gradients(model, *batch).parameters()
    return gradient


def train_epoch(
    model: MLP, optimizer: Momentum, train: Tumors, rate: float, gradient: Callable[[MLP, Tumors], list[float]]
) -> None:
    """Train on all tumors once, in random order and small batches."""
    order = random.sample(range(len(train.signs)), len(train.signs))
    for start in range(0, len(order), BATCH_SIZE):
        batch = order[start : start + BATCH_SIZE]
        optimizer.step(rate, gradient(model, Tumors(train.measurements[batch], train.signs[batch])))


def confusion(model: MLP, sample: Tumors) -> Counter[tuple[bool, bool]]:
    """Count the tumors by (is malignant, is predicted to be malignant)."""
    held = scores(model, sample.measurements) > 0
    return Counter(zip((sample.signs > 0).tolist(), held.tolist(), strict=True))


def accuracy(counts: Counter[tuple[bool, bool]]) -> float:
    """Return the fraction of tumors that are classified correctly."""
    return (counts[True, True] + counts[False, False]) / counts.total()


def draw(losses: Sequence[float], accuracies: Sequence[float], output: str) -> None:
    """Save a picture of loss and accuracy after each epoch, starting before the first epoch."""
    figure = Figure(figsize=(7, 6), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    upper.semilogy(losses, color=BLUE, marker="o", markersize=3.5, label="training loss")
    lower.plot(accuracies, color=ORANGE, marker="^", markersize=4, label="test accuracy")
    upper.yaxis.set_major_formatter("{x:g}")
    lower.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    upper.set(title="Breast tumors, told apart by an MLP of scalars", ylabel="mean log loss")
    lower.set(xlabel="epoch", ylabel="correctly classified", ylim=(None, 1.01))
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, train, and print the results."""
    parser = argparse.ArgumentParser(description="Train an MLP of scalars on the Wisconsin breast cancer data.")
    parser.add_argument("--epochs", type=int, default=30, help="passes through the data (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    parser.add_argument("--hidden", type=int, nargs="+", default=[16, 8], help="hidden layer sizes (default: 16 8)")
    parser.add_argument("--eager", action="store_true", help="build a graph of Values for each batch")
    parser.add_argument("--output", default="breast_cancer.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    random.seed(options.seed)
    train, test = load()
    model = MLP(30, [*options.hidden, 1])
    optimizer = Momentum(model.parameters())
    gradient = gradient_eagerly if options.eager else gradient_replayed
    losses, counts = [mean_loss(model, *train)], [confusion(model, test)]
    for epoch in tqdm(range(options.epochs), unit="epoch", disable=None):
        train_epoch(model, optimizer, train, LEARNING_RATE * (1 - epoch / options.epochs), gradient)
        losses.append(mean_loss(model, *train))
        counts.append(confusion(model, test))
    draw(losses, [accuracy(c) for c in counts], options.output)
    print(f"{len(train.signs)} training tumors, {len(test.signs)} test tumors, {len(optimizer.parameters)} parameters")
    print(f"training loss {losses[-1]:.4f}, test accuracy {accuracy(counts[-1]):.1%}")
    print("            predicted malignant  predicted benign")
    for truth in (True, False):
        print(f"{'malignant' if truth else 'benign':12} {counts[-1][truth, True]:18} {counts[-1][truth, False]:17}")
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
