"""Values and backward passes."""

from __future__ import annotations

import random

import gradwalk
from gradwalk import Value, nn


class Chain:
    """Repeated `y = y*x + x`."""

    params = (1_000, 100_000)
    param_names = ("operations",)

    def setup(self, operations: int) -> None:
        """Build the graph for the backward pass."""
        self.root = self._built(operations)

    def _built(self, operations: int) -> Value:
        x = y = Value(0.5)
        for _ in range(operations // 2):
            y = y * x + x
        return y

    def time_forward(self, operations: int) -> None:
        """Build the graph and free it."""
        self._built(operations)

    def time_backward(self, operations: int) -> None:
        """Run one backward pass."""
        self.root.backward()

    def peakmem_forward(self, operations: int) -> None:
        """Build the graph, to measure its memory."""
        self._built(operations)


class Moons:
    """micrograd's network of 337 parameters."""

    def setup(self) -> None:
        """Create the network and a point."""
        random.seed(1337)
        self.model = nn.MLP(2, [16, 16, 1])
        self.point = [0.5, -0.25]

    def time_step(self) -> None:
        """Run the forward and backward pass for one point."""
        self.model.zero_grad()
        score = self.model(self.point)
        assert isinstance(score, Value)
        score.backward()


class Seeing:
    """Walk, drawing and check of a graph of 100 nodes."""

    def setup(self) -> None:
        """Build the graph."""
        x = y = Value(0.5, label="x")
        for _ in range(50):
            y = (y * x).tanh()
        y.backward()
        self.root = y

    def time_walk(self) -> None:
        """Describe both passes in sentences."""
        steps = gradwalk.walk(self.root).backward
        assert steps[0].sentence

    def time_draw(self) -> None:
        """Draw the graph."""
        assert gradwalk.draw(self.root).svg

    def time_check(self) -> None:
        """Check all nodes by difference quotients."""
        assert gradwalk.check(self.root).ok
