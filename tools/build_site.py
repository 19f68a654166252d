"""Build the documentation into build/site or another folder, and say where it is.

Warnings are errors, links that lead nowhere included. What was built needs no network: index.html opens from the disk,
and its search works there. Needs `pip install ".[docs]"`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Run Sphinx; its exit code."""
    parser = argparse.ArgumentParser(description="Build the documentation. Warnings are errors.")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=ROOT / "build/site", help="where to, build/site by default"
    )
    site = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as doctrees:  # everything is made anew
        options = ["-q", "-W", "--keep-going", "-n", "-a", "-E", "-d", doctrees]
        command = [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(site)]
        code = subprocess.run(command, check=False).returncode
    if not code:
        print(site / "index.html")
    return code


if __name__ == "__main__":
    sys.exit(main())
