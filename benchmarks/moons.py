"""A step of micrograd's moons demo: at least 60 times as fast as micrograd, 450 times with garbage collection.

A step consists of the demo notebook's forward pass over 100 samples, hinge loss and regularization, backward pass, and
update. gradwalk's forward pass takes at most twice as long as the same loops on plain floats, whether the time to free
the graph is included or not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from timing import Row, and_freed, best_of, faster, main, peer, within

import gradwalk.nn
import gradwalk.value.value

ALPHA = 1e-4
RATE = 0.05


class Demo:
    """The demo with one library, given its modules `engine` and `nn`."""

    def __init__(self, engine: Any, nn: Any, samples: int) -> None:
        datasets = peer("sklearn.datasets", "scikit-learn")
        self.Value = engine.Value
        self.X, y = datasets.make_moons(n_samples=samples, noise=0.1, random_state=1)
        self.y = y * 2 - 1
        random.seed(1337)
        self.model = nn.MLP(2, [16, 16, 1])

    def loss(self) -> Any:
        """Return the notebook's loss, line by line."""
        inputs = [list(map(self.Value, xrow)) for xrow in self.X]
        scores = list(map(self.model, inputs))
        losses = [(1 + -yi * scorei).relu() for yi, scorei in zip(self.y, scores, strict=True)]
        data_loss = sum(losses) * (1.0 / len(losses))
        reg_loss = ALPHA * sum(p * p for p in self.model.parameters())
        return data_loss + reg_loss

    def step(self) -> float:
        """Train one step and return the loss before it."""
        total_loss = self.loss()
        self.model.zero_grad()
        total_loss.backward()
        for p in self.model.parameters():
            p.data -= RATE * p.grad
        return float(total_loss.data)


class LoopNeuron:
    """`nn.Neuron` written as micrograd's loop over its inputs."""

    def __init__(self, w: Sequence[Any], b: Any, nonlin: bool) -> None:
        self.w = w
        self.b = b
        self.nonlin = nonlin

    def __call__(self, x: Sequence[Any]) -> Any:
        """Return the output for inputs `x`."""
        act = self.b
        for wi, xi in zip(self.w, x):  # noqa: B905  # as micrograd has it
            act = act + wi * xi
        return act.relu() if self.nonlin else act


class FloatNeuron(LoopNeuron):
    """The same neuron on plain floats."""

    def __call__(self, x: Sequence[float]) -> float:
        """Return the output for inputs `x`."""
        act: float = self.b
        for wi, xi in zip(self.w, x):  # noqa: B905
            act = act + wi * xi
        return act if act > 0.0 or not self.nonlin else 0.0


class Loops:
    """A multi-layer perceptron of loop neurons."""

    def __init__(self, layers: list[list[LoopNeuron]]) -> None:
        self.layers = layers

    def __call__(self, x: Sequence[Any]) -> Any:
        """Return the output of the last layer's only neuron."""
        for layer in self.layers:
            x = [neuron(x) for neuron in layer]
        return x[0]


def on_values(model: Any) -> Loops:
    """Rewrite gradwalk's model as loops over its parameters."""
    return Loops([[LoopNeuron(n.w, n.b, n.nonlin) for n in layer.neurons] for layer in model.layers])


def on_floats(model: Any) -> Loops:
    """Rewrite gradwalk's model as loops over the numbers of its parameters."""
    return Loops(
        [[FloatNeuron([w.data for w in n.w], n.b.data, n.nonlin) for n in layer.neurons] for layer in model.layers]
    )


def training(samples: int, steps: int, turns: int) -> Iterator[Row]:
    """Measure training steps beside micrograd, in milliseconds."""
    engine, nn = peer("micrograd.engine", "micrograd"), peer("micrograd.nn", "micrograd")
    ours, theirs = Demo(gradwalk.value.value, gradwalk.nn, samples), Demo(engine, nn, samples)
    check_same(ours.step(), theirs.step())
    for setting, collector, target in (("collector off", False, 60), ("as shipped", True, 450)):
        best = best_of(
            turns,
            {
                "ours": lambda: [ours.step() for _ in range(steps)],
                "theirs": lambda: [theirs.step() for _ in range(steps)],
            },
            collector,
        )
        check_same(ours.step(), theirs.step())
        ms = {name: 1e3 * time / steps for name, time in best.items()}
        yield faster(f"moons training step, {setting}", "ms", ms["ours"], ("micrograd", ms["theirs"]), target)


def check_same(ours: float, theirs: float) -> None:
    """Raise `AssertionError` if the losses differ by more than rounding errors."""
    if abs(ours - theirs) > 1e-12 * abs(theirs):
        raise AssertionError(f"the losses differ: gradwalk {ours!r}, micrograd {theirs!r}")


def forward(samples: int, turns: int) -> Iterator[Row]:
    """Measure the scores of all samples beside plain floats, in milliseconds."""
    demo = Demo(gradwalk.value.value, gradwalk.nn, samples)
    loops, floats = on_values(demo.model), on_floats(demo.model)
    points = demo.X.tolist()
    inputs = [list(map(demo.Value, point)) for point in points]
    for point, x in zip(points, inputs, strict=True):
        check_same(demo.model(x).data, floats(point))
        check_same(loops(x).data, floats(point))
    runs = {
        "nn.MLP": lambda: list(map(demo.model, inputs)),
        "the same loops on Values": lambda: list(map(loops, inputs)),
        "floats": lambda: list(map(floats, points)),
    }
    best = best_of(turns, {**runs, **{f"{name}, freed": and_freed(run) for name, run in runs.items()}})
    plain = ("floats", 1e3 * best["floats"])
    for name in ("nn.MLP", "nn.MLP, freed", "the same loops on Values", "the same loops on Values, freed"):
        yield within(f"moons forward, {name}", "ms", 1e3 * best[name], plain, 2)


def measure(quick: bool) -> list[Row]:
    """Return the six rows."""
    samples, steps, turns = (10, 1, 1) if quick else (100, 4, 2)
    return [*forward(samples, 5 * turns), *training(samples, steps, turns)]


if __name__ == "__main__":
    main(measure)
