"""`export`: write a recorded function as a library in C, with wrappers for C++, Python and JavaScript."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradwalk
from gradwalk.exporting.files import c_files, c_test, project, wrappers
from gradwalk.exporting.interface import Interface, interface_of

_MARK = ".gradwalk-export"  # a file in each exported folder, which lists the files that `export` wrote


def export(f: Any, folder: str | os.PathLike[str], *, name: str | None = None) -> Path:
    """Write a recorded function to a folder as a library in C99.

    The folder contains the source and its header, a wrapper for C++17, a loader for Python that needs only NumPy, a
    loader and a build script for WebAssembly, a CMake project, a test and a README. The library needs neither gradwalk
    nor Python. Its functions are thread-safe. The code for batches processes 16 samples at a time with the vector
    instructions of the processor. It adds up sums in the same order as gradwalk's kernels, so the sums are bitwise
    identical to theirs.

    Args:
        f: A function of `jit` that has been called, such as `jit(value_and_grad(f))` or
            `jit(vmap(f, in_axes=..., reduce="mean"))`, or a `Program` or `BatchProgram`. If a function has several
            recordings, the one that was recorded last is exported.
        folder: The folder. If it exists, it must be empty or have been written by `export`. The files that `export`
            wrote are then replaced, and all other files are kept.
        name: The name of the C function, and of the files. By default, the name of the Python function. If C, C++,
            Python or CMake reserve this name, `_function` is appended: `exp` becomes `exp_function`. A function without
            a name, such as a lambda, becomes `program`. All names at file scope begin with this name and an underscore,
            so several libraries can be linked, or compiled as one file. A library named `aa` cannot be combined with
            a library named `aa_batch`.

    Returns:
        The path of the folder.

    Raises:
        ProgramError: The function branches on its arguments, calls Python functions such as primitives, or needs too
            much memory on the stack. The message says how to fix it. Nothing is written.
        FileExistsError: The folder is not empty and was not written by `export`, or another file in it has the name of
            a file of the library.
        TypeError: `f` is not a recorded function or a program.
        ValueError: `f` has not been called yet, or `name` is not a valid name, or is reserved by C, C++, Python, CMake
            or Windows. The message gives the reason.

    Example:
        >>> import tempfile
        >>> from gradwalk import jit, math, value_and_grad
        >>> slope = jit(value_and_grad(lambda x: math.sin(x) * x))
        >>> value, derivative = slope(1.0)
        >>> folder = export(slope, tempfile.mkdtemp(), name="slope")
        >>> sorted(path.name for path in folder.iterdir())[1:6]
        ['CMakeLists.txt', 'README.md', 'build_wasm.sh', 'slope.c', 'slope.h']
    """
    target = Path(folder).absolute()
    earlier = _written_before(target)
    texts = _texts(interface_of(f, name))
    for file in texts:
        path = target / file
        if path.is_dir() or (file not in earlier and os.path.lexists(path)):
            raise FileExistsError(f"{path} exists and was not written by export(): rename it, or give another folder")
    target.mkdir(parents=True, exist_ok=True)
    _write(target, texts, earlier)
    return target


def _written_before(target: Path) -> list[str]:
    """Return the names of the files that an earlier export wrote to the folder.

    Raises `FileExistsError` if the folder contains files and none is of `export`.
    """
    if not os.path.lexists(target):
        return []
    mark = target / _MARK
    if mark.is_file():
        names = mark.read_text(encoding="utf-8").splitlines()[1:]
        return [_MARK, *(name for name in names if re.fullmatch(r"\w[\w.]*", name))]
    if not target.is_dir() or any(target.iterdir()):
        raise FileExistsError(f"{target} exists and was not written by export(): give a new folder, or an empty one")
    return []


def _write(target: Path, texts: dict[str, str], earlier: Sequence[str]) -> None:
    """Write all files beside their places, then replace the files of the earlier export. Other files are kept."""
    temporary = Path(tempfile.mkdtemp(prefix=".gradwalk-", dir=target))
    try:
        for file, text in texts.items():
            (temporary / file).write_text(text, encoding="utf-8")
        for file in texts:
            (temporary / file).replace(target / file)
        for file in set(earlier) - texts.keys():
            (target / file).unlink(missing_ok=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _texts(interface: Interface) -> dict[str, str]:
    """Return the texts of all files by name."""
    name = interface.name
    sources = c_files.c_files(interface)
    version = gradwalk.__version__
    texts = {
        **sources.texts,
        f"{name}.hpp": wrappers.cpp(interface),
        f"{name}.py": wrappers.python(interface),
        f"{name}.mjs": wrappers.javascript(interface),
        "build_wasm.sh": wrappers.build_wasm(interface),
        f"test_{name}.c": c_test.c_test(interface),
        "CMakeLists.txt": project.cmake(interface),
        "README.md": project.readme(interface, version, is_on_lanes=sources.is_on_lanes, allocates=sources.allocates),
    }
    # The mark is the first file that is replaced: after an interruption, all files of the library are listed.
    mark = f"gradwalk {version} wrote these files, and export() may replace them:"
    return {_MARK: "\n".join([mark, *sorted(texts), ""]), **texts}
