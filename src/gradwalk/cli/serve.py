"""Copies Pyodide, NumPy and this gradwalk into one folder, for a web page that runs Python in the browser."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import gradwalk

FOLDER = "pyodide"  # folder beside the page, from which the page loads Python
_OF_PYODIDE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
_OURS = (".py", ".js", ".json", ".typed")


class PyodideError(Exception):
    """Raised for a folder that is not a Pyodide distribution with NumPy."""


def put_python(distribution: Path, folder: Path) -> list[str]:
    """Copy Pyodide, its NumPy wheel and gradwalk from `distribution`, an unpacked Pyodide release, to `folder`.

    Returns:
        The names of the archives that the page has to unpack for Python, in this order.

    Raises:
        PyodideError: `distribution` lacks one of Pyodide's files, or does not have exactly one NumPy wheel.
    """
    missing = [name for name in _OF_PYODIDE if not (distribution / name).is_file()]
    if missing:
        raise PyodideError(
            f"{distribution} must be the folder of a Pyodide release, but the file {missing[0]} is missing in it"
        )
    wheels = sorted(distribution.glob("numpy-[0-9]*wasm32.whl"))
    if len(wheels) != 1:
        raise PyodideError(
            f"{distribution} must have one NumPy wheel, got {len(wheels)}: put the wheel that was built for this"
            " Pyodide beside pyodide.mjs"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*_OF_PYODIDE, wheels[0].name):
        shutil.copyfile(distribution / name, folder / name)
    ours = f"gradwalk-{gradwalk.__version__}.zip"
    _pack(Path(gradwalk.__file__).parent, folder / ours)
    return [wheels[0].name, ours]


def _pack(package: Path, archive: Path) -> None:
    """Write a package's source files into a ZIP archive, reproducibly: the same files give the same bytes."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(package.rglob("*")):
            if path.suffix in _OURS and path.is_file():
                name = zipfile.ZipInfo(path.relative_to(package.parent).as_posix())
                packed.writestr(name, path.read_bytes(), zipfile.ZIP_DEFLATED)
