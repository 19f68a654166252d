"""`ShapeDtypeStruct`: the shape and the dtype of a leaf of a tree."""

from __future__ import annotations

import math
from typing import Any

import numpy

from gradwalk.trees.registry import opened
from gradwalk.trees.tree import SCALAR, TreeDef


class ShapeDtypeStruct:
    """The shape and the dtype of an array, as in JAX; a number has the shape ().

    Args:
        shape: The shape.
        dtype: The dtype; float64 by default, the dtype of all results of gradwalk.
    """

    def __init__(self, shape: Any, dtype: Any = numpy.float64) -> None:
        self.shape: tuple[int, ...] = tuple(shape)
        self.dtype = numpy.dtype(dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))


def structs(treedef: TreeDef) -> Any:
    """Return the tree with this treedef that has a `ShapeDtypeStruct` for each leaf."""
    types = treedef.types or [float] * len(treedef.shapes)
    found = [ShapeDtypeStruct(*leaf) for leaf in zip(treedef.array_shapes, types, strict=True)]
    return treedef.of_items(treedef.with_pairs_joined(found, lambda real, _: ShapeDtypeStruct(real.shape, complex)))


def examples(tree: Any) -> Any:
    """Return a tree with zeros instead of each `ShapeDtypeStruct`; a tree without any is returned unchanged."""
    leaves, treedef = opened(tree)
    if not any(isinstance(leaf, ShapeDtypeStruct) for leaf in leaves):
        return tree
    return treedef.unflatten([_zeros(leaf) if isinstance(leaf, ShapeDtypeStruct) else leaf for leaf in leaves])


def _zeros(struct: ShapeDtypeStruct) -> Any:
    treedef = TreeDef(None, (struct.shape,)) if struct.shape else SCALAR
    return treedef.filled(numpy.zeros(struct.size))
