"""Run the tests of public packages with and without `gradwalk.adopt`: plain calls of adopted packages must not change.

    pip download --no-deps --no-binary :all: fluids geographiclib    # and unpack the archives
    python benchmarks/package_suites.py fluids-1.3.1 geographiclib-2.1 trueskill-0.4.5/trueskilltest.py

Each argument is the folder of a source distribution that contains tests, or a file with tests in it. What the tests
need must be installed. For each package: the numbers of tests that pass and fail, and the tests whose outcomes differ.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from timing import markdown_row

PLUGIN = "import os, gradwalk; gradwalk.adopt(os.environ['ADOPTED'])"
OUTCOME = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+)", re.MULTILINE)


def outcomes(path: Path, *, adopted: bool) -> dict[str, str]:
    """Run the tests in a folder or a file; return the outcome of each test."""
    folder = next(part for part in (path, *path.parents) if re.search(r"-\d", part.name))
    package = re.split(r"-\d", folder.name)[0]
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "adopted_plugin.py").write_text(PLUGIN, encoding="utf-8")
        options = ["-p", "adopted_plugin"] if adopted else []
        paths = [scratch, *sys.path]
        result = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-rA",
                "-p",
                "no:cacheprovider",
                "--tb=no",
                "-o",
                "addopts=",
                *options,
                str(path),
            ],
            cwd=folder,
            env={**os.environ, "ADOPTED": package, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            capture_output=True,
            text=True,
            check=False,
        )
    return {name: outcome for outcome, name in OUTCOME.findall(result.stdout)}


def main(folders: Sequence[str]) -> None:
    """Print a row for each package, and the tests whose outcomes differ."""
    print(markdown_row(["package", "passed", "failed", "passed, adopted", "failed, adopted"]))
    print(markdown_row(["---"] * 5))
    for name in folders:
        before, after = (outcomes(Path(name), adopted=adopted) for adopted in (False, True))
        counts = [sum(outcome in kinds for outcome in found.values()) for found in (before, after) for kinds in KINDS]
        print(markdown_row([name, *map(str, counts)]), flush=True)
        for test in sorted(before.keys() | after.keys()):
            if before.get(test) != after.get(test):
                print(f"    {test}: {before.get(test)}, adopted {after.get(test)}")


KINDS = ({"PASSED"}, {"FAILED", "ERROR"})

if __name__ == "__main__":
    main(sys.argv[1:])
