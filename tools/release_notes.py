"""Print the changes of a version, after checking that all files name the same version.

    python tools/release_notes.py [TAG]

The version of the tag, such as v0.2.0, must also match. With a tag, CHANGELOG.md must not say "not yet released".
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def found(pattern: str, path: str) -> str:
    """Return the group of a pattern in a file; exit with a message if nothing matches."""
    match = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.M | re.S)
    if not match:
        sys.exit(f"{path}: nothing matches {pattern}")
    return match[1]


def versions() -> dict[str, str]:
    """Return the version that each file names."""
    return {
        "src/gradwalk/__init__.py": found(r'^__version__ = "(.+?)"$', "src/gradwalk/__init__.py"),
        "CITATION.cff": found(r"^version: (\S+)$", "CITATION.cff"),
        "CHANGELOG.md": found(r"^## (\S+)", "CHANGELOG.md"),
    }


def notes(tag: str | None) -> str:
    """Return the text below the version's heading in CHANGELOG.md; `tag` is the tag of the release, if it exists."""
    named = versions() if tag is None else {"the tag": tag.removeprefix("v"), **versions()}
    if len(set(named.values())) > 1:
        sys.exit("versions do not agree: " + ", ".join(f"{place} says {version}" for place, version in named.items()))
    heading, _, text = found(r"^## (.+?)(?=^## |\Z)", "CHANGELOG.md").partition("\n")
    if tag is not None and "not yet released" in heading:
        sys.exit(f"CHANGELOG.md says that {tag} is not yet released: enter the date there, and move the tag")
    return text.strip()


if __name__ == "__main__":
    print(notes(sys.argv[1] if sys.argv[1:] else None))
