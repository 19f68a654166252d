"""Invent given names, letter by letter, with a small transformer in which every number is a `Value`.

    python examples/scalar_gpt.py --steps 1000 --samples 20 --temperature 0.6

One layer: embeddings of letters and places, causal attention with several heads, two layers of relu neurons, residual
paths around both. It learns from `names.txt`. All that the model asks of its numbers is in `Scalars`, so another class
of Values can take the place of gradwalk's. Needs tqdm: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from gradwalk import Value, math, no_grad

Scalar = Any  # a gradwalk.Value, or what another engine has in its place
Vector = list[Scalar]
Matrix = list[Vector]

END = "."  # stands before and after every name
ALPHABET = END + "abcdefghijklmnopqrstuvwxyz"
BATCH_SIZE = 8
LEARNING_RATE = 0.01


@dataclass(frozen=True)
class Scalars:
    """The engine: numbers with arithmetic, `data`, `grad` and `backward()`, and functions of them."""

    value: Callable[[float], Scalar] = Value
    sumprod: Callable[[Sequence[Scalar], Sequence[Scalar]], Scalar] = math.sumprod
    exp: Callable[[Scalar], Scalar] = math.exp
    log: Callable[[Scalar], Scalar] = math.log
    sqrt: Callable[[Scalar], Scalar] = math.sqrt
    relu: Callable[[Scalar], Scalar] = math.relu


class Memory(NamedTuple):
    """What attention looks back at: the key of every place so far, and the values of all of them by component."""

    keys: list[Vector]
    values: list[Vector]


class Transformer:
    """A model of the next letter. `heads` divides `width`; a name has fewer letters than `places`."""

    def __init__(self, rng: random.Random, scalars: Scalars, width: int = 16, heads: int = 4, places: int = 16) -> None:
        def matrix(rows: int, columns: int) -> Matrix:
            return [[scalars.value(rng.gauss(0.0, columns**-0.5)) for _ in range(columns)] for _ in range(rows)]

        self.scalars = scalars
        self.heads = [slice(start, start + width // heads) for start in range(0, width, width // heads)]
        self.letters, self.places = matrix(len(ALPHABET), width), matrix(places, width)
        self.query, self.key, self.value, self.mix = (matrix(width, width) for _ in range(4))
        self.widen, self.narrow = matrix(4 * width, width), matrix(width, 4 * width)
        self.unembed = matrix(len(ALPHABET), width)

    def parameters(self) -> Vector:
        """Every number that is learned."""
        attention = [self.query, self.key, self.value, self.mix]
        matrices = [self.letters, self.places, *attention, self.widen, self.narrow, self.unembed]
        return [scalar for matrix in matrices for row in matrix for scalar in row]

    def memory(self) -> Memory:
        """The memory before the first letter."""
        return Memory([], [[] for _ in self.value])

    def logits(self, letter: int, memory: Memory) -> Vector:
        """The unnormalised log-probabilities of what follows a letter; the memory is extended by it."""
        x = add(self.letters[letter], self.places[len(memory.keys)])
        x = add(x, self.attend(self.normalised(x), memory))
        x = add(x, self.think(self.normalised(x)))
        return self.linear(self.unembed, self.normalised(x))

    def attend(self, x: Vector, memory: Memory) -> Vector:
        """Every head's average of the values at all places so far, weighted by how well their keys suit the query."""
        memory.keys.append(self.linear(self.key, x))
        for column, component in zip(memory.values, self.linear(self.value, x), strict=True):
            column.append(component)
        scale = len(self.heads) ** 0.5 / len(x) ** 0.5
        query = [component * scale for component in self.linear(self.query, x)]
        averages = []
        for head in self.heads:
            weights = self.softmax([self.scalars.sumprod(query[head], key[head]) for key in memory.keys])
            averages += [self.scalars.sumprod(weights, column) for column in memory.values[head]]
        return self.linear(self.mix, averages)

    def think(self, x: Vector) -> Vector:
        return self.linear(self.narrow, [self.scalars.relu(neuron) for neuron in self.linear(self.widen, x)])

    def linear(self, matrix: Matrix, x: Vector) -> Vector:
        return [self.scalars.sumprod(row, x) for row in matrix]

    def normalised(self, x: Vector) -> Vector:
        """The vector, scaled to a mean square of 1."""
        scale = 1 / self.scalars.sqrt(self.scalars.sumprod(x, x) / len(x) + 1e-5)
        return [component * scale for component in x]

    def softmax(self, logits: Vector) -> Vector:
        exponentials = self.exponentials(logits)
        scale = 1 / self.total(exponentials)
        return [exponential * scale for exponential in exponentials]

    def surprise(self, logits: Vector, letter: int) -> Scalar:
        """-log(softmax(logits)[letter]), in nats."""
        return self.scalars.log(self.total(self.exponentials(logits))) - (logits[letter] - peak(logits))

    def exponentials(self, logits: Vector) -> Vector:
        """Proportional to the exponentials, but none of them above 1, so that nothing overflows."""
        highest = peak(logits)
        return [self.scalars.exp(logit - highest) for logit in logits]

    def total(self, terms: Vector) -> Scalar:
        return self.scalars.sumprod(terms, [1.0] * len(terms))

    def loss(self, names: Sequence[str]) -> Scalar:
        """The mean surprise at a letter of the names, or at their end, in nats."""
        surprises = []
        for name in names:
            memory = self.memory()
            for letter, following in pairwise(map(ALPHABET.index, END + name + END)):
                surprises.append(self.surprise(self.logits(letter, memory), following))
        return self.total(surprises) / len(surprises)


def add(x: Vector, y: Vector) -> Vector:
    return [a + b for a, b in zip(x, y, strict=True)]


def peak(logits: Vector) -> float:
    return max([logit.data for logit in logits])


class Adam:
    """Steps along the mean of recent gradients, each divided by the root of their mean square."""

    def __init__(self, parameters: Vector) -> None:
        self.parameters = parameters
        self.means = [0.0] * len(parameters)
        self.squares = [0.0] * len(parameters)
        self.steps = 0

    def step(self, rate: float, decay: float = 0.9, decay_of_squares: float = 0.99) -> None:
        """Move the parameters, then clear their gradients."""
        self.steps += 1
        rate /= 1 - decay**self.steps
        correction = 1 - decay_of_squares**self.steps
        for i, parameter in enumerate(self.parameters):
            gradient = parameter.grad
            self.means[i] += (1 - decay) * (gradient - self.means[i])
            self.squares[i] += (1 - decay_of_squares) * (gradient * gradient - self.squares[i])
            parameter.data -= rate * self.means[i] / ((self.squares[i] / correction) ** 0.5 + 1e-8)
            parameter.grad = 0.0
