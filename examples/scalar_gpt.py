"""Invent given names, letter by letter, with a small transformer that is written for single numbers.

    python examples/scalar_gpt.py --steps 2000 --samples 20 --temperature 0.6

One layer: embeddings of letters and places, causal attention with several heads, two layers of neurons, and residual
paths around both. It learns from `names.txt`, a tenth of which is held out to measure the loss on. The loss of one
name is differentiated and recorded once for each length of names, and replayed on batches of them. All that the model
asks of an engine is in `Scalars`, so it runs on plain floats and on other classes of Values too. Needs tqdm.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from gradwalk import jit, math, stop_gradient, value_and_grad, vmap

Scalar = Any  # float, gradwalk.Value, or whatever stands in for it
Vector = Sequence[Scalar]
Memory = list[tuple[Vector, Vector]]  # what attention looks back at: key and value of every place so far

END = "."  # before and after every name
ALPHABET = END + "abcdefghijklmnopqrstuvwxyz"
NAMES = Path(__file__).with_name("names.txt")
WIDTH, HEADS, PLACES = 16, 4, 16  # heads divide the width; a name with its end fits into the places
PARAMETERS = (2 * len(ALPHABET) + PLACES + 12 * WIDTH) * WIDTH


@dataclass(frozen=True)
class Scalars:
    """An engine: functions of numbers that have arithmetic. `peak`: the largest of several, as a constant."""

    sumprod: Callable[[Vector, Vector], Scalar] = math.sumprod
    exp: Callable[[Scalar], Scalar] = math.exp
    log: Callable[[Scalar], Scalar] = math.log
    sqrt: Callable[[Scalar], Scalar] = math.sqrt
    relu: Callable[[Scalar], Scalar] = math.relu
    peak: Callable[[Vector], Scalar] = lambda numbers: stop_gradient(reduce(math.maximum, numbers))


class Transformer:
    """What letter comes next? Its matrices are cut from one row of `PARAMETERS` weights."""

    def __init__(self, weights: Vector, scalars: Scalars | None = None) -> None:
        row = iter(weights)

        def matrix(rows: int, columns: int) -> list[Vector]:
            return [list(islice(row, columns)) for _ in range(rows)]

        self.scalars = scalars or Scalars()
        self.letters, self.places, self.unembed = (matrix(n, WIDTH) for n in (len(ALPHABET), PLACES, len(ALPHABET)))
        self.query, self.key, self.value, self.mix = (matrix(WIDTH, WIDTH) for _ in range(4))
        self.widen, self.narrow = matrix(4 * WIDTH, WIDTH), matrix(WIDTH, 4 * WIDTH)

    def log_probabilities(self, letter: Vector, memory: Memory) -> Vector:
        """Of every letter to come after this one, embedded, and those in the memory, to which this one is added."""
        x: Vector = list(map(add, letter, self.places[len(memory)]))
        x = list(map(add, x, self.attend(self.normalise(x), memory)))
        hidden = [self.scalars.relu(neuron) for neuron in self.linear(self.widen, self.normalise(x))]
        x = list(map(add, x, self.linear(self.narrow, hidden)))
        return self.log_softmax(self.linear(self.unembed, self.normalise(x)))

    def attend(self, x: Vector, memory: Memory) -> Vector:
        """What the heads find: each the mean of the values so far, weighted by how well their keys fit its query."""
        memory.append((self.linear(self.key, x), self.linear(self.value, x)))
        query = self.linear(self.query, x)
        size = WIDTH // HEADS
        found: list[Scalar] = []
        for head in [slice(start, start + size) for start in range(0, WIDTH, size)]:
            scores = [self.scalars.sumprod(query[head], key[head]) / size**0.5 for key, _ in memory]
            weights = [self.scalars.exp(log_weight) for log_weight in self.log_softmax(scores)]
            components = zip(*[value[head] for _, value in memory], strict=True)
            found += [self.scalars.sumprod(weights, component) for component in components]
        return self.linear(self.mix, found)

    def linear(self, matrix: Sequence[Vector], x: Vector) -> Vector:
        """The matrix times the vector."""
        return [self.scalars.sumprod(row, x) for row in matrix]

    def normalise(self, x: Vector) -> Vector:
        """The vector scaled to a root mean square of 1."""
        root_mean_square = self.scalars.sqrt(self.scalars.sumprod(x, x) / len(x) + 1e-5)
        return [component / root_mean_square for component in x]

    def log_softmax(self, logits: Vector) -> Vector:
        """Logarithms of the probabilities that are proportional to exp(logits)."""
        peak = self.scalars.peak(logits)  # without it, exp could overflow
        exponentials = [self.scalars.exp(logit - peak) for logit in logits]
        log_total = self.scalars.log(self.scalars.sumprod(exponentials, [1.0] * len(logits))) + peak
        return [logit - log_total for logit in logits]

    def invent(self, rng: random.Random, temperature: float) -> str:
        """A name drawn letter by letter; the lower the temperature, the likelier the letters."""
        name = ""
        memory: Memory = []
        while len(name) < PLACES and not name.endswith(END):
            logs = self.log_probabilities(self.letters[ALPHABET.index(name[-1:] or END)], memory)
            name += rng.choices(ALPHABET, [math.exp(log / temperature) for log in logs])[0]
        return name.removesuffix(END)


def loss(weights: Vector, letters: Sequence[Vector], following: Sequence[Vector]) -> Scalar:
    """The mean of -log(probability) of the letters that follow those of one name, in nats.

    A letter is a vector of zeros and a one, so that which it is need not be known when this is recorded.
    """
    model = Transformer(weights)
    embeddings = list(zip(*model.letters, strict=True))
    memory: Memory = []
    logs = [model.log_probabilities(model.linear(embeddings, letter), memory) for letter in letters]
    return -sum(map(math.sumprod, logs, following)) / len(logs)


def spelled(names: Sequence[str]) -> tuple[Any, Any]:
    """The letters of names of one length and those that follow, as `loss` wants them: (names, places, letters)."""
    spelling = np.array([[ALPHABET.index(letter) for letter in END + name + END] for name in names])
    letters = np.eye(len(ALPHABET))[spelling]
    return letters[:, :-1], letters[:, 1:]


def by_length(names: Sequence[str]) -> dict[int, list[str]]:
    """The names, those of one length together."""
    groups = defaultdict(list)
    for name in names:
        groups[len(name)].append(name)
    return groups


def mean_loss(weights: Any, names: Sequence[str]) -> float:
    """The mean of -log(probability) over all letters of the names and their ends, in nats."""
    of_group = jit(vmap(loss, in_axes=(None, 0, 0), reduce="sum"))
    groups = by_length(names)
    total = sum((length + 1) * of_group(weights, *spelled(group)) for length, group in groups.items())
    return float(total) / sum((length + 1) * len(group) for length, group in groups.items())


def train(weights: Any, names: Sequence[str], steps: int, rng: random.Random, batch_size: int = 32) -> None:
    """Adam: step along the mean of recent gradients, each divided by the root of its mean square, ever less far."""
    gradient_of = jit(vmap(value_and_grad(loss), in_axes=(None, 0, 0), reduce="mean"))
    groups = by_length(names)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in tqdm(range(steps), unit="step", disable=None):
        batch = rng.choices(groups[len(rng.choice(names))], k=batch_size)
        _, gradient = gradient_of(weights, *spelled(batch))
        mean += 0.1 * (gradient - mean)
        square += 0.01 * (gradient**2 - square)
        unbiased, unbiased_square = mean / (1 - 0.9 ** (step + 1)), square / (1 - 0.99 ** (step + 1))  # began at 0
        weights -= 0.01 * (1 - step / steps) * unbiased / (np.sqrt(unbiased_square) + 1e-8)


def main() -> None:
    """Read the command line, train, report."""
    parser = argparse.ArgumentParser(description="Invent given names with a transformer made of scalars.")
    parser.add_argument("--steps", type=int, default=2000, help="of learning (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default: %(default)s)")
    parser.add_argument("--samples", type=int, default=20, help="names to invent (default: %(default)s)")
    parser.add_argument("--temperature", type=float, default=0.6, help="of the samples (default: %(default)s)")
    options = parser.parse_args()

    rng = random.Random(options.seed)
    names = NAMES.read_text().split()
    rng.shuffle(names)
    held_out, known = names[: len(names) // 10], names[len(names) // 10 :]
    weights = np.array([rng.gauss(0.0, 0.15) for _ in range(PARAMETERS)])
    print(f"{PARAMETERS} parameters, {len(known)} names to learn from, {len(held_out)} held out")
    print(f"nats per character of the held-out names: {mean_loss(weights, held_out):.3f} before training")
    train(weights, known, options.steps, rng)
    print(f"nats per character of the held-out names: {mean_loss(weights, held_out):.3f} after {options.steps} steps")
    model = Transformer(weights.tolist())
    samples = [model.invent(rng, options.temperature) for _ in range(options.samples)]
    print(*samples, f"{sum(sample not in names for sample in samples)} of these {len(samples)} are new", sep="\n")


if __name__ == "__main__":
    main()
