"""Recorded functions, on one sample and on batches."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gradwalk import clear_caches, grad, hessian, jit, math, value_and_grad, vmap


def sum_of_sines(x: list[float]) -> float:
    """Apply about ten operations per number."""
    total = 0.0
    for a, b in pairwise(x):
        total = total + math.sin(a * b) ** 2 + math.exp(-a) * b
    return total


def loss(w: np.ndarray, x: np.ndarray, y: float) -> float:
    """Return the squared error of a neuron."""
    error: float = (math.tanh(w @ x) - y) ** 2
    return error


class Recording:
    """The gradient of a function of a list of numbers."""

    params = (10, 1_000)
    param_names = ("numbers",)

    def setup(self, numbers: int) -> None:
        """Record the function for later calls."""
        self.x = np.linspace(0.1, 0.9, numbers).tolist()
        self.slope = jit(grad(sum_of_sines))
        self.slope(self.x)

    def time_first_call(self, numbers: int) -> None:
        """Record, differentiate and run the function."""
        clear_caches()
        jit(grad(sum_of_sines))(self.x)

    def time_later_call(self, numbers: int) -> None:
        """Run the recorded function."""
        self.slope(self.x)


class SecondOrder:
    """A Hessian of 20 numbers."""

    def setup(self) -> None:
        """Record the Hessian."""
        self.x = np.linspace(0.1, 0.9, 20).tolist()
        self.curvature = jit(hessian(sum_of_sines))
        self.curvature(self.x)

    def time_call(self) -> None:
        """Run the recorded Hessian."""
        self.curvature(self.x)


class Batch:
    """A loss and its gradient, averaged over samples."""

    params = (100, 100_000)
    param_names = ("samples",)

    def setup(self, samples: int) -> None:
        """Create the data and record the step."""
        generator = np.random.default_rng(0)
        self.x = generator.standard_normal((samples, 3))
        self.y = np.tanh(self.x @ [0.5, -1.0, 2.0])
        self.w = np.zeros(3)
        self.step = jit(vmap(value_and_grad(loss), in_axes=(None, 0, 0), reduce="mean"))
        self.step(self.w, self.x, self.y)

    def time_step(self, samples: int) -> None:
        """Run one training step."""
        self.step(self.w, self.x, self.y)
