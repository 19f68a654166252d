"""`export`: write a recorded function as a library in C, with wrappers for C++, Python and JavaScript."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import gradwalk
from gradwalk.exporting.files import c_files, c_test, project, wrappers
from gradwalk.exporting.interface import Interface, interface_of

_MARK = ".gradwalk-export"  # a file in each exported folder


def export(f: Any, folder: str | os.PathLike[str], *, name: str | None = None) -> Path:
    """Write a recorded function to a folder as a library in C99.

    The folder contains the source and its header, a wrapper for C++17, a loader for Python that needs only NumPy, a
    loader and a build script for WebAssembly, a CMake project, a test and a README. The library needs neither gradwalk
    nor Python. Its functions are thread-safe. The code for batches runs 16 samples side by side with the vector
    instructions of the processor. It adds sums up in the order of gradwalk's kernels, so they have the same bits.

    Args:
        f: A function of `jit` that has been called, such as `jit(value_and_grad(f))` or
            `jit(vmap(f, in_axes=..., reduce="mean"))`, or a `Program` or `BatchProgram`. If a function has several
            recordings, the latest one is exported.
        folder: The folder. If it exists, it must be empty or have been written by `export`; it is then replaced.
        name: The name of the C function, and of the files. By default, the name of the Python function, or `program`
            if it has no valid name; the README of the folder shows it. The function of a batch adds `_batch`, so do
            not link a library `aa` for batches with a library `aa_batch`.

    Returns:
        The path of the folder.

    Raises:
        ProgramError: The function branches on its arguments, calls Python functions such as primitives, or needs too
            much memory on the stack. The message says how to mend it. Nothing is written.
        FileExistsError: The folder contains other files.
        TypeError: `f` is not a recorded function or a program.
        ValueError: `f` has not been called yet, or `name` is not a valid name in C, C++, Python or
            CMake, is the name of a file that Windows reserves, or is used in the code of libraries.

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
    _check_folder(target)
    texts = _texts(interface_of(f, name))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        temporary.chmod(0o755)
        for file, text in texts.items():
            (temporary / file).write_text(text, encoding="utf-8")
        _replace(target, temporary)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def _check_folder(target: Path) -> None:
    """Raise `FileExistsError` if writing to the folder would delete files that `export` did not write."""
    if not target.exists() and not target.is_symlink():
        return
    if not target.is_dir() or (any(target.iterdir()) and not (target / _MARK).is_file()):
        raise FileExistsError(f"{target} exists and was not written by export(): give a new folder, or an empty one")


def _replace(target: Path, temporary: Path) -> None:
    """Move the new folder to its place. The old folder is removed afterwards."""
    if not target.exists():
        temporary.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        target.rename(old / "old")
        temporary.rename(target)
    except OSError:
        if not target.exists() and (old / "old").exists():
            (old / "old").rename(target)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _texts(interface: Interface) -> dict[str, str]:
    """Return the texts of all files by name."""
    name = interface.name
    sources = c_files.c_files(interface)
    version = gradwalk.__version__
    return {
        **sources.texts,
        f"{name}.hpp": wrappers.cpp(interface),
        f"{name}.py": wrappers.python(interface),
        f"{name}.mjs": wrappers.javascript(interface),
        "build_wasm.sh": wrappers.build_wasm(interface),
        f"test_{name}.c": c_test.c_test(interface),
        "CMakeLists.txt": project.cmake(interface),
        "README.md": project.readme(interface, version, is_on_lanes=sources.is_on_lanes, allocates=sources.allocates),
        _MARK: f"Written by gradwalk {version}. export() may replace this folder.\n",
    }
