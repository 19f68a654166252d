"""`adopt`: let modules of other packages compute with Values, without changing their source."""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
from importlib.util import find_spec
from types import ModuleType, TracebackType
from typing import Any

from gradwalk.adopting.later_imports import LaterImports
from gradwalk.adopting.rebinding import Undo, functions_of, rebind, restore_copies, why_float_is_kept, why_left_alone

_lock = threading.RLock()
_packages: dict[str, _Package] = {}


class _Package:
    """An adopted package.

    Attributes:
        name: Name of the package or module.
        count: The number of adoptions that have not ended.
        adopted: Names of the modules that compute with Values.
        left: Maps the names of modules that were not changed, or not completely, to the reason.
    """

    def __init__(self, name: str) -> None:
        self.name, self.count = name, 0
        self.adopted: list[str] = []
        self.left: dict[str, str] = {}
        self._undo: list[Undo] = []

    def has(self, module: str) -> bool:
        """Return whether a module belongs to the package."""
        return module == self.name or module.startswith(f"{self.name}.")

    def take(self, modules: list[ModuleType]) -> None:
        """Rebind names in modules of the package."""
        taken = []
        for module in modules:
            reason = why_left_alone(module)
            if reason:
                self.left[module.__name__] = reason
                continue
            taken.append(module)
            if module.__name__ not in self.adopted:
                self.adopted.append(module.__name__)
        functions = functions_of(taken)
        reasons = {module.__name__: why_float_is_kept(module, functions[module.__name__]) for module in taken}
        keeping = {name: reason for name, reason in reasons.items() if reason}
        self.left |= keeping
        for undo in rebind(taken, functions, keeping):
            self._undo.append(undo)

    def restore(self) -> None:
        """Undo all changes."""
        while self._undo:
            self._undo.pop()()


class Adoption:
    """The result of `adopt`: a context manager that restores the packages at its end.

    Attributes:
        modules: Names of the modules that compute with Values, sorted.
        left_alone: Maps the names of modules that were not changed, or not completely, to the reason.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._packages = [_packages[name] for name in names]
        self._is_open = True

    def __enter__(self) -> Adoption:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.restore()

    @property
    def modules(self) -> list[str]:
        """Names of the modules that compute with Values, sorted."""
        return sorted(module for package in self._packages for module in package.adopted)

    @property
    def left_alone(self) -> dict[str, str]:
        """The modules that were not changed, or not completely, with the reason."""
        return {name: reason for package in self._packages for name, reason in sorted(package.left.items())}

    def restore(self) -> None:
        """Let the packages be as before, unless another `adopt` of them has not ended. A second call does nothing."""
        with _lock:
            if not self._is_open:
                return
            self._is_open = False
            for name in self._names:
                package = _packages[name]
                package.count -= 1
                if package.count == 0:
                    package.restore()
                    del _packages[name]
            restore_copies(_is_adopted)
            if not _packages and _finder in sys.meta_path:
                sys.meta_path.remove(_finder)

    def __repr__(self) -> str:
        if not self._is_open:
            return f"<restored {', '.join(self._names)}>"
        lines = [f"<adopted {', '.join(self._names)}: {_counted(len(self.modules))} with Values"]
        lines += [f"  left alone: {name}: {reason}" for name, reason in self.left_alone.items()]
        return "\n".join(lines) + ">"


def _counted(count: int) -> str:
    return "1 module computes" if count == 1 else f"{count} modules compute"


def adopt(*packages: str) -> Adoption:
    """Let modules of other packages compute with Values, so that gradwalk differentiates their functions unmodified.

    In all modules of the packages, also in modules that are imported later, names of `math` and `cmath`, their
    functions, `float`, `complex`, `numbers.Real`, `numbers.Complex` and `numbers.Number` refer to versions that accept
    Values. This includes closures, default arguments, class attributes, and module-level lists and dicts.
    `isinstance(v, float)` holds for a Value, `float(v)` is the Value itself, `complex(v, w)` is a `Complex`, and
    `numpy.asarray(v, dtype=float)` is an object array. Plain numbers give the same results and exceptions as before.

    Compiled modules, and modules whose functions numba compiles, are left alone. Modules with a subclass of float or
    complex, or with a test such as `dtype is float`, keep `float` and `complex`. `left_alone` names them.

    Args:
        *packages: Names of packages or modules, such as "fluids" or "fluids.friction".

    Returns:
        An `Adoption`. Use it as a context manager, or call its `restore()`, to undo all changes.

    Raises:
        TypeError: A name is not a str, or there is no name.
        ModuleNotFoundError: There is no such package.

    Warns:
        UserWarning: A package has been imported, and none of its modules can be adopted.

    Example:
        >>> import colorsys
        >>> from gradwalk import grad
        >>> with adopt("colorsys"):
        ...     round(grad(lambda r: colorsys.rgb_to_yiq(r, 0.5, 0.2)[0])(0.3), 12)
        0.3
    """
    if not packages or not all(isinstance(name, str) for name in packages):
        raise TypeError(f"adopt() takes names of packages, such as adopt('fluids'), got {packages!r:.80}")
    for name in packages:
        if name not in sys.modules and not _exists(name):
            raise ModuleNotFoundError(f"adopt: there is no package {name!r}", name=name)
    names = tuple(dict.fromkeys(packages))
    with _lock:
        if _finder not in sys.meta_path:
            sys.meta_path.insert(0, _finder)
        for name in names:
            package = _packages.setdefault(name, _Package(name))
            package.count += 1
        with contextlib.ExitStack() as unless_adopted:
            adoption = unless_adopted.enter_context(Adoption(names))
            for name in names:
                if _packages[name].count == 1:
                    _packages[name].take(_loaded(_packages[name]))
                if name in sys.modules and not _packages[name].adopted:
                    reasons = "; ".join(f"{module}: {reason}" for module, reason in _packages[name].left.items())
                    warnings.warn(f"adopt({name!r}) has changed no module. {reasons}", stacklevel=2)
            unless_adopted.pop_all()
    return adoption


def _exists(name: str) -> bool:
    """Return whether a module can be imported. Imports its parent packages."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # a parent is missing, or is not a package
        return False


def _loaded(package: _Package) -> list[ModuleType]:
    """Return the modules of a package that have been imported, each once."""
    found: dict[int, Any] = {id(module): module for name, module in list(sys.modules.items()) if package.has(name)}
    return [module for module in found.values() if isinstance(module, ModuleType)]


def _is_adopted(module: str) -> bool:
    return any(package.has(module) for package in list(_packages.values()))


def _adopt_later(module: ModuleType) -> None:
    """Rebind names in a module that has just been imported."""
    with _lock:
        for package in _packages.values():
            if package.has(module.__name__):
                package.take([module])


_finder = LaterImports(_is_adopted, _adopt_later)
