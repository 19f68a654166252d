"""Programs with structure but without labels: networks, samples, time steps and loops of plain Values."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from gradwalk import Value, nn


class Neuron:
    """A neuron as in micrograd, of a class that gradwalk does not know."""

    def __init__(self, inputs: int) -> None:
        self.w = [Value(random.uniform(-1.0, 1.0)) for _ in range(inputs)]
        self.b = Value(0.1)

    def __call__(self, x: Sequence[Any]) -> Value:
        return sum((w * xi for w, xi in zip(self.w, x, strict=True)), self.b).tanh()


class Layer:
    def __init__(self, inputs: int, outputs: int) -> None:
        self.neurons = [Neuron(inputs) for _ in range(outputs)]

    def __call__(self, x: Sequence[Any]) -> list[Value]:
        return [neuron(x) for neuron in self.neurons]


class MLP:
    def __init__(self, *sizes: int) -> None:
        self.layers = [Layer(*pair) for pair in pairwise(sizes)]

    def __call__(self, x: Sequence[Any]) -> Value:
        for layer in self.layers:
            x = layer(x)
        return x[0]


def mlp_loss(samples: int, *, values: bool = False, sizes: Sequence[int] = (2, 4, 4, 1)) -> Value:
    """Return the loss of a network for some samples; their inputs are Values if `values` is true."""
    random.seed(1)
    model = MLP(*sizes)
    number: Callable[[float], Any] = Value if values else float
    total: Any = 0.0
    for i in range(samples):
        x = [number(random.gauss(0.0, 1.0)) for _ in range(sizes[0])]
        total += (model(x) - number((-1.0) ** i)) ** 2
    return total


def mlp_output(*, values: bool = True) -> Value:
    """Return the output of a network for one input."""
    random.seed(1)
    return MLP(2, 4, 4, 1)([Value(1.0), Value(2.0)] if values else [1.0, 2.0])


def labeled_loss(samples: int) -> Value:
    """Return a loss with a penalty, of a network with labels."""
    random.seed(1)
    model = nn.MLP(2, [4, 4, 1])
    losses = [(1.0 - (-1.0) ** i * model([random.random(), random.random()])).relu() for i in range(samples)]
    return sum(losses) / samples + 1e-4 * sum(p * p for p in model.parameters())


def rnn_loss(steps: int, *, values: bool = False, letters: int = 5, width: int = 4) -> Value:
    """Return the loss of a recurrent network that predicts letters."""
    random.seed(1)

    def matrix(rows: int, columns: int) -> list[list[Value]]:
        return [[Value(random.gauss(0.0, 0.5)) for _ in range(columns)] for _ in range(rows)]

    def product(weights: list[list[Value]], x: Sequence[Any]) -> list[Value]:
        return [sum(w * xi for w, xi in zip(row, x, strict=True)) for row in weights]

    of_letters, of_state, unembed = matrix(width, letters), matrix(width, width), matrix(letters, width)
    state: list[Any] = [0.0] * width
    loss: Any = 0.0
    for _ in range(steps):
        x = [float(i == random.randrange(letters)) for i in range(letters)]
        both = zip(product(of_letters, [Value(v) for v in x] if values else x), product(of_state, state), strict=True)
        state = [(a + b).tanh() for a, b in both]
        scores = [v.exp() for v in product(unembed, state)]
        loss = loss - (scores[random.randrange(letters)] / sum(scores)).log()
    return loss / steps


def asian_option(steps: int) -> Value:
    """Return the price of an Asian option on one path."""
    random.seed(1)
    spot, strike, rate, volatility, years = [Value(x) for x in (100.0, 100.0, 0.03, 0.2, 1.0)]
    dt = years / steps
    drift, diffusion = (rate - volatility**2 / 2.0) * dt, volatility * dt.sqrt()
    x, path = spot.log(), []
    for _ in range(steps):
        x = x + (drift + diffusion * random.gauss(0.0, 1.0))
        path.append(x)
    return (-rate * years).exp() * (sum(x.exp() for x in path) / steps - strike).relu()


def bigram_loss(count: int, letters: int = 6) -> Value:
    """Return the loss of a bigram model."""
    random.seed(3)
    weights = [[Value(random.gauss(0.0, 1.0)) for _ in range(letters)] for _ in range(letters)]
    loss: Any = 0.0
    for _ in range(count):
        scores = [w.exp() for w in weights[random.randrange(letters)]]
        loss = loss - (scores[random.randrange(letters)] / sum(scores)).log()
    return loss / count


def random_graph(nodes: int) -> Value:
    """Return the result of a program without structure."""
    random.seed(2)
    values = [Value(random.uniform(0.5, 1.0)) for _ in range(20)]
    for _ in range(nodes):
        a, b = random.choice(values[-40:]), random.choice(values[-40:])
        values.append(random.choice([a.__add__, a.__mul__, a.__sub__, a.maximum, a.minimum])(b).tanh())
    return sum(values[-40:], Value(0.0))


def orbit(steps: int) -> Value:
    """Return the squared distance of a body in orbit from a point, after some steps of Euler's method."""
    x, y, vx, vy = [Value(number) for number in (1.0, 0.0, 0.0, 1.0)]
    dt = 0.05
    for _ in range(steps):
        cubed = (x * x + y * y) ** 1.5
        vx = vx - dt * x / cubed
        vy = vy - dt * y / cubed
        x = x + dt * vx
        y = y + dt * vy
    return (x - 0.3) ** 2 + (y - 0.9) ** 2
