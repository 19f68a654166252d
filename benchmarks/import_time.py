"""`import gradwalk` takes less than 100 ms over `import numpy`, which it needs anyway."""

from __future__ import annotations

import subprocess
import sys
from math import inf

from timing import Row, at_most, main

PROGRAM = "from time import perf_counter; start = perf_counter(); import {}; print(perf_counter() - start)"


def import_seconds(module: str) -> float:
    """Seconds that the import takes in a fresh process."""
    command = [sys.executable, "-c", PROGRAM.format(module)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(quick: bool) -> list[Row]:
    """One row: the fastest of 15 processes each, by turns."""
    gradwalk = numpy = inf
    for _ in range(2 if quick else 15):
        gradwalk = min(gradwalk, import_seconds("gradwalk"))
        numpy = min(numpy, import_seconds("numpy"))
    return [at_most(f"import gradwalk, over import numpy ({1e3 * numpy:.0f} ms)", "ms", 1e3 * (gradwalk - numpy), 100)]


if __name__ == "__main__":
    main(measure)
