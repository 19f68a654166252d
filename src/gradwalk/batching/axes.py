"""Batched arguments and their batch axes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.base.cached import cached_property
from gradwalk.trees.registry import registered_parts
from gradwalk.trees.tree import SCALAR, Parameters, Shape, TreeDef, flatten, scalars
from gradwalk.value.arrays import WholeArray
from gradwalk.value.modes import known_number
from gradwalk.value.value import Value

Axes = int | Sequence[Any] | Mapping[Any, Any] | None  # an axis, None for no axis, or a tree of axes and None
SUMS = ("sum", "mean")
REDUCTIONS = (*SUMS, "max", "min", "prod", "logsumexp", "argmax", "argmin")


@dataclass(frozen=True)
class Batch:
    """The flattened arguments of one call.

    Attributes:
        leaves: The leaves of all arguments. The first axis of a batched leaf is the batch axis.
        varies: Whether each leaf is batched. A leaf that is not batched is shared by all samples.
        names: The names of the arguments.
        elements: The treedef of each argument, for one sample.
        positional: Number of positional arguments; the rest are keyword arguments.
        size: Number of samples.
    """

    leaves: list[Any]
    varies: list[bool]
    names: list[str]
    elements: list[TreeDef]
    positional: int
    size: int

    @property
    def key(self) -> Any:
        """The cache key of recordings: names and treedefs of a sample's arguments, and which leaves are batched."""
        return self.positional, *zip(self.names, self.elements, strict=True), *self.varies

    @property
    def shapes(self) -> list[Shape]:
        """The shapes of all leaves of one sample."""
        return [shape for element in self.elements for shape in element.shapes]

    def sample(self, i: int) -> list[Any]:
        """Return the leaves of sample `i`."""
        return [leaf[i] if varies else leaf for leaf, varies in zip(self.leaves, self.varies, strict=True)]

    def rows(self, start: int, end: int) -> Batch:
        """Return samples `start` to `end - 1` as a batch of array views."""
        leaves = [leaf[start:end] if varies else leaf for leaf, varies in zip(self.leaves, self.varies, strict=True)]
        return replace(self, leaves=leaves, size=len(range(self.size)[start:end]))

    def take(self, samples: NDArray[numpy.intp]) -> Batch:
        """Return the samples at these positions as a batch of copies."""
        leaves = [leaf[samples] if varies else leaf for leaf, varies in zip(self.leaves, self.varies, strict=True)]
        return replace(self, leaves=leaves, size=len(samples))

    @property
    def primals(self) -> Batch:
        """The batch with the numbers of Values instead of the Values: see `known_number`."""
        if not self.has_values:
            return self
        return replace(self, leaves=[_plain(leaf) for leaf in self.leaves])

    def example(self) -> list[Any]:
        """Return the arguments of the first sample; batched leaves are zeros if the batch is empty."""
        leaves = iter(self.first())
        return [element.unflatten([plain(next(leaves)) for _ in element.shapes]) for element in self.elements]

    def first(self) -> list[Any]:
        """Return the leaves of the first sample; batched leaves are zeros if the batch is empty."""
        if self.size:
            return self.sample(0)
        return [numpy.zeros(x.shape[1:])[()] if v else x for x, v in zip(self.leaves, self.varies, strict=True)]

    @cached_property
    def whole(self) -> WholeArray | None:
        """A leaf that is a `WholeArray`, or None."""
        return next((leaf for leaf in self.leaves if isinstance(leaf, WholeArray)), None)

    def of_elements(self) -> Batch:
        """Return the batch with ordinary arrays of Values."""
        return replace(self, leaves=[leaf.elements if isinstance(leaf, WholeArray) else leaf for leaf in self.leaves])

    @cached_property
    def has_values(self) -> bool:
        """Whether any of the numbers is a Value."""
        kinds = set(map(type, self.leaves))
        if any(issubclass(kind, Value) for kind in kinds):
            return True
        return any(isinstance(x, Value) for array in self.arrays if array.dtype == object for x in array.flat)

    @cached_property
    def arrays(self) -> list[NDArray[Any]]:
        """The leaves that are arrays."""
        others = [leaf for leaf in self.leaves if type(leaf) is not float]  # skip floats first: a Module can have many
        return [leaf for leaf in others if isinstance(leaf, numpy.ndarray)]

    @cached_property
    def kind(self) -> type[numpy.floating[Any]]:
        """The dtype of the computation: float32 if all arrays are float32, else float64."""
        kinds = {array.dtype.type for array in self.arrays}
        return numpy.float32 if kinds == {numpy.float32} else numpy.float64

    @property
    def varying(self) -> list[NDArray[Any]]:
        """The batched leaves."""
        return [leaf for leaf, varies in zip(self.leaves, self.varies, strict=True) if varies]

    def columns(self) -> list[NDArray[Any]]:
        """Return the batched leaves as arrays of dtype `kind`. Only leaves of a different dtype are copied."""
        kind = self.kind
        with numpy.errstate(over="ignore"):  # numbers too large for float32 become inf
            return [_of_numbers(leaf) if leaf.dtype == object else numpy.asarray(leaf, kind) for leaf in self.varying]

    def shared(self) -> list[Any]:
        """Return the leaves that are not batched."""
        return [leaf for leaf, varies in zip(self.leaves, self.varies, strict=True) if not varies]


