"""Compile the C source of a program into a Python function."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
SAME_BITS = ("-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-builtin")
NUMBERS = itertools.count()


def needs_program(*commands: str) -> pytest.MarkDecorator:
    """Return the mark of a test that needs one of these programs."""
    return pytest.mark.skipif(not any(map(shutil.which, commands)), reason=f"needs {' or '.join(commands)}")


def installed(command: str) -> str:
    """Return the command of a compiler, or skip the test if it is not installed."""
    if not shutil.which(command):
        pytest.skip(f"needs the compiler {command}")
    return command


def compiled(folder: Path, source: str, *flags: str, name: str = "f"):
    """Compile a C file and return its function as a Python function of numbers."""
    path = folder / f"{next(NUMBERS)}.c"
    path.write_text(source, encoding="ascii")
    library = path.with_suffix(".so")
    subprocess.run([installed("cc"), *STRICT, *flags, "-shared", "-fPIC", path, "-o", library, "-lm"], check=True)
    function = ctypes.CDLL(str(library))[name]

    def run(numbers: Sequence[float], outputs: int) -> list[float]:
        results = (ctypes.c_double * max(outputs, 1))()
        function((ctypes.c_double * max(len(numbers), 1))(*numbers), results)
        return list(results)[:outputs]

    return run
