"""Shared by tests of the documentation: its pages, the site's modules, and the built site."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from checkout import ROOT

DOCS = ROOT / "docs"
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if page != DOCS / "README.md"]  # shown on GitHub instead

sys.path.append(str(ROOT / "tools"))


def built(folder: Path) -> Path:
    """Build the site into a folder; a warning is an error."""
    command = [sys.executable, str(ROOT / "tools/build_site.py"), str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return folder
