"""The build backend: setuptools, which needs Cython and a C compiler only if modules are compiled.

pip asks for the requirements before it downloads or copies anything, so a missing compiler is reported at once.
"""

from __future__ import annotations

import os
from typing import Any

import c_compiler_check
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = (
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return Cython, or nothing with GRADWALK_PURE=1; exit with an explanation if there is no working C compiler."""
    if os.environ.get("GRADWALK_PURE") == "1":
        return []
    problem = c_compiler_check.problem()
    if problem:
        raise SystemExit(problem)
    return ["Cython>=3.1"]


get_requires_for_build_editable = get_requires_for_build_wheel
