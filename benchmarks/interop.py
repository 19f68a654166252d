"""A gradwalk function inside PyTorch and JAX: the cost of the calls, and when they pay off.

The function is a recurrence of a hundred steps on single numbers, measured with its gradient: written in each library,
converted by `to_torch` or `to_jax`, and called by gradwalk directly. Also measured are a batch, and a function so short
that only the call costs time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from peers import jax as jax_of_64_bits
from peers import on_one_core
from timing import Row, beside, fastest, main, peer

from gradwalk import interop, jit, math, value_and_grad, vmap

STEPS = 100


def recurrence(module: Any) -> Callable[..., Any]:
    """Return a damped pendulum in explicit steps, written with the functions of a module."""

    def end(x: Any) -> Any:
        angle, speed = x[0], x[1]
        for _ in range(STEPS):
            angle, speed = angle + 0.05 * speed, speed - 0.05 * (module.sin(angle) + x[2] * speed)
        return angle * angle + speed * speed

    return end


def scanned(jax: Any) -> Callable[..., Any]:
    """Return the same pendulum as a `lax.scan`, because XLA's code for batches of unrolled loops is far slower."""

    def end(x: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            angle, speed = state
            return (angle + 0.05 * speed, speed - 0.05 * (jax.numpy.sin(angle) + x[2] * speed)), None

        (angle, speed), _ = jax.lax.scan(step, (x[0], x[1]), None, length=STEPS)
        return angle * angle + speed * speed

    return end


def by_torch(torch: Any, f: Callable[..., Any], x: Any) -> Callable[[], Any]:
    """Return a function that computes value and gradient with PyTorch's tape."""

    def run() -> Any:
        leaf = x.clone().requires_grad_()
        value = f(leaf).sum()
        value.backward()
        return value.detach(), leaf.grad

    return run


def on_samples(samples: int) -> dict[str, Callable[[], Any]]:
    """Return the ways to compute value and gradient, for one sample or many."""
    torch, jax = peer("torch", "torch"), jax_of_64_bits()
    torch.set_num_threads(1)
    ours, of_jax = recurrence(math), scanned(jax)
    in_torch, in_jax = interop.to_torch(ours), interop.to_jax(ours)
    if samples == 1:
        point = numpy.array([1.0, 0.5, 0.1])
        batched: list[Callable[..., Any]] = [lambda f: f] * 3
    else:
        point = numpy.random.default_rng(0).normal(size=(samples, 3))
        batched = [vmap, torch.func.vmap, jax.vmap]
    alone = jit(batched[0](value_and_grad(ours)))
    called, compiled = [jax.jit(batched[2](jax.value_and_grad(f))) for f in (in_jax, of_jax)]
    return {
        "gradwalk": lambda: alone(point),
        "to_torch": by_torch(torch, batched[1](in_torch), torch.tensor(point)),
        "PyTorch": by_torch(torch, lambda x: recurrence(torch)(x.movedim(-1, 0)), torch.tensor(point)),
        "to_jax": lambda: jax.block_until_ready(called(point)),
        "JAX": lambda: jax.block_until_ready(compiled(point)),
    }


def compared(claim: str, runs: dict[str, Callable[[], Any]], quick: bool) -> list[Row]:
    """Check the ways against each other, measure them, and return their rows."""
    value, gradient = runs["gradwalk"]()
    for run in runs.values():
        found, slope = run()
        assert numpy.isclose(numpy.sum(numpy.asarray(found)), numpy.sum(value))
        assert numpy.allclose(slope, gradient)
    times = fastest(1 if quick else 3, runs, calls=1 if quick else 5)
    us = {name: 1e6 * seconds for name, seconds in times.items()}
    return [
        beside(f"{claim}, to_torch", "us", us["to_torch"], ("PyTorch", us["PyTorch"])),
        beside(f"{claim}, to_torch", "us", us["to_torch"], ("gradwalk alone", us["gradwalk"])),
        beside(f"{claim}, to_jax", "us", us["to_jax"], ("JAX, compiled", us["JAX"])),
        beside(f"{claim}, to_jax", "us", us["to_jax"], ("gradwalk alone", us["gradwalk"])),
    ]


def square(x: Any) -> Any:
    """Return the squared norm, which costs almost no time."""
    return x @ x


def shortest(quick: bool) -> Row:
    """Measure only the call from PyTorch and back."""
    torch = peer("torch", "torch")
    x = torch.tensor([1.0, 0.5, 0.1], dtype=torch.float64)
    runs = {
        "to_torch": by_torch(torch, interop.to_torch(square), x),
        "PyTorch": by_torch(torch, square, x),
    }
    us = {name: 1e6 * seconds for name, seconds in fastest(1 if quick else 5, runs).items()}
    return beside("value and gradient of x @ x, to_torch", "us", us["to_torch"], ("PyTorch", us["PyTorch"]))


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    on_one_core()
    samples = 100 if quick else 10_000
    return [
        *compared(f"value and gradient of {STEPS} steps", on_samples(1), quick),
        *compared(f"the same of {samples:,} samples", on_samples(samples), quick),
        shortest(quick),
    ]


if __name__ == "__main__":
    main(measure)
