"""Functions and objects that users of gradwalk pickle, each with an expression to evaluate."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy

from gradwalk import (
    Value,
    checkpoint,
    grad,
    hessian,
    jit,
    loops,
    math,
    optim,
    primitive,
    sparse_jacobian,
    value_and_grad,
    vectorize,
    vmap,
)
from gradwalk.nn import MLP
from gradwalk.program.program import Program
from gradwalk.solvers import odeint, root


def looped(x: Any) -> Any:
    step = lambda i, y: loops.cond(y > 1.0, lambda: y * 0.5 + x, lambda: math.exp(y) * x)  # noqa: E731
    return loops.fori_loop(0, 3, step, x)


def branching(x: Any) -> Any:
    return x * x if x > 1.0 else -x


def batched(x: Any) -> Any:
    return vmap(looped, reduce="sum")(numpy.array([0.1, 0.2])) * x


def solution(x: Any) -> Any:
    return odeint(lambda y, t: -x * y, 1.0, [0.0, 1.0])[-1] + root(lambda y: [y[0] * y[0] - x], [1.0])[0]


@primitive
def cubed(x: float) -> float:
    return x**3


@cubed.derivative
def _slope(out: Any, x: Any) -> Any:
    return 3.0 * x * x


@checkpoint
def block(x: Any) -> Any:
    return math.sin(x) * x


@jit
def decorated(x: Any) -> Any:
    return cubed(x) + block(x)


@dataclasses.dataclass
class Pair:
    """A pair of numbers."""

    first: Any
    second: Any


def program_of(f: Any) -> Program:
    """Record a function of a number."""
    return jit(f).recorded(1.3).program


def program_of_a_solution() -> Program:
    return program_of(grad(solution))


def graph() -> Value:
    a = Value(2.0, label="a")
    root = math.sin(a * 3.0) + a
    root.backward()
    return root


def state() -> Any:
    optimizer = optim.adamw(optim.warmup_cosine_decay_schedule(0.0, 0.1, 2, 10))
    return optimizer.update([1.0, 2.0], optimizer.init([0.5, 0.5]), [0.5, 0.5])[1]


def network() -> MLP:
    model = MLP(2, [3, 1])
    for i, parameter in enumerate(model.parameters()):
        parameter.data = 0.1 * i
    return model


STEP = "found.update([3.0, -2.0], found.init([1.0, 1.0]), [1.0, 1.0])"
# For each name: a function that makes an object, and an expression of `found`, the object or its unpickled copy.
OBJECTS: dict[str, tuple[Any, str]] = {
    "the program of a loop": (lambda: program_of(looped), "found.run([1.3]).tolist()"),
    "the program of its gradient": (lambda: program_of(grad(looped)), "found.run([1.3]).tolist()"),
    "the program of a batch": (lambda: program_of(grad(batched)), "found.run([1.3]).tolist()"),
    "the program of solutions": (program_of_a_solution, "found.run([1.3]).tolist()"),
    "the program of a primitive": (lambda: program_of(grad(decorated)), "found.run([1.3]).tolist()"),
    "jit": (lambda: jit(looped), "found(1.3)"),
    "jit of a gradient": (lambda: jit(value_and_grad(looped)), "found(1.3)"),
    "jit with branches": (lambda: jit(branching, branches="record"), "found(1.3)"),
    "a decorated function": (lambda: decorated, "found(1.3)"),
    "second derivatives": (lambda: hessian(looped), "found(1.3)"),
    "a sparse Jacobian": (lambda: sparse_jacobian(numpy.sin), "found([1.3, 1.4]).toarray().tolist()"),
    "vmap": (lambda: vmap(grad(looped)), "found(numpy.array([1.3, 0.2])).tolist()"),
    "vmap with a sum": (lambda: vmap(looped, reduce="sum"), "found(numpy.array([1.3, 0.2]))"),
    "jit of vmap": (lambda: jit(vmap(looped)), "found(numpy.array([1.3, 0.2])).tolist()"),
    "vectorize": (lambda: vectorize(looped), "found(numpy.array([1.3, 0.2])).tolist()"),
    "a Value": (graph, "(found.data, found.grad, found.operands[1].label, found.operands[1].grad)"),
    "Values in an array": (lambda: numpy.array([Value(1.0), Value(2.0)]), "[x.data for x in found]"),
    "a Module": (network, "found([0.5, 0.2])"),
    "a dataclass": (lambda: Pair(Value(1.0), 2.0), "(found.first.data, found.second)"),
    "the state of an optimizer": (state, "found"),
    "adam": (lambda: optim.adam(0.1), STEP),
    "adamw with a schedule": (lambda: optim.adamw(optim.linear_schedule(0.1, 0.0, 5), mask=[True, False]), STEP),
    "sgd with momentum": (lambda: optim.sgd(optim.exponential_decay(0.1, 2, 0.5), 0.9, nesterov=True), STEP),
    "a chain": (lambda: optim.chain(optim.clip(1.0), optim.clip_by_global_norm(1.0), optim.scale(-0.1)), STEP),
}
