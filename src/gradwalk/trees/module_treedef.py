"""`ModuleTreeDef`: flatten and unflatten Modules. Compiled, because every call with a Module does both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.nn import (
    PENDING,
    Module,
    Number,
    Numbers,
    is_other_collection,
    mark,
    materialize,
    other_collections,
    refusal,
    set_attributes,
    values_within,
    with_slots,
)
from gradwalk.trees import attributes
from gradwalk.value.modes import depth
from gradwalk.value.node import parameter_of
from gradwalk.value.value import Value

if not TYPE_CHECKING and cython.compiled:
    import cython

# The kinds of children of a Module. Except for _COLLECTION, a kind is the position of the child's base class in _BASES.
_VALUE = cython.declare(cython.int, 0)
_NUMBER = cython.declare(cython.int, 1)
_MODULE = cython.declare(cython.int, 2)
_DICT = cython.declare(cython.int, 3)
_LIST = cython.declare(cython.int, 4)
_TUPLE = cython.declare(cython.int, 5)
_ARRAY = cython.declare(cython.int, 6)
_FLOAT = cython.declare(cython.int, 7)
_OTHER = cython.declare(cython.int, 8)
_COLLECTION = cython.declare(cython.int, 9)  # a set, for example; its Values cannot be parameters
_BASES: tuple[Any, ...] = (Value, (Number, Numbers), Module, dict, list, tuple, numpy.ndarray, float, object)
_kinds = cython.declare(dict, {})  # cached kinds of classes


class ModuleTreeDef:
    """The structure of a Module without its parameters: its classes, containers and all other attributes.

    Treedefs of Modules that differ only in the numbers of their parameters are equal.

    Attributes:
        nodes: One entry for the Module itself, then one for each Module and container in it. An entry has the class,
            the keys of the children (the shape for an array; None for a list or tuple), and a code for each child. A
            code i >= 0 means parameter i, and -1 - i means node i. Any other child is static. Its code is a tuple: the
            last item is the child itself, and the other items distinguish it from objects that compare equal.
        size: The number of parameters.
    """

    def __init__(self, nodes: tuple[tuple[type, Any, tuple[Any, ...]], ...], size: int) -> None:
        self.nodes = nodes
        self.size = size
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModuleTreeDef) and self.nodes == other.nodes

    def __hash__(self) -> int:
        if self._hash is None:
            try:
                self._hash = hash(self.nodes)
            except TypeError:
                raise self._unhashable() from None
        return self._hash

    def __reduce__(self) -> Any:
        return ModuleTreeDef, (self.nodes, self.size)  # without the hash, which differs between processes

    def __str__(self) -> str:
        return f"{self.nodes[0][0].__name__} with {self.size} parameters"

    def unflatten(self, leaves: Sequence[Any]) -> Any:
        """Return a new Module with these parameters and with new containers, without running `__init__`.

        Each leaf is a number, a Value or an array.
        """
        placed: list[Any] = [_placed(leaf) for leaf in leaves]
        built: list[Any] = [_shell(cls, keys) for cls, keys, _ in self.nodes]
        k: cython.int
        for k in range(len(built) - 1, -1, -1):  # backwards, since the items of a tuple must be built before the tuple
            cls, keys, codes = self.nodes[k]
            built[k] = _filled(built[k], cls, keys, [_part(code, placed, built) for code in codes])
        return built[0]

    def names(self, root: str) -> list[str]:
        """Return a name for every parameter, such as `model.layers[0].w[1]`; `root` is the name of the Module."""
        names: dict[int, str] = {}
        for path, code in self._paths(root):
            if isinstance(code, int):
                names.setdefault(code, path)
        return [names[i] for i in range(self.size)]

    def _paths(self, root: str) -> Iterator[tuple[str, Any]]:
        """Iterate over the paths and codes of all children other than nodes, in order."""
        seen: set[int] = set()
        pending: list[tuple[str, Any]] = [(root, -1)]
        while pending:
            path, code = pending.pop()
            if not isinstance(code, int) or code >= 0:
                yield path, code
            elif code not in seen:
                seen.add(code)
                cls, keys, codes = self.nodes[-1 - code]
                pending.extend(reversed([*zip(_steps(path, cls, keys, len(codes)), codes, strict=True)]))

    def _unhashable(self) -> TypeError:
        path, kind = next((path, code[0]) for path, code in self._paths(self.nodes[0][0].__name__) if _unhashable(code))
        return TypeError(
            f"{path} is a {kind}, which cannot be hashed, so a recording for this Module could not be found "
            "again: use a hashable object, such as a tuple or frozenset"
        )


def parted(module: Module) -> tuple[list[Any], ModuleTreeDef]:
    """Flatten a Module into its parameters and its treedef.

    Each parameter occurs once, in the order of `named_parameters`. Outside of recorded functions, parameters are
    returned as numbers. Inside of recorded functions, results of operations count as parameters, too.

    Raises:
        TypeError: If a set or another collection holds Values, which would become constants.
    """
    as_numbers: cython.bint = depth() == 0
    kind: cython.int
    parameters: list[Any] = []
    nodes: list[Any] = []
    met: dict[int, int] = {}  # maps the id of each object that can occur twice to its code
    codes: list[Any] = []
    pending: list[Any] = [(iter((module,)), codes)]
    while pending:
        parts, codes = pending[len(pending) - 1]
        for part in parts:
            key = id(part)
            code = met.get(key)
            if code is not None:
                codes.append(code)
                continue
            kind = _kind(type(part))
            number = parameter_of(part) if kind == _VALUE else part if kind == _NUMBER else None
            if number is not None:
                code = met[key] = len(parameters)
                codes.append(code)
                parameters.append(number if as_numbers else part)
            elif kind in (_MODULE, _DICT, _LIST, _TUPLE) or (kind == _ARRAY and part.dtype == object):
                codes.append(-1 - len(nodes))
                if kind != _TUPLE:  # a tuple that occurs twice becomes two tuples
                    met[key] = -1 - len(nodes)
                keys, inner = _opened(kind, part)
                inner_codes: list[Any] = []
                nodes.append((type(part), keys, inner_codes))
                pending.append((iter(inner), inner_codes))
                break
            elif kind == _COLLECTION and _hides_parameters(part, as_numbers):
                raise refusal(type(module), _path_of(module, part), part)
            else:
                codes.append(_static(kind, part))
        else:
            pending.pop()
    frozen = tuple([(cls, keys, tuple(codes)) for cls, keys, codes in nodes])
    return parameters, ModuleTreeDef(frozen, len(parameters))


def static_code(part: Any) -> Any:
    """Return the code of a static child (see `ModuleTreeDef.nodes`), or None if it may be a parameter or a node."""
    kind: cython.int = _kind(type(part))
    if kind in (_VALUE, _NUMBER, _MODULE, _DICT, _LIST, _TUPLE) or (kind == _ARRAY and part.dtype == object):
        return None
    return _static(kind, part)


def static_part(code: tuple[Any, ...]) -> Any:
    """Return the static child with this code, for use in a new Module. Arrays are copied."""
    part: Any = code[len(code) - 1]
    return part.array.copy() if isinstance(part, _Constant) else part


class _Constant:
    """An array of numbers that is not a parameter. Two of these are equal if dtype, shape and numbers are equal."""

    def __init__(self, array: Any) -> None:
        self.array = array.copy()
        self._key = (array.dtype, array.shape, array.tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Constant) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def forget_kinds(most: int) -> None:
    """Clear the cache of kinds if it holds more than `most` classes."""
    if len(_kinds) > most:
        _kinds.clear()


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _kind(cls: Any) -> cython.int:
    if cls is not Value and cls not in _kinds:
        forget_kinds(1000)
        found: int = next(i for i, base in enumerate(_BASES) if issubclass(cls, base))
        _kinds[cls] = _COLLECTION if found == _OTHER and is_other_collection(cls) else found
    kind: int = _VALUE if cls is Value else _kinds[cls]  # most parts are Values
    return kind


@cython.cfunc
def _opened(kind: cython.int, part: Any) -> tuple[Any, ...]:
    """Return the keys and the children of a node."""
    if kind in (_LIST, _TUPLE):
        return None, part
    if kind == _ARRAY:
        return part.shape, part.ravel()
    items: Any = attributes.get_attributes(part) if kind == _MODULE else part
    if PENDING in items:
        items = materialize(part)
    if kind == _MODULE:
        items = with_slots(part, items)
    return tuple(items), items.values()


def _hides_parameters(collection: Any, as_numbers: bool) -> bool:
    """Return whether a collection holds Values that would be parameters if they were in a list."""
    return any(not as_numbers or parameter_of(value) is not None for value in values_within(collection))


def _path_of(module: Module, collection: Any) -> str:
    """Return the path from a Module to a collection in it."""
    return next((path for path, item in other_collections(module) if item is collection), "")


@cython.cfunc
def _static(kind: cython.int, part: Any) -> tuple[Any, ...]:
    """Return the code of a static child. 1 and True, or 0.0 and -0.0, have different codes although they are equal."""
    name = type(part).__name__
    if kind == _FLOAT:
        return name, repr(part), part
    if kind == _VALUE:
        return name, id(part), part
    if kind == _ARRAY:
        return name, _Constant(part)
    return name, part


@cython.cfunc
@cython.inline
def _placed(leaf: object) -> object:
    """Return the object that represents a parameter in a new Module."""
    if isinstance(leaf, float):
        return Number(leaf)
    if isinstance(leaf, Value) and leaf.operands:
        mark(leaf)
    return leaf.view(Numbers) if isinstance(leaf, numpy.ndarray) else leaf


@cython.cfunc
@cython.inline
def _part(code: Any, placed: list[Any], built: list[Any]) -> object:
    if isinstance(code, int):
        return placed[code] if code >= 0 else built[-1 - code]
    return static_part(code)


@cython.cfunc
def _shell(cls: Any, keys: Any) -> object:
    """Return a new node without its children."""
    kind: cython.int = _kind(cls)
    if kind == _MODULE:
        return object.__new__(cls)
    if kind == _ARRAY:
        return numpy.empty(keys, dtype=object)
    return () if kind == _TUPLE else cls.__new__(cls)


@cython.cfunc
def _filled(shell: Any, cls: Any, keys: Any, parts: list[Any]) -> object:
    """Add the children to a new node and return the node."""
    kind: cython.int = _kind(cls)
    if kind == _TUPLE:
        return cls._make(parts) if hasattr(cls, "_make") else cls(parts)
    if kind == _LIST:
        shell.extend(parts)
    elif kind == _ARRAY:
        for at, part in zip(numpy.ndindex(keys), parts, strict=True):
            shell[at] = part
    elif kind == _MODULE:
        set_attributes(shell, dict(zip(keys, parts, strict=True)))
    else:
        shell.update(zip(keys, parts, strict=True))
    return shell


def _unhashable(code: Any) -> bool:
    try:
        hash(code)
    except TypeError:
        return True
    return False


def _steps(path: str, cls: Any, keys: Any, count: int) -> list[str]:
    """Return the paths of the children of a node."""
    if issubclass(cls, Module):
        return [f"{path}.{key}" for key in keys]
    if issubclass(cls, numpy.ndarray):
        return [f"{path}[{', '.join(map(str, at)) or '()'}]" for at in numpy.ndindex(keys)]
    return [f"{path}[{key!r}]" for key in (range(count) if keys is None else keys)]
