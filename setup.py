"""Compiles the modules that `COMPILED` names; everything else about the package is in pyproject.toml.

Environment variables: GRADWALK_PURE=1 builds a package that runs as plain Python (it has to be asked for: a compiler
that fails is an error), GRADWALK_OPTIMIZE=1 compiles at -O1, for a quick build during development, and
GRADWALK_OWN_VECTORS=1 takes the vector functions of vector_functions.h also where the C library has some, for tests.
"""

import hashlib
import os
import re
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

COMPILED = (
    "ops/evaluate",
    "value/node",
    "value/convert",
    "value/modes",
    "value/order",
    "value/backward",
    "value/variadic",
    "value/refresh",
    "value/pickling",
    "value/value",
    "functions/extended",
    "nn",
    "graph/record",
    "graph/reevaluate",
    "trees/module_treedef",
    "trees/form",
    "trees/module_form",
    "program/instruction_store",
    "program/simplify",
    "program/derivative_templates",
    "program/tame",
    "program/derivatives",
    "program/autodiff",
    "program/load",
    "program/lower",
    "program/tape",
    "program/row_chains",
    "program/row_plan",
    "program/interpreter",
    "program/c_abi",
    "program/program",
    "program/prepared_call",
    "program/loop_runner",
    "program/shapes",
    "program/fold",
    "backend/schedule/analysis",
    "backend/schedule/orders",
    "backend/schedule/allocation",
    "backend/columns",
    "backend/launch",
    "backend/executor",
    "batching/prepared_batch",
    "transforms/sparsity_pattern",
    "transforms/coloring",
)
PACKAGE = Path("src/gradwalk")
BUILD = Path("build/cython")
ON_WINDOWS = sys.platform == "win32"
DIRECTIVES = {
    "cdivision": True,
    "boundscheck": False,
    "freethreading_compatible": sys.platform == "linux",  # where .ci/free_threaded has tested it
}


def flags() -> list[str]:
    """Options of the C compiler.

    Without contraction a*b + c rounds twice everywhere, as it does in Python. That functions set no errno and
    operations no flags changes no result, and lets loops over lanes be vectorised; lanes.h asks at which level.
    """
    level = os.environ.get("GRADWALK_OPTIMIZE", "2" if ON_WINDOWS else "3")
    if ON_WINDOWS:
        return [f"/O{level}", "/fp:precise"]
    exact = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    return [f"-O{level}", f"-DGRADWALK_OPTIMIZE={level}", *exact, "-falign-loops=64"]


def macros(module: Path) -> list[tuple[str, str | None]]:
    """What a module's C is compiled with."""
    found: list[tuple[str, str | None]] = []
    if module == PACKAGE / "value/node.py":  # made through its class's tp_new, which Cython would wrap for vectorcall
        found.append(("CYTHON_VECTORCALL_TPNEW", "0"))
    if os.environ.get("GRADWALK_OWN_VECTORS") == "1":
        found.append(("GRADWALK_OWN_VECTORS", None))
    return found


def sources(module: Path) -> list[Path]:
    """The files that a module is compiled from: itself, its .pxd, and what these cimport and include."""
    found: list[Path] = []
    waiting = [module, module.with_suffix(".pxd")]
    while waiting:
        path = waiting.pop()
        if path in found or not path.exists():
            continue
        found.append(path)
        text = path.read_text(encoding="utf-8")
        waiting += [path.parent / header for header in re.findall(r'(?:extern from|#include) "([^"]+)"', text)]
        for package, names in re.findall(r"^from (gradwalk[\w.]*) cimport (.+)$", text, re.M):
            folder = Path("src", *package.split("."))
            waiting += [folder.with_suffix(".pxd"), *[folder / f"{name}.pxd" for name in re.findall(r"\w+", names)]]
    return sorted(found)


def stamp(module: Path) -> tuple[Path, str]:
    """A C file that is linked into a module, and its text: the digests of the module's sources.

    Tests read them from the compiled module to find out whether it is older than the checkout (tests/helpers/stale.py).
    """
    name = "_".join(module.relative_to(PACKAGE).with_suffix("").parts)
    digests = [f"{path.as_posix()}={hashlib.sha256(path.read_bytes()).hexdigest()}" for path in sources(module)]
    export = "__declspec(dllexport) " if ON_WINDOWS else ""
    text = f'{export}const char gradwalk_sources_of_{name}[] = "gradwalk sources: {" ".join(digests)}";\n'
    return BUILD / "stamps" / f"{name}.c", text


def extension(module: Path) -> Extension:
    """A module, translated to C again if its sources differ from those of the last translation.

    Neither the times of files nor Cython's own list of dependencies would do: Git changes the times, and the list lacks
    the modules that are cimported from packages.
    """
    path, text = stamp(module)
    is_stale = not path.exists() or path.read_text(encoding="utf-8") != text
    [result] = cythonize(
        Extension(
            ".".join(module.relative_to("src").with_suffix("").parts),
            [str(module)],
            extra_compile_args=flags(),
            define_macros=macros(module),
            include_dirs=[str(PACKAGE / folder) for folder in ("value", "backend/cpu", "program")],
            libraries=[] if ON_WINDOWS else ["m"],
        ),
        build_dir=str(BUILD),
        force=is_stale or None,
        include_path=["src"],
        language_level=3,
        compiler_directives=DIRECTIVES,
    )
    if is_stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    result.sources.append(str(path))
    return result


pure = os.environ.get("GRADWALK_PURE") == "1"
setup(
    ext_modules=[] if pure else [extension(PACKAGE / f"{name}.py") for name in COMPILED],
    options={"build_ext": {"parallel": os.cpu_count()}},
)
