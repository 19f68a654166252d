"""`rebind`: replace names in modules so that their functions accept Values, and undo it."""

from __future__ import annotations

import dis
import gc
import itertools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from types import CodeType, FunctionType, ModuleType
from typing import Any

from gradwalk.adopting.substitutes import ComplexNumber, Float, original_of, substitute_for

Undo = Callable[[], object]
Find = Callable[[Any], Any]  # returns the substitute of an object, or None


def why_left_alone(module: ModuleType) -> str:
    """Return the reason why the functions of a module cannot compute with Values, or "" if they can."""
    if module.__name__.partition(".")[0] in ("builtins", "gradwalk"):
        return "its functions accept Values, or cannot be changed"
    if module.__name__ in sys.builtin_module_names:
        return "it is built into Python"
    if str(getattr(module, "__file__", None) or "").endswith(tuple(EXTENSION_SUFFIXES)):
        return "it is compiled; if the package also has this code in Python, import that"
    for name, x in list(vars(module).items()):
        if type(x).__module__.startswith("numba.") and callable(x):
            return f"numba compiles its function {name}; set sys.modules['numba'] = None before you import the package"
    return ""


def functions_of(modules: Iterable[ModuleType]) -> dict[str, list[FunctionType]]:
    """Return all functions of modules, also functions inside functions, by the name of the module."""
    name_of = {id(vars(module)): module.__name__ for module in modules}
    found: dict[str, list[FunctionType]] = {name: [] for name in name_of.values()}
    for x in gc.get_objects():
        if type(x) is FunctionType and id(x.__globals__) in name_of:
            found[name_of[id(x.__globals__)]].append(x)
    return found


def why_float_is_kept(module: ModuleType, functions: Iterable[FunctionType]) -> str:
    """Return the reason why a module with these functions keeps Python's `float` and `complex`, or ""."""
    functions = list(functions)
    for kind, name in itertools.product((float, complex), list(vars(module))):
        x = vars(module).get(name)
        if isinstance(x, type) and issubclass(x, kind) and x.__module__ == module.__name__:
            return f"it keeps float, because its class {name} is a subclass of {kind.__name__}"
    for called, function in itertools.product(("float", "complex"), functions):
        if _needs_the_class(function.__code__, called):
            where = f"its function {function.__name__} contains `is {called}` or `case {called}()`"
            return f"it keeps float, because {where}"
    return ""


def _needs_the_class(code: CodeType, kind: str) -> bool:
    """Return whether a code object, or one inside it, uses `float` or `complex` where only the class itself will do."""
    return any(
        before.argval == kind and (after.opname == "IS_OP" or has_match)
        for one in _with_inner(code)
        if kind in one.co_names
        for has_match in ["MATCH_CLASS" in {instruction.opname for instruction in dis.get_instructions(one)}]
        for before, after in itertools.pairwise(dis.get_instructions(one))
    )


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all code objects inside it."""
    waiting = [code]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += [constant for constant in one.co_consts if isinstance(constant, CodeType)]


def rebind(
    modules: Iterable[ModuleType], functions: Mapping[str, Iterable[FunctionType]], keeping: Collection[str]
) -> Iterator[Undo]:
    """Replace `math`, `float` and the like in modules; yield functions that undo this, in the order of the changes.

    `functions` has the functions of each module. The modules whose names are in `keeping` keep Python's `float` and
    `complex`.
    """
    for module in modules:
        keeps = module.__name__ in keeping
        find = _substitute_but_float if keeps else substitute_for
        for container in _containers(module):
            yield from _in_container(container, find)
        yield from _in_classes(module, find)
        for function in functions[module.__name__]:
            yield from _in_function(function, find)
            if not keeps:
                used = {name for code in _with_inner(function.__code__) for name in code.co_names}
                yield from _shadowed(function.__globals__, used)


def _substitute_but_float(x: Any) -> Any:
    """Return the substitute of a function or module, or None. `float` and `complex` have none."""
    return None if x is float or x is complex else substitute_for(x)


def restore_copies(is_adopted: Callable[[str], bool]) -> None:
    """Replace substitutes that modules have imported from adopted modules, except in modules that are adopted."""
    for name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        if type(names) is not dict or is_adopted(name) or name.startswith("gradwalk."):
            continue
        for key, x in list(names.items()):
            original = original_of(x)
            if key == "float" and original is float:
                del names[key]
            elif original is not None:
                names[key] = original


def _containers(module: ModuleType) -> Iterator[Any]:
    """Yield the dict of a module's names, and the lists and dicts in it."""
    yield vars(module)
    for name, x in list(vars(module).items()):
        if type(x) in (dict, list) and not name.startswith("__"):
            yield x


def _in_container(container: dict[Any, Any] | list[Any], find: Find) -> Iterator[Undo]:
    items = list(container.items() if isinstance(container, dict) else enumerate(container))
    for key, x in items:
        substitute = find(x)
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


def _in_classes(module: ModuleType, find: Find) -> Iterator[Undo]:
    """Replace attributes of the classes of a module, such as `sqrt = math.sqrt` in the body of a class."""
    for x in list(vars(module).values()):
        if not isinstance(x, type) or x.__module__ != module.__name__:
            continue
        for name, attribute in list(vars(x).items()):
            substitute = find(attribute)
            if substitute is not None:
                # A builtin function does not become a method, and the substitute must not either.
                try:
                    setattr(x, name, staticmethod(substitute) if callable(substitute) else substitute)
                except (AttributeError, TypeError):  # the metaclass does not allow it
                    continue
                yield lambda x=x, name=name, attribute=attribute: setattr(x, name, attribute)  # type: ignore[misc]


def _in_function(function: FunctionType, find: Find) -> Iterator[Undo]:
    """Replace default arguments and variables of the enclosing functions."""
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # the variable has not been assigned yet
            continue
        substitute = find(content)
        if substitute is not None:
            cell.cell_contents = substitute
            yield lambda cell=cell, content=content: setattr(cell, "cell_contents", content)  # type: ignore[misc]
    defaults = function.__defaults__
    if defaults and any(find(x) is not None for x in defaults):
        function.__defaults__ = tuple([x if find(x) is None else find(x) for x in defaults])
        yield lambda: setattr(function, "__defaults__", defaults)
    if function.__kwdefaults__:
        yield from _in_container(function.__kwdefaults__, find)


def _shadowed(names: dict[str, Any], used: Collection[str]) -> Iterator[Undo]:
    """Let a module see `Float` instead of the builtin `float`, and the same for `complex`, if it uses them."""
    for name, substitute in (("float", Float), ("complex", ComplexNumber)):
        if name in used and name not in names:
            names[name] = substitute
            yield lambda name=name, substitute=substitute: (  # type: ignore[misc]
                names.pop(name) if names.get(name) is substitute else None
            )