class Batching(NamedTuple):
    """The axes and the reduction of a batched function.

    Attributes:
        name: The name of the function in messages.
        parameters: The names of the function's parameters.
        in_axes: The batch axes of the arguments: see `vmap`.
        out_axes: The batch axes of the results: see `vmap`.
        reduce: The reduction over the batch: one of `REDUCTIONS`, or None.
        axis_size: The number of samples, or None to take it from the arguments.
    """

    name: str
    parameters: Parameters
    in_axes: Axes
    out_axes: Axes
    reduce: str | None
    axis_size: int | None = None

    def checked(self) -> Batching:
        """Return self. Raises `TypeError` or `ValueError` if `in_axes`, `out_axes` or `reduce` is invalid."""
        if self.in_axes is not None and not isinstance(self.in_axes, (int, tuple, list)):
            raise TypeError(
                f"in_axes must be an int, None or a tuple with one entry for each argument, got {self.in_axes!r}"
            )
        if self.axis_size is not None and (not is_whole(self.axis_size) or self.axis_size < 0):
            raise ValueError(f"axis_size must be None or an int >= 0, got {self.axis_size!r}")
        if self.reduce is not None and self.reduce not in REDUCTIONS:
            known = ", ".join(map(repr, REDUCTIONS))
            raise ValueError(f"reduce={self.reduce!r}: give one of {known}, or None for the results of all samples")
        if self.reduce is not None and self.out_axes != 0:
            raise ValueError(
                f"out_axes={self.out_axes!r} with reduce={self.reduce!r}: a reduced result has no batch axis"
            )
        return self

    def batch(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Batch:
        """Flatten the arguments of one call; keyword arguments have batch axis 0.

        Raises:
            TypeError: An argument contains something other than numbers, or an argument with a batch axis is a number.
            ValueError: The arguments do not match `in_axes`, or have batches of different sizes.
        """
        keywords = sorted(kwargs)
        names = [*self.parameters.first(len(args)), *keywords]
        batch = Batch([], [], names, [], len(args), 0)
        sizes: dict[int, str] = {}  # maps each batch size to the description of an argument of this size
        if self.axis_size is not None:
            sizes[self.axis_size] = f"axis_size is {self.axis_size}"
        axes = [*self.axes(len(args)), *[0] * len(keywords)]
        for arg, name, arg_axes in zip([*args, *map(kwargs.__getitem__, keywords)], names, axes, strict=True):
            _append(batch, sizes, arg, name, arg_axes)
        if not sizes:
            raise ValueError(
                f"in_axes={self.in_axes!r} of {self.name}, called with {len(names)} argument{'s' * (len(names) != 1)}: "
                "none of them has a batch axis. Give the batch axis, such as 0, of at least one argument that holds "
                "arrays, or give axis_size"
            )
        if len(sizes) > 1:
            raise ValueError(
                f"the batches of {self.name} have different sizes: {'; '.join(sizes.values())}. Give batches of one "
                "size, and None in in_axes for arguments that all samples share"
            )
        return replace(batch, size=next(iter(sizes)))

    def axes(self, count: int) -> list[Any]:
        """Return the axis or the tree of axes for each of `count` positional arguments.

        Raises `ValueError` if `in_axes` has another length.
        """
        if self.in_axes is None or isinstance(self.in_axes, int):
            return [self.in_axes] * count
        if len(self.in_axes) != count:
            raise ValueError(
                f"in_axes={self.in_axes!r} has {len(self.in_axes)} entries, but {self.name} was called with {count} "
                f"positional argument{'s' if count != 1 else ''}: give one entry for each (keywords have batch axis 0)"
            )
        return list(self.in_axes)

    def take_out(self, kwargs: dict[str, Any]) -> object:
        """Remove and return `out` from the keyword arguments, unless the function has a parameter of this name."""
        return None if "out" in self.parameters.keywords else kwargs.pop("out", None)

    def of_sums(self, sums: Any, count: int) -> Any:
        """Return the sums over `count` samples, or the means if `reduce` is "mean". Means of 0 samples are nan."""
        with numpy.errstate(all="ignore"):
            return sums / numpy.float64(count) if self.reduce == "mean" else sums


def spread(axes: Axes, treedef: TreeDef, what: str) -> list[int | None]:
    """Return the axis of each leaf of a tree. An axis that `axes` gives for a subtree applies to all leaves of it.

    Raises `ValueError` if the axes do not match the treedef; `what` is the name of the axes in messages.
    """
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return [axes] * len(treedef.shapes)
    given = parts_of(axes)
    parts = treedef.children()
    if given is None or given.keys() != parts.keys() or (treedef.shapes and not parts):
        raise ValueError(f"{what} is {axes!r}, which does not fit {treedef}: give an int, None, or a tree like it")
    return [axis for key, part in parts.items() for axis in spread(given[key], part, f"{what}[{key!r}]")]


def _append(batch: Batch, sizes: dict[int, str], arg: Any, name: str, axes: Axes) -> None:
    """Append an argument to an incomplete batch, and add the sizes of the argument's batch axes to `sizes`."""
    leaves, treedef = flatten(arg, name)
    if axes is None:
        batch.leaves.extend(leaves)
        batch.varies.extend([False] * len(leaves))
        batch.elements.append(treedef)
        return
    shapes: list[Shape] = []
    for leaf, axis in zip(leaves, spread(axes, treedef, f"in_axes of {name}"), strict=True):
        moved = leaf if axis is None else _moved(leaf, axis, name)
        batch.leaves.append(moved)
        batch.varies.append(axis is not None)
        if axis is None:
            shapes.append(leaf.shape if isinstance(leaf, numpy.ndarray) else SCALAR.shapes[0])
        else:
            shapes.append(moved.shape[1:] or SCALAR.shapes[0])
            sizes.setdefault(len(moved), f"{name}, of shape {leaf.shape}, has {len(moved)} along axis {axis}")
    batch.elements.append(treedef.with_shapes(shapes))


def parts_of(tree: Any) -> Mapping[Any, Any] | None:
    """Return a dict of the children of a tree, with the same keys as `TreeDef.children`; None for a leaf."""
    parts = registered_parts(tree)
    if parts is not None:
        return parts
    if isinstance(tree, Mapping):
        return tree
    if isinstance(tree, (tuple, list)):
        return dict(enumerate(tree))
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        return {field.name: getattr(tree, field.name) for field in dataclasses.fields(tree)}
    return None


def _moved(leaf: Any, axis: int, name: str) -> NDArray[Any]:
    """Return a view of an array in which the axis `axis` comes first."""
    if not isinstance(leaf, numpy.ndarray):
        raise TypeError(
            f"{name} is or contains a number, which has no axis {axis}: give a NumPy array with one number or array "
            "per sample (convert lists with numpy.array), or None in in_axes for an argument that all samples share"
        )
    if not -leaf.ndim <= axis < leaf.ndim:
        raise ValueError(
            f"{name} is or contains an array of shape {leaf.shape}, which has no axis {axis}: in_axes must give the "
            "batch axis, or None for an argument that all samples share"
        )
    if isinstance(leaf, WholeArray):
        first = axis % leaf.ndim
        return leaf.transpose(first, *(i for i in range(leaf.ndim) if i != first))  # type: ignore[no-any-return]
    return numpy.moveaxis(numpy.asarray(leaf), axis, 0)


def is_whole(number: Any) -> bool:
    """Return whether an object is an int."""
    return hasattr(number, "__index__") and not isinstance(number, bool)


def shown(key: Any) -> str:
    """Return a description of a sample for messages, given the key of its batch."""
    return ", ".join(str(part[1]) for part in key if isinstance(part, tuple))


def plain(item: Any) -> Any:
    """Convert a NumPy scalar to a Python number; return any other object unchanged."""
    return item.item() if isinstance(item, numpy.generic) else item


def _plain(leaf: Any) -> Any:
    """Return a leaf with the numbers of Values instead of the Values."""
    if isinstance(leaf, numpy.ndarray):
        return _of_numbers(leaf) if leaf.dtype == object else leaf
    return known_number(leaf) if isinstance(leaf, Value) else leaf


def plain_numbers(leaves: Sequence[Any]) -> list[float]:
    """Return all numbers of the leaves in order, with Values replaced by their numbers."""
    return [known_number(x) if isinstance(x, Value) else x for x in scalars(leaves)]


def _of_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Convert an object array of numbers and Values to a float64 array of the same shape."""
    return numpy.array(plain_numbers([array]), numpy.float64).reshape(array.shape)


def as_array(numbers: Sequence[Any]) -> NDArray[Any]:
    """Return a 1-D array of the numbers. Its dtype is object if any number is a Value, else float64."""
    if not any(isinstance(x, Value) for x in numbers):
        return numpy.array(numbers, numpy.float64)
    array = numpy.empty(len(numbers), object)
    array[:] = numbers
    return array
