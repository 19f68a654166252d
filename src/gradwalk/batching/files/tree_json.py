"""Write the structure of arguments and results as JSON, with the batch axis of each leaf, and read it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from reprlib import repr as shown
from typing import Any, NamedTuple

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.batching.axes import is_whole
from gradwalk.program.code.opcodes import ProgramError
from gradwalk.trees.tree import TreeDef, flatten

_DEEPEST = 50  # maximum nesting depth of a tree
_LARGEST_AXIS = 64
_TYPES = {"float": float, "int": int, "bool": bool}
_COMPLEX = "complex"
_CONTAINERS = {tuple: "tuple", list: "list", dict: "dict", type(None): "none"}


class Leaf(NamedTuple):
    """A leaf in a file. The real and the imaginary part of a complex leaf are two leaves.

    Attributes:
        size: Number of numbers in the leaf.
        axis: The batch axis, or None for no batch axis.
        type: The type of the numbers.
    """

    size: int
    axis: int | None
    type: type


class Tree:
    """The structure of an argument or a result in a file.

    Attributes:
        axes: A tree of the same structure with the batch axis of each leaf, or None for no batch axis.
        leaves: The leaves in the order of the treedef.
    """

    def __init__(self, example: Any, axes: Any, leaves: list[Leaf], what: str) -> None:
        self.axes = axes
        self.leaves = leaves
        self._example = example
        self._what = what

    @property
    def size(self) -> int:
        """The total number of numbers in all leaves."""
        return sum(leaf.size for leaf in self.leaves)

    @cached_property
    def treedef(self) -> TreeDef:
        """The treedef for one sample. It is computed at first use, because it may import optree."""
        _, treedef = flatten(self._example, self._what)
        types = [leaf.type for leaf in self.leaves]
        return treedef if all(number_type is float for number_type in types) else treedef.typed(types)


def written_tree(treedef: TreeDef, axes: Sequence[int | None], what: str) -> Any:
    """Return a tree as a JSON value, with the batch axis of each leaf.

    Raises `ProgramError` if the tree has containers other than tuples, lists and dicts; `what` is its name.
    """
    return _written(treedef, iter(axes), what, 0)


def _written(treedef: TreeDef, axes: Iterator[int | None], what: str, depth: int) -> Any:
    spec = treedef.spec
    if depth > _DEEPEST:
        raise ProgramError(f"{what} is nested more than {_DEEPEST} levels deep, which files do not support")
    if spec is None:
        return _leaf(treedef, axes)
    kind = tuple if isinstance(spec, tuple) else getattr(spec, "type", type(spec))
    if kind not in _CONTAINERS:
        raise ProgramError(
            f"{what} is or contains a {kind.__name__}, which JSON cannot store: use tuples, lists and dicts, or pickle "
            "the batch program"
        )
    parts = {key: _written(part, axes, f"{what}[{key!r}]", depth + 1) for key, part in treedef.children().items()}
    if kind is dict:
        if not all(isinstance(key, str) for key in parts):
            raise ProgramError(f"{what} has keys that are not strings, which JSON cannot store: {shown([*parts])}")
        return {"dict": {key: parts[key] for key in spec.unflatten([0] * spec.num_leaves)}}  # in the dict's own order
    return None if kind is type(None) else {_CONTAINERS[kind]: [*parts.values()]}


def _leaf(treedef: TreeDef, axes: Iterator[int | None]) -> dict[str, Any]:
    shape = treedef.shapes[0]
    leaf: dict[str, Any] = {"shape": None if isinstance(shape, str) else list(shape)}
    leaf["axis"] = [next(axes) for _ in treedef.shapes][-1]  # both parts of a complex number have the same axis
    if treedef.pairs:
        leaf["type"] = _COMPLEX
    elif treedef.types and treedef.types[0] is not float:
        leaf["type"] = treedef.types[0].__name__
    return leaf


class _Read(NamedTuple):
    """Parts of a tree that is being read: an example with zeros, the axes, and the leaves."""

    example: Any
    axes: Any
    leaves: list[Leaf]


def read_tree(node: Any, what: str, most: int) -> Tree:
    """Read a tree that `written_tree` wrote.

    Raises `ProgramError` if the tree is malformed or has more than `most` numbers.
    """
    left = [most]
    return Tree(*_read(node, what, 0, left), what)


def _read(node: Any, what: str, depth: int, left: list[int]) -> _Read:
    """Read a part of a tree. `left` holds the largest number of numbers that the rest of the tree may have."""
    if node is None:
        return _Read(None, None, [])
    if depth > _DEEPEST:
        raise ProgramError(f"{what} is nested more than {_DEEPEST} levels deep")
    if not isinstance(node, dict):
        raise ProgramError(f"{what} is {shown(node)}, not null or an object")
    if "shape" in node:
        return _read_leaf(node, what, left)
    [kind, parts] = next(iter(node.items())) if len(node) == 1 else ("", None)
    if kind == "dict" and isinstance(parts, dict):
        named = {key: _read(parts[key], f"{what}[{key!r}]", depth + 1, left) for key in sorted(parts)}
        leaves = [leaf for part in named.values() for leaf in part.leaves]
        return _Read({key: named[key].example for key in parts}, {key: named[key].axes for key in parts}, leaves)
    if kind not in ("tuple", "list") or not isinstance(parts, list):
        raise ProgramError(f"{what} is {shown(node)}, not a leaf with a shape, a tuple, a list or a dict")
    found = [_read(part, f"{what}[{i}]", depth + 1, left) for i, part in enumerate(parts)]
    make = tuple if kind == "tuple" else list
    leaves = [leaf for part in found for leaf in part.leaves]
    return _Read(make(x.example for x in found), make(x.axes for x in found), leaves)


def _read_leaf(node: dict[str, Any], what: str, left: list[int]) -> _Read:
    shape, axis, kind = node["shape"], node.get("axis"), node.get("type", "float")
    if node.keys() - {"shape", "axis", "type"} or not isinstance(kind, str) or kind not in (*_TYPES, _COMPLEX):
        raise ProgramError(f"{what} is {shown(node)}, not a leaf with a shape, an axis and a type")
    dimensions = [] if shape is None else shape
    if not isinstance(dimensions, list) or not all(type(length) is int and length >= 0 for length in dimensions):
        raise ProgramError(f"{what} has the shape {shown(shape)}, not null or a list of lengths")
    if axis is not None and not (is_whole(axis) and abs(axis) <= _LARGEST_AXIS):
        raise ProgramError(f"{what} has the axis {shown(axis)}, not null or a whole number")
    if len(dimensions) > _LARGEST_AXIS:
        raise ProgramError(f"{what} has {len(dimensions)} dimensions; at most {_LARGEST_AXIS}")
    if axis is not None and not -len(dimensions) - 1 <= axis <= len(dimensions):
        raise ProgramError(
            f"{what} has the axis {axis}; with the shape {shown(shape)}, it must be from "
            f"{-len(dimensions) - 1} to {len(dimensions)}"
        )
    parts = 2 if kind == _COMPLEX else 1
    size = math.prod(dimensions)
    left[0] -= parts * size
    if left[0] < 0 or (0 in dimensions and math.prod(filter(None, dimensions)) > 1 << 31):
        raise ProgramError(f"{what} has the shape {shown(shape)}, which has more numbers than the program")
    zero = 0j if kind == _COMPLEX else 0.0
    example = zero if shape is None else numpy.broadcast_to(zero, dimensions)
    return _Read(example, axis, [Leaf(size, axis, _TYPES.get(kind, float))] * parts)
