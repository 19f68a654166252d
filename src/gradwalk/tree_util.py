"""Functions of trees (nested containers) with the interface of `jax.tree_util`, and the registration of classes.

A tree is a container whose items are trees, or a leaf. Lists, tuples, named tuples, dicts, dataclasses, Modules and
None are containers, as well as the classes that are registered here; any other object is a leaf. The items of a dict
are visited in the order of the sorted keys. Objects of registered classes can be arguments and results of all
transforms.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import optree

from gradwalk.nn import Module
from gradwalk.trees.registry import is_static_leaf, opened, register

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]

Class = TypeVar("Class", bound=type)
IsLeaf = Callable[[Any], bool] | None

PyTreeDef = optree.PyTreeSpec

_NAMESPACE = "gradwalk"


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The key of an item of a list or tuple: its index."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx}]"


@dataclasses.dataclass(frozen=True)
class DictKey:
    """The key of an item of a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The key of an attribute of an object: its name."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclasses.dataclass(frozen=True)
class FlattenedIndexKey:
    """The key of a child of an object whose class was registered without keys: the position of the child."""

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


KeyEntry = SequenceKey | DictKey | GetAttrKey | FlattenedIndexKey
KeyPath = tuple[KeyEntry, ...]


class _Child(optree.PyTreeEntry):
    """A step of a path into an object of a registered class."""

    def __call__(self, obj: Any) -> Any:
        leaves = optree.tree_flatten_one_level(obj, namespace=_NAMESPACE)
        return leaves.children[leaves.entries.index(self.entry)]

    def codify(self, node: str = "") -> str:
        """Return the path as code that starts with `node`."""
        return f"{node}{self.entry}"


class Partial(functools.partial[Any]):
    """A `functools.partial` that is a tree: its arguments are children, and its function is static.

    Example:
        >>> from gradwalk import grad
        >>> line = Partial(lambda slope, x: slope * x, 3.0)
        >>> grad(lambda line: line(2.0))(line).args
        (2.0,)
    """


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], Any]:
    """Flatten a tree.

    Args:
        tree: The tree.
        is_leaf: A function that returns whether to treat a container as a leaf.

    Returns:
        The list of the leaves, and the treedef, which has the methods `unflatten`, `flatten_up_to` and `children`, and
        the attributes `num_leaves` and `num_nodes`.

    Example:
        >>> leaves, treedef = tree_flatten({"b": (2.0, 3.0), "a": 1.0})
        >>> leaves
        [1.0, 2.0, 3.0]
        >>> treedef.unflatten("xyz")
        {'b': ('y', 'z'), 'a': 'x'}
    """
    return _opened(tree, is_leaf)


def tree_unflatten(treedef: Any, leaves: Iterable[Any]) -> Any:
    """Return the tree with this treedef and these leaves.

    Raises:
        ValueError: The number of leaves is wrong.

    Example:
        >>> tree_unflatten(tree_structure([0, [0]]), [1.0, 2.0])
        [1.0, [2.0]]
    """
    return treedef.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the list of the leaves of a tree.

    Example:
        >>> tree_leaves({"b": (2.0, None), "a": 1.0})
        [1.0, 2.0]
    """
    return _opened(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Return the treedef of a tree.

    Example:
        >>> tree_structure([1.0, (2.0,)]).num_leaves
        2
    """
    return _opened(tree, is_leaf)[1]


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply a function to each leaf of a tree, and return the tree of the results.

    Args:
        f: A function of a leaf of `tree` and of the parts of the trees in `rest` at the same place.
        tree: The tree.
        *rest: Trees with the structure of `tree`. A leaf of `tree` may correspond to a container.
        is_leaf: A function that returns whether to treat a container of `tree` as a leaf.

    Returns:
        A tree with the structure of `tree`.

    Raises:
        ValueError: A tree in `rest` does not have the structure of `tree`.

    Example:
        >>> tree_map(lambda x, y: x - y, {"w": 3.0, "b": [1.0]}, {"w": 1.0, "b": [0.5]})
        {'w': 2.0, 'b': [0.5]}
    """
    leaves, treedef = _opened(tree, is_leaf)
    columns = [leaves, *(_flattened_up_to(treedef, other, is_leaf) for other in rest)]
    return treedef.unflatten(list(map(f, *columns)))


def tree_reduce(function: Callable[[Any, Any], Any], tree: Any, initializer: Any = ..., is_leaf: IsLeaf = None) -> Any:
    """Reduce the leaves of a tree, from left to right, with a function of two arguments.

    Args:
        function: A function of the total so far and a leaf.
        tree: The tree.
        initializer: The first total; the first leaf if it is omitted.
        is_leaf: A function that returns whether to treat a container as a leaf.

    Returns:
        The last total.

    Example:
        >>> tree_reduce(lambda total, x: total + x, {"a": 1.0, "b": [2.0, 3.0]}, 10.0)
        16.0
    """
    leaves = _opened(tree, is_leaf)[0]
    return functools.reduce(function, leaves) if initializer is ... else functools.reduce(function, leaves, initializer)


def tree_all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Return whether all leaves of a tree are true.

    Example:
        >>> tree_all([True, {"a": False}])
        False
    """
    return all(_opened(tree, is_leaf)[0])


