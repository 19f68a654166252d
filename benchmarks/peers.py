"""Peers of benchmarks that run on one core: C++ compiled here, and libraries restricted to that core."""

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
    """Pin this thread, and threads that it starts later, to one core. Call before peers are imported."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def jax() -> Any:
    """Import JAX and enable float64."""
    module = peer("jax", "jax")
    module.config.update("jax_enable_x64", True)
    return module


def cpp(name: str, options: Sequence[str] = ("-Ofast",), libraries: Sequence[str] = ()) -> ctypes.CDLL:
    """Compile a file of `cpp/` with the given options and load it."""
    with tempfile.TemporaryDirectory() as folder:
        made, library = Path(folder, f"{name}.o"), Path(folder, f"lib{name}.so")
        subprocess.run(
            ["g++", *options, "-march=native", "-fPIC", "-c", SOURCES / f"{name}.cpp", "-o", made], check=True
        )
        # Link without -Ofast, which would make the whole process flush subnormal numbers to 0.
        subprocess.run(["g++", "-shared", made, "-o", library, *libraries], check=True)
        return ctypes.CDLL(str(library))


def pointers(arrays: Iterable[Any]) -> list[ctypes.c_void_p]:
    """Return the addresses of NumPy arrays."""
    return [ctypes.c_void_p(array.ctypes.data) for array in arrays]
