"""A developer's commands: rebuild what changed, run the tests of one folder, lint.

usage: python tools/dev.py build
       python tools/dev.py test [FOLDER ...] [OPTIONS OF PYTEST]
       python tools/dev.py lint
       python tools/dev.py all

`test program` rebuilds in place, at -O1, the compiled modules whose sources changed, and runs tests/program. Without a
folder `test` runs the fast suite; `test slow` runs what takes minutes. `all` is lint and the fast suite.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/helpers"))

from stale import outdated_libraries  # noqa: E402  after the path to it

BUILD = ("setup.py", "-q", "build_ext", "--inplace")
PYTEST = ("-m", "pytest", "-q")
LINT = (
    ("-m", "ruff", "format", "--check", "."),
    ("-m", "ruff", "check", "."),
    ("-m", "mypy"),
    ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"),
    ("tools/generate.py", "--check"),
    ("tools/microgpt_document.py", "--check"),
)


def run(*arguments: str) -> None:
    """Run Python with these arguments in the root of the checkout, and end with its exit code where it fails."""
    command = (sys.executable, *arguments)
    print("$", shlex.join(command), flush=True)
    # GRADWALK_OPTIMIZE: compiling takes a third of the time at -O1. PYTHONPATH: the modules that are built are tested.
    environment = {"GRADWALK_OPTIMIZE": "1", **os.environ, "PYTHONPATH": str(ROOT / "src")}
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    if code:
        sys.exit(code)


def build() -> None:
    """Compile again what is outdated; what setup.py no longer compiles is only removed."""
    for library, _ in outdated_libraries(ROOT / "src/gradwalk", ROOT):
        print("outdated:", library.relative_to(ROOT), flush=True)
        library.unlink()
    run(*BUILD)


def tests(names: list[str]) -> list[str]:
    """The paths that names stand for: folders and files of tests/, and options of pytest as they are."""
    return [f"tests/{name}" if (ROOT / "tests" / name).exists() else name for name in names]


def main() -> None:
    """Read the command line and run what it asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["build", "test", "lint", "all"])
    options, rest = parser.parse_known_args()
    if rest and options.command != "test":
        parser.error(f"{options.command} takes no arguments, not {shlex.join(rest)}")
    if options.command in ("lint", "all"):
        for arguments in LINT:
            run(*arguments)
    if options.command in ("build", "test", "all"):
        build()
    if options.command in ("test", "all"):
        run(*PYTEST, *tests(rest))


if __name__ == "__main__":
    main()
