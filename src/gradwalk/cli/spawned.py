"""Main module of processes that a program under `gradwalk run` spawns.

This module installs the shims and then runs the program's main module. `multiprocessing` runs this file under the name
`__mp_main__` and uses its globals as the globals of the main module.
"""

from __future__ import annotations

import runpy
from typing import Any

from gradwalk.cli import shim_imports


def _main_module() -> dict[str, Any]:
    """Run the program's main module as `multiprocessing` would, and return its globals."""
    key, value = shim_imports.main_of_child()
    shim_imports.install()
    if key == "init_main_from_path":
        return runpy.run_path(value, run_name="__mp_main__")
    return runpy.run_module(value, run_name="__mp_main__", alter_sys=True) if key else {}


if __name__ == "__mp_main__":
    globals().update(_main_module())
