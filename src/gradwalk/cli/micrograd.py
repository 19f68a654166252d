"""Runs programs that were written for micrograd, unchanged."""

from __future__ import annotations

import ast
import importlib.util
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from gradwalk.cli import downloads, own_class, replacement
from gradwalk.cli.notice import say
from gradwalk.cli.own_class import ReplacementError

_HERE = Path(__file__).parent
_OURS = {__file__, replacement.__file__, own_class.__file__, ast.__file__}  # the frames above those of a script
# A folder on the path, and not modules made on the fly, because processes that a program spawns inherit the path.
_SHIMS = str(_HERE / "shims")


def as_micrograd() -> None:
    """Make `from micrograd.engine import Value` and `from micrograd.nn import MLP` import gradwalk's, from now on.

    This is for notebooks, and for the `conftest.py` of a project's tests. On the command line, `gradwalk run script.py`
    and `gradwalk run -m module` do it for one program.

    Example:
        >>> as_micrograd()
        >>> from micrograd.engine import Value
        >>> Value.__module__
        'gradwalk.value.value'
    """
    for name in [name for name in sys.modules if name.partition(".")[0] == "micrograd"]:
        del sys.modules[name]
    if sys.path[:1] != [_SHIMS]:
        sys.path.insert(0, _SHIMS)


def run(script: str, arguments: list[str], replace: str | None = None, *, command: str = "run") -> int:
    """Run a script as `python script arguments...` would, with micrograd's names meaning gradwalk's.

    An exception of the script is reported as Python would report it, by a traceback that begins in the script.

    Args:
        script: The path of the script.
        arguments: The script's own arguments.
        replace: The class of the script that gradwalk's Value takes the place of. Without it, a script that defines
            such a class is told what it could be; `run` asks where there is a terminal.
        command: The command that was given.

    Returns:
        The exit code.

    Raises:
        OSError: The script cannot be read.
        ReplacementError: The class cannot be replaced.
        SystemExit: The script raised it.
    """
    source = Path(script).read_bytes()
    name = replace or replacement.offer(source, script, command, ask=command == "run")
    main = ModuleType("__main__")
    main.__file__ = str(Path(script).absolute())
    sys.modules["__main__"] = main
    sys.argv[:] = [script, *arguments]
    sys.path[0] = str(Path(script).parent.resolve())
    as_micrograd()
    downloads.look_beside(script, source)
    return _exit_code(lambda: _execute(source, script, name, vars(main)))


def run_module(module: str, arguments: list[str]) -> int:
    """Run a module as `python -m module arguments...` would, with micrograd's names meaning gradwalk's.

    Args:
        module: The name of the module, such as `"pytest"`.
        arguments: Its arguments.

    Returns:
        The exit code.

    Raises:
        ModuleNotFoundError: There is no such module.
        SystemExit: The module raised it.
    """
    sys.argv[:] = [module, *arguments]
    sys.path[0] = str(Path.cwd())
    as_micrograd()
    if importlib.util.find_spec(module) is None:
        raise ModuleNotFoundError(f"there is no module {module!r} to run")
    return _exit_code(lambda: runpy.run_module(module, run_name="__main__", alter_sys=True))


def _execute(source: bytes, script: str, name: str | None, namespace: dict[str, Any]) -> None:
    """Execute a script in a namespace, with one of its classes replaced where a name is given."""
    if name is None:
        exec(compile(source, script, "exec", dont_inherit=True), namespace)
    else:
        replacement.execute(source, script, name, namespace)


def _exit_code(program: Callable[[], object]) -> int:
    """Run a program, and report its exceptions as Python does."""
    try:
        program()
    except (SystemExit, ReplacementError):
        raise
    except BaseException as error:
        if downloads.cure(error):
            say(downloads.cure(error))
            return 1
        # The traceback begins in the program, without the frames above it.
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename in _OURS:
            traceback = traceback.tb_next
        error.__traceback__ = traceback
        sys.excepthook(type(error), error, traceback)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0
