"""`rebind`: replace names in modules so that their functions accept Values, and undo it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from types import CodeType, FunctionType, ModuleType
from typing import Any

from gradwalk.adopting.substitutes import Float, substitute_for

Undo = Callable[[], object]


def why_left_alone(module: ModuleType) -> str:
    """Return the reason why the functions of a module cannot compute with Values, or "" if they can."""
    if str(getattr(module, "__file__", None) or "").endswith(tuple(EXTENSION_SUFFIXES)):
        return "it is compiled; if the package also has this code in Python, import that"
    for name, x in list(vars(module).items()):
        if type(x).__module__.startswith("numba.") and callable(x):
            return f"numba compiles its function {name}; set sys.modules['numba'] = None before you import the package"
    return ""


def why_float_is_kept(module: ModuleType) -> str:
    """Return the reason why a module keeps Python's `float`, or ""."""
    for name, x in list(vars(module).items()):
        if isinstance(x, type) and issubclass(x, float) and x.__module__ == module.__name__:
            return f"it keeps float, because its class {name} is a subclass of float"
    return ""


def rebind(modules: Iterable[ModuleType]) -> list[Undo]:
    """Replace `math`, `float` and the like in modules; return functions that undo this, in the order of the changes."""
    found = {id(vars(module)): module for module in modules}
    keeping = {key for key, module in found.items() if why_float_is_kept(module)}
    undo: list[Undo] = []
    for module in found.values():
        for container in _containers(module):
            undo += _in_container(container)
        undo += _in_classes(module)
    for function in gc.get_objects():
        if type(function) is FunctionType and id(function.__globals__) in found:
            undo += _in_function(function)
            if id(function.__globals__) not in keeping and _uses(function.__code__, "float"):
                undo += _shadowed(function.__globals__)
    return undo


def _containers(module: ModuleType) -> Iterator[Any]:
    """Yield the dict of a module's names, and the lists and dicts in it."""
    yield vars(module)
    for name, x in list(vars(module).items()):
        if type(x) in (dict, list) and not name.startswith("__"):
            yield x


def _in_container(container: dict[Any, Any] | list[Any]) -> Iterator[Undo]:
    items = list(container.items() if isinstance(container, dict) else enumerate(container))
    for key, x in items:
        substitute = substitute_for(x)
        if substitute is not None:
            container[key] = substitute
            yield _restoring(container, key, x, substitute)


def _restoring(container: Any, key: Any, x: Any, substitute: Any) -> Undo:
    """Return a function that puts `x` back, unless other code has replaced the substitute."""

    def undo() -> None:
        try:
            if container[key] is substitute:
                container[key] = x
        except LookupError:
            pass  # other code has removed the entry

    return undo


def _in_classes(module: ModuleType) -> Iterator[Undo]:
    """Replace attributes of the classes of a module, such as `sqrt = math.sqrt` in the body of a class."""
    for x in list(vars(module).values()):
        if not isinstance(x, type) or x.__module__ != module.__name__:
            continue
        for name, attribute in list(vars(x).items()):
            substitute = substitute_for(attribute)
            if substitute is not None:
                # A builtin function does not become a method, and the substitute must not either.
                setattr(x, name, staticmethod(substitute) if callable(substitute) else substitute)
                yield lambda x=x, name=name, attribute=attribute: setattr(x, name, attribute)  # type: ignore[misc]


def _in_function(function: FunctionType) -> Iterator[Undo]:
    """Replace default arguments and variables of the enclosing functions."""
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # the variable has not been assigned yet
            continue
        substitute = substitute_for(content)
        if substitute is not None:
            cell.cell_contents = substitute
            yield lambda cell=cell, content=content: setattr(cell, "cell_contents", content)  # type: ignore[misc]
    defaults = function.__defaults__
    if defaults and any(substitute_for(x) is not None for x in defaults):
        function.__defaults__ = tuple(_or_substitute(x) for x in defaults)
        yield lambda: setattr(function, "__defaults__", defaults)
    if function.__kwdefaults__:
        yield from _in_container(function.__kwdefaults__)


def _or_substitute(x: Any) -> Any:
    substitute = substitute_for(x)
    return x if substitute is None else substitute


def _shadowed(names: dict[str, Any]) -> Iterator[Undo]:
    """Let a module see `Float` instead of the builtin `float`."""
    if "float" not in names:
        names["float"] = Float
        yield lambda: names.pop("float") if names.get("float") is Float else None


def _uses(code: CodeType, name: str) -> bool:
    """Return whether a code object, or one inside it, uses a global name."""
    waiting = [code]
    while waiting:
        one = waiting.pop()
        if name in one.co_names:
            return True
        waiting += [constant for constant in one.co_consts if isinstance(constant, CodeType)]
    return False
