"""Build the form for a treedef."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from gradwalk.nn import Module
from gradwalk.trees.fast.form import (
    ArrayForm,
    ComplexArrayForm,
    ComplexForm,
    ConstantForm,
    DictForm,
    FieldsForm,
    Form,
    NumberForm,
    SequenceForm,
    TypedForm,
)
from gradwalk.trees.fast.module_form import module_form
from gradwalk.trees.module_treedef import ModuleTreeDef, parted
from gradwalk.trees.registry import field_names
from gradwalk.trees.static import is_static
from gradwalk.trees.tree import TreeDef, size

_DEEPEST = 50  # maximum nesting depth of forms


def form_of(treedef: TreeDef, leaves: Sequence[Any] | None = None) -> Any:
    """Return the form for a treedef, or None for arrays of bools or ints, and unusual or deeply nested containers.

    `leaves` lists the form of each leaf, such as a `NumberForm` or an `ArrayForm`. By default, the numbers of the
    leaves are contiguous in the buffer, starting at 0.
    """
    given = list(leaf_forms(treedef) if leaves is None else leaves)
    if None in given:
        return None
    if treedef.pairs and not isinstance(treedef.spec, tuple):
        given = treedef.with_pairs_joined(given, _complex_form)
    if isinstance(treedef.spec, ModuleTreeDef):
        return _of_module(treedef.spec, given)
    if isinstance(treedef.spec, tuple):
        starts = itertools.accumulate([len(part.shapes) for part in treedef.spec], initial=0)
        ranges = itertools.pairwise(starts)
        parts = [form_of(part, given[start:end]) for part, (start, end) in zip(treedef.spec, ranges, strict=True)]
        return None if None in parts else SequenceForm(tuple, parts)
    if treedef.spec is None:
        return given[0]
    return _of_containers(treedef.spec, treedef.spec.unflatten([0.0] * len(given)), iter(given), 1)


def leaf_forms(treedef: TreeDef, position: int = 0) -> Iterator[Form | None]:
    """Iterate over the forms of leaves whose numbers are contiguous in the buffer, starting at `position`.

    An array of bools or ints has no form.
    """
    for shape, number_type in zip(treedef.shapes, treedef.types or itertools.repeat(float), strict=False):
        if number_type is float:
            yield NumberForm(position) if isinstance(shape, str) else ArrayForm(position, shape)
        else:
            yield TypedForm(position, number_type) if isinstance(shape, str) else None
        position += size(shape)


def _complex_form(real: Form, imag: Form) -> Form:
    """Return the form of a complex number or array, given the forms of its parts."""
    if isinstance(real, NumberForm) and isinstance(imag, NumberForm):
        return ComplexForm(real.position, imag.position)
    return ComplexArrayForm(real, imag)


def _of_module(treedef: ModuleTreeDef, leaves: list[Any]) -> Form | None:
    """Return the form of a Module, or None if a parameter is not a number."""
    if not all(isinstance(leaf, NumberForm) for leaf in leaves):
        return None
    return module_form(treedef, leaves[0].position if leaves else 0)


def _of_fields(cls: type, names: list[str], parts: list[Any]) -> Form:
    """Return the form of a dataclass. A bool in a field is static data."""
    for part in parts:
        if isinstance(part, NumberForm):
            part.refuses_bools = True
    return FieldsForm(cls, names, parts)


def _of_containers(spec: Any, example: Any, leaves: Iterator[Form], depth: int) -> Form | None:
    """Return the form for an optree treedef at nesting depth `depth`, or None as in `form_of`.

    `example` is a tree with this treedef. It gives the order of dict keys, which treedefs do not store.
    """
    if spec.is_leaf():
        return next(leaves)
    if isinstance(example, Module):
        return _of_module(parted(example)[1], list(itertools.islice(leaves, spec.num_leaves)))
    cls = type(example)
    keys = spec.entries()
    if is_static(example) or type(example) is bool:
        return ConstantForm(example, is_immutable=True)
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
        return DictForm(list(keys), parts, list(example))
    if names:
        return _of_fields(cls, names, parts)
    return SequenceForm(cls, parts) if is_sequence else ConstantForm(None)
