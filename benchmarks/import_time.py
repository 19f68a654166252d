"""`import gradwalk` takes at most 40 ms more than `import numpy`, which it needs; loading a program at most 50 ms."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from math import inf
from pathlib import Path
from typing import Any

import numpy
from timing import Row, at_most, main, quantity

from gradwalk import jit, loops, math, value_and_grad, vmap

# One process imports both, because the times of two processes also differ by the load of the machine.
PROGRAM = "import numpy; from time import perf_counter; start = perf_counter(); {}; print(perf_counter() - start)"
PACKAGE = "import gradwalk"
NAMES = ("from gradwalk import Value", "from gradwalk import grad, jit")  # which import the modules they need


LOAD = "from gradwalk import load; load({!r})"


def saved(folder: Path) -> dict[str, str]:
    """Save programs of a sample and of a batch, with and without a loop; return a statement for each that loads it."""

    def repeated(w: Any, x: Any) -> Any:
        return loops.while_loop(lambda y: y < 9.0, lambda y: y * y + 1.0, math.tanh(w @ x))

    slope = jit(value_and_grad(lambda x: math.sin(x) * x))
    slope(1.0)
    looping = jit(value_and_grad(repeated))
    looping(numpy.ones(3), numpy.ones(3))
    mean = jit(vmap(value_and_grad(lambda w, x: math.tanh(w @ x)), in_axes=(None, 0), reduce="mean"))
    mean(numpy.ones(3), numpy.ones((5, 3)))
    mean_of_loops = jit(vmap(value_and_grad(repeated), in_axes=(None, 0), reduce="mean"))
    mean_of_loops(numpy.ones(3), numpy.ones((5, 3)))
    functions = {
        "a program": slope,
        "a program with a loop": looping,
        "the program of a batch": mean,
        "the program of a batch with a loop": mean_of_loops,
    }
    for name, function in functions.items():
        function.program.save(folder / f"{name}.json")
    return {name: LOAD.format(str(folder / f"{name}.json")) for name in functions}


def import_seconds(statement: str) -> float:
    """Return the seconds of an import in a fresh process that caches bytecode."""
    command = [sys.executable, "-c", PROGRAM.format(statement)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def measure(quick: bool) -> list[Row]:
    """Measure the package, two imports of names and four loads, each the fastest of 15 interleaved processes."""
    loads = saved(Path(tempfile.mkdtemp()))
    best = dict.fromkeys((PACKAGE, *NAMES, *loads.values()), inf)
    for statement in best:
        import_seconds(statement)  # caches the bytecode
    for _ in range(2 if quick else 15):
        for statement in best:
            best[statement] = min(best[statement], import_seconds(statement))
    return [
        at_most(f"{PACKAGE}, over import numpy", "ms", 1e3 * best[PACKAGE], 40),
        *(Row(f"{names}, over import numpy", quantity(1e3 * best[names], "ms")) for names in NAMES),
        *(at_most(f"load {name}, over import numpy", "ms", 1e3 * best[load], 50) for name, load in loads.items()),
    ]


if __name__ == "__main__":
    main(measure)
