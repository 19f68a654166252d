"""A scalar transformer, forward and backward: at least 28 times as fast as the same program on plain-Python Values.

The program is the loss of `examples/microgpt.py` on a few names; `plain_microgpt.py` is the same program on the Values
of `plain_value.py`. Recorded by `jit`, it is at least 400 times as fast on one name at a time, and 5,000 times as fast
in batches on one core.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy
import plain_microgpt
from plain_value import Value as Plain
from timing import Row, beside, best_of, example, faster, main

from gradwalk import Value, jit, threads, value_and_grad, vmap

sys.setrecursionlimit(1_000_000)  # plain Values' backward recurses to the depth of the graph

NAMES = ("emma", "olivia", "isabella", "william")
REPEATED = 20  # steps per run, as in a training loop, because garbage collection before a run empties the caches
SETTINGS = (("collector off", False), ("as shipped", True))


class Program:
    """The loss of names on one type of Value, created by `value`, with the same weights for each type."""

    def __init__(self, weights: Any, value: Any, loss: Callable[[Any, Sequence[int]], Any]) -> None:
        self.weights = {name: [[value(x) for x in row] for row in matrix.tolist()] for name, matrix in weights.items()}
        self.parameters = list(chain.from_iterable(chain.from_iterable(self.weights.values())))
        self._loss = loss

    def run(self, spellings: Sequence[Sequence[int]]) -> float:
        """Run forward and backward passes and return the mean loss of the names."""
        for parameter in self.parameters:
            parameter.grad = 0.0
        loss = sum(self._loss(self.weights, spelling) for spelling in spellings) / len(spellings)
        loss.backward()
        return float(loss.data)


def programs() -> tuple[Program, Program]:
    """Return the program on gradwalk's Values and on plain Values."""
    gpt = example("microgpt")
    weights = gpt.initial_weights(27, random.Random(1337))
    ours = Program(weights, Value, lambda weights, spelling: gpt.loss(weights, spelling[:-1], spelling[1:]))
    return ours, Program(weights, Plain, plain_microgpt.loss)


def check_same(ours: Program, theirs: Program, spellings: Sequence[Sequence[int]]) -> None:
    """Raise `AssertionError` if losses or gradients differ by more than 1e-10."""
    differences = [abs(ours.run(spellings) - theirs.run(spellings))]
    differences += [abs(p.grad - q.grad) for p, q in zip(ours.parameters, theirs.parameters, strict=True)]
    if max(differences) > 1e-10:
        raise AssertionError(f"gradwalk and plain Values differ by {max(differences)}")


def eager(quick: bool) -> list[Row]:
    """Measure a graph of Values with the garbage collector off and on."""
    gpt = example("microgpt")
    names, turns = (NAMES[:1], 1) if quick else (NAMES, 2)
    spellings = [gpt.Tokenizer(gpt.read_names(gpt.NAMES)).encode(name) for name in names]
    ours, theirs = programs()
    check_same(ours, theirs, spellings)
    rows = []
    for setting, collector in SETTINGS:
        best = best_of(turns, {"ours": lambda: ours.run(spellings), "theirs": lambda: theirs.run(spellings)}, collector)
        plain = ("plain Python", 1e3 * best["theirs"])
        rows.append(faster(f"scalar transformer, {setting}", "ms", 1e3 * best["ours"], plain, 28))
    return rows


class Gradients:
    """The recorded gradients of one name and of a batch of names of equal length, with their arguments."""

    def __init__(self, name: str, size: int) -> None:
        gpt = example("microgpt")
        names = gpt.read_names(gpt.NAMES)
        tokenizer = gpt.Tokenizer(names)
        known = [tokenizer.encode(other) for other in names if len(other) == len(name)]
        self.weights = gpt.initial_weights(27, random.Random(1337))
        self.spelling = tokenizer.encode(name)
        self.letters = numpy.array(self.spelling, float)
        self.batch = numpy.array(random.Random(0).choices(known, k=size), float)
        self.gradient = value_and_grad(gpt.loss)
        self.alone = jit(self.gradient)
        self.together = jit(vmap(self.gradient, in_axes=(None, 0, 0), reduce="mean"))

    def first(self) -> Any:
        """Record and run the gradient of one name."""
        return jit(self.gradient)(self.weights, self.letters[:-1], self.letters[1:])

    def replayed(self) -> None:
        """Replay the gradient of one name several times."""
        for _ in range(REPEATED):
            self.alone(self.weights, self.letters[:-1], self.letters[1:])

    def on(self, count: int) -> Any:
        """Run the batch on a number of threads."""
        with threads(count):
            return self.together(self.weights, self.batch[:, :-1], self.batch[:, 1:])

    def check(self, theirs: Program) -> None:
        """Raise `AssertionError` if the gradients differ from the gradients of plain Values."""
        value, gradient = self.alone(self.weights, self.letters[:-1], self.letters[1:])
        numpy.testing.assert_allclose(value, theirs.run([self.spelling]), rtol=1e-12)
        of_one = self.together(self.weights, self.letters[None, :-1], self.letters[None, 1:])[1]
        for found in (gradient, of_one):
            slopes = numpy.concatenate([matrix.ravel() for matrix in found.values()])
            numpy.testing.assert_allclose(slopes, [p.grad for p in theirs.parameters], rtol=1e-9, atol=1e-12)


def recorded(quick: bool) -> list[Row]:
    """Measure the recorded gradient of one name, alone and on a batch of names of equal length."""
    name, size, turns = (NAMES[0], 8, 1) if quick else (NAMES[1], 1024, 5)
    ours, theirs = Gradients(name, size), programs()[1]
    ours.check(theirs)
    runs = {
        "first": ours.first,
        "alone": ours.replayed,
        "together": lambda: ours.on(1),
        "on two threads": lambda: ours.on(2),
        "plain": lambda: theirs.run([ours.spelling]),
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
    """Return the rows of the eager and the recorded program."""
    return [*eager(quick), *recorded(quick)]


if __name__ == "__main__":
    main(measure)
