"""Commands for developers: set up a checkout, rebuild changed modules, run tests, lint.

usage: python tools/dev.py setup
       python tools/dev.py build
       python tools/dev.py changed [OPTIONS OF PYTEST]
       python tools/dev.py test [FOLDER ...] [OPTIONS OF PYTEST]
       python tools/dev.py lint
       python tools/dev.py all

`setup` creates a virtual environment in .venv, installs gradwalk (editable) and its development tools into it, and
compiles the modules in place. `build` recompiles the modules whose sources changed, at -O1; `changed` and `test` do so
first. `changed` runs the tests of the files that differ from the last commit or from the branch main. `test program`
runs tests/program, `test` the fast suite, and `test slow` the tests that take minutes. `all` runs lint and the fast
suite.
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

from stale import outdated_libraries  # noqa: E402  needs the path above

BUILD = ("setup.py", "-q", "build_ext", "--inplace")
PYTEST = ("-m", "pytest", "-q")
LINT = (
    ("-m", "ruff", "format", "--check", "."),
    ("-m", "ruff", "check", "."),
    ("-m", "mypy"),
    ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"),
    ("tools/generate.py", "--check"),
    ("tools/reference_lines.py", "--check"),
    ("tools/jax_numpy_names.py", "--check"),
    ("tools/jax_names.py", "--check"),
    ("tools/prose.py", "--check"),
    ("tools/microgpt_document.py", "--check"),
)


def run(*arguments: str, python: str = sys.executable) -> None:
    """Run Python with arguments in the root of the checkout; exit if it fails."""
    command = (python, *arguments)
    print("$", shlex.join(command), flush=True)
    # At -O1 compiling takes a third of the time. PYTHONPATH makes tests use the modules that were built here.
    environment = {"GRADWALK_OPTIMIZE": "1", **os.environ, "PYTHONPATH": str(ROOT / "src")}
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    if code:
        sys.exit(code)


def set_up() -> None:
    """Create the virtual environment, install gradwalk into it as plain Python, and compile the modules."""
    python = ROOT / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        run("-m", "venv", ".venv")
    os.environ["GRADWALK_PURE"] = "1"
    run("-m", "pip", "install", "-q", "-e", ".[dev]", python=str(python))
    del os.environ["GRADWALK_PURE"]
    run("tools/dev.py", "build", python=str(python))
    print("ready; activate it with:", ". .venv/bin/activate" if os.name != "nt" else r".venv\Scripts\activate")


def build() -> None:
    """Recompile outdated modules, and remove libraries of modules that setup.py no longer compiles."""
    for library, _ in outdated_libraries(ROOT / "src/gradwalk", ROOT):
        print("outdated:", library.relative_to(ROOT), flush=True)
        library.unlink()
    run(*BUILD)


def tests(names: list[str]) -> list[str]:
    """Convert names to paths: folders and files of tests/ get the prefix tests/, options of pytest stay."""
    return [f"tests/{name}" if (ROOT / "tests" / name).exists() else name for name in names]


def changed_files() -> set[str]:
    """Return new files, and files that differ from the last commit or from where the branch left main."""
    listings = [("diff", "--name-only", "HEAD"), ("ls-files", "--others", "--exclude-standard")]
    listings.append(("diff", "--name-only", "main...HEAD"))  # fails in a clone of a single branch, which lacks main
    outputs = [
        subprocess.run(("git", *listing), cwd=ROOT, capture_output=True, text=True, check=False).stdout
        for listing in listings
    ]
    return {name for output in outputs for name in output.splitlines()}


def affected_tests(file: str) -> Path | None:
    """Return the tests of a file: a test file itself, a module's test, or the nearest matching folder in tests/."""
    path = Path(file)
    if path.parts[0] == "tests" and path.name.startswith("test_") and (ROOT / path).exists():
        return path
    if not file.startswith("src/gradwalk/"):
        return None
    folder = Path("tests", *path.parent.parts[2:])
    test = folder / f"test_{path.stem}.py"
    while not (ROOT / test).exists():
        test, folder = folder, folder.parent
    return test if test != Path("tests") else None


def main() -> None:
    """Run the command of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["setup", "build", "changed", "test", "lint", "all"])
    options, rest = parser.parse_known_args()
    if rest and options.command not in ("changed", "test"):
        parser.error(f"{options.command} takes no arguments, got {shlex.join(rest)}")
    if options.command == "setup":
        set_up()
    if options.command in ("lint", "all"):
        for arguments in LINT:
            run(*arguments)
    if options.command in ("build", "changed", "test", "all"):
        build()
    if options.command in ("test", "all"):
        run(*PYTEST, *tests(rest))
    if options.command == "changed":
        affected = {str(test) for file in changed_files() if (test := affected_tests(file))}
        run(*PYTEST, *sorted(affected | {"tests/test_tiny.py"}), *rest)


if __name__ == "__main__":
    main()
