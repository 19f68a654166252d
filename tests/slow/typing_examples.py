"""User code that is type-checked but never run; `test_types.py` compares the results with the comments.

The comment after `reveal_type` is the expected type, and the comment "error" marks a line with an expected error.
"""

from __future__ import annotations

from typing import Any, reveal_type

import numpy
from numpy.typing import NDArray

import gradwalk as gw
from gradwalk import Value, nn


def area(width: float, height: float = 1.0) -> float:
    return width * height


def norm(x: NDArray[Any], p: float) -> float:
    return float((x**p).sum())


def loss(model: nn.MLP, x: list[float], y: float) -> Any:
    return model(x)


@gw.jit
def repeated(x: float, *, n: int = 2) -> list[float]:
    return [x] * n


@gw.jit(static_argnames="n")
def repeated_statically(x: float, n: int = 2) -> list[float]:
    return [x] * n


@gw.checkpoint
def step(x: float) -> float:
    return x + 0.01 * x


@gw.checkpoint(static_argnums=1)
def steps(x: float, n: int) -> float:
    return x * n


@gw.vectorize(signature="(i)->()")
def total(x: NDArray[Any]) -> Any:
    return x.sum()


class Oscillator:
    @gw.jit
    def energy(self, x: float) -> float:
        return x * x


# jit keeps the parameters and the result type of the function
reveal_type(gw.jit(area))  # Jit[[width: float, height: float =], float]
reveal_type(gw.jit(area)(2.0, height=3.0))  # float
reveal_type(gw.jit(area).program)  # Program
reveal_type(gw.jit(area).graph)  # Graph
reveal_type(gw.jit(area).walk(2.0))  # Walk
reveal_type(gw.jit(area).statistics)  # Statistics
reveal_type(repeated)  # Jit[[x: float, *, n: int =], list[float]]
reveal_type(repeated_statically)  # Jit[[x: float, n: int =], list[float]]
reveal_type(repeated_statically(2.0, n=3))  # list[float]
reveal_type(step)  # Checkpoint[[x: float], float]
reveal_type(steps(2.0, 3))  # float
reveal_type(Oscillator.energy)  # Jit[[self: Oscillator, x: float], float]
reveal_type(Oscillator().energy(2.0))  # float
reveal_type(gw.jit(lambda x: x * x)(2.0))  # Any

# Derivatives keep the parameters of the function. The type of a gradient cannot be expressed for all trees.
reveal_type(gw.grad(area))  # Grad[[width: float, height: float =], Any]
reveal_type(gw.grad(area, argnums=(0, 1))(2.0, height=3.0))  # Any
reveal_type(gw.value_and_grad(area))  # Grad[[width: float, height: float =], tuple[float, Any]]
reveal_type(gw.jit(gw.value_and_grad(area)))  # Jit[[width: float, height: float =], tuple[float, Any]]
reveal_type(gw.grad(lambda x, y: x * x + y)(2.0, 1.0))  # Any
reveal_type(gw.jacobian(area))  # Jacobian[[width: float, height: float =], Any]
reveal_type(gw.jacfwd(area))  # Jacobian[[width: float, height: float =], Any]
reveal_type(gw.jacrev(area))  # Jacobian[[width: float, height: float =], Any]
reveal_type(gw.hessian(area))  # Jacobian[[width: float, height: float =], Any]
reveal_type(gw.sparse_jacobian(norm))  # SparseJacobian[[x: ndarray[tuple[Any, ...], dtype[Any]], p: float]]
reveal_type(gw.sparse_hessian(norm).statistics)  # SparseStatistics
reveal_type(gw.jvp(area, (2.0,), (1.0,)))  # tuple[float, float]
reveal_type(gw.vjp(area, 2.0))  # tuple[float, (float) -> tuple[Any, ...]]
reveal_type(gw.stop_gradient(2.0))  # float

# vmap: each parameter also accepts an array, which types cannot express for arbitrary parameters
reveal_type(gw.vmap(area))  # Vmap[[width: float, height: float =]]
reveal_type(gw.vmap(area)(numpy.ones(3), height=numpy.ones(3)))  # Any
reveal_type(gw.vmap(area)(numpy.ones(3), out=numpy.empty(3)))  # Any
reveal_type(gw.jit(gw.vmap(area)))  # Vmap[[width: float, height: float =]]
reveal_type(gw.jit(gw.vmap(gw.grad(area))))  # Vmap[[width: float, height: float =]]
reveal_type(gw.jit(gw.vmap(area)).program)  # BatchProgram
reveal_type(gw.jit(gw.vmap(area)).kernel)  # Kernel
reveal_type(gw.jit(gw.vmap(area)).lower(numpy.ones(3)))  # BatchProgram
reveal_type(gw.vectorize(area))  # Vectorized[[width: float, height: float =]]
reveal_type(gw.vectorize(area)(numpy.ones(3)))  # Any
reveal_type(total)  # Vectorized[[x: ndarray[tuple[Any, ...], dtype[Any]]]]

# Modules: parameters are Values; in an annotated gradient they are numbers
model = nn.MLP(2, [4, 1])
gradient: nn.Module[nn.Number] = gw.grad(loss)(model, [1.0, 2.0], 3.0)
reveal_type(model.parameters())  # list[Value]
reveal_type(gradient.parameters())  # list[Number]
model.zero_grad()
for p, g in zip(model.parameters(), gradient.parameters(), strict=True):
    p.data -= 0.1 * p.grad
    p.data -= 0.1 * g


class Line(nn.Module):
    def __init__(self) -> None:
        self.slope = Value(1.0)
        self.label_parameters()


reveal_type(Line().parameters())  # list[Value]
reveal_type(dict(Line().named_parameters()))  # dict[str, Value]

# Errors are reported
gw.jit(area)("wide")  # error
gw.jit(area)(2.0, depth=3.0)  # error
gw.jit(area).walk()  # error
gw.jit(area).kernel  # error
gw.jit(area, nonsense=1)  # error
gw.grad(area)()  # error
gw.value_and_grad(area)(2.0, 3.0, 4.0)  # error
gradient.zero_grad()  # error
