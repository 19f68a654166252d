"""Build the documentation into build/site, and say where it is.

usage: python tools/build_site.py

Warnings are errors, links that lead nowhere included. What was built needs no network: build/site/index.html opens from
the disk. Needs `pip install ".[docs]"`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Run Sphinx; its exit code."""
    site = ROOT / "build/site"
    options = ["-q", "-W", "--keep-going", "-n", "-d", str(ROOT / "build/site-doctrees")]
    code = subprocess.run([sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(site)], check=False).returncode
    if not code:
        print(site / "index.html")
    return code


if __name__ == "__main__":
    sys.exit(main())
