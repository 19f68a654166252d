"""A training step of micrograd's moons demo with `jit` and `vmap`, at most JAX's time.

The gradient of one sample is recorded once and replayed on all samples, on one core and with the same `nn.MLP`. The
peers are eager Values, micrograd, and the same network on float64 tensors in PyTorch and, compiled, in JAX. All update
their parameters in the step. With all parameters in one array, gradwalk takes at most half of JAX's time for the small
sample of the demo, where calls cost more than arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import moons
import numpy
from moons import ALPHA, RATE, Demo
from peers import jax, on_one_core
from timing import Row, beside, best_of, faster, main, peer

import gradwalk.nn
import gradwalk.value.value
from gradwalk import jit, math, value_and_grad, vmap
from gradwalk.nn import MLP

Step = Callable[[], Any]  # returns the loss before the step
SIZES = (2, 16, 16, 1)  # layer sizes of the demo's network


def loss(model: MLP, x: Any, y: Any) -> Any:
    """Return the demo's loss for one sample."""
    parameters = model.parameters()
    return (1 + -y * model(x)).relu() + ALPHA * math.sumprod(parameters, parameters)


def replayed(demo: Demo) -> Step:
    """Return the demo's step, recorded for one sample and replayed for all samples."""
    gradient_of_all = jit(vmap(value_and_grad(loss), in_axes=(None, 0, 0), reduce="mean"))

    def step() -> float:
        value, gradient = gradient_of_all(demo.model, demo.X, demo.y)
        for p, g in zip(demo.model.parameters(), gradient.parameters(), strict=True):
            p.data -= RATE * g
        return float(value)

    return step


def matrices(demo: Demo) -> list[tuple[Any, Any]]:
    """Return the weights and biases of each layer."""
    return [
        (numpy.array([[w.data for w in n.w] for n in layer.neurons]), numpy.array([n.b.data for n in layer.neurons]))
        for layer in demo.model.layers
    ]


def by_torch(demo: Demo) -> Step:
    """Return the demo's step on PyTorch tensors."""
    torch = peer("torch", "torch")
    torch.set_num_threads(1)
    layers = [[torch.tensor(array, requires_grad=True) for array in layer] for layer in matrices(demo)]
    parameters = [parameter for layer in layers for parameter in layer]
    samples, labels = torch.tensor(demo.X), torch.tensor(demo.y, dtype=torch.float64)

    def step() -> float:
        x = samples
        for weights, biases in layers[:-1]:
            x = torch.relu(x @ weights.T + biases)
        scores = (x @ layers[-1][0].T + layers[-1][1])[:, 0]
        total = torch.relu(1 - labels * scores).mean() + ALPHA * sum((p * p).sum() for p in parameters)
        for parameter, gradient in zip(parameters, torch.autograd.grad(total, parameters), strict=True):
            parameter.data -= RATE * gradient
        return float(total.detach())

    return step


def by_jax(demo: Demo) -> Step:
    """Return the demo's step on JAX arrays, compiled as a whole."""
    library = jax()
    numbers = library.numpy

    def total(layers: Any, x: Any, y: Any) -> Any:
        for weights, biases in layers[:-1]:
            x = library.nn.relu(x @ weights.T + biases)
        scores = (x @ layers[-1][0].T + layers[-1][1])[:, 0]
        penalty = sum((array * array).sum() for layer in layers for array in layer)
        return library.nn.relu(1 - y * scores).mean() + ALPHA * penalty

    def descended(layers: Any, x: Any, y: Any) -> Any:
        value, gradient = library.value_and_grad(total)(layers, x, y)
        return value, library.tree.map(lambda p, g: p - RATE * g, layers, gradient)

    compiled = library.jit(descended)
    state = [library.tree.map(numbers.asarray, matrices(demo)), numbers.asarray(demo.X), numbers.asarray(1.0 * demo.y)]

    def step() -> float:
        value, state[0] = compiled(*state)
        return float(value)

    return step


