"""`about`: versions, compiler, instruction set and number of threads of this installation."""

from __future__ import annotations

import platform
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from gradwalk.backend import launch, thread_pool
from gradwalk.backend.lane_kernel import chosen_instruction_set

# NumPy and the optional packages that gradwalk's extras install for users (not those for its developers).
PACKAGES = (
    "numpy",
    "anywidget",
    "av",
    "casadi",
    "cyipopt",
    "dask",
    "jax",
    "joblib",
    "llvmlite",
    "optree",
    "pillow",
    "pytensor",
    "ray",
    "resvg-py",
    "scikit-learn",
    "scipy",
    "torch",
    "tqdm",
)


@dataclass(frozen=True)
class About:
    """A description of this installation, returned by `about`. Print it and include the text in bug reports.

    Attributes:
        version: The version of gradwalk.
        python: The Python implementation and its version.
        platform: The operating system and the processor, followed by "musl" if musl is the C library.
        has_gil: Whether the GIL is enabled: False in free-threaded runs.
        compiler: The C compiler that gradwalk was compiled with; empty if gradwalk runs as plain Python.
        instruction_sets: Instruction sets that this machine supports and that the batch kernels are compiled for, in
            ascending order.
        instruction_set: The instruction set that new kernels use.
        vectors: Source of vectorized functions such as `exp`: "libmvec" or "gradwalk"; "none" if they are computed one
            number at a time.
        glibc: The version of the GNU C library; empty with other C libraries and in plain Python.
        cores: Number of cores that this process may use.
        threads: Number of threads that run batches.
        packages: Versions of NumPy and the optional packages; None for a package that is not installed.

    Example:
        >>> about().vectors in ("libmvec", "gradwalk", "none")
        True
    """

    version: str
    python: str
    platform: str
    has_gil: bool
    compiler: str
    instruction_sets: tuple[str, ...]
    instruction_set: str
    vectors: str
    glibc: str
    cores: int
    threads: int
    packages: Mapping[str, str | None]

    def __str__(self) -> str:
        present = [f"{name} {found}" for name, found in self.packages.items() if found is not None]
        missing = [name for name, found in self.packages.items() if found is None]
        lines = {
            "gradwalk": f"{self.version}, {f'compiled by {self.compiler}' if self.compiler else 'plain Python'}",
            "python": f"{self.python}, {'with' if self.has_gil else 'without'} the GIL",
            "platform": self.platform,
            "instructions": f"{self.instruction_set}, of {', '.join(self.instruction_sets)}",
            "functions": self._functions(),
            "threads": f"{self.threads}, on {self.cores} core{'s' * (self.cores != 1)}",
            "packages": ", ".join(present),
            "missing": ", ".join(missing) or "none",
        }
        return "\n".join([f"{name:<13} {text}" for name, text in lines.items()])

    def _functions(self) -> str:
        """Describe `vectors` in words."""
        if self.vectors == "libmvec":
            return f"vectorized by libmvec of glibc {self.glibc}"
        if self.vectors == "gradwalk":
            *others, last = launch.ROW_FUNCTIONS
            return f"{', '.join(others)} and {last} vectorized by gradwalk; other functions one number at a time"
        return "one number at a time"


def about() -> About:
    """Describe this installation of gradwalk. Include the output of `print(gradwalk.about())` in bug reports.

    Returns:
        Versions, compiler, instruction set and number of threads. `str` formats it with one item per line.

    Raises:
        ValueError: If this machine lacks the instruction set that GRADWALK_INSTRUCTION_SET names.

    Example:
        >>> about().threads > 0
        True
    """
    return About(
        version=import_module("gradwalk").__version__,  # imported here because gradwalk imports this module
        python=f"{platform.python_implementation()} {platform.python_version()}",
        platform=_platform(),
        has_gil=getattr(sys, "_is_gil_enabled", lambda: True)(),
        compiler=launch.COMPILER,
        instruction_sets=launch.INSTRUCTION_SETS,
        instruction_set=chosen_instruction_set(),
        vectors=_vectors(),
        glibc=launch.GLIBC,
        cores=thread_pool.cores(),
        threads=thread_pool.available(),
        packages={name: _version(name) for name in PACKAGES},
    )


def _platform() -> str:
    """Return Python's name of the platform, followed by "musl" on musl systems, which some Pythons do not detect."""
    names = [platform.platform(), platform.machine()]
    is_musl = "linux-musl" in sysconfig.get_config_var("EXT_SUFFIX")
    return ", ".join([*names, "musl"] if is_musl else names)


def _vectors() -> str:
    if launch.USES_LIBMVEC:
        return "libmvec"
    return "gradwalk" if launch.USES_OWN_FUNCTIONS else "none"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
