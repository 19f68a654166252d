"""Tell malignant from benign breast tumours with a multi-layer perceptron in which every number is a `Value`.

    python examples/breast_cancer.py --epochs 30 --output breast_cancer.png

The Wisconsin data that scikit-learn ships: 569 tumours, 30 measurements each. A quarter of them is held out for the
test, always the same; the constants below were chosen by cross-validation among the others. Needs matplotlib,
scikit-learn and tqdm: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from gradwalk import Value, no_grad
from gradwalk.math import softplus, sumprod
from gradwalk.nn import MLP

BATCH_SIZE = 16
LEARNING_RATE = 0.02
MOMENTUM = 0.9
WEIGHT_DECAY = 0.01
BLUE, ORANGE = "#0072B2", "#D55E00"  # told apart by colour-blind eyes too


class Tumour(NamedTuple):
    """Its measurements, standardised, and whether it is malignant."""

    measurements: list[float]
    malignant: bool


class Momentum:
    """Gradient descent in which every step goes on, for a part, in the direction of the one before."""

    def __init__(self, parameters: Sequence[Value]) -> None:
        self.parameters = parameters
        self.velocities = [0.0] * len(parameters)

    def step(self, rate: float) -> None:
        """Move the parameters, then clear their gradients."""
        for i, parameter in enumerate(self.parameters):
            self.velocities[i] = MOMENTUM * self.velocities[i] - rate * parameter.grad
            parameter.data += self.velocities[i]
            parameter.grad = 0.0


def load() -> tuple[list[Tumour], list[Tumour]]:
    """Tumours to train on and to test on, standardised by the means and deviations of the former."""
    data = load_breast_cancer()
    malignant = data.target == 0
    train, test, *labels = train_test_split(data.data, malignant, test_size=0.25, stratify=malignant, random_state=0)
    scaler = StandardScaler().fit(train)
    return tumours(scaler.transform(train), labels[0]), tumours(scaler.transform(test), labels[1])


def tumours(rows: Any, labels: Any) -> list[Tumour]:
    """The rows of NumPy arrays, as plain numbers."""
    return [Tumour(row, label) for row, label in zip(rows.tolist(), labels.tolist(), strict=True)]


def score(model: MLP, tumour: Tumour) -> Value:
    """The log-odds of the tumour's being malignant."""
    output = model([Value(measurement) for measurement in tumour.measurements])
    assert isinstance(output, Value)  # not a list, for the last layer is a single neuron
    return output


def mean_loss(model: MLP, batch: Sequence[Tumour]) -> Value:
    """The mean of -log(probability of the truth), by way of softplus: no overflow, however wrong the score."""
    losses = [softplus(-score(model, t) if t.malignant else score(model, t)) for t in batch]
    return sum(losses, Value(0)) / len(losses)


def confusion(model: MLP, sample: Sequence[Tumour]) -> Counter[tuple[bool, bool]]:
    """How many tumours there are of every (malignant, held to be malignant)."""
    with no_grad():
        return Counter((t.malignant, score(model, t) > 0) for t in sample)


def accuracy(counts: Counter[tuple[bool, bool]]) -> float:
    """The share of tumours that are what they are held to be."""
    return (counts[True, True] + counts[False, False]) / counts.total()


def train_epoch(model: MLP, optimizer: Momentum, train: Sequence[Tumour], rate: float) -> None:
    """Go through the tumours once, in random order and small batches."""
    shuffled = random.sample(train, len(train))
    for start in range(0, len(shuffled), BATCH_SIZE):
        loss = mean_loss(model, shuffled[start : start + BATCH_SIZE])
        penalty = WEIGHT_DECAY * sumprod(optimizer.parameters, optimizer.parameters)
        (loss + penalty).backward()
        optimizer.step(rate)


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
    parser.add_argument("--output", default="breast_cancer.png", help="where the picture goes (default: %(default)s)")
    options = parser.parse_args()

    random.seed(options.seed)
    train, test = load()
    model = MLP(30, [*options.hidden, 1])
    optimizer = Momentum(model.parameters())
    losses, counts = [mean_loss(model, train).data], [confusion(model, test)]
    for epoch in tqdm(range(options.epochs), unit="epoch", disable=None):
        train_epoch(model, optimizer, train, LEARNING_RATE * (1 - epoch / options.epochs))
        losses.append(mean_loss(model, train).data)
        counts.append(confusion(model, test))
    draw(losses, [accuracy(c) for c in counts], options.output)
    print(f"{len(train)} tumours to train {len(optimizer.parameters)} parameters on, {len(test)} to test them on")
    print(f"training loss {losses[-1]:.4f}, test accuracy {accuracy(counts[-1]):.1%}")
    print("                 held malignant   held benign")
    for truth in (True, False):
        print(f"{'malignant' if truth else 'benign':12} {counts[-1][truth, True]:18} {counts[-1][truth, False]:13}")
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
