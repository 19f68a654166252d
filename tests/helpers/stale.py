"""Find compiled modules that are older than the sources of this checkout."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

# Embedded by setup.py in every compiled module: its sources and their digests.
STAMP = re.compile(rb"gradwalk sources: ([^\0]+)\0")
LIBRARIES = ("*.so", "*.pyd")


def outdated(package: Path, root: Path) -> str:
    """Describe how `package` (installed or in place) differs from the checkout at `root`; return "" if it is equal.

    Digests are compared instead of times, which Git changes and wheels do not keep.
    """
    for library, reason in outdated_libraries(package, root):
        name = ".".join(("gradwalk", *library.relative_to(package).parent.parts, library.name.split(".")[0]))
        return f"{name} is compiled from {reason} of this checkout ({library})"
    if package != root / "src/gradwalk":
        for path in sorted((root / "src/gradwalk").rglob("*.py")):
            installed = package / path.relative_to(root / "src/gradwalk")
            if _digest(installed) != _digest(path):
                return f"{installed} is not {path.relative_to(root).as_posix()} of this checkout"
    return ""


def outdated_libraries(package: Path, root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the compiled modules whose sources differ from the checkout, each with the difference."""
    for library in sorted(path for pattern in LIBRARIES for path in package.rglob(pattern)):
        stamp = STAMP.search(library.read_bytes())
        if stamp is None:
            yield library, "other sources than those"
            continue
        sources = [source.partition("=") for source in stamp[1].decode().split()]
        different = [path for path, _, digest in sources if _digest(root / path) != digest]
        if different:
            yield library, f"another {different[0]} than that"


def cure(package: Path, root: Path) -> str:
    """Return the command that updates the compiled modules."""
    if package == root / "src/gradwalk":
        return "run `python tools/dev.py build`"
    return 'remove the folder build and run `pip install ".[test-core]"`'


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
