"""Invent given names, letter by letter, with a small transformer in which every number is a `Value`.

    python examples/scalar_gpt.py --steps 2000 --samples 20 --temperature 0.6

One layer: embeddings of letters and places, causal attention with several heads, two layers of neurons, and residual
paths around both. It learns from `names.txt`, a tenth of which is held out to measure the loss on. All that the model
asks of an engine is in `Scalars`, so another class of Values can stand in for gradwalk's. Needs tqdm.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import add
from pathlib import Path
from typing import Any

from tqdm import tqdm

from gradwalk import Value, math, no_grad

Scalar = Any  # gradwalk.Value, or whatever stands in for it
Vector = list[Scalar]
Memory = list[tuple[Vector, Vector]]  # what attention looks back at: key and value of every place so far

END = "."  # before and after every name
ALPHABET = END + "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Scalars:
    """An engine: numbers with arithmetic, `data`, `grad` and `backward()`, and functions of them."""

    value: Callable[[float], Scalar] = Value
    sumprod: Callable[[Sequence[Scalar], Sequence[Scalar]], Scalar] = math.sumprod
    exp: Callable[[Scalar], Scalar] = math.exp
    log: Callable[[Scalar], Scalar] = math.log
    sqrt: Callable[[Scalar], Scalar] = math.sqrt
    relu: Callable[[Scalar], Scalar] = math.relu


class Transformer:
    """What letter comes next? `heads` divides `width`; a name with its end fits into `places`."""

    def __init__(self, scalars: Scalars, rng: random.Random, width: int = 16, heads: int = 4, places: int = 16) -> None:
        def matrix(rows: int, columns: int) -> list[Vector]:
            new = [[scalars.value(rng.gauss(0.0, 0.15)) for _ in range(columns)] for _ in range(rows)]
            self.parameters.extend(chain(*new))
            return new

        self.scalars = scalars
        self.parameters: Vector = []
        self.heads = [slice(start, start + width // heads) for start in range(0, width, width // heads)]
        self.letters, self.places, self.unembed = (matrix(n, width) for n in (len(ALPHABET), places, len(ALPHABET)))
        self.query, self.key, self.value, self.mix = (matrix(width, width) for _ in range(4))
        self.widen, self.narrow = matrix(4 * width, width), matrix(width, 4 * width)

    def log_probabilities(self, letter: int, memory: Memory) -> Vector:
        """Of every letter to come after this one and those in the memory, to which this one is added."""
        x = list(map(add, self.letters[letter], self.places[len(memory)]))
        x = list(map(add, x, self.attend(self.normalise(x), memory)))
        hidden = [self.scalars.relu(neuron) for neuron in self.linear(self.widen, self.normalise(x))]
        x = list(map(add, x, self.linear(self.narrow, hidden)))
        return self.log_softmax(self.linear(self.unembed, self.normalise(x)))

    def attend(self, x: Vector, memory: Memory) -> Vector:
        """What the heads find: each the mean of the values so far, weighted by how well their keys fit its query."""
        memory.append((self.linear(self.key, x), self.linear(self.value, x)))
        query = self.linear(self.query, x)
        found = []
        for head in self.heads:
            scores = [self.scalars.sumprod(query[head], key[head]) / len(query[head]) ** 0.5 for key, _ in memory]
            weights = [self.scalars.exp(log_weight) for log_weight in self.log_softmax(scores)]
            components = zip(*[value[head] for _, value in memory], strict=True)
            found += [self.scalars.sumprod(weights, component) for component in components]
        return self.linear(self.mix, found)

    def linear(self, matrix: list[Vector], x: Vector) -> Vector:
        """The matrix times the vector."""
        return [self.scalars.sumprod(row, x) for row in matrix]

    def normalise(self, x: Vector) -> Vector:
        """The vector scaled to a root mean square of 1."""
        root_mean_square = self.scalars.sqrt(self.scalars.sumprod(x, x) / len(x) + 1e-5)
        return [component / root_mean_square for component in x]

    def log_softmax(self, logits: Vector) -> Vector:
        """Logarithms of the probabilities that are proportional to exp(logits)."""
        peak = max([logit.data for logit in logits])  # without it, exp could overflow
        exponentials = [self.scalars.exp(logit - peak) for logit in logits]
        log_total = self.scalars.log(self.scalars.sumprod(exponentials, [1.0] * len(logits))) + peak
        return [logit - log_total for logit in logits]

    def loss(self, names: Sequence[str]) -> Scalar:
        """The mean of -log(probability) over all letters of the names and their ends, in nats."""
        found = []
        for name in names:
            memory: Memory = []
            for letter, following in pairwise(map(ALPHABET.index, END + name + END)):
                found.append(self.log_probabilities(letter, memory)[following])
        return self.scalars.sumprod(found, [-1 / len(found)] * len(found))

    def invent(self, rng: random.Random, temperature: float) -> str:
        """A name drawn letter by letter; the lower the temperature, the likelier the letters."""
        name = ""
        memory: Memory = []
        while len(name) < len(self.places) and not name.endswith(END):
            logs = self.log_probabilities(ALPHABET.index(name[-1:] or END), memory)
            name += rng.choices(ALPHABET, [math.exp(log.data / temperature) for log in logs])[0]
        return name.removesuffix(END)


def train(model: Transformer, names: Sequence[str], steps: int, rng: random.Random, batch_size: int = 8) -> None:
    """Adam: step along the mean of recent gradients, each divided by the root of its mean square, ever less far."""
    means, squares = [0.0] * len(model.parameters), [0.0] * len(model.parameters)
    for step in tqdm(range(steps), unit="step", disable=None):
        model.loss(rng.sample(names, batch_size)).backward()
        rate = 0.01 * (1 - step / steps)
        unbias, unbias_square = 1 / (1 - 0.9 ** (step + 1)), 1 / (1 - 0.99 ** (step + 1))  # they began at 0
        for i, parameter in enumerate(model.parameters):
            means[i] = 0.9 * means[i] + 0.1 * parameter.grad
            squares[i] = 0.99 * squares[i] + 0.01 * parameter.grad**2
            parameter.data -= rate * unbias * means[i] / ((unbias_square * squares[i]) ** 0.5 + 1e-8)
            parameter.grad = 0.0


def main() -> None:
    """Read the command line, train, report."""
    parser = argparse.ArgumentParser(description="Invent given names with a transformer made of scalars.")
    parser.add_argument("--steps", type=int, default=2000, help="of learning (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default: %(default)s)")
    parser.add_argument("--samples", type=int, default=20, help="names to invent (default: %(default)s)")
    parser.add_argument("--temperature", type=float, default=0.6, help="of the samples (default: %(default)s)")
    options = parser.parse_args()

    rng = random.Random(options.seed)
    names = Path(__file__).with_name("names.txt").read_text().split()
    rng.shuffle(names)
    held_out, known = names[: len(names) // 10], names[len(names) // 10 :]
    model = Transformer(Scalars(), rng)
    print(f"{len(model.parameters)} parameters, {len(known)} names to learn from, {len(held_out)} held out")
    with no_grad():
        print(f"nats per character of the held-out names: {model.loss(held_out).data:.3f} before training")
    train(model, known, options.steps, rng)
    with no_grad():
        print(f"nats per character of the held-out names: {model.loss(held_out).data:.3f} after {options.steps} steps")
        samples = [model.invent(rng, options.temperature) for _ in range(options.samples)]
    print(*samples, f"{sum(sample not in names for sample in samples)} of these {len(samples)} are new", sep="\n")


if __name__ == "__main__":
    main()
