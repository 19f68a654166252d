"""Public programs written for JAX, run with JAX and, after a change of their imports, with gradwalk.

    python benchmarks/ports.py --urls         # where the programs are
    python benchmarks/ports.py FOLDER         # or: python benchmarks/ports.py FOLDER newton kalman

FOLDER has one file per program, `NAME.py`, as downloaded. `port_programs.py` lists the programs, the lines that today's
JAX needs, and the lines that gradwalk needs besides the imports. JAX computes in float64. For each program, the script
prints the number of lines, the number of changed lines besides imports, the largest difference of the results, relative
to the largest number of each result, and the time of a whole run, which includes compilation or recording.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import jax
import numpy
from port_programs import PROGRAMS, Change, Program
from timing import markdown_row

import gradwalk

HEADER = ("program", "what it does", "lines", "imports", "other lines", "difference", "JAX", "gradwalk")
_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?", re.IGNORECASE)

# Maps patterns of import lines to their replacement.
IMPORTS = [
    (r"import jax\.numpy as (\w+)", r"from gradwalk import numpy as \1"),
    (r"import jax\.random as (\w+)", r"import ports_random as \1"),
    (r"import jax\.scipy as (\w+)", r"from gradwalk import scipy as \1"),
    (r"import jax(?: as jax)?", r"import gradwalk as jax"),
    (r"from jax\.example_libraries import optimizers", r"from gradwalk import optim as optimizers"),
    (r"import optax", r"from gradwalk import optim as optax"),
    (r"from jax import lax, random", r"import ports_random as random; from gradwalk import lax"),
    (r"from jax import (.*)", r"from gradwalk import \1"),
    (r"from jax\.(lax|numpy|scipy\.special|scipy\.linalg) import (.*)", r"from gradwalk.\1 import \2"),
]


def ported(source: str) -> str:
    """Replace the imports of JAX by imports of gradwalk."""
    lines = source.splitlines()
    for i, line in enumerate(lines):
        for pattern, replacement in IMPORTS:
            if re.fullmatch(pattern, line):
                lines[i] = re.sub(pattern, replacement, line)
                break
    return "\n".join(lines) + "\n"


def changed_lines(before: str, after: str) -> tuple[int, int]:
    """Count the lines of a program that differ from another version: imports, and other lines."""
    changes = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    lines = [line[1:] for line in changes if re.match(r"\+(?!\+\+)", line)]
    imports = sum(bool(re.match(r"\s*(from|import) ", line)) for line in lines)
    return imports, len(lines) - imports


def edited(source: str, changes: Sequence[Change]) -> str:
    """Apply changes, each of which must match the number of places that it states."""
    for change in changes:
        source, places = re.subn(change.pattern, change.replacement, source)
        if places != change.places:
            raise ValueError(f"the program must match {change.pattern!r} in {change.places} places, got {places}")
    return source


def run(program: Program, source: str, package: Any) -> tuple[list[Any], float]:
    """Run a program; return its results and the numbers that it printed, and the time in seconds."""
    numpy.random.seed(0)  # programs of others draw from this generator
    printed = io.StringIO()
    start = perf_counter()
    with contextlib.redirect_stdout(printed):
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(source, f"{program.name}.py", "exec"), names)
        results = program.results(names, package)
    elapsed = perf_counter() - start
    numbers = [float(number) for number in _NUMBER.findall(printed.getvalue().replace("float64", ""))]
    return [*leaves(results), numpy.array(numbers)], elapsed


def leaves(tree: Any) -> Iterator[Any]:
    """Iterate over the arrays of nested lists, tuples and dicts."""
    for leaf in jax.tree.leaves(tree):
        yield numpy.asarray(leaf, float)


def difference(found: Sequence[Any], expected: Sequence[Any]) -> float:
    """Return the largest difference of two lists of arrays, relative to the largest number of each array."""
    worst = 0.0
    for x, y in zip(found, expected, strict=True):
        if x.shape != y.shape:
            raise ValueError(f"results must have the same shape, got {x.shape} and {y.shape}")
        if y.size:
            worst = max(worst, float(numpy.max(numpy.abs(x - y)) / (numpy.max(numpy.abs(y)) or 1.0)))
    return worst


def row(program: Program, folder: Path) -> list[str]:
    """Run a program in both libraries and return its row of the table."""
    source = (folder / f"{program.name}.py").read_text()
    today = edited(source, program.updates)
    port = edited(ported(today), program.changes)
    imports, others = changed_lines(today, port)
    expected, of_jax = run(program, today, jax.numpy)
    found, of_gradwalk = run(program, port, gradwalk.numpy)
    return [
        f"[{program.name}]({program.url})",
        program.about,
        str(len(source.splitlines())),
        str(imports),
        str(others),
        f"{difference(found, expected):.0e}",
        f"{of_jax:.3g} s",
        f"{of_gradwalk:.3g} s",
    ]


def main() -> None:
    """Parse the command line, run the programs, and print the table."""
    parser = argparse.ArgumentParser(description="Run programs written for JAX with gradwalk.")
    parser.add_argument("folder", type=Path, nargs="?", help="a folder of downloaded programs")
    parser.add_argument("names", nargs="*", help="programs to run (default: all)")
    parser.add_argument("--urls", action="store_true", help="print the file name and the URL of each program")
    options = parser.parse_args()
    if options.urls or options.folder is None:
        print(*(f"{program.name}.py {program.url}" for program in PROGRAMS), sep="\n")
        return
    jax.config.update("jax_enable_x64", True)
    numpy.set_printoptions(precision=17)  # for JAX, too
    print(markdown_row(HEADER), markdown_row(["---"] * len(HEADER)), sep="\n")
    for program in PROGRAMS:
        if not options.names or program.name in options.names:
            print(markdown_row(row(program, options.folder)), flush=True)


if __name__ == "__main__":
    main()
