"""The test suite does not start if a compiled module does not match its sources."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import IS_COMPILED, PACKAGE, ROOT
from stale import LIBRARIES, STAMP, cure, outdated

COMPILED = sorted(path for pattern in LIBRARIES for path in PACKAGE.rglob(pattern))
SOURCES = ("src/gradwalk/value/extra.py", "src/gradwalk/value/extra.pxd")


def add_module(root: Path) -> None:
    """Add a module that is compiled in place and up to date; nothing imports it."""
    digests = []
    for name in SOURCES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n", encoding="utf-8")
        digests.append(f"{name}={hashlib.sha256(path.read_bytes()).hexdigest()}")
    library = root / "src/gradwalk/value/extra.cpython-311-x86_64-linux-gnu.so"
    library.write_bytes(b"\x7fELF\0gradwalk sources: " + " ".join(digests).encode() + b"\0\1\2")


@pytest.fixture
def checkout(tmp_path) -> Path:
    add_module(tmp_path)
    return tmp_path


def test_this_checkout_is_up_to_date():
    assert outdated(PACKAGE, ROOT) == ""
    assert bool(COMPILED) == IS_COMPILED


def test_stamps_list_all_sources_of_a_module():
    for library in COMPILED:
        paths = [source.partition("=")[0] for source in STAMP.search(library.read_bytes())[1].decode().split()]
        own = Path("src/gradwalk", library.relative_to(PACKAGE).parent, library.name.split(".")[0]).as_posix()
        assert f"{own}.py" in paths
        lines = [line for path in paths for line in (ROOT / path).read_text(encoding="utf-8").splitlines()]
        for line in lines:
            if line.startswith("from gradwalk") and " cimport " in line:
                _, package, _, name, *_ = line.split()
                folder = f"src/{package.replace('.', '/')}"
                assert {f"{folder}.pxd", f"{folder}/{name.rstrip(',')}.pxd"} & set(paths), line
            if line.startswith('#include "'):
                assert any(path.endswith(f"/{line.split(chr(34))[1]}") for path in paths), line


@pytest.mark.parametrize("name", SOURCES)
def test_edited_sources_are_reported_with_their_module(checkout, name):
    package = checkout / "src/gradwalk"
    assert outdated(package, checkout) == ""
    (checkout / name).write_text("# edited\n", encoding="utf-8")
    assert outdated(package, checkout).startswith(f"gradwalk.value.extra is compiled from another {name} than")
    (checkout / name).unlink()
    assert outdated(package, checkout).startswith(f"gradwalk.value.extra is compiled from another {name} than")


def test_modules_without_a_stamp_are_outdated(checkout):
    (checkout / "src/gradwalk/nn.so").write_bytes(b"\x7fELF\0")
    assert outdated(checkout / "src/gradwalk", checkout).startswith("gradwalk.nn is compiled from other sources")


def test_installed_package_is_compared_with_the_checkout(checkout, tmp_path):
    installed = shutil.copytree(checkout / "src/gradwalk", tmp_path / "site-packages/gradwalk")
    assert outdated(installed, checkout) == ""
    (checkout / "src/gradwalk/plain.py").write_text("", encoding="utf-8")
    assert outdated(installed, checkout).endswith("plain.py is not src/gradwalk/plain.py of this checkout")
    assert "pip install" in cure(installed, checkout)
    assert "tools/dev.py build" in cure(checkout / "src/gradwalk", checkout)


def test_suite_does_not_start_if_outdated(tmp_path):
    for name in ("pyproject.toml", "tests/conftest.py", "tests/test_tiny.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "tests/helpers", tmp_path / "tests/helpers")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns(*LIBRARIES))
    add_module(tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_tiny.py"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "GRADWALK_EXPECTED": ""}

    def started() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert started().returncode == 0
    (tmp_path / SOURCES[0]).write_text("# edited\n", encoding="utf-8")
    result = started()
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"gradwalk.value.extra is compiled from another {SOURCES[0]}" in result.stderr
    assert "run `python tools/dev.py build`" in result.stderr
