"""Python for a page that is served: what a browser needs of Pyodide, NumPy, and this gradwalk, in one folder."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import gradwalk

FOLDER = "pyodide"  # beside the page, which looks for it there
_OF_PYODIDE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
_OURS = (".py", ".js", ".json", ".typed")


class PyodideError(Exception):
    """A folder is not a distribution of Pyodide with NumPy."""


def put_python(distribution: Path, folder: Path) -> list[str]:
    """Copy what a browser needs to run Python with gradwalk.

    Args:
        distribution: A folder with Pyodide, such as its releases have, and the wheel of NumPy that was built for it.
        folder: Where to put it.

    Returns:
        The names of the archives in the folder that Python has to unpack, in order.

    Raises:
        PyodideError: Something is missing there.
    """
    missing = [name for name in _OF_PYODIDE if not (distribution / name).is_file()]
    if missing:
        raise PyodideError(
            f"{distribution} has no {missing[0]}: give the folder of a release of Pyodide, which has pyodide.mjs in it"
        )
    wheels = sorted(distribution.glob("numpy-[0-9]*wasm32.whl"))
    if len(wheels) != 1:
        raise PyodideError(
            f"{distribution} has {len(wheels) or 'no'} wheels of NumPy: put the one that was built for it"
            " beside pyodide.mjs"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*_OF_PYODIDE, wheels[0].name):
        shutil.copyfile(distribution / name, folder / name)
    ours = f"gradwalk-{gradwalk.__version__}.zip"
    _pack(Path(gradwalk.__file__).parent, folder / ours)
    return [wheels[0].name, ours]


def _pack(package: Path, archive: Path) -> None:
    """Write a package as plain Python into an archive, the same bytes for the same files."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(package.rglob("*")):
            if path.suffix in _OURS and path.is_file():
                name = zipfile.ZipInfo(path.relative_to(package.parent).as_posix())
                packed.writestr(name, path.read_bytes(), zipfile.ZIP_DEFLATED)
