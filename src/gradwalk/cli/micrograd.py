"""Runs programs that were written for micrograd, unchanged."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

# A folder on the path, and not modules made on the fly, because processes that a program spawns inherit the path.
_SHIMS = str(Path(__file__).with_name("shims"))


def as_micrograd() -> None:
    """Make `from micrograd.engine import Value` and `from micrograd.nn import MLP` import gradwalk's, from now on.

    This is for notebooks; `gradwalk run script.py` on the command line does it for one script.

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
    try:
        exec(compile(source, script, "exec", dont_inherit=True), vars(main))
    except SystemExit:
        raise
    except BaseException as error:
        # The traceback begins in the script, without the frame of this function.
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0
