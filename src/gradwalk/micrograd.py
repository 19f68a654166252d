"""Runs programs that were written for micrograd, unchanged."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

from gradwalk import engine, nn


def as_micrograd() -> None:
    """Make `from micrograd.engine import Value` and `from micrograd.nn import MLP` mean gradwalk's, from now on.

    For notebooks; the command line's `gradwalk run script.py` does the same for one script.

    >>> as_micrograd()
    >>> from micrograd.engine import Value
    >>> Value.__module__
    'gradwalk.engine'
    """
    package = ModuleType("micrograd", "gradwalk under the name of micrograd")
    package.__path__ = []  # what makes it a package, so that `import micrograd.nn` looks further
    modules = {"micrograd": package}
    for name, source, classes in (("engine", engine, ["Value"]), ("nn", nn, ["Module", "Neuron", "Layer", "MLP"])):
        module = ModuleType(f"micrograd.{name}", source.__doc__)
        for exported in classes:
            setattr(module, exported, getattr(source, exported))
        setattr(package, name, module)
        modules[module.__name__] = module
    nn_module = modules["micrograd.nn"]
    nn_module.Value = engine.Value  # type: ignore[attr-defined]  # as there, where nn imports it
    sys.modules.update(modules)


def run(script: str, arguments: list[str]) -> int:
    """Run a script as `python script arguments...` would, with micrograd's names meaning gradwalk's; the exit code.

    What the script raises is reported as Python would report it, by a traceback that begins in the script. Raises
    `OSError` where the script cannot be read.
    """
    source = Path(script).read_bytes()
    as_micrograd()
    main = ModuleType("__main__")
    main.__file__ = script
    sys.modules["__main__"] = main
    sys.argv[:] = [script, *arguments]
    sys.path[0] = str(Path(script).parent.resolve())
    try:
        exec(compile(source, script, "exec"), vars(main))
    except Exception as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # without this very frame
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0
