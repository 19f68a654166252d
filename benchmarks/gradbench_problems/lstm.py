"""GradBench's `lstm`, from ADBench: the gradient of how well an LSTM predicts each letter from the previous ones.

The weights act elementwise. A letter is a vector of 14 numbers. GradBench has two and four layers, and 1,024 and 4,096
letters. The data here is random.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy
from suites import LETTERS, OURS, objective, of_jax

from gradbench_problems import tapes
from gradbench_problems.base import Case, in_cpp, in_jax, recorded, slopes_in_torch, torch
from gradwalk import grad


def objective_in_torch(weights: Any, extra: Any, state: Any, sequence: Any) -> Any:
    """Return the objective in PyTorch, which computes non-recurrent terms for all letters at once."""
    t, b = torch(), LETTERS
    xs = sequence[:-1] * extra[0]
    for i in range(0, len(weights), 2):
        w, bias = weights[i].reshape(4, b), weights[i + 1].reshape(4, b)
        forgets, outs = t.sigmoid(xs * w[0] + bias[0]).unbind(), t.sigmoid(xs * w[2] + bias[2])
        h, c, both, shift = state[i], state[i + 1], w[1::2], bias[1::2]
        after = []
        for forget, out in zip(forgets, outs.unbind(), strict=True):
            enter, change = t.addcmul(shift, h, both).unbind()
            c = c * forget + t.sigmoid(enter) * t.tanh(change)
            h = out * t.tanh(c)
            after.append(h)
        xs = t.stack(after)
    y = xs * extra[1] + extra[2]
    y = y - t.log(t.exp(y).sum(1, keepdim=True) + 2.0)
    return -(sequence[1:] * y).mean()


def cases(quick: bool) -> Iterator[Case]:
    """Yield all sizes."""
    generator = numpy.random.default_rng(0)
    for layers, letters in [(4, 30)] if quick else [(2, 1024), (4, 1024), (4, 4096)]:
        sequence = numpy.eye(LETTERS)[generator.integers(0, LETTERS, letters)]
        weights, extra, state = (0.3 * generator.normal(size=(n, LETTERS)) for n in (8 * layers, 3, 2 * layers))
        weights = weights.reshape(2 * layers, -1)
        given = weights, extra, state, sequence
        other = of_jax()
        name = "lstm" if layers == 2 else "lstm4"
        makers = {
            "gradwalk": recorded(grad(partial(objective, OURS), (0, 1)), *given),
            "C++": in_cpp(name, [letters, *given], [weights.shape, extra.shape]),
            "JAX": in_jax(other.grad(partial(objective, other), (0, 1)), *given),
            "PyTorch": slopes_in_torch(objective_in_torch, 2, *given),
        }
        numbers = numpy.concatenate([weights.ravel(), extra.ravel()])
        fixed = numpy.concatenate([state.ravel(), sequence.ravel()])
        makers |= tapes.makers(tapes.Tapes.gradient, "lstm", [layers, letters], numbers, fixed)
        yield Case("lstm", f"{layers} layers, {letters:,} letters", makers)
