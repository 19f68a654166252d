"""A transformer made of scalars, forward + backward: at least 28 times the same program on plain-Python Values.

The program is `examples/scalar_gpt.py`, the loss of a few names; the plain Values are those of `plain_value.py`.
Recorded by `jit`, it takes a name at a time at least 400 times as fast, and in batches, on one core, 5,000 times.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
import plain_value
from plain_value import Value as Plain
from timing import Row, beside, best_of, faster, main

from gradwalk import Value, jit, threads, value_and_grad, vmap

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))
sys.setrecursionlimit(1_000_000)  # the plain Values' backward recurses as deep as the graph

NAMES = ("emma", "olivia", "isabella", "william")
REPEATED = 20  # steps of one run, as in a training loop: before each run the garbage collector has emptied the caches
SETTINGS = (("collector off", False), ("as shipped", True))


class Program:
    """The transformer on one kind of scalars, made by `value`, with the same weights for each."""

    def __init__(self, scalar_gpt: Any, value: Any, scalars: Any) -> None:
        rng = random.Random(1337)
        self.parameters = [value(rng.gauss(0.0, 0.15)) for _ in range(scalar_gpt.PARAMETERS)]
        self.model = scalar_gpt.Transformer(self.parameters, scalars)
        self.end, self.alphabet = scalar_gpt.END, scalar_gpt.ALPHABET

    def loss(self, names: Sequence[str]) -> Any:
        """The mean of -log(probability) over all letters of the names and their ends."""
        found = []
        for name in names:
            memory: list[Any] = []
            for letter, following in pairwise(map(self.alphabet.index, self.end + name + self.end)):
                found.append(self.model.log_probabilities(self.model.letters[letter], memory)[following])
        return self.model.scalars.sumprod(found, [-1 / len(found)] * len(found))

    def run(self, names: Sequence[str]) -> float:
        """Forward and backward; the loss."""
        for parameter in self.parameters:
            parameter.grad = 0.0
        loss = self.loss(names)
        loss.backward()
        return float(loss.data)


def peak(numbers: Sequence[Any]) -> float:
    """The largest, as a constant."""
    return float(max([number.data for number in numbers]))


def on_plain_values(scalar_gpt: Any) -> Program:
    """The transformer on the peer's Values."""
    functions = plain_value.sumprod, Plain.exp, Plain.log, Plain.sqrt, Plain.relu
    return Program(scalar_gpt, Plain, scalar_gpt.Scalars(*functions, peak))


def check_same(ours: Program, theirs: Program, names: Sequence[str]) -> None:
    """Raise `AssertionError` where the losses or the gradients differ by more than 1e-10."""
    differences = [abs(ours.run(names) - theirs.run(names))]
    differences += [abs(p.grad - q.grad) for p, q in zip(ours.parameters, theirs.parameters, strict=True)]
    if max(differences) > 1e-10:
        raise AssertionError(f"gradwalk and plain Values differ by {max(differences)}")


def eager(quick: bool) -> list[Row]:
    """A graph of Values: a row with the garbage collector off and one with it on."""
    names, turns = (NAMES[:1], 1) if quick else (NAMES, 2)
    scalar_gpt: Any = import_module("scalar_gpt")
    ours, theirs = Program(scalar_gpt, Value, scalar_gpt.Scalars(peak=peak)), on_plain_values(scalar_gpt)
    check_same(ours, theirs, names)
    rows = []
    for setting, collector in SETTINGS:
        best = best_of(turns, {"ours": lambda: ours.run(names), "theirs": lambda: theirs.run(names)}, collector)
        plain = ("plain Python", 1e3 * best["theirs"])
        rows.append(faster(f"scalar transformer, {setting}", "ms", 1e3 * best["ours"], plain, 28))
    return rows


def recorded(quick: bool) -> list[Row]:
    """The gradient of one name, replayed: alone, and on a batch of names as long."""
    name, size, turns = (NAMES[0], 8, 1) if quick else (NAMES[1], 1024, 5)
    scalar_gpt: Any = import_module("scalar_gpt")
    theirs = on_plain_values(scalar_gpt)
    weights = numpy.array([parameter.data for parameter in theirs.parameters])
    known = scalar_gpt.by_length(scalar_gpt.NAMES.read_text().split())[len(name)]
    letters, following = scalar_gpt.spelled([name])
    batch = scalar_gpt.spelled(random.Random(0).choices(known, k=size))
    alone = jit(value_and_grad(scalar_gpt.loss))
    together = jit(vmap(value_and_grad(scalar_gpt.loss), in_axes=(None, 0, 0), reduce="mean"))

    value, gradient = alone(weights, letters[0], following[0])
    numpy.testing.assert_allclose(value, theirs.run([name]), rtol=1e-12)
    numpy.testing.assert_allclose(gradient, [p.grad for p in theirs.parameters], rtol=1e-9, atol=1e-12)
    numpy.testing.assert_allclose(together(weights, letters, following)[1], gradient, rtol=1e-9, atol=1e-12)

    def on(count: int) -> Any:
        with threads(count):
            return together(weights, *batch)

    def replayed() -> None:
        for _ in range(REPEATED):
            alone(weights, letters[0], following[0])

    runs = {
        "first": lambda: jit(value_and_grad(scalar_gpt.loss))(weights, letters[0], following[0]),
        "alone": replayed,
        "together": lambda: on(1),
        "on two threads": lambda: on(2),
        "plain": lambda: theirs.run([name]),
    }
    rows = []
    for setting, collector in SETTINGS:
        us = {run: 1e6 * time for run, time in best_of(turns, runs, collector).items()}
        plain = ("plain Python", us["plain"])
        rows += [
            beside(f"name of {len(name)} letters, first step, which records, {setting}", "us", us["first"], plain),
            faster(f"name of {len(name)} letters, replayed, {setting}", "us", us["alone"] / REPEATED, plain, 400),
            faster(f"the same in batches of {size:,}, {setting}", "us", us["together"] / size, plain, 5000),
        ]
    one = ("on one", us["together"] / size)
    rows.append(faster(f"the same in batches of {size:,}, on two threads", "us", us["on two threads"] / size, one, 1.9))
    return rows


def measure(quick: bool) -> list[Row]:
    """The rows of both."""
    return [*eager(quick), *recorded(quick)]


if __name__ == "__main__":
    main(measure)
