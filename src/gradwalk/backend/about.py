"""What an installation is: versions, how it was compiled, and what it computes with."""

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

# NumPy, and the packages that gradwalk's extras for users name.
PACKAGES = (
    "numpy",
    "anywidget",
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
    """What `about` returns. Its text is for reports of errors and of speed.

    Attributes:
        version: That of gradwalk.
        python: Which Python, and its version.
        platform: The operating system, the processor, and musl where it is the C library.
        has_gil: Whether the interpreter has its lock: False in free-threaded runs.
        compiler: What gradwalk was compiled with; empty where it runs as plain Python.
        instruction_sets: Those that loops over batches are compiled for and this machine has, the smallest first.
        instruction_set: The one that kernels are made for now.
        vectors: Where functions such as `exp` of vectors come from: "libmvec" or "gradwalk"; "none" where each number
            is computed by itself.
        glibc: The version of the GNU C library that gradwalk runs with; empty elsewhere, and where it is plain Python.
        cores: How many cores this process may use.
        threads: How many threads batches run in now.
        packages: The versions of NumPy and of optional packages, None for those that are missing.

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
            "python": f"{self.python}, {'with' if self.has_gil else 'without'} the interpreter's lock",
            "platform": self.platform,
            "instructions": f"{self.instruction_set}, of {', '.join(self.instruction_sets)}",
            "functions": self._functions(),
            "threads": f"{self.threads}, on {self.cores} core{'s' * (self.cores != 1)}",
            "packages": ", ".join(present),
            "missing": ", ".join(missing) or "none",
        }
        return "\n".join([f"{name:<13} {text}" for name, text in lines.items()])

    def _functions(self) -> str:
        """What `vectors` means."""
        if self.vectors == "libmvec":
            return f"vectors, by libmvec of glibc {self.glibc}"
        if self.vectors == "gradwalk":
            *others, last = launch.ROW_FUNCTIONS
            return f"{', '.join(others)} and {last} in vectors, by gradwalk; others one number at a time"
        return "one number at a time"


def about() -> About:
    """Say what this installation of gradwalk is: `print(gradwalk.about())` belongs in a report of an error.

    Returns:
        Versions, how gradwalk was compiled, and what it computes with. As text, a line for each.

    Raises:
        ValueError: Where GRADWALK_INSTRUCTION_SET names one that this machine does not have.

    Example:
        >>> about().threads > 0
        True
    """
    return About(
        version=import_module("gradwalk").__version__,  # which imports this module for those who ask
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
    """Python's name of the system, to which musl is added: not all versions of Python know it."""
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
