"""Runs programs that were written for micrograd, unchanged."""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from gradwalk.cli import downloads, shim_imports
from gradwalk.cli.notice import say
from gradwalk.cli.replace import replacement, value_like_class
from gradwalk.cli.replace.value_like_class import ReplacementError

_OURS = {
    __file__,
    replacement.__file__,
    value_like_class.__file__,
    ast.__file__,
}  # tracebacks omit the frames of these files


class NothingToRunError(ImportError):
    """Raised if the module to run is missing or has no Python code."""


@dataclass(frozen=True)
class Ending:
    """The outcome of a program: `error` is the exception that ended it, or None."""

    error: BaseException | None = None

    def report(self) -> int:
        """Print the exception, if any, with a traceback that begins in the program, and return the exit code.

        A `SystemExit` of the program is raised again, so that Python handles it as usual.
        """
        error = self.error
        if error is None:
            return 0
        if isinstance(error, SystemExit):
            raise error
        if downloads.cure(error):
            say(downloads.cure(error))
            return 1
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename in _OURS:
            traceback = traceback.tb_next
        error.__traceback__ = traceback
        sys.excepthook(type(error), error, traceback)
        return 130 if isinstance(error, KeyboardInterrupt) else 1


def as_micrograd() -> None:
    """Make `from micrograd.engine import Value` and `from micrograd.nn import MLP` import gradwalk's classes.

    Call this function in a notebook or in a project's `conftest.py`, before the first import of micrograd. On the
    command line, `gradwalk run script.py` and `gradwalk run -m module` do the same for one program.

    Example:
        >>> as_micrograd()
        >>> from micrograd.engine import Value
        >>> Value.__module__
        'gradwalk.value.value'
    """
    shim_imports.install()


def run(
    script: str,
    arguments: list[str],
    replace: str | None = None,
    *,
    command: str = "run",
    packages: Sequence[str] = (),
) -> Ending:
    """Run a script as `python script arguments...` does, with `micrograd` imported from gradwalk.

    `replace` is the name of a class in the script that is to be replaced by gradwalk's Value. If `replace` is None and
    the script defines a class like micrograd's Value, the user is asked whether to replace the class. Without a
    terminal, or if `command` is not "run", a message about the option --replace is printed instead. `packages` are
    adopted: see `gradwalk.adopt`.

    Raises:
        OSError: The script cannot be read.
        ReplacementError: The class cannot be replaced.
        NothingToRunError: There is no package with one of the names in `packages`.
    """
    source = Path(script).read_bytes()
    name = replace or replacement.offer(source, script, command, ask=command == "run")
    path = script if Path(script).is_absolute() else f"{Path.cwd()}{os.sep}{script}"  # with "./" and "..", as in Python
    main = _new_main(path, loader=SourceFileLoader("__main__", path))
    sys.argv[:] = [script, *arguments]
    _begin_path(str(Path(script).resolve().parent))
    as_micrograd()
    _adopt(packages)
    downloads.look_beside(script, source)
    return _ending(lambda: _execute(source, script, name, vars(main)))


def run_module(module: str, arguments: list[str], packages: Sequence[str] = ()) -> Ending:
    """Run a module as `python -m module arguments...` does, with `micrograd` imported from gradwalk.

    `packages` are adopted: see `gradwalk.adopt`.

    Raises:
        NothingToRunError: The module or one of the packages is missing, or the module has no Python code.
    """
    sys.argv[:] = ["-m", *arguments]
    _begin_path(str(Path.cwd()))
    as_micrograd()
    _adopt(packages)
    return _ending(lambda: _execute_module(module))


def _adopt(packages: Sequence[str]) -> None:
    """Let packages compute with Values until the process ends."""
    try:
        for name in packages:
            importlib.import_module("gradwalk.adopting.adopt").adopt(name)  # imported late: few programs need it
    except ModuleNotFoundError as error:
        raise NothingToRunError(f"--adopt: there is no package {error.name!r}") from None


def _execute_module(module: str) -> None:
    """Find a module, or the `__main__` of a package, and execute it as Python's main module."""
    spec = _spec(module)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _spec(f"{module}.__main__")
        if spec is None:
            raise NothingToRunError(f"the package {module!r} has no module __main__ to run")
    if spec is None:
        raise NothingToRunError(f"there is no module {module!r} to run")
    loader: Any = spec.loader
    code = loader.get_code(spec.name) if hasattr(loader, "get_code") else None
    if code is None:
        raise NothingToRunError(f"the module {module!r} has no Python code to run")
    main = _new_main(str(spec.origin), loader=loader, spec=spec)
    sys.argv[0] = str(spec.origin)
    exec(code, vars(main))


def _spec(module: str) -> ModuleSpec | None:
    """Find a module's spec, importing its parent packages; return None if the module or a parent is missing."""
    try:
        return importlib.util.find_spec(module)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            return None
        raise


def _new_main(path: str, *, loader: Any, spec: ModuleSpec | None = None) -> ModuleType:
    """Create a module `__main__` with Python's usual globals, and install it in `sys.modules`."""
    main = ModuleType("__main__")
    main.__file__ = path
    main.__loader__ = loader
    main.__spec__ = spec
    if spec is not None:
        main.__package__ = spec.parent
    vars(main).update(__cached__=spec and spec.cached, __annotations__={}, __builtins__=builtins)
    sys.modules["__main__"] = main
    return main


def _begin_path(folder: str) -> None:
    """Replace the first entry of `sys.path` by a folder, unless Python runs with `-P`."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _execute(source: bytes, script: str, name: str | None, namespace: dict[str, Any]) -> None:
    """Execute a script in a namespace; if `name` is not None, replace the script's class of this name."""
    if name is None:
        exec(compile(source, script, "exec", dont_inherit=True), namespace)
    else:
        replacement.execute(source, script, name, namespace)


def _ending(program: Callable[[], object]) -> Ending:
    """Run a program and return how it ended."""
    try:
        program()
    except (ReplacementError, NothingToRunError):
        raise
    except BaseException as error:
        return Ending(error)
    return Ending()
