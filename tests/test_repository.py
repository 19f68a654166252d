"""The version numbers, workflows and release notes of the repository."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
from checkout import ROOT

import gradwalk

NOTES = ROOT / "tools/release_notes.py"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def notes(root, *tag: str) -> subprocess.CompletedProcess[str]:
    """Run tools/release_notes.py of a copy of the repository."""
    command = [sys.executable, str(root / "tools/release_notes.py"), *tag]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.fixture
def copied(tmp_path):
    for path in ("CHANGELOG.md", "CITATION.cff", "src/gradwalk/__init__.py", "tools/release_notes.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def replace(path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_version_is_the_same_everywhere():
    assert notes(ROOT).returncode == 0
    assert (ROOT / "CITATION.cff").read_text(encoding="utf-8").count(f"version: {gradwalk.__version__}\n") == 1


def test_release_notes_are_those_of_the_newest_version(copied):
    replace(copied / "CHANGELOG.md", "\n## ", "\n## 9.9.9 (2030-01-01)\n\n- New.\n\n## ")
    replace(copied / "CITATION.cff", f"version: {gradwalk.__version__}", "version: 9.9.9")
    replace(copied / "src/gradwalk/__init__.py", gradwalk.__version__, "9.9.9")
    found = notes(copied, "v9.9.9")
    assert (found.stdout, found.returncode) == ("- New.\n", 0)


def test_tag_of_another_version_is_rejected(copied):
    found = notes(copied, "v0.0.1")
    assert found.returncode == 1
    assert (
        f"versions do not agree: the tag says 0.0.1, src/gradwalk/__init__.py says {gradwalk.__version__}"
        in found.stderr
    )


def test_unreleased_version_has_no_release_notes(copied):
    replace(copied / "CHANGELOG.md", "\n## ", f"\n## {gradwalk.__version__} (not yet released)\n\n- New.\n\n## ")
    found = notes(copied, f"v{gradwalk.__version__}")
    assert found.returncode == 1
    assert "not yet released" in found.stderr


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_use_existing_files_and_pinned_actions(workflow):
    text = workflow.read_text(encoding="utf-8")
    missing = [path for path in re.findall(r"(?:\.ci|tools)/[\w./]+", text) if not (ROOT / path).exists()]
    assert missing == []
    assert [used for used in re.findall(r"uses: (\S+)", text) if not re.search(r"^\./|@[0-9a-f]{40}$", used)] == []
