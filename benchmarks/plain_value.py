"""The peer of `transformer.py`: the fastest plain-Python `Value` that we know, after Karpathy's microgpt.

It has slots instead of a dict, and stores local derivatives when a node is created instead of closures. The backward
pass is recursive, so deep graphs need a higher recursion limit. As in microgpt, subtraction and division are composed
of other operations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


class Value:
    """A number, its gradient, and its operands."""

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
        """Return the exponential."""
        out = math.exp(self.data)
        return Value(out, (self,), (out,))

    def log(self) -> Value:
        """Return the natural logarithm."""
        return Value(math.log(self.data), (self,), (1 / self.data,))

    def sqrt(self) -> Value:
        """Return the square root."""
        out = math.sqrt(self.data)
        return Value(out, (self,), (0.5 / out,))

    def tanh(self) -> Value:
        """Return the hyperbolic tangent."""
        out = math.tanh(self.data)
        return Value(out, (self,), (1 - out * out,))

    def relu(self) -> Value:
        """Return the number if it is positive, else 0."""
        return Value(max(0.0, self.data), (self,), (float(self.data > 0),))

    def backward(self) -> None:
        """Add d self / d v to the gradient of each ancestor v."""
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
    """Return p[0]*q[0] + p[1]*q[1] + ..., computed in a loop."""
    return sum(pi * qi for pi, qi in zip(p, q))  # noqa: B905
