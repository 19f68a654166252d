"""The `out=` argument: arrays that results are written to. All arrays are checked before anything is written."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.backend.columns import overlap
from gradwalk.backend.cpu.column_table import are_apart
from gradwalk.batching.axes import parts_of
from gradwalk.trees.tree import TreeDef, flatten

Target = NDArray[Any] | None


def targets_of(out: Any, wanted: TreeDef, kind: Any) -> list[Target]:
    """Return a target for each leaf of a result: the array to write the leaf to, or None to use a new array.

    Args:
        out: A tree with the structure of the result and an array for each leaf. None instead of a subtree requests new
            arrays.
        wanted: The treedef of the result, with array shapes: the shape of a number is ().
        kind: The dtype of the result.

    Raises:
        TypeError: The target of a leaf is not an array, or has the wrong dtype, or the result has complex numbers.
        ValueError: `out` is not a tree like the result, or an array has the wrong shape, is read-only, has elements
            that overlap, or overlaps with another array.
    """
    if out is not None and wanted.pairs:
        raise TypeError(f"out= requires real results, got {wanted}: return the real part and the imaginary part")
    found = _by_leaf(out, wanted, "out")
    dtype = numpy.dtype(kind)
    given = [i for i, target in enumerate(found) if target is not None]
    for i in given:
        if not _fits(found[i], wanted.shapes[i], dtype):
            raise _refused(found[i], wanted.shapes[i], dtype, wanted.paths("out")[i])
    for i, k in itertools.combinations(given, 2):
        if overlap(found[i], found[k]):
            one, other = [wanted.paths("out")[at] for at in (i, k)]
            raise ValueError(
                f"{one} and {other} overlap in memory: give separate arrays, because they hold different results"
            )
    return found


def written(targets: Sequence[Target], leaves: Sequence[Any]) -> list[Any]:
    """Write the leaves of a result to their targets; return the targets, or the leaf itself if its target is None."""
    for target, leaf in zip(targets, leaves, strict=True):
        if target is not None:
            target[...] = leaf
    return [leaf if target is None else target for target, leaf in zip(targets, leaves, strict=True)]


def put(result: Any, targets: Sequence[Target]) -> Any:
    """Write a result to the targets of its leaves; return a tree like the result that contains the targets."""
    leaves, treedef = flatten(result, "the result")
    return treedef.unflatten(written(targets, leaves))


def _by_leaf(out: Any, wanted: TreeDef, name: str) -> list[Any]:
    """Return the array, or None, that `out` gives for each leaf of the result."""
    if out is None:
        return [None] * len(wanted.shapes)
    if wanted.spec is None:
        return [out]
    given, parts = parts_of(out), wanted.children()
    if given is None or given.keys() != parts.keys() or (wanted.shapes and not parts):
        raise ValueError(
            f"{name} is {_shown(out)}, but the result is {wanted}: give a tree of the same structure with arrays to "
            "write to, or None for new arrays"
        )
    return [target for key, part in parts.items() for target in _by_leaf(given[key], part, f"{name}[{key!r}]")]


def _fits(target: Any, shape: Any, kind: numpy.dtype[Any]) -> bool:
    """Return whether a result of this shape and dtype can be written to the target."""
    if not isinstance(target, numpy.ndarray) or isinstance(target, numpy.ma.MaskedArray):
        return False
    flags = target.flags
    is_like_it = target.shape == shape and target.dtype == kind
    return is_like_it and flags.writeable and (flags.c_contiguous or are_apart(target))


def _refused(target: Any, shape: Any, kind: numpy.dtype[Any], name: str) -> Exception:
    """Return the error for a target that does not fit."""
    cure = f"give an array such as numpy.empty({shape}, numpy.{kind})"
    if not isinstance(target, numpy.ndarray) or isinstance(target, numpy.ma.MaskedArray):
        return TypeError(f"{name} is {_shown(target)}, but must be a NumPy array: {cure}")
    if target.shape != shape:
        return ValueError(f"{name} has shape {target.shape}, but the result has shape {shape}: {cure}")
    if target.dtype != kind:
        return TypeError(f"{name} has dtype {target.dtype}, but the result has dtype {kind}: {cure}")
    if not target.flags.writeable:
        return ValueError(f"{name} is read-only: {cure}")
    return ValueError(f"{name} has elements that overlap, because its strides are {target.strides}: {cure}")


def _shown(given: Any) -> str:
    is_array = type(given) is numpy.ndarray
    return f"an array of shape {given.shape}" if is_array else f"of type {type(given).__name__}"
