"""Trainers of microgpt: gradwalk's ways, plain Python, ports to C++ and Rust, JAX, and microgpt.py itself.

A trainer is created from the initial weights and the number of steps, after which Adam's learning rate is 0. `train`
takes the tokens of a name with its end tokens, or a row of tokens per name of a batch, makes a step, and returns the
loss before the step. `weights` are the current weights.
"""

from __future__ import annotations

import ast
import ctypes
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, Protocol

import numpy
import peers
import plain_microgpt
from timing import example

from gradwalk import jit, optim, value_and_grad, vmap

Weights = Mapping[str, Any]  # matrices by name
LONGEST = 20.0  # seconds to wait until gradwalk has reordered the program


class Trainer(Protocol):
    """The interface of all trainers."""

    def train(self, spelling: Any) -> float:
        """Make a step and return the loss before it."""
        ...

    @property
    def weights(self) -> Weights:
        """The current weights."""
        ...


class Flat:
    """Matrices by name, stored consecutively in one array."""

    def __init__(self, matrices: Weights, dtype: Any) -> None:
        self.numbers = numpy.concatenate([numpy.ravel(matrix) for matrix in matrices.values()]).astype(dtype)
        self.matrices: dict[str, Any] = {}
        start = 0
        for name, matrix in matrices.items():
            self.matrices[name] = self.numbers[start : start + matrix.size].reshape(matrix.shape)
            start += matrix.size


# gradwalk


class OfExample:
    """The example's training step on one name; `run` is its command line option."""

    def __init__(self, weights: Weights, steps: int, run: str) -> None:
        gpt = example("microgpt")
        optimizer = gpt.adam(steps)
        self.weights = weights
        self._run = run
        self._state = optimizer.init(weights)
        self._step = gpt.step_of(run, optimizer)

    def train(self, spelling: Any) -> float:
        """Train on one name."""
        tokens = spelling.tolist() if self._run == "eager" else spelling.astype(float)
        self.weights, self._state, value = self._step(self.weights, self._state, tokens[:-1], tokens[1:])
        return float(value)

    def settle(self, spelling: Any) -> None:
        """Train until the program has been reordered into rows, if the step is one program."""
        end = perf_counter() + LONGEST
        while self._run == "program" and "rows" not in self._step.statistics.backends[""] and perf_counter() < end:
            for _ in range(100):
                self.train(spelling)
            sleep(0.1)


class InBatches:
    """The example's loss on batches, in float32 or float64, and its Adam as a batch over weights."""

    def __init__(self, weights: Weights, steps: int, dtype: Any) -> None:
        gpt = example("microgpt")
        self._optimizer = gpt.adam(steps)
        self._own = Flat(weights, dtype)
        self._moments = numpy.zeros((2, len(self._own.numbers)), dtype)
        self._count = 0.0
        self._dtype = dtype
        self._gradient = jit(vmap(value_and_grad(gpt.loss), in_axes=(None, 0, 0), reduce="mean"))
        self._learn = jit(vmap(self._learnt, in_axes=(0, 0, 0, 0, None)))

    def _learnt(self, weight: Any, mean: Any, square: Any, slope: Any, count: Any) -> Any:
        """Update one weight and its Adam moments."""
        moments, schedule = self._optimizer.init(weight)
        state = moments._replace(count=count, mu=mean, nu=square), schedule._replace(count=count)
        update, (moments, _) = self._optimizer.update(slope, state, weight)
        return optim.apply_updates(weight, update), moments.mu, moments.nu

    @property
    def weights(self) -> Weights:
        """The current weights."""
        return self._own.matrices

    def train(self, spelling: Any) -> float:
        """Train on a batch of names."""
        tokens = spelling.astype(self._dtype)
        value, gradient = self._gradient(self._own.matrices, tokens[:, :-1], tokens[:, 1:])
        slopes = numpy.concatenate([matrix.ravel() for matrix in gradient.values()])
        states = self._own.numbers, *self._moments
        self._learn(*states, slopes, self._count, out=states)
        self._count += 1
        return float(value)


# Ports


class OnPlainValues:
    """`plain_microgpt.py`: the operations of microgpt.py in plain Python."""

    def __init__(self, weights: Weights, steps: int) -> None:
        self._trainer = plain_microgpt.Trainer(weights, steps)

    def train(self, spelling: Any) -> float:
        """Train on one name."""
        return self._trainer.train(spelling.tolist())

    @property
    def weights(self) -> Weights:
        """The current weights."""
        matrices = self._trainer.weights.items()
        return {name: numpy.array([[x.data for x in row] for row in matrix]) for name, matrix in matrices}


class Compiled:
    """A function `train` of a C++ or Rust library, selected by dtype."""

    def __init__(self, weights: Weights, steps: int, library: ctypes.CDLL, dtype: Any) -> None:
        self._own = Flat(weights, dtype)
        self._moments = numpy.zeros((2, len(self._own.numbers)), dtype)
        self._train = library.train
        self._train.restype = ctypes.c_float if dtype is numpy.float32 else ctypes.c_double
        self._steps = steps
        self._count = 0

    def train(self, spelling: Any) -> float:
        """Train on one name, or on a batch of the size that the function expects."""
        letters = numpy.ascontiguousarray(spelling, numpy.int32)
        arrays = peers.pointers([self._own.numbers, *self._moments, letters])
        numbers = [ctypes.c_int(number) for number in (letters.shape[-1] - 1, self._count, self._steps)]
        self._count += 1
        return float(self._train(*arrays, *numbers))

    @property
    def weights(self) -> Weights:
        """The current weights."""
        return self._own.matrices


