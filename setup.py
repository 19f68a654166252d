"""Compiles the modules that `COMPILED` names; everything else about the package is in pyproject.toml."""

import os
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

COMPILED = [
    f"src/gradwalk/{name}.py"
    for name in (
        "ops/evaluate",
        "value/node",
        "value/convert",
        "value/modes",
        "value/order",
        "value/backward",
        "value/reductions",
        "value/refresh",
        "value/pickling",
        "value/value",
        "nn",
        "graph/record",
        "graph/reevaluate",
        "trees/module_treedef",
        "program/instruction_store",
        "program/simplify",
        "program/autodiff",
        "program/load",
        "program/lower",
        "program/tape",
        "program/interpreter",
        "program/c_abi",
        "program/program",
        "backend/schedule",
        "backend/executor",
        "transforms/sparsity_pattern",
        "transforms/coloring",
    )
]

# GRADWALK_PURE=1 builds a package that runs as plain Python. It has to be asked for: a compiler that fails is an error.
pure = os.environ.get("GRADWALK_PURE") == "1"

# Without contraction a*b + c rounds twice everywhere, as it does in Python. That functions set no errno and operations
# no flags changes no result, and lets loops over lanes be vectorised.
on_windows = sys.platform == "win32"
flags = (
    ["/O2", "/fp:precise"]
    if on_windows
    else ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-falign-loops=64"]
)

setup(
    ext_modules=[]
    if pure
    else cythonize(
        [
            Extension(
                path.removeprefix("src/").removesuffix(".py").replace("/", "."),
                [path],
                extra_compile_args=flags,
                # Nodes are made through their class's tp_new, which Cython would otherwise wrap for vectorcall.
                define_macros=[("CYTHON_VECTORCALL_TPNEW", "0")] if path.endswith("value/node.py") else [],
                include_dirs=["src/gradwalk/backend/cpu"],
                depends=["src/gradwalk/backend/cpu/lanes.h", "src/gradwalk/backend/cpu/lane_loops.h"]
                if path.endswith("executor.py")
                else [],
                libraries=[] if on_windows else ["m"],
            )
            for path in COMPILED
        ],
        build_dir="build/cython",
        include_path=["src"],
        language_level=3,
        compiler_directives={"cdivision": True, "boundscheck": False},
    )
)
