"""`Arguments`: the arguments of a function with derivative rules, in which the Values can be replaced."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.program.tracing.trace import display_name
from gradwalk.trees.registry import opened
from gradwalk.trees.tree import TreeDef, flatten, scalars, size
from gradwalk.value.value import Value


class Signature:
    """The parameters of a function, some of which hold static arguments.

    Args:
        f: The function.
        argnums: Positions of the static arguments.
        argnames: Names of the static arguments.
    """

    def __init__(self, f: Callable[..., Any], argnums: int | Iterable[int], argnames: str | Iterable[str]) -> None:
        self._f = f
        self._argnums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        self._argnames = (argnames,) if isinstance(argnames, str) else tuple(argnames)

    @property
    def options(self) -> tuple[Any, ...]:
        """The positions and the names of the static arguments."""
        return self._argnums, self._argnames

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Arguments:
        """Return the arguments of one call; defaults and keyword arguments are made positional."""
        if self._signature is not None:
            bound = self._signature.bind(*args, **kwargs)
            given_by_name = [name for name in bound.kwargs if name in kwargs]
            if given_by_name:
                raise TypeError(
                    f"{display_name(self._f)} has derivative rules, so its arguments must be positional, but "
                    f"{', '.join(given_by_name)} can only be passed by name"
                )
            bound.apply_defaults()
            args = bound.args
        names = self._names(len(args))
        static = {names.index(name) for name in self._argnames if name in names}
        for i in self._argnums:
            if not -len(args) <= i < len(args):
                raise ValueError(
                    f"nondiff_argnums of {display_name(self._f)} must be positions of its arguments, got {i} in a "
                    f"call with {len(args)} arguments"
                )
            static.add(i % len(args))
        return Arguments(args, names, static)

    @cached_property
    def _signature(self) -> inspect.Signature | None:
        try:
            return inspect.signature(self._f)
        except (TypeError, ValueError):  # some functions written in C have no signature
            return None

    def _names(self, count: int) -> list[str]:
        parameters = self._signature.parameters.values() if self._signature is not None else ()
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return [names[i] if i < len(names) else f"argument {i + 1}" for i in range(count)]


class Arguments:
    """The arguments of one call. The numbers in leaves with Values are the operands.

    Args:
        args: The positional arguments.
        names: The names of the arguments.
        static: Positions of the arguments that are not differentiated.

    Attributes:
        values: The operands.
        static: The arguments that are not differentiated, in order.
    """

    def __init__(self, args: Sequence[Any], names: Sequence[str], static: set[int]) -> None:
        self._args = [arg if i in static else None for i, arg in enumerate(args)]
        self._places = [i for i in range(len(args)) if i not in static]
        self._names = [names[i] for i in self._places]
        self.static = [args[i] for i in sorted(static)]
        for i in static:
            _refuse_values(args[i], names[i])
        self._leaves: list[list[Any]] = []
        self._treedefs: list[TreeDef] = []
        self.values: list[Any] = []
        for i in self._places:
            leaves, treedef = _flattened(args[i], names[i])
            self._treedefs.append(treedef)
            self._leaves.append([None if _has_value(leaf) else leaf for leaf in leaves])
            self.values += [x for leaf in leaves if _has_value(leaf) for x in scalars([leaf])]

    def without_values(self) -> Arguments:
        """Return these arguments without the operands, so that they do not keep the caller's Values alive."""
        copied = object.__new__(Arguments)
        vars(copied).update(vars(self), values=[])
        return copied

    def filled(self, numbers: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arguments with other operands, without the static arguments."""
        return self._built(numbers, lambda leaf, _: leaf)

    def tangents(self, numbers: Sequence[Any]) -> tuple[Any, ...]:
        """Return trees like the arguments that hold the tangents of the operands, and 0 for all other numbers."""
        return self._built(numbers, lambda _, shape: TreeDef(None, (shape,)).filled(numpy.zeros(size(shape))))

    def with_static(self, given: Sequence[Any]) -> list[Any]:
        """Insert the static arguments between other arguments."""
        args = list(self._args)
        for i, arg in zip(self._places, given, strict=True):
            args[i] = arg
        return args

    def cotangents(self, found: Any, what: str) -> list[Any]:
        """Return the cotangents of the operands in the tuple that a rule returned; None is a cotangent of zeros."""
        if not isinstance(found, (tuple, list)) or len(found) != len(self._places):
            count = len(self._places)
            raise TypeError(
                f"{what} must return a tuple of {count} cotangent{'s' * (count != 1)}, one for each argument that is "
                f"differentiated ({', '.join(self._names)}), got {found!r:.80}"
            )
        numbers: list[Any] = []
        for name, cotangent, treedef, kept in zip(self._names, found, self._treedefs, self._leaves, strict=True):
            leaves = self._like(cotangent, treedef, f"the cotangent of {name} that {what} returned")
            numbers += [x for leaf, one in zip(kept, leaves, strict=True) if leaf is None for x in scalars([one])]
        return numbers

    def _built(self, numbers: Sequence[Any], fixed: Callable[[Any, Any], Any]) -> tuple[Any, ...]:
        start = 0
        trees = []
        for treedef, kept in zip(self._treedefs, self._leaves, strict=True):
            leaves = []
            for leaf, shape in zip(kept, treedef.shapes, strict=True):
                if leaf is not None:
                    leaves.append(fixed(leaf, shape))
                    continue
                end = start + size(shape)
                leaves.append(TreeDef(None, (shape,)).filled(numbers[start:end]))
                start = end
            trees.append(treedef.unflatten(leaves))
        return tuple(trees)

    def _like(self, cotangent: Any, treedef: TreeDef, what: str) -> list[Any]:
        """Return the leaves of a cotangent, which must have the structure of the argument."""
        zeros = treedef.as_floats().filled(numpy.zeros(treedef.size))
        if cotangent is None:
            cotangent = zeros
        elif _has_none(cotangent):
            cotangent = _with_zeros(cotangent, zeros)
        leaves, found = flatten(cotangent, what)
        if found.with_numbers() != treedef.with_numbers():
            raise TypeError(f"{what} must have the structure of the argument, {treedef}, got {found}")
        return leaves


def _flattened(arg: Any, name: str) -> tuple[list[Any], TreeDef]:
    try:
        return flatten(arg, name)
    except TypeError as error:
        raise TypeError(f"{error}. Give the position of an argument that is not numbers in nondiff_argnums") from None


def _has_value(leaf: Any) -> bool:
    if isinstance(leaf, numpy.ndarray):
        return leaf.dtype == object and any(isinstance(x, Value) for x in leaf.flat)
    return isinstance(leaf, Value)


def _refuse_values(arg: Any, name: str) -> None:
    """Raise `TypeError` if an argument that is not differentiated holds Values."""
    try:
        leaves = flatten(arg, name)[0]
    except TypeError:  # not a tree of numbers
        return
    if any(map(_has_value, leaves)):
        raise TypeError(
            f"{name} is in nondiff_argnums, so it must not hold Values: make it an argument that is differentiated, "
            "with a tangent or cotangent of 0"
        )


def _has_none(tree: Any) -> bool:
    return any(leaf is None for leaf in opened(tree, none_is_leaf=True)[0])


def _with_zeros(tree: Any, zeros: Any) -> Any:
    """Replace each None in a tree by the part of the tree `zeros` at this place."""
    leaves, treedef = opened(tree, none_is_leaf=True)
    parts = treedef.flatten_up_to(zeros)
    return treedef.unflatten([part if leaf is None else leaf for leaf, part in zip(leaves, parts, strict=True)])
