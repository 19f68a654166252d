"""Compile the modules in `COMPILED`; all other settings of the package are in pyproject.toml.

Environment variables:
GRADWALK_PURE=1 builds a package that runs as plain Python. It must be set explicitly: a failing compiler is an error.
GRADWALK_OPTIMIZE=1 compiles at -O1, for quick builds during development.
GRADWALK_OWN_VECTORS=1 uses the vector functions of vector_functions.h even if the C library has its own, for tests.
CFLAGS with -g keeps debug symbols.
"""

import hashlib
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

COMPILED = (
    "ops/compiled/evaluate",
    "value/node",
    "value/convert",
    "value/modes",
    "value/sweep/order",
    "value/sweep/backward",
    "value/variadic",
    "value/sweep/refresh",
    "value/apply",
    "value/methods",
    "value/pickling",
    "value/value",
    "functions/extended",
    "functions/reductions",
    "nn",
    "graph/record",
    "graph/reevaluate",
    "trees/module_treedef",
    "trees/fast/form",
    "trees/fast/module_form",
    "program/instructions/instruction_store",
    "program/instructions/simplify",
    "program/autodiff/derivative_templates",
    "program/autodiff/finiteness",
    "program/autodiff/cotangents",
    "program/autodiff/differentiate",
    "program/instructions/expansions",
    "program/instructions/load",
    "program/instructions/lower",
    "program/tape",
    "program/run/rows/row_chains",
    "program/run/rows/row_plan",
    "program/run/instruction_loop",
    "program/run/interpreter",
    "program/run/c_abi",
    "program/program",
    "program/run/fast_call",
    "program/code/checkpoint_plan",
    "program/run/loop_runner",
    "program/reroll/sequence_ids",
    "program/reroll/find_loops",
    "backend/schedule/analysis",
    "backend/schedule/orders",
    "backend/schedule/allocation",
    "backend/columns",
    "backend/launch",
    "backend/lane_kernel",
    "batching/prepared_batch",
    "transforms/sparse/sparsity_pattern",
    "transforms/sparse/coloring",
    "solvers/ode/dormand_prince",
    "adopting/switches",
)
PACKAGE = Path("src/gradwalk")
BUILD = Path("build/cython")
ON_WINDOWS = sys.platform == "win32"
WITH_SYMBOLS = "-g" in os.environ.get("CFLAGS", "").split()
DIRECTIVES = {
    "cdivision": True,
    "boundscheck": False,
    "freethreading_compatible": sys.platform == "linux",  # the only system on which .ci/free_threaded tests it
}


NO_COMPILER = """no C compiler was found, but gradwalk has modules in C. There are three ways to continue:
  - Install a compiler, and try again:
      Debian, Ubuntu  apt install gcc python3-dev
      Fedora          dnf install gcc python3-devel
      Alpine          apk add gcc musl-dev python3-dev
      macOS           xcode-select --install
      Windows         "Desktop development with C++" of the Build Tools for Visual Studio
  - Install a released wheel, whose modules are compiled: pip install --only-binary gradwalk gradwalk
  - Set the environment variable GRADWALK_PURE to 1, and try again: gradwalk is then installed as plain Python, which
    has all functions but is slower."""


def flags() -> list[str]:
    """Return the options of the C compiler.

    Without contraction, a*b + c is rounded twice, as in Python. The options about errno and traps do not change results
    but allow the vectorization of lane loops; lanes.h checks the optimization level.
    """
    level = os.environ.get("GRADWALK_OPTIMIZE", "2" if ON_WINDOWS else "3")
    if ON_WINDOWS:
        return ["/Od" if level == "0" else f"/O{level}", "/fp:precise"]
    exact = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    symbols = [] if WITH_SYMBOLS else ["-g0"]
    return [f"-O{level}", f"-DGRADWALK_OPTIMIZE={level}", *exact, "-falign-loops=64", *symbols]


def link_flags() -> list[str]:
    """Return the options of the linker: strip symbols, which only debuggers and profilers need."""
    if ON_WINDOWS or WITH_SYMBOLS:
        return []
    return ["-Wl,-x" if sys.platform == "darwin" else "-Wl,-s"]


