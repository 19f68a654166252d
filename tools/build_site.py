"""Build the documentation into build/site or another folder, and print the path of its first page.

Warnings, such as broken links, are errors. The site works without a network: index.html opens from the disk, and the
search works there, too. Needs `pip install ".[docs]"`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Run Sphinx; return its exit code."""
    parser = argparse.ArgumentParser(description="Build the documentation. Warnings are errors.")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=ROOT / "build/site", help="output folder, by default build/site"
    )
    site = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as doctrees:  # a new folder, so that Sphinx reuses nothing
        options = ["-q", "-W", "--keep-going", "-n", "-a", "-E", "-d", doctrees]
        command = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(site)]
        code = subprocess.run(command, check=False).returncode
    if not code:
        print(site / "index.html")
    return code


if __name__ == "__main__":
    sys.exit(main())
