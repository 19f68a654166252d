"""Flatten and unflatten trees: arguments and results such as nested lists, dicts, dataclasses, arrays and Modules.

A real number, a Value or an array is a leaf, and so is each parameter of an `nn.Module`. A complex number is two
leaves: its real part and its imaginary part. Arrays from other libraries are converted with `numpy.asarray`. Static
data, such as strings, is part of the structure: see `static.py`. Tuples and
Modules are flattened here, and optree flattens all other containers. optree is imported when it is needed for the first
time.
"""

from __future__ import annotations

import enum
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from gradwalk.base.cached import cached_property
from gradwalk.nn import Module
from gradwalk.trees.complex_leaves import is_complex, joined, separated
from gradwalk.trees.module_treedef import ModuleTreeDef, parted
from gradwalk.trees.registry import LEAF_TYPES, SCALAR_TYPES, opened
from gradwalk.trees.static import is_static
from gradwalk.value.arrays import WholeArray, of_recording
from gradwalk.value.conditions import result_type
from gradwalk.value.convert import as_float, is_number
from gradwalk.value.node import level_of, primal_of, with_number_type
from gradwalk.value.value import Value

_LARGEST_INT = 2.0**53  # the largest number that is certain to be an exact int
_LONGEST = 100  # maximum length of a treedef in messages, in characters
_SCALAR = "scalar"  # the shape of a number; a 0-d array has the shape ()

Shape = tuple[int, ...] | str


