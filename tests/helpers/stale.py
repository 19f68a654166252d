"""Compiled modules that are older than the sources of this checkout, which tests must not run on unnoticed."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

# What setup.py links into every compiled module: its sources and their digests.
STAMP = re.compile(rb"gradwalk sources: ([^\0]+)\0")
LIBRARIES = ("*.so", "*.pyd")


def outdated(package: Path, root: Path) -> str:
    """What in an installed or in-place `package` differs from the checkout at `root`, or nothing.

    Digests are compared, not times, which Git changes and wheels do not keep.
    """
    for library in sorted(path for pattern in LIBRARIES for path in package.rglob(pattern)):
        name = ".".join(("gradwalk", *library.relative_to(package).parent.parts, library.name.split(".")[0]))
        stamp = STAMP.search(library.read_bytes())
        if stamp is None:
            return f"{name} is compiled from other sources than those of this checkout ({library})"
        for source in stamp[1].decode().split():
            path, _, digest = source.partition("=")
            if _digest(root / path) != digest:
                return f"{name} is compiled from another {path} than that of this checkout ({library})"
    if package != root / "src/gradwalk":
        for path in sorted((root / "src/gradwalk").rglob("*.py")):
            installed = package / path.relative_to(root / "src/gradwalk")
            if _digest(installed) != _digest(path):
                return f"{installed} is not {path.relative_to(root).as_posix()} of this checkout"
    return ""


def cure(package: Path, root: Path) -> str:
    """The command after which nothing is outdated."""
    return "python tools/dev.py build" if package == root / "src/gradwalk" else 'pip install ".[test-core]"'


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
