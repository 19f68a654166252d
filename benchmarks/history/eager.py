"""Values and backward sweeps."""

from __future__ import annotations

import random

import gradwalk
from gradwalk import Value, nn


class Chain:
    """`y = y*x + x`, over and over."""

    params = (1_000, 100_000)
    param_names = ("operations",)

    def setup(self, operations: int) -> None:
        """Make what is swept over."""
        self.root = self._built(operations)

    def _built(self, operations: int) -> Value:
        x = y = Value(0.5)
        for _ in range(operations // 2):
            y = y * x + x
        return y

    def time_forward(self, operations: int) -> None:
        """Building it, and freeing it."""
        self._built(operations)

    def time_backward(self, operations: int) -> None:
        """One sweep over it."""
        self.root.backward()

    def peakmem_forward(self, operations: int) -> None:
        """The memory that it takes."""
        self._built(operations)


class Moons:
    """micrograd's network of 337 parameters."""

    def setup(self) -> None:
        """Make the network, and a point."""
        random.seed(1337)
        self.model = nn.MLP(2, [16, 16, 1])
        self.point = [0.5, -0.25]

    def time_step(self) -> None:
        """Forward and backward, for one point."""
        self.model.zero_grad()
        score = self.model(self.point)
        assert isinstance(score, Value)
        score.backward()


class Seeing:
    """What is shown of a graph of 100 nodes."""

    def setup(self) -> None:
        """Make the graph."""
        x = y = Value(0.5, label="x")
        for _ in range(50):
            y = (y * x).tanh()
        y.backward()
        self.root = y

    def time_walk(self) -> None:
        """Both passes, in sentences."""
        steps = gradwalk.walk(self.root).backward
        assert steps[0].sentence

    def time_draw(self) -> None:
        """The picture."""
        assert gradwalk.draw(self.root).svg

    def time_check(self) -> None:
        """Difference quotients of all nodes."""
        assert gradwalk.check(self.root).ok
