"""Compile the modules in `COMPILED`; all other settings of the package are in pyproject.toml.

Environment variables:
GRADWALK_PURE=1 builds a package that runs as plain Python. It must be set explicitly: a failing compiler is an error.
GRADWALK_OPTIMIZE=1 compiles all modules at -O1, for quick builds during development.
GRADWALK_OWN_VECTORS=1 uses the vector functions of vector_functions.h even if the C library has its own, for tests.
CFLAGS with -g keeps debug symbols.
"""

import hashlib
import os
import re
import sys
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError, PlatformError

sys.path.insert(0, "tools/install")

import c_compiler_check
from progress import Progress

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
    "program/instructions/copied",
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
# Modules that are faster at a level of optimization above 1; `python tools/build_times.py` prints what the levels cost.
LEVELS = {
    "backend/launch": 3,
    "graph/reevaluate": 3,
    "ops/compiled/evaluate": 3,
    "program/run/instruction_loop": 3,
    "program/run/interpreter": 2,
    "program/run/loop_runner": 3,
    "transforms/sparse/coloring": 2,
    "transforms/sparse/sparsity_pattern": 2,
    "value/apply": 2,
    "value/methods": 2,
    "value/node": 2,
    "value/sweep/backward": 2,
    "value/sweep/order": 2,
    "value/value": 2,
}
PACKAGE = Path("src/gradwalk")
BUILD = Path("build/cython")
ON_WINDOWS = sys.platform == "win32"
WITH_SYMBOLS = "-g" in os.environ.get("CFLAGS", "").split()
TRANSLATION: dict[str, Any] = {  # options of cythonize
    "include_path": ["src"],
    "language_level": 3,
    "compiler_directives": {
        "cdivision": True,
        "boundscheck": False,
        "freethreading_compatible": sys.platform == "linux",  # the only system on which .ci/free_threaded tests it
        "emit_code_comments": False,
    },
}


def flags(module: Path) -> list[str]:
    """Return the options of the C compiler for a module.

    Without contraction, a*b + c is rounded twice, as in Python. The options about errno and traps do not change results
    but allow the vectorization of lane loops; lanes.h checks the optimization level.
    """
    name = module.relative_to(PACKAGE).with_suffix("").as_posix()
    level = os.environ.get("GRADWALK_OPTIMIZE", "2" if ON_WINDOWS else str(LEVELS.get(name, 1)))
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
        extra_compile_args=flags(module),
        extra_link_args=link_flags(),
        define_macros=macros(module),
        include_dirs=[str(PACKAGE / folder) for folder in ("value/memory", "backend/cpu", "program/run/rows")],
        libraries=[] if ON_WINDOWS else ["m"],
    )


def translated(extensions: list[Extension]) -> None:
    """Replace the sources of extensions by C files; translate the modules that changed since their last translation.

    File times and Cython's list of dependencies are not reliable: Git changes the times, and the list lacks modules
    that are cimported from packages.
    """
    from Cython.Build import cythonize  # not installed for plain Python

    stamps = [stamp(Path(extension.sources[0])) for extension in extensions]
    files = [BUILD / Path(extension.sources[0]).with_suffix(".c") for extension in extensions]
    changed = [
        extension
        for extension, (path, text), file in zip(extensions, stamps, files, strict=True)
        if not file.exists() or not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    cythonize(
        changed,
        build_dir=str(BUILD),
        force=True,
        quiet=True,
        nthreads=os.cpu_count() or 1,
        **TRANSLATION,
    )
    for extension, (path, text), file in zip(extensions, stamps, files, strict=True):
        if extension in changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        extension.sources = [str(file), str(path)]


class BuildModules(build_ext):
    """Translates modules to C if a compiler exists, compiles the largest first, and reports progress."""

    progress: Progress
    has_failed = False

    def build_extensions(self) -> None:
        """Compile all modules."""
        problem = c_compiler_check.problem_of(self.compiler)
        if problem:
            raise PlatformError(problem)
        translated(self.extensions)
        sizes = {extension.name: Path(extension.sources[0]).stat().st_size for extension in self.extensions}
        self.extensions.sort(key=lambda extension: -sizes[extension.name])
        with Progress(sizes, is_quiet=not self.distribution.verbose) as self.progress:
            super().build_extensions()

    def build_extension(self, extension: Extension) -> None:
        """Compile a module, unless another one has failed."""
        if self.has_failed:
            return
        try:
            super().build_extension(extension)
        except (BaseError, CCompilerError) as error:
            self.has_failed = True
            raise PlatformError(f"{extension.name} cannot be compiled: {error}. {c_compiler_check.CURE}") from error
        self.progress.finish(extension.name)


if __name__ == "__main__":  # not in the processes that translate modules
    pure = os.environ.get("GRADWALK_PURE") == "1"
    setup(
        ext_modules=[] if pure else [extension(PACKAGE / f"{name}.py") for name in COMPILED],
        cmdclass={"build_ext": BuildModules},
        options={"build_ext": {"parallel": os.cpu_count()}},
    )
