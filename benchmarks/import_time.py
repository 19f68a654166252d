"""`import gradwalk` takes at most 40 ms more than `import numpy`, which it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from math import inf

from timing import Row, at_most, main, quantity

# One process imports both, because the times of two processes also differ by the load of the machine.
PROGRAM = "import numpy; from time import perf_counter; start = perf_counter(); {}; print(perf_counter() - start)"
PACKAGE = "import gradwalk"
NAMES = ("from gradwalk import Value", "from gradwalk import grad, jit")  # which import the modules they need


def import_seconds(statement: str) -> float:
    """Return the seconds of an import in a fresh process that caches bytecode."""
    command = [sys.executable, "-c", PROGRAM.format(statement)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def measure(quick: bool) -> list[Row]:
    """Measure the package and two imports of names, each the fastest of 15 interleaved processes."""
    best = dict.fromkeys((PACKAGE, *NAMES), inf)
    for statement in best:
        import_seconds(statement)  # caches the bytecode
    for _ in range(2 if quick else 15):
        for statement in best:
            best[statement] = min(best[statement], import_seconds(statement))
    return [
        at_most(f"{PACKAGE}, over import numpy", "ms", 1e3 * best[PACKAGE], 40),
        *(Row(f"{names}, over import numpy", quantity(1e3 * best[names], "ms")) for names in NAMES),
    ]


if __name__ == "__main__":
    main(measure)