def tree_transpose(outer_treedef: Any, inner_treedef: Any, pytree_to_transpose: Any) -> Any:
    """Exchange the outer and the inner structure of a tree of trees.

    Args:
        outer_treedef: The treedef of the outer tree.
        inner_treedef: The treedef of each inner tree; None to take it from the first inner tree.
        pytree_to_transpose: A tree with the structure `outer_treedef` whose leaves are replaced by inner trees.

    Returns:
        A tree with the structure `inner_treedef` whose leaves are replaced by outer trees.

    Raises:
        ValueError: The tree has another structure.

    Example:
        >>> tree_transpose(tree_structure([0, 0]), None, [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
        {'a': [1, 3], 'b': [2, 4]}
    """
    parts = outer_treedef.flatten_up_to(pytree_to_transpose)
    inner = tree_structure(parts[0]) if inner_treedef is None else inner_treedef
    columns = zip(*(_flattened_up_to(inner, part, None) for part in parts), strict=True)
    return inner.unflatten([outer_treedef.unflatten(column) for column in columns])


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Return a tree with the structure of `full_tree` in which each leaf of `prefix_tree` is repeated.

    Raises:
        ValueError: `prefix_tree` is not a prefix of `full_tree`.

    Example:
        >>> tree_broadcast([0, 1], [{"a": 5.0, "b": 6.0}, 7.0])
        [{'a': 0, 'b': 0}, 1]
    """
    return tree_map(lambda leaf, part: tree_map(lambda _: leaf, part), prefix_tree, full_tree, is_leaf=is_leaf)


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], Any]:
    """Flatten a tree; return a list of pairs (path, leaf) and the treedef. A path is a tuple of keys.

    Example:
        >>> [(keystr(path), leaf) for path, leaf in tree_flatten_with_path({"a": [1.0, 2.0]})[0]]
        [("['a'][0]", 1.0), ("['a'][1]", 2.0)]
    """
    leaves, treedef = _opened(tree, is_leaf)
    paths = [tuple(map(_key, accessor)) for accessor in treedef.accessors()]
    return list(zip(paths, leaves, strict=True)), treedef


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """Return a list of pairs (path, leaf).

    Example:
        >>> tree_leaves_with_path([7.0])
        [((SequenceKey(idx=0),), 7.0)]
    """
    return tree_flatten_with_path(tree, is_leaf)[0]


def tree_map_with_path(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply a function to the path and the leaf at each place of a tree, as `tree_map` does.

    Example:
        >>> tree_map_with_path(lambda path, x: f"{keystr(path)} = {x}", {"a": 1.0})
        {'a': "['a'] = 1.0"}
    """
    pairs, treedef = tree_flatten_with_path(tree, is_leaf)
    others = [_flattened_up_to(treedef, other, is_leaf) for other in rest]
    return treedef.unflatten([f(path, leaf, *parts) for (path, leaf), *parts in zip(pairs, *others, strict=True)])


