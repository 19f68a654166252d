"""What the documents say of the repository's layout is so: paths lead somewhere, and every room is described."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from checkout import ROOT

PACKAGE = ROOT / "src/gradwalk"
ARCHITECTURE = ROOT / "docs/architecture.md"
DOCUMENTS = [path for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ARCHITECTURE) if path.exists()]
ROOMS = sorted(path.parent.relative_to(ROOT).as_posix() for path in PACKAGE.glob("*/**/__init__.py"))

# In backticks: anything with a slash in it, or a file by itself.
A_PATH = re.compile(r"\.?[\w.-]+(?:/[\w.-]+)+/?|[\w.-]+/|[\w-]+\.(?:py|pyi|pxd|h|js|md|json|toml)")


def paths(document: Path) -> set[str]:
    """All paths that a document names in its text, outside of blocks of code."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {quoted for quoted in re.findall(r"`([^`\n]+)`", text) if A_PATH.fullmatch(quoted)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_exists(document):
    """From the root of the repository, from the package, or from where the document stands."""
    found = paths(document)
    assert found
    missing = [path for path in found if not any((base / path).exists() for base in (ROOT, PACKAGE, document.parent))]
    assert sorted(missing) == []


def described() -> list[str]:
    """The rooms in the order of the table."""
    return re.findall(r"^\| `(src/gradwalk/[\w/]+)/` \|", ARCHITECTURE.read_text(encoding="utf-8"), re.M)


def test_every_room_is_described():
    shims = PACKAGE.relative_to(ROOT) / "cli/shims"
    assert [room for room in ROOMS if shims not in Path(room).parents and room not in described()] == []


def test_rooms_are_described_in_the_order_of_the_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [c for c in settings["tool"]["importlinter"]["contracts"] if c.get("containers") == ["gradwalk"]]
    rooms = [layer for layer in reversed(contract["layers"]) if (PACKAGE / layer).is_dir()]
    assert [room.split("/")[2] for room in described() if room.count("/") == 2] == rooms
    for room in described():  # a folder of a room stands below it
        parent = room.rpartition("/")[0]
        assert parent == "src/gradwalk" or parent in described()[: described().index(room)]
