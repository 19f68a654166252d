"""Python loops that were recorded step by step are converted back to loops: number of instructions and search time.

The programs are the gradients of an Asian option over 252 days, of a small network and of a scalar transformer for one
name, and the Hessian of a pendulum integrated by a Runge-Kutta method. The interpreter is compared with the C code of
`to_c`, compiled by `gcc -O2`, and this with C code without loops.
"""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from timing import Row, at_most, beside, best_of, example, main, seconds

from gradwalk import Value, hessian, jit, math, value_and_grad
from gradwalk.nn import MLP
from gradwalk.program.program import Program
from gradwalk.program.reroll.find_loops import fold
from gradwalk.program.reroll.repeats import written
from gradwalk.program.routine import storage
from gradwalk.trees.tree import flatten

FLAGS = ["-std=c99", "-O2", "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC"]


class Recorded(NamedTuple):
    """The program of a function and the inputs it was recorded with."""

    program: Program
    inputs: Any


def recorded(f: Callable[..., Any], *args: Any) -> Recorded:
    """Record a function and return its program."""
    compiled = jit(f)
    compiled(*args)
    leaves, _ = flatten(args, "args")
    numbers = [numpy.ravel([x.data] if isinstance(x, Value) else x) for x in leaves]
    return Recorded(compiled.program, numpy.concatenate(numbers).astype(float))


def transformer() -> Recorded:
    """Record the gradient of the loss for one name."""
    gpt = example("microgpt")
    letters = numpy.array(gpt.Tokenizer(gpt.read_names(gpt.NAMES)).encode("olivia"), float)
    weights = gpt.initial_weights(27, random.Random(1))
    return recorded(value_and_grad(gpt.loss), weights, letters[:-1], letters[1:])


def asian_option() -> Recorded:
    """Record the price of one path and its derivatives."""
    market, shocks = numpy.array([100.0, 100.0, 0.03, 0.2, 1.0]), numpy.full(252, 0.1)
    return recorded(value_and_grad(example("asian_option").arithmetic), market, shocks)


def network() -> Recorded:
    """Record the gradient of a network of micrograd's size with respect to parameters and inputs."""
    random.seed(1)
    return recorded(value_and_grad(lambda m, x: math.tanh(m(x))), MLP(2, [16, 16, 1]), [0.5, -0.2])


def pendulum(steps: int) -> Recorded:
    """Record the Hessian of the final position with respect to the initial state."""

    def slope(x: Any, v: Any) -> tuple[Any, Any]:
        return v, -math.sin(x) - 0.1 * v

    def last(x: Any, v: Any) -> Any:
        for _ in range(steps):
            a = slope(x, v)
            b = slope(x + 0.005 * a[0], v + 0.005 * a[1])
            c = slope(x + 0.005 * b[0], v + 0.005 * b[1])
            d = slope(x + 0.01 * c[0], v + 0.01 * c[1])
            x, v = (z + 0.01 / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]) for i, z in enumerate((x, v)))
        return x

    return recorded(hessian(last, argnums=(0, 1)), 1.0, 0.0)


def compiled(source: str, folder: Path) -> tuple[float, Any]:
    """Compile C code; return the seconds that it took and the function."""
    path, library = folder / f"{len(list(folder.iterdir()))}.c", folder / f"{len(list(folder.iterdir()))}.so"
    path.write_text(source)
    taken = seconds(lambda: subprocess.run(["gcc", *FLAGS, path, "-o", library, "-lm"], check=True))
    return taken, ctypes.CDLL(str(library)).f


def in_c(claim: str, recording: Recorded, folder: Path, limit: float | None, with_flat: bool) -> list[Row]:
    """Measure how long the C code of a program takes to compile and to run."""
    program, inputs = recording
    outputs = numpy.empty(len(program.outputs))
    numbers = [ctypes.c_void_p(inputs.ctypes.data), ctypes.c_void_p(outputs.ctypes.data)]
    taken, function = compiled(program.to_c(), folder)
    function(*numbers)
    assert numpy.allclose(outputs, program.run(inputs), rtol=1e-12, atol=1e-300), claim
    calls = max(1_000_000 // len(program), 3)
    runs: dict[str, Callable[[], object]] = {
        "C": lambda: [function(*numbers) for _ in range(calls)],
        "interpreter": lambda: [program.run(inputs) for _ in range(calls)],
    }
    rows = []
    if with_flat:
        flat_taken, flat = compiled(without_loops(program), folder)
        runs["C without loops"] = lambda: [flat(*numbers) for _ in range(calls)]
        rows.append(beside(f"{claim}, compiled by gcc -O2", "s", taken, ("without loops", flat_taken)))
    if limit is not None:
        rows.append(at_most(f"{claim}, compiled by gcc -O2", "s", taken, limit))
    times = {name: 1e6 * time / calls for name, time in best_of(5, runs).items()}
    return rows + [beside(f"{claim}, in C", "us", times["C"], (name, times[name])) for name in runs if name != "C"]


def without_loops(program: Program) -> str:
    """Return the C code of a program without the search for loops."""
    most = storage.FLAT_BELOW
    storage.FLAT_BELOW = len(program) + 1
    try:
        return program.to_c()
    finally:
        storage.FLAT_BELOW = most


def measure(quick: bool) -> list[Row]:
    """Return the rows of the table of claims."""
    if shutil.which("gcc") is None:
        raise FileNotFoundError("this benchmark needs a C compiler: apt install gcc")
    programs = {
        "Asian option": (asian_option(), 60),
        "network": (network(), None),
        "transformer": (transformer(), 3000),
        "pendulum": (pendulum(20 if quick else 200), None),
    }
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (recording, limit) in programs.items():
            program = recording.program
            count = written(len(program), program.repeats)
            claim = f"{name}, {len(program):,} instructions"
            rows.append(at_most(f"{claim}, written", "", count, limit or len(program)))
            found = best_of(1 if quick else 5, {name: partial(fold, program.code)})[name]
            rows.append(at_most(f"{claim}, loops found, an instruction", "ns", 1e9 * found / len(program), 300))
            rows += in_c(claim, recording, Path(folder), 1.0 if name == "transformer" else None, not quick)
    return rows


if __name__ == "__main__":
    main(measure)
