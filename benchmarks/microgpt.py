"""A whole training step of microgpt on one name, Adam included: at most 1.5 times C++ with gradients by hand.

At most 1/1,500 of what a `Value` in plain Python takes, and in batches, in float32, at most 4 us a name. The model is
that of Karpathy's microgpt.py: 4,192 parameters, a `Value` each, and Adam with its numbers. gradwalk's step is one
recorded program: the loss, its gradient and `gradwalk.optim`. C++ computes in float32. All train on the same names, and
have to agree. With a copy of microgpt.py its own steps are measured, too:

    MICROGPT=microgpt.py python benchmarks/run.py microgpt
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from ctypes import c_float, c_int
from importlib import import_module
from itertools import cycle, pairwise
from operator import add
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy
import plain_value
from peers import cpp, on_one_core, pointers
from plain_value import Value as Plain
from timing import Row, at_most, beside, best_of, faster, main, within

from gradwalk import jit, math, optim, value_and_grad, vmap

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))
sys.setrecursionlimit(1_000_000)  # the plain Values' backward recurses as deep as the graph

STEPS = 1000  # after which Adam's rate is 0
LENGTH = 6  # of the names: the usual one
REPEATED = 100  # steps of one run
LONGEST = 20.0  # seconds to wait until gradwalk has its rows


def model(weights: Any, scalars: Any = None) -> Any:
    """microgpt: as `examples/scalar_gpt.py`, but for where vectors are normalised."""
    transformer: Any = import_module("scalar_gpt").Transformer

    class Microgpt(transformer):  # type: ignore[misc]
        def log_probabilities(self, letter: Any, memory: Any) -> Any:
            """Of every letter to come after this one."""
            x = self.normalise(list(map(add, letter, self.places[len(memory)])))
            x = list(map(add, x, self.attend(self.normalise(x), memory)))
            hidden = [self.scalars.relu(neuron) for neuron in self.linear(self.widen, self.normalise(x))]
            x = list(map(add, x, self.linear(self.narrow, hidden)))
            return self.log_softmax(self.linear(self.unembed, x))

    return Microgpt(weights, scalars)


def loss(weights: Any, letters: Any, following: Any) -> Any:
    """The loss of a name, whose letters are rows of zeros and a one."""
    gpt = model(weights)
    embeddings = list(zip(*gpt.letters, strict=True))
    memory: list[Any] = []
    logs = [gpt.log_probabilities(gpt.linear(embeddings, letter), memory) for letter in letters]
    return -sum(map(math.sumprod, logs, following)) / len(logs)


def adam() -> optim.GradientTransformation:
    """microgpt's Adam."""
    return optim.adam(optim.linear_schedule(0.01, 0.0, STEPS), b1=0.85, b2=0.99, eps=1e-8)


class Recorded:
    """gradwalk: a step is one program."""

    def __init__(self, weights: Any, **options: Any) -> None:
        self._optimiser = adam()
        self.weights = weights
        self._state = jit(self._optimiser.init)(weights)
        self._step = jit(self._stepped, **options)

    def _stepped(self, weights: Any, state: Any, letters: Any, following: Any) -> Any:
        value, gradient = value_and_grad(loss)(weights, letters, following)
        updates, state = self._optimiser.update(gradient, state, weights)
        return optim.apply_updates(weights, updates), state, value

    def train(self, spelling: Any) -> float:
        """Train on one name, and return its loss before that."""
        letters = numpy.eye(27)[spelling]
        self.weights, self._state, value = self._step(self.weights, self._state, letters[:-1], letters[1:])
        return float(value)

    def settle(self, spellings: Any) -> None:
        """Train until the program runs as it will from then on."""
        end = perf_counter() + LONGEST
        while "rows" not in self._step.statistics.backends[""] and perf_counter() < end:
            for spelling in spellings:
                self.train(spelling)
            sleep(0.1)


class InBatches:
    """gradwalk, on the mean of the losses of several names: the gradient on lanes, then Adam."""

    def __init__(self, weights: Any, spellings: Any, dtype: Any) -> None:
        letters = numpy.eye(27, dtype=dtype)[numpy.array(spellings)]
        self._batch = letters[:, :-1], letters[:, 1:]
        self._optimiser = adam()
        self._weights = weights.astype(dtype)
        self._state = jit(self._optimiser.init)(weights)
        self._slopes = jit(vmap(value_and_grad(loss), in_axes=(None, 0, 0), reduce="mean"))
        self._update = jit(self._updated)

    def _updated(self, weights: Any, state: Any, gradient: Any) -> Any:
        updates, state = self._optimiser.update(gradient, state, weights)
        return optim.apply_updates(weights, updates), state

    def train(self) -> float:
        """Train on the batch, and return its mean loss before that."""
        value, gradient = self._slopes(self._weights, *self._batch)
        weights, self._state = self._update(self._weights, self._state, gradient)
        self._weights = weights.astype(self._weights.dtype)
        return float(value)


