"""Which form a treedef has."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from gradwalk.nn import Module
from gradwalk.trees.form import ArrayForm, ConstantForm, DictForm, FieldsForm, Form, NumberForm, SequenceForm
from gradwalk.trees.module_form import module_form
from gradwalk.trees.module_treedef import ModuleTreeDef, parted
from gradwalk.trees.tree import TreeDef, field_names, size

_DEEPEST = 50  # forms inside one another


def form_of(treedef: TreeDef, position: int = 0) -> Form | None:
    """Return the form of a treedef.

    Args:
        treedef: The treedef.
        position: Where its first number is in the row.

    Returns:
        The form; None for trees with containers of unusual classes, or very many inside one another.
    """
    if isinstance(treedef.spec, ModuleTreeDef):
        return _of_module(treedef, position)
    if isinstance(treedef.spec, tuple):
        parts = []
        for part in treedef.spec:
            parts.append(form_of(part, position))
            position += part.size
        return None if None in parts else SequenceForm(tuple, parts)
    leaves = _leaves(treedef, position)
    if treedef.spec is None:
        return next(leaves)
    return _of_containers(treedef.spec, treedef.spec.unflatten([0.0] * len(treedef.shapes)), leaves, 1)


def _leaves(treedef: TreeDef, position: int) -> Iterator[Form]:
    """Iterate over the forms of the leaves."""
    for shape in treedef.shapes:
        yield NumberForm(position) if isinstance(shape, str) else ArrayForm(position, shape)
        position += size(shape)


def _of_module(treedef: TreeDef, position: int) -> Form | None:
    has_numbers = all(isinstance(shape, str) for shape in treedef.shapes)
    return module_form(treedef.spec, position) if has_numbers else None


def _of_containers(spec: Any, example: Any, leaves: Iterator[Form], depth: int) -> Form | None:
    """Return the form of a treedef of optree's.

    Args:
        spec: The treedef.
        example: A tree that has it: dicts keep the order of their keys, which treedefs do not tell.
        leaves: The forms of the leaves, in order.
        depth: How many containers it is in, and itself.
    """
    if spec.is_leaf():
        return next(leaves)
    if isinstance(example, Module):
        return _of_inner_module(example, list(itertools.islice(leaves, spec.num_leaves)))
    cls = type(example)
    keys = spec.entries()
    names = field_names(cls)
    is_sequence = cls in (list, tuple) or (isinstance(example, tuple) and hasattr(cls, "_make"))
    if depth > _DEEPEST or not (is_sequence or example is None or cls is dict or names):
        return None
    items = [getattr(example, key) for key in names] if names else [example[key] for key in keys]
    parts: list[Any] = [
        _of_containers(child, item, leaves, depth + 1) for child, item in zip(spec.children(), items, strict=True)
    ]
    if None in parts:
        return None
    if cls is dict:
        by_key = dict(zip(keys, parts, strict=True))
        return DictForm(list(example), [by_key[key] for key in example])
    if names:
        return FieldsForm(cls, names, parts)
    return SequenceForm(cls, parts) if is_sequence else ConstantForm(None)


def _of_inner_module(module: Module, leaves: list[Any]) -> Form | None:
    """Return the form of a Module inside other containers, by the forms of its parameters."""
    are_numbers = all(isinstance(leaf, NumberForm) for leaf in leaves)
    return module_form(parted(module)[1], leaves[0].position if leaves else 0) if are_numbers else None
