"""Runs programs that were written for micrograd, unchanged."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

# A folder on the path rather than modules made on the fly: processes that the program spawns inherit the path.
_SHIMS = str(Path(__file__).with_name("shims"))


def as_micrograd() -> None:
    """Make `from micrograd.engine import Value` and `from micrograd.nn import MLP` mean gradwalk's, from now on.

    For notebooks; the command line's `gradwalk run script.py` does the same for one script.

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
    """Run a script as `python script arguments...` would, with micrograd's names meaning gradwalk's; the exit code.

    What the script raises is reported as Python would report it, by a traceback that begins in the script. Raises
    `OSError` where the script cannot be read.
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
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # without this very frame
        sys.excepthook(type(error), error, error.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0
