"""Prints what changed in a version, and refuses where the places that name the version do not agree.

    python tools/release_notes.py [TAG]

A tag, such as v0.2.0, has to be that of the version as well. CHANGELOG.md must not call it "not yet released" then.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def found(pattern: str, path: str) -> str:
    """Return the group of a pattern in a file, or exit with a message that names both."""
    match = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.M | re.S)
    if not match:
        sys.exit(f"{path} has nothing that matches {pattern}")
    return match[1]


def versions() -> dict[str, str]:
    """The version, by the file that names it."""
    return {
        "src/gradwalk/__init__.py": found(r'^__version__ = "(.+?)"$', "src/gradwalk/__init__.py"),
        "CITATION.cff": found(r"^version: (\S+)$", "CITATION.cff"),
        "CHANGELOG.md": found(r"^## (\S+)", "CHANGELOG.md"),
    }


def notes(tag: str | None) -> str:
    """The part of CHANGELOG.md that belongs to the version.

    Args:
        tag: The tag of the release, or None if there is none yet.

    Returns:
        The text below the version's heading.
    """
    named = versions() if tag is None else {"the tag": tag.removeprefix("v"), **versions()}
    if len(set(named.values())) > 1:
        sys.exit("these do not agree: " + ", ".join(f"{place} says {version}" for place, version in named.items()))
    heading, _, text = found(r"^## (.+?)(?=^## |\Z)", "CHANGELOG.md").partition("\n")
    if tag is not None and "not yet released" in heading:
        sys.exit(f"CHANGELOG.md says of {tag} that it is not yet released: put the date there, and move the tag")
    return text.strip()


if __name__ == "__main__":
    print(notes(sys.argv[1] if sys.argv[1:] else None))
