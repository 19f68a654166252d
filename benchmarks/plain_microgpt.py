"""microgpt on Values in plain Python, the peer of `transformer.py` and `microgpt.py`.

The operations and their order follow Karpathy's microgpt: sums and products in loops, softmax with one division per
number, Adam number by number. The weights have the names used in `examples/microgpt.py`. Run as a program, it trains on
the names in a file input.txt, as microgpt.py does.
"""

import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import plain_value
from plain_value import Value
from timing import example

Vector = Sequence[Value]
Matrix = Sequence[Vector]

HEADS, PLACES = 4, 16


def linear(matrix: Matrix, x: Vector) -> list[Value]:
    """Return the matrix-vector product."""
    return [plain_value.sumprod(row, x) for row in matrix]


def softmax(logits: Vector) -> list[Value]:
    """Return the softmax of the logits."""
    largest = max(logit.data for logit in logits)
    exponentials = [(logit - largest).exp() for logit in logits]
    total: Value = sum(exponentials)  # type: ignore[assignment]  # 0 and Values
    return [exponential / total for exponential in exponentials]


def rms_norm(x: Vector) -> list[Value]:
    """Scale a vector to a root mean square of 1."""
    scale = (plain_value.sumprod(x, x) / len(x) + 1e-5) ** -0.5
    return [component * scale for component in x]


def added(x: Vector, y: Vector) -> list[Value]:
    """Return the sum of two vectors."""
    return [xi + yi for xi, yi in zip(x, y, strict=True)]


class GPT:
    """Reads a name letter by letter and predicts the next letter."""

    def __init__(self, weights: Mapping[str, Matrix]) -> None:
        self.weights = weights
        self.keys: list[Vector] = []
        self.values: list[Vector] = []

    def read(self, token: int) -> list[Value]:
        """Append a token to the sequence and return the logits of the next token."""
        weights = self.weights
        x = rms_norm(added(weights["letters"][token], weights["places"][len(self.keys)]))
        x = added(self.attend(rms_norm(x)), x)
        hidden = [neuron.relu() for neuron in linear(weights["widen"], rms_norm(x))]
        x = added(linear(weights["narrow"], hidden), x)
        return linear(weights["unembed"], x)

    def attend(self, x: Vector) -> list[Value]:
        """Apply multi-head attention to this position and the previous ones."""
        query = linear(self.weights["query"], x)
        self.keys.append(linear(self.weights["key"], x))
        self.values.append(linear(self.weights["value"], x))
        size = len(x) // HEADS
        found: list[Value] = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            scores = [plain_value.sumprod(query[part], key[part]) / size**0.5 for key in self.keys]
            shares = softmax(scores)
            found += [
                plain_value.sumprod(shares, column) for column in zip(*(v[part] for v in self.values), strict=True)
            ]
        return linear(self.weights["mix"], found)


def loss(weights: Mapping[str, Matrix], spelling: Sequence[int]) -> Value:
    """Return the mean of -log(probability of the next token)."""
    gpt = GPT(weights)
    count = min(PLACES, len(spelling) - 1)
    losses = [-softmax(gpt.read(spelling[i]))[spelling[i + 1]].log() for i in range(count)]
    total: Value = (1 / count) * sum(losses)  # type: ignore[assignment]  # 0 and Values
    return total


class Trainer:
    """Adam on the loss of one name per step, with a learning rate that falls to 0 after `steps` steps."""

    def __init__(self, weights: Mapping[str, Any], steps: int) -> None:
        self.weights = {name: [[Value(float(x)) for x in row] for row in matrix] for name, matrix in weights.items()}
        self.parameters = [p for matrix in self.weights.values() for row in matrix for p in row]
        self._moments = [[0.0, 0.0] for _ in self.parameters]
        self._steps = steps
        self._count = 0

    def train(self, spelling: Sequence[int]) -> float:
        """Train on one name and return its loss before the step."""
        value = loss(self.weights, spelling)
        value.backward()
        rate = 0.01 * (1 - self._count / self._steps)
        self._count += 1
        for parameter, moments in zip(self.parameters, self._moments, strict=True):
            moments[0] = 0.85 * moments[0] + (1 - 0.85) * parameter.grad
            moments[1] = 0.99 * moments[1] + (1 - 0.99) * parameter.grad**2
            mean, square = moments[0] / (1 - 0.85**self._count), moments[1] / (1 - 0.99**self._count)
            parameter.data -= rate * mean / (square**0.5 + 1e-8)
            parameter.grad = 0.0
        return float(value.data)


def main() -> None:
    """Train on the names of input.txt for 1,000 steps."""
    gpt = example("microgpt")
    sys.setrecursionlimit(1_000_000)  # backward recurses to the depth of the graph
    names = gpt.read_names(Path("input.txt"))
    tokenizer = gpt.Tokenizer(names)
    trainer = Trainer(gpt.initial_weights(len(tokenizer), random.Random(42)), 1000)
    for step in range(1000):
        value = trainer.train(tokenizer.encode(names[step % len(names)]))
        print(f"step {step + 1:4d} / 1000 | loss {value:.4f}", flush=True)


if __name__ == "__main__":
    main()
