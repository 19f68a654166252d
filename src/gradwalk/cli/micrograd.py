"""Runs programs that were written for micrograd, unchanged."""

from __future__ import annotations

import importlib.util
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

# A folder on the path, and not modules made on the fly, because processes that a program spawns inherit the path.
_SHIMS = str(Path(__file__).with_name("shims"))


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


def run(script: str, arguments: list[str]) -> int:
    """Run a script as `python script arguments...` would, with micrograd's names meaning gradwalk's.

    An exception of the script is reported as Python would report it, by a traceback that begins in the script.

    Args:
        script: The path of the script.
        arguments: The script's own arguments.

    Returns:
        The exit code.

    Raises:
        OSError: The script cannot be read.
        SystemExit: The script raised it.
    """
    source = Path(script).read_bytes()
    main = ModuleType("__main__")
    main.__file__ = script
    sys.modules["__main__"] = main
    sys.argv[:] = [script, *arguments]
    sys.path[0] = str(Path(script).parent.resolve())
    as_micrograd()
    return _exit_code(lambda: exec(compile(source, script, "exec", dont_inherit=True), vars(main)))


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


def _exit_code(program: Callable[[], object]) -> int:
    """Run a program, and report its exceptions as Python does."""
    try:
        program()
    except SystemExit:
        raise
    except BaseException as error:
        # The traceback begins in the program, without the frames of this module.
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
            traceback = traceback.tb_next
        error.__traceback__ = traceback
        sys.excepthook(type(error), error, traceback)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0
