"""A check of the C compiler, and the explanation that users see if it is missing or does not work."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from setuptools.errors import PlatformError

CURE = """There are three ways to continue:
  - Install a C compiler and Python's header files, and try again:
      Debian, Ubuntu  apt install gcc libc6-dev python3-dev
      Fedora          dnf install gcc python3-devel
      Alpine          apk add gcc musl-dev python3-dev
      macOS           xcode-select --install
      Windows         "Desktop development with C++" of the Build Tools for Visual Studio
  - Install a released wheel, whose modules are compiled: pip install --only-binary gradwalk gradwalk
  - Set the environment variable GRADWALK_PURE to 1, and try again: gradwalk is then installed as plain Python, which
    has all functions but is slower."""


def problem() -> str:
    """Explain why the system's C compiler cannot compile modules; return "" if it can, and on Windows.

    On Windows, `problem_of` is asked during the build, because only setuptools can find the compiler.
    """
    if os.name == "nt":
        return ""
    options = f"{sysconfig.get_config_var('CFLAGS') or ''} {os.environ.get('CFLAGS', '')}"
    command = shlex.split(f"{os.environ.get('CC') or sysconfig.get_config_var('CC') or 'cc'} {options}")
    return _explained(_problem_of_command(command, [sysconfig.get_path("include"), sysconfig.get_path("platinclude")]))


def problem_of(compiler: Any) -> str:
    """Explain why a compiler of setuptools cannot compile modules; return "" if it can."""
    if compiler.compiler_type != "msvc":
        return _explained(_problem_of_command(compiler.compiler_so, compiler.include_dirs))
    try:
        compiler.initialized or compiler.initialize()
    except PlatformError as error:
        return _explained(f"no C compiler was found: {error}")
    return ""


def _explained(reason: str) -> str:
    return f"gradwalk has modules in C, but {reason.rstrip('.')}. {CURE}" if reason else ""


def _problem_of_command(command: list[str], include_dirs: list[str]) -> str:
    """Return the compiler's first error if it cannot compile a file that includes Python.h; otherwise ""."""
    if shutil.which(command[0]) is None:
        return f"no C compiler was found: there is no command {command[0]!r}"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "check.c")
        source.write_text("#include <math.h>\n#include <Python.h>\n", encoding="utf-8")
        includes = [f"-I{folder}" for folder in include_dirs]
        result = subprocess.run(
            [*command, *includes, "-c", str(source), "-o", str(source.with_suffix(".o"))],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    if result.returncode == 0:
        return ""
    lines = [line.strip() for line in (result.stderr + result.stdout).splitlines()]
    errors = [line for line in lines if "error" in line.lower()]
    said = (errors or lines or [f"exit code {result.returncode}, without a message"])[0]
    return f"the C compiler {command[0]!r} does not work: {said}"
