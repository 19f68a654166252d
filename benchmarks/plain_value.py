"""The peer of `transformer.py`: the best known way to write `Value` in plain Python, after Karpathy's microgpt.

Slots instead of a dict, local derivatives stored when a node is made instead of closures. The sweep recurses, so the
recursion limit has to be raised for deep graphs. Subtraction and division are made of other operations, as there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


class Value:
    """A number, its gradient, and what it was made from."""

    __slots__ = ("_children", "_local_grads", "data", "grad")

    def __init__(self, data: float, children: tuple[Value, ...] = (), local_grads: tuple[float, ...] = ()) -> None:
        self.data = data
        self.grad = 0.0
        self._children = children
        self._local_grads = local_grads

    def __add__(self, other: Value | float) -> Value:
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1, 1))

    def __mul__(self, other: Value | float) -> Value:
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, other: float) -> Value:
        return Value(self.data**other, (self,), (other * self.data ** (other - 1),))

    def __neg__(self) -> Value:
        return self * -1

    def __radd__(self, other: Value | float) -> Value:
        return self + other

    def __sub__(self, other: Value | float) -> Value:
        return self + (-other)

    def __rsub__(self, other: Value | float) -> Value:
        return other + (-self)

    def __rmul__(self, other: Value | float) -> Value:
        return self * other

    def __truediv__(self, other: Value | float) -> Value:
        return self * other**-1

    def __rtruediv__(self, other: Value | float) -> Value:
        return other * self**-1

    def exp(self) -> Value:
        """Exponential."""
        out = math.exp(self.data)
        return Value(out, (self,), (out,))

    def log(self) -> Value:
        """Natural logarithm."""
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def sqrt(self) -> Value:
        """Square root."""
        out = math.sqrt(self.data)
        return Value(out, (self,), (0.5 / out,))

    def tanh(self) -> Value:
        """Hyperbolic tangent."""
        out = math.tanh(self.data)
        return Value(out, (self,), (1 - out * out,))

    def relu(self) -> Value:
        """Self where it is positive, else 0."""
        return Value(max(0.0, self.data), (self,), (float(self.data > 0),))

    def backward(self) -> None:
        """Add d self / d v to the gradient of every v that self was made from."""
        order: list[Value] = []
        visited: set[Value] = set()

        def visit(v: Value) -> None:
            if v not in visited:
                visited.add(v)
                for child in v._children:
                    visit(child)
                order.append(v)

        visit(self)
        self.grad = 1.0
        for v in reversed(order):
            for child, local_grad in zip(v._children, v._local_grads):  # noqa: B905  # strict=True costs time
                child.grad += local_grad * v.grad


def sumprod(p: Sequence[Any], q: Sequence[Any]) -> Any:
    """p[0]*q[0] + p[1]*q[1] + ..., as the loop that it is."""
    return sum(pi * qi for pi, qi in zip(p, q))  # noqa: B905
