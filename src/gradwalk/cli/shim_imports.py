"""Makes `import micrograd` import gradwalk's shims, in this process and in the processes that it spawns.

The import finder comes first in `sys.meta_path`, so it takes precedence over a folder named `micrograd` beside the
script. The script's folder can therefore be `sys.path[0]`, as usual in Python. Child processes of `multiprocessing`
install the finder before they run the main module (see `spawned.py`). Child processes of loky inherit `sys.path` but
not the finder, so the second entry of `sys.path` is the folder of the shims.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

_SHIMS = str(Path(__file__).parent / "shims")
_CHILD = "gradwalk.cli.spawned"  # the module that a child process runs before the main module
_MAIN = ("init_main_from_name", "init_main_from_path")  # the keys for the main module in multiprocessing's data


class ShimFinder:
    """Import finder for the package `micrograd`; Python finds the package's modules through `micrograd.__path__`."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of the shim for `micrograd`, and None for any other module."""
        return PathFinder.find_spec(name, [_SHIMS], target) if name == "micrograd" else None


def install() -> None:
    """Make `import micrograd` import gradwalk's shims from now on."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "micrograd"]:
        del sys.modules[name]
    if ShimFinder in sys.meta_path:
        sys.meta_path.remove(ShimFinder)
    sys.meta_path.insert(0, ShimFinder)
    if _SHIMS not in sys.path:
        sys.path.insert(1, _SHIMS)
    if sys.platform != "emscripten":  # WebAssembly cannot start processes
        spawn: Any = import_module("multiprocessing.spawn")
        if not hasattr(spawn.get_preparation_data, "__wrapped__"):
            spawn.get_preparation_data = _with_child(spawn.get_preparation_data)


def main_of_child() -> tuple[str, str]:
    """Return the main module that the parent process stored in `sys.path[0]`, and remove this entry.

    The result is a pair: a key of `_MAIN`, and the module's name or path. Both are "" if there is no main module.
    """
    key, _, value = sys.path.pop(0).partition("=")
    return key, value


def _with_child(prepared: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    """Wrap multiprocessing's `get_preparation_data` so that children run `spawned.py` first."""

    @wraps(prepared)
    def get_preparation_data(name: str) -> dict[str, Any]:
        data = prepared(name)
        key = next((key for key in _MAIN if key in data), "")
        value = data.pop(key, "")
        if value.endswith(".__main__"):  # multiprocessing does not run such modules in children
            key = value = ""
        data["sys_path"] = [f"{key}={value}", *data["sys_path"]]
        data["init_main_from_name"] = _CHILD
        return data

    return get_preparation_data
