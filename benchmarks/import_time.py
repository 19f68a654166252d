"""`import gradwalk` takes at most 40 ms over `import numpy`, which it needs anyway."""

from __future__ import annotations

import os
import subprocess
import sys
from math import inf

from timing import Row, at_most, main, quantity

# Both in one process: the difference of two processes' times is that of the machine's load, too.
PROGRAM = "import numpy; from time import perf_counter; start = perf_counter(); {}; print(perf_counter() - start)"
PACKAGE = "import gradwalk"
NAMES = ("from gradwalk import Value", "from gradwalk import grad, jit")  # which load what they need


def import_seconds(statement: str) -> float:
    """Seconds that an import takes in a fresh process, which keeps bytecode as an ordinary one does."""
    command = [sys.executable, "-c", PROGRAM.format(statement)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def measure(quick: bool) -> list[Row]:
    """A row for the package and for each choice of names: the fastest of 15 processes each, by turns."""
    best = dict.fromkeys((PACKAGE, *NAMES), inf)
    for statement in best:
        import_seconds(statement)  # writes the bytecode
    for _ in range(2 if quick else 15):
        for statement in best:
            best[statement] = min(best[statement], import_seconds(statement))
    return [
        at_most(f"{PACKAGE}, over import numpy", "ms", 1e3 * best[PACKAGE], 40),
        *(Row(f"{names}, over import numpy", quantity(1e3 * best[names], "ms")) for names in NAMES),
    ]


if __name__ == "__main__":
    main(measure)
