"""Print the CPU seconds of translating each module to C and of compiling it, and the size of the result.

usage: python tools/build_times.py [LEVEL ...]

Each level of optimization, such as 1, 2 or 3, is a column; by default each module is compiled at its level of setup.py.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension

ROOT = Path(__file__).parents[1]
os.chdir(ROOT)
sys.path.insert(0, str(ROOT))

import setup  # noqa: E402  in the folder above

WIDTH = max(map(len, setup.COMPILED))


def seconds() -> float:
    """Return the CPU seconds of this process and of the processes that it has run."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)


def translate(extension: Extension, folder: str) -> float:
    """Translate a module to C, replace its source by the C file, and return the CPU seconds."""
    start = seconds()
    [made] = cythonize(extension, build_dir=folder, force=True, quiet=True, **setup.TRANSLATION)
    extension.sources = made.sources
    return seconds() - start


def compile_c(extension: Extension, folder: str) -> tuple[float, int]:
    """Compile the C file of a module; return the CPU seconds and the kilobytes of the object file."""
    result = Path(folder, "module.o")
    directories = [sysconfig.get_path("include"), *extension.include_dirs]
    macros = [f"-D{name}" if value is None else f"-D{name}={value}" for name, value in extension.define_macros]
    options = ["-fPIC", "-DNDEBUG", "-fwrapv", *(f"-I{each}" for each in directories), *macros]
    start = seconds()
    subprocess.run(["cc", *options, *extension.extra_compile_args, "-c", *extension.sources, "-o", result], check=True)
    return seconds() - start, result.stat().st_size // 1024


def main() -> None:
    """Print the table."""
    levels = sys.argv[1:] or [""]
    totals = [0.0] * (1 + len(levels))
    print(f"{'module':{WIDTH}} translate", *(f"compile{level and f' -O{level}':4}    kB" for level in levels))
    with tempfile.TemporaryDirectory() as folder:
        for name in setup.COMPILED:
            extension = setup.extension(setup.PACKAGE / f"{name}.py")
            row = [translate(extension, folder)]
            text = f"{name:{WIDTH}} {row[0]:9.2f}"
            for level in levels:
                if level:
                    os.environ["GRADWALK_OPTIMIZE"] = level
                extension.extra_compile_args = setup.flags(setup.PACKAGE / f"{name}.py")
                spent, size = compile_c(extension, folder)
                row.append(spent)
                text += f" {spent:11.2f} {size:5}"
            print(text, flush=True)
            totals = [total + spent for total, spent in zip(totals, row, strict=True)]
    print(f"{'total':{WIDTH}} {totals[0]:9.1f}", *(f"{total:11.1f}      " for total in totals[1:]))


if __name__ == "__main__":
    main()
