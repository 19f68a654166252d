"""Random functions with nested Python loops over carries, elements and stacked results."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from gradwalk import math

Step = Callable[[list[Any], list[Any], Sequence[Any], tuple[int, ...]], None]  # of carries, results, inputs, counters


def loopy(seed: int, depth: int = 3, most: int = 6) -> Callable[[Sequence[Any]], list[Any]]:
    """Draw a function of a sequence that returns the carries and the stacked results."""
    rng = random.Random(seed)
    steps = block(rng, depth, most)

    def f(x: Sequence[Any]) -> list[Any]:
        carries, results = [x[0], x[1], x[2] * 0.5], [x[-1]]
        for step in steps:
            step(carries, results, x, ())
        return [*carries, *results[:: max(1, len(results) // 4)]]

    return f


def block(rng: random.Random, depth: int, most: int) -> list[Step]:
    return [loop(rng, depth, most) if depth and rng.random() < 0.5 else single(rng) for _ in range(rng.randint(1, 4))]


def loop(rng: random.Random, depth: int, most: int) -> Step:
    times, ragged, steps = rng.randint(1, most), rng.random() < 0.2, block(rng, depth - 1, most)

    def run(carries: list[Any], results: list[Any], x: Sequence[Any], counters: tuple[int, ...]) -> None:
        for i in range(counters[-1] if ragged and counters else times):
            for step in steps:
                step(carries, results, x, (*counters, i))

    return run


def single(rng: random.Random) -> Step:
    kind = rng.randrange(5)
    a, b, c = (rng.randrange(3) for _ in range(3))
    start, strides = rng.randrange(8), [rng.randint(-2, 2) for _ in range(4)]
    constants = [rng.choice([0.5, 1.5, rng.uniform(-1, 1)]) for _ in range(5)]
    operation = rng.choice([math.sin, math.tanh, lambda v: v * v, lambda v: math.maximum(v, 0.1), math.fabs])

    def place(counters: tuple[int, ...]) -> int:
        return start + sum(i * stride for i, stride in zip(counters, strides, strict=False))

    def run(carries: list[Any], results: list[Any], x: Sequence[Any], counters: tuple[int, ...]) -> None:
        i = place(counters)
        if kind == 0:
            carries[a] = operation(carries[b]) + carries[c]
        elif kind == 1:
            carries[a] = carries[b] * x[i % len(x)] + carries[c]
        elif kind == 2:
            carries[a] = carries[a] * constants[i % 5] - carries[b]
        elif kind == 3:
            results.append(operation(carries[a]))
        else:
            carries[a] = carries[a] + results[i % len(results)] * 0.3

    return run