class ByHand:
    """C++, float32."""

    def __init__(self, weights: Any) -> None:
        self.weights = weights.astype(numpy.float32)
        self._moments = numpy.zeros((2, len(weights)), numpy.float32)
        self._train = cpp("microgpt").train
        self._train.restype = c_float
        self._count = 0

    def train(self, spelling: Any) -> float:
        """Train on one name, and return its loss before that."""
        letters = numpy.asarray(spelling, numpy.int32)
        arrays = pointers([self.weights, *self._moments, letters])
        found = self._train(*arrays, c_int(len(letters) - 1), c_int(self._count), c_int(STEPS))
        self._count += 1
        return float(found)


class OnPlainValues:
    """A class of Values as in micrograd, and Adam in a loop over them."""

    def __init__(self, weights: Any) -> None:
        gpt: Any = import_module("scalar_gpt")
        functions = plain_value.sumprod, Plain.exp, Plain.log, Plain.sqrt, Plain.relu
        self._parameters = [Plain(float(weight)) for weight in weights]
        self._model = model(
            self._parameters, gpt.Scalars(*functions, lambda x: float(max(number.data for number in x)))
        )
        self._moments = [[0.0, 0.0] for _ in weights]
        self._count = 0

    def train(self, spelling: Any) -> float:
        """Train on one name, and return its loss before that."""
        memory: list[Any] = []
        logs = [
            self._model.log_probabilities(self._model.letters[a], memory)[b] for a, b in pairwise(map(int, spelling))
        ]
        value = plain_value.sumprod(logs, [-1 / len(logs)] * len(logs))
        value.backward()
        rate = 0.01 * (1 - self._count / STEPS)
        self._count += 1
        for parameter, moments in zip(self._parameters, self._moments, strict=True):
            moments[0] = 0.85 * moments[0] + 0.15 * parameter.grad
            moments[1] = 0.99 * moments[1] + 0.01 * parameter.grad**2
            mean, square = moments[0] / (1 - 0.85**self._count), moments[1] / (1 - 0.99**self._count)
            parameter.data -= rate * mean / (square**0.5 + 1e-8)
            parameter.grad = 0.0
        return float(value.data)


def of_original(path: str, spellings: Any) -> float:
    """Seconds that a step of microgpt.py takes, the fastest of some, on names of this length."""
    alphabet = import_module("scalar_gpt").ALPHABET
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, Path(folder, "microgpt.py"))
        Path(folder, "input.txt").write_text("\n".join("".join(alphabet[i] for i in s[1:-1]) for s in spellings))
        command = [sys.executable, "-u", "microgpt.py"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            steps = (perf_counter() for line in process.stdout or () if line.startswith("step"))
            times = [next(steps) for _ in range(10)]
            process.kill()
    return min(after - before for before, after in pairwise(times))


def check_same(trainers: dict[str, Any], spellings: Any) -> None:
    """Raise `AssertionError` where losses of the first steps differ by more than numbers of 32 bits account for."""
    losses = {name: [trainer.train(spelling) for spelling in spellings] for name, trainer in trainers.items()}
    for found in losses.values():
        numpy.testing.assert_allclose(found, losses["C++"], rtol=1e-4)


def measure(quick: bool) -> list[Row]:
    """The rows: one name at a time, and batches."""
    on_one_core()
    gpt: Any = import_module("scalar_gpt")
    random_numbers = random.Random(1337)
    weights = numpy.array([random_numbers.gauss(0.0, 0.08) for _ in range(gpt.PARAMETERS)])
    names = gpt.by_length(gpt.NAMES.read_text().split())[LENGTH]
    spellings = [[gpt.ALPHABET.index(letter) for letter in gpt.END + name + gpt.END] for name in names]
    ours = Recorded(weights)
    trainers = {"C++": ByHand(weights), "gradwalk": ours, "plain Python": OnPlainValues(weights)}
    check_same(trainers, spellings[:2] if quick else spellings[:10])
    if not quick:
        ours.settle(spellings)

    def of(trainer: Any, steps: int) -> Callable[[], None]:
        following = cycle(spellings)

        def run() -> None:
            for _ in range(steps):
                trainer.train(next(following))

        return run

    repeated = {name: 1 if name == "plain Python" else REPEATED for name in trainers}
    best = best_of(1 if quick else 5, {name: of(trainer, repeated[name]) for name, trainer in trainers.items()})
    us = {name: 1e6 * best[name] / repeated[name] for name in trainers}
    claim = f"training step on a name of {LENGTH} letters"
    rows = [
        within(f"{claim}, float64", "us", us["gradwalk"], ("C++, float32", us["C++"]), 1.5),
        faster(claim, "us", us["gradwalk"], ("plain Python", us["plain Python"]), 1500),
    ]
    if path := os.environ.get("MICROGPT"):
        original = 1e6 * of_original(path, spellings)
        rows.append(faster(claim, "us", us["gradwalk"], ("microgpt.py", original), 1500))
    for size in (8,) if quick else (16, 1024):
        chosen = random_numbers.choices(spellings, k=size)
        for dtype in (numpy.float32, numpy.float64):
            batch = InBatches(weights, chosen, dtype)
            name = 1e6 * best_of(1 if quick else 5, {"": batch.train})[""] / size
            claim = f"the same, a name in batches of {size:,}, {dtype.__name__}"
            rows.append(
                at_most(claim, "us", name, 4.0)
                if dtype is numpy.float32
                else beside(claim, "us", name, ("C++, float32", us["C++"]))
            )
    return rows


if __name__ == "__main__":
    main(measure)