def array_by_gradwalk(demo: Demo) -> Step:
    """Return the step with all parameters in one array, updated in place."""

    def loss_of(w: Any, x: Any, y: Any) -> Any:
        hidden, start = list(x), 0
        for nin, nout in itertools.pairwise(SIZES):
            rows = w[start : start + nout * (nin + 1)].reshape(nout, nin + 1)
            hidden = [math.sumprod(row[:-1], hidden, row[-1]) for row in rows]
            start += rows.size
            if start < len(w):
                hidden = [math.relu(number) for number in hidden]
        return math.relu(1 - y * hidden[0]) + ALPHA * math.sumprod(w, w)

    gradient_of_all = jit(vmap(value_and_grad(loss_of), in_axes=(None, 0, 0), reduce="mean"))
    w = numpy.array([p.data for p in demo.model.parameters()])

    def step() -> float:
        value, gradient = gradient_of_all(w, demo.X, demo.y)
        w[:] -= RATE * gradient
        return float(value)

    return step


def array_by_jax(demo: Demo) -> Step:
    """Return the step with all parameters in one array in JAX, compiled as a whole."""
    library = jax()
    numbers = library.numpy

    def total(w: Any, x: Any, y: Any) -> Any:
        start = 0
        for nin, nout in itertools.pairwise(SIZES):
            rows = w[start : start + nout * (nin + 1)].reshape(nout, nin + 1)
            x = x @ rows[:, :-1].T + rows[:, -1]
            start += rows.size
            x = library.nn.relu(x) if start < w.size else x
        return library.nn.relu(1 - y * x[:, 0]).mean() + ALPHA * (w * w).sum()

    def descended(w: Any, x: Any, y: Any) -> Any:
        value, gradient = library.value_and_grad(total)(w, x, y)
        return value, w - RATE * gradient

    compiled = library.jit(descended)
    w = numbers.asarray([p.data for p in demo.model.parameters()])
    state = [w, numbers.asarray(demo.X), numbers.asarray(1.0 * demo.y)]

    def step() -> float:
        value, state[0] = compiled(*state)
        return float(value)

    return step


def repeated(step: Step, count: int) -> Callable[[], None]:
    """Repeat a step as in a training loop, because garbage collection before each run empties the caches."""

    def run() -> None:
        for _ in range(count):
            step()

    return run


def measure(quick: bool) -> list[Row]:
    """Return the rows for the small sample of the demo and for many samples."""
    on_one_core()
    micrograd = peer("micrograd.engine", "micrograd"), peer("micrograd.nn", "micrograd")
    ours = gradwalk.value.value, gradwalk.nn
    rows = []
    for samples in (10,) if quick else (100, 10_000):
        steps: dict[str, Step] = {
            "ours": replayed(Demo(*ours, samples)),
            "Values": Demo(*ours, samples).step,
            "PyTorch": by_torch(Demo(*ours, samples)),
            "JAX": by_jax(Demo(*ours, samples)),
            "array": array_by_gradwalk(Demo(*ours, samples)),
            "array, JAX": array_by_jax(Demo(*ours, samples)),
        }
        if samples <= 100:
            steps["micrograd"] = Demo(*micrograd, samples).step
        for _ in range(3):
            losses = {name: step() for name, step in steps.items()}
            for other in losses.values():
                moons.check_same(losses["ours"], other)
        count = 20 if samples == 100 else 1
        runs: dict[str, Callable[[], object]] = {name: repeated(step, count) for name, step in steps.items()}
        us = {name: 1e6 * time / count for name, time in best_of(1 if quick else 5, runs).items()}
        claim = f"replayed training step of {samples:,} moons"
        rows += [faster(claim, "us", us["ours"], ("JAX", us["JAX"]), 1)]
        others = [name for name in ("Values", "PyTorch", "micrograd") if name in steps]
        rows += [beside(claim, "us", us["ours"], (name, us[name])) for name in others]
        claim, peer_of_array = f"{claim}, parameters in one array", ("JAX", us["array, JAX"])
        rows += [
            faster(claim, "us", us["array"], peer_of_array, 2)
            if samples <= 100
            else beside(claim, "us", us["array"], peer_of_array)
        ]
    return rows


if __name__ == "__main__":
    main(measure)
