"""`out=`: arrays that the caller wants results to be written to. They are checked before anything is written."""

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
    """Return the array that each leaf of a result is to be written to, None for one that is to be a new array.

    Args:
        out: A tree like the result with arrays for leaves, or with None in place of any part of it.
        wanted: The treedef of the result. Shapes are those of the arrays, () for a number.
        kind: The type of the numbers.

    Raises:
        TypeError: What is given for a leaf is no array, or one of another type.
        ValueError: `out` is no tree like the result; or an array has another shape, cannot be written to, or overlaps
            with itself or with another one.
    """
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
                f"{one} and {other} overlap in memory, and each has a result of its own: give arrays apart"
            )
    return found


def written(targets: Sequence[Target], leaves: Sequence[Any]) -> list[Any]:
    """Write the leaves of a result to arrays.

    Args:
        targets: The array for each leaf, or None.
        leaves: The leaves, whose numbers are of the type of the arrays.

    Returns:
        For each leaf the array that it was written to, or else itself.
    """
    for target, leaf in zip(targets, leaves, strict=True):
        if target is not None:
            target[...] = leaf
    return [leaf if target is None else target for target, leaf in zip(targets, leaves, strict=True)]


def put(result: Any, targets: Sequence[Target]) -> Any:
    """Write a result to arrays.

    Args:
        result: The result.
        targets: The array for each of its leaves, or None.

    Returns:
        A tree like the result, with these arrays.
    """
    leaves, treedef = flatten(result, "the result")
    return treedef.unflatten(written(targets, leaves))


def _by_leaf(out: Any, wanted: TreeDef, name: str) -> list[Any]:
    """What `out` has for each leaf."""
    if out is None:
        return [None] * len(wanted.shapes)
    if wanted.spec is None:
        return [out]
    given, parts = parts_of(out), wanted.children()
    if given is None or given.keys() != parts.keys() or (wanted.shapes and not parts):
        raise ValueError(
            f"{name} is {_shown(out)}, and the result is {wanted}: give a tree like it with arrays to write to, and "
            "with None for what is to be new"
        )
    return [target for key, part in parts.items() for target in _by_leaf(given[key], part, f"{name}[{key!r}]")]


def _fits(target: Any, shape: Any, kind: numpy.dtype[Any]) -> bool:
    """Whether a result of this shape and type can be written to something."""
    if not isinstance(target, numpy.ndarray) or isinstance(target, numpy.ma.MaskedArray):
        return False
    flags = target.flags
    is_like_it = target.shape == shape and target.dtype == kind
    return is_like_it and flags.writeable and (flags.c_contiguous or are_apart(target))


def _refused(target: Any, shape: Any, kind: numpy.dtype[Any], name: str) -> Exception:
    """The error for what does not fit."""
    cure = f"give an array such as numpy.empty({shape}, numpy.{kind})"
    if not isinstance(target, numpy.ndarray) or isinstance(target, numpy.ma.MaskedArray):
        return TypeError(f"{name} is {_shown(target)}, and results are written to NumPy arrays: {cure}")
    if target.shape != shape:
        return ValueError(f"{name} has shape {target.shape}, and the result has shape {shape}: {cure}")
    if target.dtype != kind:
        return TypeError(f"{name} is of {target.dtype}, and the result is of {kind}: {cure}")
    if not target.flags.writeable:
        return ValueError(f"{name} is read-only: {cure}")
    return ValueError(f"{name} has elements that overlap, as its strides are {target.strides}: {cure}")


def _shown(given: Any) -> str:
    is_array = type(given) is numpy.ndarray
    return f"an array of shape {given.shape}" if is_array else f"of type {type(given).__name__}"