@cache
def library(name: str) -> ctypes.CDLL:
    """Compile a file of `cpp/`, once."""
    return peers.cpp(name)


@cache
def rust_library() -> ctypes.CDLL | None:
    """Compile `rust/microgpt.rs`, or return None without Rust."""
    if shutil.which("rustc") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "libmicrogpt.so")
        options = ["--edition=2021", "--crate-type=cdylib", "-Copt-level=3", "-Ctarget-cpu=native"]
        subprocess.run(["rustc", *options, peers.SOURCES.parent / "rust/microgpt.rs", "-o", made], check=True)
        return ctypes.CDLL(str(made))


class InJax:
    """A step by JAX's `jit` in float32, written with arrays as usual in JAX."""

    def __init__(self, weights: Weights, steps: int) -> None:
        self._jax = peers.jax()
        jax, numbers = self._jax, self._jax.numpy

        def step(weights: Any, moments: Any, count: Any, spelling: Any) -> Any:
            value, slopes = jax.value_and_grad(self._mean_loss)(weights, spelling)
            mean = jax.tree.map(lambda m, g: 0.85 * m + 0.15 * g, moments[0], slopes)
            square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, moments[1], slopes)
            rate = 0.01 * (1 - count / steps)
            unbiased, unbiased_square = 1 - 0.85 ** (count + 1), 1 - 0.99 ** (count + 1)

            def moved(weight: Any, m: Any, s: Any) -> Any:
                return weight - rate * (m / unbiased) / (numbers.sqrt(s / unbiased_square) + 1e-8)

            return jax.tree.map(moved, weights, mean, square), (mean, square), count + 1, value

        self._step = jax.jit(step, donate_argnums=(0, 1))
        self.weights: Weights = {name: numbers.array(matrix, numbers.float32) for name, matrix in weights.items()}
        zeros = [{name: numbers.zeros_like(matrix) for name, matrix in self.weights.items()} for _ in range(2)]
        self._state = tuple(zeros), numbers.float32(0)

    def _mean_loss(self, weights: Any, spelling: Any) -> Any:
        if spelling.ndim == 1:
            return self._loss(weights, spelling)
        return self._jax.vmap(self._loss, in_axes=(None, 0))(weights, spelling).mean()

    def _loss(self, weights: Any, spelling: Any) -> Any:
        jax, numbers = self._jax, self._jax.numpy
        count = len(spelling) - 1

        def norm(x: Any) -> Any:
            return x * (numbers.square(x).mean(-1, keepdims=True) + 1e-5) ** -0.5

        x = norm(weights["letters"][spelling[:-1]] + weights["places"][:count])
        before = norm(x)
        query, key, value = (
            (before @ weights[name].T).reshape(count, plain_microgpt.HEADS, -1) for name in ("query", "key", "value")
        )
        scores = numbers.einsum("thi,shi->hts", query, key) / query.shape[-1] ** 0.5
        shares = jax.nn.softmax(numbers.where(numbers.tri(count, dtype=bool), scores, -numbers.inf))
        x = numbers.einsum("hts,shi->thi", shares, value).reshape(count, -1) @ weights["mix"].T + x
        x = jax.nn.relu(norm(x) @ weights["widen"].T) @ weights["narrow"].T + x
        logs = jax.nn.log_softmax(x @ weights["unembed"].T)
        return -logs[numbers.arange(count), spelling[1:]].mean()

    def train(self, spelling: Any) -> float:
        """Train on one name or on a batch."""
        self.weights, *state, value = self._step(self.weights, *self._state, spelling)
        self._state = tuple(state)
        return float(value)


# microgpt.py


def on_gradwalk(source: str) -> str:
    """Replace the Value class in the source of microgpt.py by gradwalk's."""
    tree = ast.parse(source)
    kept = [node for node in tree.body if not (isinstance(node, ast.ClassDef) and node.name == "Value")]
    return ast.unparse(ast.Module([*ast.parse("from gradwalk import Value").body, *kept], []))


# Prepended to a program, so that it prints only its time at each step.
TIMED = """
def print(text="", **options):
    import builtins, time
    if text.startswith("step"):
        builtins.print(time.process_time(), flush=True)

"""


def seconds_of(source: Path, names: Sequence[str], steps: int = 30, change: Callable[[str], str] = str) -> float:
    """Return the shortest time of a training step in seconds, for a program like microgpt.py on these names.

    The program runs in its own process, so that the garbage collector visits only its own objects. It prints its
    process time at each step, which excludes other programs on the core.
    """
    with tempfile.TemporaryDirectory() as folder:
        text = change(source.read_text(encoding="utf-8")).replace("from __future__ import annotations\n", "")
        Path(folder, "program.py").write_text(TIMED + text, encoding="utf-8")
        Path(folder, "input.txt").write_text("\n".join(names), encoding="utf-8")
        found = os.pathsep.join([str(peers.SOURCES.parent), *sys.path])
        command = [sys.executable, "-u", "program.py"]
        environment = {**os.environ, "PYTHONPATH": found}
        with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
            times = [float(line) for _, line in zip(range(steps), process.stdout or (), strict=False)]
            process.kill()
    return min((after - before for before, after in pairwise(times)), default=math.nan)


EXAMPLES: dict[str, Any] = {run: partial(OfExample, run=run) for run in ("eager", "recorded", "program")}
