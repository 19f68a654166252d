"""Compiles the modules that `COMPILED` names; everything else about the package is in pyproject.toml."""

import os
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

COMPILED = [f"src/gradwalk/{name}.py" for name in ("engine", "nn", "program", "replay", "rules", "sparsity", "tape")]

# GRADWALK_PURE=1 builds a package that runs as plain Python. It has to be asked for: a compiler that fails is an error.
pure = os.environ.get("GRADWALK_PURE") == "1"

# Without contraction a*b + c rounds twice everywhere, as it does in Python.
flags = ["/O2", "/fp:precise"] if sys.platform == "win32" else ["-O3", "-ffp-contract=off"]

setup(
    ext_modules=[]
    if pure
    else cythonize(
        [
            Extension(path.removeprefix("src/").removesuffix(".py").replace("/", "."), [path], extra_compile_args=flags)
            for path in COMPILED
        ],
        build_dir="build/cython",
        include_path=["src"],
        language_level=3,
        compiler_directives={"cdivision": True, "boundscheck": False},
    )
)
