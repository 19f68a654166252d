"""`LaterImports`: an import finder that calls a function after each import of a module of some packages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class LaterImports(MetaPathFinder):
    """Finds modules with the other finders of `sys.meta_path`, and calls a function after the module has run.

    Args:
        is_wanted: A function that takes the name of a module.
        then: The function to call, which takes the module.
    """

    def __init__(self, is_wanted: Callable[[str], bool], then: Callable[[ModuleType], object]) -> None:
        self._is_wanted, self._then = is_wanted, then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that the next finder returns, with a loader that calls the function after loading."""
        if not self._is_wanted(fullname):
            return None
        for finder in sys.meta_path:
            found = finder.find_spec(fullname, path, target) if finder is not self else None
            if found is not None:
                if found.loader is not None:
                    found.loader = _Loader(found.loader, self._then)
                return found
        return None


class _Loader(Loader):
    """A loader that calls a function after a module has run. It then puts the original loader back."""

    def __init__(self, loader: Any, then: Callable[[ModuleType], object]) -> None:
        self._loader, self._then = loader, then

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        spec.loader = self._loader
        try:
            module: ModuleType | None = self._loader.create_module(spec)
        finally:
            spec.loader = self
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._then(module)
