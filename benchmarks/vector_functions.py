"""gradwalk's vector functions, used in batches if the C library has none, over rows of 4096 numbers.

The peers are libmvec, which gradwalk uses if it is available; the C library one number at a time, which gradwalk would
otherwise have to use; and NumPy. Requires `gcc` and glibc 2.35 on x86-64. GRADWALK_INSTRUCTION_SET selects another
instruction set.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy
from peers import SOURCES, on_one_core
from timing import Row, beside, faster, fastest, main

from gradwalk.backend import launch
from gradwalk.backend.lane_kernel import chosen_instruction_set

COUNT = 4096
RANGES = {"exp": (-5.0, 5.0), "log": (0.1, 10.0), "sin": (-10.0, 10.0), "cos": (-10.0, 10.0), "tanh": (-3.0, 3.0)}
_AVX2 = ("-mavx2", "-mfma", "-mbmi2")
FLAGS = {
    "baseline": (),
    "avx2": _AVX2,
    "avx512": (*_AVX2, "-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mprefer-vector-width=512"),
}


def library(*flags: str) -> ctypes.CDLL:
    """Compile loops over rows that call the C library."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "rows.so")
        options = ("-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", *flags)
        source = SOURCES / "vector_functions.c"
        subprocess.run(["gcc", *options, "-shared", "-fPIC", source, "-o", made, "-lmvec", "-lm"], check=True)
        return ctypes.CDLL(str(made))


def rows_of(name: str, kind: Any, which: str, libraries: dict[str, ctypes.CDLL]) -> dict[str, Callable[[], object]]:
    """Return a function over the same row, for each implementation."""
    numbers = numpy.random.default_rng(0).uniform(*RANGES[name], COUNT).astype(kind)
    results = numpy.empty_like(numbers)
    single = kind is numpy.float32
    own = launch.row_functions(launch.INSTRUCTION_SETS.index(which), single)[name]
    signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, ctypes.c_long)
    symbol = f"row_{name}_{'float' if single else 'double'}"
    functions = {"ours": signature(own)}
    functions |= {peer: signature((symbol, found)) for peer, found in libraries.items()}
    given = (numbers.ctypes.data, results.ctypes.data, COUNT)
    runs: dict[str, Callable[[], object]] = {who: partial(function, *given) for who, function in functions.items()}
    return runs | {"NumPy": partial(getattr(numpy, name), numbers, results)}


def measure(quick: bool) -> list[Row]:
    """Return rows in nanoseconds per number."""
    on_one_core()
    which = chosen_instruction_set()
    libraries = {"libm": library(*FLAGS[which]), "libmvec": library("-DVECTORS", *FLAGS[which])}
    rows = []
    for kind in (numpy.float64, numpy.float32):
        for name in RANGES:
            times = fastest(1 if quick else 20, rows_of(name, kind, which, libraries), calls=10 if quick else 100)
            ours, *others = [(who, seconds * 1e9 / COUNT) for who, seconds in times.items()]
            claim = f"{name}, {kind.__name__}, {which}"
            rows.append(faster(claim, "ns", ours[1], others[0], 1))
            rows += [beside(claim, "ns", ours[1], other) for other in others[1:]]
    return rows


if __name__ == "__main__":
    main(measure)
