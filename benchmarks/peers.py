"""What benchmarks of one core need of their peers: C++ that is compiled here, and libraries that stay on the core."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from timing import peer

SOURCES = Path(__file__).parent / "cpp"


def on_one_core() -> None:
    """Keep this thread, and those that it starts from now on, on one core. Call it before the peers are imported."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def jax() -> Any:
    """JAX, with float64."""
    module = peer("jax", "jax")
    module.config.update("jax_enable_x64", True)
    return module


def cpp(name: str, options: Sequence[str] = ("-Ofast",), libraries: Sequence[str] = ()) -> ctypes.CDLL:
    """The functions of a file in `cpp/`, compiled with what makes them fastest, and linked with libraries."""
    with tempfile.TemporaryDirectory() as folder:
        made, library = Path(folder, f"{name}.o"), Path(folder, f"lib{name}.so")
        subprocess.run(
            ["g++", *options, "-march=native", "-fPIC", "-c", SOURCES / f"{name}.cpp", "-o", made], check=True
        )
        # Linked without -Ofast: with it the library would make the whole process round subnormal numbers to 0.
        subprocess.run(["g++", "-shared", made, "-o", library, *libraries], check=True)
        return ctypes.CDLL(str(library))


def pointers(arrays: Iterable[Any]) -> list[ctypes.c_void_p]:
    """The addresses of NumPy arrays."""
    return [ctypes.c_void_p(array.ctypes.data) for array in arrays]
