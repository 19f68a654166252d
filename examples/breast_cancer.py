"""Tell malignant from benign breast tumours with a multi-layer perceptron in which every number is a `Value`.

    python examples/breast_cancer.py --epochs 30 --output breast_cancer.png

The Wisconsin data that scikit-learn ships: 569 tumours, 30 measurements each. A quarter of them is held out for the
test, always the same; the constants below were chosen by cross-validation among the others. The loss of one tumour is
differentiated and recorded, and replayed on batches; with `--eager`, each batch is a graph of Values that can be looked
at, with a `backward()`, and the numbers are the same. Needs matplotlib, scikit-learn and tqdm:
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
BLUE, ORANGE = "#0072B2", "#D55E00"  # told apart by colour-blind eyes too


class Tumours(NamedTuple):
    """Their measurements, standardised, a row each; and a sign for each, 1.0 where it is malignant, else -1.0."""

    measurements: Any
    signs: Any


class Momentum:
    """Gradient descent in which every step goes on, for a part, in the direction of the one before."""

    def __init__(self, parameters: Sequence[Value]) -> None:
        self.parameters = parameters
        self.velocities = [0.0] * len(parameters)

    def step(self, rate: float, gradient: Sequence[float]) -> None:
        """Move the parameters."""
        for i, (parameter, derivative) in enumerate(zip(self.parameters, gradient, strict=True)):
            self.velocities[i] = MOMENTUM * self.velocities[i] - rate * derivative
            parameter.data += self.velocities[i]


def load() -> tuple[Tumours, Tumours]:
    """Tumours to train on and to test on, standardised by the means and deviations of the former."""
    data = load_breast_cancer()
    signs = np.where(data.target == 0, 1.0, -1.0)
    train, test, *both = train_test_split(data.data, signs, test_size=0.25, stratify=signs, random_state=0)
    scaler = StandardScaler().fit(train)
    return Tumours(scaler.transform(train), both[0]), Tumours(scaler.transform(test), both[1])


def score(model: MLP, measurements: Any) -> Any:
    """The log-odds of the tumour's being malignant."""
    return model(measurements)


def loss(model: MLP, measurements: Any, sign: Any) -> Any:
    """-log(probability of the truth), by way of softplus: no overflow, however wrong the score."""
    return softplus(-sign * score(model, measurements))


def penalty(model: MLP) -> Any:
    """What keeps the parameters small."""
    parameters = model.parameters()
    return WEIGHT_DECAY * sumprod(parameters, parameters)


def gradient_eagerly(model: MLP, batch: Tumours) -> list[float]:
    """The gradient of the mean loss with the penalty, by a graph of Values and its `backward()`."""
    model.zero_grad()
    losses = [loss(model, *tumour) for tumour in zip(batch.measurements.tolist(), batch.signs.tolist(), strict=True)]
    (sum(losses, Value(0)) / len(losses) + penalty(model)).backward()
    return [parameter.grad for parameter in model.parameters()]


gradients = jit(
    vmap(grad(lambda model, x, sign: loss(model, x, sign) + penalty(model)), in_axes=(None, 0, 0), reduce="mean")
)
mean_loss = jit(vmap(loss, in_axes=(None, 0, 0), reduce="mean"))
scores = jit(vmap(score, in_axes=(None, 0)))


def gradient_replayed(model: MLP, batch: Tumours) -> list[float]:
    """The same, recorded once for one tumour and replayed."""
    gradient: list[float] = gradients(model, *batch).parameters()
    return gradient


def train_epoch(
    model: MLP, optimizer: Momentum, train: Tumours, rate: float, gradient: Callable[[MLP, Tumours], list[float]]
) -> None:
    """Go through the tumours once, in random order and small batches."""
    order = random.sample(range(len(train.signs)), len(train.signs))
    for start in range(0, len(order), BATCH_SIZE):
        batch = order[start : start + BATCH_SIZE]
        optimizer.step(rate, gradient(model, Tumours(train.measurements[batch], train.signs[batch])))


def confusion(model: MLP, sample: Tumours) -> Counter[tuple[bool, bool]]:
    """How many tumours there are of every (malignant, held to be malignant)."""
    held = scores(model, sample.measurements) > 0
    return Counter(zip((sample.signs > 0).tolist(), held.tolist(), strict=True))


def accuracy(counts: Counter[tuple[bool, bool]]) -> float:
    """The share of tumours that are what they are held to be."""
    return (counts[True, True] + counts[False, False]) / counts.total()


def draw(losses: Sequence[float], accuracies: Sequence[float], output: str) -> None:
    """Save a picture of the loss and the accuracy by epoch; the first of each is from before the training."""
    figure = Figure(figsize=(7, 6), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    upper.semilogy(losses, color=BLUE, marker="o", markersize=3.5, label="training loss")
    lower.plot(accuracies, color=ORANGE, marker="^", markersize=4, label="test accuracy")
    upper.yaxis.set_major_formatter("{x:g}")
    lower.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    upper.set(title="Breast tumours, told apart by an MLP of scalars", ylabel="mean log loss")
    lower.set(xlabel="epoch", ylabel="correctly classified", ylim=(None, 1.01))
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(output, dpi=150)


def main() -> None:
    """Read the command line, train, report."""
    parser = argparse.ArgumentParser(description="Train an MLP of scalars on the Wisconsin breast cancer data.")
    parser.add_argument("--epochs", type=int, default=30, help="passes through the data (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of weights and batches (default: %(default)s)")
    parser.add_argument("--hidden", type=int, nargs="+", default=[16, 8], help="sizes of layers (default: 16 8)")
    parser.add_argument("--eager", action="store_true", help="every batch as a graph of Values, with backward()")
    parser.add_argument("--output", default="breast_cancer.png", help="where the picture goes (default: %(default)s)")
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
    print(
        f"{len(train.signs)} tumours to train {len(optimizer.parameters)} parameters on, {len(test.signs)} to test on"
    )
    print(f"training loss {losses[-1]:.4f}, test accuracy {accuracy(counts[-1]):.1%}")
    print("                 held malignant   held benign")
    for truth in (True, False):
        print(f"{'malignant' if truth else 'benign':12} {counts[-1][truth, True]:18} {counts[-1][truth, False]:13}")
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