def keystr(keys: Iterable[Any], *, simple: bool = False, separator: str = "") -> str:
    """Return a path as text.

    Args:
        keys: The keys.
        simple: Whether to omit brackets, quotes and dots.
        separator: The text between two keys.

    Returns:
        The text.

    Example:
        >>> path = (DictKey("layers"), SequenceKey(0), GetAttrKey("weight"))
        >>> keystr(path), keystr(path, simple=True, separator="/")
        ("['layers'][0].weight", 'layers/0/weight')
    """
    return separator.join([str(_content(key)) if simple else str(key) for key in keys])


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Return whether all items are leaves.

    Example:
        >>> all_leaves([1.0, "text"]), all_leaves([1.0, [2.0]])
        (True, False)
    """
    return all(tree_structure(item, is_leaf).is_leaf() for item in iterable)


def treedef_is_leaf(treedef: Any) -> bool:
    """Return whether a treedef describes a leaf or a container without items, as in JAX.

    Example:
        >>> treedef_is_leaf(tree_structure(1.0))
        True
    """
    return bool(treedef.num_nodes == 1)


def treedef_children(treedef: Any) -> list[Any]:
    """Return the treedefs of the children of a container.

    Example:
        >>> [child.num_leaves for child in treedef_children(tree_structure([1.0, [2.0, 3.0]]))]
        [1, 2]
    """
    return list(treedef.children())


def treedef_tuple(treedefs: Iterable[Any]) -> Any:
    """Return the treedef of a tuple, given the treedefs of its items.

    Example:
        >>> treedef_tuple([tree_structure(1.0), tree_structure([2.0])]).unflatten([3.0, 4.0])
        (3.0, [4.0])
    """
    return optree.treespec_tuple(treedefs, namespace=_NAMESPACE)


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Register a class whose objects are containers.

    Args:
        nodetype: The class.
        flatten_func: A function that returns the pair (children, other data) for an object. The other data must be
            hashable and comparable, because a recorded function is recorded once for each value of them.
        unflatten_func: A function of the other data and a tuple of children that returns an object. It must accept any
            children, such as Values, arrays and gradients.
        flatten_with_keys_func: A function that returns the same pair, with pairs (key, child) instead of children.

    Raises:
        TypeError: `nodetype` is not a class, or is a Module.
        ValueError: The class has been registered before.

    Example:
        >>> from gradwalk import grad
        >>> class Interval:
        ...     def __init__(self, low, high):
        ...         self.low, self.high = low, high
        >>> register_pytree_node(Interval, lambda i: ((i.low, i.high), None), lambda _, parts: Interval(*parts))
        >>> grad(lambda i: i.high**2 - i.low**2)(Interval(1.0, 3.0)).high
        6.0
    """
    if not isinstance(nodetype, type) or issubclass(nodetype, Module):
        raise TypeError(f"nodetype must be a class other than a Module, got {nodetype!r:.60}")

    def flatten_one(item: Any) -> tuple[Sequence[Any], Any, Sequence[Any]]:
        if flatten_with_keys_func is not None:
            pairs, data = flatten_with_keys_func(item)
            keys, children = zip(*pairs, strict=True) if pairs else ((), ())
            return children, data, keys
        given, data = flatten_func(item)
        found = tuple(given)
        return found, data, tuple([FlattenedIndexKey(i) for i in range(len(found))])

    register(nodetype, flatten_one, unflatten_func, _Child)


