"""Shared by tests of the documentation: its pages, the site's modules, and the built site."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from checkout import ROOT

DOCS = ROOT / "docs"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if page != DOCS / "README.md"]  # shown on GitHub instead

sys.path.append(str(ROOT / "tools"))


def site_in(folder: Path) -> Path:
    """Return the built site. It is in `folder`, or in the folder GRADWALK_SITE, so that several suites can share it."""
    shared = Path(os.environ.get("GRADWALK_SITE", folder / "site"))
    if not shared.exists():
        shutil.move(built(folder / "new"), shared)
    return shared


def built(folder: Path) -> Path:
    """Build the site into a folder; a warning is an error."""
    command = [sys.executable, str(ROOT / "tools/build_site.py"), str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return folder