@dataclass(frozen=True)
class TreeDef:
    """The structure of a tree: the containers and the shapes of the leaves. It does not include the numbers.

    Attributes:
        spec: The containers: an optree treedef, a `ModuleTreeDef` or a tuple of treedefs; None if the tree is a leaf or
            a complex number. In an optree treedef, a complex number or a complex array is one leaf.
        shapes: The shapes of the leaves.
        pairs: The positions of the leaves that are real parts of complex numbers or arrays. The next leaf is the
            imaginary part, and has the same shape.
        types: For the results of functions, the type of each leaf's numbers: bool, int or float. Empty if all are
            floats. Treedefs that differ only in the types are equal.
    """

    spec: Any
    shapes: tuple[Shape, ...]
    pairs: tuple[int, ...] = ()
    types: tuple[type, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        if isinstance(self.spec, ModuleTreeDef):
            return _with_article(str(self.spec))
        shown = repr(self._shown())
        if len(shown) > _LONGEST:
            return f"{len(self.shapes)} leaves, {shown[:_LONGEST]}…"
        return shown if shown[0] in "[({'" else _with_article(shown)

    def _shown(self) -> Any:
        """Return a tree with placeholders that describe the leaves."""
        shown = [_Shown(shape) for shape in self.shapes]
        return self.of_items(self.with_pairs_joined(shown, lambda real, _: _Shown(real.shape, "complex ")))

    def __reduce__(self) -> Any:
        if self.spec is None or isinstance(self.spec, tuple):
            return _unpickled, (self.spec, [], self.shapes, self.pairs, self.types)
        # Pickle a tree with this treedef instead of the treedef itself. An optree treedef depends on the classes that
        # this process has registered, and a ModuleTreeDef may hold objects that cannot be pickled.
        return _unpickled, (None, [self.unflatten([0.0] * len(self.shapes))], self.shapes, self.pairs, self.types)

    @property
    def size(self) -> int:
        """The total number of elements in all leaves of a tree."""
        return sum(size(shape) for shape in self.shapes)

    @cached_property
    def is_scalar(self) -> bool:
        """Whether the tree is a single number."""
        return self.spec is None and self.shapes == (_SCALAR,)

    @property
    def has_one_number(self) -> bool:
        """Whether the tree is a single number or an array with one element."""
        return self.spec is None and self.size == 1

    def filled(self, numbers: Any, array_type: type[numpy.ndarray[Any, Any]] = numpy.ndarray) -> Any:
        """Return the tree with these numbers, in arrays of a type, or of `ValueArray` for Values of a recording.

        `numbers` is a float64 array, or a list of floats and Values, in the order of the leaves.
        """
        if self.has_scalars_only:
            return self.unflatten(numbers.tolist() if isinstance(numbers, numpy.ndarray) else list(numbers))
        leaves = []
        start = 0
        for shape in self.shapes:
            count = size(shape)
            part = numbers[start : start + count]
            array = None if isinstance(shape, str) else of_recording(_array(part, shape).view(array_type))
            leaves.append(_scalar(part[0]) if array is None else array)
            start += count
        return self.unflatten(leaves)

    def results(self, numbers: Any) -> Any:
        """Return the tree with these results of a recorded function: see `filled`.

        Values among the results get the `types`, also where the recording has simplified them to comparisons.
        """
        if isinstance(numbers, list) and not _FLOAT.issuperset(map(type, numbers)):
            types = self.types or itertools.repeat(float)
            of_numbers = itertools.chain.from_iterable(
                itertools.repeat(number_type, size(shape))
                for shape, number_type in zip(self.shapes, types, strict=False)
            )
            numbers = [_noted(x, number_type) for x, number_type in zip(numbers, of_numbers, strict=True)]
        return self.filled(numbers)

    @cached_property
    def has_scalars_only(self) -> bool:
        """Whether all leaves are numbers, not arrays."""
        return all(shape is _SCALAR for shape in self.shapes)

    @cached_property
    def _is_flat(self) -> bool:
        """Whether the tree is a tuple of leaves."""
        return isinstance(self.spec, tuple) and all(part.spec is None for part in self.spec)

    def unflatten(self, leaves: Sequence[Any]) -> Any:
        """Return the tree with these leaves. Numbers are converted to the `types`; Values are left as they are."""
        if self.types:
            leaves = list(map(_converted, leaves, self.types))
        return self.of_items(self.with_pairs_joined(leaves, joined) if self.pairs else leaves)

    def of_items(self, items: Sequence[Any]) -> Any:
        """Return the tree, given an item for each real leaf and for each complex number or array."""
        if self.spec is None:
            return items[0]
        if not isinstance(self.spec, tuple):
            return self.spec.unflatten(items)
        if self._is_flat:
            return tuple(items)
        parts = []
        start = 0
        for part in self.spec:
            end = start + len(part.shapes) - len(part.pairs)
            parts.append(part.of_items(items[start:end]))
            start = end
        return tuple(parts)

    def with_pairs_joined(self, leaves: Sequence[Any], join: Callable[[Any, Any], Any]) -> list[Any]:
        """Return one item for each leaf, and the result of `join` for the two leaves of a complex number or array."""
        rest, found = iter(leaves), []
        position, real_parts = 0, frozenset(self.pairs)
        for leaf in rest:
            is_real_part = position in real_parts
            found.append(join(leaf, next(rest)) if is_real_part else leaf)
            position += 1 + is_real_part
        return found

    @property
    def is_complex(self) -> bool:
        """Whether the tree is a single complex number or an array with one complex element."""
        return self.spec is None and bool(self.pairs) and self.size == 2

    @property
    def imaginary(self) -> list[bool]:
        """Whether each number of the tree is the imaginary part of a complex number."""
        parts = {position + 1 for position in self.pairs}
        return [i in parts for i, shape in enumerate(self.shapes) for _ in range(size(shape))]

    def with_shapes(self, shapes: Sequence[Shape]) -> TreeDef:
        """Return this treedef with other leaf shapes."""
        rest = iter(shapes)
        spec = self.spec
        if isinstance(spec, tuple):
            spec = tuple([part.with_shapes([next(rest) for _ in part.shapes]) for part in spec])
        return TreeDef(spec, tuple(shapes), self.pairs)

    def typed(self, types: Sequence[type]) -> TreeDef:
        """Return this treedef with types of the leaves' numbers."""
        spec, start = self.spec, 0
        if isinstance(spec, tuple):
            parts = []
            for part in spec:
                parts.append(part.typed(types[start : start + len(part.shapes)]))
                start += len(part.shapes)
            spec = tuple(parts)
        return TreeDef(spec, self.shapes, self.pairs, () if _FLOAT.issuperset(types) else tuple(types))

    def as_floats(self) -> TreeDef:
        """Return this treedef without types: all numbers are floats, as in derivatives and sums."""
        return self.typed([float] * len(self.shapes)) if self.types else self

    @property
    def array_shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the leaves, with () for numbers."""
        return [() if isinstance(shape, str) else shape for shape in self.shapes]

    def with_numbers(self) -> TreeDef:
        """Return this treedef with 0-d arrays replaced by numbers. NumPy functions often make the same change."""
        spec = tuple([part.with_numbers() for part in self.spec]) if isinstance(self.spec, tuple) else self.spec
        return TreeDef(spec, tuple([_SCALAR if shape == () else shape for shape in self.shapes]), self.pairs)

    def parts(self) -> list[TreeDef]:
        """Return the treedefs of the items of a list or tuple. For any other tree, the result is empty."""
        if self.spec is None or isinstance(self.spec, tuple):
            return list(self.spec or ())
        if isinstance(self.spec, ModuleTreeDef) or self.spec.type not in (list, tuple):
            return []
        return self._children()

    def children(self) -> dict[Any, TreeDef]:
        """Return a dict from the index, key or field of each child to its treedef; empty for a leaf or a Module."""
        if self.spec is None or isinstance(self.spec, (tuple, ModuleTreeDef)):
            return dict(enumerate(self.parts()))
        return dict(zip(self.spec.entries(), self._children(), strict=True))

    def _children(self) -> list[TreeDef]:
        """Return the treedefs of the children of an optree treedef."""
        rest = iter(self.with_pairs_joined(self.shapes, lambda real, imag: [real, imag]))
        types = iter(self.types)
        found = []
        for spec in self.spec.children():
            leaves = list(itertools.islice(rest, spec.num_leaves))
            numbers = sum(2 if isinstance(leaf, list) else 1 for leaf in leaves)
            found.append(_with_pairs(None if spec.is_leaf() else spec, leaves, tuple(itertools.islice(types, numbers))))
        return found

    def ranges(self) -> Iterator[tuple[slice, Shape]]:
        """Yield (slice, shape) for each leaf. The slice selects the leaf's numbers from all numbers of the tree."""
        start = 0
        for shape in self.shapes:
            yield slice(start, start + size(shape)), shape
            start += size(shape)

    def names(self, root: str) -> list[str]:
        """Return a name for every number, such as `x[0]` and `x['rate'][1, 2]`; `root` is the name of the tree."""
        names = []
        for path, shape in zip(self.paths(root), self.shapes, strict=True):
            if isinstance(shape, str) or shape == ():
                names.append(path)
            else:
                names += [f"{path}[{', '.join(at)}]" for at in itertools.product(*_subscripts(shape))]
        return names

    def paths(self, root: str) -> list[str]:
        """Return a name for every leaf, such as `x`, `x[0]` and `x['rate']`; `root` is the name of the tree."""
        if isinstance(self.spec, tuple):
            return [path for i, part in enumerate(self.spec) for path in part.paths(f"{root}[{i}]")]
        if isinstance(self.spec, ModuleTreeDef):
            return self.spec.names(root)
        paths = iter([root] if self.spec is None else [accessor.codify(root) for accessor in self.spec.accessors()])
        marked = self.with_pairs_joined(self.shapes, lambda *_: (".real", ".imag")) if self.pairs else self.shapes
        ends: list[tuple[str, ...]] = [end if end == (".real", ".imag") else ("",) for end in marked]
        return [path + end for path, each in zip(paths, ends, strict=True) for end in each]


_FLOAT = frozenset([float])
_KEPT = frozenset([float, Value])  # types of numbers that do not need a conversion
SCALAR = TreeDef(None, (_SCALAR,))  # the treedef of a single number


def _with_pairs(spec: Any, leaves: Sequence[Any], types: Sequence[type] = ()) -> TreeDef:
    """Return a treedef, given the shape of each leaf, and a list of two shapes for each complex number or array."""
    flat: list[Shape] = []
    pairs = []
    for shape in leaves:
        if isinstance(shape, list):
            pairs.append(len(flat))
            flat += shape
        else:
            flat.append(shape)
    return TreeDef(spec, tuple(flat), tuple(pairs), tuple(types))


def _unpickled(
    spec: Any, trees: list[Any], shapes: tuple[Shape, ...], pairs: tuple[int, ...], types: tuple[type, ...]
) -> TreeDef:
    """Build a treedef from its pickled parts. If `trees` is not empty, it holds a tree with this treedef."""
    for tree in trees:
        spec = flatten(tree, "a pickled tree")[1].spec
    return TreeDef(spec, tuple([_SCALAR if isinstance(shape, str) else shape for shape in shapes]), pairs, types)


def tupled(parts: Sequence[TreeDef]) -> TreeDef:
    """Return the treedef of a tuple, given the treedefs of its items."""
    types: list[type] = []
    if any(part.types for part in parts):
        types = [number_type for part in parts for number_type in part.types or [float] * len(part.shapes)]
    starts = itertools.accumulate([len(part.shapes) for part in parts], initial=0)
    pairs = tuple([start + position for part, start in zip(parts, starts, strict=False) for position in part.pairs])
    return TreeDef(tuple(parts), tuple([shape for part in parts for shape in part.shapes]), pairs, tuple(types))


def flatten(tree: Any, what: str) -> tuple[list[Any], TreeDef]:
    """Flatten a tree.

    Args:
        tree: The tree.
        what: The name of the tree in messages.

    Returns:
        The leaves and the treedef.

    Raises:
        TypeError: If a leaf holds anything other than numbers.
    """
    leaf = of_numpy(tree)
    if _is_leaf(leaf) and not (isinstance(leaf, numpy.ndarray) and is_complex(leaf)):
        return [leaf], TreeDef(None, (_shape(leaf, what),))
    if is_complex(leaf):
        parts = list(separated(leaf))
        return parts, TreeDef(None, _shapes(parts, what), (0,))
    if type(tree) is tuple:  # the most common result of functions, handled without importing optree
        leaves, treedefs = [], []
        for i, part in enumerate(tree):
            found, treedef = flatten(part, f"{what}[{i}]")
            leaves += found
            treedefs.append(treedef)
        return leaves, tupled(treedefs)
    if isinstance(tree, Module):
        leaves, module_treedef = parted(tree)
        return leaves, TreeDef(module_treedef, _shapes(leaves, what))
    leaves, spec = opened(tree)
    if SCALAR_TYPES.issuperset(map(type, leaves)):
        return leaves, TreeDef(spec, (_SCALAR,) * len(leaves))
    if not LEAF_TYPES.issuperset(map(type, leaves)):
        leaves = list(map(of_numpy, leaves))
        are_numbers = [_is_leaf(leaf) or is_complex(leaf) for leaf in leaves]
        if not all(are_numbers):
            wrong = are_numbers.index(False)
            raise _refused(leaves[wrong], spec.accessors()[wrong].codify(what))
    if any(map(is_complex, leaves)):
        return _separated(leaves, spec, what)
    return leaves, TreeDef(spec, _shapes(leaves, what))


def _separated(leaves: list[Any], spec: Any, what: str) -> tuple[list[Any], TreeDef]:
    """Separate the complex leaves into real and imaginary parts; return all leaves and the treedef."""
    found = [list(separated(leaf)) if is_complex(leaf) else [leaf] for leaf in leaves]
    shapes = [_shapes(parts, what) for parts in found]
    treedef = _with_pairs(spec, [list(shape) if len(shape) == 2 else shape[0] for shape in shapes])
    return [part for parts in found for part in parts], treedef


def refuse_static(tree: Any, what: str) -> None:
    """Raise `TypeError` if a tree is a single static object, which has no derivatives. `what` is its name."""
    if is_static(tree):
        raise _refused(tree, what)


def of_numpy(item: Any) -> Any:
    """Convert an array of another library, such as pandas, PyTorch or JAX, to NumPy; a 0-d array becomes a number."""
    if isinstance(item, (numpy.ndarray, numpy.generic, Value)) or not hasattr(type(item), "__array__"):
        return item
    return numpy.asarray(item)[()]


def scalars(leaves: Sequence[Any]) -> list[Any]:
    """Return all numbers of the leaves in order, as floats and Values."""
    return list(itertools.chain.from_iterable(map(_scalars, leaves)))


def have_values(numbers: Iterable[Any]) -> bool:
    """Return whether some of the numbers are Values."""
    return any(issubclass(kind, Value) for kind in set(map(type, numbers)))


def write(leaves: Sequence[Any], row: Any) -> bool:
    """Write all numbers of the leaves to the start of the float64 array `row`; return False if there is a Value."""
    if _FLOAT.issuperset(map(type, leaves)):
        row[: len(leaves)] = leaves
        return True
    start = 0
    for leaf in leaves:
        if isinstance(leaf, numpy.ndarray):
            if leaf.dtype == object:
                return False
            row[start : start + leaf.size] = leaf.ravel()
            start += leaf.size
        elif isinstance(leaf, Value):
            return False
        else:
            row[start] = leaf
            start += 1
    return True


class Parameters:
    """The names of the parameters of a function."""

    def __init__(self, f: Callable[..., Any] | None) -> None:
        self._f: Any = f

    @classmethod
    def of_names(cls, names: Sequence[str], keywords: Sequence[str]) -> Parameters:
        """Return parameters with these names, without a function.

        Args:
            names: The names of the parameters that can be passed by position.
            keywords: The names of the parameters that can be passed by name.
        """
        parameters = cls(None)
        vars(parameters).update(_names=list(names), keywords=list(keywords))
        return parameters

    def __getstate__(self) -> dict[str, Any]:
        # Pickle only the names, because the function may not exist in the other process.
        return {"_f": None, "_names": self._names, "keywords": self.keywords}

    @cached_property
    def _all(self) -> list[inspect.Parameter]:
        try:
            return list(inspect.signature(self._f).parameters.values())
        except (TypeError, ValueError):  # some functions written in C have no signature
            return []

    @cached_property
    def _names(self) -> list[str]:
        return [p.name for p in self._all if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]

    @cached_property
    def keywords(self) -> list[str]:
        """The names of the parameters that can be passed by name."""
        return [p.name for p in self._all if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]

    def first(self, count: int) -> list[str]:
        """Return the names of the first `count` positional arguments.

        Arguments without a name are called `argument 3` and so on.
        """
        if count <= len(self._names):
            return self._names[:count]
        return [*self._names, *(f"argument {i + 1}" for i in range(len(self._names), count))]


class _Shown:
    """A placeholder for a leaf, to show a treedef in messages."""

    def __init__(self, shape: Shape, kind: str = "") -> None:
        self.shape = shape
        self._kind = kind

    def __repr__(self) -> str:
        return self._kind + ("number" if isinstance(self.shape, str) else f"array of shape {self.shape}")


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _is_leaf(tree: Any) -> bool:
    return isinstance(tree, (float, Value, numpy.ndarray)) or (is_number(tree) and not isinstance(tree, enum.Enum))


def _shapes(leaves: list[Any], what: str) -> tuple[Shape, ...]:
    if SCALAR_TYPES.issuperset(map(type, leaves)):
        return (_SCALAR,) * len(leaves)
    return tuple([_shape(leaf, what) for leaf in leaves])


def _shape(leaf: Any, what: str) -> Shape:
    if not isinstance(leaf, numpy.ndarray):
        return _SCALAR
    if isinstance(leaf, WholeArray):
        return leaf.shape
    if type(leaf) is not numpy.ndarray and isinstance(leaf, numpy.ma.MaskedArray):
        raise _refused(leaf, what)
    if leaf.dtype == object:
        items = leaf.ravel().tolist()
        if not SCALAR_TYPES.issuperset(map(type, items)):
            for item in items:
                if isinstance(item, numpy.ndarray) or not _is_leaf(item):
                    raise _refused(item, f"an element of {what}")
    elif leaf.dtype.kind not in "fiub":
        raise _refused(leaf, what)
    shape: tuple[int, ...] = leaf.shape
    return shape


def size(shape: Shape) -> int:
    """Return the number of elements in a leaf of this shape."""
    if isinstance(shape, str):
        return 1
    count = 1
    for length in shape:
        count *= length
    return count


def _subscripts(shape: tuple[int, ...]) -> list[list[str]]:
    """Return the subscripts along each axis of an array."""
    return [list(map(str, range(length))) for length in shape]


def _scalars(leaf: Any) -> list[Any]:
    if isinstance(leaf, numpy.ndarray):
        if leaf.dtype != object:
            numbers: list[Any] = (
                numpy.asarray(leaf, numpy.float64).ravel().tolist()
            )  # a numpy.matrix stays two-dimensional in ravel()
            return numbers
        items: list[Any] = numpy.asarray(leaf).ravel().tolist()
        if set(map(type, items)) <= _KEPT:
            return items
        return [x if isinstance(x, Value) else as_float(x) for x in items]
    return [leaf if isinstance(leaf, Value) else as_float(leaf)]


def type_of(leaf: Any) -> type:
    """Return the type of the numbers in a leaf that a function returned: bool, int or float.

    An array of Values and numbers has the type that all its elements have, or else float.
    """
    if isinstance(leaf, Value):
        return result_type(leaf)
    if isinstance(leaf, WholeArray):
        return leaf.number_type
    if not isinstance(leaf, numpy.ndarray):
        return (
            bool if isinstance(leaf, (bool, numpy.bool_)) else int if isinstance(leaf, (int, numpy.integer)) else float
        )
    if leaf.dtype != object:
        return {"b": bool, "i": int, "u": int}.get(leaf.dtype.kind, float)
    types = set()
    for item in leaf.ravel().tolist():
        types.add(type_of(item))
        if float in types or len(types) > 1:
            return float
    return types.pop() if types else float


def common_types(types: Iterable[Sequence[type]]) -> list[type]:
    """Return the type of each leaf in several trees; float if the trees differ in it."""
    return [same[0] if len(set(same)) == 1 else float for same in zip(*types, strict=True)]


def _converted(leaf: Any, number_type: type) -> Any:
    """Convert a leaf to a type. Values get the type as a note. A number that is nan or huge stays a float."""
    if isinstance(leaf, Value):
        return _noted(leaf, number_type)
    if number_type is float:
        return leaf
    if isinstance(leaf, float):
        return number_type(leaf) if abs(leaf) <= _LARGEST_INT else leaf
    if isinstance(leaf, numpy.ndarray) and leaf.dtype == object:
        items = [_noted(item, number_type) for item in leaf.ravel().tolist()]
        return _array(items, leaf.shape) if have_values(items) else numpy.array(items, number_type).reshape(leaf.shape)
    if not isinstance(leaf, numpy.ndarray) or leaf.dtype.kind != "f" or not (abs(leaf) <= _LARGEST_INT).all():
        return leaf
    return leaf.astype(numpy.bool_ if number_type is bool else numpy.int64)


def _noted(number: Any, number_type: type) -> Any:
    """Return a number; note the type if the number is a Value.

    A Value outside of all recordings becomes a plain bool or int, which has no derivative either.
    """
    if isinstance(number, Value) and result_type(number) is not number_type:
        with_number_type(number, number_type)
    if number_type is not float and isinstance(number, Value) and level_of(number) == 0:
        return _converted(primal_of(number), number_type)
    return number


def _scalar(number: Any) -> Any:
    return number if isinstance(number, Value) else float(number)


def _array(numbers: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(numbers, numpy.ndarray):
        return numbers.reshape(shape).copy()
    if not have_values(numbers):
        return numpy.array(numbers, dtype=numpy.float64).reshape(shape)
    array = numpy.empty(len(numbers), dtype=object)
    array[:] = numbers
    return array.reshape(shape)


def _refused(leaf: Any, what: str) -> TypeError:
    kind = f"array of {leaf.dtype}" if type(leaf) is numpy.ndarray else type(leaf).__name__
    shown = "" if isinstance(leaf, numpy.ndarray) else f" ({leaf!r:.60})"
    return TypeError(
        f"{what} is {_with_article(kind)}{shown}, not a number: numbers can be int, float, complex, NumPy numbers, "
        "Values and Complex, in lists, tuples, dicts, dataclasses and NumPy arrays; static data can be strings, enums, "
        "ranges, slices, dates, types or functions"
    )
