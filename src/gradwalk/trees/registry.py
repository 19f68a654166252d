"""Classes of containers: Modules, dataclasses, static data and the classes that users register with optree.

Modules, dataclasses and static data are registered when they are found in a tree for the first time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.nn import Module, Number
from gradwalk.trees.module_treedef import ModuleTreeDef, forget_kinds, parted
from gradwalk.trees.static import Static, is_static
from gradwalk.value.arrays import ValueArray
from gradwalk.value.value import Value

_NAMESPACE = "gradwalk"  # the optree namespace of the classes registered here
_registered: dict[type, None] = {}  # the registered dataclasses and Module classes, oldest first
_registered_by_users: set[type] = set()
_MOST_REGISTERED = 1000
# The most common types of leaves, tested first.
SCALAR_TYPES = frozenset([float, int, Number, Value])
LEAF_TYPES = SCALAR_TYPES | {numpy.ndarray, ValueArray}


def opened(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None, *, none_is_leaf: bool = False
) -> tuple[list[Any], Any]:
    """Flatten the containers of a tree with optree; its leaves may be any objects.

    `is_leaf`, if given, is a function that returns whether to treat a container as a leaf. None is an empty container
    unless `none_is_leaf` is true.
    """
    import optree  # takes milliseconds, and is not needed for numbers and arrays

    leaves, spec = optree.tree_flatten(tree, is_leaf, none_is_leaf=none_is_leaf, namespace=_NAMESPACE)
    unknown = (
        set()
        if LEAF_TYPES.issuperset(map(type, leaves))
        else {
            type(leaf)
            for leaf in leaves
            if (_is_node(leaf) or is_static(leaf)) and (is_leaf is None or not is_leaf(leaf))
        }
    )
    if not unknown:
        return leaves, spec
    for cls in unknown:
        # optree raises ValueError if another thread has registered the class in the meantime.
        with contextlib.suppress(ValueError):
            _registration_of(cls)(cls, optree)
        _registered[cls] = None
    forget_classes(_MOST_REGISTERED)
    return opened(tree, is_leaf, none_is_leaf=none_is_leaf)


def register(
    cls: type,
    flatten_one: Callable[[Any], tuple[Sequence[Any], Any, Sequence[Any]]],
    unflatten_one: Callable[[Any, Any], Any],
    path_entry_type: Any,
) -> None:
    """Register a class of containers for the whole process.

    Args:
        cls: The class.
        flatten_one: A function that returns the children of an object, its other data, and a key for each child.
        unflatten_one: A function that creates an object from the other data and the children.
        path_entry_type: The type of optree that describes the keys.

    Raises:
        ValueError: The class has been registered before.
    """
    import optree

    if _registered.pop(cls, cls) is None:  # registered here as a dataclass
        optree.unregister_pytree_node(cls, namespace=_NAMESPACE)
    optree.register_pytree_node(cls, flatten_one, unflatten_one, path_entry_type=path_entry_type, namespace=_NAMESPACE)
    _registered_by_users.add(cls)


def registered_parts(item: Any) -> dict[Any, Any] | None:
    """Return a dict from keys to the children of an object whose class a user registered; None for other objects."""
    if type(item) not in _registered_by_users:
        return None
    level = sys.modules["optree"].tree_flatten_one_level(item, namespace=_NAMESPACE)
    return dict(zip(level.entries, level.children, strict=True))


def is_static_leaf(item: Any) -> bool:
    """Return whether an object is static data, and its class is not registered by a user."""
    return is_static(item) and type(item) not in _registered_by_users


def leaves_and_modules(tree: Any) -> list[Any]:
    """Return the leaves of a tree that has been flattened before, with Modules as leaves."""
    import optree  # see `opened`

    return optree.tree_leaves(tree, is_leaf=lambda item: isinstance(item, Module), namespace=_NAMESPACE)


def field_names(cls: Any) -> list[str] | None:
    """Return the field names of a registered dataclass, or None for any other class."""
    if cls not in _registered or issubclass(cls, Module) or not dataclasses.is_dataclass(cls):
        return None
    return [field.name for field in dataclasses.fields(cls)]


def forget_classes(most: int = 0) -> None:
    """Unregister the oldest classes until at most `most` are left, because optree keeps registered classes alive."""
    while len(_registered) > most:
        cls = next(iter(_registered))
        with contextlib.suppress(ValueError):
            sys.modules["optree"].unregister_pytree_node(cls, namespace=_NAMESPACE)
        _registered.pop(cls, None)
    forget_kinds(most)


def _is_node(leaf: Any) -> bool:
    """Return whether an object that optree treats as a leaf is a container of an unregistered class."""
    return isinstance(leaf, Module) or (dataclasses.is_dataclass(leaf) and not isinstance(leaf, type))


def _registration_of(cls: type) -> Callable[[type, Any], None]:
    """Return the function that registers a class with optree."""
    if issubclass(cls, Module):
        return _register_module
    return _register if dataclasses.is_dataclass(cls) else _register_static


def _register_static(cls: type, optree: Any) -> None:
    """Register a class of static data with optree: its objects are nodes without children."""
    optree.register_pytree_node(
        cls, lambda item: ((), Static(item)), lambda static, _: static.item, namespace=_NAMESPACE
    )


class _Flag(Static):
    """A bool in a field of a dataclass. It is static data, unlike other bools, which are numbers."""

    __slots__ = ()


def _register(cls: type, optree: Any) -> None:
    """Register a dataclass with optree: its fields are its children."""
    if _Flag not in _registered:
        optree.register_pytree_node(_Flag, lambda flag: ((), flag), lambda flag, _: flag, namespace=_NAMESPACE)
        _registered[_Flag] = None
    names = tuple(field.name for field in dataclasses.fields(cls))

    def rebuilt(_: None, parts: Sequence[Any]) -> Any:
        item: Any = object.__new__(
            cls
        )  # without __init__, which may compute fields or reject the numbers of a gradient
        for name, part in zip(names, parts, strict=True):
            object.__setattr__(item, name, part.item if type(part) is _Flag else part)
        return item

    def opened(item: Any) -> tuple[list[Any], None, tuple[str, ...]]:
        fields = [getattr(item, name) for name in names]
        return [_Flag(value) if type(value) is bool else value for value in fields], None, names

    optree.register_pytree_node(
        cls,
        opened,
        rebuilt,
        path_entry_type=optree.GetAttrEntry,
        namespace=_NAMESPACE,
    )


def _register_module(cls: type[Module], optree: Any) -> None:
    """Register a Module class with optree: its parameters are its children."""

    class Path(optree.GetAttrEntry):  # type: ignore[misc]  # optree is not typed
        """The path from a Module to a parameter. It may have several steps, as in `layers[0].w`."""

        def codify(self, node: str = "") -> str:
            """Return the path as code that starts with `node`."""
            return f"{node}.{self.entry}"

    def opened(module: Module) -> tuple[list[Any], ModuleTreeDef, list[str]]:
        leaves, treedef = parted(module)
        return leaves, treedef, [name.removeprefix(".") for name in treedef.names("")]

    optree.register_pytree_node(cls, opened, ModuleTreeDef.unflatten, path_entry_type=Path, namespace=_NAMESPACE)
