"""Functions of trees (nested containers) with the interface of `jax.tree`: short names of `gradwalk.tree_util`.

Lists, tuples, named tuples, dicts, dataclasses, Modules, None and objects of registered classes are containers; any
other object is a leaf.
"""

from __future__ import annotations

from gradwalk.tree_util import tree_all as all
from gradwalk.tree_util import tree_broadcast as broadcast
from gradwalk.tree_util import tree_flatten as flatten
from gradwalk.tree_util import tree_flatten_with_path as flatten_with_path
from gradwalk.tree_util import tree_leaves as leaves
from gradwalk.tree_util import tree_leaves_with_path as leaves_with_path
from gradwalk.tree_util import tree_map as map
from gradwalk.tree_util import tree_map_with_path as map_with_path
from gradwalk.tree_util import tree_reduce as reduce
from gradwalk.tree_util import tree_structure as structure
from gradwalk.tree_util import tree_transpose as transpose
from gradwalk.tree_util import tree_unflatten as unflatten

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "structure",
    "transpose",
    "unflatten",
]