def macros(module: Path) -> list[tuple[str, str | None]]:
    """Return the C macros that a module is compiled with."""
    found: list[tuple[str, str | None]] = []
    if module == PACKAGE / "value/node.py":  # new_node uses tp_new of the class; Cython would wrap it for vectorcall
        found.append(("CYTHON_VECTORCALL_TPNEW", "0"))
    if os.environ.get("GRADWALK_OWN_VECTORS") == "1":
        found.append(("GRADWALK_OWN_VECTORS", None))
    return found


def sources(module: Path) -> list[Path]:
    """Return the files that a module is compiled from: itself, its .pxd, and the files that they cimport or include."""
    found: list[Path] = []
    waiting = [module, module.with_suffix(".pxd")]
    while waiting:
        path = waiting.pop()
        if path in found or not path.exists():
            continue
        found.append(path)
        text = path.read_text(encoding="utf-8")
        waiting += [path.parent / header for header in re.findall(r'(?:extern from|#?include) "([^"]+)"', text)]
        for package, names in re.findall(r"^from (gradwalk[\w.]*) cimport (.+)$", text, re.M):
            folder = Path("src", *package.split("."))
            waiting += [folder.with_suffix(".pxd"), *[folder / f"{name}.pxd" for name in re.findall(r"\w+", names)]]
    return sorted(found)


def stamp(module: Path) -> tuple[Path, str]:
    """Return the path and text of a C file that is linked into a module and holds the digests of its sources.

    Tests read the digests to detect compiled modules that are older than the checkout (tests/helpers/stale.py).
    """
    name = "_".join(module.relative_to(PACKAGE).with_suffix("").parts)
    digests = [f"{path.as_posix()}={hashlib.sha256(path.read_bytes()).hexdigest()}" for path in sources(module)]
    export = "__declspec(dllexport) " if ON_WINDOWS else ""
    text = f'{export}const char gradwalk_sources_of_{name}[] = "gradwalk sources: {" ".join(digests)}";\n'
    return BUILD / "stamps" / f"{name}.c", text


def extension(module: Path) -> Extension:
    """Return the extension for a module to be compiled."""
    return Extension(
        ".".join(module.relative_to("src").with_suffix("").parts),
        [str(module)],
        extra_compile_args=flags(),
        extra_link_args=link_flags(),
        define_macros=macros(module),
        include_dirs=[str(PACKAGE / folder) for folder in ("value/memory", "backend/cpu", "program/run/rows")],
        libraries=[] if ON_WINDOWS else ["m"],
    )


def translated(extension: Extension) -> list[str]:
    """Return the C files of a module; translate it again if its sources have changed since the last translation.

    File times and Cython's list of dependencies are not reliable: Git changes the times, and the list lacks modules
    that are cimported from packages.
    """
    path, text = stamp(Path(extension.sources[0]))
    is_stale = not path.exists() or path.read_text(encoding="utf-8") != text
    [result] = cythonize(
        extension,
        build_dir=str(BUILD),
        force=is_stale or None,
        include_path=["src"],
        language_level=3,
        compiler_directives=DIRECTIVES,
    )
    if is_stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [*result.sources, str(path)]


class BuildModules(build_ext):
    """Translates modules to C only if they are to be compiled and a compiler exists."""

    def build_extensions(self) -> None:
        """Compile all modules."""
        if not has_command(self.compiler):
            raise PlatformError(NO_COMPILER)
        for extension in self.extensions:
            extension.sources = translated(extension)
        super().build_extensions()


def has_command(compiler: Any) -> bool:
    """Return whether the command of a compiler is installed, without running it."""
    if compiler.compiler_type != "msvc":
        return shutil.which(compiler.compiler_so[0]) is not None
    try:
        compiler.initialized or compiler.initialize()
    except PlatformError:
        return False
    return True


pure = os.environ.get("GRADWALK_PURE") == "1"
setup(
    ext_modules=[] if pure else [extension(PACKAGE / f"{name}.py") for name in COMPILED],
    cmdclass={"build_ext": BuildModules},
    options={"build_ext": {"parallel": os.cpu_count()}},
)