def register_pytree_node_class(cls: Class) -> Class:
    """Register a class with a method `tree_flatten` and a class method `tree_unflatten`. Use this as a decorator.

    Args:
        cls: The class. `tree_flatten(self)` returns the pair (children, other data), and
            `tree_unflatten(cls, data, children)` returns an object: see `register_pytree_node`.

    Returns:
        The class.

    Example:
        >>> @register_pytree_node_class
        ... class Scaled:
        ...     def __init__(self, x):
        ...         self.x = x
        ...     def tree_flatten(self):
        ...         return (self.x,), None
        ...     @classmethod
        ...     def tree_unflatten(cls, data, children):
        ...         return cls(*children)
        >>> tree_leaves(Scaled(2.0))
        [2.0]
    """
    methods: Any = cls
    register_pytree_node(cls, methods.tree_flatten, methods.tree_unflatten)
    return cls


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Register a class with a function that returns a key for each child: see `register_pytree_node`.

    Args:
        nodetype: The class.
        flatten_with_keys: A function that returns the pair (pairs of keys and children, other data) for an object.
        unflatten_func: A function of the other data and a tuple of children that returns an object.
        flatten_func: Ignored; accepted for compatibility with JAX.

    Example:
        >>> class Line:
        ...     def __init__(self, slope):
        ...         self.slope = slope
        >>> flatten = lambda line: (((GetAttrKey("slope"), line.slope),), None)
        >>> register_pytree_with_keys(Line, flatten, lambda _, parts: Line(*parts))
        >>> [keystr(path) for path, _ in tree_leaves_with_path(Line(2.0))]
        ['.slope']
    """
    del flatten_func
    register_pytree_node(nodetype, lambda item: ((), item), unflatten_func, flatten_with_keys)


def register_pytree_with_keys_class(cls: Class) -> Class:
    """Register a class with a method `tree_flatten_with_keys` and a class method `tree_unflatten`, as a decorator.

    Example:
        >>> @register_pytree_with_keys_class
        ... class Circle:
        ...     def __init__(self, radius):
        ...         self.radius = radius
        ...     def tree_flatten_with_keys(self):
        ...         return ((GetAttrKey("radius"), self.radius),), None
        ...     @classmethod
        ...     def tree_unflatten(cls, data, children):
        ...         return cls(*children)
        >>> tree_map(lambda x: 2.0 * x, Circle(1.0)).radius
        2.0
    """
    methods: Any = cls
    register_pytree_with_keys(cls, methods.tree_flatten_with_keys, methods.tree_unflatten)
    return cls


def register_dataclass(
    nodetype: Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Class:
    """Register a dataclass some of whose fields are static. Dataclasses of numbers need no registration.

    Args:
        nodetype: The dataclass.
        data_fields: Names of the fields that are children. By default, all fields without the metadata
            `{"static": True}`.
        meta_fields: Names of the fields that are static; they must be hashable. By default, the other fields.
        drop_fields: Names of fields that are left at their defaults.

    Returns:
        The class.

    Raises:
        TypeError: `nodetype` is not a dataclass, and the fields are not given.
        ValueError: The fields in the arguments are not the fields of the dataclass.

    Example:
        >>> from dataclasses import dataclass
        >>> from functools import partial
        >>> from gradwalk import grad
        >>> @partial(register_dataclass, data_fields=["rate"], meta_fields=["name"])
        ... @dataclass
        ... class Settings:
        ...     rate: float
        ...     name: str
        >>> grad(lambda s: s.rate**2 if s.name == "square" else s.rate)(Settings(3.0, "square"))
        Settings(rate=6.0, name='square')
    """
    data, meta = _fields(nodetype, data_fields, meta_fields, drop_fields)

    def flatten_one(item: Any) -> Any:
        children = [(GetAttrKey(name), getattr(item, name)) for name in data]
        return children, tuple([getattr(item, name) for name in meta])

    def unflatten_one(statics: Any, children: Any) -> Any:
        return nodetype(**dict(zip((*data, *meta), (*children, *statics), strict=True)))

    register_pytree_with_keys(nodetype, flatten_one, unflatten_one)
    return nodetype


def register_static(cls: Class) -> Class:
    """Register a class whose objects are static: they have no leaves. Objects must be hashable and comparable.

    Example:
        >>> @register_static
        ... class Mode(str):
        ...     pass
        >>> tree_leaves([Mode("fast"), 1.0])
        [1.0]
    """
    register_pytree_node(cls, lambda item: ((), item), lambda item, _: item)
    return cls


def _fields(
    cls: Any, data: Sequence[str] | None, meta: Sequence[str] | None, dropped: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the names of the children and of the static fields of a dataclass."""
    if (data is None) != (meta is None):
        raise TypeError("give both data_fields and meta_fields, or neither")
    if not dataclasses.is_dataclass(cls):
        if data is None or meta is None:
            raise TypeError(f"nodetype must be a dataclass, got {cls!r:.60}; or give data_fields and meta_fields")
        return tuple(data), tuple(meta)
    fields = [field for field in dataclasses.fields(cls) if field.init]
    if data is None or meta is None:
        static = [field.name for field in fields if field.metadata.get("static", False)]
        return [f.name for f in fields if f.name not in static and f.name not in dropped], static
    names = {field.name for field in fields}
    given = {*data, *meta}
    if given | set(dropped) != names or len(given) != len(data) + len(meta):
        raise ValueError(
            f"data_fields, meta_fields and drop_fields must together be the fields of {cls!r:.60}, "
            f"{sorted(names)}, each once, got {[*data, *meta, *dropped]}"
        )
    return tuple(data), tuple(meta)


def _opened(tree: Any, is_leaf: IsLeaf) -> tuple[list[Any], Any]:
    """Flatten the containers of a tree. Static data, such as strings, are leaves here, as in JAX."""
    return opened(tree, lambda item: is_static_leaf(item) or (is_leaf is not None and is_leaf(item)))


def _flattened_up_to(treedef: Any, tree: Any, is_leaf: IsLeaf) -> list[Any]:
    """Return the parts of a tree at the leaves of a treedef."""
    _opened(tree, is_leaf)  # registers the classes in the tree
    parts: list[Any] = treedef.flatten_up_to(tree)
    return parts


def _key(entry: Any) -> Any:
    """Convert an entry of a path of optree to a key."""
    if isinstance(entry, _Child):
        return entry.entry
    if isinstance(entry, optree.NamedTupleEntry):
        return GetAttrKey(entry.field)
    if isinstance(entry, optree.GetAttrEntry):
        return GetAttrKey(entry.entry)
    return DictKey(entry.entry) if isinstance(entry, optree.MappingEntry) else SequenceKey(entry.entry)


def _content(key: Any) -> Any:
    """Return the index, name or key that a key of a path holds."""
    return getattr(key, dataclasses.fields(key)[0].name) if dataclasses.is_dataclass(key) else key


def _partial_from(data: Any, children: Any) -> Partial:
    function, names = data
    args, values = children
    return Partial(function, *args, **dict(zip(names, values, strict=True)))


register_pytree_node(
    Partial,
    lambda p: ((p.args, tuple(p.keywords.values())), (p.func, tuple(p.keywords))),
    _partial_from,
)
