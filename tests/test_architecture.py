"""Documents match the repository: the paths they name exist, and docs/architecture.md describes every package."""

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

# A path in backticks: it has a slash, or is a file name with a known extension.
A_PATH = re.compile(r"\.?[\w.-]+(?:/[\w.-]+)+/?|[\w.-]+/|[\w-]+\.(?:py|pyi|pxd|h|js|md|json|toml)")


def paths(document: Path) -> set[str]:
    """Return all paths that a document names outside code blocks."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {quoted for quoted in re.findall(r"`([^`\n]+)`", text) if A_PATH.fullmatch(quoted)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_exists(document):
    # A path may be relative to the repository, the package or the document.
    found = paths(document)
    assert found
    missing = [path for path in found if not any((base / path).exists() for base in (ROOT, PACKAGE, document.parent))]
    assert sorted(missing) == []


def described() -> list[str]:
    """Return the packages in the order of the table."""
    return re.findall(r"^\| `(src/gradwalk/[\w/]+)/` \|", ARCHITECTURE.read_text(encoding="utf-8"), re.M)


def test_every_package_is_described():
    shims = PACKAGE.relative_to(ROOT) / "cli/shims"
    assert [room for room in ROOMS if shims not in Path(room).parents and room not in described()] == []


def test_packages_are_in_the_order_of_the_import_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [c for c in settings["tool"]["importlinter"]["contracts"] if c.get("containers") == ["gradwalk"]]
    rooms = [layer for layer in reversed(contract["layers"]) if (PACKAGE / layer).is_dir()]
    assert [room.split("/")[2] for room in described() if room.count("/") == 2] == rooms
    for room in described():  # subpackages come after their parent
        parent = room.rpartition("/")[0]
        assert parent == "src/gradwalk" or parent in described()[: described().index(room)]
